#include "base/text/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace orrery {

namespace {
constexpr std::size_t mostSteps = 64;
constexpr int deepest = 32;
}  // namespace

class ExpressionParser {
public:
    using Op = Expression::Op;
    explicit ExpressionParser(std::string_view text) : rest_(text), all_(text) {}

    Expected<Expression> run() {
        sum(0);
        blanks();
        if (!rest_.empty()) wrong_ = true;
        if (wrong_ || result_.steps_.size() > mostSteps) {
            return fail("reference.expression", fmt::format("`{}` is no arithmetic over columns", all_),
                        "names, numbers, + - * / //, parentheses, min(a, b), max(a, b)",
                        "put a column's name that has other signs in it into backquotes");
        }
        return std::move(result_);
    }

private:
    void blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    }
    bool take(std::string_view sign) {
        blanks();
        if (!rest_.starts_with(sign)) return false;
        rest_.remove_prefix(sign.size());
        return true;
    }
    void step(Op op) { result_.steps_.push_back({op}); }
    void sum(int depth) {
        product(depth);
        while (!wrong_) {
            if (take("+")) {
                product(depth);
                step(Op::Add);
            } else if (take("-")) {
                product(depth);
                step(Op::Subtract);
            } else {
                return;
            }
        }
    }
    void product(int depth) {
        factor(depth);
        while (!wrong_) {
            if (take("//")) {
                factor(depth);
                step(Op::Floor);
            } else if (take("/")) {
                factor(depth);
                step(Op::Divide);
            } else if (take("*")) {
                factor(depth);
                step(Op::Multiply);
            } else {
                return;
            }
        }
    }
    void factor(int depth) {
        if (depth > deepest || result_.steps_.size() > mostSteps) {
            wrong_ = true;
            return;
        }
        if (take("-")) {
            factor(depth + 1);
            step(Op::Negate);
            return;
        }
        if (take("(")) {
            sum(depth + 1);
            if (!take(")")) wrong_ = true;
            return;
        }
        blanks();
        if (rest_.empty()) {
            wrong_ = true;
            return;
        }
        if (std::isdigit(static_cast<unsigned char>(rest_.front())) != 0 || rest_.front() == '.') {
            Expression::Step number{Op::Number};
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number.number);
            if (error != std::errc{}) wrong_ = true;
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            result_.steps_.push_back(number);
            return;
        }
        name(depth);
    }
    void name(int depth) {
        std::string_view word;
        if (take("`")) {
            const auto close = rest_.find('`');
            word = rest_.substr(0, close);
            if (close == std::string_view::npos) wrong_ = true;
            rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
        } else {
            std::size_t length = 0;
            while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 ||
                                             rest_[length] == '_' || rest_[length] == '.')) {
                ++length;
            }
            word = rest_.substr(0, length);
            rest_.remove_prefix(length);
            if ((word == "min" || word == "max") && take("(")) {
                sum(depth + 1);
                if (!take(",")) wrong_ = true;
                sum(depth + 1);
                if (!take(")")) wrong_ = true;
                step(word == "min" ? Op::Min : Op::Max);
                return;
            }
        }
        if (word.empty()) {
            wrong_ = true;
            return;
        }
        auto& names = result_.names_;
        auto found = std::find(names.begin(), names.end(), word);
        if (found == names.end()) found = names.insert(names.end(), std::string(word));
        result_.steps_.push_back({Op::Name, static_cast<std::uint32_t>(found - names.begin())});
    }

    std::string_view rest_, all_;
    Expression result_;
    bool wrong_ = false;
};

Expected<Expression> Expression::parse(std::string_view text) {
    return ExpressionParser(text).run();
}

Expression Expression::constant(double value) {
    Expression expression;
    expression.steps_.push_back({Op::Number, 0, value});
    return expression;
}

double Expression::evaluate(std::span<const double> values) const {
    std::array<double, mostSteps + 1> stack{};
    std::size_t top = 0;
    for (const Step& step : steps_) {
        if (step.op == Op::Number || step.op == Op::Name) {
            stack[top++] = step.op == Op::Number ? step.number : values[step.name];
            continue;
        }
        if (step.op == Op::Negate) {
            stack[top - 1] = -stack[top - 1];
            continue;
        }
        const double right = stack[--top];
        double& left = stack[top - 1];
        switch (step.op) {
            case Op::Add:
                left += right;
                break;
            case Op::Subtract:
                left -= right;
                break;
            case Op::Multiply:
                left *= right;
                break;
            case Op::Divide:
                left /= right;
                break;
            case Op::Floor:
                left = std::floor(left / right);
                break;
            case Op::Min:
                left = std::min(left, right);
                break;
            default:
                left = std::max(left, right);
                break;
        }
    }
    return stack[0];
}

}  // namespace orrery
