#include "simulation/systolic/scalesim_text.h"

#include "base/text/read_file.h"

namespace orrery::systolic {

Expected<std::string> readScaleSimText(const std::string& file) {
    return readFile(file, {.code = "scalesim.unreadable", .expected = "a text file"});
}

}  // namespace orrery::systolic
