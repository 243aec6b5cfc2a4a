#include "workload/onnx/reader.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace orrery::onnx_import {
namespace {

constexpr std::int64_t realsKept = 1024;  // reals matter to shapes as scales and limits only

template <class T>
void readWhole(const std::string& raw, std::size_t count, Data& data) {
    data.ints.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
        data.ints[i] = static_cast<std::int64_t>(value);
    }
}

double half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const double size = exponent == 31  ? (mantissa ? NAN : INFINITY)
                        : exponent == 0 ? std::ldexp(mantissa, -24)
                                        : std::ldexp(mantissa + 1024, exponent - 25);
    return bits & 0x8000 ? -size : size;
}

double realAt(const std::string& raw, std::size_t i, ElementType type) {
    const auto read = [&](auto value) {
        std::memcpy(&value, raw.data() + i * sizeof(value), sizeof(value));
        return value;
    };
    switch (type) {
        case ElementType::Double:
            return read(double{});
        case ElementType::Float16:
            return half(read(std::uint16_t{}));
        case ElementType::BFloat16: {
            const std::uint32_t wide = static_cast<std::uint32_t>(read(std::uint16_t{})) << 16;
            float value;
            std::memcpy(&value, &wide, sizeof value);
            return static_cast<double>(value);
        }
        default:
            return static_cast<double>(read(float{}));
    }
}

/// Whole numbers from raw bytes; false for types that are not read.
bool wholeNumbers(const std::string& raw, std::size_t count, ElementType type, Data& data) {
    switch (type) {
        case ElementType::Int64:
        case ElementType::UInt64:
            readWhole<std::int64_t>(raw, count, data);
            return true;
        case ElementType::Int32:
            readWhole<std::int32_t>(raw, count, data);
            return true;
        case ElementType::UInt32:
            readWhole<std::uint32_t>(raw, count, data);
            return true;
        case ElementType::Int16:
            readWhole<std::int16_t>(raw, count, data);
            return true;
        case ElementType::UInt16:
            readWhole<std::uint16_t>(raw, count, data);
            return true;
        case ElementType::Int8:
            readWhole<std::int8_t>(raw, count, data);
            return true;
        case ElementType::UInt8:
        case ElementType::Bool:
            readWhole<std::uint8_t>(raw, count, data);
            return true;
        default:
            return false;
    }
}

/// Numbers in the typed field of that element type; -1 if the type has none that we know.
std::int64_t typedCount(const ::onnx::TensorProto& tensor, ElementType type) {
    switch (type) {
        case ElementType::Float:
            return tensor.float_data_size();
        case ElementType::Complex64:
            return tensor.float_data_size() / 2;
        case ElementType::Double:
            return tensor.double_data_size();
        case ElementType::Complex128:
            return tensor.double_data_size() / 2;
        case ElementType::Int64:
            return tensor.int64_data_size();
        case ElementType::UInt32:
        case ElementType::UInt64:
            return tensor.uint64_data_size();
        case ElementType::String:
            return tensor.string_data_size();
        case ElementType::Undefined:
        case ElementType::UInt4:
        case ElementType::Int4:
        case ElementType::Float4E2M1:
        case ElementType::UInt2:
        case ElementType::Int2:
            return -1;
        default:
            return tensor.int32_data_size();
    }
}

DataPtr elements(const ::onnx::TensorProto& tensor, ElementType type, std::size_t count) {
    auto data = std::make_shared<Data>();
    const bool wide = type == ElementType::Float || type == ElementType::Double;
    const bool narrow = type == ElementType::Float16 || type == ElementType::BFloat16;
    data->real = wide || narrow;
    if (tensor.has_raw_data() && !tensor.raw_data().empty()) {
        if (data->real) {
            for (std::size_t i = 0; i < count; ++i) data->reals.push_back(realAt(tensor.raw_data(), i, type));
        } else if (!wholeNumbers(tensor.raw_data(), count, type, *data)) {
            return nullptr;
        }
    } else if (type == ElementType::Float) {
        data->reals.assign(tensor.float_data().begin(), tensor.float_data().end());
    } else if (type == ElementType::Double) {
        data->reals.assign(tensor.double_data().begin(), tensor.double_data().end());
    } else if (type == ElementType::Int64) {
        data->ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
    } else if (type == ElementType::UInt64 || type == ElementType::UInt32) {
        for (const std::uint64_t x : tensor.uint64_data()) data->ints.push_back(static_cast<std::int64_t>(x));
    } else if (isInteger(type) && bitsOf(type) >= 8) {
        data->ints.assign(tensor.int32_data().begin(), tensor.int32_data().end());
    } else {
        return nullptr;
    }
    return data->size() == count ? data : nullptr;
}

/// Whether a path stays below the folder that it starts in.
bool staysBelow(const std::string& path) {
    if (path.starts_with("/") || path.starts_with("\\") || path.find(':') != std::string::npos) return false;
    int depth = 0;
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t end = std::min(path.find_first_of("/\\", from), path.size());
        const std::string part = path.substr(from, end - from);
        from = end + 1;
        if (part == "..") --depth;
        if (!part.empty() && part != "." && part != "..") ++depth;
        if (depth < 0) return false;
    }
    return true;
}

}  // namespace

tl::expected<Value, TensorProblem> readTensor(const ::onnx::TensorProto& tensor) {
    const auto refuse = [&](std::string code, std::string message, std::string expected) {
        return tl::unexpected(TensorProblem{std::move(code), std::move(message), std::move(expected)});
    };
    Value value;
    value.name = tensor.name();
    value.type = elementType(tensor.data_type());
    value.extents.assign(tensor.dims().begin(), tensor.dims().end());
    value.ranked = value.constant = true;
    value.origin = Value::Origin::Stored;
    for (const std::int64_t extent : value.extents) {
        if (extent < 0)
            return refuse("onnx.extents", fmt::format("the stored tensor has an extent of {}", extent), "0 or more");
    }
    if (const std::string problem = extentsProblem(value.extents); !problem.empty()) {
        return refuse("onnx.extents", "the stored tensor is too large: " + problem,
                      fmt::format("rank {} and 2^53 elements at most", largestRank));
    }
    const std::int64_t total = *count(value.extents);
    if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
        for (const auto& entry : tensor.external_data()) {
            if (entry.key() == "location" && !staysBelow(entry.value())) {
                return refuse("onnx.external-path",
                              fmt::format("its data is said to be in `{}`, outside the model's folder", entry.value()),
                              "a relative path below the model's folder");
            }
        }
        return value;
    }
    if (tensor.has_raw_data() && !tensor.raw_data().empty()) {
        const double bytes = std::ceil(static_cast<double>(total) * bitsOf(value.type) / 8);
        const auto held = static_cast<double>(tensor.raw_data().size());
        if (bitsOf(value.type) > 0 && bytes != held) {
            return refuse("onnx.data-size",
                          fmt::format("{} of {}-bit elements needs {} bytes, but {} are stored", toText(value.extents),
                                      bitsOf(value.type), bytes, held),
                          "data that fits the extents, or none");
        }
    } else if (const std::int64_t held = typedCount(tensor, value.type); held > 0 && held != total) {
        return refuse("onnx.data-size",
                      fmt::format("{} needs {} elements, but {} are stored", toText(value.extents), total, held),
                      "data that fits the extents, or none");
    }
    const std::int64_t most = isInteger(value.type) ? static_cast<std::int64_t>(largestData) : realsKept;
    if (total <= most) value.data = elements(tensor, value.type, static_cast<std::size_t>(total));
    return value;
}

}  // namespace orrery::onnx_import
