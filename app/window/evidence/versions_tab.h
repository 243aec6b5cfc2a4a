#pragma once

// How stale prices become when the software moves: tables of two versions held against each other, family by family,
// and what few rows of the later version repair. The example's tables are read apart: they do not join those that are
// loaded.

#include "app/window/evidence/reference_shelf.h"
#include "evaluation/drift/drift.h"

#include <QWidget>

#include <optional>

class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class CellsTable;
class DriftPlot;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class VersionsTab : public QWidget {
    Q_OBJECT
public:
    explicit VersionsTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    void compare();
    const std::optional<Drift>& result() const { return result_; }
    /// SVG, PDF, PNG, CSV or JSON by the file's ending; an error text, empty if done.
    QString exportTo(const QString& file) const;

private:
    QWidget* buildForm();
    void refuse(const Diagnostic& why);
    void showResult();
    void outdate();  ///< the question has changed since the figures were made
    void showState();
    void addTables();
    void chooseFile();
    void chooseExample(bool wanted);

    ReferenceShelf* shelf_;
    Background* work_;
    std::optional<Drift> result_;
    bool refused_ = false;

    QComboBox* method_;
    QLineEdit* where_;
    QSpinBox* rows_;
    QPushButton *run_, *example_, *export_;
    ui::Label* state_;
    ui::DriftPlot* plot_;
    ui::CellsTable* families_;
};

}  // namespace orrery::app
