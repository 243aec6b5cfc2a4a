#pragma once

// What the readers of published cases share.

#include "base/diagnostic.h"
#include "serving/traffic/request_stream.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Chosen columns of a CSV as text, row after row. Fails with `<area>.no-column` and `<area>.bad-value` (a short line).
struct TextColumns {
    std::string path;
    std::size_t width = 0;
    std::vector<std::string> cells;  ///< rows × width
    std::vector<int> lines;
    std::size_t rows() const { return lines.size(); }
    const std::string& at(std::size_t row, std::size_t column) const { return cells[row * width + column]; }
};
Expected<TextColumns> readColumns(const std::string& path, const std::vector<std::string_view>& names,
                                  std::string_view area);
/// A number of that cell, from `low` to `high`. Fails with `<area>.bad-value`.
Expected<double> numberAt(const TextColumns& table, std::size_t row, std::size_t column, double low, double high,
                          std::string_view area);
bool fileExists(const std::string& path);

struct PublishedRow {
    double arrival = 0;  ///< seconds
    std::int64_t id = 0;
    std::int32_t prompt = 1, output = 1;
};
/// Sorted by arrival, equal ones as they stand.
RequestStream streamOf(std::vector<PublishedRow> rows, std::string name, std::string source);

}  // namespace orrery
