#pragma once

// What most methods need of one device, read from the tree once: peaks per precision, and memory levels from the
// outermost (DRAM) to the innermost (registers), all summed over the device.

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/parts_read.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

enum class UnitKind : std::uint8_t { Vector, Tensor };

struct MemoryLevel {
    std::string name;  ///< `hbm3`, `l2`, `smem`
    ComponentKind kind = ComponentKind::Dram;
    std::string path;
    Bytes capacity;              ///< over all instances
    BytesPerSecond bandwidth;    ///< over all instances; reads and writes share it; 0 where not given: limits nothing.
                                 ///< Of the first level no more than the interconnect lets pass.
    Seconds latency;             ///< of a load that hits here; 0 where not given
    JoulesPerByte energy;        ///< per byte moved; 0 where not given
    std::int64_t instances = 1;  ///< 132 for the shared memory of 132 SMs
    ComponentPath place;         ///< in the design; of the first, where several memories make one level
    std::string timing;          ///< standard of a DRAM, as the design names it: `HBM2e`; may be empty
};

/// Links or a network among the parts of one device (dies of a package, cores of a die), and what they let pass of the
/// bytes of main memory. These are taken as spread evenly over the memories, and asked for by every part in proportion
/// to its cores: with n dies that hold memory, (n − 1)/n of them cross (pages interleaved over the modules, as in
/// MCM-GPU without its optimisations: Arunkumar et al., ISCA 2017, section 3).
struct Interconnect {
    std::string name;  ///< of the link that is full first
    std::string path;
    ComponentPath place;
    BytesPerSecond bandwidth;  ///< bytes of main memory a second when that link is full; 0: no rate is given
    double crossing = 0;       ///< share of main memory's bytes that leave the part where they lie
    Seconds latency;           ///< there and back, mean over all bytes
    JoulesPerByte energy;      ///< of all links, per byte of main memory
};

/// What a type runs on: the dense rate of the whole device, on which unit, as which type.
struct UnitPeak {
    FlopsPerSecond rate;
    UnitKind unit = UnitKind::Vector;
    DType runsAs = DType::F32;
};

struct DeviceView {
    std::string name;
    std::string path;
    ComponentPath place;      ///< in the design
    std::string platform;     ///< `gpu`, `tpu`, `cpu`, `npu`, `array`, `soc`, `pim`, as the device says; may be empty
    std::int64_t copies = 1;  ///< of this device in the design
    Hertz clock;              ///< nominal, at which the peaks hold; `sustained` is stated in the assumptions
    std::int64_t cores = 1;   ///< SMs, compute units, cores
    /// peaks[unit][dtype]: dense FLOP/s of the whole device, 0 where the unit cannot do that type.
    std::array<std::array<FlopsPerSecond, dtypeCount>, 2> peaks{};
    std::vector<MemoryLevel> levels;  ///< outermost first; never empty; the first has a bandwidth
    std::optional<Interconnect>
        interconnect;                      ///< the network inside that bounds the first level most; none drawn: none
    Watts powerCap;                        ///< 0 where not given
    Watts idlePower;                       ///< 0 where not given
    double drawnToRated = 1;               ///< units that are drawn over those for which the power cap was set
    JoulesPerFlop flopEnergy;              ///< 0 where not given
    Seconds launchOverhead;                ///< per operator (kernel launch); default stated in assumptions
    std::vector<std::string> assumptions;  ///< defaults that were used, one sentence each
    PartsRead used;                        ///< of the design

    const MemoryLevel& main() const { return levels.front(); }
    /// Best dense peak for a type on the unit that suits the operator: tensor units for matrix products where they
    /// take the type (or one that it runs as, e.g. fp32 as tf32 is *not* assumed), else the vector units; a type that
    /// nothing supports runs as the next wider one that is. 0 if the device has no suitable unit at all.
    FlopsPerSecond peak(bool matrix, DType type) const { return peakUnit(matrix, type).rate; }
    /// The same, with the unit that it is the rate of and the type as which it runs there.
    UnitPeak peakUnit(bool matrix, DType type) const;
};

/// The view of one device: what is inside it, and the memories around it if it holds no DRAM. Memories and links that
/// it shares with others count in full, as an assumption says. Fails naming the component and attribute that is
/// missing.
Expected<DeviceView> deviceView(const DeviceRef& device);
/// Of the first device of the design, see devicesOf().
Expected<DeviceView> deviceView(const Hardware& hardware);
/// All devices of a design, in tree order (a node of a CPU and 8 GPUs has two, with copies 1 and 8).
Expected<std::vector<DeviceView>> deviceViews(const Hardware& hardware);

}  // namespace orrery
