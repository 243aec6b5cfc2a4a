#include "store/project/search_file.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "store/project/question_yaml.h"
#include "store/project/yaml_reader.h"

#include <optional>

namespace orrery {

namespace {

using store::MapReader;

Expected<Knob> readKnob(const YamlNode& node, const Place& place, const std::string& path, const Scenario& base,
                        store::YamlContext& context) {
    const auto placed = [&](Expected<Knob> knob) -> Expected<Knob> {
        if (knob) return knob;
        return store::placedAt(place, knob.error());
    };
    if (!node.isMap()) {
        auto values = store::readTexts(node, place);
        if (!values) return tl::unexpected(values.error());
        return placed(makeKnob(base, path, std::move(*values)));
    }
    auto map = MapReader::open(node, place.path, context);
    if (!map) return tl::unexpected(map.error());
    KnobRange range;
    for (const auto& [key, to] : {std::pair{"from", &range.from}, {"to", &range.to}}) {
        auto text = map->require(key, "an end of the range").and_then([&](const auto& n) {
            return store::readText(n, map->placeOf(n, key));
        });
        if (!text) return tl::unexpected(text.error());
        *to = std::move(*text);
    }
    if (const auto steps = map->take("steps")) {
        auto count = store::readWhole(*steps, map->placeOf(*steps, "steps"), 2, mostKnobValues);
        if (!count) return tl::unexpected(count.error());
        range.steps = static_cast<int>(*count);
    }
    if (const auto scale = map->take("scale")) {
        auto text = store::readText(*scale, map->placeOf(*scale, "scale"));
        if (!text) return tl::unexpected(text.error());
        if (*text != "log" && *text != "linear") {
            return fail("search.range", fmt::format("`{}` is no scale", *text), "`linear` or `log`", "",
                        map->placeOf(*scale, "scale"));
        }
        range.logarithmic = *text == "log";
    }
    map->rest();
    return placed(makeKnob(base, path, range));
}

class SearchReader {
public:
    explicit SearchReader(std::string_view file) : context_{std::string(file), {}}, folder_(store::folderOf(file)) {}
    Expected<LoadedSearch> read(std::string_view yaml);

private:
    Expected<std::optional<std::string>> text(MapReader& map, std::string_view key) {
        const auto node = map.take(key);
        if (!node) return std::nullopt;
        auto read = store::readText(*node, map.placeOf(*node, key));
        if (!read) return tl::unexpected(read.error());
        return std::move(*read);
    }
    Expected<Scenario> readQuestion(MapReader& map);
    Expected<SearchSpace> readSpace(MapReader& map, Scenario base);
    Expected<void> readWishes(MapReader& map, SearchProblem& problem);

    store::YamlContext context_;
    std::filesystem::path folder_;
};

Expected<Scenario> SearchReader::readQuestion(MapReader& map) {
    Scenario base;
    const auto hardware = map.require("hardware", "a device of the catalogue or a file");
    if (!hardware) return tl::unexpected(hardware.error());
    auto design = store::readDesign(*hardware, map.placeOf(*hardware, "hardware"), folder_, context_);
    if (!design) return tl::unexpected(design.error());
    base.hardware = std::make_shared<const Hardware>(std::move(*design));

    const auto model = map.require("workload", "a built-in model or a file");
    if (!model) return tl::unexpected(model.error());
    const Place place = map.placeOf(*model, "workload");
    auto recipe = store::readModel(*model, place, folder_, context_);
    if (!recipe) return tl::unexpected(recipe.error());
    auto workload = loadWorkload(recipe->recipe);
    if (!workload) return store::placedAt(place, workload.error());
    base.workload = std::move(*workload);

    const Place planPlace = map.place();
    auto plan = text(map, "plan");
    if (!plan) return tl::unexpected(plan.error());
    if (*plan) {
        auto read = parsePlan(**plan);
        if (!read) return store::placedAt(planPlace, read.error());
        base.plan = std::move(*read);
    }
    auto task = text(map, "task");
    if (!task) return tl::unexpected(task.error());
    if (*task) {
        auto read = store::readTaskText(**task, planPlace, folder_);
        if (!read) return tl::unexpected(read.error());
        base.task = std::move(*read);
    }
    return base;
}

Expected<SearchSpace> SearchReader::readSpace(MapReader& map, Scenario base) {
    const auto node = map.require("knobs", "what may change, and its values");
    if (!node) return tl::unexpected(node.error());
    const Place place = map.placeOf(*node, "knobs");
    auto list = MapReader::open(*node, "knobs", context_);
    if (!list) return tl::unexpected(list.error());
    std::vector<Knob> knobs;
    for (const std::string& path : list->keys()) {
        const auto values = list->take(path);
        const Place own = values ? list->placeOf(*values, path) : place;
        if (!values) return fail("search.value", fmt::format("`{}` has no values", path), "`[value, value]`", "", own);
        auto knob = readKnob(*values, own, path, base, context_);
        if (!knob) return tl::unexpected(knob.error());
        knobs.push_back(std::move(*knob));
    }
    auto space = SearchSpace::make(std::move(base), std::move(knobs));
    if (!space) return store::placedAt(place, space.error());
    return space;
}

Expected<void> SearchReader::readWishes(MapReader& map, SearchProblem& problem) {
    if (const auto node = map.take("objectives")) {
        const Place place = map.placeOf(*node, "objectives");
        auto texts = store::readTexts(*node, place);
        if (!texts) return tl::unexpected(texts.error());
        for (const std::string& each : *texts) {
            auto objective = readObjective(each);
            if (!objective) return store::placedAt(place, objective.error());
            problem.objectives.push_back(std::move(*objective));
        }
    } else {
        problem.objectives.push_back({"time"});
    }
    if (const auto node = map.take("constraints")) {
        const Place place = map.placeOf(*node, "constraints");
        auto texts = store::readTexts(*node, place);
        if (!texts) return tl::unexpected(texts.error());
        for (const std::string& each : *texts) {
            auto constraint = readConstraint(each);
            if (!constraint) return store::placedAt(place, constraint.error());
            problem.constraints.push_back(std::move(*constraint));
        }
    }
    if (const auto node = map.take("device_hour")) {
        const Place place = map.placeOf(*node, "device_hour");
        auto price = store::readText(*node, place);
        if (!price) return tl::unexpected(price.error());
        const auto dollars = numberIn(*price);
        if (!dollars || !(*dollars > 0) || *dollars > 1e6) {
            return fail("search.price", fmt::format("`{}` is no price", *price),
                        "dollars of a device and hour, above 0", "", place);
        }
        problem.deviceHour = *dollars;
    }
    if (const auto node = map.take("seed")) {
        auto seed = store::readWhole(*node, map.placeOf(*node, "seed"), 0, std::int64_t{1} << 62);
        if (!seed) return tl::unexpected(seed.error());
        problem.seed = static_cast<std::uint64_t>(*seed);
    }
    return {};
}

Expected<LoadedSearch> SearchReader::read(std::string_view yaml) {
    auto root = store::parseDocument(yaml, context_);
    if (!root) return tl::unexpected(root.error());
    const auto version = store::documentVersion(*root, "search", searchVersion, context_);
    if (!version) return tl::unexpected(version.error());
    auto map = MapReader::open(*root, "", context_);
    if (!map) return tl::unexpected(map.error());
    map->take("orrery");
    auto name = text(*map, "name");
    if (!name) return tl::unexpected(name.error());
    auto method = text(*map, "method");
    if (!method) return tl::unexpected(method.error());
    auto base = readQuestion(*map);
    if (!base) return tl::unexpected(base.error());
    auto space = readSpace(*map, std::move(*base));
    if (!space) return tl::unexpected(space.error());
    LoadedSearch loaded{name->value_or(std::filesystem::path(context_.file).stem().string()),
                        {std::move(*space), method->value_or("tile-hybrid"), {}, {}},
                        {}};
    if (auto done = readWishes(*map, loaded.problem); !done) return tl::unexpected(done.error());
    map->rest();
    auto ready = readied(std::move(loaded.problem));
    if (!ready) return store::placedAt(map->place(), ready.error());
    loaded.problem = std::move(*ready);
    loaded.warnings = std::move(context_.warnings);
    return loaded;
}

}  // namespace

Expected<LoadedSearch> readSearch(std::string_view yaml, std::string_view file) {
    try {
        return SearchReader(file).read(yaml);
    } catch (const std::exception& error) {
        return fail("search.read", fmt::format("the search cannot be read: {}", error.what()), "a search file", "",
                    {std::string(file)});
    }
}

Expected<LoadedSearch> readSearchFile(const std::string& path) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    return readSearch(*text, path);
}

}  // namespace orrery
