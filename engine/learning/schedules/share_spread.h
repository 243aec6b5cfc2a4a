#pragma once

// How far the share of a schedule may lie from what a model says of it, from operators that were left out. Schedules of
// one operator err alike, so an operator counts as one: its schedules share its weight, and how wide intervals are is
// what held the operators when each was told by the others (conformal prediction over groups; Dunn, Wasserman and
// Ramdas, "Distribution-Free Prediction Sets for Two-Layer Hierarchical Models", JASA 118, 2023).

#include "learning/schedules/unseen_shares.h"

namespace orrery {

struct ShareRange {
    double low = 0, high = 1;  ///< best time ÷ time, 0 … 1; `told` lies inside
};
/// A bound that an operator keeps with this chance.
struct ShareBound {
    double share = 0, chance = 0;
};

class ShareSpread {
public:
    static constexpr double coverage = 0.9;

    ShareSpread() = default;  ///< knows nothing
    /// `own`: operators of the device. `others`: of other devices; all of them together count as two.
    ShareSpread(std::vector<UnseenOperator> own, std::vector<UnseenOperator> others);

    std::size_t operators() const { return operators_; }  ///< from which it is; below 2 nothing is said
    bool isKnown() const { return operators_ >= 2; }
    /// What holds 90 % of an unseen operator's schedules, in the mean over operators; all of 0 … 1 if not isKnown().
    ShareRange of(double told) const;
    /// What the first choice of an unseen operator reaches, and the best of the first ten: at 90 %, or what so few
    /// operators can say.
    ShareBound first() const { return first_; }
    ShareBound ten() const { return ten_; }

private:
    std::vector<double> told_, below_;  ///< told shares in order, and the weight up to the middle of each
    std::vector<ShareRange> knots_;     ///< evenly over the weight
    std::size_t operators_ = 0;
    ShareBound first_, ten_;
};

}  // namespace orrery
