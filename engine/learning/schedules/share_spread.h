#pragma once

// How far the share of a schedule may lie from what a model says of it, from operators that were left out. Errors of
// one operator go together, so an operator counts as one: its schedules share its weight, and how wide intervals are is
// what held the operators when each was predicted from the others (conformal prediction over groups; Dunn, Wasserman
// and Ramdas, "Distribution-Free Prediction Sets for Two-Layer Hierarchical Models", JASA 118, 2023).

#include "learning/schedules/unseen_shares.h"

#include <stop_token>

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
    static constexpr double coverage = 0.9;  ///< what is aimed at
    /// What time and memory are bounded by: rows of an operator (evenly by what was said of them) and of all, own
    /// operators that are left out (evenly), operators of other devices (evenly).
    static constexpr std::size_t mostRows = 200, mostOfAll = 20'000, mostLeftOut = 100, mostOthers = 100;

    ShareSpread() = default;  ///< knows nothing
    /// `own`: operators of the device. `others`: of other devices; all of them together count as two. Knows nothing
    /// where it was stopped.
    ShareSpread(std::vector<UnseenOperator> own, std::vector<UnseenOperator> others, const std::stop_token& stop = {});

    std::size_t operators() const { return operators_; }  ///< from which it is; below 2 nothing is said
    bool isKnown() const { return operators_ >= 2; }
    /// The narrowest that holds 90 % of an unseen operator's schedules, in the mean over operators; where so few
    /// operators cannot say so, the widest that was seen. All of 0 … 1 if not isKnown().
    ShareRange of(double told) const;
    /// What share of an unseen operator's schedules of() holds, in the mean: what it held of those left out, the next
    /// operator counted as one of which it may hold none. 0.9 and more where operators are enough; of n never above
    /// n ÷ (n + 1).
    double chance() const { return chance_; }
    /// What the first choice of an unseen operator reaches, and the best of the first ten: at 90 %, or what so few
    /// operators can say.
    ShareBound first() const { return first_; }
    ShareBound ten() const { return ten_; }

private:
    std::vector<double> told_, below_;  ///< told shares in order, and the weight up to the middle of each
    std::vector<ShareRange> knots_;     ///< evenly over the weight
    std::size_t operators_ = 0;
    double chance_ = 0;
    ShareBound first_, ten_;
};

}  // namespace orrery
