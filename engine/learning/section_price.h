#pragma once

// The one rule for 90 % intervals and verdicts of whatever was learned. In ln, each side of a price is
//
//     half = √(own² + shift²),   shift = distance · √(rate² + excess²),   distance = apart + 0.2 · beyond²
//
// own: the section's residuals on rows that it was not fitted to, wider at the edge of its domain and outside; shift:
// what prices move by from devices that were learned to one that was not. apart: the largest |ln ratio| of
// multiprocessors, clock, bandwidth, L2 and peaks to those of the nearest. beyond: how far, in ln, its bytes of memory
// per multiprocessor and clock lie outside those of all devices that such kernels were learned on. Between devices
// physics interpolates; beyond them the balance of memory and arithmetic is one that nothing was checked at. excess:
// 1.5 times what the larger own side has above 0.2, at most 0.45: a method that is off by much at home misses something
// that moves with the device. The rates
// are measured by leaving devices out (resources/handbook/calibrations.md). A section for any device has residuals of
// devices left out: they hold the shift already. Kernels of one device share the shift, so that their errors go
// together the more it weighs.
//
// Flagged is what may well be off by two: at home what leaves the domain or reaches flaggedAtHome, elsewhere what
// reaches flaggedFactor.

#include "learning/calibration.h"

#include <span>
#include <string_view>

namespace orrery {

struct SectionPrice {
    double seconds = 0, low = 0, high = 0;
    DomainVerdict shape = DomainVerdict::Inside;   ///< of the features alone
    DomainVerdict domain = DomainVerdict::Inside;  ///< with the device
    bool errorKnown = true;                        ///< false: no error of such kernels is known, the sides are a guess
};

/// How much wider, in ln, sides are at the edge of a domain and outside, where a section does not say it as measured.
inline constexpr double edgeWidening = 1.5, outsideWidening = 3;

/// What section and model make of a baseline. `features` as in the section; may be empty where it has no model. `doubt`
/// as SectionRows has it, `distance` as distanceAbroad() says. Allocates nothing.
SectionPrice priceWith(const CalibrationSection& section, double baselineSeconds, std::span<const double> features,
                       double doubt = 0, double distance = 0);

/// The factor that an interval reaches, to either side, from which a price on another device, or of other software, is
/// flagged.
inline constexpr double flaggedFactor = 1.55;
/// The same at home. Errors have long tails: the 90 % say little of the one row in 250 that is off by two, but those
/// are where the 90 % are wide. Of tile-hybrid's held-out rows on A100, H100, L40S and B200 anything from 1.35 to 1.52
/// finds 83 % of them and flags 6 % of the others; 2 found 64 % and flagged 3 %, 1.3 finds 90 % but flags a quarter of
/// L40S's products. Chosen with these four in sight.
inline constexpr double flaggedAtHome = 1.5;

/// The distance of above, from what `method` has learned of such kernels in `calibrations`, of which `section` speaks;
/// 0 at home. Wires between devices know no balance of memory: collectives are apart and never beyond.
double distanceAbroad(const CalibrationSet& calibrations, std::string_view method, const CalibrationSection& section,
                      const GpuView& gpu);
/// 90 % in ln of the shift to a device `distance` away, of prices that are off by `own` (90 %, ln) at home.
double deviceShift(const CalibrationSection& section, double own, double distance);
/// Takes a price that was learned elsewhere abroad: sides and verdict as above. `physics` false: nothing scaled it to
/// this device, so that it may be off by the ratio of the two.
void goAbroad(SectionPrice& price, const CalibrationSection& section, double distance, bool physics = true);
/// For who knows which features are the device's: the others lie outside the domain.
void doubtShape(SectionPrice& price);

/// Physics with nominal numbers, where no kernel of the sort was ever fitted: nobody knows how much of it such kernels
/// reach. Quantiles of measured ÷ predicted over formats left out.
SectionPrice unfittedPrice(double seconds);
/// Where a method has no error at all: a factor either way.
inline constexpr double unmeasuredFactor = 2;

/// Whether software as a table names it (`TensorRT-LLM 1.3.0`, `nccl-2.27.3 + trtllm-1.0.0`) has an engine or library
/// among those that a section was learned from; versions do not count. True where either does not say.
bool sameStack(const CalibrationSection& section, std::string_view software);
/// Takes a price to kernels of other software, by how far tables of two engines on one device are apart: theirs
/// quantise in or beside the product, split attention and pick tiles otherwise. No such kernel is inside the domain.
void changeStack(SectionPrice& price, const Kernel& kernel);
/// Takes a price to another version of its software, under which 90 % of such kernels are known to stay within `factor`
/// of the time that was learned, either way.
void changeVersion(SectionPrice& price, double factor);

/// Correlation of residuals of different kernels of one model on a device `distance` away: the section's own, and 1 in
/// as much of their variance as the shift is.
double correlationAbroad(const CalibrationSection& section, double distance);

}  // namespace orrery
