#include "workload/models/transformer.h"

#include "base/maths.h"
#include "workload/kernel_parts.h"
#include "workload/models/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

class TransformerBuilder {
public:
    TransformerBuilder(const TransformerConfig& config, const WorkloadOptions& options, std::int64_t sequence)
        : c_(config),
          g_(config.name, options),
          decode_(options.phase == Phase::Decode),
          cached_(decode_ || options.phase == Phase::Prefill),
          batch_(options.batch),
          sequence_(sequence),
          queries_(decode_ ? 1 : sequence) {}

    Graph build();

private:
    struct LayerSort {
        bool experts = false, windowed = false;
        bool operator==(const LayerSort&) const = default;
    };

    TensorId embed();
    TensorId layer(TensorId x, const LayerSort& sort);
    TensorId attention(TensorId x, bool windowed);
    TensorId latentAttention(TensorId x);
    TensorId feedForward(TensorId x);
    TensorId expertsFeedForward(TensorId x);
    TensorId gatedLinear(const std::string& name, TensorId x, std::int64_t inner);
    TensorId activate(const std::string& name, TensorId x);
    TensorId norm(const std::string& name, TensorId x);
    TensorId headNorm(const std::string& name, TensorId x, std::int64_t heads);
    std::vector<TensorId> split(const std::string& name, TensorId x, const std::vector<std::int64_t>& parts);
    std::vector<TensorId> rotate(const std::string& name, const std::vector<TensorId>& inputs);
    void head(TensorId x);
    LayerSort sortOf(std::int64_t index) const;
    std::int64_t tokens() const { return batch_ * queries_; }

    const TransformerConfig& c_;
    GraphBuilder g_;
    bool decode_, cached_;
    std::int64_t batch_, sequence_, queries_;
};

Graph TransformerBuilder::build() {
    TensorId x = embed();
    std::vector<std::pair<LayerSort, std::int64_t>> sorts;
    for (std::int64_t i = 0; i < c_.layers; ++i) {
        const LayerSort sort = sortOf(i);
        const auto found = std::find_if(sorts.begin(), sorts.end(), [&](const auto& s) { return s.first == sort; });
        if (found == sorts.end()) {
            sorts.emplace_back(sort, 1);
        } else {
            ++found->second;
        }
    }
    for (const auto& [sort, count] : sorts) {
        std::string name = "layers";
        if (sorts.size() > 1) {
            if (c_.experts > 0) name = sort.experts ? "expert_layers" : "dense_layers";
            if (c_.window > 0) name = (sort.windowed ? "windowed_" : "global_") + name;
        }
        g_.beginBlock(name, count);
        x = layer(x, sort);
        g_.endBlock();
    }
    head(x);
    return g_.finish();
}

TransformerBuilder::LayerSort TransformerBuilder::sortOf(std::int64_t index) const {
    const auto flag = [index](const std::vector<bool>& flags) {
        return flags.empty() ||
               (static_cast<std::size_t>(index) < flags.size() && flags[static_cast<std::size_t>(index)]);
    };
    return {c_.experts > 0 && flag(c_.expertLayer), c_.window > 0 && flag(c_.windowed)};
}

TensorId TransformerBuilder::embed() {
    const TensorId ids = g_.input("input_ids", {batch_, queries_}, DType::I32);
    const std::int64_t width = c_.embeddingDim > 0 ? c_.embeddingDim : c_.hidden;
    TensorId x = g_.embedding("embed_tokens", ids, c_.vocabulary, width);
    if (width != c_.hidden) x = g_.linear("project_in", x, c_.hidden, {.bias = false});
    if (c_.embeddingScale) x = g_.elementwise("Mul", "embed_scale", {x});
    if (c_.learnedPositions > 0) {
        const TensorId positions = g_.input("position_ids", {1, queries_}, DType::I32);
        const TensorId table = g_.embedding("embed_positions", positions, c_.learnedPositions, c_.hidden);
        x = g_.elementwise("Add", "add_positions", {x, table});
    }
    if (c_.tokenTypes > 0) {
        const TensorId types = g_.input("token_type_ids", {batch_, queries_}, DType::I32);
        x = g_.elementwise("Add", "add_types", {x, g_.embedding("embed_types", types, c_.tokenTypes, c_.hidden)});
    }
    return c_.embeddingNorm ? norm("embed_norm", x) : x;
}

TensorId TransformerBuilder::layer(TensorId x, const LayerSort& sort) {
    using Order = TransformerConfig::Order;
    const bool before = c_.order != Order::Post;
    const bool after = c_.order == Order::Sandwich;
    TensorId h = before ? norm("attention_norm", x) : x;
    h = c_.latent() ? latentAttention(h) : attention(h, sort.windowed);
    if (after) h = norm("attention_post_norm", h);
    if (c_.order == Order::Parallel) {
        TensorId f = norm("mlp_norm", x);
        f = sort.experts ? expertsFeedForward(f) : feedForward(f);
        return g_.elementwise("Residual", "residual", {g_.elementwise("Add", "join", {h, f}), x});
    }
    x = g_.elementwise("Residual", "attention_residual", {x, h});
    if (c_.order == Order::Post) x = norm("attention_norm", x);
    h = before ? norm("mlp_norm", x) : x;
    h = sort.experts ? expertsFeedForward(h) : feedForward(h);
    if (after) h = norm("mlp_post_norm", h);
    x = g_.elementwise("Residual", "mlp_residual", {x, h});
    return c_.order == Order::Post ? norm("mlp_norm", x) : x;
}

TensorId TransformerBuilder::attention(TensorId x, bool windowed) {
    const std::int64_t qDim = c_.heads * c_.headDim;
    const std::int64_t kvDim = c_.kvHeads * c_.headDim;
    const TensorId qkv = g_.linear("qkv_proj", x, qDim + 2 * kvDim, {.bias = c_.qkvBias});
    std::vector<TensorId> parts = split("qkv_split", qkv, {qDim, kvDim, kvDim});
    if (c_.queryKeyNorm) {
        parts[0] = headNorm("q_norm", parts[0], c_.heads);
        parts[1] = headNorm("k_norm", parts[1], c_.kvHeads);
    }
    if (c_.learnedPositions == 0 && !c_.linearBias) {
        const auto rotated = rotate("rope", {parts[0], parts[1]});
        parts[0] = rotated[0];
        parts[1] = rotated[1];
    }
    // A window holds the token itself and window-1 before it.
    const std::int64_t reach = windowed ? c_.window : std::max<std::int64_t>(sequence_ + 1, 1);
    const std::int64_t past = decode_ ? std::min(sequence_, reach - 1) : 0;
    AttentionShape shape{.batch = batch_,
                         .heads = c_.heads,
                         .kvHeads = c_.kvHeads,
                         .queries = queries_,
                         .keys = decode_ ? past + 1 : std::min(sequence_, reach),
                         .headDim = c_.headDim,
                         .valueDim = c_.headDim,
                         .causal = !c_.encoder,
                         .flash = g_.options().flashAttention};
    std::vector<GraphBuilder::Cache> caches;
    if (cached_) {
        const std::int64_t added = decode_ ? 1 : std::min(sequence_, reach);
        for (const char* name : {"k_cache", "v_cache"}) {
            GraphBuilder::Cache cache;
            if (decode_) cache.read = g_.cache(name, {batch_, past, c_.kvHeads, c_.headDim});
            cache.append = g_.cache(std::string(name) + "_new", {batch_, added, c_.kvHeads, c_.headDim});
            caches.push_back(cache);
        }
    }
    const TensorId out = g_.attention("attention", parts, shape, caches);
    return g_.linear("o_proj", out, c_.hidden, {.bias = c_.outputBias});
}

TensorId TransformerBuilder::latentAttention(TensorId x) {
    const std::int64_t qkDim = c_.nopeDim + c_.ropeDim;
    const GraphBuilder::LinearSpec plain{.bias = c_.qkvBias};
    TensorId q = x;
    if (c_.latentQuery > 0) q = norm("q_a_norm", g_.linear("q_a_proj", x, c_.latentQuery, plain));
    q = g_.linear("q_b_proj", q, c_.heads * qkDim, {.bias = false});
    const TensorId compressed = g_.linear("kv_a_proj", x, c_.latentKv + c_.ropeDim, plain);
    const auto parts = split("kv_split", compressed, {c_.latentKv, c_.ropeDim});
    const TensorId latent = norm("kv_a_norm", parts[0]);
    const auto queries = split("q_split", q, {c_.heads * c_.nopeDim, c_.heads * c_.ropeDim});
    const auto rotated = rotate("rope", {queries[1], parts[1]});

    AttentionShape shape{.batch = batch_,
                         .heads = c_.heads,
                         .kvHeads = c_.heads,
                         .queries = queries_,
                         .keys = decode_ ? sequence_ + 1 : sequence_,
                         .headDim = qkDim,
                         .valueDim = c_.valueDim,
                         .causal = true,
                         .flash = g_.options().flashAttention};
    std::vector<GraphBuilder::Cache> caches;
    const std::int64_t width = c_.latentKv + c_.ropeDim;
    if (cached_) {
        GraphBuilder::Cache cache;
        if (decode_) cache.read = g_.cache("latent_cache", {batch_, sequence_, width});
        cache.append = g_.cache("latent_cache_new", {batch_, queries_, width});
        caches.push_back(cache);
    }
    TensorId out = -1;
    if (decode_) {
        // kv_b_proj is absorbed: queries go into the latent space, values come out of it, per head.
        shape.kvHeads = 1;
        shape.headDim = width;
        shape.valueDim = c_.latentKv;
        const TensorId nope = g_.view("q_heads", queries[0], {c_.heads, tokens(), c_.nopeDim});
        const TensorId absorbed =
            g_.matmul("q_absorb", nope, g_.matrix("k_b_proj.weight", {c_.heads, c_.nopeDim, c_.latentKv}));
        const TensorId context = g_.attention("attention", {absorbed, rotated[0], latent, rotated[1]}, shape, caches);
        const TensorId heads = g_.view("context_heads", context, {c_.heads, tokens(), c_.latentKv});
        const TensorId values =
            g_.matmul("v_absorb", heads, g_.matrix("v_b_proj.weight", {c_.heads, c_.latentKv, c_.valueDim}));
        out = g_.view("context", values, {batch_, queries_, c_.heads * c_.valueDim});
    } else {
        const TensorId expanded =
            g_.linear("kv_b_proj", latent, c_.heads * (c_.nopeDim + c_.valueDim), {.bias = false});
        // The cache keeps the latent itself, which attention does not read here: it is named as what is stored.
        out = g_.attention("attention", {queries[0], rotated[0], expanded, rotated[1]}, shape, caches);
    }
    return g_.linear("o_proj", out, c_.hidden, {.bias = c_.outputBias});
}

TensorId TransformerBuilder::gatedLinear(const std::string& name, TensorId x, std::int64_t inner) {
    const GraphBuilder::LinearSpec spec{.bias = c_.mlpBias};
    const TensorId up =
        g_.linear(name + (c_.gated ? "gate_up_proj" : "up_proj"), x, c_.gated ? 2 * inner : inner, spec);
    return g_.linear(name + "down_proj", activate(name + "activation", up), c_.hidden, spec);
}

TensorId TransformerBuilder::activate(const std::string& name, TensorId x) {
    if (!c_.gated) return g_.elementwise(c_.activation, name, {x});
    Operator op;
    op.name = name;
    op.type = c_.activation == "SiLU" ? "SwiGLU" : c_.activation == "GeluTanh" ? "GeGLUTanh" : "GeGLU";
    op.kind = OperatorKind::Elementwise;
    op.inputs = {x};
    Shape shape = g_.shape(x);
    shape.back().value /= 2;
    op.outputs = {g_.activation(shape)};
    return g_.add(std::move(op)).outputs.front();
}

TensorId TransformerBuilder::feedForward(TensorId x) {
    return gatedLinear("", x, c_.intermediate);
}

TensorId TransformerBuilder::expertsFeedForward(TensorId x) {
    const std::int64_t everywhere = c_.experts * c_.expertDevices, comers = tokens() * c_.expertCopies;
    const std::int64_t rows = ceilDiv(comers * c_.expertsPerToken, c_.expertDevices);
    const TensorId scores = g_.linear("router", x, everywhere, {.bias = c_.routerBias, .quantised = false});
    Operator topk;
    topk.name = "top_k";
    topk.type = "Router";
    topk.kind = OperatorKind::Routing;
    topk.inputs = {scores};
    topk.outputs = {g_.activation({batch_, queries_, c_.expertsPerToken})};
    const TensorId weights = g_.add(std::move(topk)).outputs.front();
    TensorId h = g_.move("Dispatch", "dispatch", {x}, {rows, c_.hidden});
    if (c_.expertCopies > 1) g_.last().attributes[std::string(expertTokensAttribute)] = comers;
    const double share = expectedExpertShare(static_cast<double>(everywhere), static_cast<double>(c_.expertsPerToken),
                                             static_cast<double>(comers));
    const std::int64_t inner = c_.expertIntermediate;
    h = g_.experts(c_.gated ? "experts.gate_up_proj" : "experts.up_proj", h, c_.experts, c_.gated ? 2 * inner : inner,
                   share);
    h = g_.experts("experts.down_proj", activate("experts.activation", h), c_.experts, c_.hidden, share);
    Operator combine;
    combine.name = "combine";
    combine.type = "WeightedSum";
    combine.kind = OperatorKind::Reduce;
    combine.inputs = {h, weights};
    combine.outputs = {g_.activation({batch_, queries_, c_.hidden})};
    TensorId sum = g_.add(std::move(combine)).outputs.front();
    if (c_.sharedIntermediate > 0) {
        TensorId shared = gatedLinear("shared_expert.", x, c_.sharedIntermediate);
        if (c_.sharedGate) {
            const TensorId gate = g_.linear("shared_expert.gate", x, 1, {.bias = false, .quantised = false});
            shared = g_.elementwise("Mul", "shared_expert.scale",
                                    {shared, g_.elementwise("Sigmoid", "shared_expert.sigmoid", {gate})});
        }
        sum = g_.elementwise("Add", "shared_expert.add", {sum, shared});
    }
    return sum;
}

TensorId TransformerBuilder::norm(const std::string& name, TensorId x) {
    return c_.norm == TransformerConfig::Norm::Rms ? g_.rmsNorm(name, x) : g_.layerNorm(name, x);
}

TensorId TransformerBuilder::headNorm(const std::string& name, TensorId x, std::int64_t heads) {
    const Shape flat = g_.shape(x);
    const TensorId split = g_.view(name + "_heads", x, {batch_, queries_, heads, c_.headDim});
    return g_.view(name + "_flat", norm(name, split), flat);
}

std::vector<TensorId> TransformerBuilder::split(const std::string& name, TensorId x,
                                                const std::vector<std::int64_t>& parts) {
    Operator op;
    op.name = name;
    op.type = "View";
    op.kind = OperatorKind::View;
    op.inputs = {x};
    Shape shape = g_.shape(x);
    for (const std::int64_t part : parts) {
        shape.back() = part;
        op.outputs.push_back(g_.activation(shape));
    }
    return g_.add(std::move(op)).outputs;
}

std::vector<TensorId> TransformerBuilder::rotate(const std::string& name, const std::vector<TensorId>& inputs) {
    Operator op;
    op.name = name;
    op.type = "RotaryEmbedding";
    op.kind = OperatorKind::Elementwise;
    op.inputs = inputs;
    for (const TensorId id : inputs) op.outputs.push_back(g_.activation(g_.shape(id)));
    return g_.add(std::move(op)).outputs;
}

void TransformerBuilder::head(TensorId x) {
    if (c_.finalNorm) x = norm("norm", x);
    if (c_.pooler) {
        const TensorId first = g_.move("Slice", "first_token", {x}, {batch_, c_.hidden});
        g_.output(g_.elementwise("Tanh", "pooler_activation", {g_.linear("pooler", first, c_.hidden)}));
    }
    if (c_.head) {
        if (g_.options().phase == Phase::Prefill && queries_ > 1) {
            x = g_.move("Slice", "last_token", {x}, {batch_, 1, c_.hidden});
        }
        if (c_.embeddingDim > 0 && c_.embeddingDim != c_.hidden) {
            x = g_.linear("project_out", x, c_.embeddingDim, {.bias = false});
        }
        x = g_.linear("lm_head", x, c_.vocabulary,
                      {.bias = false, .quantised = false, .weight = c_.tiedHead ? "embed_tokens.weight" : ""});
        if (c_.logitSoftCap) x = g_.elementwise("SoftCap", "logit_soft_cap", {x});
    }
    g_.output(x);
}

TransformerFacts factsOf(const TransformerConfig& c, const WorkloadOptions& options, const Graph& graph) {
    TransformerFacts facts;
    facts.layers = c.layers;
    facts.hidden = c.hidden;
    facts.heads = c.heads;
    facts.kvHeads = c.kvHeads;
    facts.headDim = c.latent() ? c.nopeDim + c.ropeDim : c.headDim;
    facts.intermediate = c.intermediate;
    facts.vocabulary = c.vocabulary;
    facts.experts = c.experts;
    facts.expertsPerToken = c.expertsPerToken;
    facts.sharedExperts = c.sharedExperts;
    facts.maxPositions = c.maxPositions;
    facts.residualDropout = c.residualDropout;
    facts.attentionDropout = c.attentionDropout;
    std::vector<bool> seen(graph.tensors.size(), false);
    for (const Operator& op : graph.operators) {
        for (const TensorId id : op.inputs) {
            const Tensor* tensor = graph.tensor(id);
            if (!tensor || tensor->role != TensorRole::Weight || seen[static_cast<std::size_t>(id)]) continue;
            seen[static_cast<std::size_t>(id)] = true;
            const double count = tensor->elements() * static_cast<double>(op.repeat);
            facts.parameters += count;
            facts.activeParameters += op.type == "GroupedMatMul" ? count * static_cast<double>(c.expertsPerToken) /
                                                                       static_cast<double>(c.experts * c.expertDevices)
                                                                 : count;
        }
    }
    const double width = c.latent() ? static_cast<double>(c.latentKv + c.ropeDim)
                                    : 2.0 * static_cast<double>(c.kvHeads) * static_cast<double>(c.headDim);
    if (!c.encoder) {
        facts.kvBytesPerToken = bytesOf(options.kv, width * static_cast<double>(c.layers)).value;
    }
    return facts;
}

}  // namespace

double expectedExpertShare(double experts, double perToken, double tokens) {
    if (experts <= 0) return 1;
    return 1 - std::pow(1 - std::min(1.0, perToken / experts), tokens);
}

std::int64_t usualSequence(const TransformerConfig& config, const WorkloadOptions& options) {
    const std::int64_t usual = std::min<std::int64_t>(config.maxPositions > 0 ? config.maxPositions : 2048, 2048);
    return options.sequence > 0 ? options.sequence : usual;
}

Expected<ImportedGraph> buildTransformer(const TransformerConfig& config, const WorkloadOptions& options) {
    if (config.encoder && (options.phase == Phase::Prefill || options.phase == Phase::Decode)) {
        return fail("workload.phase",
                    fmt::format("{} is an encoder: it has no {} phase", config.name, toText(options.phase)),
                    "forward or training-forward", "set the phase to forward", Place{.path = "options/phase"});
    }
    const std::int64_t sequence = usualSequence(config, options);
    ImportedGraph result;
    result.name = config.name;
    if (config.maxPositions > 0 && sequence > config.maxPositions) {
        result.warnings.push_back(warning("workload.sequence-too-long",
                                          fmt::format("a sequence of {} exceeds the {} positions that {} was made for",
                                                      sequence, config.maxPositions, config.name),
                                          "the costs are still exact, the model may not work there",
                                          Place{.path = "options/sequence"}));
    }
    result.graph = TransformerBuilder(config, options, sequence).build();
    result.transformer = factsOf(config, options, result.graph);
    return result;
}

}  // namespace orrery
