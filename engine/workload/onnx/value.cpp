#include "workload/onnx/value.h"

#include <algorithm>
#include <array>

namespace orrery::onnx_import {
namespace {

struct TypeRow {
    DType type;
    int bits;
    bool floating, integer;
};

constexpr std::array<TypeRow, 27> rows{{
    {DType::F32, 0, false, false},     // Undefined
    {DType::F32, 32, true, false},     // Float
    {DType::I8, 8, false, true},       // UInt8
    {DType::I8, 8, false, true},       // Int8
    {DType::I16, 16, false, true},     // UInt16
    {DType::I16, 16, false, true},     // Int16
    {DType::I32, 32, false, true},     // Int32
    {DType::I64, 64, false, true},     // Int64
    {DType::String, 0, false, false},  // String
    {DType::Bool, 8, false, true},     // Bool
    {DType::F16, 16, true, false},     // Float16
    {DType::F64, 64, true, false},     // Double
    {DType::I32, 32, false, true},     // UInt32
    {DType::I64, 64, false, true},     // UInt64
    {DType::F64, 64, true, false},     // Complex64
    {DType::F64, 128, true, false},    // Complex128
    {DType::BF16, 16, true, false},    // BFloat16
    {DType::FP8, 8, true, false},      // Float8E4M3FN
    {DType::FP8, 8, true, false},      // Float8E4M3FNUZ
    {DType::FP8, 8, true, false},      // Float8E5M2
    {DType::FP8, 8, true, false},      // Float8E5M2FNUZ
    {DType::I4, 4, false, true},       // UInt4
    {DType::I4, 4, false, true},       // Int4
    {DType::FP4, 4, true, false},      // Float4E2M1
    {DType::FP8, 8, true, false},      // Float8E8M0
    {DType::I4, 2, false, true},       // UInt2
    {DType::I4, 2, false, true},       // Int2
}};

const TypeRow& row(ElementType type) {
    return rows[static_cast<std::size_t>(type)];
}

}  // namespace

ElementType elementType(int number) {
    return number > 0 && number < static_cast<int>(rows.size()) ? static_cast<ElementType>(number)
                                                                : ElementType::Undefined;
}
DType dtypeOf(ElementType type) {
    return row(type).type;
}
double bytesPerElement(ElementType type) {
    const bool saysIt = row(type).bits == bits(row(type).type) || row(type).bits == 0;
    return saysIt ? 0 : row(type).bits / 8.0;
}
bool isFloating(ElementType type) {
    return row(type).floating;
}
bool isInteger(ElementType type) {
    return row(type).integer;
}
int bitsOf(ElementType type) {
    return row(type).bits;
}

std::optional<std::int64_t> count(const Extents& extents) {
    std::int64_t product = 1;
    bool saturated = false;
    for (const std::int64_t extent : extents) {
        if (extent < 0) return std::nullopt;
        if (extent == 0) return 0;
        saturated = saturated || __builtin_mul_overflow(product, extent, &product);
        if (saturated) product = INT64_MAX;
    }
    return product;
}

std::string toText(const Extents& extents) {
    if (extents.empty()) return "scalar";
    std::string text;
    for (const std::int64_t extent : extents) {
        if (!text.empty()) text += "×";
        text += extent == unknown ? "?" : std::to_string(extent);
    }
    return text;
}

bool allKnown(const Extents& extents) {
    return std::all_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent >= 0; });
}

}  // namespace orrery::onnx_import
