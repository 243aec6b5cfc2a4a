#pragma once

// What a network of a search space is to an additive model of latency: counts of its operators and of those that do
// something, one column per choice at a place, work. Read from the code itself; no device in it.

#include "base/diagnostic.h"
#include "workload/spaces/spaces.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct SpaceFeatures {
    std::string space;               ///< `nasbench201`, `fbnet`, `ofa`, `hat`
    std::vector<std::string> names;  ///< of columns; the first is 1 everywhere
    /// Columns that a device's model starts from where no other device is known: what a roofline would count (calls,
    /// operations, bytes), each as a share of its mean.
    std::vector<std::size_t> analytic;
    std::size_t core = 0;  ///< columns in front that carry most of the latency; those behind are detail
    std::size_t half = 0;  ///< from here on the same columns of the network with its constants folded; 0: it has none
    std::size_t nothing = 0;  ///< a column of that half: 1 where the whole network is a constant
};

/// `nasbench201`, `fbnet`, `ofa`, `hat` (encoder and decoder, but not both in one table). Fails with
/// `edge.unknown-space`.
Expected<SpaceFeatures> spaceFeatures(std::string_view space);
/// Appends one row. `code` as in `workload/spaces`. Fails as its readers do.
Expected<void> appendFeatures(const SpaceFeatures& space, std::string_view code, std::vector<double>& row);
/// What is left of a cell where a multiplication by zero is a constant and what leads nowhere is dropped.
NasBench201Cell foldedCell(NasBench201Cell cell);
/// The space in whose form a code is written; empty if none.
std::string spaceOfCode(std::string_view code);

}  // namespace orrery
