#include "mapping/data_centric/layer.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr std::string_view letters = "BNGMKCRSYX";
constexpr double exactDoubles = 9007199254740992.0;  // 2^53

}  // namespace

std::string_view toText(FlowDim dim) {
    return letters.substr(static_cast<std::size_t>(dim), 1);
}

std::optional<FlowDim> flowDim(std::string_view letter) {
    if (letter.size() != 1) return std::nullopt;
    const auto at = letters.find(letter[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return static_cast<FlowDim>(at);
}

std::string_view toText(FlowTensor tensor) {
    constexpr std::array<std::string_view, flowTensors> names{"input", "weight", "output"};
    return names[static_cast<std::size_t>(tensor)];
}

std::optional<FlowDim> slidingFilter(const FlowLayer& layer, FlowDim dim) {
    if (layer.kind == FlowLayerKind::Product) return std::nullopt;
    if (dim == FlowDim::Y && layer.has(FlowDim::R)) return FlowDim::R;
    if (dim == FlowDim::X && layer.has(FlowDim::S)) return FlowDim::S;
    return std::nullopt;
}

std::int64_t outputExtent(const FlowLayer& layer, FlowDim dim) {
    const auto input = std::max<std::int64_t>(layer.extent(dim), 1);
    const bool slides = layer.kind != FlowLayerKind::Product && (dim == FlowDim::Y || dim == FlowDim::X);
    if (!slides) return input;
    const auto filter = slidingFilter(layer, dim);
    const auto window = filter ? layer.extent(*filter) : 1;
    const auto stride = dim == FlowDim::Y ? layer.strideY : layer.strideX;
    return input < window ? 0 : (input - window) / stride + 1;
}

bool coupled(FlowLayerKind kind, FlowTensor tensor, FlowDim dim) {
    using D = FlowDim;
    if (kind == FlowLayerKind::Product) {
        switch (dim) {
            case D::B:
                return true;
            case D::M:
                return tensor != FlowTensor::Weight;
            case D::K:
                return tensor != FlowTensor::Output;
            case D::N:
                return tensor != FlowTensor::Input;
            default:
                return false;
        }
    }
    switch (dim) {
        case D::N:
        case D::Y:
        case D::X:
            return tensor != FlowTensor::Weight;
        case D::G:
            return true;
        case D::K:
            return tensor != FlowTensor::Input;
        case D::C:
            return tensor != FlowTensor::Output || kind == FlowLayerKind::Depthwise;
        case D::R:
        case D::S:
            return tensor == FlowTensor::Weight;
        default:
            return false;
    }
}

double macs(const FlowLayer& layer) {
    double product = 1;
    for (std::size_t i = 0; i < flowDims; ++i) {
        product *= static_cast<double>(outputExtent(layer, static_cast<FlowDim>(i)));
    }
    return product;
}

double elements(const FlowLayer& layer, FlowTensor tensor) {
    double product = 1;
    for (std::size_t i = 0; i < flowDims; ++i) {
        const auto dim = static_cast<FlowDim>(i);
        if (!coupled(layer.kind, tensor, dim)) continue;
        const auto extent =
            tensor == FlowTensor::Output ? outputExtent(layer, dim) : std::max<std::int64_t>(layer.extent(dim), 1);
        product *= static_cast<double>(extent);
    }
    return product;
}

Expected<void> check(const FlowLayer& layer, const Place& place) {
    const auto named = [&](std::string_view what) { return fmt::format("layer `{}` {}", layer.name, what); };
    for (const auto extent : layer.extents) {
        if (extent < 0)
            return fail("data-centric.extent", named("has a negative extent"), "extents of at least 1",
                        "check the dimensions", place);
    }
    if (layer.strideY < 1 || layer.strideX < 1) {
        return fail("data-centric.stride", named("has a stride below 1"), "strides of at least 1",
                    "`Stride { X: 1, Y: 1 }`", place);
    }
    for (const auto dim : {FlowDim::Y, FlowDim::X}) {
        if (outputExtent(layer, dim) > 0) continue;
        const auto filter = slidingFilter(layer, dim);
        return fail("data-centric.filter",
                    named(fmt::format("has a filter {} = {} that does not fit into {} = {}", toText(*filter),
                                      layer.extent(*filter), toText(dim), layer.extent(dim))),
                    "an input at least as large as the filter", "give Y and X with their padding", place);
    }
    if (macs(layer) > exactDoubles) {
        return fail("data-centric.too-large", named(fmt::format("has {:.3g} multiply-accumulates", macs(layer))),
                    "fewer than 2^53, about 9e15", "check the dimensions", place);
    }
    return {};
}

}  // namespace orrery
