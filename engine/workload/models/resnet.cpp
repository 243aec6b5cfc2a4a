#include "workload/models/vision.h"

namespace orrery {
namespace {

struct Block {
    GraphBuilder& g;

    TensorId convNorm(const std::string& name, TensorId x, std::int64_t channels, std::int64_t kernel,
                      std::int64_t stride, bool activate, std::int64_t groups = 1) {
        x = g.conv(name + ".conv", x, channels,
                   {.kernel = kernel, .stride = stride, .padding = kernel / 2, .groups = groups, .bias = false});
        x = g.batchNorm(name + ".bn", x);
        return activate ? g.elementwise("Relu", name + ".relu", {x}) : x;
    }
    TensorId join(const std::string& name, TensorId x, TensorId h, std::int64_t stride) {
        const bool same = stride == 1 && g.extent(x, 1) == g.extent(h, 1);
        const TensorId shortcut = same ? x : convNorm(name + ".downsample", x, g.extent(h, 1), 1, stride, false);
        h = g.elementwise("Add", name + ".add", {h, shortcut});
        return g.elementwise("Relu", name + ".relu", {h});
    }
    TensorId basic(const std::string& name, TensorId x, std::int64_t width, std::int64_t stride) {
        const TensorId h = convNorm(name + ".1", x, width, 3, stride, true);
        return join(name, x, convNorm(name + ".2", h, width, 3, 1, false), stride);
    }
    /// Version 1.5: the 3×3 convolution carries the stride.
    TensorId bottleneck(const std::string& name, TensorId x, std::int64_t width, std::int64_t inner,
                        std::int64_t groups, std::int64_t stride) {
        TensorId h = convNorm(name + ".1", x, inner, 1, 1, true);
        h = convNorm(name + ".2", h, inner, 3, stride, true, groups);
        return join(name, x, convNorm(name + ".3", h, 4 * width, 1, 1, false), stride);
    }
};

}  // namespace

Graph buildResNet(const ResNetSize& size, const WorkloadOptions& options) {
    GraphBuilder g(size.name, options);
    Block block{g};
    const std::int64_t image = options.image > 0 ? options.image : 224;
    TensorId x = g.input("image", {options.batch, 3, image, image});
    x = block.convNorm("stem", x, 64, 7, 2, true);
    x = g.pool("MaxPool", "stem.pool", x, 3, 2, 1);
    for (int stage = 0; stage < 4; ++stage) {
        const std::int64_t width = std::int64_t{64} << stage;
        for (std::int64_t i = 0; i < size.depth[static_cast<std::size_t>(stage)]; ++i) {
            const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
            const std::int64_t stride = i == 0 && stage > 0 ? 2 : 1;
            x = size.bottleneck
                    ? block.bottleneck(name, x, width, width * size.groupWidth / 64 * size.groups, size.groups, stride)
                    : block.basic(name, x, width, stride);
        }
    }
    x = g.globalPool("pool", x);
    x = g.view("flatten", x, {options.batch, g.extent(x, 1)});
    g.output(g.linear("fc", x, 1000));
    return g.finish();
}

}  // namespace orrery
