// AlexNet and the VGGs: chains of convolutions and three large fully connected layers.

#include "workload/models/vision.h"

namespace orrery {
namespace {

TensorId convRelu(GraphBuilder& g, const std::string& name, TensorId x, std::int64_t channels,
                  const GraphBuilder::ConvSpec& spec) {
    return g.elementwise("Relu", name + ".relu", {g.conv(name, x, channels, spec)});
}

Graph classify(GraphBuilder& g, TensorId x, std::int64_t pooled) {
    x = g.adaptivePool("avgpool", x, pooled);
    x = g.view("flatten", x, {g.extent(x, 0), g.extent(x, 1) * pooled * pooled});
    x = g.elementwise("Relu", "fc1.relu", {g.linear("fc1", x, 4096)});
    x = g.elementwise("Relu", "fc2.relu", {g.linear("fc2", x, 4096)});
    g.output(g.linear("fc3", x, 1000));
    return g.finish();
}

std::int64_t side(const WorkloadOptions& options) {
    return options.image > 0 ? options.image : 224;
}

}  // namespace

Graph buildAlexNet(const WorkloadOptions& options) {
    GraphBuilder g("AlexNet", options);
    TensorId x = g.input("image", {options.batch, 3, side(options), side(options)});
    x = convRelu(g, "conv1", x, 64, {.kernel = 11, .stride = 4, .padding = 2});
    x = g.pool("MaxPool", "pool1", x, 3, 2);
    x = convRelu(g, "conv2", x, 192, {.kernel = 5, .padding = 2});
    x = g.pool("MaxPool", "pool2", x, 3, 2);
    x = convRelu(g, "conv3", x, 384, {.kernel = 3, .padding = 1});
    x = convRelu(g, "conv4", x, 256, {.kernel = 3, .padding = 1});
    x = convRelu(g, "conv5", x, 256, {.kernel = 3, .padding = 1});
    x = g.pool("MaxPool", "pool5", x, 3, 2);
    return classify(g, x, 6);
}

Graph buildVgg(const VggSize& size, const WorkloadOptions& options) {
    GraphBuilder g(size.name, options);
    TensorId x = g.input("image", {options.batch, 3, side(options), side(options)});
    const std::int64_t widths[] = {64, 128, 256, 512, 512};
    for (std::size_t stage = 0; stage < size.depths.size(); ++stage) {
        const std::string prefix = std::to_string(stage + 1);
        for (int i = 0; i < size.depths[stage]; ++i) {
            x = convRelu(g, "conv" + prefix + "_" + std::to_string(i + 1), x, widths[stage],
                         {.kernel = 3, .padding = 1});
        }
        x = g.pool("MaxPool", "pool" + prefix, x, 2, 2);
    }
    return classify(g, x, 7);
}

}  // namespace orrery
