#pragma once

#include "hardware/component.h"

#include <string>
#include <string_view>

namespace orrery {

struct LoadedHardware {
    Hardware hardware;
    Diagnostics warnings;  ///< unknown keys, values outside the usual range; one note that names unverified numbers
};

/// Reads a `orrery: hardware/1` document. `file` is used in places only. Never throws; refuses newer versions, wrong
/// types, cycles of aliases, nesting over 64 levels, and sizes over 16 MiB.
Expected<LoadedHardware> readHardware(std::string_view yaml, std::string_view file = {});
Expected<LoadedHardware> readHardwareFile(const std::string& path);
/// write(read(write(h))) == write(h), and read(write(h)) == h.
std::string writeHardware(const Hardware& hardware);
/// One component with its children, for copy and paste.
std::string writeComponent(const Component& component);
Expected<Component> readComponent(std::string_view yaml);

}  // namespace orrery
