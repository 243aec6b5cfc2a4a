#include "app/cli/map_bound.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "mapping/bounds/drawn_bound.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery::cli {
namespace {

using Json = nlohmann::ordered_json;

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

std::string boundText(const DrawnBound& drawn) {
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
    for (const BoundMark& level : boundMarks(drawn.hardware)) mark(level.level, level.words);
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
                     boundTiles(drawn.problem, *at), fmt::format("{}", fmt::join(boundLoops(drawn.problem, *at), " ")),
                     fmt::format("{}", fmt::join(boundKeeps(drawn.problem, *at), " "))});
    };
    for (double words = 1; words < 2 * curve.points.back().words; words *= 2) add(words);
    add(curve.points.back().words);
    return out + corners.text() +
           fmt::format("\nCorners at powers of two of {}; --csv and --json give all. Found in {:.3g} s\n",
                       count(static_cast<double>(curve.points.size())), curve.seconds);
}

Json boundJson(const DrawnBound& drawn, const BoundOptions& options) {
    const BoundCurve& curve = drawn.curve;
    Json json;
    json["problem"] = drawn.name;
    for (std::size_t d = 0; d < drawn.problem.dimensions.size(); ++d)
        json["extents"][drawn.problem.dimensions[d]] = drawn.problem.extents[d];
    json["tiles"] = options.anyTile ? "any" : "divisors";
    json["macs"] = curve.operations;
    json["compulsory_words"] = curve.compulsory;
    json["levels"] = Json::array();
    for (const BoundMark& level : boundMarks(drawn.hardware)) {
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
        one["loops"] = boundLoops(drawn.problem, point);
        one["keeps"] = boundKeeps(drawn.problem, point);
        json["points"].push_back(std::move(one));
    }
    json["seconds"] = curve.seconds;
    return json;
}

int show(const std::vector<DrawnBound>& all, const BoundOptions& options, const Arguments& arguments) {
    bool written = true;
    if (const auto csv = arguments.value("csv")) {
        written = writeTo(*csv, boundCsv(all));
        if (*csv == "-") return written ? Answered : Unanswered;
    }
    if (arguments.has("json")) {
        Json json{{"curves", Json::array()}};
        for (const DrawnBound& drawn : all) json["curves"].push_back(boundJson(drawn, options));
        return print(json.dump(2) + "\n") && written ? Answered : Unanswered;
    }
    for (const DrawnBound& drawn : all)
        written = print((&drawn == all.data() ? "" : "\n") + boundText(drawn)) && written;
    return written ? Answered : Unanswered;
}

}  // namespace

const std::vector<Option>& boundOptions() {
    static const std::vector<Option> options{
        {"bound-curve", "",
         "the least words that any tiling and loop order moves, for every size of one buffer over a store; the "
         "design's levels and the mapping are marked on it"},
        {"bound-tiles", "KIND", "with --bound-curve: any (default; the last tile may be smaller) or divisors"},
        {"csv", "FILE", "with --bound-curve: every corner, level and mapping as CSV; - is standard output"}};
    return options;
}

int boundOfInput(const TimeloopInput& input, const Arguments& arguments, Watch& watch) {
    const auto options = readBoundOptions(arguments);
    if (!options) return failed(options.error());
    DrawnBound drawn{
        input.problem.name.empty() ? "problem" : input.problem.name, input.problem, input.hardware, {}, {}};
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
    std::vector<DrawnBound> all;
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
    std::vector<DrawnBound> all;
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
            DrawnBound drawn{problem.name, problem, {}, std::move(*curve), {}};
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
