#include "base/plugin.h"

#include <cstdlib>
#include <filesystem>

namespace orrery {

std::string pluginPath(const std::string& name, const char* variable) {
    namespace fs = std::filesystem;
    if (const char* named = std::getenv(variable); named && *named) return named;
    std::error_code ignored;
    const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const char* folder : {"", "../lib/orrery", "../bin"})
        if (const fs::path path = here / folder / name; fs::is_regular_file(path, ignored)) return path.string();
    return name;
}

}  // namespace orrery
