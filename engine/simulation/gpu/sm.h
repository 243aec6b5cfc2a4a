#pragma once

// A streaming multiprocessor, cycle by cycle: fetch, issue, operand collectors, units, the load/store unit with its L1.
// Stages run from the last to the first, so that each sees what the others left in the cycle before. A cycle in which
// nothing moves is not repeated: the SM says when it wakes.

#include "simulation/gpu/clusters.h"
#include "simulation/gpu/code_path.h"
#include "simulation/gpu/crossbar.h"
#include "simulation/gpu/memory_side.h"
#include "simulation/gpu/occupancy.h"
#include "simulation/gpu/recorder.h"
#include "simulation/gpu/register_cache.h"
#include "simulation/gpu/sector_cache.h"
#include "simulation/gpu/trace.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery::gpusim {

class Sm {
public:
    Sm(const Machine& machine, const AddressMap& map, int id, Crossbar& requests);

    /// Before a kernel that gets the place `at` among those that run: what its blocks need and how many may be here.
    /// `alone`: no other runs, so L1 gets its size at once, else with the next block that finds the SM empty.
    void begin(std::size_t at, const KernelHeader& kernel, const Occupancy& fit, bool alone);
    /// Of which the blocks' instructions are.
    void use(const std::vector<StaticInstruction>& statics) { statics_ = &statics; }
    bool hasRoom(std::size_t kernel) const;
    int freeSlot() const;
    /// Takes a block into `freeSlot()`; its contents are swapped out of `block`. `code`: of its kernel, so far.
    void place(std::size_t kernel, TraceBlock& block, const CodeExtent& code, std::uint64_t cycle);
    /// The block that was placed last there is of a cluster.
    void join(int slot, const ClusterSeat& seat);
    void hear(const ClusterWord& word);
    bool empty() const { return usedBlocks_ == 0; }
    unsigned blocks() const { return usedBlocks_; }
    std::uint64_t finishedBlocks() const { return finished_; }
    std::uint64_t finishedBlocks(std::size_t kernel) const { return kernels_[kernel].finished; }

    /// Replies that have left the network, one per core cycle.
    void receive(Fifo<Request*>& network, std::uint64_t cycle);
    bool hasReplies() const { return !replies_.empty(); }
    void cycle(std::uint64_t now);
    std::uint64_t wakesAt() const { return wake_; }
    void poke(std::uint64_t at) { wake_ = std::min(wake_, at); }
    /// Counts the cycles that were slept through, up to `now`.
    void settle(std::uint64_t now);

    /// Between two kernels: no block is here, no copy that nobody waited for, and nothing is in a pipe.
    bool quiet() const;
    /// Of an SM that is quiet: what is empty then is not in it.
    template <class Archive>
    void keep(Archive& archive) {
        archive(finished_, nextAge_, carvedBytes_, waiting_, ready_, unknown_, barrier_, fence_, fenceIssued_,
                lastIssued_, lastFetched_, fetched_, firstScheduler_, order_, writtenBanks_, unitFree_, portFree_,
                memoryQueue_, memoryAt_, dispatchReady_, dispatchHeld_, l1Entered_, l1_, replies_, accepted_, writing_,
                writeTurn_, wake_, last_, slept_, retryAt_, code_, registerCaches_, constantBlocks_, constantWaits_);
        if (archive.reads()) archive.check(isSound());
    }
    Request* spare() { return pool_.take(); }

    /// By kernel. Cycles of an SM that holds blocks of several are those of the kernel that found it empty, until its
    /// last block here ends; then of the one with the oldest block.
    std::vector<Counters> counts;
    std::vector<ClusterNote> notes;  ///< of the last cycle; who reads them empties them
    Recorder* recorder = nullptr;    ///< told of every cycle; null: nobody looks

private:
    // Beyond the longest: an instruction of 900 cycles whose constant misses by 500; 32 lanes' words at a remote port.
    static constexpr int wheelSize = 2048;
    static constexpr auto noLine = std::numeric_limits<std::uint64_t>::max();
    struct Flight {
        LaneMask mask = 0;
        std::uint32_t what = 0, first = 0, count = 0, order = 0;
        std::uint16_t group = 0;
        std::uint8_t warp = 0, scheduler = 0, left = 0;
        bool used = false;
    };
    struct Warp {
        std::uint32_t at = 0, end = 0;
        Counters* counts = nullptr;  ///< of its kernel
        std::array<std::uint64_t, 4> pending{};
        LaneMask lanes = 0, exited = 0;
        std::uint64_t issues = 0;  ///< not before this cycle
        int atomics = 0, stores = 0, inPipe = 0;
        std::uint8_t buffered = 0, block = 0, kernel = 0;
        std::uint64_t age = 0;
        std::vector<int> groups;      ///< copies under way, by group; the last is open
        int awaitedGroups = 0;        ///< these must be empty
        int oldestGroup = 0;          ///< all before it are
        Fifo<std::uint32_t> ordered;  ///< loads and stores under way, where they return in order
        struct Peer {
            std::uint32_t copied = 0, reached = 0;
        };
        std::vector<Peer> peers;  ///< warps of the same place in the blocks of a cluster that shares copies
        std::uint32_t toldCopies = 0, waits = 0;  ///< groups told of to them; waits for copies so far
    };
    struct Block {
        bool used = false;
        TraceBlock trace;
        int liveWarps = 0;
        std::uint64_t warps = 0, arrived = 0;
        std::uint32_t clusterPhase = 0;  ///< barriers of its cluster so far
        std::uint64_t place = 0;  ///< the warps' places until the block ends
        std::uint64_t age = 0;
        std::uint8_t kernel = 0;
        ClusterSeat seat;
    };
    /// A kernel that runs, as this SM needs it.
    struct Kernel {
        int warps = 1, threads = 0;                            ///< of a block
        int registers = 0, sharedBytes = 0, carvedShared = 0;  ///< of a block; `carvedShared`: without what is kept
        int most = 0;                                          ///< blocks here
        int l1Ways = 1, carvedBytes = 0;
        bool changesL1 = false;
        std::uint64_t id = 0;   ///< of its code, the same in every launch
        CodeExtent code, left;  ///< so far; what an earlier run has left of it behind the L0
        int blocks = 0;         ///< here now
        std::uint64_t finished = 0;
    };
    struct Load {
        std::uint8_t warp = 0;
        std::int16_t destination = -1;
        std::int32_t left = 0;
        std::int32_t group = -1;
        std::uint64_t age = 0;  ///< of the warp: it may end before its copies, and another take its place
    };
    struct Result {
        std::int32_t next = -1;
        std::int16_t destination = -1;
        std::uint8_t warp = 0, unit = 0, scheduler = 0;
        LaneMask mask = 0;
    };
    struct Timed {
        Flight flight;
        std::uint64_t at = 0;
    };
    struct Queued {
        Request* request = nullptr;
        std::uint64_t at = 0;
    };

    const StaticInstruction& what(const Flight& f) const { return (*statics_)[f.what]; }
    std::size_t bankOf(std::uint8_t warp, unsigned reg) const {
        const unsigned per = static_cast<unsigned>(machine_.registerBanks / machine_.schedulers);
        return (reg + warp) % per + (warp % static_cast<unsigned>(machine_.schedulers)) * per;
    }
    std::uint64_t placeFor(const Kernel& kernel) const;
    bool isSound() const;  ///< what a file said
    void own();
    bool collides(const Warp& warp) const;
    void release(std::uint8_t warp, int destination);
    void writeBack(std::uint64_t now);
    void execute(std::uint64_t now);
    void loadStore(std::uint64_t now);
    void writeBackLoad(std::uint64_t now);
    void accessL1(std::uint64_t now);
    bool memory(std::uint64_t now);
    void sectorDone(std::uint32_t load, std::uint32_t lanes, bool atomic);
    void operands();
    void issue(std::uint64_t now);
    bool modernTakes(const StaticInstruction& one, unsigned scheduler, std::uint64_t now);
    void modernIssue(const StaticInstruction& one, const Flight& flight, std::uint64_t now);
    unsigned remoteLatency(const Flight& flight, std::uint64_t now);
    bool tryIssue(std::uint8_t warp, unsigned scheduler, std::uint64_t now);
    bool constantIsThere(const StaticInstruction& one, std::uint8_t warp, unsigned scheduler, std::uint64_t now);
    void learnCode(Kernel& kernel, const CodeExtent& code);
    unsigned codeThere(std::uint8_t warp, unsigned most, std::uint64_t now);
    void wakeCode(std::uint64_t now);
    bool waitsForConstant(unsigned scheduler, std::uint64_t able, std::uint64_t now) const;
    void observe(unsigned scheduler, std::uint64_t candidates);  ///< for the recorder
    void fetch(std::uint64_t now);
    void arrive(Warp& warp, std::uint8_t id);
    void releaseBarrier(Block& block);
    void tell(ClusterNote::Kind kind, std::uint8_t warp, std::uint32_t count);
    void listen(std::uint64_t now);
    void arriveInCluster(std::uint8_t warp, bool waits);
    void leaveCluster(std::uint8_t warp);
    void tellCopies(std::uint8_t warp);
    bool peersAreThere(const Warp& warp) const;
    void leave(std::uint8_t id, std::uint64_t now);
    void checkGroups(std::uint8_t id);
    bool send(Request* request);
    void finish(std::uint32_t load);
    void bringLine(const Request& missed, std::uint32_t set, std::uint64_t now);
    std::uint64_t nextTimer(std::uint64_t now) const;
    void await(std::uint8_t warp, bool waits) {
        const auto bit = std::uint64_t{1} << warp;
        if (waits)
            waiting_ |= bit;
        else
            waiting_ &= ~bit;
    }

    const Machine& machine_;
    const AddressMap& map_;
    Crossbar& requests_;
    int id_;
    const std::vector<StaticInstruction>* statics_ = nullptr;
    std::vector<Kernel> kernels_;
    Counters* owner_ = nullptr;  ///< of the kernel whose the SM's cycles are
    int usedRegisters_ = 0, usedShared_ = 0, usedCarved_ = 0, carvedBytes_ = 0;
    std::uint64_t taken_ = 0;  ///< places of warps
    unsigned usedBlocks_ = 0;
    static constexpr std::uint32_t lineFill = 0xffffffffu;  ///< in place of a load: nobody waits for the sector
    std::uint64_t finished_ = 0, nextAge_ = 0;
    std::vector<Block> blocks_;
    std::vector<Warp> warps_;
    // One bit per warp.
    std::uint64_t live_ = 0, done_ = 0, fetchable_ = 0, buffered_ = 0, waiting_ = 0, ready_ = 0, unknown_ = 0;
    std::uint64_t barrier_ = 0, fence_ = 0;
    std::array<std::uint64_t, 64> fenceIssued_{};
    // Of clusters: a bit per warp that has arrived at the barrier, or waits there; what is to come.
    std::uint64_t clusterArrived_ = 0, clusterWaits_ = 0;
    std::vector<ClusterWord> words_;
    std::uint64_t remoteFree_ = 0;  ///< when the port to other SMs' shared memory is
    std::vector<std::uint64_t> ofScheduler_;
    std::vector<int> lastIssued_;
    int lastFetched_ = 0, fetched_ = -1;
    unsigned firstScheduler_ = 0;
    std::uint32_t order_ = 0;

    // By unit and scheduler: in front of the collectors and behind them.
    std::array<std::array<Flight, 8>, unitCount> issued_{}, collected_{};
    std::array<std::uint8_t, unitCount> issuedMask_{}, collectedMask_{};
    std::vector<Flight> collectors_;
    std::uint64_t collecting_ = 0, complete_ = 0;  ///< a bit per collector
    std::vector<Fifo<std::uint8_t>> bankQueues_;
    std::uint64_t queuedBanks_ = 0, writtenBanks_ = 0;

    std::array<std::array<std::uint64_t, 8>, unitCount> unitFree_{};
    // The modern core: when a scheduler may issue again; when the last five memory instructions leave its queue.
    std::array<std::uint64_t, 8> portFree_{};
    std::array<std::array<std::uint64_t, 5>, 8> memoryQueue_{};
    std::array<std::uint8_t, 8> memoryAt_{};
    std::array<RegisterCache, 8> registerCaches_{};
    CodePath code_;
    bool looksUpCode_ = false;  ///< else all of it stands in every L0
    // A bit per warp: its next instruction is under way; its next instruction waits for a constant.
    std::uint64_t codeWaits_ = 0, constantWaits_ = 0;
    std::array<std::uint64_t, 64> codeReady_{};
    std::array<std::uint64_t, 64> codeAwaited_{};  ///< the line that comes then, until it is taken
    std::array<std::uint64_t, 8> constantBlocks_{};  ///< until when a scheduler stands still for a constant
    std::vector<std::array<std::uint64_t, wheelSize / 64>> arriving_;  ///< by unit and scheduler
    std::array<std::uint8_t, wheelSize> results_{};
    std::array<std::int32_t, wheelSize> wheel_{};
    std::array<std::uint64_t, wheelSize / 64> wheelMask_{};
    std::vector<Result> resultPool_;
    std::vector<std::int32_t> freeResults_;

    Flight dispatch_;
    std::uint64_t dispatchReady_ = 0;
    std::uint64_t dispatchHeld_ = 0;  ///< until its lanes have passed, at the width of L1
    std::uint32_t dispatchLoad_ = 0, dispatchLeft_ = 0;
    Fifo<Timed> shared_;
    std::vector<Fifo<Queued>> l1Queue_;
    std::vector<std::uint64_t> l1Entered_;
    std::vector<Load> loads_;
    std::vector<std::uint32_t> freeLoads_;
    SectorCache l1_;
    CacheCounts lineCounts_;  ///< of sectors that nobody asked for
    RequestPool pool_;
    Fifo<Request*> replies_;   ///< of the cluster
    Fifo<Request*> accepted_;  ///< of the load/store unit
    Request* bypassed_ = nullptr;
    struct Writing {
        enum class From : std::uint8_t { None, Shared, Bypass, L1 } from = From::None;
        std::uint8_t warp = 0;
        std::int16_t destination = -1;
        std::uint32_t load = 0, lanes = 0;
        bool atomic = false;
        template <class Archive>
        void keep(Archive& archive) {
            archive(from, warp, destination, load, lanes, atomic);
        }
    } writing_;
    int writeTurn_ = 0;

    bool moved_ = false;
    std::uint64_t wake_ = never, last_ = 0;
    bool slept_ = false;
    std::uint64_t retryAt_ = never;  ///< a warp that had all but its turn may issue
    std::uint64_t idleNow_ = 0, dependenceNow_ = 0, unitNow_ = 0, refusedNow_ = 0, conflictNow_ = 0, bankNow_ = 0;
    std::uint64_t codeNow_ = 0, constantNow_ = 0;
};

}  // namespace orrery::gpusim
