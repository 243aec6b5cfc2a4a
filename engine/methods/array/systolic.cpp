#include "methods/array/systolic.h"

#include "hardware/views/spatial_array_view.h"
#include "methods/answer/answer.h"
#include "methods/roofline/roofline.h"
#include "methods/array/systolic_machine.h"
#include "simulation/systolic/closed_form.h"
#include "simulation/systolic/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace orrery {

namespace {

// Measured over predicted time; tests/methods/tst_method_systolic.cpp measures it again. Nothing is faster than its
// array.
constexpr double leastRatio = 1.0;
constexpr double greatestRatio = 3.0;
constexpr std::string_view basis =
    "From the prediction, which counts neither launching nor the latency of memory, to 3 times it: measured over "
    "predicted time is 1.02 to 2.43 for 4 products of 2048 down to 256 on a side and 1.06 to 2.97 for 2 convolutions "
    "on "
    "one core of TPU v3 (PyTorchSim artifact fe04c9a)";

struct LayerTime {
    double cycles = 0;  ///< of the array, stalls among them
    double stalls = 0;
    double words = 0;  ///< past main memory; 0 where not known
};

/// Equal layers are answered once.
class Runner {
public:
    Runner(bool simulates, std::stop_token stop) : simulates_(simulates), stop_(std::move(stop)) {}

    Expected<LayerTime> run(const systolic::Array& array, const systolic::Layer& layer) {
        const std::array key{layer.ifmapHeight, layer.ifmapWidth,  layer.filterHeight, layer.filterWidth,
                             layer.channels,    layer.filters,     layer.strideHeight, layer.strideWidth,
                             array.ifmapWords,  array.filterWords, array.ofmapWords,   array.ifmapBandwidth};
        const auto known = times_.find(key);
        if (known != times_.end()) return known->second;
        const auto time = answer(array, layer);
        if (time) times_.emplace(key, *time);
        return time;
    }
    std::size_t formulas() const { return formulas_; }

private:
    Expected<LayerTime> answer(systolic::Array array, const systolic::Layer& layer) {
        const auto plan = systolic::planFolds(array, layer);
        if (!plan) return tl::unexpected(plan.error());
        // Sums of one column of folds that fit into the output SRAM stay there until they are complete: of what the
        // array writes only one row fold's share goes to memory.
        const std::int64_t columns = std::min(plan->cols, plan->spatialCols);
        const bool sumsStay =
            plan->dataflow != systolic::Dataflow::OutputStationary && plan->temporal * columns <= array.ofmapWords;
        if (sumsStay) array.ofmapBandwidth = std::min<std::int64_t>(array.ofmapBandwidth * plan->rowFolds, 1 << 30);
        if (simulates_) {
            systolic::SimulateOptions options;
            options.stop = stop_;
            options.mostCycles = std::int64_t{1} << 31;
            const auto report = systolic::simulate(array, layer, options);
            if (report) return timeOf(*report, sumsStay);
            const std::string& code = report.error().code;
            if (code != "systolic.too-long" && code != "systolic.too-large") return tl::unexpected(report.error());
            ++formulas_;
        }
        const auto report = systolic::closedForm(array, layer);
        if (!report) return tl::unexpected(report.error());
        return timeOf(*report, sumsStay);
    }
    static LayerTime timeOf(const systolic::LayerReport& report, bool sumsStay) {
        LayerTime time;
        time.cycles = static_cast<double>(report.totalCycles + 1);  // reported is the index of the last
        time.stalls = static_cast<double>(report.stallCycles);
        const double outputs = static_cast<double>(report.product.m) * static_cast<double>(report.product.n);
        if (report.dramKnown) {
            time.words =
                report.dramIfmap.words + report.dramFilter.words + (sumsStay ? outputs : report.dramOfmap.words);
        }
        return time;
    }

    bool simulates_;
    std::stop_token stop_;
    std::size_t formulas_ = 0;
    std::map<std::array<std::int64_t, 12>, LayerTime> times_;
};

void addWords(Estimate& answer, const SystolicMachine& machine, bool simulates, std::size_t products,
              const std::vector<std::string>& others) {
    auto& said = answer.assumptions;
    said.push_back(fmt::format("{} products and convolutions run on {} {} arrays of {} x {}, {}", products,
                               machine.arrays, title(machine.array.dataflow), machine.array.rows, machine.array.cols,
                               simulates ? "cycle by cycle" : "by closed form"));
    said.push_back("Folds do not overlap: each fills and drains the array");
    said.push_back("Partial sums of a column of folds stay on the chip where the output SRAM holds them");
    said.push_back(simulates ? "Each of the three SRAMs may take the whole bandwidth of main memory; together they do "
                               "not exceed it over an operator"
                             : "Memory is in time, unless an operator's words exceed the bandwidth");
    said.insert(said.end(), machine.assumptions.begin(), machine.assumptions.end());
    if (others.empty()) return;
    std::string text;
    for (const std::string& type : others) text += (text.empty() ? "" : ", ") + type;
    said.push_back("No product of matrices, priced by their roofline: " + text);
}

Expected<Estimate> estimateSystolic(const Scenario& scenario, EstimateContext& context, bool simulates,
                                    std::string_view id) {
    const Workload& workload = *scenario.workload;
    const auto view = spatialArrayView(*scenario.hardware);
    if (!view) return tl::unexpected(view.error());
    auto ground = prepare(scenario);
    if (!ground) return tl::unexpected(std::move(ground.error()));
    const CostTable& costs = workload.costs;
    const double memory = ground->device.main().bandwidth.value;

    Estimate answer;
    auto& ops = answer.operators;
    answer.levels = {ground->device.main().name};
    priceRoofline(costs, ground->rates, memory, ops);
    Runner runner(simulates, context.stop);
    if (context.progress) context.progress->setTotal(costs.size());
    std::vector<std::string> others;
    std::size_t products = 0;
    double busy = 0;
    SystolicMachine shown;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
        if (context.progress) context.progress->advance();
        const Operator& op = workload.graph.operators[i];
        const double elementBytes = std::max(bytesOf(costs.type[i], 1).value, 0.125);
        auto machine = systolicMachine(*view, elementBytes);
        if (!machine) return tl::unexpected(std::move(machine.error()));
        const auto shares =
            costs.macs[i] > 0 ? systolicShares(op, workload.graph, *machine) : std::vector<SystolicShare>{};
        if (shares.empty()) {
            const bool costly = ops.seconds[i] > 0;
            if (costly && std::find(others.begin(), others.end(), op.type) == others.end()) others.push_back(op.type);
            continue;
        }
        double seconds = 0, words = 0, stalled = 0;
        for (const SystolicShare& share : shares) {
            const auto time = runner.run(machine->array, share.layer);
            if (!time) return tl::unexpected(time.error());
            const auto rounds = static_cast<double>(share.rounds);
            seconds += rounds * time->cycles / machine->hertz;
            stalled += rounds * time->stalls / machine->hertz;
            words += rounds * time->words * static_cast<double>(share.arraysBusy);
        }
        ++products;
        if (shown.hertz == 0) shown = std::move(*machine);
        const double repeat = costs.repeat[i];
        const double bytes = words > 0 ? words * elementBytes : costs.bytes(i);
        const double transfer = bytes / memory;
        const double rest = std::max(0.0, costs.flops[i] - 2 * costs.macs[i]);
        const auto type = static_cast<std::size_t>(costs.type[i]);
        const double vector = rest * ground->rates.vector[type];
        const bool memoryBound = transfer > seconds || stalled > seconds / 2;
        busy += repeat * (seconds - stalled);
        seconds = std::max({seconds, transfer, vector});
        ops.seconds[i] = repeat * seconds;
        ops.bytes[i] = repeat * bytes;
        ops.bound[i] = memoryBound ? Bound{BoundKind::Memory, 0} : Bound{BoundKind::Compute, -1};
    }
    if (shown.hertz == 0) {
        auto machine = systolicMachine(*view, 1);
        if (!machine) return tl::unexpected(std::move(machine.error()));
        shown = std::move(*machine);
    }
    addWords(answer, shown, simulates, products, others);
    answer.assumptions.insert(answer.assumptions.end(), view->assumptions.begin(), view->assumptions.end());
    ground->read.add(view->used);
    finishAnswer(answer, workload, *ground, id, IntervalKind::StatedError, context.wantTimeline);
    std::erase_if(answer.warnings, [](const Diagnostic& d) { return d.code == "method.unmeasured"; });
    answer.interval = {answer.latency * leastRatio, answer.latency * greatestRatio, IntervalKind::StatedError,
                       std::string(basis)};
    if (runner.formulas() > 0) {
        answer.warnings.push_back(
            warning("systolic.by-formula",
                    fmt::format("{} shapes are too long to be simulated cycle by cycle", runner.formulas()),
                    "They take the time of the closed form, without stalls"));
    }
    answer.figures.push_back(
        {"Array working", answer.latency.value > 0 ? busy / answer.latency.value : 0, Dimension::Fraction, {}});
    return answer;
}

Expected<Estimate> estimateCycle(const Scenario& scenario, EstimateContext& context) {
    return estimateSystolic(scenario, context, true, "systolic-cycle");
}
Expected<Estimate> estimateClosedForm(const Scenario& scenario, EstimateContext& context) {
    return estimateSystolic(scenario, context, false, "systolic-closed-form");
}

MethodCard card() {
    return {
        .methodology = Methodology::CycleAccurate,
        .level = MethodLevel::Model,
        .platforms = {"Accelerator", "TPU", "NPU"},
        .evidence =
            {{"matrix products and convolutions", "systolic arrays",
              "exact in 13 quantities of 54 recorded runs of SCALE-Sim 3"},
             {"matrix products and convolutions", "TPU",
              "measured over predicted time 1.02 to 2.97 over 6 rows of one core of TPU v3 (PyTorchSim artifact "
              "fe04c9a): the smaller the product and the fewer its channels, the more is lost"}},
        .needs = {"An array, or a tensor unit with a weight-, output- or input-stationary dataflow", "Clock",
                  "Bandwidth of the main memory", "Capacities of the levels on the chip", "Shapes of all tensors"},
        .lineage =
            {"Samajdar et al.: A Systematic Methodology for Characterizing Scalability of DNN Accelerators using "
             "SCALE-Sim, ISPASS 2020",
             "Raj et al.: SCALE-Sim v3, ISPASS 2025", "Kung: Why Systolic Architectures?, IEEE Computer 1982"},
        .version = "1",
    };
}

}  // namespace

Method systolicCycleMethod() {
    MethodCard made = card();
    made.id = "systolic-cycle";
    made.title = "Systolic array, per cycle";
    made.summary =
        "Folds every product and convolution over the array and counts cycle by cycle what it asks of double-buffered "
        "SRAMs and how long it waits for memory. Ask it why an array stands idle: small extents, filling, or stalls.";
    made.evidence.push_back({"matrix products and convolutions", "systolic arrays",
                             "exact in every column of 4 golden reports of SCALE-Sim 3, 3 of them with stalls"});
    made.failureMode =
        "Optimistic about launching and about memory latency, pessimistic where folds overlap or a compiler keeps "
        "activations on the chip. Layers of more than 2 billion cycles take the closed form.";
    made.expectedCost = "a second per 20 million cycles of the array";
    made.live = false;
    return {made, &estimateCycle};
}

Method systolicClosedFormMethod() {
    MethodCard made = card();
    made.id = "systolic-closed-form";
    made.title = "Systolic array, closed form";
    made.summary =
        "The cycles of a systolic array by formula: folds times filling, streaming and draining. As exact as the "
        "simulation where memory keeps up, and quick enough to answer while the array is being drawn.";
    made.failureMode =
        "Knows no stalls beyond an operator's bandwidth as a whole; optimistic about launching, pessimistic where "
        "folds "
        "overlap or a compiler keeps activations on the chip.";
    made.expectedCost = "microseconds per fold of the array";
    made.live = true;
    return {made, &estimateClosedForm};
}

}  // namespace orrery
