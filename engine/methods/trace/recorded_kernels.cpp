#include "methods/trace/recorded_kernels.h"

#include "methods/model/kernel_bound.h"
#include "methods/model/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace orrery {

namespace {

/// A launch that an operator stands for; its time is `scale` times the kernel's.
struct MadeLaunch {
    Kernel kernel;
    KernelUse use = KernelUse::Forward;
    double scale = 1;
};
using Made = std::vector<MadeLaunch>;

/// Names without `aten::`, a trailing `_` of those that write in place, and autograd's ending.
struct VectorName {
    std::string_view recorded, function;
};
constexpr VectorName vector_names[] = {{"relu", "Relu"},
                                       {"gelu", "Gelu"},
                                       {"silu", "SiLU"},
                                       {"sigmoid", "Sigmoid"},
                                       {"tanh", "Tanh"},
                                       {"add", "Add"},
                                       {"sub", "Sub"},
                                       {"mul", "Mul"},
                                       {"div", "Div"},
                                       {"hardtanh", "Clip"},
                                       {"pow", "Pow"},
                                       {"hardswish", "HardSwish"},
                                       {"leaky_relu", "LeakyRelu"}};
constexpr VectorName backward_names[] = {
    {"ReluBackward0", "Relu"},       {"GeluBackward0", "Gelu"}, {"SiluBackward0", "SiLU"},
    {"SigmoidBackward0", "Sigmoid"}, {"TanhBackward0", "Tanh"}, {"MulBackward0", "Mul"},
    {"threshold_backward", "Relu"},  {"gelu_backward", "Gelu"}, {"silu_backward", "SiLU"}};
constexpr VectorName pool_names[] = {{"max_pool2d", "MaxPool"},
                                     {"max_pool2d_with_indices", "MaxPool"},
                                     {"avg_pool2d", "AveragePool"},
                                     {"adaptive_avg_pool2d", "AveragePool"},
                                     {"mean", "AveragePool"}};
constexpr VectorName pool_backward_names[] = {{"MaxPool2DWithIndicesBackward0", "MaxPool"},
                                              {"max_pool2d_with_indices_backward", "MaxPool"},
                                              {"AvgPool2DBackward0", "AveragePool"},
                                              {"AdaptiveAvgPool2DBackward0", "AveragePool"},
                                              {"MeanBackward1", "AveragePool"}};

template <std::size_t N>
std::string_view functionOf(const VectorName (&names)[N], std::string_view name) {
    for (const auto& [recorded, function] : names)
        if (name == recorded) return function;
    return {};
}

DType typeOf(const RecordedTensor& tensor) {
    return tensor.bytesPerElement <= 1   ? DType::FP8
           : tensor.bytesPerElement <= 2 ? DType::F16
           : tensor.bytesPerElement <= 4 ? DType::F32
                                         : DType::F64;
}

double lastOf(const RecordedTensor& tensor, std::size_t fromEnd = 1) {
    return tensor.shape.size() < fromEnd ? 1 : static_cast<double>(tensor.shape[tensor.shape.size() - fromEnd]);
}

/// Reads the operators of a recording one after the other.
class KernelReader {
public:
    Made read(const RecordedOperator& op) {
        if (op.stage == RecordedStage::Optimizer) return {};
        std::string_view name = op.name;
        if (name.starts_with("aten::")) name.remove_prefix(6);
        if (name.ends_with('_') && !name.starts_with('_')) name.remove_suffix(1);
        return op.stage == RecordedStage::Forward ? forward(name, op) : backward(name, op);
    }

private:
    static bool has(const RecordedOperator& op, std::size_t inputs, std::size_t outputs) {
        return op.inputs.size() >= inputs && op.outputs.size() >= outputs;
    }

    Made forward(std::string_view name, const RecordedOperator& op) {
        if (name == "conv2d" || name == "convolution" || name == "cudnn_convolution")
            return has(op, 2, 1) ? convolution(op.inputs[0], op.inputs[1], op.outputs[0]) : Made{};
        if (auto product = this->product(name, op)) {
            products_.push_back(*product);
            return {{*product, KernelUse::Forward}};
        }
        if (!has(op, 1, 1)) return {};
        const RecordedTensor& in = op.inputs[0];
        const RecordedTensor& out = op.outputs[0];
        const DType type = typeOf(in);
        if (name == "batch_norm" || name == "native_batch_norm" || name == "cudnn_batch_norm") return {norm(in, 1)};
        if (name == "layer_norm" || name == "native_layer_norm" || name == "rms_norm")
            return {
                {rowsKernel(KernelKind::Normalization, name == "rms_norm" ? "RMSNormalization" : "LayerNormalization",
                            type, in.elements() / lastOf(in), lastOf(in), 1),
                 KernelUse::Forward}};
        if (name == "softmax" || name == "_softmax")
            return {{rowsKernel(KernelKind::Softmax, "Softmax", type, in.elements() / lastOf(in), lastOf(in), 1),
                     KernelUse::Forward}};
        if (name == "cross_entropy_loss" || name == "log_softmax" || name == "_log_softmax")
            return {{rowsKernel(KernelKind::Softmax, "LogSoftmax", type, in.elements() / lastOf(in), lastOf(in), 1),
                     KernelUse::Loss}};
        if (const auto function = functionOf(pool_names, name); !function.empty())
            return {{pool(function, in, out, false), KernelUse::Forward}};
        if (name == "embedding") {
            const double bytes = out.elements() * out.bytesPerElement;
            return {{movementKernel("Gather", typeOf(out), bytes, bytes), KernelUse::Forward}};
        }
        if (name.find("scaled_dot_product") != std::string_view::npos) return attention(op);
        const std::string_view function = functionOf(vector_names, name);
        if (function.empty() || out.elements() < 2) return {};
        const auto same = std::count_if(op.inputs.begin(), op.inputs.end(),
                                        [&](const RecordedTensor& t) { return t.elements() == out.elements(); });
        return {{rowsKernel(KernelKind::Elementwise, function, type, out.elements() / lastOf(out), lastOf(out),
                            std::max(1, static_cast<int>(same))),
                 KernelUse::Forward}};
    }

    Made backward(std::string_view name, const RecordedOperator& op) {
        if ((name == "ConvolutionBackward0" || name == "convolution_backward") && has(op, 3, 1)) {
            const Made forwards = convolution(op.inputs[1], op.inputs[2], op.inputs[0]);
            if (forwards.empty()) return {};
            Made made;
            if (op.outputs[0].elements() == op.inputs[1].elements())
                made.push_back({forwards[0].kernel, KernelUse::Backward});
            made.push_back({forwards[0].kernel, KernelUse::WeightGradient});
            return made;
        }
        if (name == "AddmmBackward0" || name == "MmBackward0") return productBackward(op, name == "AddmmBackward0");
        if (auto product = this->product(name, op)) return {{*product, useOfProduct(*product)}};
        if (!has(op, 1, 1)) return {};
        if (name.find("scaled_dot_product") != std::string_view::npos && op.inputs.size() > 3) {
            RecordedOperator forwards = op;  // behind the gradient stand query, key and value
            forwards.inputs.erase(forwards.inputs.begin());
            Made made = attention(forwards);
            for (MadeLaunch& each : made) each.use = KernelUse::Backward, each.scale = attentionBackwardScale;
            return made;
        }
        if ((name == "CudnnBatchNormBackward0" || name == "NativeBatchNormBackward0" ||
             name == "cudnn_batch_norm_backward" || name == "native_batch_norm_backward")) {
            auto back = norm(op.inputs[0], 2);
            back.use = KernelUse::Backward;
            return {back, {sumsKernel(back.kernel, 2), KernelUse::Backward}};
        }
        if (name == "LogSoftmaxBackward0" || name == "_log_softmax_backward_data") {
            const RecordedTensor& of = op.inputs[0];
            return {
                {rowsKernel(KernelKind::Softmax, "LogSoftmax", typeOf(of), of.elements() / lastOf(of), lastOf(of), 2),
                 KernelUse::Backward}};
        }
        if (name == "SoftmaxBackward0" || name == "_softmax_backward_data") {
            const RecordedTensor& of = op.inputs[0];
            return {{rowsKernel(KernelKind::Softmax, "Softmax", typeOf(of), of.elements() / lastOf(of), lastOf(of), 2),
                     KernelUse::Backward}};
        }
        const bool rms = name == "_fused_rms_norm_backward" || name == "FusedRmsNormBackward0";
        if (name == "NativeLayerNormBackward0" || name == "native_layer_norm_backward" || rms) {
            const RecordedTensor& of = op.inputs[0];
            const Kernel back = rowsKernel(KernelKind::Normalization, rms ? "RMSNormalization" : "LayerNormalization",
                                           typeOf(of), of.elements() / lastOf(of), lastOf(of), 2);
            return {{back, KernelUse::Backward}, {sumsKernel(back, 2), KernelUse::Backward}};
        }
        if (const auto function = functionOf(pool_backward_names, name); !function.empty())
            return {{pool(function, op.outputs[0], op.inputs[0], true), KernelUse::Backward}};
        const RecordedTensor& out = op.outputs[0];
        if (name == "embedding_dense_backward" || name == "EmbeddingBackward0") {
            const double rows = op.inputs[0].elements() * op.inputs[0].bytesPerElement;
            return {{movementKernel("Gather", typeOf(out), 2 * rows, out.elements() * out.bytesPerElement + rows),
                     KernelUse::Backward}};
        }
        if (name == "add" && out.elements() > 1)  // gradients of a tensor that two operators read
            return {
                {rowsKernel(KernelKind::Elementwise, "Add", typeOf(out), out.elements() / lastOf(out), lastOf(out), 2),
                 KernelUse::Backward}};
        if (name == "sum" && op.inputs[0].shape.size() == 2 && out.elements() == lastOf(op.inputs[0])) {
            const RecordedTensor& rows = op.inputs[0];
            return {
                {sumsKernel(productKernel(typeOf(rows), 1, lastOf(rows, 2), lastOf(rows), 1), 1), KernelUse::Backward}};
        }
        const std::string_view function = functionOf(backward_names, name);
        if (function.empty() || out.elements() < 2) return {};
        return {
            {rowsKernel(KernelKind::Elementwise, function, typeOf(out), out.elements() / lastOf(out), lastOf(out), 2),
             KernelUse::Backward}};
    }

    static Made convolution(const RecordedTensor& x, const RecordedTensor& w, const RecordedTensor& y) {
        if (x.shape.size() != 4 || w.shape.size() != 4 || y.shape.size() != 4) return {};
        if (w.elements() < 1 || y.elements() < 1 || x.elements() < 1) return {};
        Kernel kernel;
        kernel.kind = KernelKind::Convolution;
        kernel.function = "Conv";
        kernel.type = kernel.weightType = kernel.kvType = typeOf(x);
        // The stride is not recorded; it follows from the sides, which is all that matters here.
        kernel.convolution = {.batch = x.shape[0],
                              .inChannels = x.shape[1],
                              .outChannels = y.shape[1],
                              .groups = std::max<std::int64_t>(1, x.shape[1] / w.shape[1]),
                              .height = x.shape[2],
                              .width = x.shape[3],
                              .kernelHeight = w.shape[2],
                              .kernelWidth = w.shape[3],
                              .outHeight = y.shape[2],
                              .outWidth = y.shape[3],
                              .stride = std::max<std::int64_t>(1, (x.shape[2] + y.shape[2] / 2) / y.shape[2])};
        countWork(kernel);
        return {{kernel, KernelUse::Forward}};
    }

    static std::optional<Kernel> product(std::string_view name, const RecordedOperator& op) {
        if (name == "linear" && has(op, 2, 1)) {
            const RecordedTensor &x = op.inputs[0], &w = op.inputs[1];
            if (w.shape.size() != 2 || x.elements() < 1) return std::nullopt;
            return productKernel(typeOf(x), 1, x.elements() / lastOf(x), lastOf(w, 2), lastOf(w));
        }
        const bool shifted = name == "addmm" || name == "baddbmm";
        if (name != "mm" && name != "bmm" && name != "matmul" && !shifted) return std::nullopt;
        const std::size_t at = shifted ? 1 : 0;
        if (!has(op, at + 2, 1)) return std::nullopt;
        const RecordedTensor &a = op.inputs[at], &b = op.inputs[at + 1];
        if (a.shape.size() < 2 || b.shape.size() < 2 || a.elements() < 1 || b.elements() < 1) return std::nullopt;
        const double k = lastOf(a), n = lastOf(b), batch = b.elements() / (k * n);
        return productKernel(typeOf(a), batch, a.elements() / (batch * k), n, k);
    }

    // Autograd says the weight alone: the forward product whose weight has as many elements, the last one first.
    Made productBackward(const RecordedOperator& op, bool bias) {
        if (!has(op, 1, 0)) return {};
        for (const RecordedTensor& weight : op.inputs) {
            const auto at = std::find_if(products_.rbegin(), products_.rend(), [&](const Kernel& each) {
                return static_cast<double>(each.k) * static_cast<double>(each.n) == weight.elements();
            });
            if (at == products_.rend()) continue;
            const Kernel k = *at;
            products_.erase(std::next(at).base());
            const auto batch = static_cast<double>(k.batch), m = static_cast<double>(k.m), n = static_cast<double>(k.n),
                       inner = static_cast<double>(k.k);
            Made made{{productKernel(k.type, batch, m, inner, n), KernelUse::Backward},
                      {productKernel(k.type, batch, inner, n, m), KernelUse::WeightGradient}};
            if (bias) made.push_back({sumsKernel(k, 1), KernelUse::Backward});
            return made;
        }
        return {};
    }

    // A product of a backward pass: that of a weight's gradient sums over the rows of the batch.
    KernelUse useOfProduct(const Kernel& product) const {
        const bool weight = std::any_of(products_.begin(), products_.end(), [&](const Kernel& each) {
            const bool sides =
                (each.k == product.m && each.n == product.n) || (each.k == product.n && each.n == product.m);
            return sides && each.m == product.k;
        });
        return weight ? KernelUse::WeightGradient : KernelUse::Backward;
    }

    static MadeLaunch norm(const RecordedTensor& x, int operands) {
        double plane = 1;
        for (std::size_t i = 2; i < x.shape.size(); ++i) plane *= static_cast<double>(x.shape[i]);
        return {rowsKernel(KernelKind::Normalization, "BatchNormalization", typeOf(x), x.elements() / plane, plane,
                           operands),
                KernelUse::Forward};
    }

    static Kernel pool(std::string_view function, const RecordedTensor& in, const RecordedTensor& out, bool back) {
        Kernel kernel;
        kernel.kind = KernelKind::Other;
        kernel.function = function;
        kernel.type = kernel.weightType = kernel.kvType = typeOf(in);
        kernel.readBytes = in.elements() * in.bytesPerElement;
        kernel.writeBytes = out.elements() * out.bytesPerElement;
        if (back) {
            const double read = kernel.readBytes;
            kernel.readBytes += kernel.writeBytes;
            kernel.writeBytes = read;
        }
        return kernel;
    }

    static Made attention(const RecordedOperator& op) {
        if (!has(op, 3, 1) || op.inputs[0].shape.size() != 4 || op.inputs[1].shape.size() != 4) return {};
        const RecordedTensor &q = op.inputs[0], &k = op.inputs[1], &v = op.inputs[2];
        Kernel kernel;
        kernel.kind = q.shape[2] == 1 ? KernelKind::DecodeAttention : KernelKind::PrefillAttention;
        kernel.type = kernel.weightType = kernel.kvType = typeOf(q);
        kernel.attention = {.batch = q.shape[0],
                            .heads = q.shape[1],
                            .kvHeads = k.shape[1],
                            .queries = q.shape[2],
                            .keys = k.shape[2],
                            .headDim = q.shape[3],
                            .valueDim = v.shape.back()};
        countWork(kernel);
        return {{kernel, KernelUse::Forward}};
    }

    std::vector<Kernel> products_;  ///< of the forward pass, whose backward one has not come yet
};

/// Parameters that an optimizer goes over: the least that any of its operators over whole lists reads.
double parametersOf(const OperatorRecording& recording) {
    double least = 0;
    for (const RecordedOperator& op : recording.operators) {
        if (op.stage != RecordedStage::Optimizer) continue;
        double elements = 0;
        for (const RecordedTensor& each : op.inputs) elements += each.elements();
        if (elements > 1 && (least == 0 || elements < least)) least = elements;
    }
    return least;
}

/// Adam divides by a root of squares.
Optimizer optimizerOf(const OperatorRecording& recording) {
    const bool adam =
        std::any_of(recording.operators.begin(), recording.operators.end(), [](const RecordedOperator& op) {
            return op.stage == RecordedStage::Optimizer &&
                   (op.name.find("addcdiv") != std::string::npos || op.name.find("adam") != std::string::npos);
        });
    return adam ? Optimizer::Adam : Optimizer::Sgd;
}

}  // namespace

Expected<RecordedLaunches> recordedLaunches(const OperatorRecording& recording, const DeviceView& device) {
    RecordedLaunches result;
    KernelReader reader;
    double waiting = 0;
    std::size_t last = 0, count = 0;  // launches of the operator before
    RecordedStage stage = RecordedStage::Forward;
    const auto settle = [&] {  // at the end of a stage
        if (count == 0) return;
        for (std::size_t i = last; i < last + count; ++i) {
            result.launches[i].seconds += waiting / static_cast<double>(count);
            result.launches[i].idle += waiting / static_cast<double>(count);
        }
        waiting = 0;
    };
    for (const RecordedOperator& op : recording.operators) {
        const double seconds = op.microseconds * 1e-6;
        result.seconds += seconds;
        if (op.stage == RecordedStage::Optimizer) continue;
        if (op.stage != stage) settle();
        stage = op.stage;
        const Made made = reader.read(op);
        if (made.empty()) {
            waiting += seconds;
            result.riding += seconds;
            result.riders[op.name] += seconds;
            continue;
        }
        std::vector<double> shares;
        double all = 0;
        for (const MadeLaunch& each : made) {
            shares.push_back(std::max(1e-12, each.scale * leastSeconds(device, each.kernel)));
            all += shares.back();
        }
        last = result.launches.size();
        count = made.size();
        for (std::size_t i = 0; i < made.size(); ++i) {
            const double share = shares[i] / all / made[i].scale;
            result.launches.push_back(
                {made[i].kernel, made[i].use, (seconds + waiting) * share, (op.idle * 1e-6 + waiting) * share});
        }
        waiting = 0;
    }
    settle();
    const double optimizer = recording.microseconds(RecordedStage::Optimizer) * 1e-6;
    const double parameters = parametersOf(recording);
    if (optimizer > 0 && parameters > 0)
        result.launches.push_back(
            {optimizerKernel(optimizerOf(recording), parameters, 4), KernelUse::Optimizer, optimizer});
    if (count == 0)
        return fail("recording.kernels", fmt::format("no operator of {} is one that Orrery knows", recording.file),
                    "aten::conv2d, aten::linear, aten::batch_norm, … with their shapes", {},
                    {recording.file, 0, 0, {}});
    return result;
}

}  // namespace orrery
