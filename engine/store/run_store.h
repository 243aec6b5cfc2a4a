#pragma once

// Runs in a SQLite database beside the project (WAL): every finished result survives the program being killed.

#include "study/study.h"

#include <memory>
#include <string>
#include <vector>

namespace orrery {

struct StoredRun {
    std::int64_t id = 0;
    std::string name;
    std::string started;  ///< ISO 8601, UTC
    bool finished = false;
    std::size_t results = 0, failures = 0;
};

struct StoredResult {
    std::string scenario, hardware, workload, method;
    std::string estimateJson;  ///< as in the `run` JSON contract; empty if it failed
    std::string failure;
    double latency = 0, low = 0, high = 0, cost = 0;
};

class RunStore {
public:
    static Expected<std::unique_ptr<RunStore>> open(const std::string& path);
    virtual ~RunStore() = default;
    virtual Expected<std::int64_t> beginRun(const Study& study) = 0;
    /// Durable when it returns.
    virtual Expected<void> add(std::int64_t run, const Study& study, const StudyResult& result) = 0;
    virtual Expected<void> finishRun(std::int64_t run) = 0;
    virtual Expected<std::vector<StoredRun>> runs() = 0;
    virtual Expected<std::vector<StoredResult>> results(std::int64_t run) = 0;
};

}  // namespace orrery
