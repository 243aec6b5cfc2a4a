#include "mapping/data_centric/dataflow.h"

#include <fmt/format.h>

#include <limits>

namespace orrery {

namespace {

using Op = SizeExpression::Op;
using Term = SizeExpression::Term;
constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();

std::string letter(FlowDim dim, bool output) {
    return fmt::format("{}{}", toText(dim), output ? "'" : "");
}

Expected<std::int64_t> operand(const Term& term, const FlowLayer& layer, const Place& place) {
    if (term.op == Op::Number) return term.number;
    if (!layer.has(term.dim)) {
        return fail("dataflow.dimension",
                    fmt::format("Sz({}) of layer `{}`, which has no dimension {}", letter(term.dim, term.output),
                                layer.name, toText(term.dim)),
                    "a dimension of the layer", "add it under Dimensions, 1 if it is not used", place);
    }
    return term.output ? outputExtent(layer, term.dim) : layer.extent(term.dim);
}

// Operands are below 2^31 in size after every step, so no step overflows.
Expected<std::int64_t> apply(Op op, std::int64_t a, std::int64_t b, const Place& place) {
    std::int64_t result = 0;
    switch (op) {
        case Op::Add:
            result = a + b;
            break;
        case Op::Subtract:
            result = a - b;
            break;
        case Op::Multiply:
            result = a * b;
            break;
        default:
            if (b == 0)
                return fail("dataflow.size", "a size is divided by zero", "a divisor of at least 1",
                            "check the sizes that it is made of", place);
            result = a / b;
    }
    if (result > largest || result < -largest) {
        return fail("dataflow.size", fmt::format("a size comes to {}", result), fmt::format("below {}", largest),
                    "check the sizes that it is made of", place);
    }
    return result;
}

std::string infix(const SizeExpression& expression) {
    struct Part {
        std::string text;
        bool sum = false;
    };
    std::vector<Part> stack;
    for (const Term& term : expression.terms) {
        if (term.op == Op::Number) {
            stack.push_back({fmt::format("{}", term.number)});
        } else if (term.op == Op::Size) {
            stack.push_back({fmt::format("Sz({})", letter(term.dim, term.output))});
        } else {
            constexpr std::string_view signs = "+-*/";
            const auto sign = signs[static_cast<std::size_t>(term.op) - static_cast<std::size_t>(Op::Add)];
            const bool sum = term.op == Op::Add || term.op == Op::Subtract;
            Part b = std::move(stack.back());
            stack.pop_back();
            Part& a = stack.back();
            const auto bracket = [](const Part& part, bool needed) {
                return needed ? "(" + part.text + ")" : part.text;
            };
            a = {bracket(a, a.sum && !sum) + sign + bracket(b, b.sum || term.op == Op::Divide), sum};
        }
    }
    return stack.empty() ? "1" : stack.back().text;
}

}  // namespace

SizeExpression constantSize(std::int64_t number) {
    return {{{Op::Number, number, FlowDim::K, false}}};
}

Expected<std::int64_t> evaluate(const SizeExpression& expression, const FlowLayer& layer, const Place& place) {
    std::vector<std::int64_t> stack;
    for (const Term& term : expression.terms) {
        if (term.op == Op::Number || term.op == Op::Size) {
            auto value = operand(term, layer, place);
            if (!value) return value;
            stack.push_back(*value);
            continue;
        }
        if (stack.size() < 2)
            return fail("dataflow.size", "a size is not a whole expression", "numbers, constants, Sz(dimension)",
                        "write it in brackets", place);
        const auto b = stack.back();
        stack.pop_back();
        auto value = apply(term.op, stack.back(), b, place);
        if (!value) return value;
        stack.back() = *value;
    }
    if (stack.size() != 1)
        return fail("dataflow.size", "a size is not a whole expression", "numbers, constants, Sz(dimension)",
                    "write it in brackets", place);
    if (stack.back() < 1 || stack.back() > largest) {
        const auto of = layer.name.empty() ? std::string() : fmt::format(" for layer `{}`", layer.name);
        return fail("dataflow.size", fmt::format("a size comes to {}{}", stack.back(), of),
                    fmt::format("a whole number from 1 to {}", largest), "write 1 for a dimension that is not used",
                    place);
    }
    return stack.back();
}

Expected<std::vector<BoundDirective>> bind(const DirectiveDataflow& dataflow, const FlowLayer& layer) {
    std::vector<BoundDirective> bound;
    bound.reserve(dataflow.directives.size());
    for (const Directive& directive : dataflow.directives) {
        const Place place{dataflow.file, directive.line, 0, layer.name};
        BoundDirective entry{directive.kind, directive.dim, directive.output, 1, 1, directive.line};
        const auto size = evaluate(directive.size, layer, place);
        if (!size) return tl::unexpected(size.error());
        entry.size = *size;
        if (directive.kind != Directive::Kind::Cluster) {
            const auto offset = evaluate(directive.offset, layer, place);
            if (!offset) return tl::unexpected(offset.error());
            entry.offset = *offset;
        }
        bound.push_back(entry);
    }
    return bound;
}

std::string toText(const DirectiveDataflow& dataflow) {
    std::string text;
    for (const Directive& directive : dataflow.directives) {
        if (directive.kind == Directive::Kind::Cluster) {
            text += fmt::format("Cluster({}, {});\n", infix(directive.size), directive.physical ? "P" : "L");
        } else {
            text +=
                fmt::format("{}Map({}, {}) {};\n", directive.kind == Directive::Kind::Spatial ? "Spatial" : "Temporal",
                            infix(directive.size), infix(directive.offset), letter(directive.dim, directive.output));
        }
    }
    return text;
}

}  // namespace orrery
