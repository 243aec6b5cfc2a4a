#pragma once

// Searches over a serving question: the highest load under the promise, and configurations side by side with the front
// of the best. A configuration that is found can be made the question's own.

#include "app/window/serving/search_results.h"
#include "app/window/serving/serving_fields.h"
#include "widgets/serving/line_plot.h"

#include <QElapsedTimer>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QProgressBar;
class QPushButton;
class QStackedWidget;

namespace orrery::ui {
class CellsTable;
class FrontPlot;
class Label;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class Background;
class SearchChoices;

class ServingSearch : public QWidget {
    Q_OBJECT
public:
    /// `times`: iteration times that were made before, shared with who else simulates.
    explicit ServingSearch(std::shared_ptr<IterationTimes> times, QWidget* parent = nullptr);
    ~ServingSearch() override;
    void setQuestion(const ServingStudy& question);
    void setHardware(std::shared_ptr<const Hardware> hardware);
    bool isBusy() const;
    const SearchFindingsPtr& findings() const { return findings_; }  ///< null: nothing was searched
    ui::FrontPlot* plot() const { return plot_; }
    ui::CellsTable* table() const { return table_; }
    ui::LinePlot* load() const { return load_; }
    void forget();           ///< another project: no findings
    void choose(int point);  ///< −1: none

signals:
    void edited(const orrery::app::QuestionChange& change);
    void capacityFound(const std::vector<orrery::ui::PlotMark>& capacities);
    void sloWanted();  ///< somebody wants a capacity, and has set no SLO

private:
    QWidget* buildChoices();
    QWidget* buildResults();
    void startSweep();
    void startCapacity();
    bool hasSlo() const;
    void start(bool sweep);
    void showChoices();
    void showProgress();
    void showFindings();
    void showCapacity();
    void showPlot();
    void ended();
    void useChosen();
    bool findingsAreCurrent() const;
    void checkFindings();

    ServingStudy question_;
    std::shared_ptr<const Hardware> hardware_, asked_;  ///< now, and of the findings
    ui::Veil* veil_ = nullptr;
    std::shared_ptr<IterationTimes> times_;
    Background* work_;
    SearchFindingsPtr findings_;
    bool sweeping_ = false;
    std::size_t told_ = 0;
    QElapsedTimer since_, shown_;
    std::vector<int> rows_;  ///< of the table: indices of points
    int chosen_ = -1;

    SearchChoices* choices_ = nullptr;
    FieldFold* capacityFields_ = nullptr;
    QPushButton *sweepRun_ = nullptr, *capacityRun_ = nullptr, *use_ = nullptr;
    QCheckBox* capacities_ = nullptr;
    QProgressBar* bar_ = nullptr;
    ui::Label *state_ = nullptr, *chosenText_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    ui::LinePlot* load_ = nullptr;
    ui::FrontPlot* plot_ = nullptr;
    ui::CellsTable* table_ = nullptr;
    QComboBox *across_ = nullptr, *up_ = nullptr;
};

}  // namespace orrery::app
