#include "widgets/mapping/fused_list.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QHeaderView>
#include <QPainter>

namespace orrery::ui {

namespace {

constexpr int groupRole = Qt::UserRole, operatorRole = Qt::UserRole + 1;

QString savedText(double fused, double alone) {
    if (!(alone > 0) || fused == alone) return QStringLiteral("–");
    return signedPercentText(fused / alone - 1);
}

QString tilesText(const FusedGroup& group) {
    if (group.first == group.last) return {};
    QStringList parts;
    for (const FusedGroup::Loop& loop : group.loops)
        parts << FusedList::tr("%1 in %2 parts").arg(QString::fromStdString(loop.name)).arg(loop.count);
    QString text = parts.isEmpty() ? FusedList::tr("whole") : parts.join(QStringLiteral(", "));
    if (group.waiting > 0) text += FusedList::tr("; overlap kept");
    if (group.repeated > 1 + 1e-9) text += FusedList::tr("; %1 operations again").arg(percentText(group.repeated - 1));
    return text;
}

}  // namespace

FusedList::FusedList(QWidget* parent) : QTreeWidget(parent) {
    setObjectName(QStringLiteral("mapping.fused"));
    setAccessibleName(tr("Operators that run together"));
    setToolTip(tr("Operators in one band run tile by tile; tensors between them stay on the chip"));
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setHeaderLabels(
        {tr("Operator"), tr("Tiles of rows"), tr("Cycles"), tr("against alone"), tr("Energy"), tr("against alone")});
    header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    header()->setStretchLastSection(false);
    connect(&Theme::instance(), &Theme::changed, this, [this] { viewport()->update(); });
    connect(this, &QTreeWidget::itemClicked, this,
            [this](QTreeWidgetItem* item) { emit operatorChosen(item->data(0, operatorRole).toInt()); });
}

void FusedList::clearResult() {
    clear();
    setAccessibleDescription({});
}

void FusedList::setResult(const OperatorChain& chain, const FusionResult& result) {
    clear();
    int groups = 0;
    for (const FusedGroup& group : result.fused.groups) {
        const bool together = group.last > group.first;
        groups += together;
        for (std::size_t i = group.first; i <= group.last; ++i) {
            const ChainOperator& op = chain.operators[i];
            const FusedPlacement &fused = result.fused.operators[i].placement,
                                 &alone = result.unfused.operators[i].placement;
            auto* item = new QTreeWidgetItem(this);
            item->setText(0, QString::fromStdString(op.name));
            if (i == group.first) item->setText(1, tilesText(group));
            item->setText(2, countText(op.repeat * fused.cycles));
            item->setText(3, savedText(fused.cycles, alone.cycles));
            if (chain.energies) {
                item->setText(4, text(Joules(op.repeat * fused.energy)));
                item->setText(5, savedText(fused.energy, alone.energy));
            }
            for (const int column : {2, 3, 4, 5}) item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
            item->setData(0, groupRole, together ? groups : 0);
            item->setData(0, operatorRole, static_cast<int>(op.source));
        }
    }
    setAccessibleDescription(tr("%n group(s) run together", nullptr, groups));
}

void FusedList::drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QTreeWidget::drawRow(painter, option, index);
    const int group = index.siblingAtColumn(0).data(groupRole).toInt();
    if (group == 0) return;
    // A tint over the row and a stripe at its side; bands of neighbouring groups differ.
    QColor band = Theme::instance().methodColour(group);
    painter->fillRect(QRect(option.rect.left(), option.rect.top(), 4, option.rect.height()), band);
    band.setAlphaF(0.12F);
    painter->fillRect(option.rect, band);
}

}  // namespace orrery::ui
