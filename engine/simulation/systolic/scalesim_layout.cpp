#include "base/text/nearest.h"
#include "simulation/systolic/scalesim_files.h"
#include "simulation/systolic/scalesim_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery::systolic {

namespace {

constexpr std::size_t numbers = 20;

struct Row {
    std::array<std::int64_t, numbers> value{};
    std::int64_t operator[](std::size_t column) const { return value[column - 1]; }  ///< column 0 is the name
};

ScaleSimLayout layoutOf(std::string name, const Row& row) {
    ScaleSimLayout layout{std::move(name), {}, {}};
    // Factors: input height, width; filter height, width; channels; filters.
    layout.ifmap.factors = {row[1], row[2], row[5]};
    layout.filter.factors = {row[6], row[5], row[3], row[4]};
    const auto add = [&](std::vector<int>& order, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i <= to; ++i) order.push_back(static_cast<int>(row[i]));
    };
    // The tool walks the axes named "interline" outside those named "intraline".
    add(layout.ifmap.order, 10, 12);
    add(layout.ifmap.order, 7, 9);
    add(layout.filter.order, 17, 20);
    add(layout.filter.order, 13, 16);
    return layout;
}

}  // namespace

Expected<std::vector<ScaleSimLayout>> parseScaleSimLayout(std::string_view text, const std::string& file) {
    std::vector<ScaleSimLayout> layouts;
    int line = 0;
    bool first = true;
    for (const std::string_view rowText : splitTrimmed(text, '\n')) {
        ++line;
        if (rowText.empty()) continue;
        auto fields = splitTrimmed(rowText, ',');
        if (fields.back().empty()) fields.pop_back();
        const bool heading = first && (fields.size() < 2 || !wholeIn(fields[1]));
        first = false;
        if (heading) continue;
        const Place place{.file = file, .line = line};
        if (fields.size() != numbers + 1) {
            return fail("scalesim.missing", fmt::format("the row has {} columns", fields.size()),
                        "21: name, 6 factors, orders of the input's 3 and the filter's 4 dimensions within and across "
                        "lines",
                        {}, place);
        }
        Row row;
        for (std::size_t i = 0; i < numbers; ++i) {
            const auto value = wholeIn(fields[i + 1]);
            const std::int64_t least = i < 6 ? 1 : 0, most = i < 6 ? 1 << 24 : 7;
            if (!value || *value < least || *value > most) {
                return fail("scalesim.value", fmt::format("column {} is `{}`", i + 2, fields[i + 1]),
                            fmt::format("a whole number from {} to {}", least, most), {}, place);
            }
            row.value[i] = *value;
        }
        layouts.push_back(layoutOf(std::string(fields[0]), row));
    }
    if (layouts.empty()) {
        return fail("scalesim.missing", "the file has no layouts", "a heading and a row per layer", {},
                    {.file = file, .line = line});
    }
    return layouts;
}

Expected<std::vector<ScaleSimLayout>> readScaleSimLayout(const std::string& file) {
    const auto text = readScaleSimText(file);
    if (!text) return tl::unexpected(text.error());
    return parseScaleSimLayout(*text, file);
}

Expected<void> giveLayouts(std::vector<Layer>& layers, const std::vector<ScaleSimLayout>& layouts) {
    std::vector<std::string> names;
    for (const ScaleSimLayout& layout : layouts) names.push_back(layout.layer);
    for (Layer& layer : layers) {
        // A depthwise layer stands in the layout file under the name of its row.
        const std::string base = layer.name.substr(0, layer.name.find("Channel_"));
        const auto found = std::find_if(layouts.begin(), layouts.end(), [&](const ScaleSimLayout& layout) {
            return layout.layer == layer.name || layout.layer == base;
        });
        if (found == layouts.end()) {
            return fail("scalesim.missing", fmt::format("the layout file has no row for the layer `{}`", layer.name),
                        "a row per layer of the topology", didYouMean(layer.name, names));
        }
        layer.ifmapLayout = found->ifmap;
        layer.filterLayout = found->filter;
    }
    return {};
}

}  // namespace orrery::systolic
