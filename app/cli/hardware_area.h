#pragma once

// Area and price of a design, as `hardware --area` shows them.

#include "hardware/area/area.h"

#include <nlohmann/json.hpp>

#include <string>

namespace orrery::cli {

std::string areaText(const Hardware& hardware, const AreaReport& report);
nlohmann::ordered_json areaJson(const AreaReport& report);

}  // namespace orrery::cli
