#include "app/cli/interrupt.h"
#include "app/cli/map_parts.h"
#include "app/cli/output.h"
#include "base/text/words.h"
#include "mapping/mapspace_read.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace orrery::cli {
namespace {

Expected<void> readWhole(const Arguments& arguments, std::string_view option, std::uint64_t& into) {
    const auto text = arguments.value(option);
    if (!text) return {};
    if (const auto value = wholeIn(*text); value && *value >= 0 && *value <= 1000000000000) {
        into = static_cast<std::uint64_t>(*value);
        return {};
    }
    return fail("usage.value", fmt::format("`--{} {}` is no number", option, *text), "a whole number, 0 to 10^12");
}

}  // namespace

const std::vector<Option>& mapperOptions() {
    static const std::vector<Option> options{
        {"mapper", "NAME",
         "search a mapping: exhaustive, linear-pruned, random-pruned, loop-order, annealing, genetic or optimal "
         "(proves it)"},
        {"objective", "X,…", "by priority: latency, energy, edp, last-level-accesses"},
        {"seed", "N", "of the search; the same seed gives the same mapping"},
        {"evaluations", "N",
         "valid mappings to cost; 0: as many as the mapper usually does; optimal ends with its proof"},
        {"seconds", "S", "end the search of an operator after so long, with the best until then"}};
    return options;
}

Expected<MapperOptions> readMapperOptions(const Arguments& arguments, MapperOptions base) {
    if (const auto name = arguments.value("mapper")) {
        const auto kind = mapperKind(*name);
        if (!kind)
            return fail("usage.value", fmt::format("there is no mapper `{}`", *name),
                        "exhaustive, linear-pruned, random-pruned, loop-order, annealing, genetic or optimal");
        base.kind = *kind;
        // Stop rules of a file were meant for the algorithm that it names.
        base.victory = 0;
        base.timeout = MapperOptions().timeout;
    }
    if (const auto text = arguments.value("objective")) {
        base.objectives.clear();
        for (std::size_t at = 0; at <= text->size();) {
            const std::size_t end = std::min(text->find(',', at), text->size());
            const auto objective = mapObjective(text->substr(at, end - at));
            if (!objective || base.objectives.size() == 4)
                return fail("usage.value", fmt::format("`--objective {}` is no list of objectives", *text),
                            "one to four of latency, energy, edp, last-level-accesses, between commas");
            base.objectives.push_back(*objective);
            at = end + 1;
        }
    }
    if (auto ok = readWhole(arguments, "seed", base.seed); !ok) return tl::unexpected(ok.error());
    if (auto ok = readWhole(arguments, "evaluations", base.evaluations); !ok) return tl::unexpected(ok.error());
    if (const auto text = arguments.value("seconds")) {
        const auto value = numberIn(*text);
        if (!value || !(*value > 0) || !(*value <= 1e6))
            return fail("usage.value", fmt::format("`--seconds {}` is no time", *text),
                        "seconds, more than 0 and at most 10^6");
        base.seconds = *value;
    }
    return base;
}

ProofWatch::ProofWatch() {
    if (::isatty(STDERR_FILENO) == 0) return;
    thread_ = std::jthread([this](const std::stop_token& ended) {
        bool drawn = false;
        while (!ended.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            const double bound = progress_.lowerBound();
            const auto curve = progress_.curve();
            if (!(bound > 0) || curve.empty()) continue;
            const double best = curve.back().objective;
            say(fmt::format("\r\x1b[Kmapping: best {:.6g}, at least {:.6g}, gap {:.2f} %", best, bound,
                            100 * (1 - bound / best)));
            std::fflush(stderr);
            drawn = true;
        }
        if (drawn) say("\r\x1b[K");
    });
}

void addSearch(nlohmann::ordered_json& json, const MapperResult& result, const MapperOptions& options) {
    json["mapper"] = toText(options.kind);
    json["objective"] = toText(options.objectives.front());
    json["value"] = objectiveValue(options.objectives.front(), result.counts);
    json["proven"] = result.proven;
    json["lower_bound"] = result.lowerBound;
    json["edp"] = objectiveValue(MapObjective::Edp, result.counts);
    json["seconds"] = result.seconds;
}

Expected<FoundMapping> searchFor(const TimeloopInput& input, const std::shared_ptr<const SparseDesign>& sparse,
                                 const Arguments& arguments, Watch& watch) {
    const auto inFile = orrery::readMapperOptions(input.root);
    if (!inFile) return tl::unexpected(inFile.error());
    const auto options = readMapperOptions(arguments, *inFile);
    if (!options) return tl::unexpected(options.error());
    auto constraints = readConstraints(input.root, input.problem, input.hardware);
    if (!constraints) return tl::unexpected(std::move(constraints.error()));
    // Compressed tiles may fit where dense ones do not.
    const auto space = Mapspace::make(input.problem, input.hardware, std::move(*constraints), {.prune = !sparse});
    if (!space) return tl::unexpected(space.error());
    const auto executor = makeDefaultExecutor();
    watch.begin("mapping");
    Expected<MapperResultPtr> result;
    {
        ProofWatch proof;
        SearchContext context{*executor, watch.token(), &proof.progress(), nullptr, sparse, &watch.progress()};
        result = searchMappings(*space, *options, context);
    }
    watch.end();
    if (!result) return tl::unexpected(std::move(result.error()));
    return FoundMapping{std::move(*result), *options};
}

std::string searchText(const MapperResult& result, const MapperOptions& options, const NestHardware& hardware) {
    std::string proof;
    if (options.kind == MapperKind::Optimal) {
        const MapObjective objective = options.objectives.front();
        const double value = objectiveValue(objective, result.counts);
        proof = result.proven
                    ? fmt::format("Proven: no mapping has a smaller {} than {:.6g}.\n", toText(objective), value)
                    : fmt::format("Not proven: the {} is {:.6g}, no mapping is below {:.6g}, a gap of {:.2f} %.\n",
                                  toText(objective), value, result.lowerBound, 100 * (1 - result.lowerBound / value));
    }
    return proof + fmt::format("{} mappings examined, {} valid, in {:.2f} s{}; refused: {}\n\n",
                               count(static_cast<double>(result.examined)), count(static_cast<double>(result.valid)),
                               result.seconds,
                               result.cancelled  ? " (interrupted, the best until then)"
                               : result.complete ? " (all there are)"
                                                 : "",
                               refusalText(result.refusals, hardware));
}

}  // namespace orrery::cli
