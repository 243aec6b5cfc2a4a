#include "app/cli/interrupt.h"
#include "app/cli/map_bound.h"
#include "app/cli/map_fuse.h"
#include "app/cli/map_parts.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/unit.h"
#include "mapping/sparse/sparse_read.h"
#include "methods/array/loop_nest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace orrery::cli {
namespace {

TimeloopInput asInput(const MappedOperator& op, const MappedNest& nest) {
    TimeloopInput input;
    input.problem = nest.problem;
    input.hardware = op.hardware;
    input.mapping = nest.mapping();
    return input;
}

std::string extentsText(const NestProblem& problem) {
    std::string text;
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
        if (problem.extents[d] > 1)
            text += fmt::format("{}{}{}", text.empty() ? "" : " ", problem.dimensions[d], problem.extents[d]);
    }
    return text;
}

int oneOperator(const SpatialArrayView& view, const Graph& graph, const std::string& name,
                const LoopNestOptions& options, SearchContext& context, const Arguments& arguments, Watch& watch) {
    const auto found = std::find_if(graph.operators.begin(), graph.operators.end(),
                                    [&](const Operator& op) { return op.name == name; });
    if (found == graph.operators.end()) {
        std::string some;
        for (const Operator& op : graph.operators) {
            if (some.size() < 200 && mappable(op, graph)) some += (some.empty() ? "" : ", ") + op.name;
        }
        return failed(fail("usage.operator", fmt::format("the workload has no operator `{}`", name), some,
                           "names are those of `orrery-cli map` without --operator")
                          .value());
    }
    watch.begin("mapping");
    const auto mapped = [&] {
        ProofWatch proof;
        SearchContext watched = context;
        watched.progress = &proof.progress();
        return mapOperator(view, *found, graph, options, watched);
    }();
    watch.end();
    if (!mapped) return failed(mapped.error());
    bool written = true;
    for (const MappedNest& nest : mapped->nests) {
        const TimeloopInput input = asInput(*mapped, nest);
        if (const auto path = arguments.value("write"))
            written = writeTo(*path, writeTimeloop(input.problem, input.hardware, *input.mapping)) && written;
        if (arguments.has("json")) {
            auto counts = countsJson(input, nest.counts());
            addSearch(counts, *nest.search, nest.options);
            written = print(counts.dump(2) + "\n") && written;
        } else {
            written =
                print(searchText(*nest.search, nest.options, input.hardware) + countsText(input, nest.counts())) &&
                written;
        }
    }
    return written ? Answered : Unanswered;
}

/// How the proofs of all nests went, each search once.
std::string proofsText(const std::vector<Expected<MappedOperator>>& mapped, MapObjective objective) {
    std::set<const MapperResult*> searches;
    for (const auto& op : mapped) {
        if (!op) continue;
        for (const MappedNest& nest : op->nests) searches.insert(nest.search.get());
    }
    std::vector<double> seconds;
    std::size_t proven = 0;
    for (const MapperResult* search : searches) {
        proven += search->proven;
        seconds.push_back(search->seconds);
    }
    if (seconds.empty()) return {};
    std::sort(seconds.begin(), seconds.end());
    return fmt::format("Proven by {}: {} of {} different nests; {:.2f} s a nest in the median, {:.2f} s at most\n",
                       toText(objective), proven, seconds.size(), seconds[seconds.size() / 2], seconds.back());
}

std::string table(const Graph& graph, const SpatialArrayView& view, const std::vector<Expected<MappedOperator>>& mapped,
                  const MapperOptions& options) {
    const bool proofs = options.kind == MapperKind::Optimal;
    std::vector<std::string> titles{"operator", "nest", "times", "cycles", "utilisation", "energy", "main memory"};
    std::vector<bool> right{false, false, true, true, true, true, true};
    if (proofs) {
        titles.insert(titles.end(), {"proof", "seconds"});
        right.insert(right.end(), {true, true});
    }
    Table table(titles, right);
    double cycles = 0;
    MapObjective objective = options.objectives.front();
    for (std::size_t i = 0; i < mapped.size(); ++i) {
        if (!mapped[i]) continue;
        const auto repeat = static_cast<double>(graph.operators[i].repeat);
        cycles += repeat * mapped[i]->cycles();
        for (const MappedNest& nest : mapped[i]->nests) {
            const NestCounts& counts = nest.counts();
            const MappedOperator alone{mapped[i]->hardware, {nest}, 0, 0, false};
            std::vector<std::string> row{graph.operators[i].name,
                                         extentsText(nest.problem),
                                         count(repeat * nest.times),
                                         count(counts.cycles),
                                         fmt::format("{:.1f} %", 100 * counts.utilisation),
                                         counts.energy > 0 ? formatMeasure(counts.energy, Dimension::Energy) : "-",
                                         formatMeasure(alone.bytes(alone.hardware.levels.size() - 1), Dimension::Data)};
            if (proofs) {
                objective = nest.options.objectives.front();
                const double gap = 1 - nest.search->lowerBound / objectiveValue(objective, counts);
                row.push_back(nest.search->proven ? "best" : fmt::format("gap {:.1f} %", 100 * gap));
                row.push_back(fmt::format("{:.2f}", nest.search->seconds));
            }
            table.add(row);
        }
    }
    return table.text() + (proofs ? "\n" + proofsText(mapped, objective) : "") +
           fmt::format("\n{} cycles in all nests: {} at {}\n", count(cycles),
                       format(Seconds(cycles / view.clock.value)), format(view.clock));
}

/// The nests of one execution together.
void addOperator(nlohmann::ordered_json& json, const MappedOperator& op) {
    double seconds = 0;
    for (const MappedNest& nest : op.nests) seconds += nest.search->seconds;
    json["value"] = op.value;
    json["proven"] = op.proven;
    json["lower_bound"] = op.lowerBound;
    json["edp"] = op.energy() * op.cycles();
    json["seconds"] = seconds;
}

std::string json(const Graph& graph, const std::vector<Expected<MappedOperator>>& mapped) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < mapped.size(); ++i) {
        if (!mapped[i]) continue;
        nlohmann::ordered_json one{{"operator", graph.operators[i].name}, {"repeat", graph.operators[i].repeat}};
        one["nests"] = nlohmann::ordered_json::array();
        for (const MappedNest& nest : mapped[i]->nests) {
            auto counts = countsJson(asInput(*mapped[i], nest), nest.counts());
            counts["times"] = nest.times;
            counts["evaluations"] = nest.search->valid;
            addSearch(counts, *nest.search, nest.options);
            one["nests"].push_back(std::move(counts));
        }
        addOperator(one, *mapped[i]);
        all.push_back(std::move(one));
    }
    return nlohmann::ordered_json{{"operators", std::move(all)}}.dump(2) + "\n";
}

}  // namespace

int mapWorkload(const Arguments& arguments, Watch& watch) {
    for (const char* option : {"hardware", "workload"}) {
        if (!arguments.has(option))
            return failed(fail("usage.missing", fmt::format("--{} is missing", option), "--hardware H --workload W",
                               "a mapping needs both, or the files of --timeloop")
                              .value());
    }
    const auto hardware = readHardwareQuestion(arguments, *arguments.value("hardware"));
    if (!hardware) return failed(hardware.error());
    const auto recipe = readRecipe(arguments, *arguments.value("workload"));
    if (!recipe) return failed(recipe.error());
    const auto workload = loadWorkload(*recipe);
    if (!workload) return failed(workload.error());
    const auto view = spatialArrayView(**hardware);
    if (!view) return failed(view.error());
    if (arguments.has("fuse")) return fuseWorkload(*view, (*workload)->graph, arguments, watch);
    LoopNestOptions options;
    const auto search = readMapperOptions(arguments, options.mapper);
    if (!search) return failed(search.error());
    options.mapper = *search;
    if (const auto file = arguments.value("sparse")) {
        auto root = parseTimeloopFile(*file);
        if (!root) return failed(root.error());
        const auto known = sparse::onlyKeys(*root, "the file", {"densities", "problem", "sparse_optimizations"});
        if (!known) return failed(known.error());
        // The problem is the workload's: its densities stand in the file alone, or where Timeloop has them.
        if (!root->find("problem")) {
            DocNode alone = *root;
            root->keys.emplace_back("problem");
            root->items.push_back(std::move(alone));
        }
        options.sparse = [root = std::move(*root)](const NestProblem& problem, const NestHardware& array) {
            Diagnostics warnings;
            return readSparseDesign(root, problem, array, warnings);
        };
    }
    const auto executor = makeDefaultExecutor();
    SearchContext context{*executor, watch.token(), nullptr, nullptr, {}, nullptr};
    const Graph& graph = (*workload)->graph;
    if (arguments.has("bound-curve")) return boundOfWorkload(*view, graph, options, context, arguments, watch);
    if (const auto name = arguments.value("operator"))
        return oneOperator(*view, graph, *name, options, context, arguments, watch);
    watch.begin("mapping");
    const auto mapped = mapOperators(*view, graph, options, context);
    watch.end();
    bool any = false;
    for (const auto& each : mapped) {
        any = any || each;
        if (!each && each.error().code != "mapper.not-mappable") report(each.error());
    }
    if (!any)
        return failed(fail("mapper.not-mappable", "no operator of this workload has a mapping on this hardware",
                           "products of matrices, convolutions or attention")
                          .value());
    return print(arguments.has("json") ? json(graph, mapped) : table(graph, *view, mapped, options.mapper))
               ? Answered
               : Unanswered;
}

}  // namespace orrery::cli
