#include "store/project/study_sweep.h"

#include "store/project/recipe_yaml.h"
#include "workload/option_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::store {

bool variesWorkload(std::string_view key) {
    const auto keys = workloadOptionKeys();
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Expected<std::vector<SweepAxis>> readSweep(const YamlNode& node, const Place& place, YamlContext& context) {
    std::vector<SweepAxis> axes;
    auto map = MapReader::open(node, place.path, context);
    if (!map) return tl::unexpected(map.error());
    for (const std::string& key : map->keys()) {
        const auto value = map->take(key);
        const Place own = value ? map->placeOf(*value, key) : map->place();
        if (!value) return fail("study.sweep", fmt::format("`{}` has no values", key), "`[value, value]`", "", own);
        SweepAxis axis{key, {}, {}};
        auto items = readList(*value, own);
        if (!items) return tl::unexpected(items.error());
        for (const YamlNode& item : *items) {
            auto text = readText(item, context.place(item, own.path));
            if (!text) return tl::unexpected(text.error());
            axis.values.push_back(std::move(*text));
            axis.places.push_back(context.place(item, own.path));
        }
        if (axis.values.empty()) {
            return fail("study.sweep", fmt::format("`{}` has no values", key), "`[value, value]`",
                        "give at least one value, or remove the key", own);
        }
        axes.push_back(std::move(axis));
    }
    return axes;
}

Expected<std::vector<SweepPoint>> sweepPoints(const std::vector<SweepAxis>& axes, std::size_t most,
                                              const Place& place) {
    const auto count = countPoints(axes, most);
    if (!count) {
        return fail("study.too-large", "the sweep has too many combinations", fmt::format("at most {}", most),
                    "give fewer values, or split the study into several files", place);
    }
    std::vector<SweepPoint> points;
    for (std::size_t i = 0; i < *count; ++i) points.push_back(pointAt(axes, i));
    return points;
}

Expected<WorkloadOptions> optionsAt(const std::vector<SweepAxis>& axes, const SweepPoint& point,
                                    const WorkloadOptions& base, YamlContext& context) {
    WorkloadOptions options = base;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        YamlNode value{.type = YamlNode::Type::Scalar, .key = axes[i].key, .scalar = axes[i].values[point[i]]};
        const YamlNode one{.type = YamlNode::Type::Map, .items = {std::move(value)}};
        auto map = MapReader::open(one, "sweep", context);
        if (!map) return tl::unexpected(map.error());
        auto changed = readOptions(*map, options);
        if (!changed) {
            Diagnostic error = changed.error();
            const std::string path = error.place.path;
            error.place = axes[i].places[point[i]];
            if (error.place.path.empty()) error.place.path = path;
            return tl::unexpected(error);
        }
        options = std::move(*changed);
    }
    return options;
}

}  // namespace orrery::store
