#include "widgets/tree/component_tree_delegate.h"

#include "widgets/common/elided_facts.h"
#include "widgets/common/glyphs.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/tree/component_tree_model.h"

#include <QAbstractProxyModel>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QToolTip>

namespace orrery::ui {
namespace {

/// Says why on the spot; the text stays for mending.
void sayWhy(QLineEdit* line, const std::optional<Diagnostic>& why) {
    QPalette colours = line->palette();
    colours.setColor(QPalette::Text, why ? Theme::instance().colours().bad : Theme::instance().colours().text);
    line->setPalette(colours);
    if (!why) return QToolTip::hideText();
    QString text = windowText(why->message);
    const std::string& more = why->hint.empty() ? why->expected : why->hint;
    if (!more.empty()) text += QStringLiteral(" – ") + qs(more);
    line->setAccessibleDescription(text);
    QToolTip::showText(line->mapToGlobal(QPoint(0, line->height())), text, line);
}

}  // namespace

ComponentTreeDelegate::ComponentTreeDelegate(const ComponentTreeModel* model, QObject* parent)
    : QStyledItemDelegate(parent), model_(model) {}

QSize ComponentTreeDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const int line = QFontMetrics(Theme::instance().font(FontRole::Body)).height();
    return {QStyledItemDelegate::sizeHint(option, index).width(), std::max(26, line + 8)};
}

void ComponentTreeDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                                  const QModelIndex& index) const {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const QString name = item.text;
    item.text.clear();
    item.icon = {};
    const QWidget* widget = option.widget;
    widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, widget);

    const Theme& theme = Theme::instance();
    painter->save();
    QRect box = option.rect.adjusted(2, 0, -8, 0);
    const auto kind = static_cast<ComponentKind>(index.data(ComponentTreeModel::KindRole).toInt());
    paintGlyph(*painter, kind, QRectF(box.left(), box.center().y() - 7.5, 16, 16), theme.colours().text);
    const int own = index.data(ComponentTreeModel::ProblemRole).toInt();
    const int inside = index.data(ComponentTreeModel::InsideRole).toInt();
    if (own >= 0 || inside >= 0) {
        const QRectF badge(box.right() - 13, box.center().y() - 6.5, 14, 14);
        if (own < 0) painter->setOpacity(0.45);  // not of itself: something inside
        paintSeverity(*painter, static_cast<Severity>(own >= 0 ? own : inside), badge);
        painter->setOpacity(1);
        box.setRight(static_cast<int>(badge.left()) - 6);
    }
    int x = box.left() + 22;
    painter->setFont(theme.font(FontRole::Body));
    painter->setPen(theme.colours().text);
    const QFontMetrics metrics = painter->fontMetrics();
    const qlonglong count = index.data(ComponentTreeModel::CountRole).toLongLong();
    const QString times = count > 1 ? QStringLiteral("×") + countText(static_cast<double>(count)) : QString();
    const int timesWidth = times.isEmpty() ? 0 : metrics.horizontalAdvance(times) + 6;
    const QString shown = metrics.elidedText(name, Qt::ElideRight, std::max(24, box.right() - x - timesWidth));
    painter->drawText(QRect(x, box.top(), box.right() - x, box.height()), Qt::AlignVCenter, shown);
    x += metrics.horizontalAdvance(shown) + 6;
    if (!times.isEmpty()) {
        painter->setPen(theme.colours().accent);
        painter->drawText(QRect(x, box.top(), timesWidth, box.height()), Qt::AlignVCenter, times);
        x += timesWidth + 4;
    }
    painter->setFont(theme.font(FontRole::Small));
    painter->setPen(theme.colours().mutedText);
    const QString numbers = index.siblingAtColumn(ComponentTreeModel::Numbers).data().toString();
    const int room = box.right() - x;
    if (room > 40)
        painter->drawText(QRect(x, box.top(), room, box.height()), Qt::AlignVCenter | Qt::AlignRight,
                          elidedFacts(numbers, QFontMetricsF(painter->font()), room));
    painter->restore();
}

QWidget* ComponentTreeDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&,
                                             const QModelIndex& index) const {
    auto* line = new QLineEdit(parent);
    line->setObjectName(QStringLiteral("componentTree.name"));
    line->setAccessibleName(tr("Name of the component"));
    line->setToolTip(tr("Enter renames, Esc keeps the name"));
    editing_ = index;
    // A refused name becomes plain again as soon as it would be taken; it is refused only on Enter.
    connect(line, &QLineEdit::textEdited, line, [line] { sayWhy(line, std::nullopt); });
    return line;
}

void ComponentTreeDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                                                 const QModelIndex&) const {
    editor->setGeometry(option.rect.adjusted(20, 1, -2, -1));
}

bool ComponentTreeDelegate::eventFilter(QObject* watched, QEvent* event) {
    auto* line = qobject_cast<QLineEdit*>(watched);
    if (line && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab) {
            const auto* proxy = qobject_cast<const QAbstractProxyModel*>(editing_.model());
            const QModelIndex source = proxy ? proxy->mapToSource(editing_) : QModelIndex(editing_);
            if (const auto why = model_->nameRefusal(model_->path(source), line->text())) {
                sayWhy(line, why);
                emit refused(*why);
                return true;
            }
        }
    }
    return QStyledItemDelegate::eventFilter(watched, event);
}

}  // namespace orrery::ui
