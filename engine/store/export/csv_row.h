#pragma once

// One line of CSV. For sources of the store only.

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

namespace orrery::store {

// RFC 4180: a cell with a comma, a quote or a line break stands in quotes, and its quotes are doubled.
inline std::string csvCell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

inline std::string csvCell(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

class CsvRow {
public:
    template <class T>
    CsvRow& add(const T& value) {
        if (!text_.empty() || begun_) text_ += ',';
        begun_ = true;
        text_ += csvCell(value);
        return *this;
    }
    CsvRow& skip() { return add(std::string_view()); }
    std::string line() const { return text_ + "\r\n"; }

private:
    std::string text_;
    bool begun_ = false;
};

}  // namespace orrery::store
