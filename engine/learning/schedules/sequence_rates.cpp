#include "learning/schedules/sequence_rates.h"

#include "base/executor.h"
#include "learning/networks/adam.h"
#include "learning/networks/rank_loss.h"
#include "learning/networks/tape.h"
#include "learning/schedules/schedule_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

// Chosen on TLCBench's operators left out one by one, as the trees' settings were.
constexpr std::size_t width = 24, heads = 3, members = 2;
constexpr std::size_t together = 48;                        // schedules of one operator in a batch
constexpr std::size_t usualRounds = 30, leastSteps = 1000;  // over all rows; of small logs more
constexpr double rate = 4e-3;
constexpr float decay = 1e-3f;
constexpr double temperature = 0.1, rankWeight = 0.1;  // rates differ by a tenth or so

struct SequenceNetwork {
    TapeParameters<float> parameters;
    DenseLayer embed, query, key, value, mixed, first, second, out;

    explicit SequenceNetwork(std::uint64_t seed) {
        RandomStream random(seed, 3);
        embed = parameters.dense(tokenWidth, width, random);
        for (DenseLayer* each : {&query, &key, &value, &mixed, &first, &second})
            *each = parameters.dense(width, width, random);
        out = parameters.dense(width, 1, random);
    }

    /// A rate per set.
    Tape<float>::Node on(Tape<float>& tape, std::span<const float> tokens, const Neighbours& whole,
                         const Neighbours& sets) const {
        Tape<float>::Node x = tape.rectified(tape.dense(tape.rows(tokenWidth, tokens), embed));
        const Tape<float>::Node seen =
            tape.attended(tape.dense(x, query), tape.dense(x, key), tape.dense(x, value), whole, heads);
        x = tape.normalised(tape.sum(x, tape.dense(seen, mixed)));
        for (const DenseLayer& each : {first, second}) x = tape.sum(x, tape.rectified(tape.dense(x, each)));
        return tape.dense(tape.gathered(x, sets), out);
    }
};

// Tokens of some schedules, and which belong together.
struct Sequences {
    std::vector<float> tokens;
    Neighbours whole, sets;
    void clear() {
        tokens.clear();
        whole = sets = {};
    }
    void add(std::span<const float> some) {
        const std::size_t begin = tokens.size() / tokenWidth, count = some.size() / tokenWidth;
        tokens.insert(tokens.end(), some.begin(), some.end());
        for (std::size_t i = 0; i < count; ++i) whole.addRange(begin, count);
        sets.addRange(begin, count);
    }
};

class SequenceRates final : public RateModel {
public:
    explicit SequenceRates(std::vector<SequenceNetwork> all) : networks_(std::move(all)) {}
    double rate(const TunedRow& row) const override {
        thread_local std::vector<float> tokens;
        thread_local Sequences one;
        tokens.clear();
        appendTokens(row, tokens);
        one.clear();
        one.add(tokens);
        double sum = 0;
        for (const SequenceNetwork& each : networks_) {
            Tape<float> tape(each.parameters);
            sum += double(tape.valuesOf(each.on(tape, one.tokens, one.whole, one.sets))[0]);
        }
        return sum / static_cast<double>(networks_.size());
    }

private:
    std::vector<SequenceNetwork> networks_;
};

// Tokens of all rows, once.
struct TokenTable {
    std::vector<float> tokens;
    std::vector<std::size_t> first{0};
    std::span<const float> of(std::size_t row) const {
        return std::span(tokens).subspan(first[row] * tokenWidth, (first[row + 1] - first[row]) * tokenWidth);
    }
};

void trainMember(SequenceNetwork& network, const RatedSchedules& schedules, const TokenTable& table, std::uint64_t seed,
                 const std::stop_token& stop) {
    RandomStream random(seed, 4);
    std::vector<float> gradient(network.parameters.values.size());
    Adam<float> adam;
    Tape<float> tape(network.parameters);
    Sequences batch;
    std::vector<double> rates;
    std::vector<float> slopes;
    // Each round takes every row once: operators in pieces, in an order of their own.
    std::vector<std::vector<std::size_t>> rows;
    std::size_t pieces = 0, begin = 0;
    for (const std::size_t end : schedules.ends) {
        rows.emplace_back(end - begin);
        std::iota(rows.back().begin(), rows.back().end(), begin);
        pieces += (rows.back().size() + together - 1) / together;
        begin = end;
    }
    const std::size_t rounds = std::max(usualRounds, (leastSteps + pieces - 1) / pieces);
    const auto steps = static_cast<double>(rounds * pieces);
    double done = 0;
    const auto shuffle = [&](auto& all) {
        for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
    };
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<std::span<const std::size_t>> order;
        for (auto& some : rows) {
            shuffle(some);
            for (std::size_t at = 0; at < some.size(); at += together)
                order.push_back(std::span(some).subspan(at, std::min(together, some.size() - at)));
        }
        shuffle(order);
        for (const auto& some : order) {
            if (stop.stop_requested()) return;
            batch.clear();
            rates.clear();
            for (const std::size_t row : some) {
                batch.add(table.of(row));
                rates.push_back(schedules.rates[row]);
            }
            tape.clear();
            const Tape<float>::Node told = network.on(tape, batch.tokens, batch.whole, batch.sets);
            const auto said = tape.valuesOf(told);
            slopes.assign(rates.size(), 0);
            for (std::size_t i = 0; i < rates.size(); ++i)
                slopes[i] = 2 * (said[i] - float(rates[i])) / float(rates.size());
            addRankSlopes(said, rates, temperature, rankWeight, slopes);
            tape.backward(told, slopes, gradient);
            adam.step(network.parameters.values, gradient, float(warmedAndCooled(rate, done / steps)), decay, 1);
            ++done;
        }
    }
}

}  // namespace

Expected<RateModelPtr> trainSequence(const RatedSchedules& schedules, const ScheduleTraining& options) {
    TokenTable table;
    for (const TunedRow* row : schedules.rows)
        table.first.push_back(table.first.back() + appendTokens(*row, table.tokens));
    std::vector<SequenceNetwork> networks;
    for (std::size_t i = 0; i < members; ++i) networks.emplace_back(options.seed + i);
    makeDefaultExecutor(options.threads)->forEach(members, [&](std::size_t i) {
        trainMember(networks[i], schedules, table, options.seed + i, options.stop);
    });
    if (options.stop.stop_requested()) return fail("study.cancelled", "the fit was stopped");
    return std::make_shared<const SequenceRates>(std::move(networks));
}

}  // namespace orrery
