#include "base/axes.h"

namespace orrery {

std::optional<std::size_t> countPoints(std::span<const SweepAxis> axes, std::size_t most) {
    std::size_t count = 1;
    for (const SweepAxis& axis : axes) {
        if (axis.values.empty()) return 0;
        if (count > most / axis.values.size()) return std::nullopt;
        count *= axis.values.size();
    }
    return count;
}

SweepPoint pointAt(std::span<const SweepAxis> axes, std::size_t index) {
    SweepPoint point(axes.size());
    for (std::size_t a = axes.size(); a-- > 0;) {
        point[a] = index % axes[a].values.size();
        index /= axes[a].values.size();
    }
    return point;
}

std::vector<std::string> valuesAt(std::span<const SweepAxis> axes, const SweepPoint& point) {
    std::vector<std::string> values;
    for (std::size_t a = 0; a < axes.size(); ++a) values.push_back(axes[a].values[point[a]]);
    return values;
}

std::string pointLabel(std::span<const SweepAxis> axes, const SweepPoint& point) {
    std::string text;
    for (std::size_t a = 0; a < axes.size(); ++a)
        text += (a ? ", " : "") + axes[a].key + " " + axes[a].values[point[a]];
    return text.empty() ? text : " (" + text + ")";
}

}  // namespace orrery
