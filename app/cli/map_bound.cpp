#include "app/cli/map_bound.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "mapping/bounds/data_movement.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One curve with what is marked on it.
struct Drawn {
    std::string name;
    NestProblem problem;
    NestHardware hardware;
    BoundCurve curve;
    std::optional<MappingPoint> mapping;
};

Expected<BoundOptions> readBoundOptions(const Arguments& arguments) {
    BoundOptions options;
    if (const auto tiles = arguments.value("bound-tiles")) {
        if (*tiles != "any" && *tiles != "divisors")
            return fail("usage.value", fmt::format("`--bound-tiles {}` is no kind of tiles", *tiles),
                        "any or divisors");
        options.anyTile = *tiles == "any";
    }
    return options;
}

struct Mark {
    std::string level;
    double words = 0;  ///< that all instances hold
};
/// The levels in front of the store.
std::vector<Mark> marksOf(const NestHardware& hardware) {
    std::vector<Mark> marks;
    for (std::size_t l = 0; l + 1 < hardware.levels.size(); ++l) {
        const NestLevel& level = hardware.levels[l];
        const double words = std::floor(level.capacityWords / level.multipleBuffering);
        if (std::isfinite(words)) marks.push_back({level.name, words * static_cast<double>(level.instances)});
    }
    return marks;
}

std::string tilesText(const NestProblem& problem, const BoundPoint& point) {
    std::string text;
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
        if (problem.extents[d] > 1)
            text += fmt::format("{}{}{}", text.empty() ? "" : " ", problem.dimensions[d], point.tile[d]);
    }
    return text;
}

/// Loops over tiles, outermost first.
std::vector<std::string> loopsOf(const NestProblem& problem, const BoundPoint& point) {
    std::vector<std::string> loops;
    for (std::size_t i = problem.dimensions.size(); i-- > 0;) {
        const std::uint8_t d = point.order[i];
        if (point.tile[d] < problem.extents[d]) loops.push_back(problem.dimensions[d]);
    }
    return loops;
}

std::vector<std::string> keptBy(const NestProblem& problem, const BoundPoint& point) {
    std::vector<std::string> kept;
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
        if (point.keeps >> t & 1u) kept.push_back(problem.tensors[t].name);
    }
    return kept;
}

std::string boundText(const Drawn& drawn) {
    const BoundCurve& curve = drawn.curve;
    std::string out = fmt::format("{}: {} multiply-accumulates, {} words must move at least\n\n", drawn.name,
                                  count(curve.operations), count(curve.compulsory));
    Table marks({"level", "words", "moved at least", "of what must", "operations per word"},
                {false, true, true, true, true});
    const auto mark = [&](const std::string& name, double words) {
        const BoundPoint* at = curve.at(words);
        if (!at) return;
        marks.add({name, count(words), count(at->moved), fmt::format("{:.3g} ×", at->moved / curve.compulsory),
                   fmt::format("{:.3g}", curve.operations / at->moved)});
    };
    for (const Mark& level : marksOf(drawn.hardware)) mark(level.level, level.words);
    if (!marks.empty()) out += marks.text() + "\n";
    if (drawn.mapping) {
        const BoundPoint* at = curve.at(drawn.mapping->words);
        out += fmt::format("The mapping moves {} words with tiles of {}: {:.3g} × the least for as many\n\n",
                           count(drawn.mapping->moved), count(drawn.mapping->words),
                           drawn.mapping->moved / (at ? at->moved : drawn.mapping->moved));
    }
    Table corners({"buffer words", "words moved", "of what must", "tiles", "loops over tiles", "kept"},
                  {true, true, true, false, false, false});
    const BoundPoint* before = nullptr;
    const auto add = [&](double words) {
        const BoundPoint* at = curve.at(words);
        if (!at || at == before) return;
        before = at;
        corners.add({count(at->words), count(at->moved), fmt::format("{:.3g} ×", at->moved / curve.compulsory),
                     tilesText(drawn.problem, *at), fmt::format("{}", fmt::join(loopsOf(drawn.problem, *at), " ")),
                     fmt::format("{}", fmt::join(keptBy(drawn.problem, *at), " "))});
    };
    for (double words = 1; words < 2 * curve.points.back().words; words *= 2) add(words);
    add(curve.points.back().words);
    return out + corners.text() +
           fmt::format("\nCorners at powers of two of {}; --csv and --json give all. Found in {:.3g} s\n",
                       count(static_cast<double>(curve.points.size())), curve.seconds);
}

Json boundJson(const Drawn& drawn, const BoundOptions& options) {
    const BoundCurve& curve = drawn.curve;
    Json json;
    json["problem"] = drawn.name;
    for (std::size_t d = 0; d < drawn.problem.dimensions.size(); ++d)
        json["extents"][drawn.problem.dimensions[d]] = drawn.problem.extents[d];
    json["tiles"] = options.anyTile ? "any" : "divisors";
    json["macs"] = curve.operations;
    json["compulsory_words"] = curve.compulsory;
    json["levels"] = Json::array();
    for (const Mark& level : marksOf(drawn.hardware)) {
        const BoundPoint* at = curve.at(level.words);
        Json one{{"level", level.level}, {"words", level.words}};
        if (at) one["moved_at_least"] = at->moved;
        json["levels"].push_back(std::move(one));
    }
    if (drawn.mapping) {
        json["mapping"] = {{"words", drawn.mapping->words}, {"moved", drawn.mapping->moved}};
        if (const BoundPoint* at = curve.at(drawn.mapping->words)) json["mapping"]["moved_at_least"] = at->moved;
    }
    json["points"] = Json::array();
    for (const BoundPoint& point : curve.points) {
        Json one{{"words", point.words}, {"moved", point.moved}};
        for (std::size_t d = 0; d < drawn.problem.dimensions.size(); ++d)
            one["tile"][drawn.problem.dimensions[d]] = point.tile[d];
        one["loops"] = loopsOf(drawn.problem, point);
        one["keeps"] = keptBy(drawn.problem, point);
        json["points"].push_back(std::move(one));
    }
    json["seconds"] = curve.seconds;
    return json;
}

std::string boundCsv(const std::vector<Drawn>& all) {
    std::string out = "problem,kind,name,words,moved,tiles,loops,keeps\n";
    for (const Drawn& drawn : all) {
        const auto marked = [&](const char* kind, const std::string& name, double words, double moved) {
            out += fmt::format("\"{}\",{},\"{}\",{:.17g},{:.17g},,,\n", drawn.name, kind, name, words, moved);
        };
        for (const Mark& level : marksOf(drawn.hardware)) {
            if (const BoundPoint* at = drawn.curve.at(level.words))
                marked("level", level.level, level.words, at->moved);
        }
        if (drawn.mapping) marked("mapping", "mapping", drawn.mapping->words, drawn.mapping->moved);
        for (const BoundPoint& point : drawn.curve.points) {
            out += fmt::format("\"{}\",bound,,{:.17g},{:.17g},{},{},{}\n", drawn.name, point.words, point.moved,
                               tilesText(drawn.problem, point), fmt::join(loopsOf(drawn.problem, point), " "),
                               fmt::join(keptBy(drawn.problem, point), " "));
        }
    }
    return out;
}

int show(const std::vector<Drawn>& all, const BoundOptions& options, const Arguments& arguments) {
    bool written = true;
    if (const auto csv = arguments.value("csv")) {
        written = writeTo(*csv, boundCsv(all));
        if (*csv == "-") return written ? Answered : Unanswered;
    }
    if (arguments.has("json")) {
        Json json{{"curves", Json::array()}};
        for (const Drawn& drawn : all) json["curves"].push_back(boundJson(drawn, options));
        return print(json.dump(2) + "\n") && written ? Answered : Unanswered;
    }
    for (const Drawn& drawn : all) written = print((&drawn == all.data() ? "" : "\n") + boundText(drawn)) && written;
    return written ? Answered : Unanswered;
}

}  // namespace

const std::vector<Option>& boundOptions() {
    static const std::vector<Option> options{
        {"bound-curve", "",
         "the least words that any tiling and loop order moves, for every size of one buffer over a store; the "
         "design's levels and the mapping are marked on it"},
        {"bound-tiles", "KIND", "with --bound-curve: any (default; the last tile may be smaller) or divisors"},
        {"csv", "FILE", "with --bound-curve: every corner, level and mapping as CSV; `-` is standard output"}};
    return options;
}

int boundOfInput(const TimeloopInput& input, const Arguments& arguments, Watch& watch) {
    const auto options = readBoundOptions(arguments);
    if (!options) return failed(options.error());
    Drawn drawn{input.problem.name.empty() ? "problem" : input.problem.name, input.problem, input.hardware, {}, {}};
    watch.begin("bound");
    auto curve = dataMovementBound(input.problem, *options, watch.token());
    watch.end();
    if (!curve) return failed(curve.error());
    drawn.curve = std::move(*curve);
    if (input.mapping) {
        NestEvaluator evaluator(input.problem, input.hardware);
        const auto counts = evaluator.explain(*input.mapping);
        if (!counts) return failed(input.placed(counts.error()));
        drawn.mapping = mappingPoint(input.problem, *input.mapping, *counts);
    }
    std::vector<Drawn> all;
    all.push_back(std::move(drawn));
    return show(all, *options, arguments);
}

int boundOfWorkload(const SpatialArrayView& view, const Graph& graph, const LoopNestOptions& search,
                    SearchContext& context, const Arguments& arguments, Watch& watch) {
    const auto options = readBoundOptions(arguments);
    if (!options) return failed(options.error());
    if (search.sparse)
        return failed(
            fail("usage.value", "--bound-curve counts dense words", "no --sparse", "leave one of the two options out")
                .value());
    const auto wanted = arguments.value("operator");
    std::vector<Drawn> all;
    watch.begin("bound");
    for (const Operator& op : graph.operators) {
        if ((wanted && op.name != *wanted) || !mappable(op, graph)) continue;
        const auto mapped = mapOperator(view, op, graph, search, context);
        const std::vector<OperatorNest> nests = nestsOf(op, graph);
        for (std::size_t n = 0; n < nests.size(); ++n) {
            const NestProblem& problem = nests[n].problem;
            auto curve = dataMovementBound(problem, *options, watch.token());
            if (!curve) {
                watch.end();
                return failed(curve.error());
            }
            Drawn drawn{problem.name, problem, {}, std::move(*curve), {}};
            if (mapped) {
                drawn.hardware = mapped->hardware;
                const MappedNest& nest = mapped->nests[n];
                drawn.mapping = mappingPoint(nest.problem, nest.mapping(), nest.counts());
            }
            all.push_back(std::move(drawn));
        }
    }
    watch.end();
    if (all.empty())
        return failed(fail("usage.operator",
                           wanted ? fmt::format("the workload has no operator `{}` that is a loop nest", *wanted)
                                  : "no operator of this workload is a loop nest",
                           "products of matrices, convolutions or attention",
                           "names are those of `orrery-cli map` without --operator")
                          .value());
    return show(all, *options, arguments);
}

}  // namespace orrery::cli
