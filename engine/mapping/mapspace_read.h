#pragma once

// Constraints and mapper options as Timeloop's files write them (v1 to v4): `mapspace`, `constraints`,
// `architecture_constraints`, `mapspace_constraints`, `mapper`.

#include "mapping/mappers/mapper.h"
#include "mapping/mapspace.h"

namespace orrery {

struct DocNode;

/// Every section of constraints in the file's root, joined. Factors `C4`, `C=4`, `C<=4` (0: the whole dimension);
/// orders name dimensions inner to outer, the ones not named come after them in any order, `*` stands for them. Fails
/// naming file and line for unknown levels, tensors, dimensions, types and keys (`mapspace.*`).
Expected<MapspaceConstraints> readConstraints(const DocNode& root, const NestProblem& problem,
                                              const NestHardware& hardware);

/// Whether the file asks for a mapper at all.
bool asksForMapper(const DocNode& root);
/// The section `mapper`. Of Timeloop's stop rules `timeout` and `victory-condition` hold for all threads together;
/// `search-size` bounds the mappings that are costed. Algorithms by their names there (`linear-pruned`, `random`,
/// `random-pruned`, `hybrid`, `exhaustive`) or by ours.
Expected<MapperOptions> readMapperOptions(const DocNode& root);

}  // namespace orrery
