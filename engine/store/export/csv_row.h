#pragma once

// One line of CSV. For sources of the store only.

#include "base/text/csv_cell.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

namespace orrery::store {

using orrery::csvCell;

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
