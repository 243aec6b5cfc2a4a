#include "workload/kernel_fields.h"

#include "workload/expert_routing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <set>

namespace orrery {

namespace {

std::int64_t whole(double value) {
    return static_cast<std::int64_t>(value);
}

template <DType Kernel::*member>
bool setType(KernelDraft& draft, std::string_view word) {
    const auto type = dtype(word);
    if (type) draft.kernel.*member = *type;
    return type.has_value();
}
template <std::int64_t Kernel::*member>
void setExtent(KernelDraft& draft, double value) {
    draft.kernel.*member = whole(value);
}
template <std::int64_t AttentionShape::*member>
void setAttention(KernelDraft& draft, double value) {
    draft.kernel.attention.*member = whole(value);
}
template <std::int64_t ConvolutionShape::*member>
void setConvolution(KernelDraft& draft, double value) {
    draft.kernel.convolution.*member = whole(value);
}
template <bool Kernel::*member>
bool setFlag(KernelDraft& draft, std::string_view word) {
    const bool yes = word == "yes" || word == "true" || word == "1";
    draft.kernel.*member = yes;
    return yes || word == "no" || word == "false" || word == "0";
}

using K = Kernel;
using A = AttentionShape;
using C = ConvolutionShape;
constexpr double largestBytes = 1e16;
constexpr double largestFlops = 1e24;

const std::vector<KernelField>& fields() {
    static const std::vector<KernelField> all{
        {.name = "kind",
         .meaning = "family of kernels",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 const auto kind = kernelKind(word);
                 if (kind) d.kernel.kind = *kind;
                 d.kindGiven = d.kindGiven || kind.has_value();
                 return kind.has_value();
             },
         .words = "gemm, prefill-attention, decode-attention, elementwise, softmax, normalization, convolution, "
                  "collective, movement, other, experts"},
        {.name = "dtype",
         .meaning = "type in which it computes",
         .setWord = setType<&K::type>,
         .words = "fp32, tf32, bf16, fp16, fp8, fp4, int8, …"},
        {.name = "weights",
         .meaning = "type of a product's second operand",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 d.weightsGiven = true;
                 return setType<&K::weightType>(d, word);
             },
         .words = "bf16, fp16, fp8, fp4, int8, int4, …"},
        {.name = "kv",
         .meaning = "type of attention's cache",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 d.kvGiven = true;
                 return setType<&K::kvType>(d, word);
             },
         .words = "bf16, fp16, fp8, int8, …"},
        {.name = "scale_block",
         .meaning = "elements that share one scale, -1 for one per row",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.scaleBlock = static_cast<std::int32_t>(v); },
         .low = -1,
         .high = 65536},
        {.name = "quantises_input",
         .meaning = "quantises its activations itself",
         .setWord = setFlag<&K::quantisesInput>,
         .words = "yes, no"},
        {.name = "bias", .meaning = "adds a bias", .setWord = setFlag<&K::bias>, .words = "yes, no"},
        {.name = "transposed_weight",
         .meaning = "second operand stored n×k",
         .setWord = setFlag<&K::transposedWeight>,
         .words = "yes, no"},
        {.name = "function",
         .meaning = "operator of a vector kernel",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 d.kernel.function = keptWord(word);
                 return !word.empty();
             },
         .words = "Add, Gelu, LayerNormalization, …"},
        {.name = "operands",
         .meaning = "m×n tensors that a vector kernel reads",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.operands = static_cast<std::int32_t>(v); },
         .high = 16},
        {.name = "batch",
         .meaning = "products, sequences or images",
         .setNumber = [](KernelDraft& d, double v) { d.batch = v; }},
        {.name = "m", .meaning = "rows", .setNumber = setExtent<&K::m>},
        {.name = "n", .meaning = "columns", .setNumber = setExtent<&K::n>},
        {.name = "k", .meaning = "reduction", .setNumber = setExtent<&K::k>},
        {.name = "queries", .meaning = "new tokens per sequence", .setNumber = setAttention<&A::queries>},
        {.name = "keys", .meaning = "tokens attended to", .setNumber = setAttention<&A::keys>},
        {.name = "heads", .meaning = "query heads", .setNumber = setAttention<&A::heads>},
        {.name = "kv_heads", .meaning = "heads of keys and values", .setNumber = setAttention<&A::kvHeads>},
        {.name = "head_dim", .meaning = "elements of a query", .setNumber = setAttention<&A::headDim>},
        {.name = "value_dim",
         .meaning = "elements of a value",
         .setNumber = [](KernelDraft& d, double v) { d.valueDim = v; }},
        {.name = "causal",
         .meaning = "a token sees none after it",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 const bool yes = word == "yes" || word == "true" || word == "1";
                 d.kernel.attention.causal = yes;
                 return yes || word == "no" || word == "false" || word == "0";
             },
         .words = "yes, no"},
        {.name = "fused",
         .meaning = "its scores stay on the chip",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 const bool yes = word == "yes" || word == "true" || word == "1";
                 d.kernel.attention.flash = yes;
                 return yes || word == "no" || word == "false" || word == "0";
             },
         .words = "yes, no"},
        {.name = "flash_decoding",
         .meaning = "of decode attention: FlashAttention's or FlashInfer's kernels run it",
         .setWord = setFlag<&K::flashDecoding>,
         .words = "yes, no"},
        {.name = "window", .meaning = "tokens looked back, 0 for all", .setNumber = setExtent<&K::window>, .low = 0},
        {.name = "in_channels", .meaning = "of a convolution", .setNumber = setConvolution<&C::inChannels>},
        {.name = "out_channels", .meaning = "of a convolution", .setNumber = setConvolution<&C::outChannels>},
        {.name = "groups", .meaning = "of a convolution", .setNumber = setConvolution<&C::groups>},
        {.name = "height", .meaning = "of the image", .setNumber = setConvolution<&C::height>},
        {.name = "width", .meaning = "of the image", .setNumber = setConvolution<&C::width>},
        {.name = "kernel_height", .meaning = "of the filter", .setNumber = setConvolution<&C::kernelHeight>},
        {.name = "kernel_width", .meaning = "of the filter", .setNumber = setConvolution<&C::kernelWidth>},
        {.name = "out_height",
         .meaning = "of the result",
         .setNumber = [](KernelDraft& d, double v) { d.outHeight = v; }},
        {.name = "out_width",
         .meaning = "of the result",
         .setNumber = [](KernelDraft& d, double v) { d.outWidth = v; }},
        {.name = "pad",
         .meaning = "zeros around the image",
         .setNumber = [](KernelDraft& d, double v) { d.pad = v; },
         .low = 0},
        {.name = "stride", .meaning = "of the filter", .setNumber = setConvolution<&C::stride>},
        {.name = "dilation", .meaning = "of the filter", .setNumber = setConvolution<&C::dilation>},
        {.name = "collective",
         .meaning = "what the ranks do together",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 const auto op = collectiveOp(word);
                 if (op) d.kernel.collective = *op;
                 return op.has_value();
             },
         .words = "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, send-receive"},
        {.name = "library",
         .meaning = "whose kernels move the bytes",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 d.kernel.library = word == "custom" ? CollectiveLibrary::Custom : CollectiveLibrary::Nccl;
                 return word == "custom" || word == "nccl";
             },
         .words = "nccl, custom"},
        {.name = "ranks", .meaning = "devices that take part", .setNumber = setExtent<&K::ranks>, .high = 1e7},
        {.name = "message_bytes",
         .meaning = "of the larger buffer of one rank",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.messageBytes = v; },
         .high = largestBytes,
         .whole = false},
        {.name = "tokens",
         .meaning = "that choose experts, of all ranks that share these",
         .setNumber = [](KernelDraft& d, double v) { d.tokens = v; }},
        {.name = "experts",
         .meaning = "to choose from, of all ranks",
         .setNumber = [](KernelDraft& d, double v) { d.experts = v; },
         .high = 1e6},
        {.name = "experts_per_token",
         .meaning = "that one token chooses",
         .setNumber = [](KernelDraft& d, double v) { d.expertsPerToken = v; },
         .high = 1e6},
        {.name = "expert_ranks",
         .meaning = "devices that the experts are spread over",
         .setNumber = [](KernelDraft& d, double v) { d.expertRanks = v; },
         .high = 1e6},
        {.name = "hidden",
         .meaning = "elements of a token",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.experts.hidden = whole(v); }},
        {.name = "inner",
         .meaning = "elements between an expert's two layers, of this rank",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.experts.inner = whole(v); }},
        {.name = "gated",
         .meaning = "an expert's first layer has a gate",
         .setWord =
             [](KernelDraft& d, std::string_view word) {
                 const bool yes = word == "yes" || word == "true" || word == "1";
                 d.kernel.experts.gated = yes;
                 return yes || word == "no" || word == "false" || word == "0";
             },
         .words = "yes, no"},
        {.name = "skew",
         .meaning = "exponent of the power law by which tokens choose, 0 for evenly",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.experts.skew = v; },
         .low = 0,
         .high = 10,
         .whole = false},
        {.name = "flops",
         .meaning = "operations, for kinds movement and other",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.flops = v; },
         .low = 0,
         .high = largestFlops,
         .whole = false},
        {.name = "read_bytes",
         .meaning = "for kinds movement and other",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.readBytes = v; },
         .low = 0,
         .high = largestBytes,
         .whole = false},
        {.name = "write_bytes",
         .meaning = "for kinds movement and other",
         .setNumber = [](KernelDraft& d, double v) { d.kernel.writeBytes = v; },
         .low = 0,
         .high = largestBytes,
         .whole = false},
    };
    return all;
}

const char* finishAttention(KernelDraft& draft) {
    auto& shape = draft.kernel.attention;
    shape.batch = whole(draft.batch);
    shape.valueDim = draft.valueDim > 0 ? whole(draft.valueDim) : shape.headDim;
    if (draft.kernel.kind == KernelKind::DecodeAttention) shape.queries = 1;
    if (shape.heads < shape.kvHeads || shape.heads % shape.kvHeads != 0) {
        return "the query heads are no multiple of the KV heads";
    }
    return nullptr;
}

const char* finishConvolution(KernelDraft& draft) {
    auto& c = draft.kernel.convolution;
    c.batch = whole(draft.batch);
    const auto out = [&](std::int64_t side, std::int64_t filter) {
        return (side + 2 * whole(draft.pad) - c.dilation * (filter - 1) - 1) / c.stride + 1;
    };
    if (c.height + 2 * whole(draft.pad) < c.dilation * (c.kernelHeight - 1) + 1 ||
        c.width + 2 * whole(draft.pad) < c.dilation * (c.kernelWidth - 1) + 1) {
        return "the filter is larger than the padded image";
    }
    c.outHeight = draft.outHeight > 0 ? whole(draft.outHeight) : out(c.height, c.kernelHeight);
    c.outWidth = draft.outWidth > 0 ? whole(draft.outWidth) : out(c.width, c.kernelWidth);
    if (c.inChannels % c.groups != 0 || c.outChannels % c.groups != 0) return "the groups do not divide the channels";
    return nullptr;
}

const char* finishExperts(KernelDraft& draft) {
    ExpertShape& shape = draft.kernel.experts;
    if (draft.tokens < 1 || draft.experts < 1) return "experts need tokens, experts, hidden and inner";
    if (draft.expertsPerToken > draft.experts) return "a token cannot choose more experts than there are";
    if (draft.expertRanks > draft.experts) return "there are more ranks than experts";
    routeExperts(shape, {.tokens = whole(draft.tokens),
                         .experts = whole(draft.experts),
                         .perToken = whole(draft.expertsPerToken),
                         .ranks = whole(draft.expertRanks)});
    return nullptr;
}

}  // namespace

std::span<const KernelField> kernelFields() {
    return fields();
}

const KernelField* findKernelField(std::string_view name) {
    const auto& all = fields();
    const auto found = std::find_if(all.begin(), all.end(), [&](const KernelField& f) { return f.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const char* finishKernel(KernelDraft& draft) {
    Kernel& kernel = draft.kernel;
    if (!draft.kindGiven) return "the kind of the kernel is not given";
    if (!draft.weightsGiven) kernel.weightType = kernel.type;
    if (!draft.kvGiven) kernel.kvType = kernel.type;
    const char* wrong = nullptr;
    switch (kernel.kind) {
        case KernelKind::Gemm:
            kernel.batch = whole(draft.batch);
            if (kernel.m < 1 || kernel.n < 1 || kernel.k < 1) wrong = "a matrix product needs m, n and k";
            break;
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            wrong = finishAttention(draft);
            break;
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            kernel.m = std::max<std::int64_t>(kernel.m, 1);
            if (kernel.n < 1) wrong = "a vector kernel needs n";
            if (static_cast<double>(kernel.m) * draft.batch > 1e15) return "its extents are absurd";
            kernel.m *= whole(draft.batch);
            break;
        case KernelKind::Convolution:
            wrong = finishConvolution(draft);
            break;
        case KernelKind::Collective:
            if (kernel.ranks < 2 || kernel.messageBytes <= 0) wrong = "a collective needs two ranks and message_bytes";
            break;
        case KernelKind::Experts:
            wrong = finishExperts(draft);
            break;
        case KernelKind::Movement:
        case KernelKind::Other:
            if (kernel.flops + kernel.readBytes + kernel.writeBytes <= 0) wrong = "it has neither flops nor bytes";
            break;
    }
    if (!wrong && kernel.kind != KernelKind::Movement && kernel.kind != KernelKind::Other) countWork(kernel);
    if (!wrong && !(std::isfinite(kernel.flops) && kernel.flops < 1e30)) wrong = "its extents are absurd";
    return wrong;
}

std::string_view keptWord(std::string_view word) {
    static std::mutex guard;
    static std::set<std::string, std::less<>> kept;
    const std::scoped_lock lock(guard);
    if (const auto found = kept.find(word); found != kept.end()) return *found;
    if (word.size() > 64 || kept.size() >= 4096) return "Other";
    return *kept.emplace(word).first;
}

}  // namespace orrery
