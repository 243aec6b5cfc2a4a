#pragma once

// How far a power cap pulls a clock down: the fixed point of power(clock) = cap.

#include <string_view>

namespace orrery {

/// Supply voltage at a share of the nominal clock, as a share of the nominal voltage: falls in a line with the clock
/// down to the least voltage at which transistors still switch, max(0.7, 0.4 + 0.6 · share).
double voltageAt(double clockShare);

/// Largest share of the nominal clock, 0.1 to 1, at which static + dynamic · share · voltage² stays within the cap.
/// `dynamicWatts` is what the load would draw at the nominal clock and voltage above `staticWatts`. 1 where no cap is
/// given (0). Monotone: falls with either power, grows with the cap.
double clockUnderPower(double capWatts, double staticWatts, double dynamicWatts);

/// What a device draws whatever it does, as a share of its power cap, where its design states no idle power: the split
/// of GenZ (Bambhaniya et al. 2024), a published assumption; nothing here was measured. One number for answers, for the
/// power of whole models and for clocks under a cap, because clockUnderPower sees only dynamic ÷ (cap − static): an
/// energy fitted beside one share means another thing beside another.
inline constexpr double staticShareOfCap = 0.3;
/// W: the stated idle power, at most the cap, else that share of it. 0 where neither is given.
double staticWatts(double capWatts, double idleWatts);

/// `12 nm` gives 12, `4N` gives 4, `5/6 nm` gives 5; 0 where the text starts with no number.
double processNanometres(std::string_view process);

}  // namespace orrery
