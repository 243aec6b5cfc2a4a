#include "simulation/systolic/array.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace orrery::systolic {

namespace {

// Products of three extents, times an array's side, stay below 2^63.
constexpr std::int64_t largestExtent = std::int64_t{1} << 24;
constexpr std::int64_t largestSide = std::int64_t{1} << 14;
constexpr std::int64_t largestSram = std::int64_t{1} << 40;

struct Range {
    std::string_view what;
    std::int64_t value, least, most;
};

Expected<void> inRange(std::string_view code, const std::string& path, std::span<const Range> ranges) {
    for (const Range& range : ranges) {
        if (range.value >= range.least && range.value <= range.most) continue;
        return fail(std::string(code), fmt::format("{} is {}", range.what, range.value),
                    fmt::format("a whole number from {} to {}", range.least, range.most), {}, {.path = path});
    }
    return {};
}

}  // namespace

std::string_view toText(SparseFormat format) {
    static constexpr std::array<std::string_view, 3> names{"ellpack_block", "csr", "csc"};
    return names[static_cast<std::size_t>(format)];
}

Layer gemmLayer(std::string name, std::int64_t m, std::int64_t n, std::int64_t k) {
    Layer layer;
    layer.name = std::move(name);
    layer.ifmapHeight = m;
    layer.ifmapWidth = k;
    layer.filterWidth = k;
    layer.filters = n;
    return layer;
}

Product productOf(const Layer& layer, const Array& array) {
    Product product;
    product.m = layer.outHeight() * layer.outWidth();
    product.n = layer.filters;
    product.denseK = layer.filterHeight * layer.filterWidth * layer.channels;
    product.k = product.denseK;
    if (array.sparse && layer.sparseOf > layer.sparseKept) {
        const std::int64_t rest = product.denseK % layer.sparseOf;
        product.k = product.denseK / layer.sparseOf * layer.sparseKept + std::min(rest, layer.sparseKept);
    }
    return product;
}

FilterStorage filterStorage(const Layer& layer, const Array& array) {
    const Product product = productOf(layer, array);
    const auto kept = static_cast<double>(product.k) * static_cast<double>(product.n);
    FilterStorage storage;
    storage.original = static_cast<double>(product.denseK) * static_cast<double>(product.n);
    switch (array.sparseFormat) {
        case SparseFormat::EllpackBlock:
            storage.metadata = kept * std::ceil(std::log2(static_cast<double>(layer.sparseOf))) / 32;
            break;
        case SparseFormat::Csr:
            storage.metadata = kept + static_cast<double>(product.denseK + 1);
            break;
        case SparseFormat::Csc:
            storage.metadata = kept + static_cast<double>(product.n + 1);
            break;
    }
    storage.compressed = kept + storage.metadata;
    return storage;
}

Expected<void> check(const Array& array) {
    const std::array ranges{Range{"the number of rows", array.rows, 1, largestSide},
                            Range{"the number of columns", array.cols, 1, largestSide},
                            Range{"the input SRAM in words", array.ifmapWords, 128, largestSram},
                            Range{"the filter SRAM in words", array.filterWords, 128, largestSram},
                            Range{"the output SRAM in words", array.ofmapWords, 128, largestSram},
                            Range{"the input bandwidth in words per cycle", array.ifmapBandwidth, 1, largestSram},
                            Range{"the filter bandwidth in words per cycle", array.filterBandwidth, 1, largestSram},
                            Range{"the output bandwidth in words per cycle", array.ofmapBandwidth, 1, largestSram}};
    if (array.dataflow == Dataflow::RowStationary) {
        return fail("systolic.dataflow", "a row-stationary array does not run in wavefronts",
                    "a weight-, output- or input-stationary array", {}, {.path = array.name});
    }
    return inRange("systolic.array", array.name, ranges);
}

Expected<void> check(const Layer& layer) {
    const std::array ranges{Range{"the input height", layer.ifmapHeight, 1, largestExtent},
                            Range{"the input width", layer.ifmapWidth, 1, largestExtent},
                            Range{"the filter height", layer.filterHeight, 1, largestExtent},
                            Range{"the filter width", layer.filterWidth, 1, largestExtent},
                            Range{"the number of channels", layer.channels, 1, largestExtent},
                            Range{"the number of filters", layer.filters, 1, largestExtent},
                            Range{"the stride", std::min(layer.strideHeight, layer.strideWidth), 1, largestExtent},
                            Range{"the stride", std::max(layer.strideHeight, layer.strideWidth), 1, largestExtent},
                            Range{"N of the sparsity N:M", layer.sparseKept, 1, layer.sparseOf},
                            Range{"M of the sparsity N:M", layer.sparseOf, 1, 1024}};
    if (auto good = inRange("systolic.layer", layer.name, ranges); !good) return good;
    if (layer.filterHeight > layer.ifmapHeight || layer.filterWidth > layer.ifmapWidth) {
        return fail("systolic.layer",
                    fmt::format("the filter of {} × {} is larger than its input of {} × {}", layer.filterHeight,
                                layer.filterWidth, layer.ifmapHeight, layer.ifmapWidth),
                    "an input that includes its padding", "add twice the padding to the input's height and width",
                    {.path = layer.name});
    }
    const double pixels = static_cast<double>(layer.outHeight()) * static_cast<double>(layer.outWidth());
    const double window = static_cast<double>(layer.filterHeight) * static_cast<double>(layer.filterWidth) *
                          static_cast<double>(layer.channels);
    if (pixels > 1e12 || window > 1e12 || pixels * window * static_cast<double>(layer.filters) > 1e17) {
        return fail(
            "systolic.layer",
            fmt::format("it amounts to {:.3g} multiplications", pixels * window * static_cast<double>(layer.filters)),
            "at most 1e17", "split the layer", {.path = layer.name});
    }
    return {};
}

}  // namespace orrery::systolic
