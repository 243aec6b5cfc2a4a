#pragma once

// Commands on many machines: `mpirun -n 4 orrery-cli study …`. Rank 0 is the command; the others answer for it and
// print nothing.

#include "study/distributed/ranks.h"

#include <memory>

namespace orrery::cli {

/// The ranks that this program was started on; null on one. Fails as joinRanks() and rankTimeout().
Expected<std::unique_ptr<Ranks>> joinedRanks();
/// True on the others than rank 0, where nobody wants to read the same message again.
bool isHelper(const Ranks* ranks);
/// What ranks were lost, as warnings; with `figures` also what a batch took rank 0 and from how many ranks on it would
/// be what the others wait for.
void reportRanks(const Ranks& ranks, bool figures);

}  // namespace orrery::cli
