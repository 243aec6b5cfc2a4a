#include "methods/system/training/closed_step.h"

#include "methods/system/training/copy_exchanges.h"
#include "methods/system/training/offload.h"
#include "methods/system/training/pipeline_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace orrery {

namespace {

struct Range {
    std::int64_t begin = 0, end = 0;
};

/// A plan, worked through once.
class ClosedStep {
public:
    ClosedStep(const StepPieces& pieces, const ShardFacts& facts, const Plan& plan, std::int64_t microbatches,
               const ExchangeCache& exchanges, const std::stop_token& stop)
        : pieces_(pieces),
          facts_(facts),
          plan_(plan),
          microbatches_(microbatches),
          chunks_(plan.pipeline * plan.interleave),
          exchanges_(exchanges),
          copies_(plan, exchanges, stop),
          stop_(stop) {}

    Expected<StepFigures> make() {
        computing_ = facts_.factor;
        if (facts_.stack && facts_.stack->overlap > 0 && copies_.any()) slowBeside();
        for (std::int64_t c = 0; c < chunks_; ++c) addChunk(rangeOf(c));
        const auto message = plan_.pipeline > 1
                                 ? exchanges_.price(std::nullopt, pieces_.stageBytes,
                                                    {plan_.pipeline, plan_.tensor * plan_.context * plan_.data}, stop_)
                                 : ExchangePrice{};
        if (!message) return Unexpected(message.error());
        const std::vector<double> waits = waitsBeside();
        PipelineTurns turns{forward_, backward_,        forwardComputed_, backwardComputed_, weights_,
                            waits,    message->seconds, plan_.pipeline,   microbatches_,     alike()};
        const Sides passes = larger(pipelineSeconds(turns, plan_), linkBound()) + began_;
        if (plan_.pipeline > 1) {
            PipelineTurns free = turns;
            free.message = {};
            figures_.pipeline = passes.likely() - began_.likely() - pipelineSeconds(free, plan_).likely();
        }
        endStages(passes, turns);
        if (copies_.problem()) return Unexpected(*copies_.problem());
        if (problem_) return Unexpected(*problem_);
        sumUp(message->joules);
        return std::move(figures_);
    }

private:
    std::vector<TurnBit> bitsOf(const Range& range, bool forward) const {
        std::vector<TurnBit> bits;
        for (std::int64_t i = 0; i < range.end - range.begin; ++i) {
            const LayerPiece& piece = pieceAt(forward ? range.begin + i : range.end - 1 - i);
            const LayerWay& way = forward ? piece.forward : piece.backward;
            const int many = std::max(1, static_cast<int>(way.exchanges));
            bits.insert(bits.end(), static_cast<std::size_t>(many),
                        {slow_ * way.compute / many, way.sent.likely() / many});
        }
        return bits;
    }
    // Turns beside each other are in each other's way. Chunks that are neither first nor last are as those in the
    // middle.
    std::vector<double> waitsBeside() const {
        if (plan_.schedule != PipelineSchedule::DualPipe) return {};
        std::vector<double> waits(static_cast<std::size_t>(chunks_), 1.0);
        for (const std::int64_t chunk : {chunks_ / 2, std::int64_t{0}, chunks_ - 1}) {
            const auto forward = bitsOf(rangeOf(chunk), true), backward = bitsOf(rangeOf(chunks_ - 1 - chunk), false);
            double computed = 0, sent = 0, longer = 0;
            for (const auto* bits : {&forward, &backward}) {
                double sum = 0;
                for (const TurnBit& bit : *bits)
                    sum += bit.computed + bit.sent, computed += bit.computed, sent += bit.sent;
                longer = std::max(longer, sum);
            }
            const double least = std::max({computed, sent, longer});
            const double its = least > 0 ? besideSeconds(forward, backward) / least : 1;
            if (chunk == chunks_ / 2) waits.assign(waits.size(), its);
            waits[static_cast<std::size_t>(chunk)] = its;
        }
        return waits;
    }
    Range rangeOf(std::int64_t chunk) const {
        Range range{chunk * pieces_.dealt / chunks_ + pieces_.front,
                    (chunk + 1) * pieces_.dealt / chunks_ + pieces_.front};
        if (chunk == 0) range.begin = 0;
        if (chunk + 1 == chunks_) range.end = pieces_.count;
        return range;
    }
    Sides onLink(double bytes) const {
        Sides seconds;
        seconds.at.fill(facts_.host.seconds(bytes));
        return seconds;
    }
    // What a stage and its host exchange in a step, after the first micro-batch has come and before the last one goes.
    Sides linkBound() const {
        Sides most, before;
        for (std::int64_t s = 0; s < plan_.pipeline && !onHostLink_.empty(); ++s) {
            Sides sum;
            for (std::int64_t c = s; c < static_cast<std::int64_t>(onHostLink_.size()); c += plan_.pipeline)
                sum += onHostLink_[static_cast<std::size_t>(c)];
            const double pairs = plan_.schedule == PipelineSchedule::DualPipe ? 0.5 : 1;
            most = larger(most, sum * (static_cast<double>(microbatches_) * pairs) + before);
            if (plan_.schedule != PipelineSchedule::DualPipe)
                before += forward_[static_cast<std::size_t>(s)] + backward_[static_cast<std::size_t>(s)];
        }
        return most;
    }
    bool offloads(OffloadPart part) const { return (plan_.offload & part) != 0; }
    double largestOf(const Range& range) const {
        double largest = 0;
        for (const LayerRun& run : pieces_.runs)
            if (run.begin < range.end && range.begin < run.end)
                largest = std::max(largest, pieces_.layers[static_cast<std::size_t>(run.layer)].parameterBytes);
        return largest;
    }
    bool alike() const { return pieces_.dealt % chunks_ == 0; }
    std::int32_t layerAt(std::int64_t at) const {
        for (const LayerRun& run : pieces_.runs)
            if (at < run.end) return run.layer;
        return pieces_.runs.back().layer;
    }

    void addChunk(const Range& range) {
        // Most chunks are as the one before.
        const bool same = !sums_.empty() && range.end - range.begin == last_.end - last_.begin &&
                          runOf(range) != nullptr && runOf(range) == runOf(last_);
        last_ = range;
        if (same) {
            for (auto* list : {&forward_, &backward_, &forwardComputed_, &backwardComputed_, &weights_})
                list->push_back(list->back());
            sums_.push_back(sums_.back());
            if (!onHostLink_.empty()) onHostLink_.push_back(onHostLink_.back());
            return;
        }
        sums_.push_back(chunkSums(pieces_, range.begin, range.end, computing_));
        const ChunkSums& sums = sums_.back();
        forward_.push_back(sums.forward);
        backward_.push_back(sums.backward);
        forwardComputed_.push_back(sums.forwardComputed);
        backwardComputed_.push_back(sums.backwardComputed);
        weights_.push_back(sums.weights);
        if ((plan_.zero >= 3 && copies_.any()) || offloads(OffloadWeights) || offloads(OffloadActivations))
            fetchBeside(static_cast<std::int64_t>(sums_.size()) - 1, range);
    }
    /// The run that holds all of it; null where it holds several.
    const LayerRun* runOf(const Range& range) const {
        for (const LayerRun& run : pieces_.runs)
            if (range.begin >= run.begin && range.end <= run.end) return &run;
        return nullptr;
    }

    static HeldBytes weightsOf(const LayerPiece& piece) {
        return {piece.parameterBytes, piece.parameterBytes * piece.experts};
    }
    static HeldBytes gradientsOf(const LayerPiece& piece) {
        return {piece.gradientBytes, piece.gradientBytes * piece.expertsTrained};
    }
    const LayerPiece& pieceAt(std::int64_t at) const { return pieces_.layers[static_cast<std::size_t>(layerAt(at))]; }

    // What exchanges of gradients and weights take from computing beside them: SMs, caches and memory.
    void slowBeside() {
        const bool pairs = plan_.schedule == PipelineSchedule::DualPipe;
        const double m = static_cast<double>(microbatches_), times = plan_.zero >= 2 && !pairs ? m : 1;
        double seconds = 0, computed = 0;
        for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
            HeldBytes bucket, held;
            for (std::int64_t k = 0; k < chunksPerStage(plan_); ++k) {
                const Range range = rangeOf(chunkOf(plan_, s, static_cast<std::int32_t>(k)));
                for (std::int64_t at = range.end - 1; at >= range.begin; --at) {
                    const LayerPiece& piece = pieceAt(at);
                    computed += (piece.forward.compute + piece.backward.compute) * (pairs ? m / 2 : m);
                    held += weightsOf(piece);
                    if (plan_.zero >= 3) seconds += 2 * m * copies_.gather(weightsOf(piece))[0].seconds.likely();
                    bucket += gradientsOf(piece);
                    if (bucket.all < pieces_.bucketBytes && at > range.begin) continue;
                    seconds += times * copies_.reduce(bucket, plan_.zero > 0)[0].seconds.likely();
                    if (copies_.replicas() > 1)
                        for (const ExchangePrice& each : copies_.replicate(bucket)) seconds += each.seconds.likely();
                    bucket = {};
                }
            }
            if (plan_.zero == 1 || plan_.zero == 2) seconds += copies_.gather(held)[0].seconds.likely();
        }
        if (computed > 0) slow_ = 1 + facts_.stack->overlap * seconds / computed;
        computing_ = facts_.factor * slow_;
    }

    /// Share of a chunk's forward passes that come after a backward one: those of the warm-up do not.
    double afterBackwards(std::int64_t chunk) const {
        const std::int64_t stage = chunk % plan_.pipeline, turns = microbatches_ * plan_.interleave;
        const bool plain = plan_.interleave < 2 && plan_.schedule != PipelineSchedule::GPipe;
        const std::int64_t warmup = plain ? plan_.pipeline - 1 - stage : mostInFlight(plan_, stage, microbatches_) - 1;
        const std::int64_t after = turns - std::clamp<std::int64_t>(warmup, 1, turns);
        return static_cast<double>(after) / static_cast<double>(turns);
    }

    // The weights of the layer that comes next are gathered, and the gradients of the one before are scattered, while a
    // layer is computed.
    void fetchBeside(std::int64_t chunk, const Range& range) {
        // By groups of holders: those of experts gather after those of all else.
        using Each = std::array<Sides, CopyExchanges::groups>;
        const auto weights = [&](std::int64_t at) {
            Each sum;
            if (plan_.zero < 3) return sum;
            const auto each = copies_.gather(weightsOf(pieceAt(at)));
            for (std::size_t g = 0; g < sum.size(); ++g) sum[g] = each[g].seconds;
            return sum;
        };
        const auto fromHost = [&](std::int64_t at) {
            const HeldBytes its = weightsOf(pieceAt(at));
            return offloads(OffloadWeights) ? onLink(plan_.zero > 0 ? copies_.divided(its) : its.all) : Sides{};
        };
        const auto kept = [&](std::int64_t at) {
            const bool goes = offloads(OffloadActivations) && pieceAt(at).counts;
            return goes ? onLink(pieces_.full ? pieces_.inputBytes : pieces_.activationBytes) : Sides{};
        };
        // A layer, and what comes beside it for the next one: each over its own links, one after the other for one
        // layer, of two layers at once.
        const auto beside = [](const Sides& own, const Each& before, const Each& gathered, const Sides& loaded) {
            const Sides sent = larger(before[0] + gathered[0], before[1]) + gathered[1];
            return larger(larger(own, larger(loaded, sent)), (own + loaded + sent) * 0.5);
        };
        if (range.begin == 0) began_ = weights(0)[0] + weights(0)[1] + fromHost(0);
        // Put off, they pass while no weights are needed; in pairs of stages, at the end.
        const bool scatters =
            plan_.schedule != PipelineSchedule::DualPipe && plan_.schedule != PipelineSchedule::ZeroBubble;
        Sides forward, backward, down, loaded;
        Each scattered;
        HeldBytes bucket;
        for (std::int64_t at = range.end - 1; at >= range.begin; --at) {
            const LayerPiece& piece = pieceAt(at);
            const std::int64_t next = std::max(at - 1, range.begin);
            backward += beside(computing_ * piece.backward.compute + piece.backward.sent, scattered, weights(next),
                               fromHost(next) + kept(next));
            down += kept(at);
            loaded += fromHost(at);
            scattered = {};
            bucket += gradientsOf(piece);
            if (bucket.all < pieces_.bucketBytes && at > range.begin) continue;
            if (scatters && plan_.zero >= 3) {
                const auto each = copies_.reduce(bucket, true);
                for (std::size_t g = 0; g < scattered.size(); ++g) scattered[g] = each[g].seconds;
            }
            bucket = {};
        }
        // The last of them go beside the forward pass that comes next, if one does.
        Sides longer;
        for (std::int64_t at = range.begin; at < range.end; ++at) {
            const LayerWay& way = pieceAt(at).forward;
            const std::int64_t next = std::min(at + 1, range.end - 1);
            const Sides own = computing_ * way.compute + way.sent;
            const Sides alone = beside(own, {}, weights(next), fromHost(next));
            forward += alone;
            if (at == range.begin) longer = beside(own, scattered, weights(next), fromHost(next)) - alone;
        }
        forward += longer * afterBackwards(chunk);
        // On the last stage what went down in the forward pass comes up again at once.
        const Sides one = kept(range.end - 1 > range.begin ? range.end - 2 : range.begin);
        if (chunk + 1 == chunks_) backward += larger(one, down - forward) + one;
        onHostLink_.resize(sums_.size());
        onHostLink_.back() = (down + loaded) * 2.0;
        sums_.back().gathered =
            forward.likely() - forward_.back().likely() + backward.likely() - backward_.back().likely();
        forward_.back() = forward;
        backward_.back() = backward;
    }

    /// The exchanges of gradients of one stage: one under way in each group of holders.
    struct Gradients {
        std::array<Sides, CopyExchanges::groups> until, all;
        Sides down, lastDown;    ///< until the host has them, and what the last of it takes
        Sides replicated, last;  ///< until sets of copies have added up their shares, and what the last of it takes
        double joules = 0, once = 0;
        HeldBytes bucket;
        Sides end() const { return larger(larger(down, replicated), larger(until[0], until[1])); }
    };
    void send(Gradients& gradients, const Sides& ready) {
        if (gradients.bucket.all < 1) return;
        const auto prices = copies_.reduce(gradients.bucket, plan_.zero > 0);
        for (std::size_t g = 0; g < prices.size(); ++g) {
            gradients.until[g] = larger(gradients.until[g], ready) + prices[g].seconds;
            gradients.all[g] += prices[g].seconds;
            gradients.joules += prices[g].joules;
        }
        if (copies_.replicas() > 1) {
            const auto sets = copies_.replicate(gradients.bucket);
            gradients.last = {};
            for (std::size_t g = 0; g < sets.size(); ++g) {
                if (sets[g].seconds.likely() <= 0) continue;
                const Sides whole = prices[g].seconds.likely() > 0 ? gradients.until[g] : ready;
                gradients.replicated = larger(gradients.replicated, whole) + sets[g].seconds;
                gradients.last += sets[g].seconds;
                gradients.once += sets[g].joules;
            }
        }
        if (offloads(OffloadOptimizer)) {
            const bool divided = plan_.zero > 0;
            const double bytes = divided ? copies_.divided(gradients.bucket) : gradients.bucket.all;
            const Sides takes = onLink(bytes * facts_.host.downBytes);
            const Sides there =
                copies_.any() ? larger(gradients.replicated, larger(gradients.until[0], gradients.until[1])) : ready;
            gradients.down = larger(gradients.down, there) + takes;
            gradients.lastDown = takes;
        }
        gradients.bucket = {};
    }
    // A chunk whose last backward pass ends at `end`: bucket by bucket, beside it.
    void exchangeBeside(std::int64_t chunk, const Sides& end, Gradients& gradients) {
        const Range range = rangeOf(chunk);
        const bool put = plan_.schedule == PipelineSchedule::ZeroBubble;
        Sides now = end - (put ? weights_ : backward_)[static_cast<std::size_t>(chunk)];
        for (std::int64_t at = range.end - 1; at >= range.begin; --at) {
            const LayerPiece& piece = pieceAt(at);
            now += put ? computing_ * piece.weightGradients : computing_ * piece.backward.compute + piece.backward.sent;
            gradients.bucket += gradientsOf(piece);
            if (gradients.bucket.all >= pieces_.bucketBytes || at == range.begin)
                send(gradients, at == range.begin ? end : now);
        }
    }
    // Of stages in pairs, when all is done.
    void exchangeAtEnd(std::int64_t chunk, const Sides& end, Gradients& gradients) {
        const Range range = rangeOf(chunk);
        for (std::int64_t at = range.begin; at < range.end; ++at) {
            gradients.bucket += gradientsOf(pieceAt(at));
            if (gradients.bucket.all >= pieces_.bucketBytes) send(gradients, end);
        }
    }

    /// How far before a stage's end the last backward pass of each of its interleaved chunks ends.
    std::vector<Sides> chunksApart(const PipelineTurns& turns) const {
        const auto p = static_cast<double>(plan_.pipeline);
        std::vector<Sides> apart(static_cast<std::size_t>(plan_.interleave));
        for (std::size_t k = 0; k + 1 < apart.size(); ++k) {
            Sides most, sum;
            for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
                const Sides& one =
                    backward_[k * static_cast<std::size_t>(plan_.pipeline) + static_cast<std::size_t>(s)];
                most = larger(most, one), sum += one;
            }
            apart[k + 1] = apart[k] + (plan_.pipeline > 1 ? larger(most * p, sum + turns.message * p) : sum);
        }
        return apart;
    }
    /// By how much a stage ends before the one in front of it.
    Sides aheadOf(std::int64_t stage, const PipelineTurns& turns) const {
        const auto at = static_cast<std::size_t>(stage);
        if (plan_.schedule == PipelineSchedule::DualPipe) return {};
        if (plan_.schedule == PipelineSchedule::ZeroBubble)
            return larger({}, backward_[at] - weights_[at] * 2.0 + turns.message);
        return backward_[at] + turns.message;
    }

    /// From a stage's first backward pass to its last. It waits in there for one forward pass of each stage behind it;
    /// those of the warm-up are not among it.
    Sides sinceFirst(std::int64_t stage, const Sides& turn, const Sides& back) const {
        const auto m = static_cast<double>(microbatches_), v = static_cast<double>(plan_.interleave);
        if (plan_.interleave < 2) return turn * m - forward_[static_cast<std::size_t>(stage)];
        const auto warmup = static_cast<double>(mostInFlight(plan_, stage, microbatches_) - 1);
        const auto behind = static_cast<double>(plan_.pipeline - 1 - stage);
        return back * m + (turn - back) * std::max(0.0, m - (warmup - behind) / v);
    }

    /// A stage from when its gradients are whole.
    struct Ending {
        Sides ready, after;
        double end = 0, update = 0;  ///< s, likely
    };
    // The first stage and the last add up the gradients of what both hold, before either's optimizer.
    void addTied(const std::array<Ending, 2>& ends, Sides& total) {
        const auto sum = exchanges_.price(TraceCollective::AllReduce, static_cast<std::int64_t>(pieces_.tiedBytes),
                                          {2, (plan_.pipeline - 1) * plan_.tensor * plan_.context * plan_.data}, stop_);
        if (!sum) {
            problem_ = sum.error();
            return;
        }
        const Sides whole = larger(ends[0].ready, ends[1].ready) + sum->seconds;
        sent_ += 2 * sum->joules;
        for (const Ending& its : ends) {
            const Sides finish = whole + its.after;
            if (finish.likely() > total.likely()) {
                figures_.optimizer = its.update;
                figures_.data = finish.likely() - its.update - its.end;
            }
            total = larger(total, finish);
        }
    }

    void endStages(const Sides& passes, const PipelineTurns& turns) {
        const std::vector<Sides> apart = chunksApart(turns);
        const bool pairs = plan_.schedule == PipelineSchedule::DualPipe;
        const auto m = static_cast<double>(microbatches_);
        const bool leave = copies_.any() || offloads(OffloadOptimizer);
        std::array<Ending, 2> ends;
        Sides end = passes, total;
        for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
            Gradients gradients;
            Sides turn, back;
            HeldBytes held;
            double trained = 0, largest = 0;
            for (std::int64_t k = chunksPerStage(plan_) - 1; k >= 0; --k) {
                const std::int64_t chunk = chunkOf(plan_, s, static_cast<std::int32_t>(k));
                const auto at = static_cast<std::size_t>(chunk);
                held += {sums_[at].parameterBytes, sums_[at].expertBytes};
                trained += sums_[at].trainedBytes;
                if (offloads(OffloadWeights)) largest = std::max(largest, largestOf(rangeOf(chunk)));
                turn += forward_[at] + backward_[at];
                back += backward_[at];
                if (leave && pairs) exchangeAtEnd(chunk, end, gradients);
                if (leave && !pairs) exchangeBeside(chunk, end - apart[static_cast<std::size_t>(k)], gradients);
            }
            send(gradients, end);
            // Scattered in every micro-batch, they may take longer than computing.
            const bool each = plan_.zero >= 2 && copies_.any() && !pairs;
            for (std::size_t g = 0; each && g < gradients.until.size(); ++g)
                gradients.until[g] = larger(gradients.until[g], end - sinceFirst(s, turn, back) + gradients.all[g] * m);
            if (each && copies_.replicas() > 1)
                gradients.replicated =
                    larger(gradients.replicated, larger(gradients.until[0], gradients.until[1]) + gradients.last);
            if (each) gradients.down = larger(gradients.down, gradients.end() + gradients.lastDown);
            sent_ += gradients.joules * (each ? m : 1) + gradients.once;
            const double share = pieces_.trainedBytes > 0 ? trained / pieces_.trainedBytes : 0;
            const HeldBytes updated = trained < held.all ? HeldBytes{trained, 0} : held;
            const double divided = held.all > 0 ? copies_.divided(held) / held.all : 1;
            const double mine = plan_.zero > 0 ? divided : 1;
            const bool above = offloads(OffloadOptimizer), weights = offloads(OffloadWeights);
            const double update =
                above ? trained * mine * facts_.host.updateSeconds : pieces_.optimizerSeconds * share * mine;
            Sides step = facts_.factor * update;
            const double copied = facts_.host.seconds(trained * mine / (above ? offload_parts : 1));
            if (above && !weights) step = stepAndSend(step, copied * offload_parts);
            if (!above && weights)
                for (double& each_side : step.at) each_side += copied;
            const Sides ready = larger(end, gradients.end());
            Sides finish = ready + step;
            if (copies_.any() && (plan_.zero == 1 || plan_.zero == 2)) {
                auto prices = copies_.gather(updated);
                if (facts_.stack) prices[0].seconds = prices[0].seconds * (1 - facts_.stack->hiddenGather);
                finish += larger(prices[0].seconds, prices[1].seconds);
                sent_ += prices[0].joules + prices[1].joules;
            }
            updates_ += above ? 0 : update;
            if (finish.likely() > total.likely()) {
                figures_.optimizer = update;
                figures_.data = finish.likely() - update - end.likely();
            }
            total = larger(total, finish);
            if (s == 0 || s + 1 == plan_.pipeline) {
                Ending& its = ends[s == 0 ? 0 : 1];
                its = {ready, finish - ready, end.likely(), update};
            }
            addMemory(s, held.all, trained, share, divided, largest);
            end -= aheadOf(s, turns);
        }
        if (plan_.pipeline > 1 && pieces_.tiedBytes >= 1 && !pairs) addTied(ends, total);
        figures_.seconds = total.likely();
        figures_.low = std::min(total.likely(), total.at[Sides::Low]);
        figures_.high = std::max(total.likely(), total.at[Sides::High]);
        if (facts_.spread > 0) {
            figures_.low = total.likely() * std::exp(-facts_.spread);
            figures_.high = total.likely() * std::exp(facts_.spread);
        }
        figures_.bound = facts_.factor.at[Sides::Least] > 0 ? std::min(total.likely(), total.at[Sides::Least]) : 0;
        figures_.low = std::max(figures_.low, figures_.bound);
    }

    // As stageMemories() has it.
    void addMemory(std::int64_t stage, double bytes, double trained, double share, double divided, double largest) {
        double counting = 0;
        const std::int64_t chunks = chunksPerStage(plan_);
        for (std::int64_t k = 0; k < chunks; ++k)
            counting += sums_[static_cast<std::size_t>(chunkOf(plan_, stage, static_cast<std::int32_t>(k)))].counting;
        const double kept =
            static_cast<double>(mostInFlight(plan_, stage, microbatches_)) * counting / static_cast<double>(chunks);
        const double activations =
            pieces_.full ? kept * pieces_.inputBytes + pieces_.activationBytes : kept * pieces_.activationBytes;
        figures_.stages.push_back(
            {Bytes(bytes * (plan_.zero >= 3 ? divided : 1)), Bytes(trained * (plan_.zero >= 2 ? divided : 1)),
             Bytes(pieces_.stateBytes * share * (plan_.zero >= 1 ? divided : 1)), Bytes(activations)});
        StageMemory& its = figures_.stages.back();
        if (plan_.offload != 0)
            moveToHost(plan_.offload, largest * (plan_.zero >= 3 ? divided : 1),
                       pieces_.full ? pieces_.inputBytes : pieces_.activationBytes,
                       pieces_.full ? pieces_.activationBytes : 0,
                       trained * (plan_.zero >= 1 ? divided : 1) * facts_.host.gradientBytes, its);
        figures_.hostNeeds = std::max(figures_.hostNeeds, its.host.value);
        figures_.needs = std::max(figures_.needs, its.total().value);
    }

    // More than the step has room for: messages off the critical path, and exchanges that the turns beside them hide.
    void hide() {
        StepFigures& f = figures_;
        const double messages = std::min(f.pipeline, -f.bubble);
        f.pipeline -= messages;
        f.bubble += messages;
        const double sent = f.tensor + f.context + f.expert;
        const double hidden = std::min(sent, -f.bubble);
        for (double* each : {&f.tensor, &f.context, &f.expert})
            if (sent > 0) *each *= 1 - hidden / sent;
        f.bubble = 0;
        f.compute = f.seconds - f.tensor - f.context - f.expert - f.pipeline - f.data - f.optimizer;
    }

    void sumUp(double messageJoules) {
        StepFigures& f = figures_;
        const auto m = static_cast<double>(microbatches_), stages = static_cast<double>(plan_.pipeline);
        double joules = 0;
        for (const ChunkSums& sums : sums_) {
            f.compute += sums.compute * slow_ * m / stages;
            f.tensor += sums.tensor * m / stages;
            f.context += sums.context * m / stages;
            f.expert += sums.expert * m / stages;
            joules += sums.joules * m;
            f.data += sums.gathered * m / stages;
        }
        f.data += began_.likely();
        f.bubble = f.seconds - f.compute - f.tensor - f.context - f.expert - f.pipeline - f.data - f.optimizer;
        if (f.bubble < 0) hide();
        f.devices = plan_.devices();
        f.microbatches = microbatches_;
        f.capacity = facts_.capacity;
        if (plan_.offload != 0) f.hostCapacity = facts_.host.memory;
        const double passes = static_cast<double>(plan_.data * plan_.context) * m;
        f.rate = f.seconds > 0 ? facts_.tokens * passes / f.seconds : 0;
        f.tokens = facts_.counted;
        f.mfu = f.seconds > 0 ? facts_.peakSeconds * m / stages / f.seconds : 0;
        const double perStage = static_cast<double>(plan_.tensor * plan_.context * plan_.data);
        if (plan_.pipeline > 1) joules += 2 * m * static_cast<double>(chunks_ - 1) * messageJoules;
        if (facts_.joulesPerSecond > 0)
            f.joules =
                facts_.joulesPerSecond * perStage * (f.compute * stages + updates_) + perStage * (joules + sent_);
    }

    const StepPieces& pieces_;
    const ShardFacts& facts_;
    const Plan& plan_;
    std::int64_t microbatches_, chunks_;
    const ExchangeCache& exchanges_;
    CopyExchanges copies_;
    const std::stop_token& stop_;
    StepFigures figures_;
    std::optional<Diagnostic> problem_;
    std::vector<ChunkSums> sums_;
    std::vector<Sides> forward_, backward_, forwardComputed_, backwardComputed_, weights_;  ///< by chunk
    std::vector<Sides> onHostLink_;  ///< of a micro-batch, both ways, by chunk; empty: nothing
    Range last_;
    Sides computing_;  ///< from likely computing to its sides, slowed by exchanges beside it
    double slow_ = 1;
    Sides began_;         ///< until the first weights are there
    double updates_ = 0;  ///< s of all stages
    double sent_ = 0;     ///< J of one device of each stage, for gradients and weights
};

}  // namespace

Expected<StepFigures> closedStep(const StepPieces& pieces, const ShardFacts& facts, const Plan& plan,
                                 std::int64_t microbatches, const ExchangeCache& exchanges,
                                 const std::stop_token& stop) {
    return ClosedStep(pieces, facts, plan, microbatches, exchanges, stop).make();
}

}  // namespace orrery
