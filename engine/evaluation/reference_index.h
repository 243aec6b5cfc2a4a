#pragma once

// Which operators of a question have been measured as kernels on this very device: what plots mark as truth.

#include "evaluation/reference_table.h"
#include "methods/method.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace orrery {

struct OperatorTruth {
    std::int32_t op = 0;
    double seconds = 0;  ///< all repeats
    ReferenceKind kind = ReferenceKind::Measured;
    const ReferenceTable* table = nullptr;  ///< of the index
};

/// Immutable; owns the tables that it speaks of.
class ReferenceIndex {
public:
    explicit ReferenceIndex(std::shared_ptr<const std::vector<ReferenceTable>> tables);
    bool empty() const { return devices_.empty(); }
    /// Rising by operator. Operators as they stand, unfused; only if the scenario's hardware is an unchanged device of
    /// the catalogue. O(operators).
    std::vector<OperatorTruth> truthOf(const Scenario& scenario) const;

private:
    struct Entry {
        float seconds = 0;
        std::int32_t table = 0;
    };
    struct Device {
        std::string id, hardwareName, hardwareHash;
        std::unordered_map<std::uint64_t, Entry> kernels;  ///< by kernelIdentity(); the first measurement of each
    };
    std::shared_ptr<const std::vector<ReferenceTable>> tables_;
    std::vector<Device> devices_;
};

}  // namespace orrery
