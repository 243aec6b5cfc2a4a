#include "base/text/condition.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 5> conditionSigns{"<=", ">=", "==", "<", ">"};
constexpr double equalWithin = 1e-6;

std::vector<std::string_view> conjuncts(std::string_view text) {
    constexpr std::string_view joint = " and ";
    std::vector<std::string_view> all;
    for (auto at = text.find(joint); at != std::string_view::npos; at = text.find(joint)) {
        all.push_back(text.substr(0, at));
        text.remove_prefix(at + joint.size());
    }
    all.push_back(text);
    return all;
}

}  // namespace

std::optional<double> evaluate(const Expression& expression, const ValueOf& valueOf) {
    std::vector<double> values;
    for (const std::string& name : expression.names()) {
        const auto value = valueOf(name);
        if (!value) return std::nullopt;
        values.push_back(*value);
    }
    const double result = expression.evaluate(values);
    return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

Expected<Condition> Condition::parse(std::string_view text) {
    Condition condition;
    for (const std::string_view part : conjuncts(text)) {
        const auto sign = std::ranges::find_if(
            conditionSigns, [&](std::string_view each) { return part.find(each) != std::string_view::npos; });
        if (sign == conditionSigns.end()) {
            return fail("condition.syntax", fmt::format("`{}` compares nothing", trimmed(part)),
                        "two sides with <, <=, >, >= or == between them", "as in `batch > 1 and latency < 0.01`");
        }
        const auto at = part.find(*sign);
        auto left = Expression::parse(trimmed(part.substr(0, at)));
        if (!left) return Unexpected(left.error());
        auto right = Expression::parse(trimmed(part.substr(at + sign->size())));
        if (!right) return Unexpected(right.error());
        condition.parts_.push_back({std::move(*left), std::move(*right), std::string(*sign)});
    }
    return condition;
}

std::set<std::string> Condition::names() const {
    std::set<std::string> all;
    for (const Part& part : parts_) {
        all.insert(part.left.names().begin(), part.left.names().end());
        all.insert(part.right.names().begin(), part.right.names().end());
    }
    return all;
}

bool Condition::holds(const ValueOf& valueOf) const {
    return std::ranges::all_of(parts_, [&](const Part& part) {
        const auto left = evaluate(part.left, valueOf), right = evaluate(part.right, valueOf);
        if (!left || !right) return false;
        if (part.sign == "<") return *left < *right;
        if (part.sign == "<=") return *left <= *right;
        if (part.sign == ">") return *left > *right;
        if (part.sign == ">=") return *left >= *right;
        return std::abs(*left - *right) <= equalWithin * std::max(std::abs(*left), std::abs(*right));
    });
}

}  // namespace orrery
