#pragma once

// How one model is spread over devices. One type for passes, training and serving; placement.h lays it on a drawing.

#include "base/diagnostic.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// In which order the micro-batches of a training step pass through the stages.
enum class PipelineSchedule : std::uint8_t {
    OneForwardOneBackward,  ///< after a warm-up, in turns; with chunks interleaved (Narayanan et al. 2021)
    GPipe,                  ///< all forwards, then all backwards (Huang et al. 2019)
    ZeroBubble,             ///< gradients of weights fill the waits: ZB-H1 (Qi et al. 2024)
    DualPipe  ///< from both ends at once, each device with a stage of either direction (DeepSeek-V3, 2024)
};
std::string_view toText(PipelineSchedule schedule);  ///< `1f1b`, `gpipe`, `zero-bubble`, `dualpipe`

/// What of a training step leaves the device for its host's memory: parts of Plan::offload.
enum OffloadPart : std::uint8_t {
    OffloadOptimizer = 1,   ///< its state, and the step on the host (Ren et al. 2021: ZeRO-Offload)
    OffloadWeights = 2,     ///< come layer by layer when they are needed (Rajbhandari et al. 2021: ZeRO-Infinity)
    OffloadActivations = 4  ///< go behind the forward pass, and come before the backward pass
};
/// `optimizer+weights`; empty for none.
std::string offloadText(std::uint8_t parts);

/// The dimensions in which a model is split; each counts devices and is 1 where there is no split.
struct Plan {
    std::int64_t tensor = 1;    ///< heads, widths and vocabulary of a layer (Shoeybi et al. 2019)
    std::int64_t pipeline = 1;  ///< layers, in stages (Huang et al. 2019)
    std::int64_t data = 1;      ///< batch: whole copies
    std::int64_t expert = 1;    ///< whole experts, over devices that tensor, context and data already count
    std::int64_t context = 1;   ///< positions of a sequence
    std::int64_t interleave =
        1;  ///< chunks of layers that a stage holds, in turns with the others (Narayanan et al. 2021)
    std::int64_t zero =
        0;  ///< of copies: 1 shares the optimizer's state, 2 gradients, 3 weights too (Rajbhandari et al. 2020)
    /// Copies that share by `zero`, beside each other; what one such set has, the others have again: hybrid shards
    /// (Zhao et al. 2023: PyTorch FSDP, section 3.2.2). 0: all of them share.
    std::int64_t shard = 0;
    std::int64_t sequence =
        0;  ///< 1: what tensor parallelism leaves whole is split by positions (Korthikanti et al. 2022)
    std::int64_t microbatches = 0;  ///< that pass through the pipeline; 0: as many as stages
    PipelineSchedule schedule = PipelineSchedule::OneForwardOneBackward;
    std::uint8_t offload = 0;  ///< of OffloadPart
    /// Where its devices stand: a path of names in the drawing (`node/h100`); empty: chosen. Kinds of device joined
    /// with `+` take the stages in equal runs, front first; kinds joined with `&` take the copies of a stage, in equal
    /// runs too: `h100+h100+a100`, `h100&a100` (PlanKinds in placement.h).
    std::string placement;
    /// Layers of each stage, front first; empty: equally many, or by speed where stages stand on several kinds.
    std::vector<std::int64_t> layers;

    /// tensor × pipeline × data × context, of what checkPlan() allows; what 63 bits do not count is the most that they
    /// do. Experts add none.
    std::int64_t devices() const {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        const std::int64_t replica = devicesPerReplica();
        return data > 0 && replica > most / data ? most : replica * data;
    }
    /// Of one copy of the model: devices() without data.
    std::int64_t devicesPerReplica() const { return tensor * pipeline * context; }
    /// Copies among which `zero` divides, and how often what they share is there.
    std::int64_t sharingCopies() const { return zero > 0 && shard > 0 ? shard : data; }
    std::int64_t replicas() const { return data / sharingCopies(); }
    bool split() const { return devices() > 1 || expert > 1; }
    bool operator==(const Plan&) const = default;
};

/// `tp=8,pp=2`: only what differs from a single device; `tp=1` for that. Also `dp`, `ep`, `cp`, `vp` (interleave),
/// `zero`, `shard`, `sp` (sequence), `mb` (microbatches), `sched` (schedule), `offload`, `layers` (`20+12`) and `at`
/// (placement).
std::string toText(const Plan& plan);
/// Reads the same, in any order, spaces allowed; the long names (`tensor=8`) too. An empty text is one device. Fails
/// with `plan.syntax`, `plan.unknown-key`, `plan.twice` or `plan.value` (a whole number from 1 to 10^6, microbatches
/// from 0, zero 0 to 3, sequence 0 or 1; a schedule by its word, what is offloaded by words joined with `+`, layers by
/// numbers joined with `+`).
Expected<Plan> parsePlan(std::string_view text);
/// What no drawing can mend: numbers below 1 or above 10^6 (`plan.value`), experts over more devices than tensor,
/// context and data have or over a number that does not divide them (`plan.experts`), sets of copies that share
/// nothing, do not divide the copies, or are smaller than experts need (`plan.shard`), weights offloaded by copies that
/// do not divide them (`plan.offload`), chunks where the schedule takes none
/// (`plan.interleave`), stages from both ends that are no pairs (`plan.schedule`), layers that are not one number for
/// each stage, or of stages that hold several chunks (`plan.layers`).
Expected<void> checkPlan(const Plan& plan);
/// checkPlan(), and `plan.too-many-devices` where fewer than the plan's devices are there, naming both.
Expected<void> checkPlan(const Plan& plan, std::int64_t devices);

}  // namespace orrery
