#include "base/dtype.h"

#include <array>
#include <string>
#include <utility>

namespace orrery {
namespace {

constexpr std::array<std::pair<std::string_view, int>, dtypeCount> types{{{"fp64", 64},
                                                                          {"fp32", 32},
                                                                          {"tf32", 32},
                                                                          {"bf16", 16},
                                                                          {"fp16", 16},
                                                                          {"fp8", 8},
                                                                          {"fp6", 6},
                                                                          {"fp4", 4},
                                                                          {"int64", 64},
                                                                          {"int32", 32},
                                                                          {"int16", 16},
                                                                          {"int8", 8},
                                                                          {"int4", 4},
                                                                          {"int1", 1},
                                                                          {"bool", 8},
                                                                          {"string", 0}}};

constexpr std::array<std::pair<std::string_view, DType>, 36> aliases{{{"float64", DType::F64},
                                                                      {"double", DType::F64},
                                                                      {"f64", DType::F64},
                                                                      {"float32", DType::F32},
                                                                      {"float", DType::F32},
                                                                      {"f32", DType::F32},
                                                                      {"bfloat16", DType::BF16},
                                                                      {"float16", DType::F16},
                                                                      {"half", DType::F16},
                                                                      {"f16", DType::F16},
                                                                      {"e4m3", DType::FP8},
                                                                      {"e5m2", DType::FP8},
                                                                      {"float8_e4m3fn", DType::FP8},
                                                                      {"float8_e5m2", DType::FP8},
                                                                      {"float8", DType::FP8},
                                                                      {"f8", DType::FP8},
                                                                      {"e2m1", DType::FP4},
                                                                      {"nvfp4", DType::FP4},
                                                                      {"mxfp4", DType::FP4},
                                                                      {"nf4", DType::FP4},
                                                                      {"f4", DType::FP4},
                                                                      {"i64", DType::I64},
                                                                      {"uint64", DType::I64},
                                                                      {"i32", DType::I32},
                                                                      {"uint32", DType::I32},
                                                                      {"i16", DType::I16},
                                                                      {"uint16", DType::I16},
                                                                      {"i8", DType::I8},
                                                                      {"uint8", DType::I8},
                                                                      {"u8", DType::I8},
                                                                      {"i4", DType::I4},
                                                                      {"uint4", DType::I4},
                                                                      {"u4", DType::I4},
                                                                      {"w4", DType::I4},
                                                                      {"binary", DType::I1},
                                                                      {"boolean", DType::Bool}}};

}  // namespace

int bits(DType type) {
    return types[static_cast<std::size_t>(type)].second;
}
std::string_view toText(DType type) {
    return types[static_cast<std::size_t>(type)].first;
}

std::optional<DType> dtype(std::string_view text) {
    std::string key(text);
    for (char& c : key) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    if (key.starts_with("torch.")) key.erase(0, 6);
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (types[i].first == key) return static_cast<DType>(i);
    }
    for (const auto& [alias, type] : aliases) {
        if (alias == key) return type;
    }
    return std::nullopt;
}

}  // namespace orrery
