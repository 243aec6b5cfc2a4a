#pragma once

// The machine that Orrery runs on, as a design: what the system says of its processor, and what loops measure of it.

#include "base/diagnostic.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

struct HostCache {
    int level = 1;
    double bytes = 0;      ///< of one
    int count = 1;         ///< of them, over all cores that may be used
    double bandwidth = 0;  ///< B/s over all, measured: c = a + b on three quarters of it; 0: not measured
};

struct HostDescription {
    std::string processor;    ///< as /proc/cpuinfo names it
    std::int64_t cores = 1;   ///< that this process may use
    double clock = 0;         ///< Hz under load, measured by additions
    std::string vectorName;   ///< `avx512`
    int lanes = 4;            ///< of fp32
    int vectorUnits = 1;      ///< multiply-additions per cycle and core, measured
    double bf16PerCycle = 0;  ///< FLOP per fp32 lane and cycle; 0: no such instruction
    double int8PerCycle = 0;
    double memoryBytes = 0;
    double memoryBandwidth = 0;     ///< B/s, measured: three arrays of four times the last cache
    std::vector<HostCache> caches;  ///< data and unified ones, innermost first
    double lastCacheBytes() const;
};

/// Reads /proc and /sys and runs loops for about a second. Fails with `measure.host` where the system does not say
/// what is needed (not Linux), `study.cancelled`.
Expected<HostDescription> describeHost(std::stop_token stop = {});

/// The same as a hardware document (`orrery: hardware/1`).
std::string hostDesign(const HostDescription& host, std::string_view date);

/// How busy the machine is with other things.
struct HostLoad {
    double running = 0;    ///< mean of runnable threads in the last minute (load average)
    std::string governor;  ///< of the first core's clock: `performance`, `powersave`; empty: not readable
};
HostLoad hostLoad();
/// `measure.busy` where more than a quarter of a core is taken by others, or a governor saves power.
Expected<void> refuseBusy(const HostLoad& load, std::int64_t cores);

}  // namespace orrery
