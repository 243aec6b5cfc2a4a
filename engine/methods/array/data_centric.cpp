#include "methods/array/data_centric.h"

#include "base/dtype.h"
#include "mapping/mapspace_dataflow.h"
#include "methods/answer/answer.h"
#include "methods/roofline/roofline.h"
#include "methods/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {
namespace {

struct Choice {
    FlowCounts counts;
    const StockDataflow* dataflow = nullptr;
};

/// Prices layers under every allowed dataflow; equal layers once.
class Pricer {
public:
    explicit Pricer(const SpatialArrayView& view) : view_(view), allowed_(dataflowsOf(view)) {}

    Expected<Choice> price(FlowLayer layer, double bytesPerWord) {
        layer.name.clear();
        const Key key{layer.extents, layer.kind, layer.strideY, layer.strideX, bytesPerWord};
        if (const auto known = known_.find(key); known != known_.end()) return known->second;
        const FlowHardware hardware = flowHardware(view_, bytesPerWord);
        Expected<Choice> best = fail("data-centric.none", "no stock dataflow fits");
        for (const StockDataflow* stock : allowed_) {
            const auto& dataflow = of(*stock, layer.kind);
            const auto bound = bind(dataflow, layer);
            const auto counts =
                bound ? analysis_(layer, *bound, hardware, dataflow.file) : tl::unexpected(bound.error());
            if (!counts) {
                if (!best) best = tl::unexpected(counts.error());
            } else if (!best || counts->cycles < best->counts.cycles) {
                best = Choice{*counts, stock};
            }
        }
        known_.emplace(key, best);
        return best;
    }
    const std::vector<const StockDataflow*>& allowed() const { return allowed_; }

private:
    using Key = std::tuple<std::array<std::int64_t, flowDims>, FlowLayerKind, std::int64_t, std::int64_t, double>;

    /// Clusters as long as a side of the array where the dataflow leaves it open.
    const DirectiveDataflow& of(const StockDataflow& stock, FlowLayerKind kind) {
        const bool output = stock.id == "yxp-os";
        const auto [at, added] = parsed_.try_emplace({stock.id, kind});
        if (added) at->second = directivesOf(stock, kind, output ? view_.columns : view_.rows);
        return at->second;
    }

    const SpatialArrayView& view_;
    std::vector<const StockDataflow*> allowed_;
    std::map<std::pair<std::string_view, FlowLayerKind>, DirectiveDataflow> parsed_;
    std::map<Key, Expected<Choice>> known_;
    FlowAnalysis analysis_;
};

// The longest of what a step waits for, in the mean.
Bound boundOf(const FlowCounts& counts, double cycles) {
    if (counts.compute.mean >= std::max(counts.ingress.mean, counts.egress.mean) && counts.cycles <= cycles * 1.001) {
        const double waiting = counts.compute.mean * counts.steps;
        if (waiting >= 0.5 * counts.cycles) return {BoundKind::Compute, -1};
    }
    return {BoundKind::Memory, 0};
}

struct Tally {
    std::map<std::string_view, std::size_t> layers;  ///< by dataflow
    std::set<std::string> unpriced;                  ///< types without a layer
    std::size_t raised = 0;
    double energy = 0;
};

void addWords(Estimate& answer, const SpatialArrayView& view, const Pricer& pricer, const Tally& tally) {
    auto& said = answer.assumptions;
    std::string text;
    for (const auto& [id, layers] : tally.layers) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", layers, id);
    if (!text.empty()) said.push_back("Layers by the dataflow that is fastest for them: " + text);
    if (view.dataflow && pricer.allowed().size() < stockDataflows().size()) {
        said.push_back(fmt::format("Only dataflows that are {} are tried, as the array says", toText(*view.dataflow)));
    }
    said.push_back(
        "Double buffers hide the network behind the arithmetic, the first step of every cluster excepted; main memory "
        "moves every operand once, behind all of it");
    flowHardware(view, static_cast<double>(view.macBits) / 8, &said);
    said.insert(said.end(), view.assumptions.begin(), view.assumptions.end());
    if (tally.raised > 0) {
        said.push_back(
            fmt::format("{} operators take their roofline, which counts biases and padding that their layers do not",
                        tally.raised));
    }
    text.clear();
    for (const std::string& type : tally.unpriced) text += (text.empty() ? "" : ", ") + type;
    if (!text.empty()) said.push_back("No convolution and no product, priced by their roofline: " + text);
}

// Least and greatest measured ÷ predicted of the rows that the card names; tests/methods/tst_method_data_centric.cpp
// measures them again.
constexpr double leastRatio = 0.53, greatestRatio = 3.8;

void addInterval(Estimate& answer) {
    answer.interval = {
        answer.latency * leastRatio, answer.latency * greatestRatio, IntervalKind::StatedError,
        "Least and greatest measured over predicted time of products and convolutions: 14 of Gemmini's RTL "
        "(ONNXim's tests) and 6 measured on TPU v3 (PyTorchSim artifact fe04c9a)"};
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "method.unmeasured"; });
}

Expected<Estimate> estimateDataCentric(const Scenario& scenario, EstimateContext& context) {
    const Workload& workload = *scenario.workload;
    const auto view = spatialArrayView(*scenario.hardware);
    if (!view) return tl::unexpected(view.error());
    auto ground = prepare(scenario);
    if (!ground) return tl::unexpected(std::move(ground.error()));

    Estimate answer;
    answer.levels = {ground->device.main().name};
    auto& ops = answer.operators;
    priceRoofline(workload.costs, ground->rates, ground->device.main().bandwidth.value, ops);
    Pricer pricer(*view);
    Tally tally;
    const ArrayHardware array = nestHardware(*view);
    const NestLevel& memory = array.hardware.levels.back();
    const double perByte = memory.energy.vectorRead * 8 / static_cast<double>(memory.wordBits * memory.blockSize);
    std::vector<double> joules(ops.size(), 0.0);
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
        joules[i] = ops.bytes[i] * perByte;
        const Operator& op = workload.graph.operators[i];
        const auto nests = nestsOf(op, workload.graph);
        const double bytesPerWord = static_cast<double>(bits(workload.costs.type[i])) / 8;
        double cycles = 0, energy = 0;
        bool priced = !nests.empty();
        Bound bound;
        for (const OperatorNest& nest : nests) {
            const auto layer = flowLayer(nest.problem);
            const auto choice =
                layer ? pricer.price(*layer, bytesPerWord) : fail("data-centric.form", "another form of nest");
            if (!choice) {
                priced = false;
                break;
            }
            ++tally.layers[choice->dataflow->id];
            cycles += nest.times * choice->counts.cycles;
            energy += nest.times * choice->counts.energy;
            bound = boundOf(choice->counts, choice->counts.cycles);
        }
        if (!priced) {
            if (ops.seconds[i] > 0) tally.unpriced.insert(op.type);
            continue;
        }
        const double repeat = workload.costs.repeat[i];
        const double seconds = repeat * cycles / view->clock.value;
        joules[i] += repeat * energy;
        if (seconds >= ops.seconds[i]) {
            ops.seconds[i] = seconds;
            ops.bound[i] = bound;
        } else {
            ++tally.raised;
        }
    }
    addWords(answer, *view, pricer, tally);
    ground->read.add(view->used);
    finishAnswer(answer, workload, *ground, "data-centric", IntervalKind::StatedError, context.wantTimeline);
    addInterval(answer);
    if (array.energies) {
        ops.joules = joules;
        Joules total;
        for (const double each : joules) total += Joules(each);
        answer.energy = total;
        answer.assumptions.push_back(
            "Energy counts multiply-accumulates, accesses of the elements' and the shared memory, and "
            "the bytes of main memory once; no idle power");
    }
    return answer;
}

}  // namespace

Method dataCentricMethod() {
    return {
        {
            .id = "data-centric",
            .title = "Data-centric dataflows",
            .methodology = Methodology::Analytical,
            .level = MethodLevel::Model,
            .summary = "Prices every convolution and product under the dataflows of NVDLA, ShiDianNao, Eyeriss and "
                       "others, and takes "
                       "the fastest that the array can run. Ask it which dataflow suits a layer, in microseconds.",
            .platforms = {"Accelerator", "TPU"},
            .evidence =
                {{"convolutions and matrix products", "Accelerator",
                  "cycles equal to those of MAESTRO (snapshot of 2022-08-27) on 158 of 159 layers, "
                  "multiply-accumulates exact on all"},
                 {"layers of CNNs and transformers", "Gemmini",
                  "MAPE 7.6 % over 14 int8 layers in RTL simulation (ONNXim's tests), worst -52 % for a product of one "
                  "row, which waits for its weights"},
                 {"matrix products and convolutions", "TPU",
                  "MAPE 48 % over 6 rows measured on one core of TPU v3 (PyTorchSim artifact fe04c9a), worst +87 %; "
                  "products of 256 and 512 are too fast by 2 to 4 times"}},
            .needs = {"An array with a mesh, or a tensor unit with a dataflow", "Bandwidth of the shared buffer",
                      "Bandwidth of the main memory", "Shapes of all tensors"},
            .failureMode = "Six fixed dataflows, not the best mapping; the pipeline of a cluster fills anew in every "
                           "step. Takes main "
                           "memory for ideal: what does not fit into the shared buffer is not fetched again. Sees no "
                           "bank conflicts.",
            .lineage = {"Kwon et al.: Understanding Reuse, Performance, and Hardware Cost of DNN Dataflow, MICRO 2019",
                        "Kwon et al.: MAESTRO, IEEE Micro 40(3), 2020"},
            .expectedCost = "tens of microseconds per distinct operator",
            .version = "1",
            .live = true,
        },
        &estimateDataCentric};
}

}  // namespace orrery
