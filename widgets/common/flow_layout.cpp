#include "widgets/common/flow_layout.h"

#include <QWidget>

#include <algorithm>
#include <utility>

namespace orrery::ui {

namespace {

QSize wanted(const QLayoutItem& item) {
    return item.sizeHint().expandedTo(item.minimumSize());
}

bool isGap(QLayoutItem& item) {
    return item.spacerItem() != nullptr;
}

bool grows(QLayoutItem& item) {
    const QWidget* widget = item.widget();
    return (item.expandingDirections() & Qt::Horizontal).toInt() != 0 ||
           (widget && widget->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored);
}

}  // namespace

FlowLayout::FlowLayout(int gap, QWidget* parent) : QLayout(parent), gap_(gap) {
    setContentsMargins(0, 0, 0, 0);
}

// One by one: a group looks for itself in here as it goes.
FlowLayout::~FlowLayout() {
    while (QLayoutItem* item = takeAt(0)) delete item;
}

void FlowLayout::addGroup(QLayout* group) {
    addChildLayout(group);
    addItem(group);
}

void FlowLayout::addSpacing(int pixels) {
    addItem(new QSpacerItem(pixels, 0, QSizePolicy::Fixed));
}

void FlowLayout::clear() {
    const auto discard = [](QLayoutItem* item) {
        if (QWidget* widget = item->widget()) {
            widget->hide();  // its own signal may still be running
            widget->deleteLater();
        }
        delete item;
    };
    while (QLayoutItem* item = takeAt(0)) {
        if (QLayout* group = item->layout())
            while (QLayoutItem* inner = group->takeAt(0)) discard(inner);
        discard(item);
    }
}

void FlowLayout::addItem(QLayoutItem* item) {
    items_.emplace_back(item);
    invalidate();
}

int FlowLayout::count() const {
    return static_cast<int>(items_.size());
}

QLayoutItem* FlowLayout::itemAt(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return index < 0 || at >= items_.size() ? nullptr : items_[at].get();
}

QLayoutItem* FlowLayout::takeAt(int index) {
    if (!itemAt(index)) return nullptr;
    QLayoutItem* taken = items_[static_cast<std::size_t>(index)].release();
    items_.erase(items_.begin() + index);
    invalidate();
    return taken;
}

int FlowLayout::heightForWidth(int width) const {
    return flow({0, 0, width, 0}, false);
}

QSize FlowLayout::sizeHint() const {
    QSize all(0, 0);
    for (const auto& item : items_) {
        if (item->isEmpty() && !isGap(*item)) continue;
        all = {all.width() + wanted(*item).width() + (all.width() > 0 ? gap_ : 0),
               std::max(all.height(), wanted(*item).height())};
    }
    return all.expandedTo(minimumSize());
}

QSize FlowLayout::minimumSize() const {
    QSize least(0, 0);
    for (const auto& item : items_)
        if (!isGap(*item)) least = least.expandedTo(item->minimumSize());
    // Pages that scroll ask for the least size, and know the width.
    return {least.width(), geometry().width() > 0 ? heightForWidth(geometry().width()) : least.height()};
}

void FlowLayout::setGeometry(const QRect& room) {
    QLayout::setGeometry(room);
    const int taken = flow(room, true);
    if (taken == height_) return;
    height_ = taken;
    update();
}

int FlowLayout::flow(const QRect& room, bool place) const {
    struct Placed {
        QLayoutItem* item;
        int before, width;  // pixels
    };
    std::vector<Placed> line;
    int y = room.top(), used = 0, high = 0, before = 0;
    const auto finish = [&] {
        auto growing =
            static_cast<int>(std::ranges::count_if(line, [](const Placed& each) { return grows(*each.item); }));
        int x = room.left(), spare = std::max(0, room.width() - used);
        for (const Placed& each : line) {
            int width = each.width;
            if (grows(*each.item)) {
                const int more = spare / growing--;
                width += more;
                spare -= more;
            }
            const int height = std::min(wanted(*each.item).height(), high);
            x += each.before;
            if (place) each.item->setGeometry({x, y + (high - height) / 2, width, height});
            x += width;
        }
        y += high + gap_;
        line.clear();
        used = high = before = 0;
    };
    for (const auto& item : items_) {
        if (isGap(*item)) {
            if (!line.empty()) before += wanted(*item).width();
            continue;
        }
        if (item->isEmpty()) continue;
        const QSize its = wanted(*item);
        const int width = std::min(its.width(), std::max(room.width(), item->minimumSize().width()));
        if (!line.empty() && used + gap_ + before + width > room.width()) finish();
        if (!line.empty()) before += gap_;
        line.push_back({item.get(), before, width});
        used += std::exchange(before, 0) + width;
        high = std::max(high, its.height());
    }
    if (!line.empty()) finish();
    return std::max(0, y - gap_ - room.top());
}

}  // namespace orrery::ui
