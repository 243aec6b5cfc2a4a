#include "store/project.h"

#include <cstdlib>
#include <filesystem>

namespace orrery {

namespace fs = std::filesystem;

std::string autosavePathFor(const std::string& projectPath) {
    if (!projectPath.empty()) {
        const fs::path path(projectPath);
        return (path.parent_path() / ("." + path.filename().string() + ".autosave")).string();
    }
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    fs::path folder;
    if (state != nullptr && *state == '/') {
        folder = state;
    } else if (home != nullptr && *home != '\0') {
        folder = fs::path(home) / ".local" / "state";
    } else {
        std::error_code ignored;
        folder = fs::temp_directory_path(ignored);
    }
    return (folder / "orrery" / "untitled.autosave").string();
}

std::string recoverableAutosave(const std::string& projectPath) {
    const std::string autosave = autosavePathFor(projectPath);
    std::error_code code;
    if (!fs::is_regular_file(autosave, code)) return {};
    if (projectPath.empty() || !fs::exists(projectPath, code)) return autosave;
    const auto kept = fs::last_write_time(autosave, code);
    if (code) return {};
    const auto saved = fs::last_write_time(projectPath, code);
    if (code) return autosave;
    if (kept < saved) return {};
    const auto a = readFile(autosave), b = readFile(projectPath);
    return a && b && *a == *b ? std::string() : autosave;
}

void removeAutosave(const std::string& projectPath) {
    std::error_code ignored;
    fs::remove(autosavePathFor(projectPath), ignored);
}

}  // namespace orrery
