#pragma once

// The truth to compare with.

#include "base/quantity.h"
#include "methods/answer/stated_errors.h"
#include "workload/workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

enum class ReferenceKind : std::uint8_t {
    Measured,   ///< on the device
    Summed,     ///< of measured parts
    Simulated,  ///< by a slower method
};
std::string_view toText(ReferenceKind kind);

/// One value with where it comes from.
struct Reference {
    std::string what;  ///< `matmul 1×4096×4096 bf16`
    Seconds value;
    std::string device;    ///< id in the hardware catalogue
    std::string software;  ///< `TensorRT-LLM 1.3.0rc20`
    std::string source;    ///< data set and snapshot
    double noise = 0;      ///< relative standard deviation of repeated measurements; 0 if not known
    ReferenceKind kind = ReferenceKind::Measured;
};

/// Many values of one kind from one device: row i is operator i of the graph.
struct ReferenceSet {
    std::string device, software, source;
    double noise = 0;
    ReferenceKind kind = ReferenceKind::Measured;
    OperatorFamily family = OperatorFamily::MatrixProduct;
    Graph graph;
    std::vector<double> seconds;

    std::size_t size() const { return seconds.size(); }
    Reference at(std::size_t i) const;
    /// The rows as a workload, so that any method can be asked about them; operators are independent of each other.
    WorkloadPtr workload() const;
};

}  // namespace orrery
