#include "app/window/workload/workload_page.h"

#include "app/window/workload/graph_model.h"
#include "app/window/workload/what_if_strip.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/table_scale.h"
#include "widgets/common/theme.h"
#include "widgets/graph/graph_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QSettings>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedLayout>
#include <QTableView>
#include <QToolButton>

#include <utility>

namespace orrery::app {

namespace {

QString measured(double value, Dimension dimension) {
    return QString::fromStdString(formatMeasure(value, dimension));
}

QString key(WorkloadPage::Show what) {
    return what == WorkloadPage::Show::Graph   ? QStringLiteral("graph")
           : what == WorkloadPage::Show::Table ? QStringLiteral("table")
                                               : QStringLiteral("both");
}

}  // namespace

WorkloadPage::WorkloadPage(ui::Selection* selection, QWidget* parent)
    : Page(parent), selection_(selection), model_(new GraphModel(this)), filter_(new QSortFilterProxyModel(this)) {
    setObjectName(QStringLiteral("workloadPage"));
    setAccessibleName(tr("Workload"));
}

void WorkloadPage::build() {
    const int unit = ui::Theme::instance().unit();
    stack_ = new QStackedLayout(this);
    empty_ =
        new QLabel(tr("The operators of the workload appear here.\nChoose a model in the library, or drop an .onnx "
                      "or config.json file on the window."),
                   this);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setProperty("role", "muted");
    stack_->addWidget(empty_);
    auto* page = new QWidget(this);
    stack_->addWidget(page);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    graph_ = new ui::GraphView(selection_, page);
    column->addWidget(buildHead(page));
    column->addWidget(buildTools(page));
    whatIfs_ = new WhatIfStrip(page);
    column->addWidget(whatIfs_);

    filter_->setSourceModel(model_);
    filter_->setSortRole(GraphModel::SortRole);
    filter_->setFilterKeyColumn(-1);
    filter_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    table_ = new QTableView(page);
    table_->setTabKeyNavigation(false);  // Tab goes on, arrows walk
    table_->setObjectName(QStringLiteral("workloadTable"));
    table_->setAccessibleName(tr("Operators of the workload"));
    table_->setToolTip(tr("Selecting operators selects them in every view"));
    table_->setModel(filter_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setShowGrid(false);
    table_->setAlternatingRowColors(true);
    table_->setWordWrap(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(ui::scaled(unit * 3));
    ui::growWithType(table_);
    table_->horizontalHeader()->setStretchLastSection(false);
    table_->horizontalHeader()->setSectionResizeMode(GraphModel::Name, QHeaderView::Stretch);
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    splitter_ = new QSplitter(Qt::Vertical, page);
    splitter_->setObjectName(QStringLiteral("workloadSplitter"));
    splitter_->addWidget(graph_);
    splitter_->addWidget(table_);
    splitter_->setStretchFactor(0, 3);
    splitter_->setStretchFactor(1, 1);
    splitter_->setSizes({600, 180});
    splitter_->setChildrenCollapsible(false);
    column->addWidget(splitter_, 1);

    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &WorkloadPage::takeRows);
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { Q_EMIT operatorActivated(filter_->mapToSource(index).row()); });
    const auto popUp = [this](const QPoint& global) {
        QMenu* menu = operatorMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->popup(global);
    };
    connect(table_, &QTableView::customContextMenuRequested, this,
            [this, popUp](const QPoint& at) { popUp(table_->viewport()->mapToGlobal(at)); });
    connect(graph_, &ui::GraphView::menuRequested, this, popUp);
    connect(graph_, &ui::GraphView::operatorActivated, this, &WorkloadPage::operatorActivated);
    connect(graph_, &ui::GraphView::metricsChanged, this, &WorkloadPage::fillMetrics);
    connect(graph_, &ui::GraphView::matchesChanged, this, &WorkloadPage::showMatches);
    connect(graph_, &ui::GraphView::layoutRefused, this, [this](const QString& why) {
        Diagnostic refusal;
        refusal.severity = Severity::Warning;
        refusal.code = "graph.layout";
        refusal.message = why.toStdString();
        refusal.hint = "the current layout is kept";
        Q_EMIT refused(refusal);
    });
    connect(graph_, &ui::GraphView::layoutRunning, this, [this](bool running, const QString& stage) {
        running_->setText(running ? (stage.isEmpty() ? tr("Laying out …") : tr("%1 …").arg(stage)) : QString());
        refine_->setChecked(running);
    });
    connect(selection_, &ui::Selection::changed, this, &WorkloadPage::selectRows);
    connect(whatIfs_, &WhatIfStrip::removed, this, [this](int index) {
        if (!workload_) return;
        std::vector<WhatIf> all = workload_->recipe.whatIfs;
        if (index < 0 || static_cast<std::size_t>(index) >= all.size()) return;
        all.erase(all.begin() + index);
        Q_EMIT whatIfsRequested(all);
    });
    connect(whatIfs_, &WhatIfStrip::cleared, this, [this] { Q_EMIT whatIfsRequested({}); });
    fillMetrics();
    setShows(shown_);
    setRuns(runs_);
    if (workload_) setWorkload(std::exchange(workload_, nullptr));
    if (snapshot_) setSnapshot(snapshot_);
}

QTableView* WorkloadPage::table() {
    make();
    return table_;
}

ui::GraphView* WorkloadPage::graph() {
    make();
    return graph_;
}

void WorkloadPage::setShows(Show what) {
    shown_ = what;
    if (!isMade()) return;
    graph_->setVisible(what != Show::Table);
    table_->setVisible(what != Show::Graph);
    for (int i = 0; i < 3; ++i) views_[i]->setChecked(i == static_cast<int>(what));
}

void WorkloadPage::saveView(QSettings& settings) const {
    settings.setValue(QStringLiteral("show"), key(shown_));
}

void WorkloadPage::restoreView(const QSettings& settings) {
    const QString last = settings.value(QStringLiteral("show")).toString();
    for (const Show what : {Show::Graph, Show::Both, Show::Table}) {
        if (last == key(what)) setShows(what);
    }
}

void WorkloadPage::setWorkload(WorkloadPtr workload) {
    if (!isMade()) {
        workload_ = std::move(workload);
        return;
    }
    quiet_ = true;
    const bool other = !workload_ || !workload || workload_->recipe.source != workload->recipe.source;
    workload_ = workload;
    if (other) search_->clear();
    model_->setWorkload(workload);
    quiet_ = false;
    stack_->setCurrentIndex(workload ? 1 : 0);
    graph_->setWorkload(workload);
    whatIfs_->setWhatIfs(workload ? workload->recipe.whatIfs : std::vector<WhatIf>());
    showTotals();
    if (workload) {
        for (int column = GraphModel::Type; column < GraphModel::ColumnCount; ++column) {
            table_->setColumnWidth(column,
                                   ui::scaled(ui::Theme::instance().unit() * (column <= GraphModel::Output ? 17 : 11)));
        }
        selectRows();
    }
}

void WorkloadPage::setSnapshot(ui::SnapshotPtr snapshot) {
    snapshot_ = std::move(snapshot);
    if (isMade()) graph_->setSnapshot(snapshot_);
}

void WorkloadPage::showTotals() {
    const WorkloadPtr& workload = model_->workload();
    if (!workload) return;
    const CostTotals& totals = workload->totals;
    title_->setText(QString::fromStdString(workload->name));
    QStringList facts;
    facts << tr("%1 parameters").arg(measured(totals.parameters, Dimension::Number));
    facts << tr("%1 MACs").arg(measured(totals.macs, Dimension::Number));
    facts << tr("%1 weights").arg(measured(totals.weightBytes, Dimension::Data));
    if (totals.kvBytes > 0) facts << tr("%1 KV cache").arg(measured(totals.kvBytes, Dimension::Data));
    facts << tr("%n operator(s)", nullptr, static_cast<int>(totals.operators));
    totals_->setText(facts.join(QStringLiteral("  ·  ")));
    totals_->setToolTip(facts.join(QLatin1Char('\n')));
}

void WorkloadPage::selectRows() {
    if (quiet_ || !model_->workload()) return;
    quiet_ = true;
    QItemSelection rows;
    QModelIndex first;
    for (const int op : selection_->operators()) {
        const QModelIndex index = filter_->mapFromSource(model_->index(op, 0));
        if (!index.isValid()) continue;
        rows.select(index, index);
        if (!first.isValid() || index.row() < first.row()) first = index;
    }
    table_->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    if (first.isValid()) table_->scrollTo(first);
    quiet_ = false;
}

void WorkloadPage::takeRows() {
    if (quiet_) return;
    quiet_ = true;
    QSet<int> operators;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows()) {
        operators.insert(filter_->mapToSource(index).row());
    }
    selection_->select(operators);
    quiet_ = false;
}

}  // namespace orrery::app
