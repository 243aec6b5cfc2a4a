#include "methods/array/systolic.h"

#include "methods/array/array_kernel.h"
#include "methods/array/systolic_machine.h"
#include "simulation/systolic/closed_form.h"
#include "simulation/systolic/simulate.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

// Least and greatest measured over predicted time of the products and convolutions of arrays that ship as references;
// tests/methods/tst_method_systolic.cpp measures it again. Below 1: where folds overlap, or operands stay on the chip.
struct FoldSides {
    double least, greatest;
    std::string_view basis;
};
constexpr FoldSides ofCycles{0.08, 3.0,
                             "Least measured over predicted time of products and convolutions, greatest as by formula: "
                             "0.08 to 1.13 for 14 of Gemmini's RTL (ONNXim's tests), 0.12 to 1.42 for 6 on one core of "
                             "TPU v3 (PyTorchSim artifact fe04c9a), 0.14 and 0.59 on TPU v5e"};
constexpr FoldSides ofFormula{0.36, 3.0,
                              "Least and greatest measured over predicted time of products and convolutions: 0.36 to "
                              "1.17 for 14 of Gemmini's RTL (ONNXim's tests), 0.50 to 2.97 for 6 on one core of TPU v3 "
                              "(PyTorchSim artifact fe04c9a), 1.09 and 1.12 on TPU v5e"};

struct LayerTime {
    double cycles = 0;  ///< of the array, stalls among them
    double stalls = 0;
    double words = 0;  ///< past main memory; 0 where not known
};

// One layer on one array; `formula` is set where it is too long to be simulated.
Expected<LayerTime> layerTime(systolic::Array array, const systolic::Layer& layer, bool simulates,
                              const std::stop_token& stop, bool& formula) {
    const auto plan = systolic::planFolds(array, layer);
    if (!plan) return tl::unexpected(plan.error());
    // Sums of one column of folds that fit into the output SRAM stay there until they are complete: of what the array
    // writes only one row fold's share goes to memory.
    const std::int64_t columns = std::min(plan->cols, plan->spatialCols);
    const bool sumsStay = plan->dataflow != Dataflow::OutputStationary && plan->temporal * columns <= array.ofmapWords;
    if (sumsStay) array.ofmapBandwidth = std::min<std::int64_t>(array.ofmapBandwidth * plan->rowFolds, 1 << 30);
    const auto timeOf = [&](const systolic::LayerReport& report) {
        LayerTime time;
        time.cycles = static_cast<double>(report.totalCycles + 1);  // reported is the index of the last
        time.stalls = static_cast<double>(report.stallCycles);
        const double outputs = static_cast<double>(report.product.m) * static_cast<double>(report.product.n);
        if (report.dramKnown) {
            time.words =
                report.dramIfmap.words + report.dramFilter.words + (sumsStay ? outputs : report.dramOfmap.words);
        }
        return time;
    };
    if (simulates) {
        systolic::SimulateOptions options;
        options.stop = stop;
        options.mostCycles = std::int64_t{1} << 31;
        const auto report = systolic::simulate(array, layer, options);
        if (report) return timeOf(*report);
        const std::string& code = report.error().code;
        if (code != "systolic.too-long" && code != "systolic.too-large") return tl::unexpected(report.error());
        formula = true;
    }
    const auto report = systolic::closedForm(array, layer);
    if (!report) return tl::unexpected(report.error());
    return timeOf(*report);
}

enum FoldNote : std::int8_t { NoProduct, ByFormula };

class FoldPricer final : public SlowPricer {
public:
    FoldPricer(ArrayDevice device, SystolicMachine shown, bool simulates)
        : device_(std::move(device)), shown_(std::move(shown)), simulates_(simulates) {}

    using SlowPricer::price;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override {
        if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
        if (kernel.kind == KernelKind::Collective) return notPriced(device_, kernel);
        const KernelOperator made = operatorOf(kernel);
        KernelPrice price = arrayRoofline(device_, kernel, made.macs());
        const double elementBytes = std::max(bytesOf(kernel.type, 1).value, 0.125);
        const auto machine = systolicMachine(device_.view, elementBytes);
        if (!machine) return tl::unexpected(machine.error());
        const auto shares =
            made.macs() > 0 ? systolicShares(made.op(), made.graph, *machine) : std::vector<SystolicShare>{};
        if (shares.empty()) {
            price.note = NoProduct;
            return withSides(price);
        }
        double seconds = 0, words = 0, stalled = 0;
        bool formula = false;
        for (const SystolicShare& share : shares) {
            const auto time = layerTime(machine->array, share.layer, simulates_, context.stop, formula);
            if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
            if (!time) return tl::unexpected(time.error());
            const auto rounds = static_cast<double>(share.rounds);
            seconds += rounds * time->cycles / machine->hertz;
            stalled += rounds * time->stalls / machine->hertz;
            words += rounds * time->words * static_cast<double>(share.arraysBusy);
        }
        const double bytes = words > 0 ? words * elementBytes : kernel.bytes();
        const double transfer = bytes / device_.device.main().bandwidth.value;
        const double rest = std::max(0.0, kernel.flops - 2 * made.macs());
        const double vector = rest * device_.rates.vector[static_cast<std::size_t>(kernel.type)];
        const bool memoryBound = transfer > seconds || stalled > seconds / 2;
        price.seconds = std::max({seconds, transfer, vector});
        price.levelBytes[0] = static_cast<float>(bytes);
        price.bound = memoryBound ? Bound{BoundKind::Memory, 0} : Bound{BoundKind::Compute, -1};
        price.busy = static_cast<float>((seconds - stalled) / price.seconds);
        if (formula) price.note = ByFormula;
        return withSides(price);
    }
    std::vector<KernelNote> notes() const override {
        return {{"not matrix products; their roofline is used"},
                {"their shapes are too long to be simulated cycle by cycle", "systolic.by-formula",
                 "They take the time of the closed form, without stalls"}};
    }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> said{
            fmt::format("Products and convolutions run on {} {} arrays of {} x {}, {}", shown_.arrays,
                        title(shown_.array.dataflow), shown_.array.rows, shown_.array.cols,
                        simulates_ ? "cycle by cycle" : "by closed form"),
            "Folds do not overlap: each fills and drains the array; starting a kernel takes no time",
            "Partial sums of a column of folds stay on the chip where the output SRAM holds them",
            simulates_ ? "Each of the three SRAMs may take the whole bandwidth of main memory; together they do not "
                         "exceed it over a kernel"
                       : "Memory is in time, unless a kernel's words exceed the bandwidth"};
        said.insert(said.end(), shown_.assumptions.begin(), shown_.assumptions.end());
        said.insert(said.end(), device_.view.assumptions.begin(), device_.view.assumptions.end());
        return said;
    }
    std::string basis() const override { return std::string(sides().basis); }
    std::vector<std::string> levels() const override { return {device_.mainMemory()}; }
    double correlation(KernelKind) const override { return 1; }
    bool launchInside() const override { return true; }
    PartsRead used() const override { return device_.view.used; }
    bool takesAnyType() const override { return false; }

private:
    // The design's energies are of loop nests' accesses, which this model does not count.
    KernelPrice withSides(KernelPrice price) const {
        price.joules = -1;
        price.low = sides().least * price.seconds;
        price.high = sides().greatest * price.seconds;
        return price;
    }
    const FoldSides& sides() const { return simulates_ ? ofCycles : ofFormula; }

    ArrayDevice device_;
    SystolicMachine shown_;  // of elements as wide as its multipliers, for the words
    bool simulates_;
};

Expected<KernelPricerPtr> bindSystolic(const DeviceRef& place, bool simulates) {
    auto device = arrayDevice(place);
    if (!device) return Unexpected(std::move(device.error()));
    auto shown = systolicMachine(device->view, static_cast<double>(device->view.macBits) / 8);
    if (!shown) return Unexpected(std::move(shown.error()));
    return KernelPricerPtr(std::make_shared<FoldPricer>(std::move(*device), std::move(*shown), simulates));
}
Expected<KernelPricerPtr> bindCycle(const DeviceRef& place, const BindContext&) {
    return bindSystolic(place, true);
}
Expected<KernelPricerPtr> bindClosedForm(const DeviceRef& place, const BindContext&) {
    return bindSystolic(place, false);
}

MethodCard systolicCard() {
    return {
        .methodology = Methodology::CycleAccurate,
        .platforms = {"Accelerator", "TPU", "NPU"},
        .evidence = {{"matrix products and convolutions", "systolic arrays",
                      "exact in 13 quantities of 54 recorded runs of SCALE-Sim 3"}},
        .needs = {"An array, or a tensor unit with a weight-, output- or input-stationary dataflow", "Clock",
                  "Bandwidth of the main memory", "Capacities of the levels on the chip", "Shapes of all tensors"},
        .lineage =
            {"Samajdar et al.: A Systematic Methodology for Characterizing Scalability of DNN Accelerators using "
             "SCALE-Sim, ISPASS 2020",
             "Raj et al.: SCALE-Sim v3, ISPASS 2025", "Kung: Why Systolic Architectures?, IEEE Computer 1982"},
    };
}

}  // namespace

KernelMethod systolicCycleKernels() {
    MethodCard made = systolicCard();
    made.title = "Systolic array, per cycle";
    made.summary =
        "Folds every product and convolution over the array, and simulates cycle by cycle its accesses to "
        "double-buffered SRAMs and its waits for memory. It shows why an array is idle: small extents, filling, or "
        "stalls.";
    made.evidence.push_back({"matrix products and convolutions", "systolic arrays",
                             "exact in every column of 4 golden reports of SCALE-Sim 3, 3 of them with stalls"});
    made.evidence.push_back({"matrix products and convolutions", "TPU", ofCycles.basis});
    made.failureMode =
        "Optimistic about launching and about memory latency, pessimistic where folds overlap or a compiler keeps "
        "activations on the chip. Layers of more than 2 billion cycles take the closed form.";
    made.cost = {.fixed = 1.3e-3, .perKernel = 3.8e-5, .perCycle = 3.3e-8};
    made.live = false;
    return {.id = "systolic-cycle", .version = "3", .binder = bindCycle, .card = std::move(made)};
}

KernelMethod systolicClosedFormKernels() {
    MethodCard made = systolicCard();
    made.title = "Systolic array, closed form";
    made.summary =
        "The cycles of a systolic array by formula: folds times filling, streaming and draining. As exact as the "
        "simulation where memory keeps up, and quick enough to answer while the array is being drawn.";
    made.evidence.push_back({"matrix products and convolutions", "TPU", ofFormula.basis});
    made.failureMode =
        "Knows no stalls beyond an operator's bandwidth as a whole; optimistic about launching, pessimistic where "
        "folds "
        "overlap or a compiler keeps activations on the chip.";
    made.cost = {.fixed = 2.0e-5, .perKernel = 2.1e-6, .perCycle = 1.3e-9};
    made.live = true;
    return {.id = "systolic-closed-form", .version = "3", .binder = bindClosedForm, .card = std::move(made)};
}

}  // namespace orrery
