#pragma once

// The file of a snapshot: one line that says what it is of, then the machine's state as bytes of this computer.

#include "base/diagnostic.h"
#include "simulation/gpu/machine.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery::gpusim {

struct Snapshot {
    std::string machine;      ///< `snapshotMachine`
    std::string list;         ///< digest of the entries that were run
    std::size_t entries = 0;  ///< of the list, copies too
    std::size_t kernels = 0;
    std::string_view state;  ///< read: within the file's bytes
};

/// A digest of the options that a machine was read from and of its generation's values; empty where it has none.
std::string snapshotMachine(const Machine& machine);
std::string writeSnapshot(const Snapshot& of, std::string_view state);
/// Fails with `gpu.snapshot` where it is none, of another version, damaged or cut short.
Expected<Snapshot> readSnapshot(std::string_view bytes);

}  // namespace orrery::gpusim
