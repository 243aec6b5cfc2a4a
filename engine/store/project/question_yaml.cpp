#include "store/project/question_yaml.h"

#include "hardware/check/validate.h"
#include "hardware/files/catalogue.h"
#include "store/project/project.h"
#include "store/project/recipe_yaml.h"
#include "store/project/serving_file.h"
#include "store/project/what_if_yaml.h"

#include <algorithm>
#include <iterator>

namespace orrery::store {

std::filesystem::path folderOf(std::string_view file) {
    std::error_code ignored;
    return file.empty() ? std::filesystem::path() : std::filesystem::absolute(std::string(file), ignored).parent_path();
}

std::string resolvedPath(const std::string& path, const std::filesystem::path& folder) {
    const std::filesystem::path given(path);
    return given.is_absolute() || folder.empty() ? path : (folder / given).lexically_normal().string();
}

Unexpected placedAt(const Place& place, Diagnostic error) {
    if (error.place.file.empty()) {
        const std::string path = error.place.path;
        error.place = place;
        if (path.starts_with(error.place.path))
            error.place.path = path;  // it names the place itself already
        else if (!path.empty())
            error.place.path += ": " + path;
    }
    return Unexpected(std::move(error));
}

Expected<Hardware> readDesign(const YamlNode& item, const Place& place, const std::filesystem::path& folder,
                              YamlContext& context) {
    std::string id, name;
    std::vector<std::pair<std::string, std::string>> settings;
    if (item.isScalar()) {
        id = item.scalar;
    } else {
        auto map = MapReader::open(item, place.path, context);
        if (!map) return tl::unexpected(map.error());
        const auto file = map->take("file");
        auto source = file ? Expected<YamlRef>(*file) : map->require("id", "a device of the catalogue, or `file`");
        if (!source) return tl::unexpected(source.error());
        auto text = readText(*source, map->placeOf(*source, file ? "file" : "id"));
        if (!text) return tl::unexpected(text.error());
        id = file ? resolvedPath(*text, folder) : *text;
        if (const auto node = map->take("name")) {
            auto given = readText(*node, map->placeOf(*node, "name"));
            if (!given) return tl::unexpected(given.error());
            name = *given;
        }
        if (const auto node = map->take("set")) {
            auto set = MapReader::open(*node, place.path + ".set", context);
            if (!set) return tl::unexpected(set.error());
            for (const std::string& key : set->keys()) {
                const auto value = set->take(key);
                auto given = value ? readText(*value, set->placeOf(*value, key)) : std::string();
                if (!given) return tl::unexpected(given.error());
                settings.emplace_back(key, *given);
            }
        }
        map->rest();
    }
    // A path that is relative to the study, where no device is called so.
    std::error_code ignored;
    if (isFileSource(id) && std::filesystem::exists(resolvedPath(id, folder), ignored)) id = resolvedPath(id, folder);
    auto loaded = loadHardware(id);
    if (!loaded) return placedAt(place, loaded.error());
    std::move(loaded->warnings.begin(), loaded->warnings.end(), std::back_inserter(context.warnings));
    for (const auto& [path, value] : settings) {
        auto changed = withAttribute(std::move(loaded->hardware), path, value);
        if (!changed) return placedAt(place, changed.error());
        loaded->hardware = std::move(*changed);
    }
    for (Diagnostic& finding : validate(loaded->hardware)) {
        if (finding.severity == Severity::Error) return placedAt(place, std::move(finding));
    }
    if (!name.empty()) loaded->hardware.name = name;
    return std::move(loaded->hardware);
}

Expected<NamedRecipe> readModel(const YamlNode& item, const Place& place, const std::filesystem::path& folder,
                                YamlContext& context) {
    NamedRecipe each;
    const auto start = [&](const std::string& source) {
        each.recipe.source = isFileSource(source) ? resolvedPath(source, folder) : source;
        if (const WorkloadInfo* info = builtinWorkload(source)) each.recipe.options = info->usual;
    };
    if (item.isScalar()) {
        start(item.scalar);
        return each;
    }
    auto map = MapReader::open(item, place.path, context);
    if (!map) return tl::unexpected(map.error());
    auto source = map->require("source", "a built-in model or the path of a model file");
    if (!source) return tl::unexpected(source.error());
    auto text = readText(*source, map->placeOf(*source, "source"));
    if (!text) return tl::unexpected(text.error());
    start(*text);
    if (const auto node = map->take("name")) {
        auto name = readText(*node, map->placeOf(*node, "name"));
        if (!name) return tl::unexpected(name.error());
        each.name = *name;
    }
    auto options = readOptions(*map, each.recipe.options, each.recipe.source);
    if (!options) return tl::unexpected(options.error());
    each.recipe.options = std::move(*options);
    auto changes = readWhatIfs(*map, context);
    if (!changes) return tl::unexpected(changes.error());
    each.recipe.whatIfs = std::move(*changes);
    map->rest();
    return each;
}

Expected<Task> readTaskText(const std::string& text, const Place& place, const std::filesystem::path& folder) {
    if (text.ends_with(".yaml") || text.ends_with(".yml")) {
        auto serving = readServingFile(resolvedPath(text, folder));
        if (!serving) return placedAt(place, serving.error());
        return ServingRun{std::make_shared<const ServingStudy>(std::move(serving->study))};
    }
    auto task = parseTask(text);
    if (!task) return placedAt(place, task.error());
    return task;
}

}  // namespace orrery::store
