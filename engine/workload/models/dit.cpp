// DiT-XL/2 with adaLN-Zero (Peebles and Xie, Scalable Diffusion Models with Transformers, ICCV 2023).

#include "workload/models/vision.h"

namespace orrery {

Graph buildDitXl2(const WorkloadOptions& options) {
    constexpr std::int64_t hidden = 1152, heads = 16, layers = 28, patch = 2, channels = 4, frequencies = 256;
    constexpr std::int64_t classes = 1000 + 1;  // one more for guidance without a class
    GraphBuilder g("DiT-XL/2", options);
    const std::int64_t image = options.image > 0 ? options.image : 256;
    const std::int64_t latent = image / 8;
    const std::int64_t side = latent / patch;
    const std::int64_t tokens = side * side;
    const std::int64_t batch = options.batch;

    TensorId x = g.input("latent", {batch, channels, latent, latent});
    x = g.conv("patch_embed", x, hidden, {.kernel = patch, .stride = patch});
    x = g.move("Transpose", "to_tokens", {x}, {batch, tokens, hidden});
    x = g.elementwise("Add", "positions", {x, g.constant("positions.table", {1, tokens, hidden})});
    TensorId t = g.linear("time.fc1", g.input("timestep_frequencies", {batch, frequencies}), hidden);
    t = g.linear("time.fc2", g.elementwise("SiLU", "time.act", {t}), hidden);
    const TensorId label = g.input("label", {batch}, DType::I32);
    const TensorId y = g.embedding("label_embed", label, classes, hidden);
    const TensorId condition = g.elementwise("Add", "condition", {t, y});

    const auto modulate = [&g](const std::string& name, TensorId h, TensorId modulation) {
        return g.elementwise("ScaleShift", name, {h, modulation}, h);
    };
    g.beginBlock("blocks", layers);
    const TensorId modulation =
        g.linear("adaLN_modulation", g.elementwise("SiLU", "adaLN_act", {condition}), 6 * hidden);
    TensorId h = modulate("modulate_1", g.layerNorm("norm1", x, false), modulation);
    const TensorId qkv = g.linear("qkv", h, 3 * hidden);
    h = g.attention("attention", {qkv},
                    {.batch = batch,
                     .heads = heads,
                     .kvHeads = heads,
                     .queries = tokens,
                     .keys = tokens,
                     .headDim = hidden / heads,
                     .valueDim = hidden / heads,
                     .causal = false,
                     .flash = options.flashAttention});
    h = g.elementwise("Mul", "gate_1", {g.linear("proj", h, hidden), modulation});
    x = g.elementwise("Residual", "attention_residual", {x, h});
    h = modulate("modulate_2", g.layerNorm("norm2", x, false), modulation);
    h = g.linear("mlp.fc1", h, 4 * hidden);
    h = g.linear("mlp.fc2", g.elementwise("GeluTanh", "mlp.gelu", {h}), hidden);
    x = g.elementwise("Residual", "mlp_residual", {x, g.elementwise("Mul", "gate_2", {h, modulation})});
    g.endBlock();

    const TensorId last = g.linear("final.adaLN", g.elementwise("SiLU", "final.act", {condition}), 2 * hidden);
    h = modulate("final.modulate", g.layerNorm("final.norm", x, false), last);
    // Noise and its variance are both predicted: twice the channels.
    h = g.linear("final.linear", h, patch * patch * 2 * channels);
    g.output(g.move("Transpose", "unpatchify", {h}, {batch, 2 * channels, latent, latent}));
    return g.finish();
}

}  // namespace orrery
