#include "widgets/evidence/coverage_matrix.h"

#include "methods/method.h"
#include "widgets/common/table_scale.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

std::size_t columnOf(Coverage& coverage, const QString& name) {
    const auto found = std::ranges::find(coverage.columns, name);
    if (found != coverage.columns.end()) return static_cast<std::size_t>(found - coverage.columns.begin());
    coverage.columns.push_back(name);
    return coverage.columns.size() - 1;
}

/// The style sheet's own background would hide a cell's.
class FillDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyleOptionViewItem item = option;
        initStyleOption(&item, index);
        const QString words = std::exchange(item.text, QString());
        item.widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
        if (const QVariant fill = index.data(Qt::BackgroundRole); fill.canConvert<QColor>())
            painter->fillRect(item.rect, fill.value<QColor>());
        painter->setFont(item.font);
        painter->setPen(index.data(Qt::ForegroundRole).value<QColor>());
        painter->drawText(item.rect, Qt::AlignCenter, words);
    }
};

}  // namespace

Coverage coverageOf(std::span<const Method> methods, CoverageBy by) {
    Coverage coverage;
    for (const Method& method : methods) {
        if (by == CoverageBy::Platform) {
            for (const auto platform : method.card.platforms) columnOf(coverage, qs(platform));
        }
        for (const Evidence& evidence : method.card.evidence)
            columnOf(coverage, qs(by == CoverageBy::Platform ? evidence.platform : evidence.workloadClass));
    }
    coverage.cells.resize(methods.size() * coverage.columns.size());
    for (const Method& method : methods) {
        const std::size_t row = coverage.rows.size();
        coverage.rows.push_back(qs(method.card.title));
        coverage.methodologies.push_back(qs(toText(method.card.methodology)));
        const auto cell = [&](std::string_view column) -> CoverageCell& {
            return coverage.cells[row * coverage.columns.size() + columnOf(coverage, qs(column))];
        };
        if (by == CoverageBy::Platform) {
            for (const auto platform : method.card.platforms) cell(platform).claimed = true;
        }
        for (const Evidence& evidence : method.card.evidence) {
            const bool platforms = by == CoverageBy::Platform;
            CoverageCell& at = cell(platforms ? evidence.platform : evidence.workloadClass);
            at.claimed = true;
            at.findings << qs(platforms ? evidence.workloadClass : evidence.platform) + QStringLiteral(": ") +
                               qs(evidence.finding);
        }
    }
    return coverage;
}

void CoverageModel::set(Coverage coverage) {
    beginResetModel();
    coverage_ = std::move(coverage);
    endResetModel();
}

int CoverageModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(coverage_.rows.size());
}

int CoverageModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(coverage_.columns.size());
}

QVariant CoverageModel::data(const QModelIndex& index, int role) const {
    const CoverageCell& cell = coverage_.at(index.row(), index.column());
    const Theme& theme = Theme::instance();
    switch (role) {
        case Qt::DisplayRole:
            if (cell.error >= 0) return percentText(cell.error) + QStringLiteral(" · %L1").arg(cell.rows);
            if (!cell.findings.isEmpty()) return tr("%n finding(s)", nullptr, static_cast<int>(cell.findings.size()));
            return cell.claimed ? tr("claimed") : QString();
        case Qt::ToolTipRole: {
            const QString where =
                QStringLiteral("%1 · %2").arg(coverage_.rows[static_cast<std::size_t>(index.row())],
                                              coverage_.columns[static_cast<std::size_t>(index.column())]);
            if (!cell.claimed && cell.rows == 0) return where + QLatin1Char('\n') + tr("Not made for it");
            QStringList lines{where};
            if (cell.error >= 0)
                lines << tr("Mean error %1 on %n loaded row(s)", nullptr, static_cast<int>(cell.rows))
                             .arg(percentText(cell.error));
            lines += cell.findings;
            if (cell.findings.isEmpty() && cell.error < 0) lines << tr("Works there, but nothing has been measured");
            return lines.join(QLatin1Char('\n'));
        }
        case Qt::BackgroundRole: {
            if (!cell.claimed && cell.rows == 0) return {};
            // Stronger with more evidence.
            const double rows = static_cast<double>(cell.rows) + 10.0 * static_cast<double>(cell.findings.size());
            QColor fill = theme.methodColour(0);
            fill.setAlphaF(
                static_cast<float>(rows > 0 ? std::clamp(0.12 + 0.08 * std::log10(1 + rows), 0.12, 0.5) : 0.05));
            return fill;
        }
        case Qt::ForegroundRole:
            return cell.findings.isEmpty() && cell.error < 0 ? theme.colours().mutedText : theme.colours().text;
        case Qt::TextAlignmentRole:
            return Qt::AlignCenter;
        default:
            return {};
    }
}

QVariant CoverageModel::headerData(int section, Qt::Orientation orientation, int role) const {
    const auto at = static_cast<std::size_t>(section);
    if (orientation == Qt::Horizontal) return role == Qt::DisplayRole ? coverage_.columns[at] : QVariant();
    if (role == Qt::DisplayRole) return coverage_.rows[at];
    return role == Qt::ToolTipRole ? coverage_.methodologies[at] : QVariant();
}

CoverageMatrix::CoverageMatrix(QWidget* parent) : QTableView(parent), model_(new CoverageModel(this)) {
    setObjectName(QStringLiteral("evidence.coverage"));
    setAccessibleName(tr("Coverage of methods by evidence"));
    setToolTip(tr("Where each method claims to work, and what has been measured there"));
    setModel(model_);
    setItemDelegate(new FillDelegate(this));
    setFrameShape(QFrame::NoFrame);
    setShowGrid(true);
    setEditTriggers(NoEditTriggers);
    setSelectionMode(SingleSelection);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(ScrollPerPixel);
    verticalHeader()->setDefaultSectionSize(static_cast<int>(30 * Theme::instance().scale()));
    verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setHighlightSections(false);
    growWithType(this);
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void CoverageMatrix::setCoverage(Coverage coverage) {
    model_->set(std::move(coverage));
    resizeColumnsToContents();
    for (int column = 0; column < model_->columnCount(); ++column)
        setColumnWidth(column, std::clamp(columnWidth(column) + 16, 96, 220));
}

}  // namespace orrery::ui
