#pragma once

// A search as a person keeps it, without its question: texts, read against the question when it is asked.

#include "study/exploration/search.h"

#include <string>
#include <vector>

namespace orrery {

struct KnobSetting {
    std::string path;
    std::vector<std::string> values;  ///< empty: the range
    KnobRange range;
    bool operator==(const KnobSetting&) const = default;
};

struct SearchSettings {
    std::vector<KnobSetting> knobs;
    std::vector<std::string> objectives{"time"};  ///< readObjective()
    std::vector<std::string> constraints;         ///< readConstraint()
    std::string method = "tile-hybrid";
    std::string agent = "grid";
    std::uint64_t evaluations = 0;  ///< at most; 0: as many as the agent asks for
    double deviceHour = 0;          ///< dollars
    std::uint64_t seed = 0;
    bool operator==(const SearchSettings&) const = default;
};

/// Fails as makeKnob(), SearchSpace::make(), readObjective(), readConstraint() and readied(); the path of the place
/// names the part of the settings: `knobs.hbm3.bandwidth`, `objectives`.
Expected<SearchProblem> searchProblem(const SearchSettings& settings, Scenario base);
Expected<Knob> knobOf(const KnobSetting& setting, const Scenario& base);

/// Knobs that a question offers: sliders of the drawing, counts of its parts, sizes of the workload, the plan.
struct KnobOffer {
    std::string path;   ///< as makeKnob() takes it
    std::string group;  ///< `Drawing`, `Workload`, `Plan`
    std::string drawn;  ///< its value in the question; empty: none
    KnobSetting usual;  ///< around the value that is drawn
};
std::vector<KnobOffer> knobOffers(const Scenario& base);

}  // namespace orrery
