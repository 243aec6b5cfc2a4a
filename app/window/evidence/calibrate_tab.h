#pragma once

// Fit a method to references: choose data, method and split; watch it learn; see how it does on the rows held back;
// keep the calibration as a file and answer with it.

#include "app/window/evidence/reference_shelf.h"
#include "evaluation/calibrate.h"

#include <QWidget>

#include <optional>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class CellsTable;
class FactList;
class Label;
class ResidualPlot;
class TrainingPlot;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class CalibrateTab : public QWidget {
    Q_OBJECT
public:
    explicit CalibrateTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    void fit();
    const std::optional<CalibrateResult>& result() const { return result_; }
    /// Writes the last calibration; an error text, empty if done.
    QString save(const QString& file) const;

signals:
    /// The studio shall answer with it from now on.
    void useRequested(std::shared_ptr<const orrery::Calibration> calibration);

private:
    QWidget* buildForm();
    void refuse(const Diagnostic& why);
    void showProgress();
    void showResult();
    void chooseFile();

    struct Steps;
    ReferenceShelf* shelf_;
    Background* work_;
    std::shared_ptr<Steps> steps_;
    std::optional<CalibrateResult> result_;

    QComboBox* method_;
    QLineEdit *where_, *holdout_;
    QSpinBox* seed_;
    QCheckBox* across_;
    QPushButton *run_, *save_, *use_;
    ui::Label* state_;
    ui::TrainingPlot* curve_;
    ui::FactList* figures_;
    ui::ResidualPlot* residuals_;
    ui::CellsTable* families_;
};

}  // namespace orrery::app
