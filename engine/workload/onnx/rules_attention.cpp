// Fused attention, as ONNX has it since opset 23 and as onnxruntime contributes it. Slots and layouts follow
// https://onnx.ai/onnx/operators/onnx__Attention.html and onnxruntime's docs/ContribOperators.md.

#include "workload/onnx/rules.h"

#include <fmt/format.h>

namespace orrery::onnx_import {
namespace {

constexpr auto ms = Domain::Microsoft;

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return a < 0 || b < 0 ? unknown : a + b;
}

std::int64_t product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (a < 0 || b < 0) return unknown;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

bool divides(RuleContext& context, std::int64_t extent, std::int64_t heads) {
    if (heads < 1) return context.contradict(fmt::format("{} heads", heads), "one head or more");
    if (extent >= 0 && extent % heads != 0) {
        return context.contradict(fmt::format("{} does not divide into {} heads", extent, heads), "a multiple");
    }
    return true;
}

/// Fills the fused operator's shape where all of it is known.
void fuse(RuleContext& context, std::int64_t batch, std::int64_t heads, std::int64_t kvHeads, std::int64_t queries,
          std::int64_t keys, std::int64_t headDim, std::int64_t valueDim, bool causal) {
    for (const std::int64_t n : {batch, heads, kvHeads, queries, keys, headDim, valueDim}) {
        if (n < 0) return;
    }
    AttentionShape shape;
    shape.batch = batch, shape.heads = heads, shape.kvHeads = kvHeads;
    shape.queries = queries, shape.keys = keys, shape.headDim = headDim, shape.valueDim = valueDim;
    shape.causal = causal;
    context.attention = shape;
}

/// A query, key or value operand seen as batch × heads × length × size.
struct Heads {
    std::int64_t batch = unknown, heads = unknown, length = unknown, size = unknown;
};

bool readHeads(RuleContext& context, const Value& value, std::int64_t heads, Heads& result) {
    if (value.rank() == 4) {
        result = {value.extents[0], value.extents[1], value.extents[2], value.extents[3]};
        return true;
    }
    if (value.rank() != 3) {
        return context.contradict(fmt::format("{} is neither rank 3 nor 4", toText(value.extents)),
                                  "batch × length × hidden, or batch × heads × length × size");
    }
    if (!divides(context, value.extents[2], heads)) return false;
    result = {value.extents[0], heads, value.extents[1], value.extents[2] < 0 ? unknown : value.extents[2] / heads};
    return true;
}

void attention(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.setType(i, context.type(0));
    const Value *q = context.shaped(0), *k = context.shaped(1), *v = context.shaped(2), *past = context.shaped(4);
    if (!q || !k || !v) return;
    const std::int64_t queryHeads = context.node.integer("q_num_heads", 1);
    const std::int64_t kvHeads = context.node.integer("kv_num_heads", queryHeads);
    Heads query, key, value;
    if (!readHeads(context, *q, queryHeads, query) || !readHeads(context, *k, kvHeads, key) ||
        !readHeads(context, *v, kvHeads, value)) {
        return;
    }
    context.agree(query.size, key.size, "the head size of query and key");
    context.agree(key.length, value.length, "the length of key and value");
    std::int64_t keys = key.length;
    if (past && past->rank() == 4) keys = sum(keys, past->extents[2]);
    if (context.input(4)) context.cacheInputs = {4, 5};
    context.set(0, q->type,
                q->rank() == 4 ? Extents{query.batch, query.heads, query.length, value.size}
                               : Extents{query.batch, query.length, product(value.size, query.heads)});
    context.set(1, q->type, {key.batch, key.heads, keys, key.size});
    context.set(2, q->type, {value.batch, value.heads, keys, value.size});
    context.set(3, q->type, {query.batch, query.heads, query.length, keys});
    fuse(context, query.batch, query.heads, key.heads, query.length, keys, query.size, value.size,
         context.node.integer("is_causal", 0) != 0);
}

/// input[B, S, in] × weight[in, Q + K + V], then attention; past and present are [2, B, heads, length, size].
void projectedAttention(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.setType(i, context.type(0));
    const Value *x = context.shaped(0), *w = context.shaped(1), *past = context.shaped(4);
    if (!x || !w) return;
    if (x->rank() != 3 || w->rank() != 2) {
        context.contradict(fmt::format("input {} and weight {}", toText(x->extents), toText(w->extents)),
                           "ranks 3 and 2");
        return;
    }
    context.agree(x->extents[2], w->extents[0], "the width of the projection");
    const std::int64_t all = w->extents[1], heads = context.node.integer("num_heads", 1);
    const Extents sizes = context.node.integers("qkv_hidden_sizes");
    const std::int64_t queryWidth = sizes.size() == 3 ? sizes[0] : all < 0 ? unknown : all / 3;
    const std::int64_t valueWidth = sizes.size() == 3 ? sizes[2] : queryWidth;
    if (!divides(context, queryWidth, heads) || !divides(context, valueWidth, heads)) return;
    const std::int64_t batch = x->extents[0], length = x->extents[1];
    std::int64_t keys = length;
    if (past && past->rank() == 5) keys = sum(keys, past->extents[3]);
    if (context.input(4)) context.cacheInputs = {4};
    const std::int64_t size = queryWidth < 0 ? unknown : queryWidth / heads;
    context.projection = Projection{0, 1, context.input(2) ? 2 : -1, {batch, length, all}};
    context.set(0, x->type, {batch, length, valueWidth});
    context.set(1, x->type, {2, batch, heads, keys, size});
    fuse(context, batch, heads, heads, length, keys, size, valueWidth < 0 ? unknown : valueWidth / heads,
         context.node.integer("unidirectional", 0) != 0);
}

/// query[B, S, H], key[B, L, H] or [B, heads, L, size] (or all packed in the query as [B, S, heads, 3, size]).
void multiHeadAttention(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.setType(i, context.type(0));
    const Value *q = context.shaped(0), *k = context.shaped(1), *v = context.shaped(2), *past = context.shaped(6);
    const std::int64_t heads = context.node.integer("num_heads", 1);
    const bool causal = context.node.integer("unidirectional", 0) != 0;
    if (!q) return;
    Heads query, key, value;
    if (q->rank() == 5) {
        query = key = value = {q->extents[0], q->extents[2], q->extents[1], q->extents[4]};
    } else if (!readHeads(context, *q, heads, query)) {
        return;
    } else if (k && k->rank() == 5) {  // keys and values packed as [B, L, heads, 2, size]
        key = value = {k->extents[0], k->extents[2], k->extents[1], k->extents[4]};
    } else if (!k || !v || !readHeads(context, *k, heads, key) || !readHeads(context, *v, heads, value)) {
        return;
    }
    std::int64_t keys = key.length;
    if (past && past->rank() == 4) keys = sum(keys, past->extents[2]);
    if (context.input(6)) context.cacheInputs = {6, 7};
    context.set(0, q->type, {query.batch, query.length, product(value.size, query.heads)});
    context.set(1, q->type, {query.batch, query.heads, keys, key.size});
    context.set(2, q->type, {query.batch, query.heads, keys, value.size});
    fuse(context, query.batch, query.heads, key.heads, query.length, keys, query.size, value.size, causal);
}

/// query[B, S, H] (or queries, keys and values packed side by side), past[B, kvHeads, P, size]. The cache buffer is
/// taken to be as long as what it holds, or as total_sequence_length says.
void groupQueryAttention(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.setType(i, context.type(0));
    const Value *q = context.shaped(0), *k = context.shaped(1), *past = context.shaped(3);
    const std::int64_t heads = context.node.integer("num_heads", 1);
    const std::int64_t kvHeads = context.node.integer("kv_num_heads", heads);
    if (!q || q->rank() != 3 || heads < 1 || kvHeads < 1 || heads > largestExtent || kvHeads > largestExtent) return;
    const std::int64_t parts = k ? heads : heads + 2 * kvHeads;
    if (!divides(context, q->extents[2], parts)) return;
    const std::int64_t size = q->extents[2] < 0 ? unknown : q->extents[2] / parts;
    std::int64_t keys = q->extents[1];
    if (past && past->rank() == 4) keys = sum(keys, past->extents[2]);
    if (const auto* total = context.elements(6); total && total->size() == 1 && total->front() > 0)
        keys = total->front();
    if (context.input(3)) context.cacheInputs = {3, 4};
    context.set(0, q->type, {q->extents[0], q->extents[1], size < 0 ? unknown : size * heads});
    context.set(1, q->type, {q->extents[0], kvHeads, keys, size});
    context.set(2, q->type, {q->extents[0], kvHeads, keys, size});
    fuse(context, q->extents[0], heads, kvHeads, q->extents[1], keys, size, size, true);
}

}  // namespace

std::vector<RuleRow> attentionRules() {
    constexpr auto kind = OperatorKind::Attention;
    return {{"Attention", attention, kind},
            {"Attention", projectedAttention, kind, ms},
            {"MultiHeadAttention", multiHeadAttention, kind, ms},
            {"DecoderMaskedMultiHeadAttention", multiHeadAttention, kind, ms},
            {"GroupQueryAttention", groupQueryAttention, kind, ms},
            {"RotaryEmbedding", sameAsFirst, OperatorKind::Elementwise},
            {"RotaryEmbedding", sameAsFirst, OperatorKind::Elementwise, ms},
            {"GemmaRotaryEmbedding", sameAsFirst, OperatorKind::Elementwise, ms}};
}

}  // namespace orrery::onnx_import
