#include "methods/array/data_centric.h"

#include "methods/array/array_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {
namespace {

// Least and greatest measured ÷ predicted of the rows that the card names; tests/methods/tst_method_data_centric.cpp
// measures them again.
constexpr double leastFlowRatio = 0.53, greatestFlowRatio = 3.8;
constexpr std::array<FlowLayerKind, 3> flowKinds{FlowLayerKind::Convolution, FlowLayerKind::Depthwise,
                                                 FlowLayerKind::Product};

struct FlowChoice {
    FlowCounts counts;
    std::int8_t dataflow = 0;  // into the pricer's
};

// The longest of what a step waits for, in the mean.
Bound boundOf(const FlowCounts& counts) {
    if (counts.compute.mean >= std::max(counts.ingress.mean, counts.egress.mean)) {
        const double waiting = counts.compute.mean * counts.steps;
        if (waiting >= 0.5 * counts.cycles) return {BoundKind::Compute, -1};
    }
    return {BoundKind::Memory, 0};
}

class FlowPricer final : public SlowPricer {
public:
    explicit FlowPricer(ArrayDevice device) : device_(std::move(device)), allowed_(dataflowsOf(device_.view)) {
        // Clusters as long as a side of the array where the dataflow leaves it open.
        for (const StockDataflow* stock : allowed_) {
            const std::int64_t side = stock->id == "yxp-os" ? device_.view.columns : device_.view.rows;
            auto& kinds = parsed_.emplace_back();
            for (std::size_t k = 0; k < flowKinds.size(); ++k) kinds[k] = directivesOf(*stock, flowKinds[k], side);
        }
    }

    using SlowPricer::price;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override {
        if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
        if (kernel.kind == KernelKind::Collective) return notPriced(device_, kernel);
        const KernelOperator made = operatorOf(kernel);
        KernelPrice price = arrayRoofline(device_, kernel, made.macs());
        price.note = static_cast<std::int8_t>(allowed_.size());
        const double bytesPerWord = static_cast<double>(bits(kernel.type)) / 8;
        const auto nests = nestsOf(made.op(), made.graph);
        double cycles = 0, energy = 0;
        for (const OperatorNest& nest : nests) {
            auto layer = flowLayer(nest.problem);
            const auto choice = layer ? fastest(*layer, bytesPerWord, context.stop) : std::nullopt;
            if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
            if (!choice) return withSides(price);
            cycles += nest.times * choice->counts.cycles;
            energy += nest.times * choice->counts.energy;
            price.note = choice->dataflow;
            price.bound = boundOf(choice->counts);
        }
        if (nests.empty()) return withSides(price);
        const double seconds = cycles / device_.view.clock.value;
        if (seconds < price.seconds) price.note = static_cast<std::int8_t>(allowed_.size() + 1);
        price.seconds = std::max(price.seconds, seconds);
        if (device_.array.energies) price.joules += energy;
        const double peak = device_.view.clock.value * static_cast<double>(device_.view.macs());
        price.busy = static_cast<float>(std::min(1.0, made.macs() / peak / price.seconds));
        return withSides(price);
    }
    std::vector<KernelNote> notes() const override {
        std::vector<KernelNote> notes;
        for (const StockDataflow* stock : allowed_) {
            notes.push_back({fmt::format("fastest by the dataflow {}", stock->id)});
        }
        notes.push_back({"neither convolution nor product; their roofline is used"});
        notes.push_back({"they take their roofline, which counts biases and padding that their layers do not"});
        return notes;
    }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> said;
        if (device_.view.dataflow && allowed_.size() < stockDataflows().size()) {
            said.push_back(
                fmt::format("Only dataflows that are {} are tried, as the array says", toText(*device_.view.dataflow)));
        }
        said.push_back(
            "Double buffers hide the network behind the arithmetic, the first step of every cluster excepted; main "
            "memory moves every operand once, behind all of it; starting a kernel takes no time");
        flowHardware(device_.view, static_cast<double>(device_.view.macBits) / 8, &said);
        said.insert(said.end(), device_.view.assumptions.begin(), device_.view.assumptions.end());
        if (device_.array.energies) {
            said.push_back(
                "Energy counts multiply-accumulates, accesses of the elements' and the shared memory, and the bytes of "
                "main memory once; no idle power");
        }
        return said;
    }
    std::string basis() const override {
        return "Least and greatest measured over predicted time of products and convolutions: 14 of Gemmini's RTL "
               "(ONNXim's tests) and 6 measured on TPU v3 (PyTorchSim artifact fe04c9a)";
    }
    std::vector<std::string> levels() const override { return {device_.mainMemory()}; }
    double correlation(KernelKind) const override { return 1; }
    bool launchInside() const override { return true; }
    PartsRead used() const override { return device_.view.used; }
    bool takesAnyType() const override { return false; }

private:
    std::optional<FlowChoice> fastest(FlowLayer& layer, double bytesPerWord, const std::stop_token& stop) const {
        layer.name.clear();
        const FlowHardware hardware = flowHardware(device_.view, bytesPerWord);
        const auto kind = std::find(flowKinds.begin(), flowKinds.end(), layer.kind) - flowKinds.begin();
        std::optional<FlowChoice> best;
        FlowAnalysis analysis;
        for (std::size_t i = 0; i < allowed_.size() && !stop.stop_requested(); ++i) {
            const DirectiveDataflow& dataflow = parsed_[i][static_cast<std::size_t>(kind)];
            const auto bound = orrery::bind(dataflow, layer);
            if (!bound) continue;
            const auto counts = analysis(layer, *bound, hardware, dataflow.file);
            if (counts && (!best || counts->cycles < best->counts.cycles)) {
                best = FlowChoice{*counts, static_cast<std::int8_t>(i)};
            }
        }
        return best;
    }
    static KernelPrice withSides(KernelPrice price) {
        price.low = leastFlowRatio * price.seconds;
        price.high = greatestFlowRatio * price.seconds;
        return price;
    }

    ArrayDevice device_;
    std::vector<const StockDataflow*> allowed_;
    std::vector<std::array<DirectiveDataflow, flowKinds.size()>> parsed_;  // of each of allowed_, by flowKinds
};

Expected<KernelPricerPtr> bindDataCentric(const DeviceRef& place, const BindContext&) {
    auto device = arrayDevice(place);
    if (!device) return Unexpected(std::move(device.error()));
    return KernelPricerPtr(std::make_shared<FlowPricer>(std::move(*device)));
}

MethodCard dataCentricCard() {
    return {
        .title = "Data-centric dataflows",
        .methodology = Methodology::Analytical,
        .summary =
            "Prices every convolution and product under the dataflows of NVDLA, ShiDianNao, Eyeriss and others, "
            "and takes the fastest that the array can run. Ask it which dataflow suits a layer, in microseconds.",
        .platforms = {"Accelerator", "TPU"},
        .evidence = {{"convolutions and matrix products", "Accelerator",
                      "cycles equal to those of MAESTRO (snapshot of 2022-08-27) on 158 of 159 layers, "
                      "multiply-accumulates exact on all"},
                     {"layers of CNNs and transformers", "Gemmini",
                      "MAPE 7.6 % over 14 int8 layers in RTL simulation (ONNXim's tests), worst -52 % for a product of "
                      "one row, which waits for its weights"},
                     {"matrix products and convolutions", "TPU",
                      "MAPE 48 % over 6 rows measured on one core of TPU v3 (PyTorchSim artifact fe04c9a), worst +87 "
                      "%; products of 256 and 512 are too fast by 2 to 4 times"}},
        .needs = {"An array with a mesh, or a tensor unit with a dataflow", "Bandwidth of the shared buffer",
                  "Bandwidth of the main memory", "Shapes of all tensors"},
        .failureMode =
            "Six fixed dataflows, not the best mapping; the pipeline of a cluster fills anew in every step. "
            "Takes main memory for ideal: what does not fit into the shared buffer is not fetched again. "
            "Sees no bank conflicts.",
        .lineage = {"Kwon et al.: Understanding Reuse, Performance, and Hardware Cost of DNN Dataflow, MICRO 2019",
                    "Kwon et al.: MAESTRO, IEEE Micro 40(3), 2020"},
        .cost = {.fixed = 6.3e-5, .perKernel = 6.0e-6},
        .live = true,
    };
}

}  // namespace

KernelMethod dataCentricKernels() {
    return {.id = "data-centric", .version = "2", .binder = bindDataCentric, .card = dataCentricCard()};
}

}  // namespace orrery
