#pragma once

// A uniform grid over the boxes of one large family, relative to the parent's origin, so that moving the parent costs
// nothing. A box stands in every cell that it meets; a query gives each box once, in ascending order.

#include <QRectF>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace orrery::ui {

class FamilyIndex {
public:
    void build(std::span<const QRectF> boxes);
    void move(int item, const QRectF& from, const QRectF& to);
    void find(const QRectF& area, std::vector<int>& found) const;  ///< candidates: boxes of cells that meet the area
    void clear();
    bool empty() const { return cells_.empty(); }

private:
    struct Range {
        int left, top, right, bottom;
    };
    Range range(const QRectF& box) const;
    static std::uint64_t key(int column, int row);

    double step_ = 1;
    std::size_t items_ = 0;
    std::unordered_map<std::uint64_t, std::vector<std::int32_t>> cells_;
};

}  // namespace orrery::ui
