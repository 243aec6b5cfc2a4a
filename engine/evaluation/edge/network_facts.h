#pragma once

// What a table says of its networks in columns of their own: operations, weights, the input's size, a family. With it a
// network that no known device was measured with is told too, and devices may differ by it.

#include "evaluation/csv_file.h"
#include "evaluation/edge/edge_table.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A number above 0, or sides of an input (`640x480x3`, the first of several) multiplied; NaN: neither.
double factIn(std::string_view cell);

/// Fills `table.facts` and `table.shapes` from the columns; `networkOf[r]` is the place of the file's row r. A column
/// of numbers becomes their logarithm, NaN where it is not known; a column of words a column of 0 and 1 for each word
/// that several networks share. A network that several rows speak of takes their median.
void addFacts(EdgeTable& table, const CsvFile& file, std::span<const std::size_t> columns,
              std::span<const std::size_t> networkOf);

/// What names of one network have in common from table to table: `beit_base.in22k_ft_in1k_224` and `beit_base | 224`
/// are both `beit_base_224`. The weights' training, from a point before a letter to the last number, is left out.
std::string commonName(std::string_view name);

/// Facts of the same networks and other devices' times of them, from another table of networks by name. Those devices
/// are known and never asked (`EdgeTable::besides`). Fails with `edge.space` (a search space), `edge.no-common` (no
/// network in common).
Expected<void> addBeside(EdgeTable& table, const EdgeTable& other);

}  // namespace orrery
