#pragma once

// The layouts as data: which docks stand where, how much of the window they get, and whether pages are shown. A new
// layout is a value of Layout and a row of the table.

#include <QString>
#include <Qt>

#include <optional>
#include <span>
#include <vector>

namespace orrery::app {

enum class Layout { Explore, Teach, Compare, Draw };
QString toText(Layout layout);  ///< `explore`: in settings and on the command line
std::optional<Layout> layoutOf(const QString& text);

/// Docks are placed one after the other, in the order of the list.
struct DockPlace {
    enum How {
        Into,    ///< an area of the window: `left`, `right`, `bottom`
        Below,   ///< another dock that is placed already; behind it where pages would have no room else
        Beside,  ///< at its right
        Behind   ///< under a tab; the other one stays in front
    };
    const char* dock;
    How how;
    const char* where;
};

/// Percent of the window's width or height for some docks that share a border.
struct DockShare {
    Qt::Orientation along;
    std::vector<std::pair<const char*, int>> docks;
};

struct LayoutPlan {
    Layout layout;
    const char* name;
    const char* title;  ///< of its command; in the context `Layouts`, as is `meaning`
    const char* meaning;
    bool pages;     ///< shown above the results
    bool presents;  ///< large type
    std::vector<DockPlace> places;
    std::vector<DockShare> shares;
};

/// In the order of menu and keys.
std::span<const LayoutPlan> layoutPlans();
const LayoutPlan& planOf(Layout layout);

}  // namespace orrery::app
