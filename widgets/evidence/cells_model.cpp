#include "widgets/evidence/cells_model.h"

#include "widgets/common/table_scale.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QHeaderView>
#include <QPainter>
#include <QSortFilterProxyModel>

namespace orrery::ui {

namespace {

class ByValue : public QSortFilterProxyModel {
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

protected:
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override {
        const double left = a.data(CellsModel::SortRole).toDouble(), right = b.data(CellsModel::SortRole).toDouble();
        return left != right ? left < right : a.data().toString().localeAwareCompare(b.data().toString()) < 0;
    }
};

}  // namespace

void CellsModel::set(QStringList heads, std::vector<std::vector<Cell>> rows) {
    beginResetModel();
    heads_ = std::move(heads);
    rows_ = std::move(rows);
    endResetModel();
}

int CellsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int CellsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(heads_.size());
}

QVariant CellsModel::data(const QModelIndex& index, int role) const {
    const auto& row = rows_[static_cast<std::size_t>(index.row())];
    if (static_cast<std::size_t>(index.column()) >= row.size()) return {};
    const Cell& cell = row[static_cast<std::size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole:
            return cell.text;
        case Qt::ToolTipRole:
            return cell.tip.isEmpty() ? cell.text : cell.tip;
        case SortRole:
            return cell.value;
        case Qt::ForegroundRole:
            return toneColour(cell.tone);
        case Qt::TextAlignmentRole:
            return static_cast<int>((cell.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        default:
            return {};
    }
}

QVariant CellsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return heads_.value(section);
    // A head stands above what it names.
    if (role == Qt::TextAlignmentRole && !rows_.empty() && static_cast<std::size_t>(section) < rows_.front().size()) {
        const bool number = rows_.front()[static_cast<std::size_t>(section)].number;
        return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return {};
}

CellsTable::CellsTable(const QString& id, const QString& name, const QString& tip, QWidget* parent)
    : QTableView(parent), model_(new CellsModel(this)), emptyText_(tr("%1 will be listed here.").arg(name)) {
    setObjectName(id);
    setAccessibleName(name);
    setToolTip(tip);
    auto* sorted = new ByValue(this);
    sorted->setSourceModel(model_);
    setModel(sorted);
    setSortingEnabled(true);
    sortByColumn(-1, Qt::AscendingOrder);
    setFrameShape(NoFrame);
    setShowGrid(false);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setEditTriggers(NoEditTriggers);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setHorizontalScrollMode(ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(static_cast<int>(26 * Theme::instance().scale()));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setStretchLastSection(false);
    growWithType(this);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (now.isValid()) emit rowChosen(currentRow());
    });
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void CellsTable::setCells(QStringList heads, std::vector<std::vector<Cell>> rows) {
    const int before = currentRow();
    // Widths follow the first rows that come; after that they are the person's.
    const bool first = model_->columnCount() != heads.size() || (model_->rowCount() == 0 && !rows.empty());
    {
        const QSignalBlocker quiet(this);
        model_->set(std::move(heads), std::move(rows));
        if (before >= 0 && before < model_->rowCount()) setCurrentRow(before);
    }
    if (!first || model_->columnCount() == 0) return;
    resizeColumnsToContents();
    for (int column = 0; column < model_->columnCount(); ++column)
        setColumnWidth(column, std::clamp(columnWidth(column) + 12, 64, 420));
}

void CellsTable::setCurrentRow(int row) {
    const auto* sorted = static_cast<const QSortFilterProxyModel*>(model());
    if (row == currentRow()) return;
    setCurrentIndex(row < 0 ? QModelIndex() : sorted->mapFromSource(model_->index(row, 0)));
}

int CellsTable::currentRow() const {
    const auto* sorted = static_cast<const QSortFilterProxyModel*>(model());
    return currentIndex().isValid() ? sorted->mapToSource(currentIndex()).row() : -1;
}

void CellsTable::setEmptyText(const QString& text) {
    emptyText_ = text;
    viewport()->update();
}

void CellsTable::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (emptyText_.isEmpty() || model_->rowCount() > 0) return;
    QPainter painter(viewport());
    paintEmptyPlot(painter, viewport()->rect(), emptyText_);
}

}  // namespace orrery::ui
