#include "workload/ncnn/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace orrery {
namespace {

constexpr std::int64_t mostExtent = 1 << 24;

std::int64_t elements(const NcnnShape& shape) {
    std::int64_t product = 1;
    for (const std::int64_t each : shape) product = std::min<std::int64_t>(product * each, std::int64_t{1} << 40);
    return product;
}

std::optional<std::vector<NcnnShape>> stated(const NcnnLayer& layer) {
    const auto found = layer.arrays.find(30);
    if (found == layer.arrays.end() || found->second.size() != 4 * layer.outputs.size()) return std::nullopt;
    std::vector<NcnnShape> shapes;
    for (std::size_t o = 0; o < layer.outputs.size(); ++o) {
        const double* at = found->second.data() + 4 * o;  // dims, w, h, c
        const auto dims = static_cast<int>(at[0]);
        if (dims < 1 || dims > 3) return std::nullopt;
        NcnnShape shape;
        for (int d = dims; d >= 1; --d) shape.push_back(static_cast<std::int64_t>(at[d]));
        shapes.push_back(std::move(shape));
    }
    return shapes;
}

std::optional<std::vector<NcnnShape>> one(NcnnShape shape) {
    std::vector<NcnnShape> shapes;
    shapes.push_back(std::move(shape));
    return shapes;
}

// One side of a sliding window; pad −233 and −234 keep ⌈n ÷ stride⌉.
std::int64_t slid(std::int64_t n, std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t before,
                  std::int64_t after) {
    if (stride < 1) return 0;
    if (before <= -233) return (n + stride - 1) / stride;
    return (n + before + after - dilation * (kernel - 1) - 1) / stride + 1;
}

NcnnShape convolved(const NcnnLayer& l, const NcnnShape& in, bool transposed) {
    const std::int64_t kw = l.whole(1, 1), kh = l.whole(11, kw), dw = l.whole(2, 1), dh = l.whole(12, dw);
    const std::int64_t sw = l.whole(3, 1), sh = l.whole(13, sw), left = l.whole(4, 0), right = l.whole(15, left);
    const std::int64_t top = l.whole(14, left), bottom = l.whole(16, top);
    if (transposed) {
        return {l.whole(0, 1), (in[1] - 1) * sh + dh * (kh - 1) + 1 - top - bottom,
                (in[2] - 1) * sw + dw * (kw - 1) + 1 - left - right};
    }
    return {l.whole(0, 1), slid(in[1], kh, sh, dh, top, bottom), slid(in[2], kw, sw, dw, left, right)};
}

NcnnShape pooled(const NcnnLayer& l, const NcnnShape& in) {
    if (l.whole(4, 0) != 0) return {in[0]};
    if (l.whole(7, 0) != 0) return {in[0], l.whole(18, l.whole(8, in[1])), l.whole(8, in[2])};
    const std::int64_t k = l.whole(1, 1), s = std::max<std::int64_t>(1, l.whole(2, 1)), mode = l.whole(5, 0);
    const std::int64_t kh = l.whole(11, k), sh = std::max<std::int64_t>(1, l.whole(12, s));
    const std::int64_t p = l.whole(3, 0), top = l.whole(13, p), right = l.whole(14, p), bottom = l.whole(15, top);
    if (mode >= 2) return {in[0], slid(in[1], kh, sh, 1, -233, 0), slid(in[2], k, s, 1, -233, 0)};
    const std::int64_t up = mode == 0 ? 1 : 0;  // mode 0 rounds up
    return {in[0], (in[1] + top + bottom - kh + up * (sh - 1)) / sh + 1,
            (in[2] + p + right - k + up * (s - 1)) / s + 1};
}

std::optional<NcnnShape> reshaped(const NcnnLayer& l, const NcnnShape& in) {
    NcnnShape out;
    for (const int key : {2, 1, 0}) {
        const std::int64_t extent = l.whole(key, -233);
        if (extent != -233) out.push_back(extent);
    }
    if (out.empty()) return std::nullopt;
    std::int64_t known = 1, open = -1;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == 0 && i < in.size())
            out[i] = in[in.size() - out.size() + i < in.size() ? in.size() - out.size() + i : i];
        if (out[i] == -1)
            open = static_cast<std::int64_t>(i);
        else
            known *= std::max<std::int64_t>(1, out[i]);
    }
    if (open >= 0) out[static_cast<std::size_t>(open)] = elements(in) / std::max<std::int64_t>(1, known);
    return out;
}

NcnnShape permuted(const NcnnLayer& l, const NcnnShape& in) {
    const std::int64_t order = l.whole(0, 0);
    if (in.size() == 2) return order == 1 ? NcnnShape{in[1], in[0]} : in;
    if (in.size() != 3) return in;
    const std::int64_t c = in[0], h = in[1], w = in[2];
    switch (order) {
        case 1:
            return {c, w, h};
        case 2:
            return {h, c, w};
        case 3:
            return {h, w, c};
        case 4:
            return {w, c, h};
        case 5:
            return {w, h, c};
        default:
            return in;
    }
}

std::optional<NcnnShape> joined(const NcnnLayer& l, const std::vector<NcnnShape>& inputs) {
    NcnnShape out = inputs.front();
    std::int64_t axis = l.whole(0, 0);
    if (axis < 0) axis += static_cast<std::int64_t>(out.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(out.size())) return std::nullopt;
    auto& extent = out[static_cast<std::size_t>(axis)];
    extent = 0;
    for (const NcnnShape& each : inputs) {
        if (each.size() != out.size()) return std::nullopt;
        extent += each[static_cast<std::size_t>(axis)];
    }
    return out;
}

std::optional<std::vector<NcnnShape>> sliced(const NcnnLayer& l, const NcnnShape& in) {
    const auto found = l.arrays.find(0);
    std::int64_t axis = l.whole(1, 0);
    if (axis < 0) axis += static_cast<std::int64_t>(in.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(in.size())) return std::nullopt;
    const auto at = static_cast<std::size_t>(axis);
    std::vector<NcnnShape> out(l.outputs.size(), in);
    std::int64_t left = in[at];
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::int64_t size =
            found != l.arrays.end() && i < found->second.size() ? static_cast<std::int64_t>(found->second[i]) : -233;
        if (size == -233) size = left / static_cast<std::int64_t>(out.size() - i);
        out[i][at] = size;
        left -= size;
    }
    return out;
}

NcnnShape reduced(const NcnnLayer& l, const NcnnShape& in) {
    if (l.whole(1, 1) != 0 || !l.arrays.contains(3)) return {1};
    NcnnShape out;
    for (std::size_t i = 0; i < in.size(); ++i) {
        bool gone = false;
        for (const double axis : l.arrays.at(3)) {
            const auto whole = static_cast<std::int64_t>(axis);
            gone = gone ||
                   (whole < 0 ? whole + static_cast<std::int64_t>(in.size()) : whole) == static_cast<std::int64_t>(i);
        }
        if (!gone)
            out.push_back(in[i]);
        else if (l.whole(4, 0) != 0)
            out.push_back(1);
    }
    return out.empty() ? NcnnShape{1} : out;
}

std::optional<std::vector<NcnnShape>> byRule(const NcnnLayer& l, const std::vector<NcnnShape>& in, std::int64_t side) {
    const std::string_view type = l.type;
    if (type == "Input") {
        const std::int64_t w = l.whole(0, 0), h = l.whole(1, 0), c = l.whole(2, 0);
        if (w > 0 && h > 0 && c > 0) return one({c, h, w});
        return one({c > 0 ? c : 3, side, side});
    }
    if (type == "MemoryData") {
        NcnnShape shape;
        for (const int key : {2, 1, 0}) {
            if (l.whole(key, 0) > 0) shape.push_back(l.whole(key, 0));
        }
        return shape.empty() ? std::nullopt : one(shape);
    }
    if (in.empty() || in.front().empty()) return std::nullopt;
    const NcnnShape& x = in.front();
    const bool picture = x.size() == 3;
    if (type.starts_with("Convolution") || type.starts_with("Deconvolution"))
        return picture ? one(convolved(l, x, type.starts_with("De"))) : std::nullopt;
    if (type == "Pooling") return picture ? one(pooled(l, x)) : std::nullopt;
    if (type == "InnerProduct") return one(x.size() == 2 ? NcnnShape{x[0], l.whole(0, 1)} : NcnnShape{l.whole(0, 1)});
    if (type == "Gemm")
        return one({l.whole(7, 0) > 0 ? l.whole(7, 0) : (x.size() == 2 ? x[0] : 1), l.whole(8, x.back())});
    if (type == "Flatten") return one({elements(x)});
    if (type == "Reshape") {
        const auto shape = reshaped(l, x);
        return shape ? one(*shape) : std::nullopt;
    }
    if (type == "Permute") return one(permuted(l, x));
    if (type == "Concat") {
        const auto shape = joined(l, in);
        return shape ? one(*shape) : std::nullopt;
    }
    if (type == "Slice") return sliced(l, x);
    if (type == "Split" || type == "Noop") return std::vector<NcnnShape>(l.outputs.size(), x);
    if (type == "Interp" && picture) {
        const auto scaled = [&](int size, int scale, std::int64_t extent) {
            if (l.whole(size, 0) > 0) return l.whole(size, 0);
            const auto found = l.values.find(scale);
            return static_cast<std::int64_t>(std::lround(
                static_cast<double>(extent) * (found == l.values.end() ? 1 : std::clamp(found->second, 0.0, 64.0))));
        };
        return one({x[0], scaled(3, 1, x[1]), scaled(4, 2, x[2])});
    }
    if (type == "Padding" && picture)
        return one({x[0], x[1] + l.whole(0, 0) + l.whole(1, 0), x[2] + l.whole(2, 0) + l.whole(3, 0)});
    if (type == "Reduction") return one(reduced(l, x));
    if (type == "Crop" && in.size() < 2) {
        // Starts and ends by axis (mmdeploy's form); without them the whole.
        const auto starts = l.arrays.find(9), ends = l.arrays.find(10), axes = l.arrays.find(11);
        NcnnShape out = x;
        if (starts != l.arrays.end() && ends != l.arrays.end()) {
            for (std::size_t i = 0; i < std::min(starts->second.size(), ends->second.size()); ++i) {
                const std::size_t axis = axes == l.arrays.end() || i >= axes->second.size()
                                             ? i
                                             : static_cast<std::size_t>(std::clamp(axes->second[i], 0.0, 2.0));
                if (axis >= out.size()) return std::nullopt;
                const std::int64_t n = x[axis];
                const auto place = [n](double at) {
                    const auto whole = static_cast<std::int64_t>(std::clamp(at, -1e9, 1e9));
                    return std::clamp<std::int64_t>(whole == -233 ? n : whole < 0 ? whole + n : whole, 0, n);
                };
                out[axis] = std::max<std::int64_t>(1, place(ends->second[i]) - place(starts->second[i]));
            }
        }
        return one(out);
    }
    if (type == "BinaryOp" || type == "Eltwise") {
        const NcnnShape* widest = &x;
        for (const NcnnShape& each : in) {
            if (elements(each) > elements(*widest)) widest = &each;
        }
        return one(*widest);
    }
    static constexpr std::array<std::string_view, 19> unchanged{
        "ReLU",      "Swish", "HardSwish", "HardSigmoid",    "Sigmoid", "GELU",
        "Mish",      "Clip",  "TanH",      "PReLU",          "Softmax", "LayerNorm",
        "BatchNorm", "Scale", "LRN",       "ShuffleChannel", "Dropout", "MultiHeadAttention",
        "GroupNorm"};
    if (std::find(unchanged.begin(), unchanged.end(), type) != unchanged.end())
        return std::vector<NcnnShape>(l.outputs.size(), x);
    return std::nullopt;
}

}  // namespace

std::optional<std::vector<NcnnShape>> ncnnShapes(const NcnnLayer& layer, const std::vector<NcnnShape>& inputs,
                                                 std::int64_t side) {
    auto shapes = stated(layer);
    if (!shapes) shapes = byRule(layer, inputs, side);
    if (!shapes || shapes->size() != layer.outputs.size()) return std::nullopt;
    for (const NcnnShape& shape : *shapes) {
        for (const std::int64_t extent : shape) {
            if (extent < 1 || extent > mostExtent) return std::nullopt;
        }
    }
    return shapes;
}

}  // namespace orrery
