#pragma once

// UPMEM's processing in memory: a DPU beside each bank (in-order pipeline shared by tasklets, transfers between its
// DRAM and its scratchpad) and the host's transfers to all of them. A kernel is described by what its loop does to one
// element.

#include "base/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::pim {

struct Dpu {
    double clockHertz = 350e6;
    int tasklets = 16;
    int threadInterval = 11;         ///< cycles between two instructions of one tasklet
    double cyclesPerSlot = 1.035;    ///< measured: loops whose instructions are known run 3.5 % over one a cycle
    double dramCyclesPerByte = 0.8;  ///< measured: 256-byte reads of a search and 1 KiB streams alike, 437 MB/s
    double launchMilliseconds = 0.14;
};

/// What a loop does per element.
struct DpuLoop {
    double instructions = 0;
    double dramBytes = 0;  ///< read and written between DRAM and scratchpad
    double locked = 0;     ///< instructions of them that only one tasklet at a time may be in
};

enum class DpuBound : std::uint8_t { Instructions, DramTransfers, Lock };
std::string_view nameOf(DpuBound bound);

struct DpuTime {
    double milliseconds = 0, cycles = 0;  ///< cycles without launches
    double instructionCycles = 0, dramCycles = 0, lockCycles = 0;
    DpuBound bound = DpuBound::Instructions;  ///< of most cycles
};

/// A benchmark of PrIM (Gómez-Luna et al., IEEE Access 2022): its loops and how its sizes and transfers follow from a
/// parameter and the number of DPUs.
struct PrimKernel {
    enum class Size : std::uint8_t { Items, MatrixRows, ThreeLayers, Search, Transpose, Series };
    enum class ToDpu : std::uint8_t { Parallel, OneByOne, RowByRow };
    enum class FromDpu : std::uint8_t { Parallel, OneByOne };
    std::string_view name;
    Size size = Size::Items;
    std::vector<DpuLoop> loops;
    int launches = 1;
    double preparation = 0;  ///< ms beside the launches, measured
    ToDpu toDpu = ToDpu::Parallel;
    FromDpu fromDpu = FromDpu::Parallel;
    bool measured = true;  ///< its loop was held against measured rows
};

/// All known ones; by name a diagnostic lists them.
const std::vector<PrimKernel>& primKernels();
Expected<const PrimKernel*> primKernel(std::string_view name);

struct UpmemRun {
    std::int64_t dpus = 1, parameter = 1;
    double toDpuBytes = 0, fromDpuBytes = 0, betweenBytes = 0;  ///< per DPU
};

struct UpmemAnswer {
    DpuTime kernel;
    double elements = 0;  ///< of one DPU
    double toDpuMilliseconds = 0, fromDpuMilliseconds = 0, betweenMilliseconds = 0;
};

/// Fails with `pim.upmem`: DPUs beyond 1 to 2,560, sizes beyond 1 to 2^40, tasklets beyond 1 to 24, bytes below 0.
/// DPUs without work cost their launch.
Expected<UpmemAnswer> answerOf(const PrimKernel& kernel, const UpmemRun& run, const Dpu& dpu = {});
/// Host transfers to and from all DPUs at once, by the same measured laws (1 to 64 DPUs; more are carried on from
/// there).
double toDpusMilliseconds(double bytesPerDpu, double dpus);
double fromDpusMilliseconds(double bytesPerDpu, double dpus);
/// The time of loops over so many elements of one DPU.
DpuTime timeOf(const std::vector<DpuLoop>& loops, double elements, const Dpu& dpu);

}  // namespace orrery::pim
