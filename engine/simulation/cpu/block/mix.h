#pragma once

// Throughput of a mix of instructions that do not depend on each other, from what each uses of abstract resources: the
// conjunctive form of a port mapping (Derumigny et al., "PALMED", CGO 2022). Cycles are the norm of order `norm` of the
// resources' sums: near the largest, and a little above where several are full.

#include "base/diagnostic.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::block {

struct MixTable {
    std::vector<std::string> names;  ///< of the instructions, by id
    std::vector<float> usage;        ///< cycles of a resource by one instruction: [id][resource]
    std::size_t resources = 0;
    double norm = 16;
    double low = 1, high = 1;  ///< measured by predicted cycles: nine of ten held-out mixes lie between
    bool empty() const { return names.empty(); }
};

struct MixPrediction {
    double cycles = 0, low = 0, high = 0;  ///< per iteration of the whole mix
    std::size_t binding = 0;               ///< the fullest resource
};

/// Columns `id`, `instruction` and `usage` (numbers with blanks between). Codes `mix.table`, with file and line.
Expected<MixTable> readMixTable(const std::string& path);
/// Ids with blanks between. Codes `mix.ids` (no whole number, none at all) and `mix.unknown-id`, with the column.
Expected<std::vector<std::int32_t>> readMix(std::string_view text, const MixTable& table);
MixPrediction predictMix(const MixTable& table, std::span<const std::int32_t> ids);

}  // namespace orrery::block
