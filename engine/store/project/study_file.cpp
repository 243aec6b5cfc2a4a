#include "store/project/study_file.h"

#include "base/text/nearest.h"
#include "hardware/check/validate.h"
#include "hardware/files/catalogue.h"
#include "methods/among_all.h"
#include "store/project/project.h"
#include "store/project/question_yaml.h"
#include "store/project/study_sweep.h"
#include "store/project/yaml_reader.h"
#include "workload/one_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace orrery {

namespace {

using store::MapReader;

constexpr std::size_t mostItems = 1000;

class StudyReader {
public:
    explicit StudyReader(std::string_view file) : context_{std::string(file), {}}, folder_(store::folderOf(file)) {}
    Expected<LoadedStudy> read(std::string_view yaml);

private:
    Expected<std::span<const YamlNode>> listOf(const YamlNode& node, const char* key) const;
    Expected<void> readHardware(const YamlNode& list);
    Expected<void> readWorkloads(const YamlNode& list);
    Expected<void> readMethods(MapReader& map, Study& study);
    Expected<std::vector<HardwarePtr>> sweptHardware(const Place& place);
    Expected<std::vector<WorkloadPtr>> sweptWorkloads(const Place& place);
    Expected<std::vector<std::pair<std::string, Place>>> readTexts(MapReader& map, std::string_view key);
    Expected<std::vector<Plan>> readPlans(MapReader& map);
    Expected<std::vector<Task>> readTasks(MapReader& map);
    Expected<std::vector<Software>> readSoftware(MapReader& map);
    static Unexpected at(const Place& place, Diagnostic error) { return store::placedAt(place, std::move(error)); }

    store::YamlContext context_;
    std::filesystem::path folder_;
    std::vector<Hardware> hardware_;
    struct Recipe {
        WorkloadRecipe recipe;
        std::string name;
        Place place;
    };
    std::vector<Recipe> recipes_;
    std::vector<SweepAxis> hardwareAxes_, optionAxes_;
};

Expected<std::span<const YamlNode>> StudyReader::listOf(const YamlNode& node, const char* key) const {
    auto items = store::readList(node, context_.place(node, key));
    if (items && items->size() > mostItems) {
        return fail("study.too-large", fmt::format("the list has {} items", items->size()),
                    fmt::format("at most {}", mostItems), "sweep an attribute or an option instead, or split the study",
                    context_.place(node, key));
    }
    return items;
}

Expected<void> StudyReader::readHardware(const YamlNode& list) {
    auto items = listOf(list, "hardware");
    if (!items) return tl::unexpected(items.error());
    for (std::size_t i = 0; i < items->size(); ++i) {
        const Place place = context_.place((*items)[i], fmt::format("hardware[{}]", i + 1));
        auto hardware = store::readDesign((*items)[i], place, folder_, context_);
        if (!hardware) return tl::unexpected(hardware.error());
        hardware_.push_back(std::move(*hardware));
    }
    if (hardware_.empty()) {
        return fail("study.empty", "the study has no hardware", "`hardware: [h100-sxm]`",
                    "`orrery-cli hardware` lists the devices", context_.place(list, "hardware"));
    }
    return {};
}

Expected<void> StudyReader::readWorkloads(const YamlNode& list) {
    auto items = listOf(list, "workloads");
    if (!items) return tl::unexpected(items.error());
    for (std::size_t i = 0; i < items->size(); ++i) {
        const Place place = context_.place((*items)[i], fmt::format("workloads[{}]", i + 1));
        auto each = store::readModel((*items)[i], place, folder_, context_);
        if (!each) return tl::unexpected(each.error());
        recipes_.push_back({std::move(each->recipe), std::move(each->name), place});
    }
    if (recipes_.empty()) {
        return fail("study.empty", "the study has no workload", "`workloads: [resnet-50]`",
                    "`orrery-cli workloads` lists the built-in models", context_.place(list, "workloads"));
    }
    return {};
}

Expected<void> StudyReader::readMethods(MapReader& map, Study& study) {
    std::vector<std::string> known;
    for (const Method& method : builtinMethods()) known.emplace_back(method.card.id);
    const auto node = map.take("methods");
    if (!node) {
        for (const Method& method : builtinMethods())
            if (standsAmongAll(method.card)) study.methods.emplace_back(method.card.id);
        return {};
    }
    const Place place = map.placeOf(*node, "methods");
    auto methods = store::readTexts(*node, place);
    if (!methods) return tl::unexpected(methods.error());
    for (std::string& method : *methods) {
        auto choice = methodChoice(method, builtinMethods());
        if (!choice) {
            choice.error().place = place;
            return tl::unexpected(std::move(choice.error()));
        }
        method = toText(*choice);
    }
    if (methods->empty()) {
        return fail("study.empty", "the study has no method", fmt::format("one of {}", fmt::join(known, ", ")),
                    "leave the key out for all methods", place);
    }
    study.methods = std::move(*methods);
    return {};
}

Expected<std::vector<std::pair<std::string, Place>>> StudyReader::readTexts(MapReader& map, std::string_view key) {
    std::vector<std::pair<std::string, Place>> texts;
    const auto node = map.take(key);
    if (!node) return texts;
    const Place place = map.placeOf(*node, key);
    auto items = store::readList(*node, place);
    if (!items) return tl::unexpected(items.error());
    for (std::size_t i = 0; i < items->size(); ++i) {
        const Place at = context_.place((*items)[i], fmt::format("{}[{}]", key, i + 1));
        auto text = store::readText((*items)[i], at);
        if (!text) return tl::unexpected(text.error());
        texts.emplace_back(std::move(*text), at);
    }
    return texts;
}

Expected<std::vector<Plan>> StudyReader::readPlans(MapReader& map) {
    auto texts = readTexts(map, "plans");
    if (!texts) return tl::unexpected(texts.error());
    std::vector<Plan> plans;
    for (const auto& [text, place] : *texts) {
        auto plan = parsePlan(text);
        if (!plan) return at(place, plan.error());
        plans.push_back(std::move(*plan));
    }
    if (plans.empty()) plans.emplace_back();
    return plans;
}

Expected<std::vector<Software>> StudyReader::readSoftware(MapReader& map) {
    auto texts = readTexts(map, "software");
    if (!texts) return tl::unexpected(texts.error());
    std::vector<Software> all;
    for (const auto& [text, place] : *texts) {
        auto software = parseSoftware(text);
        if (!software) return at(place, software.error());
        all.push_back(std::move(*software));
    }
    if (all.empty()) all.emplace_back();
    return all;
}

Expected<std::vector<Task>> StudyReader::readTasks(MapReader& map) {
    auto texts = readTexts(map, "tasks");
    if (!texts) return tl::unexpected(texts.error());
    std::vector<Task> tasks;
    for (const auto& [text, place] : *texts) {
        auto task = store::readTaskText(text, place, folder_);
        if (!task) return tl::unexpected(task.error());
        tasks.push_back(std::move(*task));
    }
    if (tasks.empty()) tasks.emplace_back(Pass{});
    return tasks;
}

Expected<std::vector<HardwarePtr>> StudyReader::sweptHardware(const Place& place) {
    const auto points = store::sweepPoints(hardwareAxes_, mostScenarios, place);
    if (!points) return tl::unexpected(points.error());
    std::vector<HardwarePtr> swept;
    for (const Hardware& base : hardware_) {
        for (const SweepPoint& point : *points) {
            Hardware hardware = base;
            for (std::size_t i = 0; i < hardwareAxes_.size(); ++i) {
                const SweepAxis& axis = hardwareAxes_[i];
                auto changed = withAttribute(std::move(hardware), axis.key, axis.values[point[i]]);
                if (!changed) return at(axis.places[point[i]], changed.error());
                hardware = std::move(*changed);
            }
            hardware.name += pointLabel(hardwareAxes_, point);
            swept.push_back(std::make_shared<const Hardware>(std::move(hardware)));
        }
    }
    return swept;
}

Expected<std::vector<WorkloadPtr>> StudyReader::sweptWorkloads(const Place& place) {
    const auto points = store::sweepPoints(optionAxes_, mostScenarios, place);
    if (!points) return tl::unexpected(points.error());
    std::vector<WorkloadPtr> swept;
    for (const Recipe& each : recipes_) {
        for (const SweepPoint& point : *points) {
            auto options = store::optionsAt(optionAxes_, point, each.recipe.options, context_);
            if (!options) return tl::unexpected(options.error());
            auto loaded = loadWorkload({each.recipe.source, std::move(*options), each.recipe.whatIfs});
            if (!loaded) return at(each.place, loaded.error());
            // A point must be what its label says.
            for (std::size_t i = 0; i < optionAxes_.size(); ++i) {
                if (optionAxes_[i].key != "weights") continue;
                if (auto good = checkWeights(**loaded, (*loaded)->recipe.options.weightFormat()); !good)
                    return at(optionAxes_[i].places[point[i]], good.error());
            }
            const std::string label = pointLabel(optionAxes_, point);
            if (!each.name.empty() || !label.empty()) {
                auto named = std::make_shared<Workload>(**loaded);
                if (!each.name.empty()) named->name = each.name;
                named->name += label;
                swept.push_back(std::move(named));
            } else {
                swept.push_back(std::move(*loaded));
            }
        }
    }
    return swept;
}

Expected<LoadedStudy> StudyReader::read(std::string_view yaml) {
    auto root = store::parseDocument(yaml, context_);
    if (!root) return tl::unexpected(root.error());
    const auto version = store::documentVersion(*root, "study", studyVersion, context_);
    if (!version) return tl::unexpected(version.error());
    auto map = MapReader::open(*root, "", context_);
    if (!map) return tl::unexpected(map.error());
    map->take("orrery");
    LoadedStudy loaded;
    loaded.study.name = std::filesystem::path(context_.file).stem().string();
    if (const auto node = map->take("name")) {
        auto name = store::readText(*node, map->placeOf(*node, "name"));
        if (!name) return tl::unexpected(name.error());
        loaded.study.name = *name;
    }
    if (const auto node = map->take("seed")) {
        auto seed = store::readWhole(*node, map->placeOf(*node, "seed"), 0, std::int64_t{1} << 62);
        if (!seed) return tl::unexpected(seed.error());
        loaded.study.seed = static_cast<std::uint64_t>(*seed);
    }
    if (const auto node = map->take("timelines")) {
        auto on = store::readBool(*node, map->placeOf(*node, "timelines"));
        if (!on) return tl::unexpected(on.error());
        loaded.timelines = *on;
    }
    Place sweepPlace = map->place();
    if (const auto node = map->take("sweep")) {
        sweepPlace = map->placeOf(*node, "sweep");
        auto axes = store::readSweep(*node, sweepPlace, context_);
        if (!axes) return tl::unexpected(axes.error());
        // Counted before anything is loaded: a hostile file may ask for more than fits.
        if (auto all = store::sweepPoints(*axes, mostScenarios, sweepPlace); !all) return tl::unexpected(all.error());
        for (SweepAxis& axis : *axes)
            (store::variesWorkload(axis.key) ? optionAxes_ : hardwareAxes_).push_back(std::move(axis));
    }
    if (auto done = readMethods(*map, loaded.study); !done) return tl::unexpected(done.error());
    auto hardware =
        map->require("hardware", "a list of devices").and_then([&](const auto& n) { return readHardware(n); });
    if (!hardware) return tl::unexpected(hardware.error());
    auto workloads =
        map->require("workloads", "a list of models").and_then([&](const auto& n) { return readWorkloads(n); });
    if (!workloads) return tl::unexpected(workloads.error());
    auto plans = readPlans(*map);
    if (!plans) return tl::unexpected(plans.error());
    auto tasks = readTasks(*map);
    if (!tasks) return tl::unexpected(tasks.error());
    auto software = readSoftware(*map);
    if (!software) return tl::unexpected(software.error());
    map->rest();
    std::size_t points = hardware_.size() * recipes_.size() * plans->size() * tasks->size() * software->size();
    for (const SweepAxis& axis : hardwareAxes_) points *= axis.values.size();
    for (const SweepAxis& axis : optionAxes_) points *= axis.values.size();
    if (points > mostScenarios) {
        return fail("study.too-large", fmt::format("the study has {} scenarios", points),
                    fmt::format("at most {}", mostScenarios), "give fewer values, or split it into several files",
                    sweepPlace);
    }
    auto designs = sweptHardware(sweepPlace);
    if (!designs) return tl::unexpected(designs.error());
    auto models = sweptWorkloads(sweepPlace);
    if (!models) return tl::unexpected(models.error());
    for (const WorkloadPtr& workload : *models) {
        for (const HardwarePtr& design : *designs) {
            for (const Task& task : *tasks) {
                for (const Plan& plan : *plans) {
                    for (const Software& each : *software)
                        loaded.study.scenarios.push_back({design, workload, plan, task, each});
                }
            }
        }
    }
    loaded.warnings = std::move(context_.warnings);
    return loaded;
}

}  // namespace

Expected<LoadedStudy> readStudy(std::string_view yaml, std::string_view file) {
    try {
        return StudyReader(file).read(yaml);
    } catch (const std::exception& error) {
        return fail("study.read", fmt::format("the study cannot be read: {}", error.what()), "a study file", "",
                    {std::string(file)});
    }
}

Expected<LoadedStudy> readStudyFile(const std::string& path) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    return readStudy(*text, path);
}

}  // namespace orrery
