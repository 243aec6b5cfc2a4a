#include "workload/onnx/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace orrery::onnx_import {
namespace {

using Whole = std::int64_t (*)(std::int64_t, std::int64_t);
using Real = double (*)(double, double);

std::int64_t add(std::int64_t a, std::int64_t b) {
    return __builtin_add_overflow(a, b, &a) ? unknownElement : a;
}
std::int64_t subtract(std::int64_t a, std::int64_t b) {
    return __builtin_sub_overflow(a, b, &a) ? unknownElement : a;
}
std::int64_t multiply(std::int64_t a, std::int64_t b) {
    return __builtin_mul_overflow(a, b, &a) ? unknownElement : a;
}
std::int64_t divide(std::int64_t a, std::int64_t b) {
    return b == 0 ? unknownElement : b == -1 ? subtract(0, a) : a / b;
}
std::int64_t modulo(std::int64_t a, std::int64_t b) {  // the divisor's sign, as Python has it
    if (b == 0 || b == -1) return b == 0 ? unknownElement : 0;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
std::int64_t remainderOf(std::int64_t a, std::int64_t b) {  // the dividend's sign, as C has it
    return b == 0 ? unknownElement : b == -1 ? 0 : a % b;
}
std::int64_t power(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0) return base == 1 ? 1 : unknownElement;
    std::int64_t result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = multiply(result, base);
        if (exponent > 1) base = multiply(base, base);
        if (result == unknownElement || base == unknownElement) return unknownElement;
    }
    return result;
}
double realModulo(double a, double b) {
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct Binary {
    Whole whole;
    Real real;
    bool predicate = false;
};

const std::unordered_map<std::string_view, Binary>& binaries() {
    using I = std::int64_t;
    static const std::unordered_map<std::string_view, Binary> table{
        {"Add", {add, [](double a, double b) { return a + b; }}},
        {"Sum", {add, [](double a, double b) { return a + b; }}},
        {"Sub", {subtract, [](double a, double b) { return a - b; }}},
        {"Mul", {multiply, [](double a, double b) { return a * b; }}},
        {"Div", {divide, [](double a, double b) { return a / b; }}},
        {"Pow", {power, [](double a, double b) { return std::pow(a, b); }}},
        {"Max", {[](I a, I b) { return std::max(a, b); }, [](double a, double b) { return std::max(a, b); }}},
        {"Min", {[](I a, I b) { return std::min(a, b); }, [](double a, double b) { return std::min(a, b); }}},
        {"Equal", {[](I a, I b) -> I { return a == b; }, [](double a, double b) -> double { return a == b; }, true}},
        {"Less", {[](I a, I b) -> I { return a < b; }, [](double a, double b) -> double { return a < b; }, true}},
        {"Greater", {[](I a, I b) -> I { return a > b; }, [](double a, double b) -> double { return a > b; }, true}},
        {"LessOrEqual",
         {[](I a, I b) -> I { return a <= b; }, [](double a, double b) -> double { return a <= b; }, true}},
        {"GreaterOrEqual",
         {[](I a, I b) -> I { return a >= b; }, [](double a, double b) -> double { return a >= b; }, true}},
        {"And", {[](I a, I b) -> I { return a && b; }, nullptr, true}},
        {"Or", {[](I a, I b) -> I { return a || b; }, nullptr, true}},
        {"Xor", {[](I a, I b) -> I { return (a != 0) != (b != 0); }, nullptr, true}},
    };
    return table;
}

Data apply(const Binary& how, const Data& a, const Data& b, const Extents& shapeA, const Extents& shapeB,
           const Extents& shape) {
    const auto atA = broadcastPositions(shapeA, shape), atB = broadcastPositions(shapeB, shape);
    Data result;
    if (a.real || b.real) {
        result.real = !how.predicate;
        for (std::size_t i = 0; i < atA.size(); ++i) {
            const double value = how.real(a.asReal(atA[i]), b.asReal(atB[i]));
            if (result.real) {
                result.reals.push_back(value);
            } else {
                result.ints.push_back(value != 0);
            }
        }
        return result;
    }
    result.ints.reserve(atA.size());
    for (std::size_t i = 0; i < atA.size(); ++i) {
        const std::int64_t x = a.ints[atA[i]], y = b.ints[atB[i]];
        result.ints.push_back(x == unknownElement || y == unknownElement ? unknownElement : how.whole(x, y));
    }
    return result;
}

bool mixed(const RuleContext& context) {  // an unknown whole number would turn into a real
    bool real = false, open = false;
    for (const Value* value : context.in) {
        if (!value) continue;
        real = real || value->data->real;
        if (!value->data->real) {
            open = open || std::find(value->data->ints.begin(), value->data->ints.end(), unknownElement) !=
                               value->data->ints.end();
        }
    }
    return real && open;
}

bool binary(RuleContext& context, std::string_view type) {
    Binary how;
    if (type == "Mod") {
        const bool c = context.node.integer("fmod", 0) != 0;
        how = {c ? remainderOf : modulo, c ? Real([](double a, double b) { return std::fmod(a, b); }) : realModulo};
    } else if (const auto found = binaries().find(type); found != binaries().end()) {
        how = found->second;
    } else {
        return false;
    }
    if (context.in.size() < 2 || mixed(context)) return false;
    Data result;
    Extents shape;
    for (std::size_t i = 0; i < context.in.size(); ++i) {
        if (!context.in[i]) return false;
        const Value& next = *context.in[i];
        if (!how.real && next.data->real) return false;
        if (i == 0) {
            result = *next.data, shape = next.extents;
            continue;
        }
        Extents together = context.broadcast(shape, next.extents);
        // old operators broadcast by an axis, which this does not
        if (context.contradiction() || !allKnown(together) || count(together) > static_cast<std::int64_t>(largestData))
            return false;
        result = apply(how, result, *next.data, shape, next.extents, together);
        shape = std::move(together);
    }
    context.out[0].data = std::make_shared<const Data>(std::move(result));
    return true;
}

const std::unordered_map<std::string_view, double (*)(double)>& realFunctions() {
    using D = double;
    static const std::unordered_map<std::string_view, double (*)(double)> table{
        {"Neg", [](D x) { return -x; }},
        {"Abs", [](D x) { return std::fabs(x); }},
        {"Floor", [](D x) { return std::floor(x); }},
        {"Ceil", [](D x) { return std::ceil(x); }},
        {"Round", [](D x) { return std::nearbyint(x); }},
        {"Sqrt", [](D x) { return std::sqrt(x); }},
        {"Exp", [](D x) { return std::exp(x); }},
        {"Log", [](D x) { return std::log(x); }},
        {"Reciprocal", [](D x) { return 1 / x; }},
        {"Sign", [](D x) { return D((x > 0) - (x < 0)); }}};
    return table;
}

bool unary(RuleContext& context, std::string_view type) {
    if (context.in.size() != 1 || !context.in[0]) return false;
    const Data& from = *context.in[0]->data;
    Data result;
    result.real = from.real;
    if (type == "Not" && !from.real) {
        for (const std::int64_t x : from.ints) result.ints.push_back(x == unknownElement ? x : x == 0);
    } else if (const auto how = realFunctions().find(type); how == realFunctions().end()) {
        return false;
    } else if (from.real) {
        for (const double x : from.reals) result.reals.push_back(how->second(x));
    } else if (type == "Neg" || type == "Abs" || type == "Sign") {
        for (const std::int64_t x : from.ints) {
            result.ints.push_back(x == unknownElement      ? x
                                  : type == "Sign"         ? (x > 0) - (x < 0)
                                  : type == "Neg" || x < 0 ? -x
                                                           : x);
        }
    } else {
        return false;
    }
    context.out[0].data = std::make_shared<const Data>(std::move(result));
    return true;
}

/// A whole number as a narrower type holds it.
std::int64_t narrowed(std::int64_t x, ElementType type) {
    switch (type) {
        case ElementType::Bool:
            return x != 0;
        case ElementType::Int32:
            return static_cast<std::int32_t>(x);
        case ElementType::UInt32:
            return static_cast<std::uint32_t>(x);
        case ElementType::Int16:
            return static_cast<std::int16_t>(x);
        case ElementType::UInt16:
            return static_cast<std::uint16_t>(x);
        case ElementType::Int8:
            return static_cast<std::int8_t>(x);
        case ElementType::UInt8:
            return static_cast<std::uint8_t>(x);
        default:
            return x;
    }
}

bool cast(RuleContext& context, std::string_view type) {
    if (type != "Cast" && type != "CastLike") return false;
    const Data& from = *context.in[0]->data;
    const ElementType to = context.out[0].type;
    Data result;
    result.real = isFloating(to);
    for (std::size_t i = 0; i < from.size(); ++i) {
        const bool open = !from.real && from.ints[i] == unknownElement;
        if (result.real) {
            if (open) return false;
            const double x = from.asReal(i);
            result.reals.push_back(to == ElementType::Float ? static_cast<double>(static_cast<float>(x)) : x);
        } else if (from.real) {
            const double x = from.reals[i];
            if (to == ElementType::Bool) {
                result.ints.push_back(x != 0);
            } else {
                const bool fits = std::fabs(x) < 9e18;  // not so for NaN
                result.ints.push_back(fits ? narrowed(static_cast<std::int64_t>(x), to) : unknownElement);
            }
        } else {
            result.ints.push_back(open ? unknownElement : narrowed(from.ints[i], to));
        }
    }
    context.out[0].data = std::make_shared<const Data>(std::move(result));
    return true;
}

bool reduce(RuleContext& context, std::string_view type) {
    if (type != "ReduceProd" && type != "ReduceSum" && type != "ReduceMax" && type != "ReduceMin") return false;
    const Value& x = *context.in[0];
    const auto found = context.attributes.find("axes");
    if (x.data->real || found == context.attributes.end()) return false;
    Extents kept = x.extents;
    for (const std::int64_t axis : std::get<std::vector<std::int64_t>>(found->second)) {
        kept[static_cast<std::size_t>(axis)] = 1;
    }
    const auto into = broadcastPositions(kept, x.extents);
    const bool product = type == "ReduceProd", sum = type == "ReduceSum";
    if (into.empty() && !product && !sum) return false;
    Data result;
    result.ints.assign(static_cast<std::size_t>(*count(kept)), product ? 1 : 0);
    std::vector<bool> begun(result.ints.size(), false);
    for (std::size_t i = 0; i < into.size(); ++i) {
        std::int64_t& total = result.ints[into[i]];
        const std::int64_t next = x.data->ints[i];
        if (total == unknownElement || next == unknownElement) {
            total = unknownElement;
        } else if (product || sum) {
            total = product ? multiply(total, next) : add(total, next);
        } else {
            total = !begun[into[i]] ? next : type == "ReduceMax" ? std::max(total, next) : std::min(total, next);
        }
        begun[into[i]] = true;
    }
    context.out[0].data = std::make_shared<const Data>(std::move(result));
    return true;
}

}  // namespace

bool evaluateArithmetic(RuleContext& context, std::string_view type) {
    if (context.in.empty() || !context.in[0]) return false;
    return cast(context, type) || binary(context, type) || unary(context, type) || reduce(context, type);
}

}  // namespace orrery::onnx_import
