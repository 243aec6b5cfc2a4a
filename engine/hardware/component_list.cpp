#include "hardware/component_list.h"

#include "hardware/component.h"

#include <algorithm>
#include <atomic>

namespace orrery {

ComponentList::ComponentList(std::vector<Component> list) {
    if (!list.empty()) items_ = std::make_shared<std::vector<Component>>(std::move(list));
}

ComponentList::ComponentList(std::initializer_list<Component> list) : ComponentList(std::vector<Component>(list)) {}

ComponentList::operator std::vector<Component>() const& {
    return items_ ? *items_ : std::vector<Component>();
}

ComponentList::operator std::vector<Component>() && {
    if (!items_) return {};
    std::vector<Component> list = std::move(own());
    items_.reset();
    return list;
}

std::vector<Component>& ComponentList::own() {
    if (!items_) {
        items_ = std::make_shared<std::vector<Component>>();
    } else if (items_.use_count() > 1) {
        items_ = std::make_shared<std::vector<Component>>(*items_);
    } else {
        // Another thread may just have let go of it: what it read must have been read before we write.
        std::atomic_thread_fence(std::memory_order_acquire);
    }
    return *items_;
}

Component* ComponentList::begin() {
    return items_ ? own().data() : nullptr;
}

Component* ComponentList::end() {
    return items_ ? own().data() + items_->size() : nullptr;
}

Component& ComponentList::operator[](std::size_t index) {
    return own()[index];
}

void ComponentList::push_back(Component component) {
    own().push_back(std::move(component));
}

Component& ComponentList::emplace_back(Component component) {
    return own().emplace_back(std::move(component));
}

void ComponentList::reserve(std::size_t count) {
    if (count > 0) own().reserve(count);
}

// Places are taken before the list becomes its own: they may point into the one that was shared.
Component* ComponentList::insert(const Component* at, Component component) {
    const auto index = at - static_cast<const ComponentList*>(this)->begin();
    auto& list = own();
    return &*list.insert(list.begin() + index, std::move(component));
}

Component* ComponentList::erase(const Component* at) {
    return erase(at, at + 1);
}

Component* ComponentList::erase(const Component* first, const Component* last) {
    const Component* start = static_cast<const ComponentList*>(this)->begin();
    const auto from = first - start, to = last - start;
    auto& list = own();
    list.erase(list.begin() + from, list.begin() + to);
    return list.data() + from;
}

bool ComponentList::operator==(const ComponentList& other) const {
    if (items_ == other.items_) return true;
    return size() == other.size() && std::equal(begin(), end(), other.begin());
}

}  // namespace orrery
