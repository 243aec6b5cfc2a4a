#include "workload/yaml/shapes.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

using Result = Expected<std::optional<Shape>>;

Unexpected refuse(std::string message, std::string expected, std::string hint) {
    return fail("workload.shape", std::move(message), std::move(expected), std::move(hint));
}

const Shape* shapeOf(const Operator& op, const Graph& graph, std::size_t input) {
    const Tensor* tensor = input < op.inputs.size() ? graph.tensor(op.inputs[input]) : nullptr;
    return tensor ? &tensor->shape : nullptr;
}

/// Two shapes broadcast together, from the last extent on; nothing if they do not fit.
std::optional<Shape> join(Shape wide, Shape narrow) {
    if (narrow.size() > wide.size()) std::swap(narrow, wide);
    for (std::size_t d = 0; d < narrow.size(); ++d) {
        Dim& mine = wide[wide.size() - 1 - d];
        const Dim& other = narrow[narrow.size() - 1 - d];
        if (mine == other || other.value == 1) continue;
        if (mine.value != 1) return std::nullopt;
        mine = other;
    }
    return wide;
}

Result broadcast(const Operator& op, const Graph& graph) {
    Shape out;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const auto joined = join(out, *shapeOf(op, graph, i));
        if (!joined) {
            return refuse(fmt::format("the inputs of `{}` do not fit together: {} and {}", op.name, toText(out),
                                      toText(*shapeOf(op, graph, i))),
                          "equal extents, or 1", "correct a shape");
        }
        out = *joined;
    }
    return out;
}

Result convolution(const Operator& op, const Graph& graph) {
    const Shape* x = shapeOf(op, graph, 0);
    const Shape* w = shapeOf(op, graph, 1);
    const std::int64_t group = op.integer("group", 1);
    if (!x || !w || x->size() < 3 || w->size() != x->size() || (*x)[1].value % group != 0 ||
        (*w)[1].value != (*x)[1].value / group) {
        return refuse(fmt::format("the operands of `{}` do not fit together: {} and {}", op.name,
                                  x ? toText(*x) : "nothing", w ? toText(*w) : "nothing"),
                      "X [N, C, …] and W [O, C/group, …]", "correct a shape or the attribute `group`");
    }
    const std::size_t space = x->size() - 2;
    const auto at = [space](std::vector<std::int64_t> values, std::size_t count, std::int64_t fallback) {
        values.resize(std::max(values.size(), space * count), fallback);
        return values;
    };
    const auto strides = at(op.integers("strides"), 1, 1);
    const auto pads = at(op.integers("pads"), 2, 0);
    const auto dilations = at(op.integers("dilations"), 1, 1);
    Shape out{(*x)[0], (*w)[0]};
    // Bounded so that their products with any extent stay within 64 bits.
    constexpr std::int64_t most = 1'000'000;
    for (std::size_t i = 0; i < 2 * space; ++i) {
        const std::size_t d = i % space;
        if (strides[d] < 1 || dilations[d] < 1 || pads[i] < 0 || strides[d] > most || dilations[d] > most ||
            pads[i] > most || (*w)[2 + d].value < 1 || (*w)[2 + d].value > most) {
            return refuse(fmt::format("the window of `{}` makes no sense", op.name),
                          "strides, dilations and kernel from 1 to a million, pads from 0",
                          "correct strides, pads or dilations");
        }
    }
    for (std::size_t i = 0; i < space; ++i) {
        const std::int64_t reach = dilations[i] * ((*w)[2 + i].value - 1) + 1;
        const std::int64_t room = (*x)[2 + i].value + pads[i] + pads[space + i] - reach;
        if (room < 0) {
            return refuse(fmt::format("the window of `{}` does not fit its input {}", op.name, toText(*x)),
                          "a window inside the padded input", "correct strides, pads or dilations");
        }
        out.emplace_back(room / strides[i] + 1);
    }
    return out;
}

}  // namespace

Expected<std::optional<Shape>> outputShape(const Operator& op, const Graph& graph) {
    switch (op.kind) {
        case OperatorKind::Elementwise:
            if (!op.inputs.empty()) return broadcast(op, graph);
            break;
        case OperatorKind::Normalization:
        case OperatorKind::Softmax:
            if (!op.inputs.empty()) return *shapeOf(op, graph, 0);
            break;
        case OperatorKind::Conv:
            return convolution(op, graph);
        case OperatorKind::MatMul: {
            if (op.type == "Einsum" || op.type == "GroupedMatMul" || op.type.starts_with("QLinear")) break;
            const Shape* a = shapeOf(op, graph, 0);
            const Shape* b = shapeOf(op, graph, 1);
            if (!a || !b || a->empty() || b->size() < 2) break;
            const bool transA = op.integer("transA", 0) != 0 && a->size() > 1;
            const bool transB = op.integer("transB", 0) != 0;
            const Dim inner = transA ? (*a)[a->size() - 2] : a->back();
            if (inner != (transB ? b->back() : (*b)[b->size() - 2])) {
                return refuse(fmt::format("`{}` cannot multiply {} by {}", op.name, toText(*a), toText(*b)),
                              "[…, M, K] and [K, N]", "correct a shape, or set transA or transB");
            }
            // The outer extents broadcast; the last two are M and N.
            Shape out;
            for (const Shape* operand : {a, b}) {
                const Shape head(operand->begin(), operand->end() - std::min<std::ptrdiff_t>(2, std::ssize(*operand)));
                const auto joined = join(out, head);
                if (!joined) {
                    return refuse(fmt::format("`{}` cannot multiply {} by {}", op.name, toText(*a), toText(*b)),
                                  "equal outer extents, or 1", "correct a shape");
                }
                out = *joined;
            }
            if (a->size() > 1) out.push_back(transA ? a->back() : (*a)[a->size() - 2]);
            out.push_back(transB ? (*b)[b->size() - 2] : b->back());
            return out;
        }
        default:
            break;
    }
    return Result(std::nullopt);
}

}  // namespace orrery
