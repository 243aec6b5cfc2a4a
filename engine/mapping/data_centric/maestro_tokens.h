#pragma once

// Words of MAESTRO's input files, with their places. Comments (`//`, `/* */`) and arrows (`->`) are dropped.

#include "base/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct MaestroToken {
    enum class Kind : std::uint8_t { Word, Number, Sign, End };
    Kind kind = Kind::End;
    std::string text;
    std::int64_t number = 0;
    int line = 0, column = 0;
    bool is(std::string_view sign) const { return kind != Kind::End && text == sign; }
};

/// Ends with an End token. Fails on numbers of 2^31 and above, on characters that the format has not, and on comments
/// that are not closed.
Expected<std::vector<MaestroToken>> maestroTokens(std::string_view text, const std::string& file);

/// The whole file; `file.missing`, `file.unreadable`, or `file.too-large` above 64 MiB.
Expected<std::string> readMaestroText(const std::string& path);

}  // namespace orrery
