#include "store/project/search_file.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "store/project/question_yaml.h"
#include "store/project/search_yaml.h"
#include "store/project/yaml_reader.h"
#include "study/exploration/ladder.h"
#include "study/exploration/surrogate_space.h"
#include "study/exploration/table_space.h"

#include <optional>

namespace orrery {

namespace {

using store::MapReader;

class SearchReader {
public:
    SearchReader(std::string_view file, const std::string& tables)
        : context_{std::string(file), {}},
          folder_(store::folderOf(file)),
          tables_(tables.empty() ? folder_ : std::filesystem::path(tables)) {}
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
    Expected<SearchProblem> readDrawn(MapReader& map, const store::PlacedSettings& settings);
    /// Fails where a question stands beside what answers points: a table, or what was learned from one.
    Expected<std::string> answeringFile(std::string_view what, const std::string& name, MapReader& map,
                                        const store::PlacedSettings& settings);
    Expected<SearchProblem> readTable(const std::string& table, MapReader& map, const store::PlacedSettings& settings);
    Expected<SearchProblem> readLearned(const std::string& name, MapReader& map, const store::PlacedSettings& settings);

    store::YamlContext context_;
    std::filesystem::path folder_, tables_;
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
    auto software = text(map, "software");
    if (!software) return tl::unexpected(software.error());
    if (*software) {
        auto read = parseSoftware(**software);
        if (!read) return store::placedAt(planPlace, read.error());
        base.software = std::move(*read);
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

Expected<SearchProblem> SearchReader::readDrawn(MapReader& map, const store::PlacedSettings& settings) {
    auto base = readQuestion(map);
    if (!base) return tl::unexpected(base.error());
    map.rest();
    return searchProblem(settings.settings, std::move(*base));
}

Expected<std::string> SearchReader::answeringFile(std::string_view what, const std::string& name, MapReader& map,
                                                  const store::PlacedSettings& settings) {
    for (const char* key : {"hardware", "workload", "plan", "task", "software"}) {
        if (const auto* node = map.take(key)) {
            return fail("search.table", fmt::format("a {} needs no {}", what, key),
                        fmt::format("a question or a {}, not both", what), "", map.placeOf(*node, key));
        }
    }
    if (const auto own = settings.places.find("method"); own != settings.places.end())
        return fail("search.table", fmt::format("the points of a {} have their answers", what), "no method", "",
                    own->second);
    map.rest();
    const std::filesystem::path path(name);
    return (path.is_absolute() ? path : tables_ / path).string();
}

Expected<SearchProblem> SearchReader::readTable(const std::string& table, MapReader& map,
                                                const store::PlacedSettings& settings) {
    const auto file = answeringFile("table", table, map, settings);
    if (!file) return tl::unexpected(file.error());
    auto rows = readPointTable(*file);
    if (!rows) {
        if (!std::filesystem::exists(*file)) rows.error().hint = "`--tables DIR` says where tables stand";
        return tl::unexpected(rows.error());
    }
    return tableProblem(settings.settings, *rows, context_.warnings);
}

Expected<SearchProblem> SearchReader::readLearned(const std::string& name, MapReader& map,
                                                  const store::PlacedSettings& settings) {
    const auto file = answeringFile("surrogate", name, map, settings);
    if (!file) return tl::unexpected(file.error());
    auto surrogate = readSurrogate(*file);
    if (!surrogate) return tl::unexpected(surrogate.error());
    return surrogateProblem(settings.settings, std::make_shared<const Surrogate>(std::move(*surrogate)));
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
    auto table = text(*map, "table");
    if (!table) return tl::unexpected(table.error());
    auto learned = text(*map, "surrogate");
    if (!learned) return tl::unexpected(learned.error());
    if (*table && *learned) {
        return fail("search.table", "a table and a surrogate both answer", "one of them", "",
                    Place{context_.file, 0, 0, "surrogate"});
    }
    std::vector<std::string> ladder;
    if (const auto node = map->take("ladder")) {
        auto methods = store::readTexts(*node, map->placeOf(*node, "ladder"));
        if (!methods) return tl::unexpected(methods.error());
        ladder = std::move(*methods);
    }
    auto settings = store::readSearchSettings(*map, context_, *table || *learned);
    if (!settings) return tl::unexpected(settings.error());
    auto problem = *table     ? readTable(**table, *map, *settings)
                   : *learned ? readLearned(**learned, *map, *settings)
                              : readDrawn(*map, *settings);
    if (!problem && !problem.error().place.file.empty()) return tl::unexpected(problem.error());
    if (!problem) {
        Diagnostic error = problem.error();
        const auto own = settings->places.find(error.place.path.substr(0, error.place.path.find(':')));
        return store::placedAt(own == settings->places.end() ? map->place() : own->second, std::move(error));
    }
    LoadedSearch loaded{name->value_or(std::filesystem::path(context_.file).stem().string()),
                        std::move(settings->settings),
                        std::move(*problem),
                        {}};
    loaded.problem.ladder = std::move(ladder);
    if (!loaded.problem.ladder.empty()) {
        if (const auto asked = ladderOf(loaded.problem); !asked) return store::placedAt(map->place(), asked.error());
    }
    loaded.warnings = std::move(context_.warnings);
    return loaded;
}

}  // namespace

Expected<LoadedSearch> readSearch(std::string_view yaml, std::string_view file, const std::string& tables) {
    try {
        return SearchReader(file, tables).read(yaml);
    } catch (const std::exception& error) {
        return fail("search.read", fmt::format("the search cannot be read: {}", error.what()), "a search file", "",
                    {std::string(file)});
    }
}

Expected<LoadedSearch> readSearchFile(const std::string& path, const std::string& tables) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    return readSearch(*text, path, tables);
}

}  // namespace orrery
