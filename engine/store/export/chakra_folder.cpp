#include "store/export/chakra_folder.h"

#include "methods/system/training/chakra_files.h"
#include "store/project/project.h"

#include <fmt/format.h>

#include <filesystem>

namespace orrery {

Expected<std::size_t> writeChakraFolder(const StepTraces& traces, const std::string& name, const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder + "/et", error);
    if (error)
        return fail("export.unwritable", fmt::format("the folder cannot be made: {}", error.message()),
                    "a folder that may be written", {}, {folder, 0, 0, {}});
    for (const ChakraFile& file : chakraFiles(traces, name))
        if (auto saved = saveFileAtomically(folder + "/" + file.name, file.text); !saved)
            return Unexpected(std::move(saved.error()));
    return traces.job.traces.size();
}

}  // namespace orrery
