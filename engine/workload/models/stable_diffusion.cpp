// The denoising U-Net of Stable Diffusion 1.x (Rombach et al., CVPR 2022), as in its published unet/config.json:
// channels 320-640-1280-1280, two residual blocks per level, 8 heads, cross-attention to 77 tokens of 768.

#include "workload/models/vision.h"

namespace orrery {
namespace {

constexpr std::int64_t heads = 8, textTokens = 77, textDim = 768, timeDim = 1280;

struct Unet {
    GraphBuilder& g;
    TensorId time = -1;  ///< [batch, 1280]
    TensorId text = -1;  ///< [batch, 77, 768]

    TensorId residual(const std::string& name, TensorId x, std::int64_t channels) {
        const auto normAct = [&](const std::string& part, TensorId h) {
            return g.elementwise("SiLU", part + ".silu", {g.groupNorm(part, h, 32)});
        };
        TensorId h = g.conv(name + ".conv1", normAct(name + ".norm1", x), channels, {.kernel = 3, .padding = 1});
        const TensorId t =
            g.linear(name + ".time_emb_proj", g.elementwise("SiLU", name + ".time_silu", {time}), channels);
        h = g.elementwise("Add", name + ".add_time", {h, t});
        h = g.conv(name + ".conv2", normAct(name + ".norm2", h), channels, {.kernel = 3, .padding = 1});
        if (g.extent(x, 1) != channels) x = g.conv(name + ".shortcut", x, channels, {});
        return g.elementwise("Residual", name + ".add", {x, h});
    }

    TensorId attend(const std::string& name, TensorId x, TensorId context) {
        const std::int64_t channels = g.extent(x, -1);
        const TensorId q = g.linear(name + ".to_q", x, channels, {.bias = false});
        const TensorId k = g.linear(name + ".to_k", context, channels, {.bias = false});
        const TensorId v = g.linear(name + ".to_v", context, channels, {.bias = false});
        const TensorId h = g.attention(name, {q, k, v},
                                       {.batch = g.extent(x, 0),
                                        .heads = heads,
                                        .kvHeads = heads,
                                        .queries = g.extent(x, 1),
                                        .keys = g.extent(context, 1),
                                        .headDim = channels / heads,
                                        .valueDim = channels / heads,
                                        .causal = false,
                                        .flash = g.options().flashAttention});
        return g.linear(name + ".to_out", h, channels);
    }

    TensorId transformer(const std::string& name, TensorId x) {
        const std::int64_t channels = g.extent(x, 1);
        const Shape picture = g.shape(x);
        TensorId h = g.conv(name + ".proj_in", g.groupNorm(name + ".norm", x, 32), channels, {});
        h = g.move("Transpose", name + ".to_tokens", {h}, {picture[0], picture[2].value * picture[3].value, channels});
        TensorId n = g.layerNorm(name + ".norm1", h);
        h = g.elementwise("Residual", name + ".add1", {h, attend(name + ".self_attention", n, n)});
        n = g.layerNorm(name + ".norm2", h);
        h = g.elementwise("Residual", name + ".add2", {h, attend(name + ".cross_attention", n, text)});
        n = g.linear(name + ".ff.proj", g.layerNorm(name + ".norm3", h), 8 * channels);
        Operator gate;
        gate.name = name + ".ff.geglu";
        gate.type = "GeGLU";
        gate.kind = OperatorKind::Elementwise;
        gate.inputs = {n};
        gate.outputs = {g.activation({g.extent(h, 0), g.extent(h, 1), 4 * channels})};
        n = g.add(std::move(gate)).outputs.front();
        h = g.elementwise("Residual", name + ".add3", {h, g.linear(name + ".ff.out", n, channels)});
        h = g.move("Transpose", name + ".to_picture", {h}, picture);
        return g.elementwise("Residual", name + ".add", {x, g.conv(name + ".proj_out", h, channels, {})});
    }

    TensorId join(const std::string& name, TensorId x, TensorId skip) {
        Shape shape = g.shape(x);
        shape[1].value += g.extent(skip, 1);
        return g.move("Concat", name, {x, skip}, shape);
    }

    TensorId upsample(const std::string& name, TensorId x) {
        Shape shape = g.shape(x);
        shape[2].value *= 2;
        shape[3].value *= 2;
        x = g.move("UpsampleNearest", name + ".nearest", {x}, shape);
        return g.conv(name + ".conv", x, shape[1].value, {.kernel = 3, .padding = 1});
    }
};

}  // namespace

Graph buildStableDiffusionUnet(const WorkloadOptions& options) {
    const std::int64_t widths[] = {320, 640, 1280, 1280};
    GraphBuilder g("Stable Diffusion 1.5 UNet", options);
    Unet unet{g};
    const std::int64_t side = (options.image > 0 ? options.image : 512) / 8;
    TensorId x = g.input("latent", {options.batch, 4, side, side});
    unet.text = g.input("text", {options.batch, textTokens, textDim});
    TensorId t = g.linear("time.fc1", g.input("timestep_frequencies", {options.batch, 320}), timeDim);
    unet.time = g.linear("time.fc2", g.elementwise("SiLU", "time.silu", {t}), timeDim);

    x = g.conv("conv_in", x, 320, {.kernel = 3, .padding = 1});
    std::vector<TensorId> skips{x};
    for (int level = 0; level < 4; ++level) {
        const std::string name = "down" + std::to_string(level);
        for (int i = 0; i < 2; ++i) {
            x = unet.residual(name + ".resnet" + std::to_string(i), x, widths[level]);
            if (level < 3) x = unet.transformer(name + ".transformer" + std::to_string(i), x);
            skips.push_back(x);
        }
        if (level == 3) continue;
        x = g.conv(name + ".downsample", x, widths[level], {.kernel = 3, .stride = 2, .padding = 1});
        skips.push_back(x);
    }
    x = unet.residual("mid.resnet0", x, 1280);
    x = unet.transformer("mid.transformer", x);
    x = unet.residual("mid.resnet1", x, 1280);
    for (int level = 3; level >= 0; --level) {
        const std::string name = "up" + std::to_string(3 - level);
        for (int i = 0; i < 3; ++i) {
            x = unet.join(name + ".concat" + std::to_string(i), x, skips.back());
            skips.pop_back();
            x = unet.residual(name + ".resnet" + std::to_string(i), x, widths[level]);
            if (level < 3) x = unet.transformer(name + ".transformer" + std::to_string(i), x);
        }
        if (level > 0) x = unet.upsample(name + ".upsample", x);
    }
    x = g.elementwise("SiLU", "norm_out.silu", {g.groupNorm("norm_out", x, 32)});
    g.output(g.conv("conv_out", x, 4, {.kernel = 3, .padding = 1}));
    return g.finish();
}

}  // namespace orrery
