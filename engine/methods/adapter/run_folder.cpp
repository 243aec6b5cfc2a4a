#include "methods/adapter/run_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace orrery {

namespace {

namespace fs = std::filesystem;

Unexpected unwritable(const std::string& path, const std::string& why) {
    return fail("adapter.unwritable", fmt::format("it cannot be written: {}", why),
                "a folder with room that may be written", {}, Place{path, 0, 0, {}});
}

}  // namespace

Expected<RunFolder> RunFolder::temporary() {
    std::error_code problem;
    const fs::path base = fs::temp_directory_path(problem);
    std::string name = ((problem ? fs::path("/tmp") : base) / "orrery-run-XXXXXX").string();
    if (!mkdtemp(name.data())) return unwritable(name, std::strerror(errno));
    return RunFolder(std::move(name), false);
}

Expected<RunFolder> RunFolder::kept(const std::string& path) {
    std::error_code problem;
    fs::create_directories(path, problem);
    if (problem) return unwritable(path, problem.message());
    return RunFolder(fs::absolute(path, problem).string(), true);
}

RunFolder::~RunFolder() {
    std::error_code ignored;
    if (!stays_ && !path_.empty()) fs::remove_all(path_, ignored);
}

Expected<void> RunFolder::write(const std::string& name, std::string_view text) const {
    const fs::path file = fs::path(path_) / name;
    std::error_code problem;
    fs::create_directories(file.parent_path(), problem);
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.close();
    if (!stream) return unwritable(file.string(), std::strerror(errno));
    return {};
}

}  // namespace orrery
