#pragma once

// The children of a component. Copies of a design share them until one is changed, so that an edit of one attribute
// copies the lists on the way from the root to it and nothing else, and equal designs are told apart by a few pointers.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

namespace orrery {

struct Component;

/// The interface is that of std::vector<Component> as far as it goes. Access through a non-const list makes its
/// components this list's own; a reference got so is good until the design is copied.
class ComponentList {
public:
    using value_type = Component;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = Component&;
    using const_reference = const Component&;
    using iterator = Component*;
    using const_iterator = const Component*;

    ComponentList() = default;
    ComponentList(std::vector<Component> list);
    ComponentList(std::initializer_list<Component> list);
    operator std::vector<Component>() const&;
    operator std::vector<Component>() &&;

    std::size_t size() const;
    bool empty() const { return size() == 0; }
    const Component* begin() const;
    const Component* end() const;
    Component* begin();
    Component* end();
    const Component& operator[](std::size_t index) const;
    Component& operator[](std::size_t index);
    const Component& front() const { return (*this)[0]; }
    Component& front() { return (*this)[0]; }
    const Component& back() const { return (*this)[size() - 1]; }
    Component& back() { return (*this)[size() - 1]; }

    void push_back(Component component);
    Component& emplace_back(Component component);
    void reserve(std::size_t count);
    void clear() { items_.reset(); }
    Component* insert(const Component* at, Component component);
    Component* erase(const Component* at);
    Component* erase(const Component* first, const Component* last);

    bool operator==(const ComponentList& other) const;

private:
    std::vector<Component>& own();
    std::shared_ptr<std::vector<Component>> items_;  ///< null: none
};

}  // namespace orrery
