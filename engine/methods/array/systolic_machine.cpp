#include "methods/array/systolic_machine.h"

#include "base/maths.h"
#include "simulation/systolic/folds.h"
#include "workload/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

std::int64_t whole(double value) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(value, 1.0, 9e15)));
}

std::int64_t sramWords(const SpatialArrayView& view, std::uint32_t operand, std::string_view name, double elementBytes,
                       std::vector<std::string>& assumptions) {
    for (std::size_t i = 1; i < view.levels.size(); ++i) {
        const ArrayLevel& level = view.levels[i];
        if (level.implied || level.capacity.value <= 0 || (level.keeps != 0 && (level.keeps & operand) == 0)) continue;
        const std::uint32_t keeps = level.keeps == 0 ? keepsInputs | keepsWeights | keepsOutputs : level.keeps;
        const int sharers = static_cast<int>((keeps & keepsInputs) != 0) +
                            static_cast<int>((keeps & keepsWeights) != 0) +
                            static_cast<int>((keeps & keepsOutputs) != 0);
        const double perArray = static_cast<double>(std::max(level.instances, std::int64_t{1})) /
                                static_cast<double>(std::max(view.arrays, std::int64_t{1}));
        const double words = level.capacity.value * perArray / elementBytes / sharers;
        assumptions.push_back(fmt::format("{} has {:.0f} words of {} per array", name, words, level.name));
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(words), 128, std::int64_t{1} << 40);
    }
    const std::int64_t words = std::max<std::int64_t>(128, 2 * view.rows * view.columns);
    assumptions.push_back(fmt::format("No level on the chip keeps {}: two tiles of the array, {} words", name, words));
    return words;
}

// The windows of a convolution without dilation, its images one below the other; false where that does not describe it.
bool convolutionLayer(const Operator& op, const Graph& graph, const GemmShape& gemm, systolic::Layer& layer) {
    const auto strides = op.integers("strides");
    const auto dilations = op.integers("dilations");
    if (std::any_of(dilations.begin(), dilations.end(), [](std::int64_t d) { return d != 1; })) return false;
    std::int64_t q = 1, r = 1, s = 1, c = 1;
    bool flat = true;
    bool wide = false;
    for (const Loop& loop : loopSpace(op, graph)) {
        if (loop.name == "Q")
            q = loop.extent, wide = true;
        else if (loop.name == "R")
            r = loop.extent;
        else if (loop.name == "S")
            s = loop.extent;
        else if (loop.name == "C")
            c = loop.extent;
        else if (loop.name == "O" || loop.name == "T")
            flat = false;
    }
    const std::int64_t m = whole(gemm.m);
    if (!flat || q < 1 || m % q != 0 || r * s * c != whole(gemm.k)) return false;
    layer.strideHeight = !strides.empty() ? strides[0] : 1;
    layer.strideWidth = wide && strides.size() > 1 ? strides[1] : wide && !strides.empty() ? strides[0] : 1;
    layer.filterHeight = r;
    layer.filterWidth = s;
    layer.channels = c;
    layer.filters = whole(gemm.n);
    layer.ifmapHeight = (m / q - 1) * layer.strideHeight + r;
    layer.ifmapWidth = (q - 1) * layer.strideWidth + s;
    return static_cast<bool>(systolic::check(layer));
}

std::int64_t cyclesOf(const systolic::Array& array, const systolic::Layer& layer) {
    const auto plan = systolic::planFolds(array, layer);
    return plan ? plan->cycles() : std::numeric_limits<std::int64_t>::max();
}

// Whole products to each array where there are enough of them; else parts of the filters or of the output rows,
// whichever ends first.
SystolicShare deal(const systolic::Layer& layer, std::int64_t products, const SystolicMachine& machine) {
    SystolicShare share{layer, 1, machine.arrays};
    if (products >= machine.arrays) {
        share.rounds = ceilDiv(products, machine.arrays);
        return share;
    }
    const std::int64_t parts = machine.arrays / products;
    const std::int64_t rows = layer.outHeight();
    const std::int64_t byFilters = std::min(parts, layer.filters);
    const std::int64_t byRows = std::min(parts, rows);
    systolic::Layer some = layer;
    some.filters = ceilDiv(layer.filters, byFilters);
    systolic::Layer few = layer;
    few.ifmapHeight = (ceilDiv(rows, byRows) - 1) * layer.strideHeight + layer.filterHeight;
    const bool filters = cyclesOf(machine.array, some) <= cyclesOf(machine.array, few);
    share.layer = filters ? some : few;
    share.arraysBusy = products * (filters ? byFilters : byRows);
    return share;
}

}  // namespace

Expected<SystolicMachine> systolicMachine(const SpatialArrayView& view, double elementBytes) {
    SystolicMachine machine;
    systolic::Array& array = machine.array;
    array.name = view.name;
    array.rows = view.rows;
    array.cols = view.columns;
    machine.arrays = view.arrays;
    machine.macsPerElement = view.macsPerElement;
    machine.hertz = view.clock.value;
    machine.bytesPerSecond = view.levels.front().bandwidth.value * static_cast<double>(view.levels.front().instances);
    array.dataflow = view.dataflow.value_or(Dataflow::WeightStationary);
    if (array.dataflow == Dataflow::RowStationary) {
        return fail("method.not-applicable", "the array of " + view.name + " is row-stationary",
                    "a weight-, output- or input-stationary array", "Ask the loop-nest method, or set another dataflow",
                    Place{{}, 0, 0, view.path + ".dataflow"});
    }
    auto& said = machine.assumptions;
    if (!view.dataflow) said.push_back("The array names no dataflow: weight-stationary");
    if (view.macsPerElement > 1) {
        said.push_back(fmt::format("Each element multiplies {} values of the reduction at once", view.macsPerElement));
    }
    array.ifmapWords = sramWords(view, keepsInputs, "The input SRAM", elementBytes, said);
    array.filterWords = sramWords(view, keepsWeights, "The weight SRAM", elementBytes, said);
    array.ofmapWords = sramWords(view, keepsOutputs, "The output SRAM", elementBytes, said);
    const double words = machine.bytesPerSecond / elementBytes / machine.hertz / static_cast<double>(machine.arrays);
    array.idealBandwidth = false;
    array.ifmapBandwidth = array.filterBandwidth = array.ofmapBandwidth =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(words), 1, 1 << 30);
    if (auto good = systolic::check(array); !good) return tl::unexpected(good.error());
    return machine;
}

SystolicShare systolicShare(double batch, double m, double n, double k, const SystolicMachine& machine) {
    return deal(systolic::gemmLayer("product", whole(m), whole(n), ceilDiv(whole(k), machine.macsPerElement)),
                whole(batch), machine);
}

std::vector<SystolicShare> systolicShares(const Operator& op, const Graph& graph, const SystolicMachine& machine) {
    if (op.kind == OperatorKind::Attention && op.attention) {
        const AttentionShape& a = *op.attention;
        const double batch = static_cast<double>(a.batch) * static_cast<double>(a.heads);
        const auto queries = static_cast<double>(a.queries);
        const auto keys = static_cast<double>(a.keys);
        return {systolicShare(batch, queries, keys, static_cast<double>(a.headDim), machine),
                systolicShare(batch, queries, static_cast<double>(a.valueDim), keys, machine)};
    }
    const GemmShape gemm = gemmShape(op, graph);
    if (gemm.batch <= 0 || gemm.m <= 0 || gemm.n <= 0 || gemm.k <= 0) return {};
    systolic::Layer layer;
    if (op.kind == OperatorKind::Conv && machine.macsPerElement == 1 && convolutionLayer(op, graph, gemm, layer)) {
        return {deal(layer, whole(gemm.batch), machine)};
    }
    return {systolicShare(gemm.batch, gemm.m, gemm.n, gemm.k, machine)};
}

}  // namespace orrery
