// Hardware-aware transformers: an encoder over 30 tokens, and a decoder that writes 30, one at a time.

#include "workload/spaces/space_graphs.h"

#include <cmath>
#include <string>

namespace orrery {
namespace {

constexpr std::int64_t tokens = 30;       // of the latency tables: source and target have 30 each
constexpr std::int64_t queryWidth = 512;  // of every attention in the space
constexpr std::int64_t steps = 30;
constexpr std::int64_t meanCached = 15;  // ½·(0 + 30): keys that a step of the decoder finds, on average

struct Parts {
    GraphBuilder& g;

    TensorId attend(const std::string& name, TensorId x, TensorId memory, std::int64_t queries, std::int64_t keys,
                    std::int64_t heads, bool projectsMemory) {
        const std::int64_t width = g.extent(x, -1);
        const TensorId q = g.linear(name + ".q", x, queryWidth);
        TensorId k = memory, v = memory;
        if (projectsMemory) {
            k = g.linear(name + ".k", memory, queryWidth);
            v = g.linear(name + ".v", memory, queryWidth);
        }
        AttentionShape shape{g.options().batch, heads, heads, queries, keys, queryWidth / heads, queryWidth / heads};
        shape.flash = false;
        TensorId h = g.attention(name + ".attention", {q, k, v}, shape);
        h = g.linear(name + ".out", h, width);
        h = g.elementwise("Add", name + ".add", {h, x});
        return g.layerNorm(name + ".norm", h);
    }

    TensorId feedForward(const std::string& name, TensorId x, std::int64_t hidden) {
        TensorId h = g.linear(name + ".up", x, hidden);
        h = g.elementwise("Relu", name + ".act", {h});
        h = g.linear(name + ".down", h, g.extent(x, -1));
        h = g.elementwise("Add", name + ".add", {h, x});
        return g.layerNorm(name + ".norm", h);
    }
};

// Mean numbers of heads need not divide the width; the nearest power of two does.
std::int64_t wholeHeads(double mean) {
    return std::int64_t{1} << std::lround(std::log2(mean));
}

}  // namespace

Graph hatGraph(const HatNetwork& network, const WorkloadOptions& options) {
    GraphBuilder g(network.decoder ? "HAT decoder" : "HAT encoder", options);
    Parts parts{g};
    const std::int64_t batch = options.batch, width = std::lround(network.embed);
    const std::int64_t queries = network.decoder ? 1 : tokens;
    TensorId x = g.input("tokens", {batch, queries, width});
    const TensorId memory =
        network.decoder ? g.input("memory", {batch, std::lround(tokens * network.attends), std::lround(network.memory)})
                        : -1;
    const std::int64_t layers = std::lround(network.layers);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        g.beginBlock("layer" + std::to_string(layer), network.decoder ? steps : 1);
        if (!network.decoder) {
            x = parts.attend("self", x, x, tokens, tokens, wholeHeads(network.heads), true);
        } else {
            // What earlier steps have written is read; the new key and value come from this step's token.
            const TensorId cached = g.cache("self.cache", {batch, meanCached, 2 * queryWidth});
            g.linear("self.new", x, 2 * queryWidth);
            x = parts.attend("self", x, cached, 1, meanCached, wholeHeads(network.heads), false);
            x = parts.attend("cross", x, memory, 1, std::lround(tokens * network.attends), wholeHeads(network.cross),
                             false);
        }
        x = parts.feedForward("ffn", x, std::lround(network.ffn));
        g.endBlock();
    }
    g.output(x);
    Graph graph = g.finish();
    for (Operator& op : graph.operators) op.weightCopies = 1;  // a step uses the weights of the last one
    return graph;
}

}  // namespace orrery
