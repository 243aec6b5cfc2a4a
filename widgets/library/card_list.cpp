#include "widgets/library/card_list.h"

#include "widgets/common/elided_facts.h"
#include "widgets/common/theme.h"

#include <QDrag>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMimeData>
#include <QPainter>

#include <algorithm>

namespace orrery::ui {
namespace {

/// Heights follow the type, which a projector's layout enlarges.
int lineOf(FontRole role) {
    return QFontMetrics(Theme::instance().font(role)).height();
}
int rowHeight() {
    return lineOf(FontRole::Body) + lineOf(FontRole::Small) + 12;
}
int groupHeight() {
    return lineOf(FontRole::Small) + 14;
}

class CardKeys : public QObject {
public:
    CardKeys(QLineEdit* search, QListView* list, std::function<void(const QModelIndex&)> choose)
        : QObject(list), search_(search), list_(list), choose_(std::move(choose)) {
        search->installEventFilter(this);
        list->installEventFilter(this);
    }
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::KeyPress) return false;
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            if (list_->currentIndex().isValid()) choose_(list_->currentIndex());
            return true;
        }
        if (watched == search_ && key == Qt::Key_Down) {
            list_->setFocus();
            return true;
        }
        if (key == Qt::Key_Escape && !search_->text().isEmpty()) {
            search_->clear();
            return true;
        }
        return false;
    }

private:
    QLineEdit* search_;
    QListView* list_;
    std::function<void(const QModelIndex&)> choose_;
};

}  // namespace

void CardFilter::setWords(const QString& words) {
    set(kind_, words);
}

void CardFilter::set(int kind, const QString& words) {
    kind_ = kind;
    words_ = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidate();
    sort(0);
}

bool CardFilter::isCalledSo(const QModelIndex& index) const {
    const QString name = index.data().toString();
    return std::all_of(words_.begin(), words_.end(),
                       [&name](const QString& word) { return name.contains(word, Qt::CaseInsensitive); });
}

// Groups stay as they are; in each, what is called so comes before what only mentions it.
bool CardFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    if (words_.isEmpty() || left.data(CardRoles::GroupRole) != right.data(CardRoles::GroupRole))
        return left.row() < right.row();
    const bool first = isCalledSo(left), second = isCalledSo(right);
    return first != second ? first : left.row() < right.row();
}

bool CardFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (kind_ >= 0 && index.data(CardRoles::KindRole).toInt() != kind_) return false;
    if (words_.isEmpty()) return true;
    const QString hay = index.data(CardRoles::WordsRole).toString();
    return std::all_of(words_.begin(), words_.end(),
                       [&hay](const QString& word) { return hay.contains(word, Qt::CaseInsensitive); });
}

QVariant CardFilter::data(const QModelIndex& index, int role) const {
    if (role != CardRoles::FirstRole) return QSortFilterProxyModel::data(index, role);
    return index.row() == 0 ||
           index.data(CardRoles::GroupRole) != index.siblingAtRow(index.row() - 1).data(CardRoles::GroupRole);
}

QSize CardDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
    return {120, rowHeight() + (index.data(CardRoles::FirstRole).toBool() ? groupHeight() : 0)};
}

QRect CardDelegate::rowOf(const QRect& rect) {
    return {rect.left(), rect.bottom() - rowHeight() + 1, rect.width(), rowHeight()};
}

int CardDelegate::paintMark(QPainter*, const QRect& row, const QModelIndex&) const {
    return row.left() + 12;
}

void CardDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect row = rowOf(option.rect);
    if (index.data(CardRoles::FirstRole).toBool()) {
        QFont font = theme.font(FontRole::Small);
        font.setWeight(QFont::DemiBold);
        painter->setFont(font);
        painter->setPen(colours.mutedText);
        painter->drawText(option.rect.adjusted(12, 8, -8, 0), Qt::AlignTop | Qt::AlignLeft,
                          index.data(CardRoles::GroupRole).toString());
    }
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        QColor fill = colours.selection;
        if (!(option.state & QStyle::State_Selected)) fill.setAlpha(fill.alpha() / 2);
        painter->setPen(Qt::NoPen);
        painter->setBrush(fill);
        painter->drawRoundedRect(row.adjusted(4, 1, -4, -1), 4, 4);
    }
    const int left = paintMark(painter, row, index);
    const int width = row.right() - left - 8;
    const auto line = [&](FontRole role, const QColor& ink, int top, const QString& text) {
        painter->setFont(theme.font(role));
        painter->setPen(ink);
        painter->drawText(QRect(left, top, width, lineOf(role)), Qt::AlignVCenter | Qt::TextSingleLine,
                          elidedFacts(text, QFontMetricsF(painter->font()), width));
    };
    line(FontRole::Body, colours.text, row.top() + 5, index.data().toString());
    line(FontRole::Small, colours.mutedText, row.top() + 5 + lineOf(FontRole::Body),
         index.data(CardRoles::DetailRole).toString());
    painter->restore();
}

CardList::CardList(QWidget* parent) : QListView(parent) {
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setDragEnabled(true);
    setDragDropMode(QAbstractItemView::DragOnly);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
}

QPixmap CardList::dragged(const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const QFontMetrics metrics(theme.font(FontRole::Small));
    const QString name = metrics.elidedText(index.data().toString(), Qt::ElideRight, 30 * metrics.averageCharWidth());
    const QSize size(metrics.horizontalAdvance(name) + 16, metrics.height() + 8);
    QPixmap plate(size * devicePixelRatioF());
    plate.setDevicePixelRatio(devicePixelRatioF());
    plate.fill(Qt::transparent);
    QPainter painter(&plate);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.colours().accent, 1));
    painter.setBrush(theme.colours().raised);
    painter.drawRoundedRect(QRectF(QPointF(), QSizeF(size)).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(theme.colours().text);
    painter.drawText(QRect(QPoint(), size), Qt::AlignCenter, name);
    return plate;
}

void CardList::startDrag(Qt::DropActions actions) {
    const QModelIndexList chosen = selectedIndexes();
    QMimeData* data = chosen.isEmpty() ? nullptr : model()->mimeData(chosen);
    if (!data) return;
    auto* drag = new QDrag(this);
    drag->setMimeData(data);
    const QPixmap plate = dragged(chosen.front());
    drag->setPixmap(plate);
    drag->setHotSpot(QPoint(-12, qRound(plate.height() / plate.devicePixelRatioF()) + 4));
    drag->exec(actions, Qt::CopyAction);
}

void wireCardKeys(QLineEdit* search, QListView* list, std::function<void(const QModelIndex&)> choose) {
    new CardKeys(search, list, std::move(choose));
}

}  // namespace orrery::ui
