#pragma once

// What the importer knows of one value while it walks a model: its element type, its extents, and, where they are few
// and known before any input is, its elements. Shape arithmetic lives in the elements.

#include "workload/graph.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::onnx_import {

/// ONNX's numbers for element types (TensorProto.DataType), the newer ones included.
enum class ElementType : int {
    Undefined = 0,
    Float,
    UInt8,
    Int8,
    UInt16,
    Int16,
    Int32,
    Int64,
    String,
    Bool,
    Float16,
    Double,
    UInt32,
    UInt64,
    Complex64,
    Complex128,
    BFloat16,
    Float8E4M3FN,
    Float8E4M3FNUZ,
    Float8E5M2,
    Float8E5M2FNUZ,
    UInt4,
    Int4,
    Float4E2M1,
    Float8E8M0,
    UInt2,
    Int2,
};
/// The type of that number; Undefined for numbers that no version of ONNX uses.
ElementType elementType(int number);
/// The element type by which it is priced; complex numbers and 2-bit integers need bytesPerElement() beside it.
DType dtypeOf(ElementType type);
/// Stored bytes per element where DType does not say it, else 0.
double bytesPerElement(ElementType type);
bool isFloating(ElementType type);  ///< real numbers, of any width
bool isInteger(ElementType type);   ///< whole numbers and bool
int bitsOf(ElementType type);       ///< stored bits; 0 for strings

constexpr std::int64_t unknown = -1;                 ///< extent not known
constexpr std::int64_t unknownElement = INT64_MIN;   ///< element of Data::ints not known
constexpr std::int64_t largestExtent = 1ll << 48;    ///< larger ones are refused
constexpr double largestCount = 9007199254740992.0;  ///< 2^53: beyond, counts would not be exact
constexpr std::size_t largestData = 65536;           ///< elements of a constant that are kept
constexpr std::size_t largestRank = 64;

using Extents = std::vector<std::int64_t>;
/// Product of known extents; nothing if one is unknown. Saturates at INT64_MAX.
std::optional<std::int64_t> count(const Extents& extents);
std::string toText(const Extents& extents);  ///< `2×?×64`
bool allKnown(const Extents& extents);

/// Elements of a small constant, row-major: whole numbers (bool as 0 or 1) or reals.
struct Data {
    bool real = false;
    std::vector<std::int64_t> ints;
    std::vector<double> reals;
    std::size_t size() const { return real ? reals.size() : ints.size(); }
    double asReal(std::size_t i) const { return real ? reals[i] : static_cast<double>(ints[i]); }
};
using DataPtr = std::shared_ptr<const Data>;

struct Value {
    enum class Form : std::uint8_t { Tensor, Sequence, Map };
    /// Where it comes from: decides whether a constant is a weight of the model.
    enum class Origin : std::uint8_t { Computed, Input, Stored };

    std::string name;
    ElementType type = ElementType::Undefined;
    Form form = Form::Tensor;
    Origin origin = Origin::Computed;
    bool ranked = false;            ///< for a sequence, whether its elements' rank is known
    bool constant = false;          ///< known before the model's inputs are, though its elements may not be kept
    Extents extents;                ///< of a sequence: of each element
    std::int64_t length = unknown;  ///< of a sequence
    DataPtr data;
    TensorId tensor = -1;  ///< once an operator that stays in the graph has named it

    bool shaped() const { return ranked && form == Form::Tensor; }
    bool known() const { return ranked && allKnown(extents); }
    std::size_t rank() const { return extents.size(); }
    /// Whole-number elements, or null if they are not kept.
    const std::vector<std::int64_t>* integers() const { return data && !data->real ? &data->ints : nullptr; }
};

}  // namespace orrery::onnx_import
