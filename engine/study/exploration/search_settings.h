#pragma once

// A search as a person keeps it, without its question: texts, read against the question when it is asked.

#include "study/exploration/search.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct KnobSetting {
    std::string path;
    std::vector<std::string> values;  ///< empty: the range
    KnobRange range;
    bool operator==(const KnobSetting&) const = default;
};

/// `66, 132, 264`, or `2 TB/s .. 6 TB/s, 9 steps, log`, or `2 TB/s .. 6 TB/s, free`: on one line, for people.
std::string toText(const KnobSetting& setting);
/// Reads it. Fails with `search.value`; what the values mean is the question's business (knobOf).
Expected<KnobSetting> parseKnobSetting(std::string path, std::string_view text);

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
Expected<Knob> knobOf(const KnobSetting& setting, const Scenario& base, std::string_view method = {});

/// Knobs that a question offers: sliders of the drawing, counts of its parts, sizes of the workload, the plan, options
/// of the method, keys of a serving run.
struct KnobOffer {
    std::string path;   ///< as makeKnob() takes it
    std::string group;  ///< `Drawing`, `Workload`, `Plan`, `Method`, `Serving`
    std::string drawn;  ///< its value in the question; empty: none
    KnobSetting usual;  ///< around the value that is drawn
};
std::vector<KnobOffer> knobOffers(const Scenario& base, std::string_view method = {});
/// Half to twice what is drawn, for any number of the drawing; all words of a choice. Fails as makeKnob() where there
/// is none.
Expected<KnobSetting> usualKnob(const Hardware& hardware, std::string_view path);
/// The same for any path of a question: sizes and plans in powers of two, keys of a serving run around their value.
Expected<KnobSetting> usualKnob(const Scenario& base, std::string_view path, std::string_view method = {});

}  // namespace orrery
