#include "widgets/graph/grid_index.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery::ui {
namespace {

constexpr double usualCell = 512;  // about what a screen shows of a graph at reading size, in a few cells
constexpr double mostCells = 65536;

}  // namespace

GridIndex::GridIndex(std::size_t count, const std::vector<Part>& parts) : count_(count) {
    if (parts.empty()) return;
    double left = parts.front().second.left(), top = parts.front().second.top();
    double right = parts.front().second.right(), bottom = parts.front().second.bottom();
    for (const auto& [id, rect] : parts) {  // not QRectF::united: it ignores rectangles without an area
        left = std::min(left, rect.left());
        top = std::min(top, rect.top());
        right = std::max(right, rect.right());
        bottom = std::max(bottom, rect.bottom());
    }
    bounds_ = QRectF(left, top, std::max(right - left, 1.0), std::max(bottom - top, 1.0));
    cell_ = std::max(usualCell, std::sqrt(bounds_.width() * bounds_.height() / mostCells));
    columns_ = static_cast<int>(bounds_.width() / cell_) + 1;
    rows_ = static_cast<int>(bounds_.height() / cell_) + 1;
    begin_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) + 1, 0);
    const auto each = [&](const auto& visit) {
        for (const auto& [id, rect] : parts) {
            const Cells cells = cellsOf(rect);
            for (int y = cells.top; y <= cells.bottom; ++y) {
                for (int x = cells.left; x <= cells.right; ++x) visit(static_cast<std::size_t>(y * columns_ + x), id);
            }
        }
    };
    each([&](std::size_t cell, std::int32_t) { ++begin_[cell + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    ids_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    each([&](std::size_t cell, std::int32_t id) { ids_[next[cell]++] = id; });
}

GridIndex::Cells GridIndex::cellsOf(const QRectF& area) const {
    const auto place = [&](double at, double from, int most) {
        return static_cast<int>(std::clamp(std::floor((at - from) / cell_), 0.0, double(most - 1)));
    };
    return {place(area.left(), bounds_.left(), columns_), place(area.top(), bounds_.top(), rows_),
            place(area.right(), bounds_.left(), columns_), place(area.bottom(), bounds_.top(), rows_)};
}

std::vector<std::int32_t> GridIndex::in(const QRectF& area) const {
    std::vector<std::int32_t> result;
    if (columns_ == 0 || area.left() > bounds_.right() || area.right() < bounds_.left() ||
        area.top() > bounds_.bottom() || area.bottom() < bounds_.top())
        return result;
    if (area.contains(bounds_)) {
        result.resize(count_);
        std::iota(result.begin(), result.end(), 0);
        return result;
    }
    const Cells cells = cellsOf(area);
    for (int y = cells.top; y <= cells.bottom; ++y) {
        for (int x = cells.left; x <= cells.right; ++x) {
            const auto cell = static_cast<std::size_t>(y * columns_ + x);
            result.insert(result.end(), ids_.begin() + begin_[cell], ids_.begin() + begin_[cell + 1]);
        }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

}  // namespace orrery::ui
