#include "widgets/canvas/family_index.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double farthest = 1e6;  // cells from the origin; beyond it all boxes share the outermost ones
constexpr double mostCellsOfOne = 4096;

}  // namespace

std::uint64_t FamilyIndex::key(int column, int row) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(column)) << 32 | static_cast<std::uint32_t>(row);
}

FamilyIndex::Range FamilyIndex::range(const QRectF& box) const {
    const auto cell = [this](double at) {
        return static_cast<int>(std::clamp(std::floor(at / step_), -farthest, farthest));
    };
    return {cell(box.left()), cell(box.top()), cell(box.right()), cell(box.bottom())};
}

void FamilyIndex::build(std::span<const QRectF> boxes) {
    cells_.clear();
    items_ = boxes.size();
    double sum = 0;
    double most = 0;
    for (const QRectF& box : boxes) {
        const double side = std::max(box.width(), box.height());
        sum += side;
        most = std::max(most, side);
    }
    // About two boxes wide; a single huge box must not fill more cells than a query would look at anyway.
    step_ = std::max(
        {1.0, boxes.empty() ? 1 : 2 * sum / static_cast<double>(boxes.size()), most / std::sqrt(mostCellsOfOne)});
    cells_.reserve(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Range r = range(boxes[i]);
        for (int column = r.left; column <= r.right; ++column) {
            for (int row = r.top; row <= r.bottom; ++row)
                cells_[key(column, row)].push_back(static_cast<std::int32_t>(i));
        }
    }
}

void FamilyIndex::move(int item, const QRectF& from, const QRectF& to) {
    const Range old = range(from);
    for (int column = old.left; column <= old.right; ++column) {
        for (int row = old.top; row <= old.bottom; ++row) {
            if (const auto cell = cells_.find(key(column, row)); cell != cells_.end()) std::erase(cell->second, item);
        }
    }
    const Range now = range(to);
    for (int column = now.left; column <= now.right; ++column) {
        for (int row = now.top; row <= now.bottom; ++row) cells_[key(column, row)].push_back(item);
    }
}

void FamilyIndex::find(const QRectF& area, std::vector<int>& found) const {
    const std::size_t first = found.size();
    const Range r = range(area);
    const double cells = (1.0 + r.right - r.left) * (1.0 + r.bottom - r.top);
    if (cells > static_cast<double>(cells_.size())) {
        for (const auto& [at, items] : cells_) {
            const int column = static_cast<int>(static_cast<std::uint32_t>(at >> 32));
            const int row = static_cast<int>(static_cast<std::uint32_t>(at));
            if (column < r.left || column > r.right || row < r.top || row > r.bottom) continue;
            found.insert(found.end(), items.begin(), items.end());
        }
    } else {
        for (int column = r.left; column <= r.right; ++column) {
            for (int row = r.top; row <= r.bottom; ++row) {
                if (const auto cell = cells_.find(key(column, row)); cell != cells_.end())
                    found.insert(found.end(), cell->second.begin(), cell->second.end());
            }
        }
    }
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end());
    found.erase(std::unique(found.begin() + static_cast<std::ptrdiff_t>(first), found.end()), found.end());
}

void FamilyIndex::clear() {
    cells_.clear();
    items_ = 0;
}

}  // namespace orrery::ui
