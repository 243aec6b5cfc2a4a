#pragma once

// What a cheap method leaves open about a dear one, as ln(dear ÷ cheap) of the kernels of one family: a line over the
// kernels' size, and what each adds of its own. Normal with unknown line and spread, conjugate prior
// (normal-inverse-χ²; Gelman et al.: Bayesian Data Analysis, sections 3.3 and 14.2). Before anything is asked its 90 %
// at the usual size are the sides that are given; a decade of size may change as much as is open about the middle.
// Where only large kernels were asked, small ones stay open.

#include <array>
#include <span>

namespace orrery {

/// 95 % quantile of Student's t, `degrees` ≥ 1 of freedom.
double studentT95(double degrees);

class RatioBelief {
public:
    RatioBelief() = default;
    /// 90 % of ln(dear ÷ cheap) from `low` to `high` at size 0; `low` ≤ `high`. `degrees` of freedom that these sides
    /// have, ≥ 1: stated ones weigh as much as two kernels, and a few that happen to agree narrow them soon; measured
    /// ones stand for as many cases as were measured. Not `narrows`: kernels of one model err more alike than those of
    /// many, so they widen what was measured of a single one, and never narrow it.
    RatioBelief(double low, double high, double degrees = 2, bool narrows = true);
    /// `size`: ln of the kernel's cheap seconds ÷ the family's usual ones.
    void learn(double size, double logRatio);
    double mean(double size = 0) const { return line_[0] + line_[1] * size; }
    int learned() const { return learned_; }
    /// 90 % half-width in ln of one more kernel's own part, and of the line at `size`.
    double own() const;
    double line(double size) const;
    /// Of one more kernel: both, in squares.
    double half(double size = 0) const;

    /// 90 % half-width of Σ weightᵢ × lineᵢ, for weights of kernels at sizes: `sums` is Σ weight, Σ weight × size.
    double lineOfSum(const std::array<double, 2>& sums) const;
    /// As if one more kernel at `size` had been as expected.
    RatioBelief after(double size) const;

private:
    std::array<double, 2> line_{};
    std::array<double, 3> precision_{};  ///< of the line, in units of 1 ÷ spread²: (1,1), (1,2), (2,2)
    double spread_ = 0, degrees_ = 2;
    double leastSpread_ = 0;
    int learned_ = 0;
};

}  // namespace orrery
