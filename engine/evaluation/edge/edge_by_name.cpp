#include "base/maths.h"
#include "evaluation/edge/few_shot.h"
#include "learning/edge/next_samples.h"
#include "learning/edge/simple_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

namespace orrery {
namespace {

// A sample ties a device to those that have the same network: the half that most devices have, if that is enough.
void wellKnown(const NetworkMatrix& matrix, std::vector<std::size_t>& candidates, std::size_t count) {
    std::vector<double> shares;
    for (const std::size_t each : candidates) shares.push_back(matrix.knownShare(each));
    const double middle = quantileType7(shares, 0.5);
    std::vector<std::size_t> kept;
    for (const std::size_t each : candidates)
        if (matrix.knownShare(each) >= middle) kept.push_back(each);
    if (kept.size() >= count) candidates = std::move(kept);
}

}  // namespace

Expected<NamedNetworks> namedNetworks(const FewShot& task, const std::string& target) {
    NamedNetworks out;
    const auto addAll = [&](const EdgeTable& table) {
        for (const std::string& name : table.networks)
            if (out.place.emplace(name, out.names.size()).second) out.names.push_back(name);
    };
    addAll(task.known);
    addAll(task.asked);
    std::vector<std::vector<double>>& devices = out.devices;
    NetworkNames names{out.names, {}, {}, {}};
    std::vector<std::string> facts;
    for (const EdgeTable* table : {&task.known, &task.asked})
        for (const std::string& each : table->facts)
            if (std::find(facts.begin(), facts.end(), each) == facts.end()) facts.push_back(each);
    if (!facts.empty()) names.shapes.assign(out.names.size(), std::vector<double>(facts.size(), std::nan("")));
    for (const EdgeTable* table : {&task.known, &task.asked}) {
        for (std::size_t c = 0; c < table->facts.size(); ++c) {
            const auto at =
                static_cast<std::size_t>(std::find(facts.begin(), facts.end(), table->facts[c]) - facts.begin());
            for (std::size_t n = 0; n < table->networks.size(); ++n) {
                double& fact = names.shapes[out.place.find(table->networks[n])->second][at];
                if (std::isnan(fact)) fact = table->shapes[n][c];
            }
        }
    }
    for (const std::string& each : task.priorFor(target)) {
        const std::size_t at = task.known.target(each);
        if (at >= task.known.targets.size()) continue;
        std::vector<double> row(out.names.size(), std::nan(""));
        const auto fill = [&](const EdgeTable& table, std::size_t column) {
            for (std::size_t r = 0; column < table.targets.size() && r < table.networks.size(); ++r) {
                double& cell = row[out.place.find(table.networks[r])->second];
                if (std::isnan(cell)) cell = table.values[column][r];
            }
        };
        fill(task.known, at);
        if (!task.same) fill(task.asked, task.asked.target(each));
        devices.push_back(std::move(row));
        names.devices.push_back(task.known.describedAs(at));
        if (!task.known.groups.empty()) names.groups.push_back(task.known.groups[at]);
    }
    auto matrix = NetworkMatrix::learn(devices, names);
    if (!matrix) return Unexpected(matrix.error());
    out.matrix = std::move(*matrix);
    return out;
}

Expected<EdgeJudgement> judgeByName(const FewShot& task, const std::string& target, std::size_t repeat,
                                    EdgeResult& result) {
    const EdgeTable& table = task.sampled(target);
    auto named = namedNetworks(task, target);
    if (!named) return Unexpected(named.error());
    NetworkMatrix& matrix = named->matrix;
    result.knownDevices = matrix.devices();
    const std::size_t networks = named->names.size();
    std::vector<std::size_t> measured;
    std::vector<double> values;
    const auto take = [&](std::size_t row) {
        const std::size_t at = named->place.find(table.networks[row])->second;
        if (!matrix.tells(at)) return;  // says nothing of this device
        measured.push_back(at);
        values.push_back(table.values[table.target(target)][row]);
    };
    if (task.chooses()) {
        std::vector<std::size_t> candidates;
        std::map<std::size_t, std::size_t> rowOf;
        for (const std::size_t r : task.pool(target, false)) {
            const std::size_t at = named->place.find(table.networks[r])->second;
            if (!matrix.tells(at)) continue;
            candidates.push_back(at);
            rowOf.emplace(candidates.back(), r);
        }
        wellKnown(matrix, candidates, task.protocol.samples);
        auto together = matrix.covariance();
        for (const NextSample& each : nextSamples(together, matrix.rest(), candidates, task.protocol.samples))
            take(rowOf.at(each.network));
    } else {
        for (const std::size_t r : task.draw(target, repeat)) take(r);
    }
    if (measured.empty()) {
        return fail("edge.no-samples", fmt::format("no network that other devices have was measured on {}", target),
                    "one or more", "networks without a code need a sample to set the level");
    }
    matrix.tune(measured, task.protocol.seed + repeat);
    const std::clock_t start = std::clock();
    const auto all = matrix.predict(measured, values, table.describedAs(table.target(target)));
    if (!all) return Unexpected(all.error());
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    result.secondsPerNetwork = std::max(result.secondsPerNetwork, taken / static_cast<double>(networks));
    const std::set<std::size_t> used(measured.begin(), measured.end());
    const auto likest = likestDevice(named->devices, measured, values);
    std::vector<double> simple;
    std::vector<EdgePrediction> told;
    std::size_t untold = 0;
    for (const std::size_t r : task.rowsOf(task.asked, target, task.protocol.test)) {
        const std::size_t at = named->place.find(task.asked.networks[r])->second;
        if (used.contains(at)) continue;
        if (!matrix.tells(at)) {
            ++untold;
            continue;
        }
        const EdgeDoubt doubt = matrix.doubtful((*all)[at]) ? EdgeDoubt::Wide : EdgeDoubt::None;
        told.push_back(
            {target, task.asked.networks[r], task.asked.values[task.asked.target(target)][r], (*all)[at], doubt});
        simple.push_back(likest[at]);
    }
    if (told.empty())
        return fail("edge.no-rows", fmt::format("no row of {} is left to judge", target), {}, "measure fewer networks");
    if (repeat + 1 == task.protocol.repeats) result.last.insert(result.last.end(), told.begin(), told.end());
    EdgeJudgement out = judgeEdgeRows(told, simple);
    out.noise = matrix.rest();
    out.samples = static_cast<double>(measured.size());
    out.simple = matrix.simple() ? 1 : 0;
    out.untold = untold;
    return out;
}

}  // namespace orrery
