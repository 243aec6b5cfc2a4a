#include "evaluation/parameter_search.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace orrery {

namespace {

constexpr std::size_t mostSearched = 200;
constexpr double reach = 0.3;                      // ln: of a parameter, before it costs as much as a row
constexpr double perReach = 0.02, furthest = 2.5;  // ln: cost of that; no parameter moves further
constexpr int rounds = 25;

class ParameterSearch {
public:
    ParameterSearch(const KernelMethod& method, const CalibrationSection& section, const KernelRows& rows,
                    std::span<const std::size_t> chosen)
        : method_(method), section_(section), rows_(rows) {
        section_.domain = nullptr;  // who searches must not be held back by where it was
        const std::size_t stride = (chosen.size() + mostSearched - 1) / mostSearched;
        for (std::size_t i = 0; i < chosen.size(); i += stride) chosen_.push_back(chosen[i]);
        for (const auto& [name, value] : section.parameters) {
            if (value > 0) names_.push_back(name), centre_.push_back(std::log(value));
        }
    }

    std::map<std::string, double, std::less<>> run(std::stop_token stop) {
        const auto unchanged = section_.parameters;
        if (names_.empty()) return unchanged;
        std::vector<double> best = centre_, step(best.size(), 0.2);
        double least = loss(best);
        if (!std::isfinite(least)) return unchanged;
        for (int round = 0; round < rounds && !stop.stop_requested(); ++round) {
            const double before = least;
            for (std::size_t i = 0; i < best.size(); ++i) least = along(best, i, step[i], least);
            if (before - least < 1e-5 && *std::max_element(step.begin(), step.end()) < 0.03) break;
        }
        set(best);
        return section_.parameters;
    }

private:
    void set(const std::vector<double>& logs) {
        for (std::size_t i = 0; i < logs.size(); ++i) section_.parameters[names_[i]] = std::exp(logs[i]);
    }

    double loss(const std::vector<double>& logs) {
        set(logs);
        Calibration calibration;
        calibration.method = method_.id;
        calibration.methodVersion = method_.version;
        calibration.sections.push_back(section_);
        CalibrationSet all;
        all.add(std::make_shared<const Calibration>(std::move(calibration)));
        const auto pricer = method_.bind(rows_.gpu, all);
        if (!pricer) return INFINITY;
        double sum = 0;
        for (const std::size_t r : chosen_) {
            const bool byHost = !rows_.byHost.empty() && rows_.byHost[r] != 0;
            const KernelPrice price =
                byHost ? (*pricer)->priceByHost(rows_.kernels[r]) : (*pricer)->price(rows_.kernels[r]);
            if (!(price.seconds > 0)) return INFINITY;
            sum += std::abs(std::log(price.seconds / rows_.seconds[r]));
        }
        for (std::size_t i = 0; i < logs.size(); ++i) sum += perReach * std::pow((logs[i] - centre_[i]) / reach, 2);
        return sum / double(chosen_.size());
    }

    double along(std::vector<double>& best, std::size_t i, double& step, double least) {
        const double here = best[i];
        for (const double way : {1.0, -1.0}) {
            best[i] = std::clamp(here + way * step, centre_[i] - furthest, centre_[i] + furthest);
            if (const double found = loss(best); found < least) {
                step = std::min(step * 1.6, 1.0);
                return found;
            }
        }
        best[i] = here;
        step *= 0.5;
        return least;
    }

    const KernelMethod& method_;
    CalibrationSection section_;
    const KernelRows& rows_;
    std::vector<std::size_t> chosen_;
    std::vector<std::string> names_;
    std::vector<double> centre_;
};

}  // namespace

std::map<std::string, double, std::less<>> searchParameters(const KernelMethod& method,
                                                            const CalibrationSection& section, const KernelRows& rows,
                                                            std::span<const std::size_t> chosen, std::stop_token stop) {
    return ParameterSearch(method, section, rows, chosen).run(std::move(stop));
}

}  // namespace orrery
