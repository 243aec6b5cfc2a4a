#pragma once

// Arithmetic over the columns of a table, as import descriptions write it: `B*M`, `(in + 2*pad - k) // stride + 1`.

#include "base/diagnostic.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Numbers, names, + − × (`*`), division (`/`), whole division rounding down (`//`), parentheses, `min(a, b)`,
/// `max(a, b)`. A name is letters, digits, `_` and `.`, or any text in backquotes.
class Expression {
public:
    /// Fails with `reference.expression`; at most 64 steps.
    static Expected<Expression> parse(std::string_view text);
    static Expression constant(double value);

    /// The names, each once; evaluate() takes their values in this order.
    const std::vector<std::string>& names() const { return names_; }
    /// Allocates nothing. Division by zero gives what IEEE 754 says.
    double evaluate(std::span<const double> values) const;

private:
    friend class ExpressionParser;
    enum class Op : std::uint8_t { Number, Name, Add, Subtract, Multiply, Divide, Floor, Negate, Min, Max };
    struct Step {
        Op op;
        std::uint32_t name = 0;
        double number = 0;
    };
    std::vector<Step> steps_;  // postfix
    std::vector<std::string> names_;
};

}  // namespace orrery
