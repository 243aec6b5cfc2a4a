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

/// What a device draws whatever it does, as a share of its power cap, where its design states no idle power. One table,
/// because a share and the energies beside it belong together: clockUnderPower sees only dynamic ÷ (cap − static), so
/// that an energy fitted beside one share means another thing beside another.
namespace static_share {
/// Of answers and of the power of whole models (methods/answer/energy, methods/model/power): GenZ's split of a device's
/// power (Bambhaniya et al. 2024). The energy per byte of methods/model/power was fitted beside it.
inline constexpr double ofCap = 0.3;
/// Beside `switched energy` of products on tensor units (methods/tile/tile_wave_gemm): chosen, not measured; the order
/// of what data-centre GPUs draw with a context open and nothing to do (some 10 to 20 % of the cap). With 0.3 and the
/// energies × 0.82 all clocks would be as they are; without refitting they would fall.
inline constexpr double besideSwitchedEnergy = 0.15;
/// Beside `arithmetic energy` of vector units (methods/tile/tile_wave_simt): chosen, not measured. With 0.3 and the
/// energies × 0.875 all clocks would be as they are.
inline constexpr double besideArithmeticEnergy = 0.2;
}  // namespace static_share

/// `12 nm` gives 12, `4N` gives 4, `5/6 nm` gives 5; 0 where the text starts with no number.
double processNanometres(std::string_view process);

}  // namespace orrery
