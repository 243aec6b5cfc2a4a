#pragma once

#include "app/document/background.h"
#include "app/window/page.h"
#include "app/window/workload/stored_runs.h"
#include "widgets/common/snapshot.h"
#include "workload/workload.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QSlider;
class QSortFilterProxyModel;
class QSplitter;
class QStackedLayout;
class QTableView;
class QToolButton;

namespace orrery::ui {
class GraphView;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class GraphModel;
class WhatIfStrip;

/// The workload document: what the model amounts to, its operators as a graph and as a table, and the changes that are
/// tried on it. Shares the studio's selection. It changes nothing itself: what is wanted is said by signals.
class WorkloadPage : public Page {
    Q_OBJECT
public:
    enum class Show { Graph, Both, Table };

    explicit WorkloadPage(ui::Selection* selection, QWidget* parent = nullptr);
    WorkloadPage(Studio& studio, QWidget* parent);

    PageCard card() const override;
    void join(Studio& studio) override;
    bool accepts(const OpenFile& file) const override;
    std::vector<FileFilter> filters() const override;
    void open(const QString& path) override;
    bool acceptsDrop(const QMimeData& data) const override;
    void drop(const QMimeData& data) override;
    std::vector<ui::PaletteEntry> findable() override;
    void feed(const ui::SnapshotPtr& snapshot) override;
    bool goTo(const Place& place) override;
    void saveView(QSettings& settings) const override;
    void restoreView(const QSettings& settings) override;

    void setWorkload(WorkloadPtr workload);
    void setSnapshot(ui::SnapshotPtr snapshot);        ///< every new answer: the graph's heat
    void setRuns(const std::vector<RunChoice>& runs);  ///< what the chooser of runs offers
    /// Answers of the chosen run; none: back to the live ones.
    void setStored(std::vector<ui::StoredAnswers> stored);
    /// The same for one answer to hold the present ones against; `choose`: paints their ratio.
    void holdAgainst(ui::StoredAnswers baseline, bool choose);
    /// Paints this number, now or as soon as answers have it: the id of a HeatMetric.
    void wantMetric(const QString& id);
    QTableView* table();     ///< makes the page
    ui::GraphView* graph();  ///< the same
    void setShows(Show what);
    Show shows() const { return shown_; }
    void openSearch();  ///< Ctrl+F
    /// Reads measured times (`operator,time`); says what did not match, or why the file was refused.
    void loadMeasured(const QString& file);
    /// The menu of the operators that are selected; for the context menu and for tests. The caller owns it.
    QMenu* operatorMenu(QWidget* parent);

protected:
    void build() override;

signals:
    void runChosen(std::int64_t run);  ///< 0: none, the live answers alone
    void workloadClicked();            ///< the head of the page: show the workload's options
    void whatIfsRequested(const std::vector<orrery::WhatIf>& all);  ///< the whole list that is wanted from now on
    void operatorActivated(int op);                                 ///< show it in the inspector
    void showInRooflineRequested();                                 ///< the selected ones
    void refused(const orrery::Diagnostic& why);
    void noted(const QString& text, const QString& detail);

private:
    void take(const QString& path, const Workload& workload);
    void showStoredRun(std::int64_t run);  ///< 0: none
    QWidget* buildHead(QWidget* page);
    QWidget* buildTools(QWidget* page);
    QMenu* pageMenu();
    void showTotals();
    void selectRows();
    void takeRows();
    void fillMetrics();
    void showMatches();
    void takeSearch(const QString& text);
    void exportGraph();
    void chooseMeasured();
    void addWhatIf(WhatIf change);
    void fuseSelection();
    void changeShape(int op, int output);
    std::vector<int> selectedOperators() const;  ///< ascending

    Studio* studio_ = nullptr;  ///< since it joined; null where the page stands alone
    ui::Selection* selection_;
    GraphModel* model_;
    QSortFilterProxyModel* filter_;
    WorkloadPtr workload_;
    ui::SnapshotPtr snapshot_;
    std::vector<RunChoice> runs_;
    QLabel *title_ = nullptr, *empty_ = nullptr;
    ui::Label* totals_ = nullptr;
    QLineEdit* search_ = nullptr;
    QTableView* table_ = nullptr;
    ui::GraphView* graph_ = nullptr;
    QSplitter* splitter_ = nullptr;
    QStackedLayout* stack_ = nullptr;
    WhatIfStrip* whatIfs_ = nullptr;
    QComboBox *metric_ = nullptr, *run_ = nullptr;
    QSlider* threshold_ = nullptr;
    ui::Label* matches_ = nullptr;
    ui::Label* running_ = nullptr;
    QToolButton *previous_ = nullptr, *next_ = nullptr, *refine_ = nullptr, *direction_ = nullptr;
    QToolButton* views_[3] = {};
    QString wantedMetric_;
    Show shown_ = Show::Both;
    bool quiet_ = false;
    Background reading_;  ///< answers of a stored run
};

}  // namespace orrery::app
