#pragma once

// A memory of DRAM channels behind queueing controllers: requests in, completions out, every command kept at a cycle
// that its standard allows. Deterministic, integer cycles; time jumps from command to command, so idle memory costs
// nothing. Used by event-driven simulations: submit, then run to the next completion or to a cycle.
//
// What is modelled: banks, bank groups, ranks and pseudo-channels with all constraints of DramTiming; command buses
// (one command per cycle, with HBM one row and one column command); data buses with turnaround; all-bank or per-bank
// refresh; read and write queues with drain watermarks; first-ready first-come-first-served (Rixner et al., ISCA 2000)
// with a cap on row hits. What is not: power-down states, error correction, data training, temperature.

#include "base/diagnostic.h"
#include "simulation/dram/address_map.h"
#include "simulation/dram/command_energy.h"
#include "simulation/dram/standard.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

enum class DramPage : std::uint8_t {
    Open,    ///< a row stays open until another row of its bank is wanted
    Closed,  ///< the last queued access to a row closes it (auto-precharge)
};

enum class DramScheduler : std::uint8_t {
    FrFcfs,  ///< row hits first, then the oldest
    Fcfs,    ///< strictly the oldest; the slow comparison
};

enum class DramRefresh : std::uint8_t {
    None,
    AllBank,  ///< a rank at a time, ranks staggered
    PerBank,  ///< bank after bank where the standard has it, otherwise all banks
};

struct DramConfig {
    DramStandard standard;
    int channels = 1;
    std::string mapping = "RoBaRaCoCh";
    bool permuteBanks = false;  ///< bank XOR low row bits (Zhang et al., MICRO 2000); needs powers of two
    DramPage page = DramPage::Open;
    DramScheduler scheduler = DramScheduler::FrFcfs;
    DramRefresh refresh = DramRefresh::AllBank;
    int readQueue = 32, writeQueue = 32;  ///< bursts per channel
    int openedSlots =
        0;  ///< bursts for which a row has been opened wait in slots of their own, so that the queues see further
    double drainAbove = 0.8, drainBelow = 0.2;  ///< shares of the write queue that start and end a drain of writes
    std::optional<DramCommandEnergy> energy;    ///< of a rank's commands; publishedEnergy() of the standard
    int rowHitCap = 0;                          ///< row hits in a row before an older request is preferred; 0: no cap
};

struct DramRequest {
    std::uint64_t address = 0;  ///< bytes; wraps at the capacity
    std::int64_t bytes = 0;     ///< any size: a tile is one request; the bursts it touches are moved whole
    DramCycle arrival = 0;      ///< not before DramMemory::now(); earlier counts as now
    std::uint64_t tag = 0;      ///< the caller's own
    std::uint16_t port = 0;     ///< requests of one port enter a channel in order; ports take turns, burst by burst
    bool write = false;
};

struct DramCompletion {
    std::uint64_t tag = 0;
    DramCycle cycle = 0;  ///< the cycle after its last data on the bus, of reads and writes alike
};

struct DramStatistics {
    std::int64_t reads = 0, writes = 0;                         ///< bursts
    std::int64_t forwarded = 0;                                 ///< reads answered from the write queue
    std::int64_t rowHits = 0, rowMisses = 0, rowConflicts = 0;  ///< bursts: open row, closed bank, another row open
    std::int64_t activates = 0, precharges = 0, refreshes = 0, bankRefreshes = 0;
    std::int64_t busyCycles = 0;     ///< of all data buses together
    std::int64_t latencyCycles = 0;  ///< sum over read bursts, entering its queue to last data
    DramCycle lastData = 0;
};

enum class DramCommand : std::uint8_t {
    Activate,
    Precharge,
    PrechargeAll,
    Read,
    ReadPrecharge,
    Write,
    WritePrecharge,
    Refresh,
    RefreshBank,
};

struct DramIssued {
    DramCycle cycle = 0;
    DramCommand command = DramCommand::Activate;
    int channel = 0;
    int bank = 0;  ///< of the channel (DramAddress::bank); first of its rank for Refresh and PrechargeAll
    std::int64_t row = 0;
    std::int32_t column = 0;  ///< bursts
};

class DramMemory {
public:
    /// Refuses unknown mappings, impossible standards, channels or queues outside 1…4096.
    static Expected<DramMemory> make(DramConfig config);
    ~DramMemory();
    DramMemory(DramMemory&&) noexcept;
    DramMemory& operator=(DramMemory&&) noexcept;

    void submit(const DramRequest& request);

    /// Everything that happens up to and including `cycle`; completions are appended in order of cycle, then
    /// submission.
    void runTo(DramCycle cycle, std::vector<DramCompletion>& completions);
    /// As runTo, but stops at the first cycle with a completion. False if there was none until `limit`.
    bool runToCompletion(DramCycle limit, std::vector<DramCompletion>& completions);
    /// Until nothing is left. Returns the cycle of the last completion, or now.
    DramCycle drain(std::vector<DramCompletion>& completions);

    DramCycle now() const;
    bool idle() const;                 ///< no request is under way
    std::int64_t outstanding() const;  ///< requests
    /// Bursts that wait in front of the full read or write queue of this channel, for callers that throttle themselves.
    std::int64_t waitingUpstream(int channel, bool write) const;

    const DramConfig& config() const;
    const DramAddressMap& map() const;
    DramStatistics statistics() const;  ///< sum over channels
    double peakBytesPerCycle() const;   ///< of all channels
    double secondsPerCycle() const;
    /// Joules up to `now`. Fails with `dram.no-currents` where the configuration gives no energies, and as energyOf().
    Expected<DramEnergyParts> energy() const;

    /// Called for every command, in order within a channel. For tests and traces; slows the simulation.
    void observe(std::function<void(const DramIssued&)> observer);

private:
    struct State;
    explicit DramMemory(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery
