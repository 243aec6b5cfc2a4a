#include "hardware/files/catalogue.h"

#include <cstdlib>
#include <filesystem>

namespace orrery {

std::string presetsFolder() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (const char* named = std::getenv("ORRERY_PRESETS"); named && *named) return named;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const fs::path& folder : {program / "../share/orrery/presets", program / "presets"}) {
        if (!program.empty() && fs::is_directory(folder / "hardware", ignored)) {
            return fs::weakly_canonical(folder, ignored).string();
        }
    }
    return ORRERY_SOURCE_PRESETS;
}

}  // namespace orrery
