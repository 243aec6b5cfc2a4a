#include "workload/kernel_source.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "workload/kernel_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {

namespace {

constexpr std::string_view prefix = "kernel:";
constexpr const char* form = "a kind and its fields, such as `kernel:gemm m=4096 n=4096 k=8192 dtype=bf16`";

Unexpected wrongSource(std::string message, std::string expected = form, std::string hint = {}) {
    return fail("kernel.source", std::move(message), std::move(expected), std::move(hint), Place{.path = "source"});
}

bool needsSeveralDevices(KernelKind kind) {
    return kind == KernelKind::Collective || kind == KernelKind::Experts;
}

Expected<void> setField(KernelDraft& draft, std::string_view name, std::string_view value) {
    const KernelField* field = findKernelField(name);
    if (!field) {
        std::vector<std::string> names;
        for (const KernelField& each : kernelFields()) names.emplace_back(each.name);
        return wrongSource(fmt::format("a kernel has no field `{}`", name.substr(0, 100)), form,
                           didYouMean(std::string(name), names));
    }
    if (field->setWord) {
        if (field->setWord(draft, value)) return {};
        return wrongSource(fmt::format("`{}={}` is no {}", name, value.substr(0, 100), field->meaning),
                           fmt::format("{}", field->words));
    }
    const auto number = numberIn(value);
    if (!number || *number < field->low || *number > field->high || (field->whole && *number != std::floor(*number)))
        return wrongSource(
            fmt::format("`{}={}` cannot be", name, value.substr(0, 100)),
            fmt::format("a {}number from {:g} to {:g}", field->whole ? "whole " : "", field->low, field->high));
    field->setNumber(draft, *number);
    return {};
}

// Writes `name=value` where the value is not the one that stands without it.
class FieldText {
public:
    explicit FieldText(KernelKind kind) : text_(fmt::format("{}{}", prefix, toText(kind))) {}
    FieldText& number(std::string_view name, std::int64_t value, std::int64_t usual = 0) {
        if (value != usual) text_ += fmt::format(" {}={}", name, value);
        return *this;
    }
    FieldText& amount(std::string_view name, double value) {
        if (value != 0) text_ += fmt::format(" {}={}", name, value);
        return *this;
    }
    FieldText& flag(std::string_view name, bool value) {
        if (value) text_ += fmt::format(" {}=yes", name);
        return *this;
    }
    FieldText& type(std::string_view name, DType value, DType usual) {
        if (value != usual) text_ += fmt::format(" {}={}", name, toText(value));
        return *this;
    }
    FieldText& word(std::string_view name, std::string_view value) {
        if (!value.empty()) text_ += fmt::format(" {}={}", name, value);
        return *this;
    }
    std::string text() && { return std::move(text_); }

private:
    std::string text_;
};

// Zeros on one side of the image that its result needs at least, given the filter.
std::int64_t padOf(std::int64_t side, std::int64_t filter, std::int64_t out, const ConvolutionShape& c) {
    const std::int64_t spans = (out - 1) * c.stride + c.dilation * (filter - 1) + 1;
    return (spans - side + 1) / 2;
}

}  // namespace

bool isKernelSource(std::string_view source) {
    return source.starts_with(prefix);
}

Expected<Kernel> kernelFromSource(std::string_view source) {
    if (isKernelSource(source)) source.remove_prefix(prefix.size());
    KernelDraft draft;
    for (const std::string_view part : splitTrimmed(trimmed(source), ' ')) {
        if (part.empty()) continue;
        const std::size_t equals = part.find('=');
        if (equals + 1 == part.size()) return wrongSource(fmt::format("`{}` has no value", part.substr(0, 100)));
        const bool bare = equals == std::string_view::npos;  // a kind, or a type
        const auto set = !bare             ? setField(draft, part.substr(0, equals), part.substr(equals + 1))
                         : draft.kindGiven ? setField(draft, "dtype", part)
                                           : setField(draft, "kind", part);
        if (!set) return Unexpected(set.error());
    }
    if (draft.kindGiven && needsSeveralDevices(draft.kernel.kind))
        return wrongSource(fmt::format("{} is no kernel of one device alone", toText(draft.kernel.kind)),
                           "a kernel that one device computes", "ask a model with a plan instead");
    if (const char* wrong = finishKernel(draft)) return wrongSource(wrong);
    return draft.kernel;
}

std::string kernelSource(const Kernel& k) {
    if (needsSeveralDevices(k.kind)) return {};
    FieldText text(k.kind);
    switch (k.kind) {
        case KernelKind::Gemm:
            text.number("batch", k.batch, 1).number("m", k.m).number("n", k.n).number("k", k.k);
            text.type("dtype", k.type, Kernel{}.type).type("weights", k.weightType, k.type);
            text.number("scale_block", k.scaleBlock).flag("quantises_input", k.quantisesInput).flag("bias", k.bias);
            text.flag("transposed_weight", k.transposedWeight);
            break;
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            const AttentionShape& a = k.attention;
            text.number("batch", a.batch, 1).number("heads", a.heads, 1).number("kv_heads", a.kvHeads, 1);
            text.number("queries", a.queries, 1).number("keys", a.keys, 1).number("head_dim", a.headDim, 64);
            text.number("value_dim", a.valueDim, a.headDim).flag("causal", a.causal).number("window", k.window);
            text.type("dtype", k.type, Kernel{}.type).type("kv", k.kvType, k.type);
            if (!a.flash) text.word("fused", "no");
            text.flag("flash_decoding", k.flashDecoding);
            break;
        }
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            text.word("function", k.function).number("operands", k.operands, 1).number("m", k.m).number("n", k.n);
            text.type("dtype", k.type, Kernel{}.type);
            break;
        case KernelKind::Convolution: {
            const ConvolutionShape& c = k.convolution;
            text.number("batch", c.batch, 1).number("in_channels", c.inChannels, 1);
            text.number("out_channels", c.outChannels, 1).number("groups", c.groups, 1);
            text.number("height", c.height, 1).number("width", c.width, 1);
            text.number("kernel_height", c.kernelHeight, 1).number("kernel_width", c.kernelWidth, 1);
            text.number("out_height", c.outHeight).number("out_width", c.outWidth).number("stride", c.stride, 1);
            text.number("dilation", c.dilation, 1).type("dtype", k.type, Kernel{}.type);
            text.type("weights", k.weightType, k.type).flag("bias", k.bias);
            // Where the result is larger than the image without zeros around it.
            text.number("pad", std::max({std::int64_t{0}, padOf(c.height, c.kernelHeight, c.outHeight, c),
                                         padOf(c.width, c.kernelWidth, c.outWidth, c)}));
            break;
        }
        default:
            text.word("function", k.function).amount("flops", k.flops).amount("read_bytes", k.readBytes);
            text.amount("write_bytes", k.writeBytes).type("dtype", k.type, Kernel{}.type);
    }
    return std::move(text).text();
}

Expected<ImportedGraph> buildFromKernel(std::string_view source) {
    const auto kernel = kernelFromSource(source);
    if (!kernel) return Unexpected(kernel.error());
    ImportedGraph built;
    built.name = toText(*kernel);
    addOperator(built.graph, *kernel, toText(kernel->kind));
    return built;
}

}  // namespace orrery
