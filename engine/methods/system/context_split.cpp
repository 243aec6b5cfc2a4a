#include "methods/system/context_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

bool seesWindow(const TransformerConfig& config, const Operator& op) {
    if (config.window <= 0 || op.block.starts_with("global_")) return false;
    const auto& layers = config.windowed;
    return op.block.starts_with("windowed_") || std::all_of(layers.begin(), layers.end(), [](bool b) { return b; });
}

std::int64_t upTo(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

double wideBytes(const WorkloadOptions& options) {
    return std::max(16, bits(options.activations)) / 8.0;
}

// Keys that `queries` causal queries are given so that their pairs number queries × mean: attentionPairs() solved for
// the keys. A whole number where nothing is windowed.
std::int64_t keysFor(std::int64_t queries, double mean) {
    const auto q = static_cast<double>(queries);
    double keys = mean + (q - 1) / 2;
    if (keys < q) {  // a window: the first queries see fewer
        const double b = 2 * q + 1;
        keys = (b - std::sqrt(std::max(0.0, b * b - 8 * q * mean))) / 2;
    }
    return std::max<std::int64_t>(1, std::llround(keys));
}

}  // namespace

double keyValueBytes(const TransformerConfig& c, const WorkloadOptions& options, std::int64_t positions) {
    const double width = c.latent() ? static_cast<double>(c.heads * (c.nopeDim + c.valueDim) + c.ropeDim)
                                    : 2.0 * static_cast<double>(c.kvHeads * c.headDim);
    return static_cast<double>(std::max<std::int64_t>(1, options.batch) * positions) * width * wideBytes(options);
}

double partialOutputBytes(const TransformerConfig& c, const WorkloadOptions& options) {
    const auto width = static_cast<double>(c.latent() ? c.latentKv : c.headDim);
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, options.batch) * c.heads);
    return rows * (width * wideBytes(options) + 4);
}

Expected<ContextShare> contextShare(const TransformerConfig& config, const WorkloadOptions& options, const Plan& plan) {
    ContextShare share{config, options, usualSequence(config, options), {}};
    const std::int64_t n = plan.context, asked = share.positions;
    const bool decode = options.phase == Phase::Decode;
    const std::int64_t chunks = decode ? n : 2 * n;
    if (asked + (decode ? 1 : 0) < chunks) {
        return fail("plan.context", fmt::format("a sequence of {} over {} context-parallel devices", asked, n),
                    fmt::format("at least {} positions", chunks), "lower cp, or ask about a longer sequence",
                    Place{.path = "plan/context"});
    }
    if (decode) {
        // The new token is one of the positions that are spread.
        share.positions = upTo(asked + 1, n) - 1;
        share.options.sequence = (share.positions + 1) / n - 1;
        if (config.window > 0) share.config.window = (config.window + n - 1) / n;
        share.assumptions.push_back(
            fmt::format("{} context-parallel devices hold 1/{} of the cache each; they all compute the other layers of "
                        "the new token",
                        n, n));
    } else {
        share.positions = upTo(asked, chunks);
        share.options.sequence = share.positions / n;
        share.assumptions.push_back(
            fmt::format("{} context-parallel devices take 2 of {} chunks each, one from either end, so that the causal "
                        "mask leaves all the same work",
                        n, 2 * n));
    }
    if (share.positions != asked)
        share.assumptions.push_back(fmt::format("A sequence of {} is padded to {}", asked, share.positions));
    return share;
}

void attendAcross(Graph& graph, const TransformerConfig& config, const ContextShare& share, const Plan& plan) {
    if (share.options.phase == Phase::Decode || plan.context <= 1) return;
    const std::int64_t mine = share.options.sequence;
    for (Operator& op : graph.operators) {
        if (!op.attention) continue;
        AttentionShape& a = *op.attention;
        AttentionShape whole = a;
        whole.queries = share.positions;
        whole.keys = seesWindow(config, op) ? std::min(config.window, share.positions) : share.positions;
        a.keys = a.causal && a.flash ? keysFor(mine, attentionPairs(whole) / static_cast<double>(share.positions))
                                     : whole.keys;
        // Keys and values of the others, each once; the first input is the queries (the first two, where latent).
        const std::size_t first = config.latent() ? 2 : 1;
        const std::size_t last = op.inputs.size();
        for (std::size_t i = first; i < last; ++i) {
            const Tensor* own = graph.tensor(op.inputs[i]);
            if (!own || own->shape.size() < 2 || own->role == TensorRole::KvCache) continue;
            Tensor received = *own;
            received.name += ".received";
            received.role = TensorRole::Input;
            received.shape[1].value = share.positions - mine;
            const TensorId id = graph.addTensor(std::move(received));
            graph.inputs.push_back(id);
            op.inputs.push_back(id);
        }
    }
}

}  // namespace orrery
