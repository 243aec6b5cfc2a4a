#include "methods/array/loop_nest.h"

#include "mapping/mapspace_dataflow.h"
#include "methods/answer/answer.h"
#include "methods/array/loop_nest_fusion.h"
#include "methods/roofline/roofline.h"
#include "methods/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace orrery {
namespace {

/// The level that holds an operator up: index into levels outermost first, or -1 where the arithmetic does.
std::int16_t limitOf(const MappedOperator& op) {
    const std::size_t levels = op.hardware.levels.size();
    double most = op.computeCycles();
    std::int16_t limit = -1;
    for (std::size_t l = levels; l-- > 0;) {
        double cycles = 0;
        for (const MappedNest& nest : op.nests) cycles += nest.times * nest.counts().levels[l].cycles;
        if (cycles > most * (1 + 1e-9)) {
            most = cycles;
            limit = static_cast<std::int16_t>(levels - 1 - l);
        }
    }
    return limit;
}

void addReasons(Estimate& answer, const Graph& graph, const std::vector<Expected<MappedOperator>>& mapped) {
    std::set<std::string> types;
    for (std::size_t i = 0; i < mapped.size(); ++i) {
        if (mapped[i]) continue;
        if (mapped[i].error().code == "mapper.not-mappable") {
            if (answer.operators.seconds[i] > 0) types.insert(graph.operators[i].type);
            continue;
        }
        Diagnostic reason = mapped[i].error();
        reason.severity = Severity::Warning;
        reason.place.path = graph.operators[i].name;
        answer.warnings.push_back(std::move(reason));
    }
    if (types.empty()) return;
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : ", ") + type;
    answer.assumptions.push_back("No loop nest, priced by their roofline: " + text);
}

// The first word of each list is the fallback. `exhaustive` is left out: of the few mappings that a method has time to
// cost it would see one corner.
const std::vector<MethodOption>& nestOptions() {
    static const std::vector<MethodOption> options{
        {"mapper",
         "Mapper",
         {"annealing", "genetic", "loop-order", "random-pruned", "linear-pruned"},
         "annealing",
         "How mappings are searched."},
        {"objective",
         "Objective",
         {"latency", "energy", "edp", "last-level-accesses"},
         "latency",
         "What the best mapping is best in; latency decides between equals, and energy after latency."},
        {"factors",
         "Factors",
         {"perfect", "imperfect"},
         "perfect",
         "Imperfect factors need not divide an extent; the search then takes longer."},
        {"fusion", "Fusion", {"off", "on"}, "off", "Activations stay on the chip between neighbours where they fit."}};
    return options;
}

LoopNestOptions optionsOf(const EstimateContext& context) {
    const MethodCard card{.options = nestOptions()};
    LoopNestOptions options;
    options.mapper.seed = context.seed + 1;
    options.mapper.kind = mapperKind(optionOf(card, context, "mapper")).value_or(options.mapper.kind);
    const auto objective = mapObjective(optionOf(card, context, "objective")).value_or(MapObjective::Latency);
    if (objective != MapObjective::Latency) options.mapper.objectives = {objective, MapObjective::Latency};
    options.imperfect = optionOf(card, context, "factors") == "imperfect";
    options.fuseChains = optionOf(card, context, "fusion") == "on";
    return options;
}

Expected<Estimate> estimateLoopNest(const Scenario& scenario, EstimateContext& context) {
    const auto& workload = *scenario.workload;
    const auto view = spatialArrayView(*scenario.hardware);
    if (!view) return tl::unexpected(view.error());
    auto ground = prepare(scenario);
    if (!ground) return tl::unexpected(std::move(ground.error()));
    static MappingCache cache;
    SearchContext search{context.executor, context.stop, nullptr, &cache, {}, nullptr};
    const LoopNestOptions options = optionsOf(context);
    const auto mapped = mapOperators(*view, workload.graph, options, search);
    if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");

    Estimate answer;
    auto& ops = answer.operators;
    const auto fused = options.fuseChains ? fuseChains(workload.graph, mapped) : std::vector<FusedOperator>{};
    priceRoofline(relievedCosts(workload.graph, workload.costs, fused), ground->rates,
                  ground->device.main().bandwidth.value, ops);
    const ArrayHardware array = nestHardware(*view);
    const std::size_t levels = view->levels.size();
    std::vector<std::vector<double>> levelBytes(levels, std::vector<double>(ops.size(), 0.0));
    const double memoryPerByte =
        array.hardware.levels.back().energy.vectorRead * 8 /
        static_cast<double>(array.hardware.levels.back().wordBits * array.hardware.levels.back().blockSize);
    std::vector<double> joules(ops.size(), 0.0);
    std::size_t nests = 0, evaluated = 0, raised = 0, stays = 0;
    double kept = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (!fused.empty()) {
            kept += workload.costs.repeat[i] * fused[i].savedBytes;
            stays += fused[i].outputOnChip && mapped[i] ? 1 : 0;
        }
        levelBytes[0][i] = ops.bytes[i];
        joules[i] = ops.bytes[i] * memoryPerByte;
        if (!mapped[i]) continue;
        const MappedOperator& op = *mapped[i];
        const double repeat = workload.costs.repeat[i];
        const double cycles = fused.empty() ? op.cycles() : fused[i].cycles;
        const double seconds = repeat * cycles / view->clock.value;
        // The nest leaves out biases, padding and scores that are written; the bound does not.
        if (seconds >= ops.seconds[i]) {
            ops.seconds[i] = seconds;
            const std::int16_t limit = limitOf(op);
            ops.bound[i] = limit < 0 ? Bound{BoundKind::Compute, -1} : Bound{BoundKind::Memory, limit};
        } else {
            ++raised;
        }
        for (std::size_t l = 0; l < levels; ++l) levelBytes[l][i] = repeat * op.bytes(levels - 1 - l);
        if (!fused.empty()) levelBytes[0][i] -= repeat * fused[i].savedBytes;
        ops.bytes[i] = levelBytes[0][i];
        joules[i] = repeat * (fused.empty() ? op.energy() : fused[i].energy);
        nests += op.nests.size();
        for (const MappedNest& nest : op.nests) evaluated += nest.search->valid;
    }

    answer.levels = {ground->device.main().name};
    answer.assumptions = {
        fmt::format("Each of {} loop nests runs by the best of the mappings that {} found ({} costed, seed {}), one "
                    "after the other",
                    nests, toText(options.mapper.kind), evaluated, options.mapper.seed),
        "Levels are double buffered and overlap with the arithmetic; filling and draining the array take no time"};
    if (view->dataflow)
        answer.assumptions.push_back(
            fmt::format("The array is unrolled as its dataflow, {}, says", toText(*view->dataflow)));
    answer.assumptions.insert(answer.assumptions.end(), view->assumptions.begin(), view->assumptions.end());
    answer.assumptions.insert(answer.assumptions.end(), array.assumptions.begin(), array.assumptions.end());
    if (raised > 0)
        answer.assumptions.push_back(
            fmt::format("{} operators take their roofline, which counts biases and padding that "
                        "their nests do not",
                        raised));
    if (!fused.empty())
        answer.assumptions.push_back(
            fmt::format("{} activations stay on the chip between neighbours; {} less cross main memory", stays,
                        format(Bytes(kept))));
    if (options.imperfect) answer.assumptions.push_back("Factors of a loop need not divide its extent");
    if (!array.energies && options.mapper.objectives.front() != MapObjective::Latency &&
        options.mapper.objectives.front() != MapObjective::LastLevelAccesses) {
        answer.warnings.push_back({Severity::Warning,
                                   "mapper.objective",
                                   "the design states no energies; mappings were searched for latency",
                                   "an energy per access of every memory and per operation",
                                   "Give the array an energy table",
                                   {}});
    }
    addReasons(answer, workload.graph, mapped);
    if (array.energies) {
        ops.joules = joules;
        Joules total;
        for (const double each : joules) total += Joules(each);
        answer.energy = total;
        answer.assumptions.push_back(
            "Energy counts accesses of every level and multiply-accumulates of the nests, and of "
            "other operators the bytes of main memory; no idle power");
    }
    const auto energy = answer.energy;
    ground->read.add(view->used);
    finishAnswer(answer, workload, *ground, "loop-nest", IntervalKind::StatedError, context.wantTimeline);
    if (energy) {
        answer.energy = energy;
        ops.joules = joules;
    }
    answer.interval.basis =
        "No error against measured machines is known; the counts are those of Timeloop v3.0.3, exact on its recorded "
        "cases, and the machine may differ from the model";
    for (std::size_t l = 1; l < levels; ++l) answer.levels.push_back(view->levels[l].name);
    ops.levelBytes = std::move(levelBytes);
    return answer;
}

}  // namespace

Method loopNestMethod() {
    return {
        {
            .id = "loop-nest",
            .title = "Loop nests",
            .methodology = Methodology::Analytical,
            .level = MethodLevel::Model,
            .summary =
                "Searches a mapping of every matrix product, convolution and attention onto the array and its "
                "memories, and counts what each level reads and writes. Ask it which buffer, bandwidth or dataflow "
                "an accelerator needs.",
            .platforms = {"Accelerator", "TPU"},
            .evidence =
                {{"convolutions and matrix products", "Accelerator",
                  "cycles and every read, fill and update equal to those of Timeloop v3.0.3 on 16 recorded cases, "
                  "energy within 0.1 %; no measured machine"}},
            .needs = {"An array with a mesh, or a tensor unit with a dataflow", "Capacity of every memory level",
                      "Bandwidth of the main memory", "Shapes of all tensors"},
            .failureMode =
                "Optimistic where filling and draining the array, bank conflicts or the network between elements "
                "cost time; pessimistic for extents with few divisors, unless factors are imperfect; as good as the "
                "mapping that was found, which a compiler may miss.",
            .lineage = {"Parashar et al.: Timeloop, ISPASS 2019", "Chen et al.: Eyeriss, ISCA 2016",
                        "Horeni et al.: Ruby, ISPASS 2022"},
            .expectedCost = "tens of milliseconds per distinct operator",
            .version = "2",
            .live = false,
            .options = nestOptions(),
        },
        &estimateLoopNest};
}

}  // namespace orrery
