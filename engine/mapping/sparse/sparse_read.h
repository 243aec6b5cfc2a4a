#pragma once

// Sparse designs from Timeloop v2 to v4 files: `densities` of the problem, `sparse_optimizations` of the architecture,
// and files of actual data.

#include "mapping/sparse/sparse_design.h"
#include "mapping/storage.h"
#include "mapping/timeloop/document.h"

#include <memory>
#include <string>

namespace orrery {

/// Null where the files speak neither of densities nor of optimisations. Paths of data files are relative to the file
/// that names them. Codes `sparse.*`, `timeloop.value`.
///
///     densities: {A: 0.4, B: {distribution: hypergeometric, density: 0.25}, C: {distribution: banded, band_width: 2},
///                 D: {distribution: actual-data, file: d.txt}}
///     sparse_optimizations:
///       targets:
///         - name: Buffer
///           representation-format:
///             data-spaces:
///               - name: A
///                 ranks: [{format: UOP, payload-word-bits: 8}, {format: CP, metadata-word-bits: 4, flattened-rankIDs:
///                 [[K]]}] rank-application-order: inner-to-outer
///           action-optimization: [{type: skipping, options: [{target: A, condition-on: [B]}]}]
///         - {name: MAC, compute-optimization: [{type: gating}]}
Expected<std::shared_ptr<const SparseDesign>> readSparseDesign(const DocNode& root, const NestProblem& problem,
                                                               const NestHardware& hardware, Diagnostics& warnings);

/// Nonzeros of a tensor of these extents. Three forms, told apart by themselves: Matrix Market `coordinate` (two ranks,
/// from 1; explicit zeros are dropped), a mask of 0 and 1 without blanks in row-major order, and lines of coordinates
/// from 0 separated by blanks or commas. `#` and `%` begin comments. Codes `sparse.data`, `sparse.data-size`.
Expected<ActualData> parseActualData(std::string_view text, const TileShape& tensor, const std::string& source);
Expected<ActualData> readActualData(const std::string& path, const TileShape& tensor);

namespace sparse {

/// Used by readSparseDesign; each reads one section into the design.
Expected<void> readDensities(const DocNode& root, const NestProblem& problem, SparseDesign& design, bool& found);
Expected<void> readOptimizations(const DocNode& section, const NestProblem& problem, const NestHardware& hardware,
                                 SparseDesign& design, Diagnostics& warnings);

/// `PE[0..15]` without its range.
std::string_view bareName(std::string_view name);
Expected<std::uint8_t> tensorNamed(const DocNode& node, const NestProblem& problem);
/// Fails with `sparse.key` at the first key that is none of these.
Expected<void> onlyKeys(const DocNode& node, std::string_view what, std::initializer_list<std::string_view> known);

}  // namespace sparse

}  // namespace orrery
