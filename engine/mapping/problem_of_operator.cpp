#include "mapping/problem_of_operator.h"

#include "workload/costs.h"
#include "workload/what_if_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr double largest = std::numeric_limits<std::int32_t>::max();

/// Builds a problem by naming dimensions; ranks speak of them by the index that comes back.
struct Builder {
    NestProblem problem;

    explicit Builder(std::string name) {
        problem.name = std::move(name);
        problem.tensors = {{"Inputs", {}, false}, {"Weights", {}, false}, {"Outputs", {}, true}};
    }
    std::uint8_t dimension(std::string name, double extent) {
        problem.dimensions.push_back(std::move(name));
        problem.extents.push_back(static_cast<std::int64_t>(std::min(extent, largest)));
        return static_cast<std::uint8_t>(problem.dimensions.size() - 1);
    }
    /// A rank of its own for the dimension in each of the tensors (bits: 1 inputs, 2 weights, 4 outputs).
    void rank(std::uint8_t dimension, unsigned tensors) {
        for (std::size_t t = 0; t < 3; ++t) {
            if (tensors >> t & 1u)
                problem.tensors[t].ranks.push_back({problem.dimensions[dimension], {{dimension, 1}}});
        }
    }
};

constexpr unsigned inInputs = 1, inWeights = 2, inOutputs = 4;

OperatorNest product(const std::string& name, double batch, double m, double n, double k) {
    Builder made(name);
    if (batch > 1) made.rank(made.dimension("B", batch), inInputs | inWeights | inOutputs);
    const auto rows = made.dimension("M", m);
    const auto columns = made.dimension("N", n);
    const auto depth = made.dimension("K", k);
    made.rank(rows, inInputs | inOutputs);
    made.rank(depth, inInputs | inWeights);
    made.rank(columns, inWeights | inOutputs);
    return {std::move(made.problem), 1};
}

std::vector<OperatorNest> attentionNests(const Operator& op) {
    const AttentionShape& a = *op.attention;
    const std::int64_t shared = std::max<std::int64_t>(a.heads / std::max<std::int64_t>(a.kvHeads, 1), 1);
    const std::int64_t heads = std::max<std::int64_t>(a.heads / shared, 1);
    std::vector<OperatorNest> nests;
    for (const bool scores : {true, false}) {
        Builder made(op.name + (scores ? " (scores)" : " (values)"));
        const auto add = [&](const char* name, std::int64_t extent, unsigned tensors) {
            if (extent > 1) made.rank(made.dimension(name, static_cast<double>(extent)), tensors);
        };
        add("B", a.batch, inInputs | inWeights | inOutputs);
        add("H", heads, inInputs | inWeights | inOutputs);
        add("G", shared, inInputs | inOutputs);
        const auto m = made.dimension("M", static_cast<double>(a.queries));
        const auto n = made.dimension("N", static_cast<double>(scores ? a.keys : a.valueDim));
        const auto k = made.dimension("K", static_cast<double>(scores ? a.headDim : a.keys));
        made.rank(m, inInputs | inOutputs);
        made.rank(k, inInputs | inWeights);
        made.rank(n, inWeights | inOutputs);
        nests.push_back({std::move(made.problem), 1});
    }
    return nests;
}

std::vector<OperatorNest> convolutionNest(const Operator& op, const Graph& graph) {
    // Loop names and extents come from the one place that knows every spelling of a convolution.
    const std::vector<Loop> loops = loopSpace(op, graph);
    std::vector<std::int64_t> strides = op.integers("strides");
    std::vector<std::int64_t> dilations = op.integers("dilations");
    Builder made(op.name);
    std::vector<std::uint8_t> positions, taps;
    for (const Loop& loop : loops) {
        const auto d = made.dimension(loop.name, static_cast<double>(loop.extent));
        const char letter = loop.name.front();
        if (letter == 'N') made.rank(d, inInputs | inOutputs);
        if (letter == 'G') made.rank(d, inInputs | inWeights | inOutputs);
        if (letter == 'K') made.rank(d, inWeights | inOutputs);
        if (letter == 'C') made.rank(d, inInputs | inWeights);
        if (letter == 'P' || letter == 'Q' || letter == 'O') {
            positions.push_back(d);
            made.rank(d, inOutputs);
        }
        if (letter == 'R' || letter == 'S' || letter == 'T') {
            taps.push_back(d);
            made.rank(d, inWeights);
        }
    }
    if (positions.size() != taps.size()) return {};
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::int64_t stride = i < strides.size() ? std::max<std::int64_t>(strides[i], 1) : 1;
        const std::int64_t dilation = i < dilations.size() ? std::max<std::int64_t>(dilations[i], 1) : 1;
        static constexpr std::array<const char*, 3> names{"H", "W", "D"};
        made.problem.tensors[0].ranks.push_back(
            {names[std::min<std::size_t>(i, 2)], {{positions[i], stride}, {taps[i], dilation}}});
    }
    return {{std::move(made.problem), 1}};
}

bool sound(const NestProblem& problem) {
    return !problem.extents.empty() && problem.dimensions.size() <= maxNestDimensions &&
           std::all_of(problem.extents.begin(), problem.extents.end(),
                       [](std::int64_t extent) { return extent >= 1 && extent < static_cast<std::int64_t>(largest); });
}

}  // namespace

bool mappable(const Operator& op, const Graph& graph) {
    return !nestsOf(op, graph).empty();
}

std::vector<OperatorNest> nestsOf(const Operator& op, const Graph& graph) {
    std::vector<OperatorNest> nests;
    const bool reshapedByWhatIf = hasWhatIfShape(op);
    if (op.kind == OperatorKind::Attention && op.attention && !reshapedByWhatIf) {
        nests = attentionNests(op);
    } else if (op.kind == OperatorKind::Conv && !reshapedByWhatIf && numbers(op, fusedWorkAttribute).empty()) {
        nests = convolutionNest(op, graph);
    } else if (op.kind == OperatorKind::MatMul || op.kind == OperatorKind::ConvTranspose ||
               op.kind == OperatorKind::Conv || op.kind == OperatorKind::Attention) {
        const GemmShape shape = gemmShape(op, graph);
        if (shape.batch > 0 && shape.m > 0 && shape.n > 0 && shape.k > 0) {
            // Experts and their shares of the rows need not be whole: one expert is mapped, with its rows rounded up.
            const bool whole = shape.batch == std::floor(shape.batch) && shape.m == std::floor(shape.m);
            nests.push_back(whole ? product(op.name, shape.batch, shape.m, shape.n, shape.k)
                                  : product(op.name, 1, std::ceil(shape.m), shape.n, shape.k));
            if (!whole) nests.back().times = shape.batch;
        }
    }
    if (!std::all_of(nests.begin(), nests.end(), [](const OperatorNest& nest) { return sound(nest.problem); }))
        return {};
    return nests;
}

}  // namespace orrery
