#pragma once

// Messages between the ranks of one run, as few as are needed: what MPI is hidden behind. The plugin of app/mpi
// implements it over MPI, a test over queues with faults.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

struct RankMessage {
    int from = 0;
    std::string bytes;
};

/// Used by one thread at a time.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int rank() const = 0;  ///< 0 hands out the work
    virtual int ranks() const = 0;
    virtual int ranksHere() const = 0;  ///< on this machine, this one included
    /// Never waits: what cannot be delivered yet is kept, what never can be is dropped.
    virtual void send(int to, std::string_view bytes) = 0;
    /// Messages of one rank come in its order. Never waits.
    virtual std::optional<RankMessage> receive() = 0;
    /// Nothing is said after it. `all`: every rank leaves too, and it waits for them; otherwise some are gone.
    virtual void leave(bool all) = 0;
    /// The last of rank 0 after leave(false): ends the program with this exit code, and ranks that still hang.
    [[noreturn]] virtual void end(int code) = 0;
};

/// What a plugin exports under `orrery_transport`: null with a reason where the launcher does not work.
using MakeTransport = Transport* (*)(const char** reason);

}  // namespace orrery
