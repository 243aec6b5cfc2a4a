#include "store/project/search_yaml.h"

#include "base/text/words.h"

#include <fmt/format.h>

namespace orrery::store {

namespace {

Expected<KnobSetting> readKnobSetting(const YamlNode& node, const Place& place, const std::string& path,
                                      YamlContext& context) {
    KnobSetting setting{path, {}, {}};
    if (!node.isMap()) {
        auto values = readTexts(node, place);
        if (!values) return tl::unexpected(values.error());
        if (values->empty()) {
            return fail("search.value", fmt::format("`{}` has no values", path), "`[value, value]`",
                        "give at least one value, or remove the key", place);
        }
        setting.values = std::move(*values);
        return setting;
    }
    auto map = MapReader::open(node, place.path, context);
    if (!map) return tl::unexpected(map.error());
    for (const auto& [key, to] : {std::pair{"from", &setting.range.from}, {"to", &setting.range.to}}) {
        auto text = map->require(key, "an end of the range").and_then([&](const auto& n) {
            return readText(n, map->placeOf(n, key));
        });
        if (!text) return tl::unexpected(text.error());
        *to = std::move(*text);
    }
    if (const auto steps = map->take("steps")) {
        const Place own = map->placeOf(*steps, "steps");
        const auto word = readText(*steps, own);
        setting.range.free = word && *word == "free";
        if (!setting.range.free) {
            auto count = readWhole(*steps, own, 2, mostKnobValues);
            if (!count) return tl::unexpected(count.error());
            setting.range.steps = static_cast<int>(*count);
        }
    }
    if (const auto scale = map->take("scale")) {
        auto text = readText(*scale, map->placeOf(*scale, "scale"));
        if (!text) return tl::unexpected(text.error());
        if (*text != "log" && *text != "linear") {
            return fail("search.range", fmt::format("`{}` is no scale", *text), "`linear` or `log`", "",
                        map->placeOf(*scale, "scale"));
        }
        setting.range.logarithmic = *text == "log";
    }
    map->rest();
    return setting;
}

Expected<void> readColumns(const YamlNode& node, PlacedSettings& out) {
    auto names = readTexts(node, out.places["knobs"]);
    if (!names) return tl::unexpected(names.error());
    for (std::string& name : *names) {
        out.places["knobs." + name] = out.places["knobs"];
        out.settings.knobs.push_back({std::move(name), {}, {}});
    }
    return {};
}

Expected<void> readKnobs(const YamlNode& node, PlacedSettings& out, YamlContext& context) {
    auto list = MapReader::open(node, out.places["knobs"].path, context);
    if (!list) return tl::unexpected(list.error());
    for (const std::string& path : list->keys()) {
        const auto values = list->take(path);
        const Place own = values ? list->placeOf(*values, path) : out.places["knobs"];
        if (!values) return fail("search.value", fmt::format("`{}` has no values", path), "`[value, value]`", "", own);
        auto knob = readKnobSetting(*values, own, path, context);
        if (!knob) return tl::unexpected(knob.error());
        out.places["knobs." + path] = own;
        out.settings.knobs.push_back(std::move(*knob));
    }
    return {};
}

std::string listOf(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + yamlScalar(text);
    return "[" + list + "]";
}

}  // namespace

Expected<PlacedSettings> readSearchSettings(MapReader& map, YamlContext& context, bool columns) {
    PlacedSettings out;
    SearchSettings& settings = out.settings;
    const auto knobs = map.require("knobs", "what may change, and its values");
    if (!knobs) return tl::unexpected(knobs.error());
    out.places["knobs"] = map.placeOf(*knobs, "knobs");
    auto read = columns && !knobs->get().isMap() ? readColumns(*knobs, out) : readKnobs(*knobs, out, context);
    if (!read) return tl::unexpected(read.error());
    for (const auto& [key, to] :
         {std::pair{"objectives", &settings.objectives}, {"constraints", &settings.constraints}}) {
        const auto node = map.take(key);
        if (!node) continue;
        out.places[key] = map.placeOf(*node, key);
        auto texts = readTexts(*node, out.places[key]);
        if (!texts) return tl::unexpected(texts.error());
        *to = std::move(*texts);
    }
    for (const auto& [key, to] : {std::pair{"method", &settings.method}, {"agent", &settings.agent}}) {
        const auto node = map.take(key);
        if (!node) continue;
        out.places[key] = map.placeOf(*node, key);
        auto text = readText(*node, out.places[key]);
        if (!text) return tl::unexpected(text.error());
        *to = std::move(*text);
    }
    for (const auto& [key, to, least] :
         {std::tuple{"evaluations", &settings.evaluations, 1}, {"seed", &settings.seed, 0}}) {
        const auto node = map.take(key);
        if (!node) continue;
        auto number = readWhole(*node, map.placeOf(*node, key), least, std::int64_t{1} << 62);
        if (!number) return tl::unexpected(number.error());
        *to = static_cast<std::uint64_t>(*number);
    }
    if (const auto node = map.take("device_hour")) {
        const Place place = map.placeOf(*node, "device_hour");
        auto price = readText(*node, place);
        if (!price) return tl::unexpected(price.error());
        const auto dollars = numberIn(*price);
        if (!dollars || !(*dollars > 0) || *dollars > 1e6) {
            return fail("search.price", fmt::format("`{}` is no price", *price),
                        "dollars of a device and hour, above 0", "", place);
        }
        settings.deviceHour = *dollars;
    }
    return out;
}

std::string writeSearchSettings(const SearchSettings& settings) {
    const SearchSettings usual;
    std::string out = settings.knobs.empty() ? "knobs: {}\n" : "knobs:\n";
    for (const KnobSetting& knob : settings.knobs) {
        const KnobRange& range = knob.range;
        out += fmt::format("  {}: {}\n", yamlScalar(knob.path),
                           !knob.values.empty()
                               ? listOf(knob.values)
                               : fmt::format("{{from: {}, to: {}, steps: {}{}}}", yamlScalar(range.from),
                                             yamlScalar(range.to), range.free ? "free" : fmt::to_string(range.steps),
                                             range.logarithmic ? ", scale: log" : ""));
    }
    if (settings.objectives != usual.objectives) out += "objectives: " + listOf(settings.objectives) + "\n";
    if (settings.constraints != usual.constraints) out += "constraints: " + listOf(settings.constraints) + "\n";
    if (settings.method != usual.method) out += "method: " + yamlScalar(settings.method) + "\n";
    if (settings.agent != usual.agent) out += "agent: " + yamlScalar(settings.agent) + "\n";
    if (settings.evaluations != usual.evaluations) out += fmt::format("evaluations: {}\n", settings.evaluations);
    if (settings.deviceHour != usual.deviceHour) out += fmt::format("device_hour: {}\n", settings.deviceHour);
    if (settings.seed != usual.seed) out += fmt::format("seed: {}\n", settings.seed);
    return out;
}

}  // namespace orrery::store
