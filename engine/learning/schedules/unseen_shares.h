#pragma once

// What models that rank schedules say of operators that they have not seen: the errors from which intervals are made.

#include "learning/schedules/schedule_model.h"

#include <string>
#include <vector>

namespace orrery {

/// One operator's schedules by a model that had not seen it.
struct UnseenOperator {
    std::vector<double> told, share;  ///< one each per schedule: what was said, best time ÷ time (0: it failed)
};

/// Best time ÷ time of each row at `places`; 0 where it failed.
std::vector<double> sharesOf(std::span<const TunedRow> rows, std::span<const std::size_t> places);

/// The operators of one device that a model can learn from, in parts of about equal size, eight at most. A model
/// without a part is asked about the operators in it; where an operator is itself to be judged, by models without its
/// part too.
class UnseenShares {
public:
    enum class Without : std::uint8_t { Part, TwoParts };
    /// Of a device with too few operators for that (2 for a part, 3 for two): empty. Fails as ScheduleRanks::fit() does
    /// where the fit is stopped.
    static Expected<UnseenShares> learn(std::span<const TunedRow> rows, const std::string& device, Without what,
                                        const ScheduleTraining& options);
    /// Fits that learn() makes, each of ScheduleRanks::steps.
    static std::size_t fits(std::span<const TunedRow> rows, const std::string& device, Without what);

    /// Of Without::Part: all operators.
    std::vector<UnseenOperator> all() const;
    /// Of Without::TwoParts: those that are in another part than this operator, by models that saw neither.
    /// Alike for all operators of a part.
    std::vector<UnseenOperator> beside(const std::string& task, const std::string& workload) const;
    /// The part of an operator; of one that is not among them the number of parts.
    std::size_t partOf(const std::string& task, const std::string& workload) const;

private:
    struct Operator {
        std::string task, workload;
        std::size_t part = 0;
        std::vector<double> share;
        std::vector<std::vector<double>> told;  ///< by the other part that was left out; of Without::Part one
    };
    std::vector<Operator> operators_;
    std::size_t parts_ = 0;
};

}  // namespace orrery
