#pragma once

// The dock where a question gets as much fidelity as it is worth: from fast to slow, within a time, to a width; and
// which method to ask.

#include "app/document/background.h"
#include "app/window/fidelity/fidelity_run.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTabWidget;

namespace orrery::ui {
class CellsTable;
class ConvergencePlot;
class Label;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class Studio;

class FidelityPanel : public QWidget {
    Q_OBJECT
public:
    FidelityPanel(Studio& studio, QWidget* parent);

    void setMode(FidelityMode mode);
    void ask();  ///< the question of the window, as the form says
    bool isBusy() const { return work_.isRunning(); }
    FidelityViewPtr view() const { return view_; }  ///< newest that is shown; null: none
    ui::ConvergencePlot* plot() const { return plot_; }
    ui::CellsTable* steps() const { return steps_; }
    ui::CellsTable* widest() const { return widest_; }
    ui::CellsTable* advice() const { return advice_; }

private:
    void build();
    void showForm();
    void showHead();
    bool isCurrent() const;  ///< what is shown answers the question of the window
    void showView();
    void advance();  ///< while it runs
    std::optional<FidelityQuestion> question() const;

    Studio& studio_;
    FidelityViewPtr view_;
    std::shared_ptr<FidelitySteps> coming_;
    std::optional<Diagnostic> refusal_;
    FidelityMode mode_ = FidelityMode::Ladder, asked_ = FidelityMode::Ladder;  ///< of the form; of what runs
    std::vector<int> widestOperators_;

    QComboBox *how_ = nullptr, *full_ = nullptr, *data_ = nullptr;
    QLineEdit* value_ = nullptr;
    QPushButton *run_ = nullptr, *stop_ = nullptr;
    QProgressBar* bar_ = nullptr;
    ui::Label *headline_ = nullptr, *sub_ = nullptr, *reasons_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    ui::ConvergencePlot* plot_ = nullptr;
    ui::Veil* veil_ = nullptr;  ///< over what answers an earlier question
    ui::CellsTable *steps_ = nullptr, *widest_ = nullptr, *advice_ = nullptr;
    Background work_;  ///< last
};

/// The dock, and its commands.
void addFidelityDock(Studio& studio);

}  // namespace orrery::app
