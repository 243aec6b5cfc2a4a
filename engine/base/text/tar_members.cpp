#include "base/text/tar_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace orrery {

namespace {

constexpr std::size_t block = 512, most_members = 65536;

std::string_view tarField(std::string_view header, std::size_t at, std::size_t length) {
    const std::string_view field = header.substr(at, length);
    return field.substr(0, std::min(field.find('\0'), length));
}

/// Octal digits between blanks; GNU's binary form of more than 8 GiB is beyond what is read here.
std::optional<std::uint64_t> tarNumber(std::string_view header, std::size_t at, std::size_t length) {
    std::uint64_t value = 0;
    bool digits = false;
    for (const char c : tarField(header, at, length)) {
        if (c == ' ') {
            if (digits) break;
            continue;
        }
        if (c < '0' || c > '7' || value >> 60 != 0) return std::nullopt;
        value = value * 8 + static_cast<std::uint64_t>(c - '0');
        digits = true;
    }
    return digits ? std::optional(value) : std::nullopt;
}

/// The sum of a header's bytes, its own field as blanks.
std::uint64_t tarSum(std::string_view header) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block; ++i)
        sum += i >= 148 && i < 156 ? std::uint64_t{' '} : static_cast<std::uint8_t>(header[i]);
    return sum;
}

}  // namespace

bool isTar(std::string_view text) {
    return text.size() >= block && text.substr(257, 5) == "ustar";
}

Expected<std::vector<TarMember>> tarMembers(std::string_view text, std::string_view file) {
    std::vector<TarMember> members;
    std::size_t at = 0;
    for (std::size_t headers = 0; at + block <= text.size(); ++headers) {
        const std::string_view header = text.substr(at, block);
        if (header.find_first_not_of('\0') == std::string_view::npos) return members;  // the end of an archive
        const auto size = tarNumber(header, 124, 12), sum = tarNumber(header, 148, 8);
        const auto refuse = [&](std::string message) {
            return fail("archive.damaged", std::move(message), "a tar archive", "pack the files again",
                        {std::string(file), 0, 0, fmt::format("byte {}", at)});
        };
        if (!isTar(header) || !size || !sum || *sum != tarSum(header))
            return refuse(fmt::format("byte {} begins no member of an archive", at));
        if (*size > text.size() - at - block)
            return refuse(fmt::format("a member of {} bytes reaches beyond the end", *size));
        if (headers >= most_members) return refuse(fmt::format("the archive has more than {} members", most_members));
        const char kind = header[156];
        const std::string_view folder = tarField(header, 345, 155), name = tarField(header, 0, 100);
        const std::string_view base = name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
        if ((kind == '0' || kind == '\0') && !base.empty() && !base.starts_with("._"))
            members.push_back({folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name),
                               text.substr(at + block, static_cast<std::size_t>(*size))});
        at += block + (static_cast<std::size_t>(*size) + block - 1) / block * block;
    }
    // Some writers leave out the empty blocks at the end.
    return members;
}

}  // namespace orrery
