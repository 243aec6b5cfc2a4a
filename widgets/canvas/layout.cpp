#include "widgets/canvas/layout.h"

#include "widgets/canvas/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace orrery::ui {
namespace {

using enum ComponentKind;

// From the outside in. The first two stand above all others: networks, whose links may leave at the top, and hosts.
enum Zone { Fabric, Host, Outer, Inner, Compute, zoneCount };

Zone zoneOf(ComponentKind kind) {
    switch (kind) {
        case Switch:
        case Topology:
            return Fabric;
        case Dram:
        case Link:  // one that leaves its parent: at the edge too
            return Outer;
        case Buffer:
        case Cache:
        case RegisterFile:
            return Inner;
        default:
            return Compute;
    }
}

double onGrid(double length) {
    return std::ceil(length / gridStep - 1e-9) * gridStep;
}

struct Block {
    std::vector<int> items;
    std::vector<QPointF> at;
    QSizeF size;
};

// Rows of up to `columns` items, each column as wide as its widest; items of one size make a plain grid. `corridors`:
// room right of each column; those that are not named are as wide as `gap`.
void fillGrid(Block& block, std::span<const LayoutItem> items, std::size_t columns, double gap,
              std::span<const double> corridors = {}) {
    block.at.resize(block.items.size());
    columns = std::clamp<std::size_t>(columns, 1, block.items.size());
    std::vector<double> widths(columns, 0);
    for (std::size_t i = 0; i < block.items.size(); ++i)
        widths[i % columns] =
            std::max(widths[i % columns], items[static_cast<std::size_t>(block.items[i])].size.width());
    double y = 0;
    double width = 0;
    for (std::size_t i = 0; i < block.items.size();) {
        double x = 0;
        double height = 0;
        for (std::size_t column = 0; column < columns && i < block.items.size(); ++column, ++i) {
            block.at[i] = {x, y};
            x += onGrid(widths[column]);
            width = std::max(width, x);
            x += column < corridors.size() ? corridors[column] : gap;
            height = std::max(height, items[static_cast<std::size_t>(block.items[i])].size.height());
        }
        y += onGrid(height) + gap;
    }
    block.size = QSizeF(width, y - gap);
}

/// Sizes that may share a row: each class holds four times the area of the one before.
long sizeClass(const LayoutItem& item) {
    return std::lround(std::log2(std::max(1.0, item.size.width() * item.size.height())) / 2);
}

double badness(const QSizeF& size, double aspect) {
    if (size.isEmpty()) return 0;
    return std::abs(std::log(size.width() / size.height() / aspect));
}

// The number of columns whose grid is least wasteful and nearest to the wanted shape; full rows are preferred.
std::size_t bestColumns(const Block& block, std::span<const LayoutItem> items, double gap, double aspect) {
    const std::size_t count = block.items.size();
    if (count <= 1) return 1;
    double width = 0;
    double height = 0;
    for (const int item : block.items) {
        width += items[static_cast<std::size_t>(item)].size.width() + gap;
        height += items[static_cast<std::size_t>(item)].size.height() + gap;
    }
    width /= static_cast<double>(count);
    height /= static_cast<double>(count);
    const double ideal = std::sqrt(aspect * height / width * static_cast<double>(count));
    const auto low = static_cast<std::size_t>(std::max(1.0, std::floor(ideal * 0.6)));
    const auto high = std::min(count, static_cast<std::size_t>(std::ceil(ideal * 1.6)) + 1);
    std::size_t best = low;
    double least = 1e300;
    for (std::size_t columns = low; columns <= std::max(low, high); ++columns) {
        const double rows = std::ceil(static_cast<double>(count) / static_cast<double>(columns));
        const double empty = rows * static_cast<double>(columns) - static_cast<double>(count);
        const double shape = std::abs(std::log(static_cast<double>(columns) * width / (rows * height) / aspect));
        const double score = shape + 2.0 * empty / static_cast<double>(count);
        if (score < least - 1e-9) {
            least = score;
            best = columns;
        }
    }
    return best;
}

std::size_t evenColumns(std::size_t count, std::size_t fit) {
    const std::size_t rows = (count + std::max<std::size_t>(fit, 1) - 1) / std::max<std::size_t>(fit, 1);
    return (count + rows - 1) / rows;
}

std::size_t fitInWidth(const Block& block, std::span<const LayoutItem> items, double gap, double room) {
    double run = 0;
    std::size_t fit = 0;
    for (const int item : block.items) {
        run += items[static_cast<std::size_t>(item)].size.width() + gap;
        if (run - gap <= room + 1) ++fit;
    }
    return fit;
}

using Links = std::span<const std::pair<int, int>>;

// Wide enough for the links that cannot run straight from one neighbour to the next: those to parts above a grid, from
// below its first row, and those past other items of it.
std::vector<double> corridorsOf(const Block& grid, std::size_t columns, Links links, double gap) {
    constexpr std::size_t most = 24;  // lines in a corridor that count
    if (columns < 2) return {};
    std::vector<std::size_t> lines(columns - 1, 0);
    const auto placeOf = [&](int item) {
        return static_cast<std::size_t>(std::find(grid.items.begin(), grid.items.end(), item) - grid.items.begin());
    };
    for (const auto& [from, to] : links) {
        std::size_t a = placeOf(from), b = placeOf(to);
        if (a > b) std::swap(a, b);
        if (a == grid.items.size()) continue;
        const bool inside = b < grid.items.size();
        const std::size_t row = a / columns, column = a % columns;
        const bool straight = inside ? b == a + columns || (b == a + 1 && column + 1 < columns) : row == 0;
        if (!straight) ++lines[std::min({column, inside ? b % columns : column, columns - 2})];
    }
    std::vector<double> room;
    for (const std::size_t count : lines)
        room.push_back(std::max(gap, onGrid(static_cast<double>(std::min(count, most) + 1) * lineGap)));
    return room;
}

// A grid for each run of sizes that may share a row, small ones above large ones, each in the middle.
void fillGroups(Block& block, std::span<const LayoutItem> items, Links links, double gap, double aspect) {
    std::vector<Block> groups;
    for (const int item : block.items) {
        const LayoutItem& it = items[static_cast<std::size_t>(item)];
        const bool apart = !groups.empty() &&
                           sizeClass(it) - sizeClass(items[static_cast<std::size_t>(groups.back().items.back())]) >= 2;
        if (groups.empty() || apart) groups.emplace_back();
        groups.back().items.push_back(item);
    }
    Block& large = groups.back();
    const std::size_t columns = bestColumns(large, items, gap, aspect);
    fillGrid(large, items, columns, gap, corridorsOf(large, columns, links, gap));
    double width = large.size.width();
    for (Block& group : groups) {
        if (&group == &large) break;
        fillGrid(group, items, evenColumns(group.items.size(), fitInWidth(group, items, gap, large.size.width())), gap);
        width = std::max(width, group.size.width());
    }
    block.at.clear();
    double y = 0;
    for (const Block& group : groups) {
        const double x = std::floor((width - group.size.width()) / 2 / gridStep) * gridStep;
        for (const QPointF& at : group.at) block.at.push_back(at + QPointF(x, y));
        y += group.size.height() + gap;
    }
    block.size = QSizeF(width, y - gap);
}

// Zones beside each other or below each other, each with its own number of columns.
struct Plan {
    std::array<Block, zoneCount> zones;
    std::array<QPointF, zoneCount> at;
    QSizeF size;
};

Plan sideBySide(const std::array<std::vector<int>, zoneCount>& members, std::span<const LayoutItem> items, Links links,
                double gap, double aspect, bool memoriesAbove) {
    Plan plan;
    for (int zone = 0; zone < zoneCount; ++zone)
        plan.zones[static_cast<std::size_t>(zone)].items = members[static_cast<std::size_t>(zone)];
    Block& compute = plan.zones[Compute];
    if (!compute.items.empty()) fillGroups(compute, items, links, gap, aspect);
    for (const Zone zone : {Outer, Inner}) {
        Block& block = plan.zones[zone];
        if (block.items.empty()) continue;
        // As columns beside the compute part, or rows above it, up to its length.
        const std::size_t count = block.items.size();
        if (memoriesAbove) {
            const std::size_t fit = compute.items.empty()
                                        ? bestColumns(block, items, gap, aspect)
                                        : fitInWidth(block, items, gap, std::max(compute.size.width(), 1.0));
            fillGrid(block, items, evenColumns(count, fit), gap);
        } else {
            double run = 0;
            std::size_t fit = 0;
            const double room = std::max(compute.size.height(), 1.0);
            for (const int item : block.items) {
                run += items[static_cast<std::size_t>(item)].size.height() + gap;
                if (run - gap <= room + 1) ++fit;
            }
            const std::size_t rows = std::max<std::size_t>(fit, 1);
            const std::size_t columns =
                compute.items.empty() ? bestColumns(block, items, gap, aspect) : (count + rows - 1) / rows;
            fillGrid(block, items, columns, gap);
        }
    }
    double x = 0;
    double y = 0;
    double length = 0;
    for (const Zone zone : {Outer, Inner, Compute}) {
        Block& block = plan.zones[zone];
        if (block.items.empty()) continue;
        if (memoriesAbove) {
            plan.at[zone] = {0, y};
            y += block.size.height() + gap;
            length = std::max(length, block.size.width());
        } else {
            plan.at[zone] = {x, 0};
            x += block.size.width() + gap;
            length = std::max(length, block.size.height());
        }
    }
    QSizeF body = memoriesAbove ? QSizeF(length, std::max(0.0, y - gap)) : QSizeF(std::max(0.0, x - gap), length);
    // Shorter zones stand in the middle of the longest.
    for (const Zone zone : {Outer, Inner, Compute}) {
        const Block& block = plan.zones[zone];
        if (block.items.empty()) continue;
        if (memoriesAbove)
            plan.at[zone].setX(std::floor((length - block.size.width()) / 2 / gridStep) * gridStep);
        else
            plan.at[zone].setY(std::floor((length - block.size.height()) / 2 / gridStep) * gridStep);
    }
    const bool bare = body.isEmpty();  // nothing but networks and their hosts
    for (const Zone zone : {Host, Fabric}) {
        Block& above = plan.zones[zone];
        if (above.items.empty()) continue;
        const std::size_t fit = bare && zone == Fabric ? bestColumns(above, items, gap, aspect)
                                                       : fitInWidth(above, items, gap, std::max(body.width(), 640.0));
        fillGrid(above, items, evenColumns(above.items.size(), fit), gap);
        const double down = body.isEmpty() ? 0 : above.size.height() + std::max(gap, linkGap);
        const double width = std::max(body.width(), above.size.width());
        const double shift = std::floor((width - body.width()) / 2 / gridStep) * gridStep;
        for (QPointF& at : plan.at) at += QPointF(shift, down);
        plan.at[zone] = {std::floor((width - above.size.width()) / 2 / gridStep) * gridStep, 0};
        body = QSizeF(width, body.height() + (body.isEmpty() ? above.size.height() : down));
    }
    plan.size = body;
    return plan;
}

// Small parts that reach the large ones through a network alone, as a node's CPUs do, stand under that network.
void findHosts(std::array<std::vector<int>, zoneCount>& members, std::span<const LayoutItem> items,
               std::span<const std::pair<int, int>> links) {
    std::vector<int>& compute = members[Compute];
    if (compute.empty() || members[Fabric].empty()) return;
    const long large = sizeClass(items[static_cast<std::size_t>(compute.back())]);
    std::vector<char> small(items.size(), 0), reaches(items.size(), 0), beside(items.size(), 0);
    for (const int item : compute)
        small[static_cast<std::size_t>(item)] = large - sizeClass(items[static_cast<std::size_t>(item)]) >= 2;
    for (const auto& [from, to] : links) {
        for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)}) {
            const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
            if (!small[one] || a == b) continue;
            (zoneOf(items[other].kind) == Fabric ? reaches : beside)[one] |= !small[other];
        }
    }
    std::erase_if(compute, [&](int item) {
        const auto at = static_cast<std::size_t>(item);
        if (!small[at] || !reaches[at] || beside[at]) return false;
        members[Host].push_back(item);
        return true;
    });
}

// Brings linked items of one zone near each other in its order: swaps neighbours as long as the links get shorter.
void shortenLinks(std::vector<int>& order, std::span<const std::pair<int, int>> links,
                  std::span<const LayoutItem> sized) {
    const std::size_t items = sized.size();
    if (order.size() < 3 || order.size() > 64 || links.empty()) return;
    std::vector<int> rank(items, -1);
    for (std::size_t i = 0; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    std::vector<std::vector<int>> linked(items);
    for (const auto& [a, b] : links) {
        if (a == b || rank[static_cast<std::size_t>(a)] < 0 || rank[static_cast<std::size_t>(b)] < 0) continue;
        linked[static_cast<std::size_t>(a)].push_back(b);
        linked[static_cast<std::size_t>(b)].push_back(a);
    }
    const auto length = [&](int item, int at, int other, int otherAt) {
        int sum = 0;
        for (const int end : linked[static_cast<std::size_t>(item)])
            sum += std::abs(at - (end == other ? otherAt : rank[static_cast<std::size_t>(end)]));
        return sum;
    };
    for (int pass = 0; pass < 16; ++pass) {
        bool better = false;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            const int a = order[i];
            const int b = order[i + 1];
            const int at = static_cast<int>(i);
            const int now = length(a, at, b, at + 1) + length(b, at + 1, a, at);
            const int then = length(a, at + 1, b, at) + length(b, at, a, at + 1);
            if (then >= now) continue;
            const long apart =
                sizeClass(sized[static_cast<std::size_t>(a)]) - sizeClass(sized[static_cast<std::size_t>(b)]);
            if (std::abs(apart) >= 2) continue;  // they do not share a row
            std::swap(order[i], order[i + 1]);
            std::swap(rank[static_cast<std::size_t>(a)], rank[static_cast<std::size_t>(b)]);
            better = true;
        }
        if (!better) break;
    }
}

}  // namespace

std::vector<QPointF> arrange(std::span<const LayoutItem> items, std::span<const std::pair<int, int>> links,
                             double aspect) {
    std::vector<QPointF> at(items.size());
    std::array<std::vector<int>, zoneCount> members;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!items[i].size.isEmpty()) members[zoneOf(items[i].kind)].push_back(static_cast<int>(i));
    }
    // Bigger containers after small units, so that rows hold like with like.
    for (std::vector<int>& zone : members) {
        std::ranges::stable_sort(zone, {}, [&](int item) { return sizeClass(items[static_cast<std::size_t>(item)]); });
    }
    findHosts(members, items, links);
    for (std::vector<int>& zone : members) shortenLinks(zone, links, items);
    const double gap = links.empty() ? siblingGap : linkGap;
    Plan plan = sideBySide(members, items, links, gap, aspect, false);
    if (!members[Outer].empty() || !members[Inner].empty()) {
        Plan other = sideBySide(members, items, links, gap, aspect, true);
        const auto score = [&](const Plan& p) {
            return badness(p.size, aspect) + 0.7 * std::log(std::max(1.0, p.size.width() * p.size.height()));
        };
        if (score(other) < score(plan) - 1e-9) plan = std::move(other);
    }
    for (std::size_t zone = 0; zone < zoneCount; ++zone) {
        const Block& block = plan.zones[zone];
        for (std::size_t i = 0; i < block.items.size(); ++i)
            at[static_cast<std::size_t>(block.items[i])] = plan.at[zone] + block.at[i];
    }
    return at;
}

}  // namespace orrery::ui
