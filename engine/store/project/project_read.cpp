#include "base/text/nearest.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "methods/method.h"
#include "store/project/migrations.h"
#include "store/project/project.h"
#include "store/project/recipe_yaml.h"
#include "store/project/scenario_baseline.h"
#include "store/project/search_yaml.h"
#include "store/project/serving_yaml.h"
#include "store/project/what_if_yaml.h"
#include "store/project/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace orrery {

namespace {

using store::MapReader;
using store::YamlContext;

// A design stands in the project as the same text as in a hardware file. The reader of hardware gets that text with as
// many blank lines before it as there are lines above, so that its diagnostics name lines of the project.
class DesignText {
public:
    explicit DesignText(std::string_view document) {
        while (!document.empty()) {
            const auto end = std::min(document.find('\n'), document.size());
            lines_.push_back(document.substr(0, end));
            document.remove_prefix(std::min(end + 1, document.size()));
        }
    }
    std::string of(const YamlNode& design) const {
        const std::string whole = yamlFlow(design);
        const auto first = static_cast<std::size_t>(design.line - 1),
                   column = static_cast<std::size_t>(design.column - 1);
        if (first >= lines_.size() || column > lines_[first].size()) return whole;
        std::string text(first, '\n');
        text += std::string(column, ' ') + std::string(lines_[first].substr(column)) + "\n";
        for (std::size_t i = first + 1; i < lines_.size(); ++i) {
            const auto start = lines_[i].find_first_not_of(" \r");
            if (start != std::string_view::npos && start < column && lines_[i][start] != '#') break;
            text += std::string(lines_[i]) + "\n";
        }
        // An unusual layout reads as something else: its lines are not known then.
        const auto again = parseYaml(text);
        return again && yamlFlow(*again) == whole ? text : whole;
    }

private:
    std::vector<std::string_view> lines_;
};

Expected<LoadedHardware> readPreset(const YamlNode& item, const Place& place, YamlContext& context) {
    auto map = MapReader::open(item, place.path, context);
    if (!map) return tl::unexpected(map.error());
    const auto id = map->require("preset", "a device of the catalogue").and_then([&](const auto& node) {
        return store::readText(node, map->placeOf(node, "preset"));
    });
    if (!id) return tl::unexpected(id.error());
    auto loaded = loadHardware(*id);
    if (!loaded) {
        Diagnostic error = loaded.error();
        error.place = place;
        return tl::unexpected(error);
    }
    loaded->warnings.clear();  // those of the catalogue are not this file's
    if (const auto node = map->take("name")) {
        auto name = store::readText(*node, map->placeOf(*node, "name"));
        if (!name) return tl::unexpected(name.error());
        loaded->hardware.name = *name;
    }
    map->rest();
    return std::move(*loaded);
}

Expected<void> readDesigns(const YamlNode& list, std::string_view document, YamlContext& context, Project& project) {
    auto items = store::readList(list, context.place(list, "hardware"));
    if (!items) return tl::unexpected(items.error());
    const DesignText designs(document);
    std::set<std::string, std::less<>> names;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const YamlNode& item = (*items)[i];
        const Place place = context.place(item, fmt::format("hardware[{}]", i + 1));
        if (!item.isMap()) {
            return fail("project.design", "expected a hardware design here",
                        "the text of a hardware file, beginning with `orrery: hardware/1`", "", place);
        }
        auto loaded =
            item.find("preset") ? readPreset(item, place, context) : readHardware(designs.of(item), context.file);
        if (!loaded) {
            Diagnostic error = loaded.error();
            if (error.place.line == 0) error.place.line = place.line;
            if (error.place.path.empty()) error.place.path = place.path;
            return tl::unexpected(error);
        }
        if (!names.insert(loaded->hardware.name).second) {
            return fail("project.duplicate", fmt::format("two designs are called `{}`", loaded->hardware.name),
                        "a name of its own for each design", "rename one of them", place);
        }
        std::move(loaded->warnings.begin(), loaded->warnings.end(), std::back_inserter(context.warnings));
        project.hardware.push_back(std::move(loaded->hardware));
    }
    return {};
}

Expected<void> readWorkloads(const YamlNode& list, YamlContext& context, Project& project) {
    auto items = store::readList(list, context.place(list, "workloads"));
    if (!items) return tl::unexpected(items.error());
    std::set<std::string, std::less<>> names;
    for (std::size_t i = 0; i < items->size(); ++i) {
        auto map = MapReader::open((*items)[i], fmt::format("workloads[{}]", i + 1), context);
        if (!map) return tl::unexpected(map.error());
        ProjectWorkload workload;
        auto source =
            map->require("source", "a built-in model or the path of a model file").and_then([&](const auto& n) {
                return store::readText(n, map->placeOf(n, "source"));
            });
        if (!source) return tl::unexpected(source.error());
        workload.recipe.source = workload.name = *source;
        if (source->empty()) {
            return fail("project.source", "the source is empty", "a built-in model or the path of a model file", "",
                        map->place());
        }
        if (const auto node = map->take("name")) {
            auto name = store::readText(*node, map->placeOf(*node, "name"));
            if (!name) return tl::unexpected(name.error());
            workload.name = *name;
        }
        auto options = store::readOptions(*map, {}, *source);
        if (!options) return tl::unexpected(options.error());
        workload.recipe.options = std::move(*options);
        auto whatIfs = store::readWhatIfs(*map, context);
        if (!whatIfs) return tl::unexpected(whatIfs.error());
        workload.recipe.whatIfs = std::move(*whatIfs);
        if (!names.insert(workload.name).second) {
            return fail("project.duplicate", fmt::format("two workloads are called `{}`", workload.name),
                        "a name of its own for each workload", "give one of them another `name`", map->place());
        }
        workload.unknown = map->rest();
        project.workloads.push_back(std::move(workload));
    }
    return {};
}

Expected<std::string> readReference(MapReader& map, std::string_view key, const std::vector<std::string>& names) {
    auto node = map.require(key, "the name of one in this project");
    if (!node) return tl::unexpected(node.error());
    const Place place = map.placeOf(*node, key);
    auto name = store::readText(*node, place);
    if (!name) return name;
    // A design that nothing has been asked of yet: a drawing must survive saving.
    if (name->empty() && key == "workload") return name;
    if (std::find(names.begin(), names.end(), *name) != names.end()) return name;
    std::string hint = didYouMean(*name, names);
    if (hint.empty() && !names.empty()) hint = fmt::format("the first one is `{}`", names.front());
    return fail("project.reference", fmt::format("this project has no {} called `{}`", key, *name),
                fmt::format("the name of one of its {} {}", names.size(), key == "hardware" ? "designs" : "workloads"),
                std::move(hint), place);
}

// All are optional, and absent in older files: one device, a pass, by no software in particular.
Expected<void> readPlanAndTask(MapReader& map, ScenarioRef& scenario) {
    if (const auto node = map.take("software")) {
        const Place place = map.placeOf(*node, "software");
        auto text = store::readText(*node, place);
        if (!text) return tl::unexpected(text.error());
        auto software = parseSoftware(*text);
        if (!software) {
            software.error().place = place;
            return tl::unexpected(std::move(software.error()));
        }
        scenario.software = std::move(*software);
    }
    if (const auto node = map.take("plan")) {
        const Place place = map.placeOf(*node, "plan");
        auto text = store::readText(*node, place);
        if (!text) return tl::unexpected(text.error());
        auto plan = parsePlan(*text);
        if (!plan) {
            plan.error().place = place;
            return tl::unexpected(std::move(plan.error()));
        }
        scenario.plan = std::move(*plan);
    }
    if (const auto node = map.take("task")) {
        const Place place = map.placeOf(*node, "task");
        auto text = store::readText(*node, place);
        if (!text) return tl::unexpected(text.error());
        if (*text != toText(TaskKind::ServingRun)) {
            auto task = parseTask(*text);
            if (!task) {
                task.error().place = place;
                return tl::unexpected(std::move(task.error()));
            }
        }
        if (*text != toText(TaskKind::Pass)) scenario.task = std::move(*text);
    }
    return {};
}

// `{attribute: hbm3.bandwidth, of: baseline, quantity: time, found: …}`.
Expected<KeptBreakEven> readBreakEven(const YamlNode& node, std::string path, YamlContext& context) {
    auto map = MapReader::open(node, std::move(path), context);
    if (!map) return tl::unexpected(map.error());
    KeptBreakEven kept;
    auto attribute = map->require("attribute", "the number that moves, such as hbm3.bandwidth");
    if (!attribute) return tl::unexpected(attribute.error());
    std::string of = "other";
    for (const auto& [key, text] :
         {std::pair{"attribute", &kept.attribute}, {"of", &of}, {"quantity", &kept.quantity}, {"found", &kept.found}}) {
        const YamlNode* item = map->take(key);
        if (!item) continue;
        auto read = store::readText(*item, map->placeOf(*item, key));
        if (!read) return tl::unexpected(read.error());
        *text = std::move(*read);
    }
    if (of != "baseline" && of != "other") {
        return fail("yaml.value", fmt::format("`{}` does not say whose number moves", of), "baseline or other", {},
                    map->place());
    }
    kept.ofBaseline = of == "baseline";
    map->rest();
    return kept;
}

Expected<void> readScenarios(const YamlNode& list, YamlContext& context, Project& project) {
    auto items = store::readList(list, context.place(list, "scenarios"));
    if (!items) return tl::unexpected(items.error());
    std::vector<std::string> designs, workloads;
    for (const Hardware& hardware : project.hardware) designs.push_back(hardware.name);
    for (const ProjectWorkload& workload : project.workloads) workloads.push_back(workload.name);
    for (std::size_t i = 0; i < items->size(); ++i) {
        auto map = MapReader::open((*items)[i], fmt::format("scenarios[{}]", i + 1), context);
        if (!map) return tl::unexpected(map.error());
        auto hardware = readReference(*map, "hardware", designs);
        if (!hardware) return tl::unexpected(hardware.error());
        auto workload = readReference(*map, "workload", workloads);
        if (!workload) return tl::unexpected(workload.error());
        ScenarioRef scenario{std::move(*hardware), std::move(*workload), {}};
        if (auto done = readPlanAndTask(*map, scenario); !done) return tl::unexpected(done.error());
        bool baseline = false;
        if (const auto node = map->take("baseline")) {
            const Place place = map->placeOf(*node, "baseline");
            auto text = store::readText(*node, place);
            if (!text) return tl::unexpected(text.error());
            if (*text != "true" && *text != "false")
                return fail("yaml.value", fmt::format("`{}` does not say whether it is the baseline", *text),
                            "true or false", {}, place);
            baseline = *text == "true";
        }
        std::optional<KeptBreakEven> even;
        if (const auto node = map->take("break_even")) {
            auto read = readBreakEven(*node, map->placeOf(*node, "break_even").path, context);
            if (!read) return tl::unexpected(read.error());
            even = std::move(*read);
        }
        scenario.unknown = map->rest();
        markBaseline(scenario, baseline);
        keepBreakEven(scenario, even);
        project.scenarios.push_back(std::move(scenario));
    }
    return {};
}

// `device_hour: 2.5`, or by kind of device: `device_hour: {h100: 2.5, other: 1}`.
Expected<void> readDeviceHours(const YamlNode& node, YamlContext& context, Project& project) {
    const auto dollars = [&](const YamlNode& value, const Place& place) -> Expected<double> {
        auto text = store::readText(value, place);
        if (!text) return tl::unexpected(text.error());
        double read = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), read);
        if (error != std::errc{} || end != text->data() + text->size() || !(read >= 0 && read < 1e6))
            return fail("yaml.value", fmt::format("`{}` is not a price per device-hour", *text),
                        "dollars from 0 to a million, as in 2.5", {}, place);
        return read;
    };
    if (!node.isMap()) {
        const auto all = dollars(node, context.place(node, "device_hour"));
        if (!all) return tl::unexpected(all.error());
        project.prices[""] = *all;
        return {};
    }
    auto map = MapReader::open(node, "device_hour", context);
    if (!map) return tl::unexpected(map.error());
    for (const std::string& kind : map->keys()) {
        const YamlNode* value = map->take(kind);
        if (!value) continue;
        const auto one = dollars(*value, map->placeOf(*value, kind));
        if (!one) return tl::unexpected(one.error());
        project.prices[kind == "other" ? std::string() : kind] = *one;
    }
    return {};
}

Expected<LoadedProject> read(std::string_view yaml, YamlContext& context) {
    auto root = store::parseDocument(yaml, context);
    if (!root) return tl::unexpected(root.error());
    const auto version = store::documentVersion(*root, "project", projectVersion, context);
    if (!version) return tl::unexpected(version.error());
    LoadedProject loaded;
    if (*version < projectVersion) {
        loaded.migratedFrom = fmt::format("project/{}", *version);
        if (auto done = store::migrateProject(*root, *version, context); !done) return tl::unexpected(done.error());
    }
    auto map = MapReader::open(*root, "", context);
    if (!map) return tl::unexpected(map.error());
    map->take("orrery");
    Project& project = loaded.project;
    if (const auto node = map->take("name")) {
        auto name = store::readText(*node, map->placeOf(*node, "name"));
        if (!name) return tl::unexpected(name.error());
        project.name = *name;
    }
    if (const auto node = map->take("description")) {
        auto text = store::readText(*node, map->placeOf(*node, "description"));
        if (!text) return tl::unexpected(text.error());
        project.description = *text;
    }
    Expected<void> part;
    if (const auto node = map->take("hardware")) part = readDesigns(*node, yaml, context, project);
    if (!part) return tl::unexpected(part.error());
    if (const auto node = map->take("workloads")) part = readWorkloads(*node, context, project);
    if (!part) return tl::unexpected(part.error());
    if (const auto node = map->take("scenarios")) part = readScenarios(*node, context, project);
    if (!part) return tl::unexpected(part.error());
    if (const auto node = map->take("device_hour")) part = readDeviceHours(*node, context, project);
    if (!part) return tl::unexpected(part.error());
    if (const auto node = map->take("methods")) {
        auto methods = store::readTexts(*node, map->placeOf(*node, "methods"));
        if (!methods) return tl::unexpected(methods.error());
        project.methods = std::move(*methods);
        for (std::string& method : project.methods) {
            const auto choice = methodChoice(method, builtinMethods());
            if (choice) {
                method = toText(*choice);
                continue;
            }
            context.warnings.push_back(warning("project.unknown-method",
                                               choice.error().message + "; it is kept and not asked",
                                               choice.error().hint, map->placeOf(*node, "methods")));
        }
    }
    if (const auto node = map->take("search")) {
        auto section = MapReader::open(*node, map->placeOf(*node, "search").path, context);
        if (!section) return tl::unexpected(section.error());
        auto settings = store::readSearchSettings(*section, context);
        if (!settings) return tl::unexpected(settings.error());
        section->rest();
        project.search = std::move(settings->settings);
    }
    if (const auto node = map->take("serving")) {
        auto study = store::readServingSection(*node, context, loaded.servingPlaces);
        if (!study) return tl::unexpected(study.error());
        project.serving = std::move(*study);
    }
    project.unknown = map->rest();
    return loaded;
}

}  // namespace

Expected<LoadedProject> readProject(std::string_view yaml, std::string_view file) {
    YamlContext context{std::string(file), {}};
    try {
        auto loaded = read(yaml, context);
        if (loaded) loaded->warnings = std::move(context.warnings);
        return loaded;
    } catch (const std::exception& error) {
        return fail("project.read", fmt::format("the project cannot be read: {}", error.what()), "a project file", "",
                    {context.file});
    }
}

Expected<LoadedProject> readProjectFile(const std::string& path) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    auto loaded = readProject(*text, path);
    if (loaded) {
        std::error_code ignored;
        const auto folder = std::filesystem::absolute(path, ignored).parent_path();
        loaded->project = withSourcesResolved(std::move(loaded->project), folder.string());
    }
    return loaded;
}

}  // namespace orrery
