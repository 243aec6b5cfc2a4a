#include "widgets/common/beside_layout.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace orrery::ui {

BesideLayout::BesideLayout(QWidget* parent, int high) : QLayout(parent), high_(high) {
    setContentsMargins(0, 0, 0, 0);
}

BesideLayout::~BesideLayout() = default;

void BesideLayout::addItem(QLayoutItem* item) {
    for (auto& place : items_) {
        if (place) continue;
        place.reset(item);
        return invalidate();
    }
    delete item;
}

int BesideLayout::count() const {
    return static_cast<int>(std::ranges::count_if(items_, [](const auto& item) { return item != nullptr; }));
}

QLayoutItem* BesideLayout::itemAt(int index) const {
    return index < 0 || index >= count() ? nullptr : items_[static_cast<std::size_t>(index)].get();
}

QLayoutItem* BesideLayout::takeAt(int index) {
    if (!itemAt(index)) return nullptr;
    QLayoutItem* taken = items_[static_cast<std::size_t>(index)].release();
    if (index == 0) std::swap(items_[0], items_[1]);
    invalidate();
    return taken;
}

bool BesideLayout::isAbove(int width) const {
    return count() == 2 && width > 0 && width < items_[0]->minimumSize().width() + items_[1]->minimumSize().width();
}

QSize BesideLayout::sizeHint() const {
    if (count() < 2) return {};
    const QSize first = items_[0]->minimumSize(), second = items_[1]->sizeHint();
    return {first.width() + second.width(), std::max(items_[0]->sizeHint().height(), second.height())};
}

QSize BesideLayout::minimumSize() const {
    if (count() < 2) return {};
    const QSize first = items_[0]->minimumSize(), second = items_[1]->minimumSize();
    return {std::max(first.width(), second.width()),
            isAbove() ? high_ + second.height() : std::max(first.height(), second.height())};
}

void BesideLayout::setGeometry(const QRect& room) {
    QLayout::setGeometry(room);
    if (count() < 2) return;
    const bool above = isAbove();
    const int wide = items_[0]->minimumSize().width();
    items_[0]->setGeometry(above ? QRect(room.left(), room.top(), room.width(), high_)
                                 : QRect(room.left(), room.top(), wide, room.height()));
    items_[1]->setGeometry(above ? room.adjusted(0, high_, 0, 0) : room.adjusted(wide, 0, 0, 0));
    // What it needs at least has changed.
    if (std::exchange(wasAbove_, above) != above) update();
}

}  // namespace orrery::ui
