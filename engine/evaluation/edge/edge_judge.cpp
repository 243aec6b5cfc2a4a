#include "evaluation/edge/edge_judge.h"

#include "base/text/nearest.h"
#include "evaluation/edge/edge_shares.h"
#include "evaluation/edge/few_shot.h"
#include "learning/edge/dead_code.h"
#include "learning/edge/level_steps.h"
#include "learning/edge/next_samples.h"
#include "learning/edge/simple_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

namespace orrery {
namespace {

constexpr std::array<std::string_view, 5> modelWords{"additive", "graph", "operators", "convolution", "attention"};

void add(EdgeJudgement& sum, const EdgeJudgement& each, double share) {
    sum.mape += share * each.mape;
    sum.median += share * each.median;
    sum.spearman += share * each.spearman;
    sum.within10 += share * each.within10;
    sum.top += share * each.top;
    sum.coverage += share * each.coverage;
    sum.samples += share * each.samples;
    sum.simple += share * each.simple;
    sum.flags.far += each.flags.far;
    sum.flags.flagged += each.flags.flagged;
    sum.flags.both += each.flags.both;
    sum.noise += share * each.noise;
    sum.simpleMape += share * each.simpleMape;
    sum.simpleMedian += share * each.simpleMedian;
    sum.simpleSpearman += share * each.simpleSpearman;
}

// By features: networks of a search space.
struct SpaceJudge {
    const FewShot& task;
    FeatureRows known, asked;
    FeatureRows knownCounts, askedCounts;  // what the simple model is told by, whatever tells the others
    const EdgeShares* shares = nullptr;    // of the judged networks, where latencies are shares of what they take

    // By what known devices say of them, before any is measured; of so many at most, spread over the pool.
    std::vector<std::size_t> chosen(const std::string& target, const DevicePrior& prior,
                                    const FeatureRows& features) const {
        constexpr std::size_t most = 400;
        std::vector<std::size_t> rows = task.pool(target, false), some;
        for (std::size_t i = 0; i < std::min(most, rows.size()); ++i)
            some.push_back(rows[i * rows.size() / std::min(most, rows.size())]);
        FeatureRows candidates = features.none();
        for (const std::size_t r : some) {
            const auto row = features.row(r);
            candidates.add(row);
        }
        const auto model = prior.condition(features.none(), {});
        if (!model) return {};
        auto together = model->covariance(candidates);
        std::vector<std::size_t> all(some.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        std::vector<std::size_t> out;
        for (const NextSample& each : nextSamples(together, 0.05, all, task.protocol.samples))
            out.push_back(some[each.network]);
        return out;
    }

    Expected<EdgeJudgement> repeat(const std::string& target, const DevicePrior& prior, std::size_t repeat,
                                   EdgeResult& result) const {
        const EdgeTable& table = task.sampled(target);
        const FeatureRows& features = &table == &task.known ? known : asked;
        const auto rows = task.chooses() ? chosen(target, prior, features) : task.draw(target, repeat);
        const FeatureRows& counts = &table == &task.known ? knownCounts : askedCounts;
        FeatureRows taken = features.none(), counted = counts.none();
        std::vector<double> values, order;
        for (const std::size_t r : rows) {
            taken.add(features.row(r));
            counted.add(counts.row(r));
            values.push_back(table.values[table.target(target)][r]);
            order.push_back(table.index[r]);
        }
        const auto conditioned = conditionInOrder(prior, taken, values, order);
        if (!conditioned) return Unexpected(conditioned.error());
        const DeviceModel* const model = &conditioned->model;
        const bool last = repeat + 1 == task.protocol.repeats;
        if (auto note = levelNote(conditioned->levels, target); note && last) result.notes.push_back(std::move(*note));
        std::set<std::string_view> used;
        for (const std::size_t r : rows) used.insert(table.networks[r]);
        std::vector<EdgePrediction> told;
        FeatureRows judged = askedCounts.none();
        std::vector<double> usual;
        const std::clock_t start = std::clock();
        for (const std::size_t r : task.rowsOf(task.asked, target, task.protocol.test)) {
            if (used.contains(task.asked.networks[r])) continue;
            const double measured = task.asked.values[task.asked.target(target)][r];
            auto [said, doubt] = toldWithDoubt(*model, asked.row(r));
            said = conditioned->at(said, task.asked.index[r]);
            judged.add(askedCounts.row(r));
            if (shares) {
                said = shares->inUnits(r, said);
                if (doubt == EdgeDoubt::None && model->doubtful(said)) doubt = EdgeDoubt::Wide;
                usual.push_back(shares->usual[r]);
            }
            told.push_back({target, task.asked.networks[r], measured * (shares ? usual.back() : 1), said, doubt});
        }
        if (told.empty())
            return fail("edge.no-rows", fmt::format("no row of {} is left to judge", target), {}, "draw fewer samples");
        const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        result.secondsPerNetwork = std::max(result.secondsPerNetwork, spent / static_cast<double>(told.size()));
        std::vector<double> simple = ridgeOfFour(counted, values, judged);
        for (std::size_t i = 0; i < usual.size(); ++i) simple[i] *= usual[i];
        EdgeJudgement out = judgeEdgeRows(told, simple);
        out.noise = model->noise;
        out.samples = static_cast<double>(rows.size());
        out.simple = model->simple ? 1 : 0;
        if (table.space == "nasbench201" && task.protocol.model == EdgeModel::Additive)
            out.deadCode = toText(deadCodeRule(taken, values));
        if (last) result.last.insert(result.last.end(), told.begin(), told.end());
        return out;
    }
};

// The same of networks by name, in shares of what they usually take.
struct SharesJudge {
    EdgeShares known;
    std::optional<EdgeShares> other;
    std::optional<FewShot> task;
    std::optional<SpaceJudge> judge;

    Expected<void> prepare(const FewShot& of, std::span<const std::string> devices) {
        auto own = edgeShares(of.known, of.known, devices);
        if (!own) return Unexpected(own.error());
        known = std::move(*own);
        if (!of.same) {
            auto those = edgeShares(of.asked, of.known, devices);
            if (!those) return Unexpected(those.error());
            other = std::move(*those);
        }
        const EdgeShares& asked = other ? *other : known;
        task.emplace(FewShot{known.table, asked.table, of.protocol, of.same});
        judge.emplace(SpaceJudge{*task, {}, {}, {}, {}, &asked});
        return {};
    }
    std::size_t rowsOf(const std::string& target) const {
        return task->rowsOf(task->asked, target, task->protocol.test).size();
    }
};

// A name that stands nowhere is a slip; one that a target was not measured with leaves it with fewer samples.
Expected<void> checkReferences(const FewShot& task, const std::vector<std::string>& targets, EdgeResult& result) {
    const auto& references = task.protocol.references;
    const auto has = [](const EdgeTable& table, const std::string& name) {
        return std::find(table.networks.begin(), table.networks.end(), name) != table.networks.end();
    };
    for (const std::string& name : references) {
        if (has(task.known, name) || has(task.asked, name)) continue;
        return fail("edge.no-network", fmt::format("no network is named “{}”", name.substr(0, 80)),
                    "a network of the table", didYouMean(name, task.known.networks));
    }
    for (const std::string& target : targets) {
        if (references.empty()) break;
        const std::size_t found = task.draw(target, 0).size();
        if (found == references.size()) continue;
        result.notes.push_back(
            warning("edge.missing-reference",
                    fmt::format("{}: {} of {} references were measured on it", target, found, references.size())));
    }
    return {};
}

}  // namespace

std::string_view toText(EdgeModel model) {
    return modelWords[static_cast<std::size_t>(model)];
}

std::optional<EdgeModel> edgeModel(std::string_view text) {
    for (std::size_t i = 0; i < modelWords.size(); ++i)
        if (text == modelWords[i]) return static_cast<EdgeModel>(i);
    return std::nullopt;
}

GraphEdges edgesOf(EdgeModel model) {
    return model == EdgeModel::Convolution ? GraphEdges::Mean
           : model == EdgeModel::Attention ? GraphEdges::Attention
                                           : GraphEdges::None;
}

Expected<NetworkGraphs> edgeGraphs(const EdgeTable& table, EdgeModel model, const std::stop_token& stop) {
    const bool words = model == EdgeModel::Graph && graphShape(table.space, GraphForm::Words).columns > 0;
    return graphsOfCodes(table.space, table.input, table.networks, words ? GraphForm::Words : GraphForm::Operators,
                         stop);
}

Expected<EdgeResult> judgeEdge(const EdgeTable& known, const EdgeTable& asked, const EdgeProtocol& protocol) {
    const FewShot task{known, asked, protocol, &known == &asked};
    if (known.space != asked.space) {
        return fail("edge.space", fmt::format("{} and {} are of different spaces", known.path, asked.path),
                    "tables of one search space, or both with names");
    }
    const auto targets = task.judged();
    if (targets.empty())
        return fail("edge.no-targets", "no column is a device's latency", {}, "name columns with --target",
                    Place{.file = asked.path});
    for (const std::string& each : targets) {
        if (asked.target(each) >= asked.targets.size()) {
            return fail("edge.no-column", fmt::format("{} has no target “{}”", asked.path, each),
                        fmt::format("{} …", asked.targets.empty() ? "" : asked.targets.front()));
        }
    }
    for (const std::string& each : protocol.priorTargets) {
        if (known.target(each) >= known.targets.size())
            return fail("edge.no-column", fmt::format("{} has no target “{}” for the prior", known.path, each));
    }
    for (const std::string& each : targets) {
        if (known.input != asked.input && known.target(each) < known.targets.size()) {
            return fail("edge.space",
                        fmt::format("{} is of “{}” in {} and of “{}” in {}: samples of one input say nothing of "
                                    "another",
                                    each, known.input, known.path, asked.input, asked.path),
                        "networks of one input", "name the targets apart");
        }
    }
    EdgeResult result;
    if (auto good = checkReferences(task, targets, result); !good) return Unexpected(good.error());
    std::optional<SpaceJudge> judge;
    Expected<FeatureRows> counts, askedCounts;
    if (!known.space.empty()) {
        counts = edgeFeatures(known);
        if (!counts) return Unexpected(counts.error());
        askedCounts = task.same ? counts : edgeFeatures(asked);
        if (!askedCounts) return Unexpected(askedCounts.error());
        judge.emplace(SpaceJudge{task, *counts, *askedCounts, *counts, *askedCounts});
    }
    NetworkGraphs graphs, askedGraphs;
    const bool graph = protocol.model != EdgeModel::Additive;
    if (judge && graph) {
        auto own = edgeGraphs(known, protocol.model, protocol.stop);
        if (!own) return Unexpected(own.error());
        graphs = std::move(*own);
        if (!task.same) {
            auto others = edgeGraphs(asked, protocol.model, protocol.stop);
            if (!others) return Unexpected(others.error());
            askedGraphs = std::move(*others);
        }
    }
    std::optional<DevicePrior> prior;
    std::vector<std::string> priorOf;
    std::optional<SharesJudge> named;
    Diagnostic reason;
    for (const std::string& target : targets) {
        const auto names = task.priorFor(target);
        if (!judge && graph && (!named || names != priorOf)) {
            named.emplace();
            if (auto good = named->prepare(task, names); !good) return Unexpected(good.error());
        }
        const bool isNew = !prior || names != priorOf;
        if (isNew && (judge || named)) {
            const EdgeTable& table = named ? named->known.table : known;
            SpaceJudge& own = named ? *named->judge : *judge;
            std::vector<std::vector<double>> columns;
            for (const std::string& each : names) columns.push_back(table.values[table.target(each)]);
            if (graph) {
                const NetworkGraphs& all = named ? named->known.graphs : graphs;
                const auto learned = GraphFeatures::learn(
                    all, columns, {.edges = edgesOf(protocol.model), .seed = protocol.seed, .stop = protocol.stop});
                if (!learned) return Unexpected(learned.error());
                own.known = learned->rows(all, named ? nullptr : &*counts);
                own.asked = task.same ? own.known
                            : named   ? learned->rows(named->other->graphs)
                                      : learned->rows(askedGraphs, &*askedCounts);
                if (named) own.knownCounts = own.known, own.askedCounts = own.asked;
            }
            auto learned =
                DevicePrior::learn(own.known, columns, graph ? std::vector<std::size_t>{} : analyticColumns(known));
            if (!learned) return Unexpected(learned.error());
            learned->calibrate(own.known, columns, protocol.samples, protocol.seed);
            prior = std::move(*learned);
            result.knownDevices = prior->known();
        }
        priorOf = names;
        EdgeJudgement sum;
        std::map<std::string, std::size_t> rules;
        std::size_t done = 0;
        for (std::size_t r = 0; r < std::max<std::size_t>(1, protocol.repeats); ++r) {
            if (protocol.stop.stop_requested()) return fail("edge.stopped", "stopped");
            const auto one = judge   ? judge->repeat(target, *prior, r, result)
                             : named ? named->judge->repeat(target, *prior, r, result)
                                     : judgeByName(task, target, r, result);
            if (!one) {
                reason = one.error();
                continue;
            }
            add(sum, *one, 1);
            sum.rows = one->rows;
            sum.untold = named ? task.rowsOf(asked, target, protocol.test).size() - named->rowsOf(target) : one->untold;
            ++done;
            if (!one->deadCode.empty()) ++rules[one->deadCode];
        }
        if (done == 0) {
            result.leftOut.push_back(
                warning(reason.code, fmt::format("{}: {}", target, reason.message), reason.hint, reason.place));
            continue;
        }
        EdgeJudgement judgement;
        add(judgement, sum, 1 / static_cast<double>(done));
        judgement.rows = sum.rows;
        judgement.untold = sum.untold;
        judgement.target = target;
        std::size_t most = 0;
        for (const auto& [rule, count] : rules) {
            if (count > most) most = count, judgement.deadCode = rule;
        }
        result.targets.push_back(judgement);
    }
    if (result.targets.empty()) return Unexpected(reason);
    result.mean.target = "mean";
    for (const EdgeJudgement& each : result.targets) {
        add(result.mean, each, 1 / static_cast<double>(result.targets.size()));
        result.mean.rows += each.rows;
        result.mean.untold += each.untold;
    }
    return result;
}

}  // namespace orrery
