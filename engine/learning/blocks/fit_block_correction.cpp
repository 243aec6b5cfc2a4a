#include "learning/blocks/fit_block_correction.h"

#include "base/hash.h"
#include "learning/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace orrery::block {

namespace {

constexpr std::size_t leastToFit = 200, leastOfPart = 20;
constexpr std::size_t mostMnemonics = 112;  ///< with the plain features within largestInputs
constexpr std::size_t leastUses = 20;       ///< blocks to fit that have a mnemonic, for a column of its own
constexpr double scaleFloor = 0.005;        ///< residuals below are alike
// Below what two measurements of one block differ by: others who measured BHive's blocks again were 2.5 to 4.4 % off.
constexpr double quiet = 0.015;

struct Row {
    Prediction prediction;
    BlockPart part = BlockPart::Fit;
    double measured = 0, ratio = 0;  ///< ratio: ln(measured ÷ bounds)
};

struct Rows {
    std::vector<Row> rows;
    std::vector<double> features;  ///< rows × columns
    std::size_t columns = 0;
    std::span<const double> of(std::size_t r) const { return std::span(features).subspan(r * columns, columns); }
    std::vector<std::size_t> among(BlockPart part) const {
        std::vector<std::size_t> found;
        for (std::size_t r = 0; r < rows.size(); ++r)
            if (rows[r].part == part) found.push_back(r);
        return found;
    }
};

TrainingData dataOf(const Rows& all, std::span<const std::size_t> chosen, const std::vector<std::string>& names,
                    const std::function<double(std::size_t)>& target) {
    TrainingData data;
    data.names = names;
    for (const std::size_t r : chosen) {
        const auto row = all.of(r);
        data.features.insert(data.features.end(), row.begin(), row.end());
        data.target.push_back(target(r));
    }
    return data;
}

// Mnemonics that enough blocks to fit have, the most frequent first.
MnemonicColumns columnsOf(const std::vector<Code>& codes, const std::vector<BlockPart>& parts) {
    std::map<std::string, std::size_t> uses;
    for (std::size_t r = 0; r < codes.size(); ++r) {
        if (parts[r] != BlockPart::Fit) continue;
        std::map<std::string, bool> here;
        for (const Instruction& one : codes[r].instructions) here[mnemonicOf(one.key)] = true;
        for (const auto& [name, its] : here) uses[name] += its;
    }
    std::vector<std::pair<std::string, std::size_t>> order(uses.begin(), uses.end());
    std::erase_if(order, [](const auto& each) { return each.second < leastUses; });
    std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
    if (order.size() > mostMnemonics) order.resize(mostMnemonics);
    std::vector<std::string> names;
    for (auto& [name, its] : order) names.push_back(std::move(name));
    return MnemonicColumns(std::move(names));
}

// The k-th least of n + 1, as split conformal prediction takes it.
double leftOutEnd(std::vector<double>& values, double share) {
    std::ranges::sort(values);
    const double at = share * static_cast<double>(values.size() + 1) - 1;
    const auto last = static_cast<double>(values.size() - 1);
    const double place = share < 0.5 ? std::floor(at) : std::ceil(at);
    return values[static_cast<std::size_t>(std::clamp(place, 0.0, last))];
}

struct Fit {
    const std::shared_ptr<const Core>& core;
    std::span<const MeasuredBlock> blocks;
    const BlockFitOptions& options;
    Analyser analyser{core};
    std::vector<Code> codes{};
    Rows all{};
    std::vector<std::string> names{};
    BlockFit found{};
    BlockCorrection& made = found.correction;

    Expected<void> read();
    Expected<RegressorPtr> train(std::span<const std::size_t> fitted, std::span<const std::size_t> stopping, int steps,
                                 std::uint64_t seed, double from, double to);
    Expected<void> trainRatio();
    Expected<void> trainScale();
    void findClasses();
    void judge();
    void said(double share) const {
        if (options.onProgress) options.onProgress(share);
    }
};

Expected<void> Fit::read() {
    std::vector<BlockPart> parts;
    std::vector<double> cycles;
    for (const MeasuredBlock& block : blocks) {
        if (!(block.cycles > 0) || !std::isfinite(block.cycles))
            return fail("block.measured", fmt::format("a block is said to take {} cycles", block.cycles),
                        "a number above 0");
        Code code;
        if (!decode(block.bytes, code)) continue;
        parts.push_back(partOf(code, options.seed));
        cycles.push_back(block.cycles);
        codes.push_back(std::move(code));
    }
    for (const BlockPart part : {BlockPart::Fit, BlockPart::Stop, BlockPart::Reach, BlockPart::Judge}) {
        const auto count = static_cast<std::size_t>(std::ranges::count(parts, part));
        if (count < (part == BlockPart::Fit ? leastToFit : leastOfPart)) {
            return fail("block.few-blocks",
                        fmt::format("{} blocks can be read, too few to learn from and to judge by", parts.size()),
                        "400 blocks or more", "without a correction the bounds stand");
        }
    }
    made.quiet = quiet;
    made.mnemonics = columnsOf(codes, parts);
    for (const auto each : plainFeatureNames()) names.emplace_back(each);
    for (const auto& each : made.mnemonics.names()) names.push_back(each);
    all.columns = names.size();
    all.features.resize(codes.size() * all.columns);
    all.rows.resize(codes.size());
    for (std::size_t r = 0; r < codes.size(); ++r) {
        Row& row = all.rows[r];
        analyser.predict(codes[r], row.prediction);
        row.part = parts[r];
        row.measured = cycles[r];
        row.ratio = std::log(cycles[r] / std::max(row.prediction.cycles, leastCycles));
        blockFeatures(analyser, codes[r], row.prediction, made.mnemonics,
                      std::span(all.features).subspan(r * all.columns, all.columns));
    }
    return {};
}

Expected<RegressorPtr> Fit::train(std::span<const std::size_t> fitted, std::span<const std::size_t> stopping, int steps,
                                  std::uint64_t seed, double from, double to) {
    const auto target = [&](std::size_t r) { return all.rows[r].ratio; };
    const TrainingData data = dataOf(all, fitted, names, target), held = dataOf(all, stopping, names, target);
    TrainingOptions how;
    how.kind = "compact-trees";
    how.steps = steps;
    how.depth = 10;
    how.leaves = 96;
    how.rate = 0.05;
    how.subsample = 0.8;
    how.featureShare = 0.5;
    how.minimumLeaf = 8;
    how.loss = "huber";
    how.seed = seed;
    how.stop = options.stop;
    how.onStep = [&](const TrainingPoint& point) { said(from + (to - from) * point.step / std::max(1, steps)); };
    return orrery::train(data, &held, how);
}

Expected<void> Fit::trainRatio() {
    const auto fitted = all.among(BlockPart::Fit), stopping = all.among(BlockPart::Stop);
    auto model = train(fitted, stopping, options.steps, options.seed, 0.05, 0.5);
    if (!model) return Unexpected(std::move(model.error()));
    made.ratio = std::move(*model);
    std::vector<double> plain;
    const std::size_t columns = plainFeatureNames().size();
    for (const std::size_t r : fitted) {
        const auto row = all.of(r).first(columns);
        plain.insert(plain.end(), row.begin(), row.end());
    }
    made.domain = fitDomain(plain, columns);
    return {};
}

// How far off it is, from halves of the fitted blocks that foretell each other.
Expected<void> Fit::trainScale() {
    const auto fitted = all.among(BlockPart::Fit), stopping = all.among(BlockPart::Stop);
    std::vector<double> far(all.rows.size(), 0);
    for (int half = 0; half < 2; ++half) {
        std::vector<std::size_t> mine, others;
        for (std::size_t i = 0; i < fitted.size(); ++i)
            (static_cast<int>(i % 2) == half ? mine : others).push_back(fitted[i]);
        const auto model =
            train(others, stopping, options.steps / 2, options.seed + 1 + static_cast<std::uint64_t>(half),
                  0.5 + 0.2 * half, 0.7 + 0.2 * half);
        if (!model) return Unexpected(model.error());
        for (const std::size_t r : mine)
            far[r] = std::log(std::abs(all.rows[r].ratio - (*model)->predict(all.of(r))) + scaleFloor);
    }
    const TrainingData data = dataOf(all, fitted, names, [&](std::size_t r) { return far[r]; });
    TrainingOptions how;
    how.kind = "compact-trees";
    how.steps = 120;
    how.depth = 6;
    how.leaves = 32;
    how.rate = 0.08;
    how.subsample = 0.8;
    how.featureShare = 0.5;
    how.minimumLeaf = 20;
    how.loss = "squared";
    how.seed = options.seed;
    how.stop = options.stop;
    auto model = orrery::train(data, nullptr, how);
    if (!model) return Unexpected(std::move(model.error()));
    made.scale = std::move(*model);
    return {};
}

void Fit::findClasses() {
    for (std::size_t b = 0; b < boundCount; ++b) {
        double before = 0, after = 0;
        std::vector<double> residuals;
        for (const std::size_t r : all.among(BlockPart::Reach)) {
            const Row& row = all.rows[r];
            if (static_cast<std::size_t>(row.prediction.binding) != b) continue;
            const double learned = made.learned(all.of(r));
            before += std::abs(std::exp(-row.ratio) - 1);
            after += std::abs(std::exp(learned - row.ratio) - 1);
            residuals.push_back((row.ratio - learned) / std::exp(made.scale->predict(all.of(r))));
        }
        auto& its = made.classes[b];
        if (residuals.size() < leastOfPart) continue;
        its.helps = after < before;
        its.below = leftOutEnd(residuals, 0.05);
        its.above = leftOutEnd(residuals, 0.95);
    }
}

double widthOf(const Prediction& prediction) {
    return prediction.low > 0 ? prediction.high / prediction.low : 1;
}

void Fit::judge() {
    CorrectionEvidence& its = made.evidence;
    its.fitted = all.among(BlockPart::Fit).size();
    std::vector<double> features;
    double inside = 0;
    for (const std::size_t r : all.among(BlockPart::Judge)) {
        Prediction prediction;
        analyser.predict(codes[r], prediction);
        const double truth = all.rows[r].measured;
        found.before.push_back(prediction.cycles);
        its.widthBefore += widthOf(prediction);
        its.errorBefore += std::abs(prediction.cycles / truth - 1);
        made.apply(analyser, codes[r], prediction, features);
        found.after.push_back(prediction.cycles);
        its.widthAfter += widthOf(prediction);
        its.errorAfter += std::abs(prediction.cycles / truth - 1);
        inside += prediction.low <= truth && truth <= prediction.high;
        found.measured.push_back(truth);
    }
    its.judged = found.measured.size();
    const auto count = static_cast<double>(its.judged);
    for (double* each : {&its.errorBefore, &its.errorAfter, &its.widthBefore, &its.widthAfter}) *each /= count;
    its.coverage = inside / count;
}

}  // namespace

BlockPart partOf(const Code& code, std::uint64_t seed) {
    Hash hash;
    for (const Instruction& one : code.instructions) hash.add(one.key.packed());
    switch (mixedBits(hash.add(seed).value()) % 10) {
        case 0:
        case 1:
            return BlockPart::Judge;
        case 2:
            return BlockPart::Reach;
        case 3:
            return BlockPart::Stop;
        default:
            return BlockPart::Fit;
    }
}

Expected<BlockFit> fitBlockCorrection(const std::shared_ptr<const Core>& core, std::span<const MeasuredBlock> blocks,
                                      const BlockFitOptions& options) {
    Fit fit{core, blocks, options};
    const auto cancelled = [&] { return options.stop.stop_requested(); };
    const auto stopped = [] { return fail("study.cancelled", "the fit was stopped"); };
    if (auto done = fit.read(); !done) return Unexpected(std::move(done.error()));
    if (cancelled()) return stopped();
    if (auto done = fit.trainRatio(); !done) return Unexpected(std::move(done.error()));
    if (cancelled()) return stopped();
    if (auto done = fit.trainScale(); !done) return Unexpected(std::move(done.error()));
    if (cancelled()) return stopped();
    fit.findClasses();
    fit.made.core = core->rules.id;
    fit.made.coreHash = coreHash(*core);
    fit.made.source = options.source;
    fit.made.date = options.date;
    auto shipped = parseBlockCorrection(writeBlockCorrection(fit.made), "the correction");
    if (!shipped) return Unexpected(std::move(shipped.error()));
    fit.made = std::move(*shipped);
    fit.judge();
    fit.said(1);
    return std::move(fit.found);
}

}  // namespace orrery::block
