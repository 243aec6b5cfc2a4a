#pragma once

// What instructions and accesses cost on real GPUs, by generation: presets/technology/gpu-generations.yaml, each number
// with its source. Never by kernel.

#include "base/diagnostic.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery::gpusim {

struct GpuGeneration {
    /// Core cycles: to an instruction that needs the result; between two warp instructions of a sub-core.
    struct Pipe {
        int latency = 4, initiation = 2;
    };
    /// A chain of loads: cycles of the core clock, and time that does not follow it.
    struct Distance {
        double cycles = 0, nanoseconds = 0;
        double at(double coreMhz) const { return cycles + nanoseconds * coreMhz / 1000; }
    };
    /// What products on tensor units draw, by which a power cap holds the clock.
    struct TensorPower {
        double joulesPerOperation = 0;  ///< of 16 bits, with all that feeds the units, at `clock`; a multiplication and
                                        ///< an addition are two
        double wattsPerSm = 0;          ///< whatever the chip computes
        double joulesPerByte = 0;       ///< of main memory
        double clock = 0;               ///< Hz at which it was measured
    };
    /// Of instructions or constants. `latency`: core cycles from the question of a scheduler to what it needs.
    struct LineCache {
        int bytes = 0, ways = 1, latency = 0;
        bool operator==(const LineCache&) const = default;
    };
    /// Lines of 128 bytes. Without `l0.bytes` instructions are always there.
    struct CodeCaches {
        LineCache l0, l1, shared;  ///< of a sub-core; of an SM; behind it, of several SMs
        int l2Latency = 0;
        int ahead = 0;  ///< lines that the stream buffer of a sub-core asks for in advance
        bool operator==(const CodeCaches&) const = default;
    };
    /// Lines of 64 bytes; without bytes constants are always there. A miss takes its `latency`.
    struct ConstantCaches {
        LineCache operands;   ///< of a sub-core, for instructions of fixed latency
        LineCache loads;      ///< of an SM, for LDC
        int loadLatency = 0;  ///< of an LDC that hits
        bool operator==(const ConstantCaches&) const = default;
    };
    /// Thread-block clusters.
    struct Clusters {
        double sms = 0;                          ///< of a GPC, in the mean; 0: there are none
        int most = 1;                            ///< blocks of one
        int barrier = 1;                         ///< core cycles from the last arrival to the release
        int pairLatency = 1, remoteLatency = 1;  ///< of another block's shared memory: of two blocks, of more
        double bytes = 32;                       ///< that an SM takes from there in a cycle
    };
    std::string name;           ///< "volta" … "blackwell-rtx"
    int computeCapability = 0;  ///< 70, as `binary version` of traces
    Pipe alu, fp32, half, fp64, special, branch, uniform, conversion, shuffle;
    int tensorLatency = 1;
    double tensorMacs = 1;  ///< of half precision, per cycle and sub-core
    Distance shared, l1, l2, dram;
    Distance lastLevel;    ///< a cache between L2 and main memory; 0 where there is none
    double l1Bytes = 128;  ///< per core cycle and SM
    double l2Bytes = 32;   ///< the same from L2, where all SMs read at once
    double launchCycles = 0;
    CodeCaches code;
    ConstantCaches constants;
    Clusters clusters;
    // What a drawing leaves out; option files have their own.
    int unifiedBytes = 0;         ///< L1 and shared memory of an SM together
    std::vector<int> carveBytes;  ///< what of it may be shared memory, upwards
    bool copiesPast = false;      ///< LDGSTS
    bool matrixLoads = false;     ///< LDSM
    bool groups = false;          ///< tensor instructions of whole warp groups
    int groupRows = 64;           ///< of one of these: rows that share its reads of the columns' operand
    int lanes = 32;               ///< of a warp; 64 of a wavefront
    int issueEvery = 1;           ///< cycles between two instructions of one warp
    bool ordersMemory = false;    ///< loads return in the order of loads and stores
    bool fillsLines = false;      ///< L1 fetches whole lines of 128 bytes
    bool oldestFirst = false;     ///< schedulers; else greedy, then youngest
    std::optional<TensorPower> tensorPower = {};  ///< none where nothing was measured
};

/// Pipes by their names in tables and option files.
inline constexpr std::array<std::pair<std::string_view, GpuGeneration::Pipe GpuGeneration::*>, 9> namedPipes{
    {{"alu", &GpuGeneration::alu},
     {"fp32", &GpuGeneration::fp32},
     {"half", &GpuGeneration::half},
     {"fp64", &GpuGeneration::fp64},
     {"special", &GpuGeneration::special},
     {"branch", &GpuGeneration::branch},
     {"uniform", &GpuGeneration::uniform},
     {"conversion", &GpuGeneration::conversion},
     {"shuffle", &GpuGeneration::shuffle}}};

/// Fails with its place where a number is absent or wrong. Codes `gpu.generation`.
Expected<std::vector<GpuGeneration>> readGpuGenerations(std::string_view yaml, std::string_view file);
/// The shipped ones, read once.
const Expected<std::vector<GpuGeneration>>& gpuGenerations();
/// By name, or the newest that is not newer than a compute capability (80: "ampere"); null if there is none.
const GpuGeneration* generationOf(std::string_view name);
const GpuGeneration* generationOf(int computeCapability);

}  // namespace orrery::gpusim
