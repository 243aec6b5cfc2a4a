#pragma once

// Inputs of Timeloop as this folder's own types: problem (shape and instance), architecture (chain or tree), mapping,
// and energies and areas from Accelergy's tables. Reads libconfig (v1 to v3) and YAML (v3, v4 as its front end writes
// it); writes YAML that reads back the same.

#include "mapping/nest_mapping.h"
#include "mapping/problem.h"
#include "mapping/storage.h"
#include "mapping/timeloop/document.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// Where a mapping speaks of each level, parallel to the hardware's.
struct TimeloopPlaces {
    Place mapping;
    std::vector<Place> temporal, spatial;
};

/// The parts that are there. Sparse optimisations, constraints and mapper options stay in `root` for their readers.
struct TimeloopInput {
    DocNode root;
    NestProblem problem;
    NestHardware hardware;
    std::optional<NestMapping> mapping;
    Diagnostics warnings;
    TimeloopPlaces places;

    /// The place in the mapping that a diagnostic's path (a level or a dimension) is about, filled into it.
    Diagnostic placed(Diagnostic diagnostic) const;
};

/// `problem:` with `shape` (or the built-in CNN layer) and `instance`. Codes `timeloop.missing`, `timeloop.key`,
/// `timeloop.projection`, `timeloop.dimension`, `timeloop.value`.
Expected<NestProblem> readTimeloopProblem(const DocNode& root, Diagnostics& warnings);
/// `arch:` with `arithmetic` and `storage`, or `architecture:` with `subtree` and `local`. Energies are those of the
/// ratio model until tables replace them.
Expected<NestHardware> readTimeloopArchitecture(const DocNode& root, Diagnostics& warnings);
/// `ERT:` and `ART:` of Accelergy, where they are there.
Expected<void> readTimeloopTables(const DocNode& root, NestHardware& hardware, Diagnostics& warnings);
/// `mapping:`, a list of directives. Also tells where its directives stand.
Expected<NestMapping> readTimeloopMapping(const DocNode& root, const NestProblem& problem, const NestHardware& hardware,
                                          TimeloopPlaces& places, Diagnostics& warnings);

/// All of it; the mapping may be absent. An unknown part is refused with the nearest known one.
Expected<TimeloopInput> readTimeloop(DocNode root);
Expected<TimeloopInput> readTimeloopFiles(const std::vector<std::string>& paths);

/// YAML in the form of v0.4 (`problem`, `architecture`, `mapping`), with `-` in key names where v3 wants them.
std::string writeTimeloopProblem(const NestProblem& problem);
std::string writeTimeloopArchitecture(const NestHardware& hardware);
std::string writeTimeloopMapping(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping);
/// All three in one file, with the energies as an ERT.
std::string writeTimeloop(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping);

}  // namespace orrery
