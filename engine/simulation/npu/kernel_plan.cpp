#include "simulation/npu/kernel_plan.h"

#include "simulation/npu/kernel_specs.h"
#include "workload/costs.h"
#include "workload/operator_types.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

std::int64_t upTo(double value) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(value, 0.0, 9e15) - 1e-9));
}

// Pools and reductions are what a sweep is: one passage of their data.
bool passesOnce(std::string_view function) {
    const OperatorType* known = operatorType(function);
    return known && (known->kind == OperatorKind::Pool || known->kind == OperatorKind::Reduce ||
                     known->kind == OperatorKind::Gather);
}

// The share of `bytes` that one of a batch has, rounded up.
std::int64_t shareOf(double bytes, std::int64_t batch) {
    return (upTo(bytes) + batch - 1) / batch;
}

// A launch and the operator that it is, with what its stored tensors take more than their elements.
class Launched {
public:
    Launched(const Kernel& kernel, const NpuMachine& machine) : kernel_(kernel), machine_(machine) {
        addOperator(graph_, kernel);
        costs_ = costTable(graph_);
        if (const Tensor* y = result(); y && y->bytes().value > 0) {
            padding_ = static_cast<double>(storedBytes(*y, machine)) / y->bytes().value;
        }
    }

    NpuKernels kernels() {
        switch (op().kind) {
            case OperatorKind::MatMul:
            case OperatorKind::Conv:
                product();
                break;
            case OperatorKind::Attention: {
                made_.kernels = attentionKernels(op(), graph_, machine_);
                break;
            }
            case OperatorKind::Softmax:
                softmax();
                break;
            case OperatorKind::Normalization:
                if (op().type == "BatchNormalization") {
                    sweep(padding_);
                } else {
                    normalization();
                }
                break;
            case OperatorKind::Elementwise:
                sweep(padding_);
                break;
            case OperatorKind::Other:
                made_.byBytes = !passesOnce(kernel_.function);
                sweep(1);
                break;
            default:
                sweep(1);
        }
        return std::move(made_);
    }

private:
    const Operator& op() const { return graph_.operators.front(); }
    const Tensor* result() const { return graph_.tensor(op().outputs.front()); }

    void add(KernelWork work, const char* what) { made_.kernels.push_back({std::move(work), what}); }

    void sweep(double padding) {
        const VectorSpec spec{upTo(padding * kernel_.readBytes), upTo(padding * kernel_.writeBytes),
                              upTo(kernel_.flops)};
        if (spec.readBytes + spec.writeBytes > 0) add(spec, "sweep");
    }

    void product() {
        auto found = productOf(op(), graph_, costs_, 0, machine_);
        if (!found) return sweep(padding_);
        const Epilogue& after = kernel_.epilogue;
        const double stored = padding_ * kernel_.writeBytes;
        if (machine_.accumulator > 0) {
            MappedSpec spec = mapped(found->spec, found->loops, found->stride, found->element, machine_);
            spec.layer.convolution = found->convolution;
            add(spec, "product");
            // Vectors of parameters go with the functions of one element, a second operand does not.
            if (after.bytes < 0.5 * kernel_.writeBytes) return;
            add(VectorSpec{upTo(stored + padding_ * after.bytes), upTo(stored), upTo(after.operations)}, "residual");
            return;
        }
        ProductSpec& spec = found->spec;
        spec.resultBytes = shareOf(stored, spec.batch);
        spec.extraBytes += shareOf(padding_ * after.bytes, spec.batch);
        spec.epilogueOps += shareOf(after.operations, spec.batch);
        add(spec, "product");
    }

    // What the rows of a reduction are read and written as, and what is fused with it.
    struct Rows {
        std::int64_t bytes = 0, elements = 0, result = 0;
        std::int64_t beside = 0, ops = 0;  ///< further operands, work of what is fused
    };
    Rows rows() const {
        const Tensor* in = graph_.tensor(op().inputs.front());
        Rows x;
        x.bytes = storedBytes(*in, machine_);
        x.elements = upTo(in->elements());
        x.result = upTo(padding_ * kernel_.writeBytes);
        x.beside = std::max<std::int64_t>(0, upTo(padding_ * kernel_.readBytes) - x.bytes);
        x.ops = upTo(std::max(0.0, kernel_.flops - costs_.flops.front()));
        return x;
    }

    void softmax() {
        const Rows x = rows();
        add(VectorSpec{x.bytes, 0, x.elements}, "maximum");
        add(VectorSpec{x.bytes, 0, 3 * x.elements}, "sum of exponentials");
        add(VectorSpec{x.bytes + x.beside, x.result, 3 * x.elements + x.ops}, "scaled exponentials");
    }

    void normalization() {
        const Operator& o = op();
        const Rows x = rows();
        const bool centred = o.type != "RMSNormalization" && o.type != "SimplifiedLayerNormalization" &&
                             o.type != "SkipSimplifiedLayerNormalization" && o.type != "LpNormalization";
        const std::int64_t n = x.elements;
        if (centred) {
            add(VectorSpec{x.bytes, 0, n}, "mean");
            add(VectorSpec{x.bytes, x.bytes, n}, "deviations");
            add(VectorSpec{x.bytes, 0, 2 * n}, "variance");
            add(VectorSpec{x.bytes + x.beside, x.result, 3 * n + x.ops}, "scaled deviations");
            return;
        }
        add(VectorSpec{x.bytes, 0, 2 * n}, "mean square");
        add(VectorSpec{x.bytes + x.beside, x.result, 2 * n + x.ops}, "scale");
    }

    const Kernel& kernel_;
    const NpuMachine& machine_;
    Graph graph_;
    CostTable costs_;
    double padding_ = 1;
    NpuKernels made_;
};

}  // namespace

NpuKernels npuKernels(const Kernel& kernel, const NpuMachine& machine) {
    if (kernel.kind == KernelKind::Collective || (kernel.flops <= 0 && kernel.bytes() <= 0)) return {};
    return Launched(kernel, machine).kernels();
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
