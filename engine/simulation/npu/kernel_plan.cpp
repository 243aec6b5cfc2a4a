#include "simulation/npu/kernel_plan.h"

#include "simulation/npu/kernel_specs.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace orrery {

namespace {

constexpr int none = -1;

std::int64_t whole(double value) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(value, 0.0, 9e15) - 1e-9));
}

bool isUnary(const Operator& op, const Graph& graph) {
    int activations = 0;
    for (const TensorId id : op.inputs) {
        const Tensor* tensor = graph.tensor(id);
        if (tensor && tensor->role != TensorRole::Weight && tensor->role != TensorRole::Constant) ++activations;
    }
    return activations <= 1;
}

class Planner {
public:
    Planner(const Graph& graph, const CostTable& costs, const NpuMachine& machine)
        : graph_(graph), costs_(costs), machine_(machine) {
        readers_.assign(graph.tensors.size(), 0);
        maker_.assign(graph.tensors.size(), none);
        for (const Operator& op : graph.operators) {
            for (const TensorId id : op.inputs) {
                if (id >= 0) ++readers_[static_cast<std::size_t>(id)];
            }
        }
        for (const TensorId id : graph.outputs) {
            if (id >= 0) ++readers_[static_cast<std::size_t>(id)];
        }
    }

    KernelPlan run() {
        const auto unresolved = graph_.unresolved();
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            if (std::binary_search(unresolved.begin(), unresolved.end(), i)) continue;
            plan(static_cast<int>(i));
        }
        return std::move(plan_);
    }

private:
    const Operator& op(int i) const { return graph_.operators[static_cast<std::size_t>(i)]; }

    void plan(int i) {
        const Operator& o = op(i);
        switch (o.kind) {
            case OperatorKind::View:
                view(o);
                return;
            case OperatorKind::MatMul:
            case OperatorKind::Conv:
            case OperatorKind::ConvTranspose:
                product(i);
                return;
            case OperatorKind::Attention:
                if (o.attention) {
                    for (auto& kernel : attentionKernels(o, i, graph_, machine_)) plan_.kernels.push_back(kernel);
                    made(o, static_cast<int>(plan_.kernels.size()) - 1);
                    return;
                }
                break;
            case OperatorKind::Softmax:
                softmax(i);
                return;
            case OperatorKind::Normalization:
                if (o.type == "BatchNormalization") {
                    elementwise(i);
                } else {
                    normalization(i);
                }
                return;
            case OperatorKind::Elementwise:
                elementwise(i);
                return;
            case OperatorKind::Other:
            case OperatorKind::Scan:
            case OperatorKind::Routing:
                plan_.byBytes.push_back(i);
                break;
            default:
                break;
        }
        sweep(i);
    }

    // A reshape hands its operand on: what follows may still join the kernel that made it.
    void view(const Operator& o) {
        if (o.inputs.empty() || o.outputs.empty() || o.inputs[0] < 0) return;
        const auto in = static_cast<std::size_t>(o.inputs[0]);
        if (readers_[in] == 1) maker_[static_cast<std::size_t>(o.outputs[0])] = maker_[in];
    }

    void made(const Operator& o, int kernel) {
        for (const TensorId id : o.outputs) {
            if (id >= 0) maker_[static_cast<std::size_t>(id)] = kernel;
        }
    }

    void add(int i, KernelWork work, const char* what) {
        plan_.kernels.push_back({i, {}, std::move(work), what});
        made(op(i), static_cast<int>(plan_.kernels.size()) - 1);
    }

    void sweep(int i) {
        const VectorSpec spec = sweepOf(op(i), graph_, costs_, static_cast<std::size_t>(i), machine_);
        if (spec.readBytes + spec.writeBytes > 0) add(i, spec, "sweep");
    }

    // The kernel that a reader of the operand may join: it made it, alone for this reader, and runs as often.
    int joinable(int i, std::size_t input) const {
        const Operator& o = op(i);
        if (input >= o.inputs.size() || o.inputs[input] < 0) return none;
        const auto t = static_cast<std::size_t>(o.inputs[input]);
        const int kernel = maker_[t];
        if (kernel == none || readers_[t] != 1) return none;
        const NpuKernel& k = plan_.kernels[static_cast<std::size_t>(kernel)];
        const Operator& owner = op(k.op);
        if (owner.repeat != o.repeat || owner.block != o.block) return none;
        return kernel;
    }

    void elementwise(int i) {
        const Operator& o = op(i);
        int best = none;
        std::size_t through = 0;
        for (std::size_t input = 0; input < o.inputs.size(); ++input) {
            const int kernel = joinable(i, input);
            const Tensor* in = graph_.tensor(o.inputs[input]);
            const Tensor* out = o.outputs.empty() ? nullptr : graph_.tensor(o.outputs[0]);
            if (kernel > best && in && out && in->elements() == out->elements()) best = kernel, through = input;
        }
        if (best == none || !join(i, best, through)) sweep(i);
    }

    bool join(int i, int kernel, std::size_t through) {
        const Operator& o = op(i);
        NpuKernel& k = plan_.kernels[static_cast<std::size_t>(kernel)];
        std::int64_t beside = 0;
        for (std::size_t input = 0; input < o.inputs.size(); ++input) {
            const Tensor* tensor = graph_.tensor(o.inputs[input]);
            if (input != through && tensor) beside += storedBytes(*tensor, machine_);
        }
        const std::int64_t ops = whole(costs_.flops[static_cast<std::size_t>(i)]);
        const std::int64_t result = storedBytes(*graph_.tensor(o.outputs[0]), machine_);
        if (auto* p = std::get_if<ProductSpec>(&k.work)) {
            p->extraBytes += (beside + p->batch - 1) / p->batch;
            p->epilogueOps += (ops + p->batch - 1) / p->batch;
            p->resultBytes = (result + p->batch - 1) / p->batch;
        } else if (auto* v = std::get_if<VectorSpec>(&k.work)) {
            if (v->writeBytes == 0) return false;
            v->readBytes += beside;
            v->writeBytes = result;
            v->ops += ops;
        } else if (!std::holds_alternative<MappedSpec>(k.work) || !isUnary(o, graph_)) {
            return false;
        }
        k.with.push_back(i);
        made(o, kernel);
        return true;
    }

    void product(int i) {
        auto found = productOf(op(i), graph_, costs_, static_cast<std::size_t>(i), machine_);
        if (!found) return sweep(i);
        if (machine_.accumulator > 0) {
            MappedSpec spec = mapped(found->spec, found->loops, found->stride, found->element, machine_);
            spec.layer.convolution = found->convolution;
            return add(i, spec, "product");
        }
        takeScaling(i, *found);
        add(i, found->spec, "product");
    }

    // The last sweep of a softmax that this product alone reads runs on its operand as it enters.
    void takeScaling(int i, ProductOperator& product) {
        const int kernel = joinable(i, 0);
        if (!product.movesFirst || kernel == none || kernel + 1 != static_cast<int>(plan_.kernels.size())) return;
        const NpuKernel& k = plan_.kernels[static_cast<std::size_t>(kernel)];
        const auto* v = std::get_if<VectorSpec>(&k.work);
        if (op(k.op).kind != OperatorKind::Softmax || !v || v->writeBytes == 0 || !k.with.empty()) return;
        product.spec.prologueOps += (v->ops + product.spec.batch - 1) / product.spec.batch;
        plan_.kernels.pop_back();
    }

    // The first sweep of a reduction joins the kernel that makes its operand.
    bool joinsFirst(int i, std::int64_t ops) {
        const int kernel = joinable(i, 0);
        if (kernel == none) return false;
        NpuKernel& k = plan_.kernels[static_cast<std::size_t>(kernel)];
        if (auto* p = std::get_if<ProductSpec>(&k.work)) {
            p->epilogueOps += (ops + p->batch - 1) / p->batch;
            return true;
        }
        if (auto* v = std::get_if<VectorSpec>(&k.work); v && v->writeBytes > 0) {
            v->ops += ops;
            return true;
        }
        return false;
    }

    struct Operand {
        std::int64_t bytes = 0, elements = 0, result = 0;
    };
    std::optional<Operand> operandOf(const Operator& o) const {
        const Tensor* in = o.inputs.empty() ? nullptr : graph_.tensor(o.inputs[0]);
        const Tensor* out = o.outputs.empty() ? nullptr : graph_.tensor(o.outputs[0]);
        if (!in || !out) return std::nullopt;
        return Operand{storedBytes(*in, machine_), whole(in->elements()), storedBytes(*out, machine_)};
    }

    void softmax(int i) {
        const auto x = operandOf(op(i));
        if (!x) return sweep(i);
        if (!joinsFirst(i, x->elements)) add(i, VectorSpec{x->bytes, 0, x->elements}, "maximum");
        add(i, VectorSpec{x->bytes, 0, 3 * x->elements}, "sum of exponentials");
        add(i, VectorSpec{x->bytes, x->result, 3 * x->elements}, "scaled exponentials");
    }

    void normalization(int i) {
        const Operator& o = op(i);
        const auto x = operandOf(o);
        if (!x) return sweep(i);
        const bool centred = o.type != "RMSNormalization" && o.type != "SimplifiedLayerNormalization" &&
                             o.type != "SkipSimplifiedLayerNormalization" && o.type != "LpNormalization";
        std::int64_t beside = 0;
        for (std::size_t input = 1; input < o.inputs.size(); ++input) {
            if (const Tensor* tensor = graph_.tensor(o.inputs[input])) beside += storedBytes(*tensor, machine_);
        }
        const std::int64_t n = x->elements;
        if (centred) {
            if (!joinsFirst(i, n)) add(i, VectorSpec{x->bytes, 0, n}, "mean");
            add(i, VectorSpec{x->bytes, x->bytes, n}, "deviations");
            add(i, VectorSpec{x->bytes, 0, 2 * n}, "variance");
            add(i, VectorSpec{x->bytes + beside, x->result, 3 * n}, "scaled deviations");
            return;
        }
        if (!joinsFirst(i, 2 * n)) add(i, VectorSpec{x->bytes, 0, 2 * n}, "mean square");
        add(i, VectorSpec{x->bytes + beside, x->result, 2 * n}, "scale");
    }

    const Graph& graph_;
    const CostTable& costs_;
    const NpuMachine& machine_;
    KernelPlan plan_;
    std::vector<int> readers_, maker_;
};

}  // namespace

KernelPlan planKernels(const Graph& graph, const CostTable& costs, const NpuMachine& machine) {
    return Planner(graph, costs, machine).run();
}

Expected<void> lower(const KernelWork& work, const NpuMachine& machine, NpuProgram& program) {
    if (const auto* product = std::get_if<ProductSpec>(&work)) {
        lowerProduct(*product, machine, program);
    } else if (const auto* sweep = std::get_if<VectorSpec>(&work)) {
        lowerVector(*sweep, machine, program);
    } else if (const auto* flash = std::get_if<FlashSpec>(&work)) {
        lowerFlash(*flash, machine, program);
    } else {
        const auto& spec = std::get<MappedSpec>(work);
        return lowerMapped(spec.mapping, spec.layer, machine, program);
    }
    return {};
}

MappedSpec mapped(const ProductSpec& spec, const TileLoops& loops, std::int64_t stride, std::int64_t element,
                  const NpuMachine& machine) {
    MappedSpec out;
    out.batch = spec.batch;
    out.layer.element = std::max<std::int64_t>(element, 1);
    out.layer.stride = stride;
    const bool matrix = loops.p * loops.q * loops.r * loops.s == 1;
    out.mapping = matrix ? gemminiTiling(loops.n, loops.c, loops.m, out.layer.element, machine)
                         : gemminiTiling(loops, stride, out.layer.element, machine);
    return out;
}

}  // namespace orrery
