#pragma once

// Whether something holds, as lessons write it: comparisons of arithmetic over names, joined by `and`.

#include "base/text/expression.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The value of a name; nothing where there is none.
using ValueOf = std::function<std::optional<double>(std::string_view)>;
/// Nothing where a name has no value or the result is no finite number.
std::optional<double> evaluate(const Expression& expression, const ValueOf& valueOf);

/// `hbm3.bandwidth < 0.6 * start.hbm3.bandwidth and batch == 1`. Signs: `<`, `<=`, `>`, `>=`, and `==`, which holds
/// within a millionth.
class Condition {
public:
    /// Fails with `condition.syntax`, or as Expression::parse.
    static Expected<Condition> parse(std::string_view text);
    std::set<std::string> names() const;
    /// False where a name has no value.
    bool holds(const ValueOf& valueOf) const;

private:
    struct Part {
        Expression left, right;
        std::string sign;
    };
    std::vector<Part> parts_;
};

}  // namespace orrery
