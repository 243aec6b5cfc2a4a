// MobileNetV2 and EfficientNet-B0: inverted residual blocks around depthwise convolutions.

#include "workload/models/vision.h"

#include <algorithm>

namespace orrery {
namespace {

struct Stage {
    std::int64_t expand, kernel, stride, channels, layers;
};

struct InvertedResiduals {
    GraphBuilder& g;
    const char* activation;
    bool squeeze;  ///< squeeze-and-excitation after the depthwise convolution

    TensorId convNorm(const std::string& name, TensorId x, std::int64_t channels, std::int64_t kernel,
                      std::int64_t stride, std::int64_t groups, bool activate) {
        x = g.conv(name + ".conv", x, channels,
                   {.kernel = kernel, .stride = stride, .padding = kernel / 2, .groups = groups, .bias = false});
        x = g.batchNorm(name + ".bn", x);
        return activate ? g.elementwise(activation, name + ".act", {x}) : x;
    }

    TensorId excite(const std::string& name, TensorId x, std::int64_t squeezed) {
        TensorId s = g.globalPool(name + ".pool", x);
        s = g.elementwise("SiLU", name + ".act", {g.conv(name + ".reduce", s, squeezed, {})});
        s = g.elementwise("Sigmoid", name + ".gate", {g.conv(name + ".expand", s, g.extent(x, 1), {})});
        return g.elementwise("Mul", name + ".scale", {x, s});
    }

    TensorId block(const std::string& name, TensorId x, const Stage& stage, std::int64_t stride) {
        const std::int64_t in = g.extent(x, 1);
        const std::int64_t wide = in * stage.expand;
        TensorId h = x;
        if (stage.expand != 1) h = convNorm(name + ".expand", h, wide, 1, 1, 1, true);
        h = convNorm(name + ".depthwise", h, wide, stage.kernel, stride, wide, true);
        if (squeeze) h = excite(name + ".se", h, std::max<std::int64_t>(1, in / 4));
        h = convNorm(name + ".project", h, stage.channels, 1, 1, 1, false);
        return stride == 1 && in == stage.channels ? g.elementwise("Add", name + ".add", {x, h}) : h;
    }

    Graph build(const std::vector<Stage>& stages) {
        const std::int64_t image = g.options().image > 0 ? g.options().image : 224;
        TensorId x = g.input("image", {g.options().batch, 3, image, image});
        x = convNorm("stem", x, 32, 3, 2, 1, true);
        for (std::size_t s = 0; s < stages.size(); ++s) {
            for (std::int64_t i = 0; i < stages[s].layers; ++i) {
                const std::string name = "stage" + std::to_string(s + 1) + "." + std::to_string(i);
                x = block(name, x, stages[s], i == 0 ? stages[s].stride : 1);
            }
        }
        x = convNorm("head", x, 1280, 1, 1, 1, true);
        x = g.globalPool("pool", x);
        x = g.view("flatten", x, {g.options().batch, 1280});
        g.output(g.linear("classifier", x, 1000));
        return g.finish();
    }
};

}  // namespace

Graph buildMobileNetV2(const WorkloadOptions& options) {
    GraphBuilder g("MobileNetV2", options);
    return InvertedResiduals{g, "Relu6", false}.build({{1, 3, 1, 16, 1},
                                                       {6, 3, 2, 24, 2},
                                                       {6, 3, 2, 32, 3},
                                                       {6, 3, 2, 64, 4},
                                                       {6, 3, 1, 96, 3},
                                                       {6, 3, 2, 160, 3},
                                                       {6, 3, 1, 320, 1}});
}

Graph buildEfficientNetB0(const WorkloadOptions& options) {
    GraphBuilder g("EfficientNet-B0", options);
    return InvertedResiduals{g, "SiLU", true}.build({{1, 3, 1, 16, 1},
                                                     {6, 3, 2, 24, 2},
                                                     {6, 5, 2, 40, 2},
                                                     {6, 3, 2, 80, 3},
                                                     {6, 5, 1, 112, 3},
                                                     {6, 5, 2, 192, 4},
                                                     {6, 3, 1, 320, 1}});
}

}  // namespace orrery
