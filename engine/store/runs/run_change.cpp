#include "store/runs/run_change.h"

#include "store/export/exports.h"

#include <fmt/format.h>

namespace orrery {

std::vector<std::string> whatChanged(const StoredResult& now, const StoredResult& then) {
    if (now.latency == then.latency && now.low == then.low && now.high == then.high) return {};
    const auto mine = readEstimateJson(now.estimateJson), theirs = readEstimateJson(then.estimateJson);
    if (!mine || !theirs) return {};
    const Estimate &a = mine->estimate, &b = theirs->estimate;
    const Provenance &to = a.provenance, &from = b.provenance;
    std::vector<std::string> changed;
    if (to.version != from.version) changed.push_back(fmt::format("version {}, was {}", to.version, from.version));
    const auto say = [&](bool unlike, const char* what) {
        if (unlike) changed.emplace_back(what);
    };
    say(to.hardwareHash != from.hardwareHash, "hardware");
    say(to.workloadHash != from.workloadHash, "workload");
    say(to.task != from.task || to.taskHash != from.taskHash, "task");
    say(to.plan != from.plan, "plan");
    say(to.seed != from.seed, "seed");
    say(a.assumptions != b.assumptions, "assumptions");
    say(changed.empty(), "calibrations or the program");
    return changed;
}

}  // namespace orrery
