#pragma once

// What would have to change for the other to win: the value of one attribute, count or option of a question at which
// its number reaches that of a fixed answer.

#include "study/comparison/cases.h"

#include <string>
#include <vector>

namespace orrery {

struct BreakEvenQuestion {
    Scenario subject;                  ///< whose attribute moves
    std::optional<double> deviceHour;  ///< dollars; for `cost`
    std::string path;                  ///< `hbm3.bandwidth`, `sm.count`, `batch`
    std::string quantity = "time";     ///< a column of caseQuantities()
    std::string method;                ///< id or choice: who answers
    Ranged goal;                       ///< of the answer that stays as it is
    /// Silicon that the subject was drawn with, for `area` and `price`; null: the subject's own.
    HardwarePtr drawn;
    std::optional<double> from, to;  ///< SI, instead of the attribute's usual range
};

/// One value that was tried.
struct BreakEvenPoint {
    double at = 0;     ///< SI
    std::string text;  ///< as set: `4 TB/s`
    Ranged value;      ///< of the quantity; NaN where there is no answer
    std::string refusal;
};

struct Crossing {
    double at = 0;  ///< SI; of a count the least value on the other side
    std::string text;
    bool rising = false;  ///< the number exceeds the goal above it
    /// Between them the intervals of both answers overlap, so that the break-even may stand anywhere; the end of the
    /// range where they still do there (openLow, openHigh).
    double low = 0, high = 0;
    bool openLow = false, openHigh = false;
};

struct BreakEven {
    std::string path, quantity;
    Dimension dimension = Dimension::Number;  ///< of the attribute
    bool whole = false, perCycle = false;
    double drawn = 0;  ///< its value in the subject; NaN where it has none
    double from = 0, to = 0;
    std::vector<BreakEvenPoint> points;  ///< rising
    std::vector<Crossing> crossings;     ///< rising; none, one, or several where the number is not monotone
    std::string none;                    ///< why there is none; empty where there is one
    Ranged goal;
};

/// Looks between both ends on even ratios, then halves each pair of neighbours between which the goal lies, to 0.1 % or
/// to the next whole number. What lies between two points and comes back is not seen. At most some sixty answers; equal
/// for equal questions. Fails with `compare.quantity`, `search.knob` where nothing goes by the path,
/// `compare.attribute` where its values are words, `compare.range` for a range that is none, `study.cancelled`.
Expected<BreakEven> breakEven(const BreakEvenQuestion& question, const CompareOptions& options);

/// `hbm3.bandwidth at 4.21 TB/s [3.9 TB/s … 5 TB/s] (1.26 × what is drawn)`; what stands in `none` where there is none.
std::string toText(const BreakEven& found);
/// A value of the attribute in its unit.
std::string attributeText(const BreakEven& found, double si);

}  // namespace orrery
