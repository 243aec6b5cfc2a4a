// NAS-Bench-201, FBNet and OFA: what stands around their cells and blocks is in the papers' own code.

#include "workload/spaces/space_graphs.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace orrery {
namespace {

struct Layers {
    GraphBuilder& g;

    TensorId convNorm(const std::string& name, TensorId x, std::int64_t channels, std::int64_t kernel,
                      std::int64_t stride, std::int64_t groups, const char* activation) {
        x = g.conv(name + ".conv", x, channels,
                   {.kernel = kernel, .stride = stride, .padding = kernel / 2, .groups = groups, .bias = false});
        x = g.batchNorm(name + ".bn", x);
        return activation ? g.elementwise(activation, name + ".act", {x}) : x;
    }

    // ReLU, convolution, normalisation: the order of NAS-Bench-201.
    TensorId reluConvNorm(const std::string& name, TensorId x, std::int64_t channels, std::int64_t kernel,
                          std::int64_t stride) {
        x = g.elementwise("Relu", name + ".act", {x});
        return convNorm(name, x, channels, kernel, stride, 1, nullptr);
    }

    TensorId cell(const std::string& name, TensorId x, const NasBench201Cell& cell) {
        std::array<TensorId, 4> nodes{x, -1, -1, -1};
        for (int node = 1; node < 4; ++node) {
            TensorId sum = -1;
            for (std::size_t e = 0; e < 6; ++e) {
                if (cell.to[e] != node || cell.edges[e] == NasBench201Cell::None) continue;
                const std::string edge = name + ".edge" + std::to_string(cell.from[e]) + std::to_string(node);
                TensorId each = nodes[static_cast<std::size_t>(cell.from[e])];
                switch (cell.edges[e]) {
                    case NasBench201Cell::Conv1:
                        each = reluConvNorm(edge, each, g.extent(x, 1), 1, 1);
                        break;
                    case NasBench201Cell::Conv3:
                        each = reluConvNorm(edge, each, g.extent(x, 1), 3, 1);
                        break;
                    case NasBench201Cell::Pool:
                        each = g.pool("AveragePool", edge + ".pool", each, 3, 1, 1);
                        break;
                    default:
                        break;
                }
                sum = sum < 0 ? each : g.elementwise("Add", edge + ".add", {sum, each});
            }
            // As the benchmark's own code makes a node without inputs.
            if (sum < 0) sum = g.elementwise("Mul", name + ".zero" + std::to_string(node), {x});
            nodes[static_cast<std::size_t>(node)] = sum;
        }
        return nodes[3];
    }

    TensorId reduction(const std::string& name, TensorId x, std::int64_t channels) {
        TensorId h = reluConvNorm(name + ".a", x, channels, 3, 2);
        h = reluConvNorm(name + ".b", h, channels, 3, 1);
        TensorId shortcut = g.pool("AveragePool", name + ".pool", x, 2, 2, 0);
        // The pool rounds an odd side down where the convolution rounds it up; padded, both round up.
        if (g.extent(shortcut, 2) != g.extent(h, 2) || g.extent(shortcut, 3) != g.extent(h, 3)) {
            shortcut = g.move("Pad", name + ".pad", {shortcut},
                              {g.extent(x, 0), g.extent(x, 1), g.extent(h, 2), g.extent(h, 3)});
        }
        shortcut = g.conv(name + ".shortcut", shortcut, channels, {.bias = false});
        return g.elementwise("Add", name + ".add", {h, shortcut});
    }

    TensorId fbnetBlock(const std::string& name, TensorId x, int id, std::int64_t channels, std::int64_t stride) {
        const std::int64_t in = g.extent(x, 1);
        if (id == 8) return in == channels && stride == 1 ? x : convNorm(name, x, channels, 1, stride, 1, "Relu");
        constexpr std::array<std::int64_t, 8> expansions{1, 1, 3, 6, 1, 1, 3, 6};
        const std::int64_t groups = id == 1 || id == 5 ? 2 : 1;
        const std::int64_t wide = in * expansions[static_cast<std::size_t>(id)];
        TensorId h = convNorm(name + ".expand", x, wide, 1, 1, groups, "Relu");
        if (groups > 1) h = g.move("Transpose", name + ".shuffle", {h}, g.shape(h));
        h = convNorm(name + ".depthwise", h, wide, id < 4 ? 3 : 5, stride, wide, "Relu");
        h = convNorm(name + ".project", h, channels, 1, 1, groups, nullptr);
        return in == channels && stride == 1 ? g.elementwise("Add", name + ".add", {h, x}) : h;
    }

    TensorId excite(const std::string& name, TensorId x) {
        const std::int64_t wide = g.extent(x, 1);
        TensorId s = g.globalPool(name + ".pool", x);
        s = g.elementwise("Relu", name + ".act",
                          {g.conv(name + ".reduce", s, roundedWidth(static_cast<double>(wide / 4)), {})});
        s = g.elementwise("HardSigmoid", name + ".gate", {g.conv(name + ".expand", s, wide, {})});
        return g.elementwise("Mul", name + ".scale", {x, s});
    }

    TensorId classifier(TensorId x, std::int64_t classes) {
        x = g.view("flatten", x, {g.extent(x, 0), g.extent(x, 1)});
        return g.linear("classifier", x, classes);
    }
};

}  // namespace

std::int64_t roundedWidth(double width) {
    const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(width + 4) / 8 * 8);
    return static_cast<double>(rounded) < 0.9 * width ? rounded + 8 : rounded;
}

Graph nasBench201Graph(const NasBench201Cell& cell, const SpaceInput& input, std::int64_t classes,
                       const WorkloadOptions& options) {
    GraphBuilder g("NAS-Bench-201", options);
    Layers layers{g};
    TensorId x = g.input("image", {options.batch, input.channels, input.height, input.width});
    x = layers.convNorm("stem", x, 16, 3, 1, 1, nullptr);
    std::int64_t channels = 16;
    for (int stage = 0; stage < 3; ++stage) {
        const std::string name = "stage" + std::to_string(stage + 1);
        if (stage > 0) x = layers.reduction(name + ".reduce", x, channels *= 2);
        for (int i = 0; i < 5; ++i) x = layers.cell(name + ".cell" + std::to_string(i), x, cell);
    }
    x = g.batchNorm("last.bn", x);
    x = g.elementwise("Relu", "last.act", {x});
    g.output(layers.classifier(g.globalPool("pool", x), classes));
    return g.finish();
}

Graph fbnetGraph(const FbnetBlocks& blocks, const SpaceInput& input, const WorkloadOptions& options) {
    constexpr std::array<int, 7> counts{1, 4, 4, 4, 4, 4, 1};
    constexpr std::array<std::int64_t, 7> channels{16, 24, 32, 64, 112, 184, 352};
    // At 32×32 the stem and the second stage keep the side; of ImageNet's pictures they halve it.
    const bool small = input.height <= 64;
    const std::array<std::int64_t, 7> strides{1, small ? 1 : 2, 2, 2, 1, 2, 1};
    GraphBuilder g("FBNet", options);
    Layers layers{g};
    TensorId x = g.input("image", {options.batch, input.channels, input.height, input.width});
    x = layers.convNorm("stem", x, 16, 3, small ? 1 : 2, 1, "Relu");
    std::size_t place = 0;
    for (std::size_t stage = 0; stage < counts.size(); ++stage) {
        for (int i = 0; i < counts[stage]; ++i, ++place) {
            const std::string name = "stage" + std::to_string(stage + 1) + "." + std::to_string(i);
            x = layers.fbnetBlock(name, x, blocks.ids[place], channels[stage], i == 0 ? strides[stage] : 1);
        }
    }
    x = layers.convNorm("head", x, small ? 1504 : 1984, 1, 1, 1, "Relu");
    g.output(layers.classifier(g.globalPool("pool", x), small ? 100 : 1000));
    return g.finish();
}

Graph ofaGraph(const OfaNetwork& network, const WorkloadOptions& options) {
    constexpr std::array<double, 9> base{16, 16, 24, 40, 80, 112, 160, 960, 1280};
    constexpr std::array<std::int64_t, 5> strides{2, 2, 2, 1, 2};
    constexpr std::array<bool, 5> squeezed{false, true, false, true, true};
    constexpr std::array<const char*, 5> activations{"Relu", "Relu", "HardSwish", "HardSwish", "HardSwish"};
    std::array<std::int64_t, 9> width{};
    for (std::size_t i = 0; i < base.size(); ++i) width[i] = roundedWidth(1.2 * base[i]);
    GraphBuilder g("OFA MobileNetV3", options);
    Layers layers{g};
    const std::int64_t side = options.image > 0 ? options.image : network.resolution;
    TensorId x = g.input("image", {options.batch, 3, side, side});
    x = layers.convNorm("stem", x, width[0], 3, 2, 1, "HardSwish");
    {
        TensorId h = layers.convNorm("first.depthwise", x, width[0], 3, 1, width[0], "Relu");
        h = layers.convNorm("first.project", h, width[1], 1, 1, 1, nullptr);
        x = width[0] == width[1] ? g.elementwise("Add", "first.add", {h, x}) : h;
    }
    for (std::size_t stage = 0; stage < 5; ++stage) {
        for (std::size_t i = 0; i < network.depth[stage]; ++i) {
            const std::string name = "stage" + std::to_string(stage + 1) + "." + std::to_string(i);
            const std::size_t layer = 4 * stage + i;
            const std::int64_t in = g.extent(x, 1), stride = i == 0 ? strides[stage] : 1, out = width[stage + 2];
            const std::int64_t wide = roundedWidth(static_cast<double>(in * network.expand[layer]));
            TensorId h = layers.convNorm(name + ".expand", x, wide, 1, 1, 1, activations[stage]);
            h = layers.convNorm(name + ".depthwise", h, wide, network.kernel[layer], stride, wide, activations[stage]);
            if (squeezed[stage]) h = layers.excite(name + ".se", h);
            h = layers.convNorm(name + ".project", h, out, 1, 1, 1, nullptr);
            x = stride == 1 && in == out ? g.elementwise("Add", name + ".add", {h, x}) : h;
        }
    }
    x = layers.convNorm("head", x, width[7], 1, 1, 1, "HardSwish");
    x = g.globalPool("pool", x);
    x = g.elementwise("HardSwish", "features.act", {g.conv("features", x, width[8], {.bias = false})});
    g.output(layers.classifier(x, 1000));
    return g.finish();
}

}  // namespace orrery
