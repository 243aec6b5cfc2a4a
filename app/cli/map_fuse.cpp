#include "app/cli/map_fuse.h"

#include "app/cli/interrupt.h"
#include "app/cli/map_parts.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/unit.h"
#include "mapping/bounds/drawn_bound.h"
#include "mapping/fusion/chain_bound.h"
#include "mapping/fusion/fuse.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace orrery::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view space =
    "groups of neighbours x tiles of their common rows (under a window made again or kept) x, per operator, found "
    "inner "
    "parts x every tile and class of loop orders between the fusion level and the store";

struct OperatorRange {
    std::size_t first = 0, last = 0;
};

Expected<OperatorRange> readRange(const Arguments& arguments, const Graph& graph) {
    OperatorRange range{0, graph.operators.size() - 1};
    const auto text = arguments.value("operators");
    if (!text) return range;
    const auto dots = text->find("..");
    const auto find = [&](const std::string& name) -> Expected<std::size_t> {
        const auto at = std::find_if(graph.operators.begin(), graph.operators.end(),
                                     [&](const Operator& op) { return op.name == name; });
        if (at == graph.operators.end())
            return fail("usage.operator", fmt::format("the workload has no operator `{}`", name), "A..B, two names",
                        "names are those of `orrery-cli map` without --operator");
        return static_cast<std::size_t>(at - graph.operators.begin());
    };
    if (dots == std::string::npos)
        return fail("usage.value", fmt::format("`--operators {}` is no range", *text), "A..B, two names");
    const auto first = find(text->substr(0, dots)), last = find(text->substr(dots + 2));
    if (!first) return Unexpected(first.error());
    if (!last) return Unexpected(last.error());
    if (*last < *first)
        return fail("usage.value", fmt::format("`--operators {}` runs backwards", *text), "the earlier one first");
    return OperatorRange{*first, *last};
}

std::string namesOf(const OperatorChain& chain, const FusedGroup& group) {
    std::string text;
    for (std::size_t i = group.first; i <= group.last; ++i)
        text += (text.empty() ? "" : " + ") + chain.operators[i].name;
    return text;
}

std::string loopsText(const FusedGroup& group) {
    std::string text;
    for (const FusedGroup::Loop& loop : group.loops)
        text += fmt::format("{}{} / {}", text.empty() ? "" : ", ", loop.name, loop.count);
    if (group.waiting > 0) text += "; overlap kept";
    if (group.repeated > 1 + 1e-9) text += fmt::format("; {:.1f} % operations again", 100 * (group.repeated - 1));
    return text.empty() ? group.last > group.first ? "whole" : "-" : text;
}

struct Sums {
    double energy = 0, cycles = 0;
};
Sums sumsOf(const OperatorChain& chain, const ChainPlan& plan, const FusedGroup& group) {
    Sums sums;
    for (std::size_t i = group.first; i <= group.last; ++i) {
        sums.energy += chain.operators[i].repeat * plan.operators[i].placement.energy;
        sums.cycles += chain.operators[i].repeat * plan.operators[i].placement.cycles;
    }
    return sums;
}

std::string saved(double fused, double unfused) {
    return unfused > 0 ? fmt::format("{:.1f} %", 100 * (1 - fused / unfused)) : "-";
}

std::string fuseText(const OperatorChain& chain, const FusionResult& result) {
    Table table({"runs together", "tiles of rows", "cycles", "energy", "cycles saved", "energy saved"},
                {false, false, true, true, true, true});
    for (const FusedGroup& group : result.fused.groups) {
        const Sums fused = sumsOf(chain, result.fused, group), alone = sumsOf(chain, result.unfused, group);
        table.add({namesOf(chain, group), loopsText(group), count(fused.cycles),
                   chain.energies ? formatMeasure(fused.energy, Dimension::Energy) : "-",
                   saved(fused.cycles, alone.cycles), saved(fused.energy, alone.energy)});
    }
    std::string out = table.text();
    const ChainPlan &fused = result.fused, &alone = result.unfused;
    out += fmt::format("\n{} cycles, {} without fusing", count(fused.cycles), count(alone.cycles));
    if (chain.energies)
        out += fmt::format("; {}, {} without; energy × delay {} less", formatMeasure(fused.energy, Dimension::Energy),
                           formatMeasure(alone.energy, Dimension::Energy),
                           saved(fused.value(MapObjective::Edp), alone.value(MapObjective::Edp)));
    out += fmt::format("\n{}; {} mappings costed, {} partial answers kept, {:.2f} s\n",
                       chain.level ? fmt::format("Intermediates stay in {}", chain.hardware.levels[*chain.level].name)
                                   : "No level in front of the store keeps inputs and outputs: nothing can be fused",
                       count(static_cast<double>(result.evaluated)), count(static_cast<double>(result.partials)),
                       result.seconds);
    return out;
}

Json fuseJson(const OperatorChain& chain, const FusionResult& result, MapObjective objective) {
    const ChainPlan &fused = result.fused, &alone = result.unfused;
    Json json{{"objective", toText(objective)},
              {"proven", result.proven},
              {"space", space},
              {"value", fused.value(objective)},
              {"lower_bound", fused.value(objective)},
              {"edp", fused.value(MapObjective::Edp)},
              {"edp_unfused", alone.value(MapObjective::Edp)},
              {"cycles", fused.cycles},
              {"cycles_unfused", alone.cycles}};
    if (chain.energies) {
        json["energy_j"] = fused.energy;
        json["energy_unfused_j"] = alone.energy;
    }
    if (chain.level) json["level"] = chain.hardware.levels[*chain.level].name;
    json["groups"] = Json::array();
    for (const FusedGroup& group : fused.groups) {
        const Sums sums = sumsOf(chain, fused, group), apart = sumsOf(chain, alone, group);
        Json one{{"operators", Json::array()}, {"loops", Json::array()}};
        for (std::size_t i = group.first; i <= group.last; ++i) {
            const NestProblem& problem = chain.operators[i].problem;
            const PlacedOperator& placed = fused.operators[i];
            Json op{{"operator", chain.operators[i].name},
                    {"repeat", chain.operators[i].repeat},
                    {"cycles", placed.placement.cycles},
                    {"energy_j", placed.placement.energy},
                    {"iterations", placed.around.iterations()}};
            // Of one iteration; outermost first.
            Json loops = Json::array();
            for (std::size_t l = placed.placement.mapping.levels.size(); l-- > 0;) {
                const auto& level = placed.placement.mapping.levels[l];
                for (std::size_t k = level.loops.size(); k-- > 0;) {
                    const NestLoop& loop = level.loops[k];
                    if (loop.bound <= 1) continue;
                    Json each{{"level", chain.hardware.levels[l].name},
                              {"dimension", problem.dimensions[loop.dimension]},
                              {"bound", loop.bound}};
                    if (loop.kind != LoopKind::Temporal) each["spatial"] = loop.kind == LoopKind::SpatialX ? "X" : "Y";
                    loops.push_back(std::move(each));
                }
            }
            op["mapping"] = std::move(loops);
            one["operators"].push_back(std::move(op));
        }
        for (const FusedGroup::Loop& loop : group.loops)
            one["loops"].push_back({{"dimension", loop.name}, {"count", loop.count}});
        one["cycles"] = sums.cycles;
        one["cycles_unfused"] = apart.cycles;
        if (chain.energies) {
            one["energy_j"] = sums.energy;
            one["energy_unfused_j"] = apart.energy;
        }
        one["resident_words"] = group.resident;
        one["waiting_words"] = group.waiting;
        one["operations_done"] = group.repeated;
        json["groups"].push_back(std::move(one));
    }
    json["evaluated"] = result.evaluated;
    json["partials"] = result.partials;
    json["seconds"] = result.seconds;
    return json;
}

double movedAt(const std::vector<ChainBoundPoint>& curve, double words) {
    const auto after = std::upper_bound(curve.begin(), curve.end(), words,
                                        [](double w, const ChainBoundPoint& point) { return w < point.words; });
    return after == curve.begin() ? 0 : std::prev(after)->moved;
}

std::string chainBoundText(const OperatorChain& chain, const ChainBound& bound) {
    Table table({"buffer words", "each alone", "fused", "saved", ""}, {true, true, true, true, false});
    const auto add = [&](double words, const std::string& name) {
        const double alone = movedAt(bound.unfused, words), fused = movedAt(bound.fused, words);
        if (alone > 0 && fused > 0) table.add({count(words), count(alone), count(fused), saved(fused, alone), name});
    };
    const double last = std::max(bound.unfused.back().words, bound.fused.back().words);
    std::vector<BoundMark> rows = boundMarks(chain.hardware);
    for (double words = 1; words < last; words *= 2) rows.push_back({"", words});
    rows.push_back({"", last});
    std::stable_sort(rows.begin(), rows.end(),
                     [](const BoundMark& a, const BoundMark& b) { return a.words < b.words; });
    for (const BoundMark& row : rows) add(row.words, row.level);
    return fmt::format("Least words moved by {} operators, each alone and fused\n\n", chain.operators.size()) +
           table.text() +
           fmt::format("\nAt powers of two; --csv and --json give all {} and {} corners. Found in {:.3g} s\n",
                       bound.unfused.size(), bound.fused.size(), bound.seconds);
}

Json chainBoundJson(const OperatorChain& chain, const ChainBound& bound) {
    Json json{{"operators", Json::array()}, {"levels", Json::array()}};
    for (const ChainOperator& op : chain.operators) json["operators"].push_back(op.name);
    for (const BoundMark& mark : boundMarks(chain.hardware)) {
        json["levels"].push_back({{"level", mark.level},
                                  {"words", mark.words},
                                  {"unfused", movedAt(bound.unfused, mark.words)},
                                  {"fused", movedAt(bound.fused, mark.words)}});
    }
    for (const bool fused : {false, true}) {
        Json points = Json::array();
        for (const ChainBoundPoint& point : fused ? bound.fused : bound.unfused)
            points.push_back({{"words", point.words}, {"moved", point.moved}});
        json[fused ? "fused" : "unfused"] = std::move(points);
    }
    json["seconds"] = bound.seconds;
    return json;
}

int boundOfChain(const OperatorChain& chain, const Arguments& arguments, Watch& watch) {
    const auto executor = makeDefaultExecutor();
    watch.begin("bound");
    const auto bound = chainBound(chain, *executor, watch.token());
    watch.end();
    if (!bound) return failed(bound.error());
    bool written = true;
    if (const auto csv = arguments.value("csv")) {
        std::string rows = "kind,words,moved\n";
        for (const ChainBoundPoint& p : bound->unfused)
            rows += fmt::format("unfused,{:.17g},{:.17g}\n", p.words, p.moved);
        for (const ChainBoundPoint& p : bound->fused) rows += fmt::format("fused,{:.17g},{:.17g}\n", p.words, p.moved);
        written = writeTo(*csv, rows);
        if (*csv == "-") return written ? Answered : Unanswered;
    }
    written =
        print(arguments.has("json") ? chainBoundJson(chain, *bound).dump(2) + "\n" : chainBoundText(chain, *bound)) &&
        written;
    return written ? Answered : Unanswered;
}

}  // namespace

const std::vector<Option>& fuseOptions() {
    static const std::vector<Option> options{
        {"fuse", "",
         "with --workload: which neighbours to run tile by tile so that what is between them stays on chip; with "
         "--bound-curve the least that the chain moves, each operator alone and fused"},
        {"operators", "A..B", "with --fuse: this part of the model, by the names of its first and last operator"}};
    return options;
}

int fuseWorkload(const SpatialArrayView& view, const Graph& graph, const Arguments& arguments, Watch& watch) {
    const auto range = readRange(arguments, graph);
    if (!range) return failed(range.error());
    const auto chain = operatorChain(view, graph, range->first, range->last);
    if (!chain) return failed(chain.error());
    if (arguments.has("bound-curve")) return boundOfChain(*chain, arguments, watch);
    FusionOptions options;
    options.placements.mapper.objectives = {chain->energies ? MapObjective::Edp : MapObjective::Latency};
    const auto mapper = readMapperOptions(arguments, options.placements.mapper);
    if (!mapper) return failed(mapper.error());
    options.placements.mapper = *mapper;
    // What a draw needs is too few steps for a proof.
    if (mapper->kind == MapperKind::Optimal && !arguments.has("evaluations")) options.placements.mapper.evaluations = 0;
    options.objective = mapper->objectives.front();
    const auto executor = makeDefaultExecutor();
    watch.begin("fusing");
    const auto result = fuseChain(*chain, options, *executor, watch.token());
    watch.end();
    if (!result) return failed(result.error());
    return print(arguments.has("json") ? fuseJson(*chain, *result, options.objective).dump(2) + "\n"
                                       : fuseText(*chain, *result))
               ? Answered
               : Unanswered;
}

}  // namespace orrery::cli
