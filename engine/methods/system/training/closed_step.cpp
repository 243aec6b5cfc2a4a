#include "methods/system/training/closed_step.h"

#include "methods/system/training/pipeline_law.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

struct Range {
    std::int64_t begin = 0, end = 0;
};

/// The exchanges of gradients and of shared weights of one plan, each distinct one looked up once.
class CopyExchanges {
public:
    CopyExchanges(const Plan& plan, const ExchangeCache& exchanges, const std::stop_token& stop)
        : copies_(plan.data * plan.context), group_{copies_, plan.tensor}, exchanges_(exchanges), stop_(stop) {}

    bool any() const { return copies_ > 1; }
    double copies() const { return static_cast<double>(copies_); }
    const std::optional<Diagnostic>& problem() const { return problem_; }

    const ExchangePrice& reduce(double bytes, bool divided) {
        return priced(divided ? TraceCollective::ReduceScatter : TraceCollective::AllReduce,
                      static_cast<std::int64_t>(bytes));
    }
    /// `bytes`: all that it yields.
    const ExchangePrice& gather(double bytes) {
        return priced(TraceCollective::AllGather, static_cast<std::int64_t>(bytes / copies()));
    }

private:
    struct Known {
        TraceCollective op;
        std::int64_t bytes;
        ExchangePrice price;
    };
    const ExchangePrice& priced(TraceCollective op, std::int64_t bytes) {
        for (std::size_t i = 0; i < used_; ++i)
            if (known_[i].bytes == bytes && known_[i].op == op) return known_[i].price;
        auto price = exchanges_.price(op, bytes, group_, stop_);
        if (!price && !problem_) problem_ = std::move(price.error());
        Known& place = known_[used_ < most ? used_++ : most - 1];
        place = {op, bytes, price ? *price : ExchangePrice{}};
        return place.price;
    }

    static constexpr std::size_t most = 12;
    std::int64_t copies_;
    ExchangeGroup group_;
    const ExchangeCache& exchanges_;
    const std::stop_token& stop_;
    std::array<Known, most> known_;
    std::size_t used_ = 0;
    std::optional<Diagnostic> problem_;
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
        for (std::int64_t c = 0; c < chunks_; ++c) addChunk(rangeOf(c));
        const auto message = plan_.pipeline > 1
                                 ? exchanges_.price(std::nullopt, pieces_.stageBytes,
                                                    {plan_.pipeline, plan_.tensor * plan_.context * plan_.data}, stop_)
                                 : ExchangePrice{};
        if (!message) return Unexpected(message.error());
        PipelineTurns turns{forward_, backward_, message->seconds, plan_.pipeline, microbatches_, alike()};
        const Sides passes = pipelineSeconds(turns, plan_) + began_;
        figures_.pipeline = 0;
        if (plan_.pipeline > 1) {
            PipelineTurns free = turns;
            free.message = {};
            figures_.pipeline = passes.likely() - began_.likely() - pipelineSeconds(free, plan_).likely();
        }
        endStages(passes, turns);
        if (copies_.problem()) return Unexpected(*copies_.problem());
        sumUp(message->joules);
        return std::move(figures_);
    }

private:
    Range rangeOf(std::int64_t chunk) const {
        Range range{chunk * pieces_.dealt / chunks_ + pieces_.front,
                    (chunk + 1) * pieces_.dealt / chunks_ + pieces_.front};
        if (chunk == 0) range.begin = 0;
        if (chunk + 1 == chunks_) range.end = pieces_.count;
        return range;
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
        if (same) {
            sums_.push_back(sums_.back());
            forward_.push_back(forward_.back());
            backward_.push_back(backward_.back());
        } else {
            sums_.push_back(chunkSums(pieces_, range.begin, range.end, facts_.factor));
            forward_.push_back(sums_.back().forward);
            backward_.push_back(sums_.back().backward);
            if (plan_.zero >= 3 && copies_.any()) gatherBeside(range);
        }
        last_ = range;
    }
    /// The run that holds all of it; null where it holds several.
    const LayerRun* runOf(const Range& range) const {
        for (const LayerRun& run : pieces_.runs)
            if (range.begin >= run.begin && range.end <= run.end) return &run;
        return nullptr;
    }

    // The weights of the layer that comes next are gathered, and the gradients of the one before are scattered, while a
    // layer is computed.
    void gatherBeside(const Range& range) {
        const auto weights = [&](std::int64_t at) {
            return copies_.gather(pieces_.layers[static_cast<std::size_t>(layerAt(at))].parameterBytes).seconds;
        };
        if (range.begin == 0) began_ = weights(0);
        Sides forward, backward, scattered;
        double bucket = 0;
        for (std::int64_t at = range.begin; at < range.end; ++at) {
            const LayerWay& way = pieces_.layers[static_cast<std::size_t>(layerAt(at))].forward;
            forward += larger(facts_.factor * way.compute + way.sent, weights(std::min(at + 1, range.end - 1)));
        }
        for (std::int64_t at = range.end - 1; at >= range.begin; --at) {
            const LayerPiece& piece = pieces_.layers[static_cast<std::size_t>(layerAt(at))];
            backward += larger(facts_.factor * piece.backward.compute + piece.backward.sent,
                               scattered + weights(std::max(at - 1, range.begin)));
            scattered = {};
            bucket += piece.gradientBytes;
            if (bucket < pieces_.bucketBytes && at > range.begin) continue;
            scattered = copies_.reduce(bucket, true).seconds;
            bucket = 0;
        }
        gathered_ +=
            forward.likely() - sums_.back().forward.likely() + backward.likely() - sums_.back().backward.likely();
        forward_.back() = forward;
        backward_.back() = backward;
    }

    /// When the last of a chunk's gradients have been exchanged, if its last backward pass ends at `end` and earlier
    /// ones at `lane`.
    Sides exchanged(std::int64_t chunk, const Sides& end, Sides lane, double& joules) {
        const Range range = rangeOf(chunk);
        Sides now = end - backward_[static_cast<std::size_t>(chunk)];
        double bucket = 0;
        for (std::int64_t at = range.end - 1; at >= range.begin; --at) {
            const LayerPiece& piece = pieces_.layers[static_cast<std::size_t>(layerAt(at))];
            now += facts_.factor * piece.backward.compute + piece.backward.sent;
            bucket += piece.gradientBytes;
            if (bucket < pieces_.bucketBytes && at > range.begin) continue;
            if (bucket >= 1) {
                const ExchangePrice& price = copies_.reduce(bucket, plan_.zero > 0);
                lane = larger(lane, at == range.begin ? end : now) + price.seconds;
                joules += price.joules;
                all_ += price.seconds;
            }
            bucket = 0;
        }
        return lane;
    }

    void endStages(const Sides& passes, const PipelineTurns& turns) {
        const std::int64_t stages = plan_.pipeline, each = plan_.interleave;
        // Of interleaved chunks the last backward passes lie so far apart.
        std::vector<Sides> apart(static_cast<std::size_t>(each));
        for (std::int64_t k = 0; k + 1 < each; ++k) {
            Sides most, sum;
            for (std::int64_t s = 0; s < stages; ++s) {
                const Sides& one = backward_[static_cast<std::size_t>(k * stages + s)];
                most = larger(most, one), sum += one;
            }
            const auto p = static_cast<double>(stages);
            apart[static_cast<std::size_t>(k + 1)] =
                apart[static_cast<std::size_t>(k)] + (stages > 1 ? larger(most * p, sum + turns.message * p) : sum);
        }
        Sides end = passes, total;
        for (std::int64_t s = 0; s < stages; ++s) {
            Sides lane, turn;
            double bytes = 0, joules = 0;
            all_ = {};
            for (std::int64_t k = each - 1; k >= 0; --k) {
                const std::int64_t chunk = k * stages + s;
                bytes += sums_[static_cast<std::size_t>(chunk)].parameterBytes;
                turn += forward_[static_cast<std::size_t>(chunk)] + backward_[static_cast<std::size_t>(chunk)];
                if (copies_.any()) lane = exchanged(chunk, end - apart[static_cast<std::size_t>(k)], lane, joules);
            }
            // Scattered in every micro-batch, they may take longer than computing.
            const auto m = static_cast<double>(microbatches_);
            if (plan_.zero >= 2 && copies_.any())
                lane = larger(lane, end - turn * m + forward_[static_cast<std::size_t>(s)] + all_ * m);
            sent_ += joules * (plan_.zero >= 2 ? m : 1);
            const double share = pieces_.parameterBytes > 0 ? bytes / pieces_.parameterBytes : 0;
            const double update =
                pieces_.optimizerSeconds * share / (plan_.zero > 0 ? std::max(1.0, copies_.copies()) : 1);
            const Sides updated = facts_.factor * update;
            Sides finish = larger(end, lane) + updated;
            if (copies_.any() && (plan_.zero == 1 || plan_.zero == 2)) {
                const ExchangePrice& price = copies_.gather(bytes);
                finish += price.seconds;
                sent_ += price.joules;
            }
            updates_ += update;
            if (finish.likely() > total.likely()) {
                figures_.optimizer = update;
                figures_.data = finish.likely() - update - end.likely();
            }
            total = larger(total, finish);
            addMemory(s, bytes, share);
            end -= backward_[static_cast<std::size_t>(s)] + turns.message;
        }
        figures_.seconds = total.likely();
        figures_.low = std::min(total.likely(), total.at[Sides::Low]);
        figures_.high = std::max(total.likely(), total.at[Sides::High]);
        figures_.bound = facts_.factor.at[Sides::Least] > 0 ? std::min(total.likely(), total.at[Sides::Least]) : 0;
    }

    void addMemory(std::int64_t stage, double bytes, double share) {
        double counting = 0;
        for (std::int64_t c = stage; c < chunks_; c += plan_.pipeline)
            counting += sums_[static_cast<std::size_t>(c)].counting;
        const double copies = std::max(1.0, copies_.copies());
        const double kept = static_cast<double>(mostInFlight(plan_, stage, microbatches_)) * counting /
                            static_cast<double>(plan_.interleave);
        const double activations =
            pieces_.full ? kept * pieces_.inputBytes + pieces_.activationBytes : kept * pieces_.activationBytes;
        figures_.stages.push_back(
            {Bytes(bytes / (plan_.zero >= 3 ? copies : 1)), Bytes(bytes / (plan_.zero >= 2 ? copies : 1)),
             Bytes(pieces_.stateBytes * share / (plan_.zero >= 1 ? copies : 1)), Bytes(activations)});
        figures_.needs = std::max(figures_.needs, figures_.stages.back().total().value);
    }

    void sumUp(double messageJoules) {
        StepFigures& f = figures_;
        const auto m = static_cast<double>(microbatches_), stages = static_cast<double>(plan_.pipeline);
        double joules = 0;
        for (const ChunkSums& sums : sums_) {
            f.compute += sums.compute * m / stages;
            f.tensor += sums.tensor * m / stages;
            f.context += sums.context * m / stages;
            f.expert += sums.expert * m / stages;
            joules += sums.joules * m;
        }
        f.data += gathered_ * m / stages + began_.likely();
        f.bubble = f.seconds - f.compute - f.tensor - f.context - f.expert - f.pipeline - f.data - f.optimizer;
        if (f.bubble < 0) {
            // Rounding, or a critical stage that does less than the mean one.
            f.pipeline = std::max(0.0, f.pipeline + f.bubble);
            f.bubble = 0;
        }
        f.devices = plan_.devices();
        f.microbatches = microbatches_;
        f.capacity = facts_.capacity;
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
    std::vector<ChunkSums> sums_;
    std::vector<Sides> forward_, backward_;  ///< by chunk
    Range last_;
    Sides began_;          ///< until the first weights are there
    Sides all_;            ///< of a stage's gradients, of one micro-batch
    double gathered_ = 0;  ///< s of one micro-batch and all stages that wait for divided weights
    double updates_ = 0;   ///< s of all stages
    double sent_ = 0;      ///< J of one device of each stage, for gradients and weights
};

}  // namespace

Expected<StepFigures> closedStep(const StepPieces& pieces, const ShardFacts& facts, const Plan& plan,
                                 std::int64_t microbatches, const ExchangeCache& exchanges,
                                 const std::stop_token& stop) {
    return ClosedStep(pieces, facts, plan, microbatches, exchanges, stop).make();
}

}  // namespace orrery
