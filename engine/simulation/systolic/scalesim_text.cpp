#include "simulation/systolic/scalesim_text.h"

#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace orrery::systolic {

std::string_view trim(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
    return text;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> out;
    std::size_t from = 0;
    while (true) {
        const std::size_t at = text.find(separator, from);
        out.push_back(trim(text.substr(from, at == std::string_view::npos ? at : at - from)));
        if (at == std::string_view::npos) return out;
        from = at + 1;
    }
}

std::optional<std::int64_t> wholeNumber(std::string_view text) {
    text = trim(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

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
