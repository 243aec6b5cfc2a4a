#include "workload/number_format.h"

#include "workload/kernel_parts.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

struct FormatName {
    std::string_view name;
    NumberFormat format;
};

constexpr std::array<FormatName, 9> formatNames{{
    {"fp8-tensor", {DType::FP8, Scaling::Tensor}},
    {"fp8-row", {DType::FP8, Scaling::Row}},
    {"fp8-block", {DType::FP8, Scaling::Block}},
    {"int8-tensor", {DType::I8, Scaling::Tensor}},
    {"int8-row", {DType::I8, Scaling::Row}},
    {"mxfp8", {DType::FP8, Scaling::Mx}},
    {"mxfp6", {DType::FP6, Scaling::Mx}},
    {"mxfp4", {DType::FP4, Scaling::Mx}},
    {"nvfp4", {DType::FP4, Scaling::Nv}},
}};

}  // namespace

std::string toText(const NumberFormat& format) {
    for (const FormatName& each : formatNames) {
        if (each.format == format) return std::string(each.name);
    }
    return std::string(toText(format.type));
}

std::optional<NumberFormat> numberFormat(std::string_view text) {
    for (const FormatName& each : formatNames) {
        if (each.name == text) return each.format;
    }
    const auto type = dtype(text);
    if (!type || *type == DType::String) return std::nullopt;
    return NumberFormat{*type};
}

std::vector<std::string> scaledFormatNames() {
    std::vector<std::string> names;
    for (const FormatName& each : formatNames) names.emplace_back(each.name);
    return names;
}

std::optional<std::int32_t> scaleBlock(Scaling scaling) {
    switch (scaling) {
        case Scaling::Usual:
            return std::nullopt;
        case Scaling::Tensor:
            return 0;
        case Scaling::Row:
            return -1;
        case Scaling::Block:
            return 128;
        case Scaling::Mx:
            return 32;
        case Scaling::Nv:
            return 16;
    }
    return std::nullopt;
}

double storedBytesPerWeight(const NumberFormat& format, double reduction) {
    switch (format.scaling) {
        case Scaling::Usual:
            break;
        case Scaling::Tensor:
            return bits(format.type) / 8.0;
        case Scaling::Row:
            return (bits(format.type) + 32 / std::max(1.0, reduction)) / 8;
        case Scaling::Block:
        case Scaling::Mx:
        case Scaling::Nv:
            return weightBytesPerElement(format.type, *scaleBlock(format.scaling));
    }
    switch (format.type) {
        case DType::I4:
            return weightBytesPerElement(format.type, 128);  // GPTQ and AWQ
        case DType::FP4:
        case DType::FP6:
            return weightBytesPerElement(format.type, 32);  // OCP MX
        default:
            return 0;
    }
}

}  // namespace orrery
