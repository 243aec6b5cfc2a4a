#pragma once

// What both readers of SCALE-Sim files share: trimming, whole numbers, reading a file.

#include "base/diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::systolic {

std::string_view trim(std::string_view text);
std::string lower(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
/// A decimal whole number with nothing else around it.
std::optional<std::int64_t> wholeNumber(std::string_view text);
/// Fails with `scalesim.unreadable`, also for files over 16 MiB.
Expected<std::string> readScaleSimText(const std::string& file);

}  // namespace orrery::systolic
