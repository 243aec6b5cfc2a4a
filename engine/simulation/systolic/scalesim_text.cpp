#include "simulation/systolic/scalesim_text.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace orrery::systolic {

Expected<std::string> readScaleSimText(const std::string& file) {
    constexpr std::uintmax_t most = std::uintmax_t{16} << 20;
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error || size > most) {
        return fail("scalesim.unreadable", error ? error.message() : "the file is larger than 16 MiB",
                    "a text file of at most 16 MiB", "check the name", {.file = file});
    }
    std::ifstream in(file, std::ios::binary);
    std::string text(static_cast<std::size_t>(size), '\0');
    if (!in.read(text.data(), static_cast<std::streamsize>(size)) && size > 0) {
        return fail("scalesim.unreadable", "the file cannot be read", "a text file", "check its permissions",
                    {.file = file});
    }
    return text;
}

}  // namespace orrery::systolic
