// A training step on one GPU from its forward pass, kernel by kernel.
//
//   product Y = X·W        dX = dY·Wᵀ, dW = Xᵀ·dY: two products of the same size; a bias sums dY over its rows
//                          where micro-batches add up in fp32, dW is read and added to the sum
//   convolution            two of the same size (gradient of the data, of the filter)
//   fused attention        2.5 times the forward pass: five products instead of two, scores computed again (Dao,
//                          FlashAttention-2, arXiv:2307.08691, section 4.1)
//   softmax                one pass that reads output and gradient
//   normalisation          one pass for dX, one that sums the gradients of its parameters over the rows
//   element-wise           one pass that reads the saved operand and the gradient; sums pass their gradient on, and
//                          where a tensor feeds two operators their gradients are added
//   look-up                zeroes the table's gradient and adds the rows to it
//   movement               back again

#include "methods/model/eager_passes.h"
#include "methods/model/launches.h"
#include "workload/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

bool adds(std::string_view function) {
    return function == "Add" || function == "Residual" || function == "Sub" || function == "Bias" || function == "Sum";
}
// Functions of one tensor whose derivative does not hang on its value.
bool linear(std::string_view what) {
    return what == "scale" || what == "mask" || what == "dropout";
}

class Backward {
public:
    Backward(const Workload& workload, const ModelOptions& options, LaunchList& list)
        : workload_(workload), options_(options), list_(list), members_(workload.graph.operators.size()) {
        for (std::size_t i = 0; i < list.leader.size(); ++i) {
            if (list.leader[i] != static_cast<std::int32_t>(i)) {
                members_[static_cast<std::size_t>(list.leader[i])].push_back(static_cast<std::int32_t>(i));
            }
        }
    }

    void run() {
        const std::vector<Launch> forward = list_.launches;
        list_.launches.reserve(forward.size() * 4);
        loss();
        std::int32_t composite = -1;
        for (auto at = forward.rbegin(); at != forward.rend(); ++at) {
            if (at->op == composite) continue;
            const std::string_view type = op(at->op).type;
            if (options_.fusion == Fusion::None && !eagerPasses(type, true).empty()) {
                composite = at->op;
                passes(*at);
            } else {
                launch(*at);
            }
        }
    }

private:
    const Operator& op(std::int32_t i) const { return workload_.graph.operators[static_cast<std::size_t>(i)]; }

    Launch& add(const Launch& of, Kernel kernel, std::string_view what, double scale = 1) {
        Launch launch;
        launch.kernel = kernel;
        launch.kernel.epilogue = {};
        launch.op = of.op;
        launch.part = Part::Backward;
        launch.count = of.count;
        launch.scale = scale;
        launch.what = what;
        list_.launches.push_back(launch);
        return list_.launches.back();
    }

    // Cross entropy over the classes of the first output: log-softmax and its gradient.
    void loss() {
        const Tensor* logits =
            workload_.graph.outputs.empty() ? nullptr : workload_.graph.tensor(workload_.graph.outputs[0]);
        if (!logits || logits->shape.empty() || list_.launches.empty()) return;
        const auto classes = static_cast<double>(std::max<std::int64_t>(1, logits->shape.back().value));
        const double rows = logits->elements() / classes;
        if (rows <= 0) return;
        Launch of = list_.launches.back();
        of.count = 1;
        Launch forward = of;
        forward.kernel = rowsKernel(KernelKind::Softmax, "LogSoftmax", logits->type, rows, classes, 1);
        forward.part = Part::Loss;
        forward.scale = 1;
        forward.what = "cross entropy";
        list_.launches.push_back(forward);
        add(of, rowsKernel(KernelKind::Softmax, "LogSoftmax", logits->type, rows, classes, 2), "cross entropy");
    }

    void passes(const Launch& of) {
        const Kernel whole = kernelOf(workload_.graph, workload_.costs, static_cast<std::size_t>(of.op));
        for (const EagerPass& pass : eagerPasses(op(of.op).type, true)) {
            add(of, eagerKernel(pass, whole.type, static_cast<double>(whole.m), static_cast<double>(whole.n)),
                pass.function);
        }
    }

    void launch(const Launch& of) {
        const auto& fused = members_[static_cast<std::size_t>(of.op)];
        const bool product = of.kernel.kind == KernelKind::Gemm || of.kernel.kind == KernelKind::Convolution;
        if (!fused.empty() && !product) return chain(of);
        for (auto at = fused.rbegin(); at != fused.rend(); ++at) {
            Launch single = of;
            single.kernel = kernelOf(workload_.graph, workload_.costs, static_cast<std::size_t>(*at));
            single.what = {};
            kernel(single);
        }
        kernel(of);
    }

    // A fused chain goes back as one kernel: it reads what it read and the gradients, and writes as many.
    void chain(const Launch& of) {
        Kernel back = of.kernel;
        back.operands += 1;
        back.flops *= 2;
        back.readBytes = of.kernel.readBytes + of.kernel.writeBytes;
        back.writeBytes = of.kernel.readBytes;
        add(of, back, "fused chain");
    }

    void kernel(const Launch& of) {
        const Kernel& k = of.kernel;
        const auto m = static_cast<double>(k.m), n = static_cast<double>(k.n);
        switch (k.kind) {
            case KernelKind::Gemm:
                return productBack(of);
            case KernelKind::Convolution:
                if (!fromInput(of.op)) add(of, k, "dX");
                add(of, k, "dW");
                return;
            case KernelKind::PrefillAttention:
            case KernelKind::DecodeAttention:
                add(of, k, "attention backward", attentionBackwardScale);
                return;
            case KernelKind::Softmax:
                add(of, rowsKernel(k.kind, "Softmax", k.type, m, n, 2), "dX");
                return;
            case KernelKind::Normalization:
                add(of, rowsKernel(k.kind, k.function, k.type, m, n, 2), "dX");
                add(of, sumsKernel(k, 2), "dγ, dβ");
                return;
            case KernelKind::Elementwise:
                return elementwiseBack(of);
            case KernelKind::Movement:
                return movementBack(of);
            case KernelKind::Other:
            case KernelKind::Experts:
            case KernelKind::Collective: {
                Kernel back = k;
                back.readBytes = k.bytes();
                back.writeBytes = k.readBytes;
                back.flops = 2 * k.flops;
                add(of, back, "dX");
                return;
            }
        }
    }

    void productBack(const Launch& of) {
        const Kernel& k = of.kernel;
        const auto batch = static_cast<double>(k.batch), m = static_cast<double>(k.m), n = static_cast<double>(k.n),
                   inner = static_cast<double>(k.k);
        const bool named = of.what == "scores" || of.what == "context";
        if (named || !fromInput(of.op)) add(of, productKernel(k.type, batch, m, inner, n), named ? "dA" : "dX");
        add(of, productKernel(k.type, batch, inner, n, m), named ? "dB" : "dW");
        const double weight = bits(k.type) / 8.0, parameters = batch * inner * n;
        if (options_.accumulate && !named && weight < 4)
            add(of, movementKernel("Add", DType::F32, (weight + 4) * parameters, 4 * parameters), "dW added");
        if (k.bias) add(of, sumsKernel(k, 1), "db");
    }

    void elementwiseBack(const Launch& of) {
        const Kernel& k = of.kernel;
        const auto m = static_cast<double>(k.m), n = static_cast<double>(k.n);
        if (linear(of.what)) {
            add(of, rowsKernel(k.kind, "Mul", k.type, m, n, 1), of.what);
        } else if (op(of.op).type == "Residual") {
            add(of, rowsKernel(k.kind, "Add", k.type, m, n, 2), "gradients added");
        } else if (!adds(k.function)) {
            add(of, rowsKernel(k.kind, k.function, k.type, m, n, k.operands + 1), "dX");
        }
    }

    void movementBack(const Launch& of) {
        Kernel back = of.kernel;
        const Operator& each = op(of.op);
        const Tensor* table = each.inputs.empty() ? nullptr : workload_.graph.tensor(each.inputs[0]);
        if (each.kind == OperatorKind::Gather) {
            if (!table || table->role != TensorRole::Weight) return;
            back.readBytes = 2 * of.kernel.writeBytes;
            back.writeBytes = table->bytes().value + of.kernel.writeBytes;
            add(of, back, "dW");
            return;
        }
        std::swap(back.readBytes, back.writeBytes);
        add(of, back, of.what);
    }

    bool fromInput(std::int32_t i) const {
        const Tensor* tensor = op(i).inputs.empty() ? nullptr : workload_.graph.tensor(op(i).inputs[0]);
        return tensor && tensor->role == TensorRole::Input;
    }

    const Workload& workload_;
    const ModelOptions& options_;
    LaunchList& list_;
    std::vector<std::vector<std::int32_t>> members_;
};

/// Bytes of an optimizer's step per parameter: read and written.
struct OptimizerTraffic {
    double read = 0, write = 0, state = 0;
};
OptimizerTraffic trafficOf(Optimizer optimizer, double weight) {
    const double master = weight < 4 ? 4 : 0;  // fp32 copy beside narrower weights
    switch (optimizer) {
        case Optimizer::Adam:  // gradient, two moments, and the weight itself
            return {weight + 8 + std::max(master, weight), 8 + weight + master, 8 + master};
        case Optimizer::Sgd:
            return {weight + std::max(master, weight), weight + master, master};
        case Optimizer::None:
            break;
    }
    return {};
}

double weightSize(const Workload& workload) {
    const auto& totals = workload.totals;
    return totals.parameters > 0 ? totals.weightBytes / totals.parameters : 4;
}

/// Parameters of tables that no step changes: an EmbeddingBag has gradients of the rows that it looked up, as DLRM
/// trains (Naumov et al. 2019, its `sparse=True`). Plain embeddings have those of all rows.
double untouchedParameters(const Workload& workload) {
    const Graph& graph = workload.graph;
    std::map<TensorId, double> lookups;  // by table
    for (const Operator& op : graph.operators) {
        if (op.type != "EmbeddingBag" || op.inputs.size() < 2) continue;
        const Tensor *table = graph.tensor(op.inputs[0]), *rows = graph.tensor(op.inputs[1]);
        if (table && rows && !table->shape.empty()) lookups[op.inputs[0]] += rows->elements();
    }
    double untouched = 0;
    for (const auto& [id, looked] : lookups) {
        const Tensor& table = *graph.tensor(id);
        const double rows = std::max(1.0, static_cast<double>(table.shape.front().value));
        untouched += table.elements() * std::max(0.0, 1 - looked / rows);
    }
    return std::min(untouched, workload.totals.parameters);
}

/// Activations that only sums read: their gradients pass without them.
double onlySummed(const Workload& workload) {
    const Graph& graph = workload.graph;
    std::vector<std::int8_t> readBy(graph.tensors.size(), 0);  // 1: sums alone, 2: others too
    for (const Operator& op : graph.operators) {
        const bool sum = op.type == "Residual" || adds(op.type);
        for (const TensorId id : op.inputs)
            if (id >= 0)
                readBy[static_cast<std::size_t>(id)] =
                    sum ? std::max<std::int8_t>(1, readBy[static_cast<std::size_t>(id)]) : std::int8_t{2};
    }
    for (const TensorId id : graph.outputs) readBy[static_cast<std::size_t>(id)] = 2;
    double bytes = 0;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        for (const TensorId id : graph.operators[i].outputs)
            if (id >= 0 && readBy[static_cast<std::size_t>(id)] == 1)
                bytes += workload.costs.repeat[i] * graph.tensors[static_cast<std::size_t>(id)].bytes().value;
    }
    return bytes;
}

}  // namespace

Kernel sumsKernel(const Kernel& k, int tensors) {
    Kernel sum;
    sum.kind = KernelKind::Other;
    sum.function = "ReduceSum";
    sum.type = sum.weightType = sum.kvType = k.type;
    const double elements = static_cast<double>(k.batch) * static_cast<double>(k.m) * static_cast<double>(k.n);
    sum.m = k.m, sum.n = k.n;
    sum.operands = tensors;
    sum.flops = tensors * elements;
    sum.readBytes = tensors * elements * bits(k.type) / 8.0;
    sum.writeBytes = tensors * static_cast<double>(k.n) * bits(k.type) / 8.0;
    return sum;
}

Kernel optimizerKernel(Optimizer optimizer, double parameters, double weight) {
    const auto traffic = trafficOf(optimizer, weight);
    return movementKernel("Add", DType::F32, parameters * traffic.read, parameters * traffic.write);
}

void addTraining(const Workload& workload, const ModelOptions& options, LaunchList& list) {
    if (list.launches.empty()) return;
    Backward(workload, options, list).run();
    list.assumptions.push_back(
        "Backward: two products for each, fused attention 2.5 times its forward pass, one pass for each vector "
        "operator; cross entropy over the first output; nothing is computed again");
    const double size = weightSize(workload);
    const auto traffic = trafficOf(options.optimizer, size);
    if (options.optimizer == Optimizer::None) return;
    Launch step;
    const double untouched = untouchedParameters(workload);
    step.kernel = optimizerKernel(options.optimizer, workload.totals.parameters - untouched, size);
    step.op = list.launches.back().op;
    step.part = Part::Optimizer;
    step.what = options.optimizer == Optimizer::Adam ? "Adam" : "SGD";
    list.launches.push_back(step);
    list.assumptions.push_back(
        fmt::format("{} in one pass over all parameters{}, {:g} bytes moved for each{}", step.what,
                    untouched > 0 ? " but the rows of embedding bags that nothing looked up" : "",
                    traffic.read + traffic.write, size < 4 ? ", with a copy of the weights in fp32" : ""));
}

TrainingMemory trainingMemory(const Workload& workload, const ModelOptions& options) {
    TrainingMemory memory;
    memory.weights = Bytes(workload.totals.weightBytes);
    memory.gradients = memory.weights - Bytes(untouchedParameters(workload) * weightSize(workload));
    memory.optimizer = Bytes(workload.totals.parameters * trafficOf(options.optimizer, weightSize(workload)).state);
    if (workload.graph.keepsActivations) {
        memory.activations = Bytes(workload.totals.peakActivationBytes);
    } else {
        Graph kept = workload.graph;
        kept.keepsActivations = true;
        memory.activations = Bytes(costTotals(kept, workload.costs).peakActivationBytes);
    }
    memory.activations -= Bytes(std::min(memory.activations.value, onlySummed(workload)));
    for (std::size_t i = 0; i < workload.costs.size(); ++i)
        memory.activations += Bytes(workload.costs.repeat[i] * (keptScores(workload, i) + keptMask(workload, i)));
    return memory;
}

double keptScores(const Workload& workload, std::size_t i) {
    // The probabilities: one of the four times that scores are moved; where some are dropped, what is left too, and a
    // byte of mask for each.
    const double once = workload.costs.scratchBytes[i] / 4;
    const bool drops = workload.transformer && workload.transformer->attentionDropout;
    return drops ? 2 * once + once / std::max(1.0, bits(workload.costs.type[i]) / 8.0) : once;
}

double keptMask(const Workload& workload, std::size_t i) {
    const Operator& op = workload.graph.operators[i];
    if (op.type != "Residual" || !workload.transformer || !workload.transformer->residualDropout) return 0;
    double elements = 0;
    for (const TensorId id : op.outputs)
        if (const Tensor* tensor = workload.graph.tensor(id)) elements += tensor->elements();
    return elements;
}

}  // namespace orrery
