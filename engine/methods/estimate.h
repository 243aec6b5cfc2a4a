#pragma once

// One answer. It always has an interval and says where the interval comes from; what a method does not predict is
// absent, never zero.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "base/unit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

enum class IntervalKind : std::uint8_t {
    StatedError,  ///< from errors measured against references, cited in `basis`
    Bound,        ///< one side is a bound by construction
    Ensemble,
    Residuals,
    Sampling,
};

struct Interval {
    Seconds low, high;
    IntervalKind kind = IntervalKind::StatedError;
    std::string basis;  ///< one sentence: which error, from which data, which coverage
};

/// What limits an operator: a compute unit, or a memory level (index into Estimate::levels), or launch overhead.
enum class BoundKind : std::uint8_t { Compute, Memory, Overhead, Network, None };
struct Bound {
    BoundKind kind = BoundKind::None;
    std::int16_t level = -1;
    bool operator==(const Bound&) const = default;
};

/// Columns, one row per operator of the workload's graph; times are of all `repeat` executions together.
struct OperatorEstimates {
    std::vector<double> seconds;
    std::vector<Bound> bound;
    std::vector<double> flops;                    ///< all repeats
    std::vector<double> bytes;                    ///< past the outermost level, all repeats
    std::vector<std::vector<double>> levelBytes;  ///< [level][operator]; empty if the method has one level only
    std::vector<double> joules;                   ///< empty if not predicted
    /// 90 % of measured times of all repeats, by operator; empty where a method states them for the whole alone.
    std::vector<double> lowSeconds, highSeconds;
    /// Of a training step: forward pass with the loss, and the optimizer; the rest goes back. Empty for anything else.
    std::vector<double> forwardSeconds, updateSeconds;
    std::size_t size() const { return seconds.size(); }
};

/// What a span shows that is of no one operator.
enum SpanWork : std::int32_t { SpanIdle = -1, SpanForward = -2, SpanBackward = -3, SpanExchange = -4, SpanUpdate = -5 };

/// A span of a timeline, in integer picoseconds as all simulators keep time.
struct TimelineSpan {
    std::int64_t startPs = 0, endPs = 0;
    std::int32_t row = 0;
    std::int32_t op = -1;  ///< operator of the graph; below 0: a SpanWork
    std::int32_t repetition = 0;
};
struct Timeline {
    std::vector<std::string> rows;
    std::vector<TimelineSpan> spans;  ///< sorted by row, then start
    bool truncated = false;           ///< more repetitions than are drawn; the last row says so
};

/// How busy links were over a simulated time, for heat on a drawing.
struct NetworkUse {
    struct Row {
        std::string path;         ///< of the drawn link, topology or switch: `system/node/nvlink`
        std::string what;         ///< `all links`, `busiest link`; of a drawn link, with both its directions, `0 to 1`
        std::vector<float> busy;  ///< share of each span in which it carried something, 0 to 1
        bool operator==(const Row&) const = default;
    };
    double spanSeconds = 0;  ///< spans are equal and begin at 0
    std::vector<Row> rows;   ///< by tier, innermost first; empty where links were not followed
    bool operator==(const NetworkUse&) const = default;
};

/// A ceiling that a roofline shows: `HBM 3.35 TB/s`, `bf16 tensor 989 TFLOP/s`.
struct Ceiling {
    std::string label;
    bool memory = false;
    double rate = 0;  ///< B/s or FLOP/s
    std::int16_t level = -1;
};

struct MemoryUse {
    Bytes weights, kvCache, activations;
    Bytes total() const { return weights + kvCache + activations; }
    Bytes capacity;  ///< of the device; 0 if unknown
};

struct Provenance {
    std::string method, version;
    std::string hardwareHash, workloadHash;
    std::uint64_t seed = 0;
    std::string task, plan;  ///< toText() of both; plan: empty where one device works
    std::string taskHash;    ///< of a serving run: servingHash() of its study; else empty
};

/// A number that follows from the answer and that people ask for by name: `Time to first token`, `Throughput`.
struct Figure {
    std::string label;
    double value = 0;  ///< in the dimension's SI unit
    Dimension dimension = Dimension::Number;
    std::string unit = {};  ///< of a Number: `token/s`; empty where the dimension says it
    /// 90 % of measured values, and where they come from; nothing where it is not known.
    std::optional<std::pair<double, double>> interval = {};
    std::string basis = {};
};

/// What an answer was made of, and what it left alone.
struct UsedParts {
    struct Part {
        std::string path;                     ///< `dgx/h100/hbm3`
        std::vector<std::string> attributes;  ///< that were read
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> used;
    std::vector<Part> ignored;  ///< drawn, and read by nobody; with attributes: only these of a used part
    bool operator==(const UsedParts&) const = default;
};

/// How far measurements support an answer. Shares are of its busy time, 0 to 1.
struct Support {
    double error = 0;  ///< mean |ln(measured ÷ predicted)| of kernels like its own, as far as references know
    double outside = 0, edge = 0;  ///< beyond, and at the border of, what the calibration has seen
    double unmeasured = 0;         ///< no error is known, or the method does not price the kernel
    std::string what;              ///< of most of the time: `3.2 % on 7,140 gemm bf16 of this device`
    bool operator==(const Support&) const = default;
};

struct Estimate {
    std::string method;
    Seconds latency;
    Interval interval;
    std::optional<Joules> energy;
    std::optional<MemoryUse> memory;
    OperatorEstimates operators;
    std::vector<std::string> levels;  ///< names of memory levels that Bound::level speaks of
    std::vector<Ceiling> ceilings;
    Timeline timeline;
    NetworkUse networkUse;  ///< where messages were followed and a timeline was asked for
    std::vector<Figure> figures;
    std::vector<std::string> assumptions;
    Diagnostics warnings;
    /// The least time that the same kernels take at peak rates; nothing where a method knows no kernels.
    std::optional<Seconds> bound;
    std::optional<Support> support;  ///< nothing where the method cannot tell
    UsedParts parts;
    Provenance provenance;
    Seconds cost;  ///< wall time that this answer took
};

}  // namespace orrery
