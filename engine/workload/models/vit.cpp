#include "workload/models/vision.h"

namespace orrery {

Graph buildVit(const VitSize& size, const WorkloadOptions& options) {
    const std::int64_t patch = size.patch, hidden = size.hidden, heads = size.heads;
    GraphBuilder g(size.name, options);
    const std::int64_t image = options.image > 0 ? options.image : 224;
    const std::int64_t side = image / patch;
    const std::int64_t tokens = side * side + 1;
    const std::int64_t batch = options.batch;
    TensorId x = g.input("image", {batch, 3, image, image});
    x = g.conv("patch_embed", x, hidden, {.kernel = patch, .stride = patch});
    x = g.move("Transpose", "to_tokens", {x}, {batch, side * side, hidden});
    x = g.move("Concat", "class_token", {g.auxiliary("class_token.weight", {1, 1, hidden}), x},
               {batch, tokens, hidden});
    x = g.elementwise("Add", "positions", {x, g.auxiliary("positions.weight", {1, tokens, hidden})});
    g.beginBlock("layers", size.layers);
    TensorId h = g.layerNorm("ln_1", x);
    const TensorId qkv = g.linear("in_proj", h, 3 * hidden);
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
    x = g.elementwise("Residual", "attention_residual", {x, g.linear("out_proj", h, hidden)});
    h = g.linear("mlp.fc1", g.layerNorm("ln_2", x), 4 * hidden);
    h = g.linear("mlp.fc2", g.elementwise("Gelu", "mlp.gelu", {h}), hidden);
    x = g.elementwise("Residual", "mlp_residual", {x, h});
    g.endBlock();
    x = g.layerNorm("ln", x);
    x = g.move("Slice", "take_class_token", {x}, {batch, hidden});
    g.output(g.linear("head", x, 1000));
    return g.finish();
}

}  // namespace orrery
