#include "widgets/common/wrapped_delegate.h"

#include "widgets/common/theme.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QPainter>

#include <utility>

namespace orrery::ui {

namespace {

constexpr int across = 8, down = 4;  // pixels of margin
constexpr int how = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;

}  // namespace

int WrappedDelegate::heightFor(const QString& text, const QFont& font, int width) {
    const QRect room(0, 0, width - 2 * across, 1 << 20);
    return QFontMetrics(font).boundingRect(room, how, text).height() + 2 * down;
}

QSize WrappedDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const auto* view = qobject_cast<const QAbstractItemView*>(option.widget);
    const int width = view ? view->viewport()->width() : option.rect.width();
    return {width, heightFor(index.data().toString(), option.font, width)};
}

void WrappedDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem ground = option;
    initStyleOption(&ground, index);
    const QString text = std::exchange(ground.text, {});
    const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &ground, painter, option.widget);
    painter->save();
    painter->setFont(option.font);
    painter->setPen(Theme::instance().colours().text);
    painter->drawText(option.rect.adjusted(across, down, -across, -down), how, text);
    painter->restore();
}

}  // namespace orrery::ui
