#include "methods/model/launches.h"

#include "workload/costs.h"
#include "workload/kernel_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

std::int64_t whole(double value) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(std::min(value, 9e18))));
}

// A batch normalisation whose statistics are constants: one scale and one shift of each element, no row of anything.
void scaleAndShift(Kernel& kernel) {
    if (kernel.kind != KernelKind::Normalization) return;
    kernel.kind = KernelKind::Elementwise;
    kernel.function = "Mul";
    kernel.n = kernel.m * kernel.n;
    kernel.m = 1;
}

bool idle(const Kernel& kernel) {
    return kernel.flops <= 0 && kernel.bytes() <= 0;
}

// Members of every group in the graph's order, by leader.
std::vector<std::vector<std::int32_t>> membersOf(const std::vector<std::int32_t>& leader) {
    std::vector<std::vector<std::int32_t>> members(leader.size());
    for (std::size_t i = 0; i < leader.size(); ++i) {
        if (leader[i] != static_cast<std::int32_t>(i)) {
            auto& group = members[static_cast<std::size_t>(leader[i])];
            if (group.empty()) group.push_back(leader[i]);
            group.push_back(static_cast<std::int32_t>(i));
        }
    }
    return members;
}

// The one kernel that a fused group is.
class GroupKernel {
public:
    GroupKernel(const Workload& workload, const std::vector<TensorId>& roots, const std::vector<std::int32_t>& readers)
        : workload_(workload), roots_(roots), readers_(readers) {}

    Launch make(const std::vector<std::int32_t>& members) const {
        const auto first = static_cast<std::size_t>(members.front());
        Launch launch;
        launch.op = members.front();
        launch.count = workload_.costs.repeat[first];
        const bool attends = std::any_of(members.begin(), members.end(),
                                         [&](std::int32_t m) { return op(m).kind == OperatorKind::Softmax; });
        if (op(members.front()).type == "GroupedMatMul") {
            launch.kernel = experts(members);
        } else if (workload_.costs.gemm[first].k <= 0) {
            launch.kernel = pointwise(members);
        } else if (attends) {
            launch.kernel = attention(members);
        } else {
            launch.kernel = kernel(members.front());
            addEpilogue(members, launch);
        }
        return launch;
    }

private:
    const Operator& op(std::int32_t i) const { return workload_.graph.operators[static_cast<std::size_t>(i)]; }
    Kernel kernel(std::int32_t i) const {
        return kernelOf(workload_.graph, workload_.costs, static_cast<std::size_t>(i));
    }
    TensorId root(TensorId id) const { return roots_[static_cast<std::size_t>(id)]; }

    bool names(const std::vector<TensorId>& ids, TensorId wanted) const {
        return std::any_of(ids.begin(), ids.end(),
                           [&](TensorId id) { return workload_.graph.tensor(id) && root(id) == wanted; });
    }
    double readFromOutside(const std::vector<std::int32_t>& members) const {
        std::vector<TensorId> seen;
        double bytes = 0;
        for (const std::int32_t m : members) {
            for (const TensorId id : op(m).inputs) {
                const Tensor* tensor = workload_.graph.tensor(id);
                if (!tensor || std::find(seen.begin(), seen.end(), root(id)) != seen.end()) continue;
                seen.push_back(root(id));
                const bool made = std::any_of(members.begin(), members.end(),
                                              [&](std::int32_t k) { return names(op(k).outputs, root(id)); });
                if (!made) bytes += std::min(tensor->bytes().value, partsOf(members, root(id)));
            }
        }
        return bytes;
    }
    // Of a tensor that slices alone read, what they take.
    double partsOf(const std::vector<std::int32_t>& members, TensorId of) const {
        double bytes = 0;
        for (const std::int32_t m : members) {
            if (!names(op(m).inputs, of)) continue;
            const Tensor* taken = op(m).outputs.size() == 1 ? workload_.graph.tensor(op(m).outputs[0]) : nullptr;
            if (op(m).type != "Slice" && op(m).type != "Gather") return std::numeric_limits<double>::infinity();
            bytes += taken ? taken->bytes().value : 0;
        }
        return bytes;
    }
    double writtenOutside(const std::vector<std::int32_t>& members) const {
        double bytes = 0;
        for (const std::int32_t m : members) {
            for (const TensorId id : op(m).outputs) {
                const Tensor* tensor = workload_.graph.tensor(id);
                if (!tensor) continue;
                const auto inside = std::count_if(members.begin(), members.end(),
                                                  [&](std::int32_t k) { return names(op(k).inputs, root(id)); });
                if (inside == 0 || readers_[static_cast<std::size_t>(root(id))] > inside)
                    bytes += tensor->bytes().value;
            }
        }
        return bytes;
    }

    // The product stays as it stands, so that it is priced as products are measured; its epilogue's other operands come
    // on top.
    void addEpilogue(const std::vector<std::int32_t>& members, Launch& launch) const {
        for (std::size_t k = 1; k < members.size(); ++k) launch.kernel.epilogue.operations += kernel(members[k]).flops;
        launch.kernel.epilogue.bytes = std::max(0.0, readFromOutside(members) - readFromOutside({members.front()}));
        launch.kernel.writeBytes = writtenOutside(members);
    }

    // What an inference engine's experts do, from the tokens that come to the sums that go. Work is that of the
    // members; rows between them never count, since nobody says how much of them stays on the chip.
    Kernel experts(const std::vector<std::int32_t>& members) const {
        const CostTable& costs = workload_.costs;
        const auto up = static_cast<std::size_t>(members.front());
        std::size_t down = up, dispatch = up, combine = up;
        Kernel result = kernel(members.front());
        result.flops = result.readBytes = 0;
        for (const std::int32_t m : members) {
            const auto at = static_cast<std::size_t>(m);
            if (op(m).type == "Dispatch") dispatch = at;
            if (op(m).type == "GroupedMatMul" && at != up) down = at;
            if (op(m).kind == OperatorKind::Reduce) combine = at;
            result.flops += costs.flops[at];
            result.readBytes += costs.weightBytes[at];
        }
        const GemmShape& first = costs.gemm[up];
        const GemmShape& second = costs.gemm[down];
        const Operator& sent = workload_.graph.operators[dispatch];
        const Tensor* tokens = workload_.graph.tensor(sent.inputs[0]);
        const Tensor* weights = workload_.graph.tensor(workload_.graph.operators[up].inputs[1]);
        const double own = tokens ? tokens->elements() / std::max(1.0, first.k) : 1;
        result.kind = KernelKind::Experts;
        result.batch = 1, result.m = result.n = result.k = 0;
        result.transposedWeight = result.bias = false;
        result.experts = {.tokens = std::max(whole(own), sent.integer(expertTokensAttribute, 0)),
                          .rows = whole(first.batch * first.m),
                          .held = weights && !weights->shape.empty()
                                      ? std::max<std::int64_t>(1, weights->shape[0].value)
                                      : whole(first.batch),
                          .touched = whole(first.batch),
                          .hidden = whole(first.k),
                          .inner = whole(second.k),
                          .gated = first.n > 1.5 * second.k};
        result.readBytes += costs.inputBytes[dispatch];
        result.writeBytes = costs.outputBytes[combine];
        return result;
    }

    // Scores, softmax and context as one: the scores never leave the chip.
    Kernel attention(const std::vector<std::int32_t>& members) const {
        const auto first = static_cast<std::size_t>(members.front());
        const GemmShape& scores = workload_.costs.gemm[first];
        const GemmShape& context = workload_.costs.gemm[static_cast<std::size_t>(members.back())];
        const Tensor* query = workload_.graph.tensor(workload_.graph.operators[first].inputs[0]);
        const double batch = query && query->shape.size() > 3 ? static_cast<double>(query->shape[0].value) : 1;
        Kernel result;
        result.kind = scores.m == 1 ? KernelKind::DecodeAttention : KernelKind::PrefillAttention;
        result.type = result.weightType = result.kvType = workload_.costs.type[first];
        const std::int64_t heads = whole(scores.batch / std::max(1.0, batch));
        result.attention = {.batch = whole(batch),
                            .heads = heads,
                            .kvHeads = heads,
                            .queries = whole(scores.m),
                            .keys = whole(scores.n),
                            .headDim = whole(scores.k),
                            .valueDim = whole(context.n)};
        for (const std::int32_t m : members) result.flops += kernel(m).flops;
        result.readBytes = readFromOutside(members);
        result.writeBytes = writtenOutside(members);
        return result;
    }

    // A norm that is written out, by its first mean.
    Kernel writtenNorm(std::int32_t mean) const {
        const Tensor* of = workload_.graph.tensor(op(mean).inputs[0]);
        const Tensor* made = workload_.graph.tensor(op(mean).outputs[0]);
        const double rows = made ? std::max(1.0, made->elements()) : 1;
        return rowsKernel(KernelKind::Normalization, "LayerNormalization",
                          workload_.costs.type[static_cast<std::size_t>(mean)], rows,
                          of ? of->elements() / rows : 1, 1);
    }

    Kernel pointwise(const std::vector<std::int32_t>& members) const {
        Kernel result;
        double flops = 0, heaviest = -1;
        bool reduction = false;
        for (const std::int32_t m : members) {
            const Kernel one = kernel(m);
            flops += one.flops;
            if (!reduction && op(m).kind == OperatorKind::Reduce) {
                result = writtenNorm(m);
                reduction = true;
            }
            const bool reduces = one.kind == KernelKind::Softmax || one.kind == KernelKind::Normalization;
            if (reduction || (!reduces && one.flops <= heaviest)) continue;
            heaviest = one.flops;
            reduction = reduces;
            result = one;
        }
        result.flops = flops;
        result.readBytes = readFromOutside(members);
        result.writeBytes = writtenOutside(members);
        const double rows = static_cast<double>(result.m) * static_cast<double>(result.n) * bits(result.type) / 8.0;
        if (rows > 0) result.operands = static_cast<std::int32_t>(std::clamp(result.readBytes / rows + 0.5, 1.0, 64.0));
        return result;
    }

    const Workload& workload_;
    const std::vector<TensorId>& roots_;
    const std::vector<std::int32_t>& readers_;
};

// Operators that read each tensor, through views or not; those that the graph hands out have one more.
std::vector<std::int32_t> readersOf(const Graph& graph, const std::vector<TensorId>& roots) {
    std::vector<std::int32_t> readers(graph.tensors.size(), 0);
    std::vector<std::int32_t> last(graph.tensors.size(), -1);
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        if (op.kind == OperatorKind::View) continue;
        for (const TensorId id : op.inputs) {
            if (!graph.tensor(id)) continue;
            const auto root = static_cast<std::size_t>(roots[static_cast<std::size_t>(id)]);
            if (last[root] == static_cast<std::int32_t>(i)) continue;
            last[root] = static_cast<std::int32_t>(i);
            ++readers[root];
        }
    }
    for (const TensorId id : graph.outputs) {
        if (graph.tensor(id)) ++readers[static_cast<std::size_t>(roots[static_cast<std::size_t>(id)])];
    }
    return readers;
}

// Of products and convolutions that are one kernel with their weights.
void addWeights(const Workload& workload, LaunchList& list) {
    const CostTable& costs = workload.costs;
    double all = 0;
    for (Launch& launch : list.launches) {
        const Kernel& kernel = launch.kernel;
        const bool product = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution ||
                             kernel.kind == KernelKind::Experts;
        if (!product || !launch.what.empty()) continue;
        double own = costs.weightBytes[static_cast<std::size_t>(launch.op)];
        if (kernel.kind == KernelKind::Experts) {
            own = 0;
            for (std::size_t i = 0; i < list.leader.size(); ++i)
                if (list.leader[i] == launch.op) own += costs.weightBytes[i];
        }
        launch.weightBytes = std::min(own, kernel.readBytes);
        all += launch.count * launch.weightBytes;
    }
    // Weights that several operators or repeats share are read anew, but not from main memory for sure.
    const double share = all > 0 ? std::min(1.0, workload.totals.weightBytes / all) : 0;
    for (Launch& launch : list.launches) {
        launch.weightBytes *= share;
        launch.passWeightBytes = launch.weightBytes > 0 ? share * all : 0;
    }
}

void addAssumptions(const ModelOptions& options, LaunchList& list) {
    switch (options.fusion) {
        case Fusion::None:
            list.assumptions.push_back(
                "Nothing is fused: every operation of the framework is a kernel of its own, composite functions are as "
                "many as Hugging Face's transformers launch");
            break;
        case Fusion::Epilogue:
            list.assumptions.push_back(
                "Fused as inference engines do: bias, activation and residual with the product before them, a residual "
                "with the norm after it");
            break;
        case Fusion::Compile:
            list.assumptions.push_back(
                "Fused as a compiler does: element-wise operators with at most one norm or softmax read their operands "
                "once, in inference also slices, concatenations and padding; products stay on their own");
            break;
        case Fusion::Apart:
            list.assumptions.push_back("Nothing is fused: every operator of the graph is one kernel");
            break;
    }
    std::int64_t fused = 0;
    for (std::size_t i = 0; i < list.leader.size(); ++i) fused += list.leader[i] != static_cast<std::int32_t>(i);
    const bool experts = std::any_of(list.launches.begin(), list.launches.end(),
                                     [](const Launch& each) { return each.kernel.kind == KernelKind::Experts; });
    if (experts) {
        list.assumptions.push_back(
            "The experts of a layer are one kernel, from the tokens that are sent to them to their weighted sums; "
            "tokens choose evenly, and weights are read of as many experts as are expected to be chosen");
    }
    if (fused > 0) {
        list.assumptions.push_back(
            std::to_string(fused) +
            " operators are computed inside the kernel of another: their time is included there, their own is 0");
    }
}

}  // namespace

std::string_view toText(Part part) {
    static constexpr std::array<std::string_view, partCount> names{"forward", "loss", "backward", "optimizer"};
    return names[static_cast<std::size_t>(part)];
}

Fusion fusionOf(std::string_view text) {
    if (text == "none") return Fusion::None;
    if (text == "compile") return Fusion::Compile;
    return text == "apart" ? Fusion::Apart : Fusion::Epilogue;
}

Kernel productKernel(DType type, double batch, double m, double n, double k) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = kernel.kvType = type;
    kernel.batch = whole(batch);
    kernel.m = whole(m);
    kernel.n = whole(n);
    kernel.k = whole(k);
    countWork(kernel);
    return kernel;
}

Kernel rowsKernel(KernelKind kind, std::string_view function, DType type, double m, double n, int operands) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.function = function;
    kernel.type = kernel.weightType = kernel.kvType = type;
    kernel.m = whole(m);
    kernel.n = whole(n);
    kernel.operands = operands;
    countWork(kernel);
    return kernel;
}

Kernel movementKernel(std::string_view function, DType type, double readBytes, double writeBytes) {
    Kernel kernel;
    kernel.kind = KernelKind::Movement;
    kernel.function = function;
    kernel.type = kernel.weightType = kernel.kvType = type;
    kernel.readBytes = readBytes;
    kernel.writeBytes = writeBytes;
    return kernel;
}

LaunchList launchesOf(const Workload& workload, const ModelOptions& options) {
    LaunchList list;
    const Graph& graph = workload.graph;
    list.leader = fusedGroups(workload, options);
    const auto members = membersOf(list.leader);
    const auto roots = viewRoots(graph);
    const auto readers = readersOf(graph, roots);
    const GroupKernel group(workload, roots, readers);
    list.launches.reserve(graph.operators.size() + 16);
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (list.leader[i] != static_cast<std::int32_t>(i)) continue;
        if (!members[i].empty()) {
            list.launches.push_back(group.make(members[i]));
            continue;
        }
        const Operator& op = graph.operators[i];
        const bool apart = options.fusion == Fusion::Apart;
        if (!apart && op.kind == OperatorKind::Attention && op.attention && !op.attention->flash) {
            addUnfusedAttention(workload, i, options, list.launches);
            continue;
        }
        if (options.fusion == Fusion::None && addEagerLaunches(workload, i, options, list.launches)) continue;
        Launch launch;
        launch.kernel = kernelOf(graph, workload.costs, i);
        if (op.type == "BatchNormalization" && options.step == Step::Inference) scaleAndShift(launch.kernel);
        if (idle(launch.kernel)) continue;
        launch.op = static_cast<std::int32_t>(i);
        launch.count = workload.costs.repeat[i];
        list.launches.push_back(launch);
    }
    addAssumptions(options, list);
    addWeights(workload, list);
    if (options.step == Step::Training) addTraining(workload, options, list);
    return list;
}

}  // namespace orrery
