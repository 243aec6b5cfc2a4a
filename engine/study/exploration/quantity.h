#pragma once

// What a search weighs of an answer: named numbers, objectives and constraints over them.

#include "hardware/area/area.h"
#include "methods/method.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A number of an answer with its interval: equal ends where it is counted, none (NaN) where no interval is known.
struct Ranged {
    double value = 0, low = 0, high = 0;
    bool sure() const { return low == low && high == high; }  ///< an interval is known, be it of no width
};

/// `time`, `energy`, `power` (energy over time), `memory` (of one device), `devices`, `cost` (dollars of one pass, step
/// or run at the price of a device and hour), `area` and `price` (silicon of the design, and what its dies and memories
/// cost), `capacity` (requests a second of a serving run under its promises), or the label of one of the answer's
/// figures (`Throughput`). No method states an interval of its energy, so that energy and power have none; memory and
/// devices are counted.
struct QuantityInfo {
    std::string_view name;
    Dimension dimension;
    std::string_view meaning;
};
std::span<const QuantityInfo> searchQuantities();

struct Objective {
    std::string quantity;
    bool maximise = false;
    bool operator==(const Objective&) const = default;
};
/// `time`, `max Throughput`, `min energy`; without a word less is better.
Expected<Objective> readObjective(std::string_view text);
std::string toText(const Objective& objective);

struct Constraint {
    /// Empty: what the plan needs fits into the memory of its devices. `slo`: so many requests of a serving run keep
    /// every promise as its capacity asks for.
    std::string quantity;
    bool atLeast = false;
    double limit = 0;
    std::string text;  ///< as written
};
/// `fits`, `slo`, `power <= 700 W`, `Throughput >= 2000`. Fails with `search.constraint`.
Expected<Constraint> readConstraint(std::string_view text);

/// What is known beside an answer.
struct Circumstances {
    double deviceHour = 0;              ///< dollars
    const AreaReport* drawn = nullptr;  ///< of the design before anything was changed; null: areas are not asked for
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    std::stop_token stop = {};
};
/// Nothing where the answer does not predict it.
std::optional<Ranged> quantityOf(const Scenario& scenario, const Estimate& estimate, std::string_view name,
                                 const Circumstances& circumstances);
/// How far beyond its limit, as a share of it; 0: kept. Nothing where the answer does not predict it.
std::optional<double> violationOf(const Scenario& scenario, const Estimate& estimate, const Constraint& constraint,
                                  const Circumstances& circumstances);
/// Whether it is read from the design's silicon.
bool isOfSilicon(std::string_view quantity);
/// The dimension in which a quantity is printed, as the answer has it.
Dimension dimensionOf(const Estimate& estimate, std::string_view name);
/// Of a figure: `token/s`; empty of anything else.
std::string figureUnit(const Estimate& estimate, std::string_view label);

}  // namespace orrery
