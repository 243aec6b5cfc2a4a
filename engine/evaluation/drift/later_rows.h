#pragma once

// The kernels that two versions of one engine share on one device.

#include "base/progress.h"
#include "evaluation/reference_table.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

/// What a family is of.
struct DriftFamily {
    std::string device, software, kind, variant;  ///< `h100-sxm`, `vllm`, `gemm`, `bf16`
    bool hostTimed = false;                       ///< with the host's launches inside
    bool operator==(const DriftFamily&) const = default;
};
std::string toText(const DriftFamily& family);  ///< `vllm gemm bf16 on h100-sxm`

/// Columns of equal length, one row per kernel, in an order that does not depend on times.
struct LaterRows {
    DriftFamily family;
    std::string from, to;  ///< versions
    std::vector<Kernel> kernels;
    std::vector<std::uint64_t> identity;     ///< kernelIdentity()
    std::vector<double> believed, measured;  ///< seconds: what one expects, and what the later version takes
    std::vector<double> low, high;           ///< 90 % of what one expects; empty where it comes without
    std::size_t size() const { return kernels.size(); }
};

struct LaterOptions {
    std::string from = {};  ///< believe this version; empty: the oldest that shares enough kernels with a later one
    std::string to = {};    ///< hold it against this one; empty: the newest
    bool steps = false;     ///< every version against the next one, instead of the oldest against the newest
};

inline constexpr std::size_t leastSharedKernels = 20;  ///< of fewer, nothing can be said

/// Families whose kernels stand in tables of several versions; believed is the older measurement. Of a kernel that one
/// version holds several times (several implementations) the fastest counts. Families in the order of their names.
std::vector<LaterRows> laterRows(std::span<const ReferenceTable> tables, const LaterOptions& options = {});

/// What describes a kernel without being asked of any version: the logarithm of what is believed first, then of every
/// extent in which the kernels differ; row-major, each column between 0 and 1. Columns are at least one.
struct LaterInputs {
    std::vector<double> values;
    std::size_t columns = 1;
    std::span<const double> row(std::size_t i) const { return {values.data() + i * columns, columns}; }
};
LaterInputs inputsOf(const LaterRows& rows);

}  // namespace orrery
