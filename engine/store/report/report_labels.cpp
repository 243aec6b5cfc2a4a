#include "store/report/report_labels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery::store {

bool Box::meets(const Box& other) const {
    return x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h;
}

bool Box::meets(const Disc& disc) const {
    const double dx = disc.x - std::clamp(disc.x, x, x + w), dy = disc.y - std::clamp(disc.y, y, y + h);
    return std::hypot(dx, dy) < disc.r + 1;
}

LabelPlaces::LabelPlaces(Box page, std::vector<Disc> discs, std::vector<Slope> slopes, std::vector<double> roofs)
    : page_(page), discs_(std::move(discs)), slopes_(std::move(slopes)), roofs_(std::move(roofs)) {}

LabelPlaces::Spot LabelPlaces::alongSlope(std::size_t slope, double wide) {
    for (double along = 12; along + wide < slopes_[slope].length; along += 14) {
        for (const bool above : {true, false}) {
            if (!isFree(slope, along, wide, above)) continue;
            for (const Disc& disc : samples(slope, along, wide, above)) discs_.push_back(disc);
            return {along, above};
        }
    }
    return {12, true};
}

std::vector<Disc> LabelPlaces::samples(std::size_t slope, double along, double wide, bool above) const {
    std::vector<Disc> found;
    const Slope& line = slopes_[slope];
    for (int i = 0; i <= 8; ++i) {
        const double u = along + wide * i / 8, v = above ? -10 : 10;
        found.push_back({line.x + u * line.cosine - v * line.sine, line.y + u * line.sine + v * line.cosine, 8});
    }
    return found;
}

bool LabelPlaces::isFree(std::size_t slope, double along, double wide, bool above) const {
    for (const Disc& at : samples(slope, along, wide, above)) {
        if (at.x < page_.x || at.x > page_.x + page_.w || at.y < page_.y || at.y > page_.y + page_.h) return false;
        for (const Disc& disc : discs_) {
            if (std::hypot(disc.x - at.x, disc.y - at.y) < disc.r + at.r + 1) return false;
        }
        for (std::size_t other = 0; other < slopes_.size(); ++other) {
            const Slope& line = slopes_[other];
            const double across = (at.x - line.x) * -line.sine + (at.y - line.y) * line.cosine;
            if (other != slope && std::fabs(across) < at.r + 1) return false;
        }
        for (const double roof : roofs_) {
            if (std::fabs(roof - at.y) < at.r + 1) return false;
        }
    }
    return true;
}

std::optional<Box> LabelPlaces::firstFree(const std::vector<Box>& candidates) {
    for (const Box& box : candidates) {
        if (box.x < page_.x || box.x + box.w > page_.x + page_.w || box.y < page_.y ||
            box.y + box.h > page_.y + page_.h) {
            continue;
        }
        bool free = std::none_of(boxes_.begin(), boxes_.end(), [&](const Box& other) { return other.meets(box); }) &&
                    std::none_of(discs_.begin(), discs_.end(), [&](const Disc& disc) { return box.meets(disc); }) &&
                    std::none_of(roofs_.begin(), roofs_.end(),
                                 [&](double roof) { return box.y < roof && roof < box.y + box.h; });
        for (const Slope& line : slopes_) {
            const double u = std::clamp((box.x + box.w / 2 - line.x) / std::max(line.cosine, 1e-9), 0.0, line.length);
            const double y = line.y + u * line.sine;
            free = free && !(box.x < line.x + line.length * line.cosine && box.y - 4 < y && y < box.y + box.h + 4);
        }
        if (!free) continue;
        boxes_.push_back(box);
        return box;
    }
    return std::nullopt;
}

}  // namespace orrery::store
