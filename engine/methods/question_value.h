#pragma once

// Values of a question by the paths that knobs have (study/exploration/knob.h), as text.

#include "hardware/component.h"
#include "mapping/plan.h"

#include <string>
#include <string_view>

namespace orrery {

/// `3.35 TB/s` of `hbm3.bandwidth`; empty where nothing, or more than one, is meant, or nothing stands there.
std::string drawnValue(const Hardware& design, std::string_view path);
/// `8` of `tp`; what a plan that does not say it stands at.
std::string planValue(const Plan& plan, std::string_view key);

}  // namespace orrery
