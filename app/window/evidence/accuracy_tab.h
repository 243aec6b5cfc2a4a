#pragma once

// Judge the methods by references: error against cost, a sortable table, residuals, the worst rows.

#include "app/window/evidence/reference_shelf.h"
#include "evaluation/evaluation.h"
#include "evaluation/side_by_side.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <set>
#include <vector>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

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
    int colour = 0;                                     ///< of its methodology
    std::shared_ptr<const Evaluation> evaluation = {};  ///< none while it runs or where it failed
    std::optional<Diagnostic> failure = {};
};

/// What the judged methods that are compared do on the rows that all of them price.
struct Compared {
    std::vector<int> judgements;  ///< which, parallel to the figures
    CommonRows common;
};

class AccuracyTab : public QWidget {
    Q_OBJECT
public:
    explicit AccuracyTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    /// What learned methods are asked with; null: what ships.
    void setCalibrations(std::shared_ptr<const CalibrationSet> calibrations);
    void judge();
    /// The picture (SVG, PDF, PNG), the rows (CSV), all figures (JSON), the table (TeX): by the file's ending. Returns
    /// an error text; there is nothing to write before methods were judged.
    QString exportTo(const QString& file);
    const std::vector<Judgement>& judgements() const { return judged_; }
    /// Nothing until the last judging has ended.
    const std::optional<Compared>& compared() const { return compared_; }
    /// The tables that the judgements speak of.
    const ReferenceTablesPtr& tables() const { return tables_; }

signals:
    void judged();
    void exportRequested();

private:
    QWidget* buildHead();
    void take(std::size_t at, Judgement judgement);
    void compare();
    void fillMethodsMenu();
    bool isCompared(int judgement) const;
    void showMethods();
    void showMethod(int at);
    void showResiduals();
    void showProgress();

    ReferenceShelf* shelf_;
    Background* work_;
    std::shared_ptr<const CalibrationSet> calibrations_;
    ReferenceTablesPtr tables_;
    std::vector<Judgement> judged_;
    std::vector<RowRef> asked_;
    std::set<QString> left_;  ///< methods that are not compared
    std::optional<Compared> compared_;
    std::vector<int> pointed_;  ///< which judgement each point of the plot is
    int shown_ = -1;

    QLineEdit* where_;
    QSpinBox* most_;
    QPushButton* run_;
    QToolButton* chosen_;
    QPushButton* export_;
    QCheckBox* common_;
    QComboBox* against_;
    ui::Label* state_;
    ui::AccuracyPlot* plot_;
    ui::ResidualPlot* residuals_;
    ui::CellsTable *methods_, *families_, *worst_;
};

}  // namespace orrery::app
