#pragma once

// Judge the methods by references: error against cost, a sortable table, residuals, the worst rows.

#include "app/window/evidence/reference_shelf.h"
#include "evaluation/evaluation.h"

#include <QWidget>

#include <optional>

class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class AccuracyPlot;
class CellsTable;
class Label;
class ResidualPlot;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

/// One method with what the references say of it.
struct Judgement {
    QString method, title;
    int colour = 0;
    std::optional<Evaluation> evaluation;  ///< none while it runs or where it failed
    std::optional<Diagnostic> failure;
};

class AccuracyTab : public QWidget {
    Q_OBJECT
public:
    explicit AccuracyTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    /// What learned methods are asked with; null: what ships.
    void setCalibrations(std::shared_ptr<const CalibrationSet> calibrations);
    void judge();
    const std::vector<Judgement>& judgements() const { return judged_; }
    /// The tables that the judgements speak of.
    const ReferenceTablesPtr& tables() const { return tables_; }

signals:
    void judged();

private:
    QWidget* buildHead();
    void take(std::size_t at, Judgement judgement);
    void showMethods();
    void showMethod(int at);
    void showResiduals();
    void showProgress();

    ReferenceShelf* shelf_;
    Background* work_;
    std::shared_ptr<const CalibrationSet> calibrations_;
    ReferenceTablesPtr tables_;
    std::vector<Judgement> judged_;
    std::vector<int> pointed_;  ///< which judgement each point of the plot is
    int shown_ = -1;

    QLineEdit* where_;
    QSpinBox* most_;
    QPushButton* run_;
    QComboBox* against_;
    ui::Label* state_;
    ui::AccuracyPlot* plot_;
    ui::ResidualPlot* residuals_;
    ui::CellsTable *methods_, *families_, *worst_;
};

}  // namespace orrery::app
