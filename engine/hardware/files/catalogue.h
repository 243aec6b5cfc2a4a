#pragma once

#include "hardware/files/hardware_yaml.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct CatalogueEntry {
    std::string id;     ///< file name without extension: `h100-sxm`
    std::string name;   ///< `NVIDIA H100 SXM`
    std::string group;  ///< `GPU`, `TPU`, `Accelerator`, `CPU`, `Edge`
    std::string description;
    std::string file;
};

/// Folder of the presets: $ORRERY_PRESETS, beside the program, the source tree of the build, or the install prefix.
std::string presetsFolder();
/// presets/hardware, sorted by group and name. Reads only the heads of the files; cheap enough for start-up.
std::vector<CatalogueEntry> hardwareCatalogue();
/// By id, by name (case-insensitive) or by file path. Fails with the nearest names.
Expected<LoadedHardware> loadHardware(std::string_view idOrFile);

}  // namespace orrery
