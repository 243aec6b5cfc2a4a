#pragma once

// The whole machine: clocks, SMs, interconnect, L2 and DRAM, and the kernels that run on it. It advances by steps, each
// the clock edges that come next, and skips what lies between events. Steps may be shared by several threads: what
// they exchange waits in queues of one writer and one reader, so cycles and counts are the same for any number.

#include "simulation/gpu/crew.h"
#include "simulation/gpu/pace.h"
#include "simulation/gpu/simulate.h"
#include "simulation/gpu/sm.h"

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace orrery::gpusim {

class Gpu {
public:
    Gpu(const Machine& machine, const SimulateOptions& options);

    /// A copy from the host: its sectors stand in L2 (with an L2 per die in the cache behind them), in no time.
    void copy(std::uint64_t address, std::uint64_t bytes);
    /// Starts a kernel, whose source must live until it has ended. Returns its place among those that run; fails with
    /// `gpu.kernel` where a block of it fits no SM.
    Expected<std::size_t> launch(KernelSource& kernel);
    /// A kernel that is not simulated: the accesses of its blocks pass through L2, in no time. None runs.
    Expected<bool> pass(KernelSource& kernel);
    bool running() const { return running_ > 0; }
    /// Goes on until a kernel has ended, or all have that were stopped; their places.
    Expected<std::vector<std::size_t>> untilOneEnds();
    KernelResult resultOf(std::size_t at);
    /// All that the kernels after this one find, where none runs; fails with `gpu.snapshot`.
    Expected<std::string> save();
    /// Into a machine like the one that was saved, before its first kernel. False: these are no such bytes.
    bool restore(std::string_view bytes);

private:
    struct Running {
        KernelSource* source = nullptr;
        KernelResult out;
        std::uint64_t order = 0;  ///< of the launches
        std::uint64_t begin = 0, opens = 0;
        std::int64_t blocks = 0, placed = 0;
        std::uint64_t finished = 0;
        int mostPerSm = 1;
        int cluster = 1;  ///< blocks that are placed together
        bool sharesCopies = false;
        std::vector<std::uint32_t> merged;  ///< where its static instructions stand among those of all
    };
    struct alignas(64) Part {  ///< of a member of the crew
        std::size_t firstSeat = 0, endSeat = 0, firstChannel = 0, endChannel = 0;
        std::vector<Counters> memory;  ///< by kernel
        std::uint64_t finished = 0;    ///< blocks, in this step
        std::size_t work = 0;          ///< in this step, in cycles of a slice
    };
    /// The domains whose next clock edge is earliest.
    struct Edges {
        bool core = false, network = false, l2 = false, dram = false;
        std::size_t index() const { return core + 2u * network + 4u * l2 + 8u * dram; }
    };

    template <class Archive>
    void keep(Archive& archive);
    Request* spareFor(const Request& like);
    bool mayBeUnderWay(const Request& request) const;
    bool clocksAgree() const;
    void keepResident();
    void emptyDies();
    Expected<bool> place();
    Expected<bool> placeOn(int sm, Running& kernel, std::size_t at);
    Expected<bool> placeClusters(Running& kernel, std::size_t at, bool& any);
    void passNotes();
    void pass(const TraceBlock& block, const std::vector<StaticInstruction>& statics);
    std::optional<std::size_t> next();
    void merge(Running& kernel, TraceBlock& block);
    Expected<std::vector<std::size_t>> advance();
    Expected<bool> poll(std::vector<std::size_t>& ended);
    void countFinished(std::vector<std::size_t>& ended);
    void tellProgress();
    void tellRecorder();

    bool step();
    void shared(std::size_t member);
    void alone();
    void memoryPart(Part& part);
    void smPart(Part& part);
    void advanceRequests();
    void advanceReplies();
    bool skip();

    const Machine& machine_;
    const SimulateOptions& options_;
    AddressMap map_;
    Crossbar requests_, replies_;
    double coreStep_, networkStep_, l2Step_, dramStep_;
    std::deque<Slice> slices_;
    std::deque<DramChannel> channels_;
    std::deque<Sm> sms_;
    ResidentSectors resident_;
    std::vector<char> requestsAt_, repliesAt_;
    // SMs sit by member, those of a member side by side; blocks come to SMs in turn, so neighbours sit apart.
    std::vector<std::size_t> smAt_, seatOf_;
    std::vector<std::uint64_t> wakes_;  ///< by seat
    std::uint64_t core_ = 0, network_ = 0, l2_ = 0, dram_ = 0, copied_ = 0, told_ = 0, polls_ = 0;
    int lastPlaced_ = 0, lastPlacedAtStart_ = -1, lastPassed_ = 0;
    Edges edges_;
    std::array<std::size_t, 16> work_{};  ///< of the last step with the same edges

    std::vector<std::unique_ptr<Running>> kernels_;
    std::size_t running_ = 0, lastIssued_ = 0;
    Clusters clusters_;
    int lastGroup_ = -1;
    std::uint64_t launches_ = 0;
    bool mayPlace_ = false;                   ///< since a block was last refused, one has ended or a kernel has opened
    std::vector<StaticInstruction> statics_;  ///< of all kernels that run
    TraceBlock block_;

    Crew crew_;
    Pace pace_;
    std::function<void(std::size_t)> body_;
    std::vector<Part> parts_;
};

}  // namespace orrery::gpusim
