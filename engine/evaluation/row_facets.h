#pragma once

// What rows of references are of: which platform, which class of workload, which kind, which level, what truth. Chips
// with counts are drawn from it, `--where` chooses by it, and the matrix has its columns from it.

#include "evaluation/evaluation.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Facet : std::uint8_t { Platform, WorkloadClass, Kind, Level, Truth };
inline constexpr std::array facets{Facet::Platform, Facet::WorkloadClass, Facet::Kind, Facet::Level, Facet::Truth};
/// `platform`, `class`, `kind`, `level`, `truth`: the words of `--where`.
std::string_view toText(Facet facet);

/// The row's word: of the platform the catalogue's group (`GPU`, `TPU`, `Accelerator`, `Edge`, `CPU`; `unknown` where
/// the catalogue lacks the device), of the class what cards call it (`matrix products`, `decoder models`), of the kind
/// that of the kernel or `model`, of the level `kernel`, `model` or (on several devices, or serving) `system`, of the
/// truth `measured`, `summed`, `simulated`.
std::string facetOf(Facet facet, const ReferenceTable& table, const ReferenceRow& row);
inline std::string facetOf(Facet facet, std::span<const ReferenceTable> tables, RowRef ref) {
    const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
    return facetOf(facet, table, table.rows[static_cast<std::size_t>(ref.row)]);
}

/// All words of the facet platform that rows can be of, sorted.
std::vector<std::string> platformWords();

/// One number for a row, to look it up by.
inline std::uint64_t rowKey(RowRef ref) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(ref.table)) << 32) |
           static_cast<std::uint32_t>(ref.row);
}

/// Words that are left out, by facet.
using FacetsOff = std::map<Facet, std::set<std::string>>;
/// Rows of which no word is left out, in their order.
std::vector<RowRef> rowsWithout(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                const FacetsOff& off);

struct FacetCount {
    std::string word;
    std::size_t rows = 0;  ///< of it that are left by what the other facets leave out
    bool on = true;
};
/// The words that the rows have, in the order of their names but platforms and levels as people list them. A count says
/// how many rows a chip would bring, so it is of what the other facets leave.
std::vector<FacetCount> facetCounts(Facet facet, std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                    const FacetsOff& off = {});
/// The terms of `--where` that leave out the same: `platform=GPU|TPU,truth=measured`; empty where nothing is left out.
std::string facetTerms(std::span<const ReferenceTable> tables, std::span<const RowRef> rows, const FacetsOff& off);

}  // namespace orrery
