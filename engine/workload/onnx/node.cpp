#include "workload/onnx/node.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {

const ::onnx::AttributeProto& Node::resolved(const ::onnx::AttributeProto& attribute) const {
    if (!attribute.ref_attr_name().empty() && arguments_) {
        const auto argument = arguments_->find(attribute.ref_attr_name());
        if (argument != arguments_->end()) return *argument->second;
    }
    return attribute;
}

const ::onnx::AttributeProto* Node::attribute(std::string_view name) const {
    for (const ::onnx::AttributeProto& attribute : proto_.attribute()) {
        if (attribute.name() != name) continue;
        if (attribute.ref_attr_name().empty()) return &attribute;
        // an argument that the caller has left out leaves the operator's own default
        const auto argument =
            arguments_ ? arguments_->find(attribute.ref_attr_name()) : AttributeArguments::const_iterator{};
        return arguments_ && argument != arguments_->end() ? argument->second : nullptr;
    }
    return nullptr;
}

std::int64_t Node::integer(std::string_view name, std::int64_t fallback) const {
    const auto* found = attribute(name);
    return found && found->has_i() ? found->i() : fallback;
}

double Node::real(std::string_view name, double fallback) const {
    const auto* found = attribute(name);
    return found && found->has_f() ? static_cast<double>(found->f()) : fallback;
}

std::string Node::text(std::string_view name, std::string_view fallback) const {
    const auto* found = attribute(name);
    return found && found->has_s() ? found->s() : std::string(fallback);
}

Extents Node::integers(std::string_view name) const {
    const auto* found = attribute(name);
    if (!found) return {};
    return {found->ints().begin(), found->ints().end()};
}

const ::onnx::GraphProto* Node::graph(std::string_view name) const {
    const auto* found = attribute(name);
    return found && found->has_g() ? &found->g() : nullptr;
}

void RuleContext::set(std::size_t i, ElementType type, Extents extents) {
    if (i >= out.size()) return;
    out[i].type = type;
    out[i].ranked = true;
    out[i].extents = std::move(extents);
}

void RuleContext::like(std::size_t i, std::size_t j) {
    if (i >= out.size() || !input(j)) return;
    const Value& from = *input(j);
    out[i].type = from.type;
    out[i].form = from.form;
    out[i].ranked = from.ranked;
    out[i].extents = from.extents;
    out[i].length = from.length;
}

bool RuleContext::contradict(std::string message, std::string expected, std::string hint) {
    if (!contradiction_) contradiction_ = Contradiction{std::move(message), std::move(expected), std::move(hint)};
    return false;
}

std::optional<std::size_t> RuleContext::axis(std::int64_t axis, std::size_t rank) {
    const auto size = static_cast<std::int64_t>(rank);
    if (axis < -size || axis >= size) {
        contradict(fmt::format("axis {} does not exist in a tensor of rank {}", axis, rank),
                   fmt::format("an axis from {} to {}", -size, size - 1));
        return std::nullopt;
    }
    return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::int64_t RuleContext::agree(std::int64_t a, std::int64_t b, std::string_view what) {
    if (a >= 0 && b >= 0 && a != b) {
        contradict(fmt::format("{} is {} on one side and {} on the other", what, a, b), "equal extents");
    }
    return a >= 0 ? a : b;
}

Extents RuleContext::broadcast(const Extents& a, const Extents& b) {
    const Extents& longer = a.size() >= b.size() ? a : b;
    const Extents& shorter = a.size() >= b.size() ? b : a;
    Extents result = longer;
    const std::size_t shift = longer.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        const std::int64_t x = longer[i + shift], y = shorter[i];
        if (x == y || y == 1) continue;
        if (x == 1) {
            result[i + shift] = y;
        } else if (x == unknown || y == unknown) {
            result[i + shift] = std::max(x, y);  // the known one is above 1 (or 0), and wins
        } else {
            contradict(fmt::format("{} and {} do not broadcast: {} against {}", toText(a), toText(b), x, y),
                       "equal extents, or 1", "bind the model's symbols to sizes that fit one another");
            return result;
        }
    }
    return result;
}

}  // namespace orrery::onnx_import
