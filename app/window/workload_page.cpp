#include "app/window/workload_page.h"

#include "app/window/graph_model.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedLayout>
#include <QTableView>

namespace orrery::app {

namespace {

QString measured(double value, Dimension dimension) {
    return QString::fromStdString(formatMeasure(value, dimension));
}

}  // namespace

WorkloadPage::WorkloadPage(ui::Selection* selection, QWidget* parent)
    : QWidget(parent), selection_(selection), model_(new GraphModel(this)), filter_(new QSortFilterProxyModel(this)) {
    setObjectName(QStringLiteral("workloadPage"));
    setAccessibleName(tr("Workload"));
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
    auto* head = new QHBoxLayout;
    head->setContentsMargins(unit * 3 / 2, unit, unit, unit);
    head->setSpacing(unit * 2);
    title_ = new QLabel(page);
    title_->setProperty("role", "title");
    title_->setTextFormat(Qt::PlainText);
    totals_ = new QLabel(page);
    totals_->setProperty("role", "muted");
    totals_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* options = new QPushButton(tr("Options"), page);
    options->setObjectName(QStringLiteral("workloadOptions"));
    options->setAccessibleName(tr("Options of the workload"));
    options->setToolTip(tr("Batch, sequence, precision and phase in the inspector"));
    connect(options, &QPushButton::clicked, this, &WorkloadPage::workloadClicked);
    search_ = new QLineEdit(page);
    search_->setObjectName(QStringLiteral("workloadSearch"));
    search_->setAccessibleName(tr("Find operators"));
    search_->setToolTip(tr("Show the operators whose name or type contains this"));
    search_->setPlaceholderText(tr("Find operators"));
    search_->setClearButtonEnabled(true);
    search_->setMaximumWidth(unit * 24);
    head->addWidget(title_);
    head->addWidget(totals_, 1);
    head->addWidget(search_);
    head->addWidget(options);
    column->addLayout(head);

    filter_->setSourceModel(model_);
    filter_->setSortRole(GraphModel::SortRole);
    filter_->setFilterKeyColumn(-1);
    filter_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    table_ = new QTableView(page);
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
    table_->verticalHeader()->setDefaultSectionSize(unit * 3);
    table_->horizontalHeader()->setStretchLastSection(false);
    table_->horizontalHeader()->setSectionResizeMode(GraphModel::Name, QHeaderView::Stretch);
    column->addWidget(table_, 1);

    connect(search_, &QLineEdit::textChanged, filter_, &QSortFilterProxyModel::setFilterFixedString);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &WorkloadPage::takeRows);
    connect(selection_, &ui::Selection::changed, this, &WorkloadPage::selectRows);
}

void WorkloadPage::setWorkload(WorkloadPtr workload) {
    quiet_ = true;
    model_->setWorkload(workload);
    quiet_ = false;
    stack_->setCurrentIndex(workload ? 1 : 0);
    showTotals();
    if (workload) {
        for (int column = GraphModel::Type; column < GraphModel::ColumnCount; ++column) {
            table_->setColumnWidth(column, ui::Theme::instance().unit() * (column <= GraphModel::Output ? 17 : 11));
        }
        selectRows();
    }
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
        if (!first.isValid()) first = index;
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
