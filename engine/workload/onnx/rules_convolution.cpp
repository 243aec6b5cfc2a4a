#include "workload/onnx/rules.h"

#include <fmt/format.h>

namespace orrery::onnx_import {
namespace {

constexpr std::int64_t largestStep = 1ll << 30;  ///< of kernels, strides, dilations and pads: keeps sums in 64 bits

/// How a window walks over the spatial extents.
struct Window {
    Extents kernel, strides, dilations, pads;  ///< pads: all begins, then all ends
    std::string autoPad;
};

bool within(RuleContext& context, const Extents& values, std::string_view what, std::size_t length,
            std::int64_t least) {
    if (values.size() != length) {
        return context.contradict(fmt::format("{} has {} entries", what, values.size()),
                                  fmt::format("{} entries, one per spatial dimension and side", length));
    }
    for (const std::int64_t value : values) {
        if (value < least || value > largestStep) {
            return context.contradict(fmt::format("{} holds {}", what, value),
                                      fmt::format("numbers from {} to {}", least, largestStep));
        }
    }
    return true;
}

bool readWindow(RuleContext& context, std::size_t spatial, Extents fallbackKernel, Window& window) {
    const Node& node = context.node;
    const auto read = [&](std::string_view name, std::size_t length) {
        Extents values = node.integers(name);
        return values.empty() ? Extents(length, name == "pads" ? 0 : 1) : values;
    };
    window.kernel = node.integers("kernel_shape");
    if (window.kernel.empty()) window.kernel = std::move(fallbackKernel);
    window.strides = read("strides", spatial);
    window.dilations = read("dilations", spatial);
    window.pads = read("pads", spatial * 2);
    window.autoPad = node.text("auto_pad", "NOTSET");
    // an unknown kernel extent (a weight of unknown shape) is let through
    for (const std::int64_t side : window.kernel) {
        if (side == unknown) return window.kernel.size() == spatial;
    }
    return within(context, window.kernel, "kernel_shape", spatial, 1) &&
           within(context, window.strides, "strides", spatial, 1) &&
           within(context, window.dilations, "dilations", spatial, 1) &&
           within(context, window.pads, "pads", spatial * 2, -largestStep);
}

/// Positions of the window along one spatial axis.
std::int64_t positions(RuleContext& context, const Window& window, std::size_t axis, std::int64_t extent, bool ceil) {
    if (extent == unknown || window.kernel[axis] == unknown) return unknown;
    const std::int64_t stride = window.strides[axis];
    if (window.autoPad == "SAME_UPPER" || window.autoPad == "SAME_LOWER") return (extent + stride - 1) / stride;
    const bool padded = window.autoPad != "VALID";
    const std::int64_t before = padded ? window.pads[axis] : 0;
    const std::int64_t after = padded ? window.pads[axis + window.kernel.size()] : 0;
    const std::int64_t reach = window.dilations[axis] * (window.kernel[axis] - 1) + 1;
    const std::int64_t room = extent + before + after - reach;
    if (room < 0) {
        if (extent == 0) return 0;
        context.contradict(
            fmt::format("the kernel spans {} but its padded input is {} long", reach, extent + before + after),
            "a kernel no larger than its padded input", "check the image size that the model is bound to");
        return unknown;
    }
    std::int64_t result = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    // with ceil_mode a window that would start in the padding behind the input is left out
    if (ceil && (result - 1) * stride >= extent + before) --result;
    return result;
}

void convolve(RuleContext& context, std::size_t weight, ElementType type) {
    context.setType(0, type);
    const Value *x = context.shaped(0), *w = context.shaped(weight);
    const std::int64_t group = context.node.integer("group", 1);
    if (group < 1) {
        context.contradict(fmt::format("group is {}", group), "1 or more");
        return;
    }
    if (!x) return;
    if (x->rank() < 3) {
        context.contradict(fmt::format("the input {} has no spatial dimension", toText(x->extents)), "N×C×…");
        return;
    }
    const std::size_t spatial = x->rank() - 2;
    if (w && w->rank() != x->rank()) {
        context.contradict(
            fmt::format("the weight {} and the input {} differ in rank", toText(w->extents), toText(x->extents)),
            "a weight O×(C/group)×kernel");
        return;
    }
    Window window;
    const Extents kernel = w ? Extents(w->extents.begin() + 2, w->extents.end()) : Extents(spatial, unknown);
    if (!readWindow(context, spatial, kernel, window)) return;
    if (w) {
        for (std::size_t i = 0; i < spatial; ++i) context.agree(window.kernel[i], kernel[i], "the kernel's extent");
        if (x->extents[1] >= 0 && w->extents[1] >= 0 && x->extents[1] / group != w->extents[1]) {
            context.contradict(fmt::format("{} channels in {} groups meet a weight for {} channels", x->extents[1],
                                           group, w->extents[1]),
                               "a weight O×(C/group)×kernel");
        }
        if (x->extents[1] > 0 && (x->extents[1] % group != 0 || (w->extents[0] > 0 && w->extents[0] % group != 0))) {
            context.contradict(fmt::format("{} channels cannot be split in {} groups", x->extents[1], group),
                               "channels that the groups divide");
        }
    }
    Extents result{x->extents[0], w ? w->extents[0] : unknown};
    for (std::size_t i = 0; i < spatial; ++i) {
        result.push_back(positions(context, window, i, x->extents[i + 2], false));
    }
    context.attributes["group"] = group;
    context.set(0, type, std::move(result));
}

void conv(RuleContext& context) {
    convolve(context, 1, context.type(0));
}
void convInteger(RuleContext& context) {
    convolve(context, 1, ElementType::Int32);
}
void qLinearConv(RuleContext& context) {
    convolve(context, 3, context.type(7) != ElementType::Undefined ? context.type(7) : context.type(0));
}

void convTranspose(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value *x = context.shaped(0), *w = context.shaped(1);
    const std::int64_t group = context.node.integer("group", 1);
    if (group < 1 || group > largestStep) {
        context.contradict(fmt::format("group is {}", group), "1 or more");
        return;
    }
    if (!x || !w) return;
    if (x->rank() < 3 || w->rank() != x->rank()) {
        context.contradict(fmt::format("input {} and weight {} do not fit", toText(x->extents), toText(w->extents)),
                           "N×C×… and C×(O/group)×kernel");
        return;
    }
    context.agree(x->extents[1], w->extents[0], "the number of input channels");
    const std::size_t spatial = x->rank() - 2;
    Window window;
    if (!readWindow(context, spatial, {w->extents.begin() + 2, w->extents.end()}, window)) return;
    Extents extra = context.node.integers("output_padding");
    if (extra.empty()) extra.assign(spatial, 0);
    Extents asked = context.node.integers("output_shape");
    if (asked.size() == x->rank()) asked.erase(asked.begin(), asked.begin() + 2);
    if (!within(context, extra, "output_padding", spatial, 0)) return;
    if (!asked.empty() && !within(context, asked, "output_shape", spatial, 0)) return;
    Extents result{x->extents[0],
                   w->extents[1] < 0 || w->extents[1] > largestExtent / group ? unknown : w->extents[1] * group};
    for (std::size_t i = 0; i < spatial; ++i) {
        const std::int64_t in = x->extents[i + 2];
        if (!asked.empty()) {
            result.push_back(asked[i]);
        } else if (in == unknown || window.kernel[i] == unknown || in > largestStep) {
            result.push_back(unknown);
        } else if (window.autoPad.starts_with("SAME")) {
            result.push_back(in * window.strides[i]);
        } else {
            const bool padded = window.autoPad != "VALID";
            const std::int64_t out = window.strides[i] * (in - 1) + extra[i] +
                                     (window.kernel[i] - 1) * window.dilations[i] + 1 -
                                     (padded ? window.pads[i] + window.pads[i + spatial] : 0);
            if (out < 0 || out > largestExtent) {
                context.contradict("the output would have a negative or endless extent", "pads that leave something");
                return;
            }
            result.push_back(out);
        }
    }
    context.attributes["group"] = group;
    context.set(0, context.type(0), std::move(result));
}

void pool(RuleContext& context) {
    context.setType(0, context.type(0));
    context.setType(1, ElementType::Int64);
    const Value* x = context.shaped(0);
    if (!x) return;
    if (x->rank() < 3) {
        context.contradict(fmt::format("the input {} has no spatial dimension", toText(x->extents)), "N×C×…");
        return;
    }
    const std::size_t spatial = x->rank() - 2;
    Window window;
    if (!context.node.has("kernel_shape")) {
        context.contradict("kernel_shape is missing", "one extent per spatial dimension");
        return;
    }
    if (!readWindow(context, spatial, {}, window)) return;
    Extents result{x->extents[0], x->extents[1]};
    const bool ceil = context.node.integer("ceil_mode", 0) != 0;
    for (std::size_t i = 0; i < spatial; ++i) {
        result.push_back(positions(context, window, i, x->extents[i + 2], ceil));
    }
    context.set(1, ElementType::Int64, result);
    context.set(0, x->type, std::move(result));
}

void globalPool(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    Extents result = x->extents;
    for (std::size_t i = 2; i < result.size(); ++i) result[i] = 1;
    context.set(0, x->type, std::move(result));
}

void maxUnpool(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (const auto* asked = context.elements(2)) return context.set(0, context.type(0), *asked);
    if (!x || x->rank() < 3 || context.input(2)) return;
    const std::size_t spatial = x->rank() - 2;
    Window window;
    if (!readWindow(context, spatial, {}, window)) return;
    Extents result{x->extents[0], x->extents[1]};
    for (std::size_t i = 0; i < spatial; ++i) {
        const std::int64_t in = x->extents[i + 2];
        result.push_back(in == unknown || in > largestStep ? unknown
                                                           : (in - 1) * window.strides[i] + window.kernel[i] -
                                                                 window.pads[i] - window.pads[i + spatial]);
    }
    context.set(0, x->type, std::move(result));
}

void roiPool(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value *x = context.shaped(0), *rois = context.shaped(1);
    if (!x || !rois || x->rank() != 4 || rois->rank() == 0) return;
    Extents size = context.node.integers("pooled_shape");
    if (size.size() != 2) size = {context.node.integer("output_height", 1), context.node.integer("output_width", 1)};
    context.set(0, x->type, {rois->extents[0], x->extents[1], size[0], size[1]});
}

/// X[N, C·∏block, L] of columns back to an image N×C×image_shape.
void columnsToImage(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const auto *image = context.elements(1), *block = context.elements(2);
    if (!x || !image || !block || x->rank() != 3) return;
    const std::int64_t taps = count(*block).value_or(0);
    if (taps <= 0) {
        context.contradict("block_shape is empty", "positive extents");
        return;
    }
    Extents result{x->extents[0], x->extents[1] == unknown ? unknown : x->extents[1] / taps};
    result.insert(result.end(), image->begin(), image->end());
    context.set(0, x->type, std::move(result));
}

}  // namespace

std::vector<RuleRow> convolutionRules() {
    constexpr auto conv_ = OperatorKind::Conv;
    constexpr auto pool_ = OperatorKind::Pool;
    constexpr auto ms = Domain::Microsoft;
    return {{"Conv", conv, conv_},
            {"ConvInteger", convInteger, conv_},
            {"QLinearConv", qLinearConv, conv_},
            {"QLinearConv", qLinearConv, conv_, ms},
            {"FusedConv", conv, conv_, ms},
            {"DeformConv", conv, conv_},
            {"ConvTranspose", convTranspose, OperatorKind::ConvTranspose},
            {"AveragePool", pool, pool_},
            {"MaxPool", pool, pool_},
            {"LpPool", pool, pool_},
            {"QLinearAveragePool", pool, pool_, ms},
            {"GlobalAveragePool", globalPool, pool_},
            {"GlobalMaxPool", globalPool, pool_},
            {"GlobalLpPool", globalPool, pool_},
            {"QLinearGlobalAveragePool", globalPool, pool_, ms},
            {"MaxUnpool", maxUnpool, OperatorKind::Gather},
            {"MaxRoiPool", roiPool, pool_},
            {"RoiAlign", roiPool, pool_},
            {"Col2Im", columnsToImage, OperatorKind::Movement}};
}

}  // namespace orrery::onnx_import
