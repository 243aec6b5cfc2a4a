#pragma once

// A search over a drawn device's schedules (schedule_space.h): which to ask next is the guide's to say, what it takes
// the target's. The learned guide is trained anew on what was asked, and only on that, as Ansor's search is (Zheng et
// al., OSDI 2020): boosted trees by pairs score a random pool and changes of the best, the highest are asked, one in
// eight is drawn blindly.

#include "base/executor.h"
#include "methods/schedule/schedule_space.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class ScheduleGuide : std::uint8_t {
    Trees,     ///< learned from what was asked
    Analytic,  ///< in the order of the cheap price; nothing learned
    Both,      ///< trees that see the cheap price too, from its first choices on
    Random
};
std::string_view toText(ScheduleGuide guide);  ///< `trees`, `analytic`, `both`, `random`
std::optional<ScheduleGuide> scheduleGuide(std::string_view text);

struct ScheduleTrial {
    SchedulePoint point = 0;
    double seconds = 0;  ///< 0: the target cannot run it
    double best = 0;     ///< of the trials until then; 0: none ran
};

struct ScheduleSearch {
    ScheduleGuide guide = ScheduleGuide::Trees;
    std::uint64_t seed = 1;
    std::vector<ScheduleTrial> trials;
    double best() const { return trials.empty() ? 0 : trials.back().best; }
    /// Of the trials, the first that took the least.
    const ScheduleTrial* fastest() const;
    /// Trials until one is within `share` of `best`; 0: none was.
    std::size_t trialsUntil(double best, double share = 0.95) const;
};

/// What the target said so far: searches of one space ask each schedule once.
class SchedulePrices {
public:
    explicit SchedulePrices(ScheduleSpacePtr space) : space_(std::move(space)) {}
    const ScheduleSpace& space() const { return *space_; }
    /// 0: the target cannot run it, whyNot() says why. Fails with `study.cancelled`.
    Expected<double> of(SchedulePoint point, const std::stop_token& stop);
    /// Of a schedule that was asked and gave no time.
    Diagnostic whyNot(SchedulePoint point) const;
    /// By the cheap price, rising; worked out once. Fails with `study.cancelled`.
    Expected<std::span<const SchedulePoint>> cheapOrder(const std::stop_token& stop);

private:
    ScheduleSpacePtr space_;
    mutable std::mutex guard_;
    std::map<SchedulePoint, double> known_;
    std::map<SchedulePoint, Diagnostic> failures_;
    std::vector<SchedulePoint> order_;
};

struct ScheduleSearchOptions {
    ScheduleGuide guide = ScheduleGuide::Trees;
    std::size_t trials = 200;
    std::uint64_t seed = 1;
    Executor* executor = nullptr;  ///< null: one after another; results do not depend on it
    std::stop_token stop;
    std::function<void(const ScheduleSearch&)> onTrials;  ///< after each round, from the searching thread
};
/// Trials in the order in which they were asked; fewer than asked for where the space is smaller, or when stopped (what
/// there is then is given). Fails with `study.cancelled` where it was stopped before a round was through, as the target
/// did of the first trial where none ran, and as training.
Expected<ScheduleSearch> searchSchedules(SchedulePrices& prices, const ScheduleSearchOptions& options);

/// `guide,seed,trial,time_us,best_us,schedule`, a line per trial of each search; no time where it cannot run.
std::string trialsAsCsv(const ScheduleSpace& space, std::span<const ScheduleSearch> searches);

/// Searches side by side: of each guide, how many trials until 95 % of the best that any of them found. Where one did
/// not come so far, its trials and one more count: the mean is then a lower bound.
struct GuideFigures {
    ScheduleGuide guide = ScheduleGuide::Trees;
    std::size_t searches = 0, reached = 0;
    double trials = 0;                         ///< geometric mean
    double after10 = 0, after50 = 0, end = 0;  ///< share of the best found: mean over searches
};
std::vector<GuideFigures> figuresOf(std::span<const ScheduleSearch> searches, double best);
/// Of all searches; 0 where none found any.
double bestOf(std::span<const ScheduleSearch> searches);

}  // namespace orrery
