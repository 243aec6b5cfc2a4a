#pragma once

// Runs in a SQLite database beside the project (WAL): every finished result survives the program being killed.

#include "study/study.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct StoredRun {
    std::int64_t id = 0;
    std::string name;
    std::string started;  ///< ISO 8601, UTC
    bool finished = false;
    std::size_t results = 0, failures = 0;
    std::vector<std::string> methods;  ///< ids or choices, in the study's order
    std::uint64_t seed = 0;
};

struct StoredResult {
    std::string scenario, hardware, workload, method;
    std::string estimateJson;  ///< as in the `run` JSON contract; empty if it failed
    std::string failure;
    double latency = 0, low = 0, high = 0, cost = 0;
    std::size_t scenarioIndex = 0;
    std::string scenarioJson;  ///< as in the `run` JSON contract
    std::string failureJson;   ///< the whole diagnostic; empty if it succeeded
};

/// A stored run as a study with results, for the exporters. Designs carry their names only, workloads their names,
/// options, totals and the names, types, kinds and repeats of their operators.
struct RestoredRun {
    Study study;
    std::vector<StudyResult> results;
};

/// A run that goes on, with what is known of it.
struct ContinuedRun {
    std::int64_t id = 0;
    std::vector<StudyResult> known;  ///< in the order of runStudy
};

class RunStore {
public:
    /// Opens or makes the database. Fails if the file is something else, damaged, written by a newer Orrery, or cannot
    /// be opened. A read-only file can be opened and read; writing then fails. Safe to use from several threads.
    static Expected<std::unique_ptr<RunStore>> open(const std::string& path);
    virtual ~RunStore() = default;
    /// With the keys of its pairs (pairKeys()) each pair is stored once, at its place in the order of runStudy whatever
    /// order they come in, and the run can be gone on with.
    virtual Expected<std::int64_t> beginRun(const Study& study, std::span<const std::string> keys = {}) = 0;
    /// The newest run that asks exactly these pairs, or else a new one; with the answers that any run of this file has
    /// for them, which are then this run's too.
    virtual Expected<ContinuedRun> continueRun(const Study& study, std::span<const std::string> keys) = 0;
    /// Durable, all of them or none, when it returns. A pair with a key that is stored already is left as it is.
    virtual Expected<void> add(std::int64_t run, const Study& study, std::span<const StudyResult> results) = 0;
    Expected<void> add(std::int64_t run, const Study& study, const StudyResult& result) {
        return add(run, study, std::span(&result, 1));
    }
    virtual Expected<void> finishRun(std::int64_t run) = 0;
    virtual Expected<std::vector<StoredRun>> runs() = 0;
    /// By scenario, then as they came.
    virtual Expected<std::vector<StoredResult>> results(std::int64_t run) = 0;
    /// SQLite's own check of the whole file: empty if it is sound.
    virtual Expected<Diagnostics> check() = 0;
};

/// Results stand in the order of runStudy (scenario, then method), whatever order they came in.
Expected<RestoredRun> restoreRun(RunStore& store, std::int64_t run);

}  // namespace orrery
