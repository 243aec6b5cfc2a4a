#include "workload/onnx/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery::onnx_import {
namespace {

/// Extents of a[…,M,K]·b[…,K,N] after the transpositions; vectors get and lose a 1 as numpy has it.
void product(RuleContext& context, std::size_t left, std::size_t right, ElementType type, bool transA = false,
             bool transB = false) {
    context.setType(0, type);
    const Value *a = context.shaped(left), *b = context.shaped(right);
    if (!a || !b) return;
    Extents x = a->extents, y = b->extents;
    if (x.empty() || y.empty()) {
        context.contradict("a scalar cannot be multiplied as a matrix", "operands of rank 1 or more");
        return;
    }
    const bool vectorA = x.size() == 1, vectorB = y.size() == 1;
    if (vectorA) x.insert(x.begin(), 1);
    if (vectorB) y.push_back(1);
    if (transA && !vectorA) std::swap(x[x.size() - 1], x[x.size() - 2]);
    if (transB && !vectorB) std::swap(y[y.size() - 1], y[y.size() - 2]);
    context.agree(x.back(), y[y.size() - 2], fmt::format("the inner extent of {} · {}", toText(x), toText(y)));
    Extents result = context.broadcast({x.begin(), x.end() - 2}, {y.begin(), y.end() - 2});
    if (!vectorA) result.push_back(x[x.size() - 2]);
    if (!vectorB) result.push_back(y.back());
    context.set(0, type, std::move(result));
}

void matMul(RuleContext& context) {
    product(context, 0, 1, context.type(0));
}
void matMulInteger(RuleContext& context) {
    product(context, 0, 1, ElementType::Int32);
}
void matMulToFloat(RuleContext& context) {
    product(context, 0, 1, ElementType::Float);
}
void qLinearMatMul(RuleContext& context) {
    product(context, 0, 3, context.type(7) != ElementType::Undefined ? context.type(7) : context.type(0));
}
void fusedMatMul(RuleContext& context) {
    product(context, 0, 1, context.type(0), context.node.integer("transA", 0) != 0,
            context.node.integer("transB", 0) != 0);
}

void gemmOf(RuleContext& context, std::size_t right, int bias, ElementType type) {
    context.setType(0, type);
    const Value *a = context.shaped(0), *b = context.shaped(right);
    if (!a || !b) return;
    Extents left = a->extents;
    // before opset 7 a higher rank was flattened to two
    if (left.size() > 2 && context.node.opset() < 7) {
        left = {left[0], count({left.begin() + 1, left.end()}).value_or(unknown)};
    }
    if (left.size() != 2 || b->rank() != 2) {
        context.contradict(fmt::format("operands have ranks {} and {}", left.size(), b->rank()),
                           "two matrices, both of rank 2");
        return;
    }
    const bool transA = context.node.integer("transA", 0) != 0, transB = context.node.integer("transB", 0) != 0;
    const std::int64_t m = left[transA ? 1 : 0], k = left[transA ? 0 : 1];
    const std::int64_t n = b->extents[transB ? 0 : 1];
    context.agree(k, b->extents[transB ? 1 : 0], "the inner extent");
    const Value* c = bias >= 0 ? context.shaped(static_cast<std::size_t>(bias)) : nullptr;
    if (c && context.node.opset() >= 7) {
        if (c->rank() > 2) {
            context.contradict(fmt::format("the bias has rank {}", c->rank()), "rank 2 at most");
        } else {
            context.broadcast({m, n}, c->extents);
        }
    }
    context.set(0, type, {m, n});
}

void gemm(RuleContext& context) {
    gemmOf(context, 1, 2, context.type(0));
}
void gemmFloat8(RuleContext& context) {
    gemmOf(context, 1, 2, elementType(static_cast<int>(context.node.integer("dtype", 1))));
}
void qGemm(RuleContext& context) {
    gemmOf(context, 3, -1, context.type(8) != ElementType::Undefined ? context.type(8) : ElementType::Float);
}

/// B is packed in blocks of `bits`-wide numbers; its logical extents are [K, N].
void matMulNBits(RuleContext& context) {
    context.setType(0, context.type(0));
    const std::int64_t k = context.node.integer("K", unknown), n = context.node.integer("N", unknown);
    if (k <= 0 || n <= 0 || k > largestExtent || n > largestExtent) {
        context.contradict("K and N must be given", "positive attributes K and N");
        return;
    }
    context.stored.push_back({1, {k, n}});
    const Value* a = context.shaped(0);
    if (!a || a->rank() == 0) return;
    Extents result = a->extents;
    context.agree(result.back(), k, "the inner extent");
    result.back() = n;
    context.set(0, a->type, std::move(result));
}

bool readEinsum(std::string text, std::vector<std::string>& terms, std::string& result, bool& explicitResult) {
    std::erase(text, ' ');
    for (std::size_t dots; (dots = text.find("...")) != std::string::npos;) text.replace(dots, 3, ".");
    const std::size_t arrow = text.find("->");
    explicitResult = arrow != std::string::npos;
    if (explicitResult) result = text.substr(arrow + 2), text.resize(arrow);
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        terms.push_back(text.substr(from, comma - from));
        from = comma + 1;
    }
    const auto valid = [](const std::string& letters) {
        return std::count(letters.begin(), letters.end(), '.') <= 1 &&
               std::all_of(letters.begin(), letters.end(),
                           [](char c) { return c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    };
    return valid(result) && std::all_of(terms.begin(), terms.end(), valid);
}

void einsum(RuleContext& context) {
    context.setType(0, context.type(0));
    std::vector<std::string> terms;
    std::string result;
    bool explicitResult = false;
    const std::string equation = context.node.text("equation");
    if (!readEinsum(equation, terms, result, explicitResult) || terms.size() != context.in.size()) {
        context.contradict(fmt::format("`{}` is no equation for {} operands", equation, context.in.size()),
                           "one term of letters per operand");
        return;
    }
    std::map<char, std::int64_t> extent;
    std::map<char, int> uses;
    Extents dots;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Value* value = context.shaped(i);
        if (!value) return;
        const std::string& letters = terms[i];
        const bool open = letters.find('.') != std::string::npos;
        const std::size_t named = letters.size() - (open ? 1 : 0);
        if (value->rank() < named || (!open && value->rank() != named)) {
            context.contradict(
                fmt::format("operand {} has rank {} but `{}` has {} letters", i, value->rank(), letters, named),
                "one letter per dimension");
            return;
        }
        std::size_t at = 0;
        for (const char letter : letters) {
            if (letter == '.') {
                const std::size_t length = value->rank() - named;
                const auto first = value->extents.begin() + static_cast<std::ptrdiff_t>(at);
                dots = context.broadcast(dots, {first, first + static_cast<std::ptrdiff_t>(length)});
                at += length;
                continue;
            }
            auto [slot, fresh] = extent.emplace(letter, value->extents[at]);
            const std::int64_t now = value->extents[at++];
            if (!fresh && slot->second == 1) {
                slot->second = now;
            } else if (!fresh && now != 1) {
                slot->second = context.agree(slot->second, now, fmt::format("the extent of `{}`", letter));
            }
            ++uses[letter];
        }
    }
    if (!explicitResult) {  // the ellipsis, then letters used once, in alphabetical order
        if (equation.find("...") != std::string::npos) result = ".";
        for (const auto& [letter, times] : uses) {
            if (times == 1) result += letter;
        }
    }
    Extents extents;
    for (const char letter : result) {
        if (letter == '.') {
            extents.insert(extents.end(), dots.begin(), dots.end());
        } else if (const auto known = extent.find(letter); known != extent.end()) {
            extents.push_back(known->second);
        } else {
            context.contradict(fmt::format("`{}` of the result is in no operand", letter), "letters of the operands");
            return;
        }
    }
    context.set(0, context.type(0), std::move(extents));
}

void determinant(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    if (x->rank() < 2) {
        context.contradict("a determinant needs matrices", "rank 2 or more");
        return;
    }
    context.agree(x->extents[x->rank() - 1], x->extents[x->rank() - 2], "the side of the square matrix");
    context.set(0, x->type, {x->extents.begin(), x->extents.end() - 2});
}

}  // namespace

std::vector<RuleRow> matrixRules() {
    constexpr auto kind = OperatorKind::MatMul;
    constexpr auto ms = Domain::Microsoft;
    return {{"MatMul", matMul, kind},
            {"MatMulInteger", matMulInteger, kind},
            {"QLinearMatMul", qLinearMatMul, kind},
            {"Gemm", gemm, kind},
            {"Einsum", einsum, kind},
            {"Det", determinant},
            {"FusedMatMul", fusedMatMul, kind, ms},
            {"TransposeMatMul", fusedMatMul, kind, ms},
            {"FusedGemm", gemm, kind, ms},
            {"GemmFloat8", gemmFloat8, kind, ms},
            {"GemmFastGelu", matMul, kind, ms},
            {"QGemm", qGemm, kind, ms},
            {"MatMulNBits", matMulNBits, kind, ms},
            {"MatMulFpQ4", matMul, OperatorKind::Other, ms},
            {"MatMulInteger16", matMulInteger, kind, ms},
            {"MatMulIntegerToFloat", matMulToFloat, kind, ms},
            {"DynamicQuantizeMatMul", matMulToFloat, kind, ms}};
}

}  // namespace orrery::onnx_import
