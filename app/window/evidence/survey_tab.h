#pragma once

// The survey's tables, made of what was judged on the first tab: which kind of method is borne out on which platform,
// for which class of workload, at which level; and what each method takes, says and breaks on.

#include "evaluation/survey/survey.h"

#include <QWidget>

#include <memory>
#include <optional>

class QComboBox;
class QPushButton;
class QTabWidget;

namespace orrery::ui {
class CellsTable;
class Label;
class SurveyMatrix;
}  // namespace orrery::ui

namespace orrery::app {

class AccuracyTab;
class Background;

class SurveyTab : public QWidget {
    Q_OBJECT
public:
    /// `accuracy` outlives it.
    explicit SurveyTab(AccuracyTab* accuracy, QWidget* parent = nullptr);
    const std::optional<Survey>& survey() const { return survey_; }
    /// Rows of a mark; `entry` below 0: of all marks of the cell.
    void choose(int row, int column, const QList<int>& entries);
    /// The table that is shown (SVG), CSV of the marks, CSV of the methods (a name that ends in `methods.csv`),
    /// Markdown or JSON, by the file's ending; an error text, empty if done.
    QString exportTo(const QString& file) const;

protected:
    void showEvent(QShowEvent* event) override;

signals:
    /// A mark's rows and method shall stand on the first tab.
    void openRequested(orrery::Facet facet, const QString& word, int judgement);

private:
    void renew();
    void show();
    void showMethods();
    void chooseFile();
    const SurveyTable* table() const;

    AccuracyTab* accuracy_;
    std::optional<Survey> survey_;
    QString word_;  ///< place of what was chosen
    int entry_ = -1;

    QComboBox* by_;
    QPushButton *open_, *export_;
    ui::Label* state_;
    ui::SurveyMatrix* matrix_;
    QTabWidget* below_;
    ui::CellsTable *rows_, *methods_;
    Background* work_;
};

}  // namespace orrery::app
