#pragma once

// Whether this program was started on several ranks (`mpirun -n 4 orrery-cli …`), and how to reach the others.

#include "base/diagnostic.h"
#include "study/distributed/transport.h"

#include <memory>
#include <optional>

namespace orrery {

/// As the launcher says it in the environment: OMPI_COMM_WORLD_SIZE and _RANK (Open MPI), PMI_SIZE and PMI_RANK (MPICH,
/// srun), PMIX_RANK (its size is in ORRERY_RANKS or known to MPI alone: 0). Nothing on one machine.
struct RankLaunch {
    int rank = 0, ranks = 0;
};
std::optional<RankLaunch> launch();

/// Null unless several ranks were started. Nothing of MPI is loaded before that: then `orrery-mpi.so`, by the variable
/// ORRERY_MPI, else beside this program, else in ../lib/orrery. Fails with `ranks.no-mpi` where it is not there or was
/// built for another MPI than the launcher's.
Expected<std::unique_ptr<Transport>> joinRanks();

/// Seconds after which a rank that says nothing counts as lost: ORRERY_RANK_TIMEOUT, else 30. Fails with
/// `usage.value` on what is no positive number.
Expected<double> rankTimeout();

}  // namespace orrery
