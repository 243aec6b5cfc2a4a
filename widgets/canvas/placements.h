#pragma once

// Where a person has put components on the canvas: kept beside the hardware, never in it. What has no placement is laid
// out by itself. In a file it is the `layout:` of a hardware document, one line per component.

#include "hardware/component.h"
#include "widgets/common/shared_sorted_map.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::ui {

/// In scene units (one is a pixel at 100 %), relative to where the parent's contents begin.
struct Placement {
    double x = 0, y = 0;
    double width = 0, height = 0;  ///< 0: as large as its contents need; never drawn smaller than that
    bool folded = false;           ///< contents are hidden
    bool expanded = false;         ///< of a topology: drawn with its real switches and links
    bool placed = true;            ///< false: only folded or expanded was set; x and y are free
    bool operator==(const Placement&) const = default;
};

struct Placements {
    SharedSortedMap<Placement> at;  ///< by placementKey(); copies share what is the same
    std::string other;              ///< lines of `layout:` that are not ours, kept
    const Placement* find(std::string_view key) const;
    bool operator==(const Placements&) const = default;
};
using PlacementsPtr = std::shared_ptr<const Placements>;

/// Names from below the root, joined by slashes: `dgx/h100/hbm3`; `l2#2` for the second sibling of a name.
std::string placementKey(const Component& root, const ComponentPath& path);
/// One part of a key: `l2#2`; slashes, `#` and `%` in a name are written as %2F and so on.
std::string placementName(std::string_view name, int ordinal);

/// Reads the lines of Hardware::layoutYaml; what it does not understand goes to `other`. Never fails.
Placements readPlacements(std::string_view layoutYaml);
/// Sorted by key; numbers to a tenth, so read(write(p)) == p where p's numbers are tenths.
std::string writePlacements(const Placements& placements);

/// One component and where it should be.
struct PlacedAt {
    ComponentPath path;
    Placement at;
};

}  // namespace orrery::ui
