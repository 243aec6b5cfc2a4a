// Chunks of layers in turns: what they take, and what is fetched and sent beside them.

#include "methods/system/training/closed_step_work.h"
#include "methods/system/training/offload.h"

#include <algorithm>

namespace orrery::detail {

std::vector<TurnBit> ClosedStep::bitsOf(const LayerRange& range, bool forward) const {
    std::vector<TurnBit> bits;
    for (std::int64_t i = 0; i < range.end - range.begin; ++i) {
        const LayerPiece& piece = pieceAt(forward ? range.begin + i : range.end - 1 - i);
        const LayerWay& way = forward ? piece.forward : piece.backward;
        const int many = std::max(1, static_cast<int>(way.exchanges));
        bits.insert(bits.end(), static_cast<std::size_t>(many), {slow_ * way.compute / many, way.sent.likely() / many});
    }
    return bits;
}

// Turns beside each other are in each other's way. Chunks that are neither first nor last are as those in the
// middle.
std::vector<double> ClosedStep::waitsBeside() const {
    if (plan_.schedule != PipelineSchedule::DualPipe) return {};
    std::vector<double> waits(static_cast<std::size_t>(chunks_), 1.0);
    for (const std::int64_t chunk : {chunks_ / 2, std::int64_t{0}, chunks_ - 1}) {
        const auto forward = bitsOf(rangeOf(chunk), true), backward = bitsOf(rangeOf(chunks_ - 1 - chunk), false);
        double computed = 0, sent = 0, longer = 0;
        for (const auto* bits : {&forward, &backward}) {
            double sum = 0;
            for (const TurnBit& bit : *bits) sum += bit.computed + bit.sent, computed += bit.computed, sent += bit.sent;
            longer = std::max(longer, sum);
        }
        const double least = std::max({computed, sent, longer});
        const double its = least > 0 ? besideSeconds(forward, backward) / least : 1;
        if (chunk == chunks_ / 2) waits.assign(waits.size(), its);
        waits[static_cast<std::size_t>(chunk)] = its;
    }
    return waits;
}

std::int64_t ClosedStep::stageOf(std::int64_t layer) const {
    if (!mixed()) return 0;
    std::int64_t at = 0;
    while (at + 1 < plan_.pipeline && layer >= rangeOf(at).end) ++at;
    return at;
}

LayerRange ClosedStep::rangeOf(std::int64_t chunk) const {
    const auto bound = [&](std::int64_t c) {
        return (bounds_.empty() ? c * pieces_.dealt / chunks_ : bounds_[static_cast<std::size_t>(c)]) + pieces_.front;
    };
    LayerRange range{bound(chunk), bound(chunk + 1)};
    if (chunk == 0) range.begin = 0;
    if (chunk + 1 == chunks_) range.end = pieces_.count;
    return range;
}

Sides ClosedStep::onLink(double bytes) const {
    Sides seconds;
    seconds.at.fill(facts_.host.seconds(bytes));
    return seconds;
}

// What a stage and its host exchange in a step, after the first micro-batch has come and before the last one goes.
Sides ClosedStep::linkBound() const {
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

double ClosedStep::largestOf(const LayerRange& range) const {
    double largest = 0;
    for (const LayerRun& run : pieces_.runs)
        if (run.begin < range.end && range.begin < run.end)
            largest = std::max(largest, pieces_.layers[static_cast<std::size_t>(run.layer)].parameterBytes);
    return largest;
}

void ClosedStep::addChunk(const LayerRange& range) {
    // Most chunks are as the one before.
    const std::int64_t at = stageOf(range.begin);
    const bool same = !mixed() && !sums_.empty() && range.end - range.begin == last_.end - last_.begin &&
                      runOf(range) != nullptr && runOf(range) == runOf(last_);
    last_ = range;
    if (same) {
        for (auto* list : {&forward_, &backward_, &forwardComputed_, &backwardComputed_, &weights_})
            list->push_back(list->back());
        sums_.push_back(sums_.back());
        if (!onHostLink_.empty()) onHostLink_.push_back(onHostLink_.back());
        return;
    }
    sums_.push_back(chunkSums(*stage(at).pieces, range.begin, range.end, computing(at)));
    const ChunkSums& sums = sums_.back();
    forward_.push_back(sums.forward);
    backward_.push_back(sums.backward);
    forwardComputed_.push_back(sums.forwardComputed);
    backwardComputed_.push_back(sums.backwardComputed);
    weights_.push_back(sums.weights);
    if ((plan_.zero >= 3 && copies(at).any()) || offloads(OffloadWeights) || offloads(OffloadActivations))
        fetchBeside(static_cast<std::int64_t>(sums_.size()) - 1, range);
}

const LayerRun* ClosedStep::runOf(const LayerRange& range) const {
    for (const LayerRun& run : pieces_.runs)
        if (range.begin >= run.begin && range.end <= run.end) return &run;
    return nullptr;
}

// What exchanges of gradients and weights take from computing beside them: SMs, caches and memory.
void ClosedStep::slowBeside() {
    const bool pairs = plan_.schedule == PipelineSchedule::DualPipe;
    const double m = static_cast<double>(microbatches_), times = plan_.zero >= 2 && !pairs ? m : 1;
    double seconds = 0, computed = 0;
    for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
        HeldBytes bucket, held;
        CopyExchanges& copies = this->copies(s);
        for (std::int64_t k = 0; k < chunksPerStage(plan_); ++k) {
            const LayerRange range = rangeOf(chunkOf(plan_, s, static_cast<std::int32_t>(k)));
            for (std::int64_t at = range.end - 1; at >= range.begin; --at) {
                const LayerPiece& piece = pieceAt(at);
                computed += (piece.forward.compute + piece.backward.compute) * (pairs ? m / 2 : m);
                held += weightsOf(piece);
                if (plan_.zero >= 3) seconds += 2 * m * copies.gather(weightsOf(piece))[0].seconds.likely();
                bucket += gradientsOf(piece);
                if (bucket.all < pieces_.bucketBytes && at > range.begin) continue;
                seconds += times * copies.reduce(bucket, plan_.zero > 0)[0].seconds.likely();
                if (copies.replicas() > 1)
                    for (const ExchangePrice& each : copies.replicate(bucket)) seconds += each.seconds.likely();
                bucket = {};
            }
        }
        if (plan_.zero == 1 || plan_.zero == 2) seconds += copies.gather(held)[0].seconds.likely();
    }
    if (computed > 0) slow_ = 1 + facts_.row->overlap * seconds / (computed * facts_.row->exchanges);
}

double ClosedStep::afterBackwards(std::int64_t chunk) const {
    const std::int64_t stage = chunk % plan_.pipeline, turns = microbatches_ * plan_.interleave;
    const bool plain = plan_.interleave < 2 && plan_.schedule != PipelineSchedule::GPipe;
    const std::int64_t warmup = plain ? plan_.pipeline - 1 - stage : mostInFlight(plan_, stage, microbatches_) - 1;
    const std::int64_t after = turns - std::clamp<std::int64_t>(warmup, 1, turns);
    return static_cast<double>(after) / static_cast<double>(turns);
}

// The weights of the layer that comes next are gathered, and the gradients of the one before are scattered, while a
// layer is computed.
void ClosedStep::fetchBeside(std::int64_t chunk, const LayerRange& range) {
    const std::int64_t stageHere = stageOf(range.begin);
    CopyExchanges& copies = this->copies(stageHere);
    const Sides computing = this->computing(stageHere);
    // By groups of holders: those of experts gather after those of all else.
    using Each = std::array<Sides, CopyExchanges::groups>;
    const auto weights = [&](std::int64_t at) {
        Each sum;
        if (plan_.zero < 3) return sum;
        const auto each = copies.gather(weightsOf(pieceAt(at)));
        for (std::size_t g = 0; g < sum.size(); ++g) sum[g] = each[g].seconds;
        return sum;
    };
    const auto fromHost = [&](std::int64_t at) {
        const HeldBytes its = weightsOf(pieceAt(at));
        return offloads(OffloadWeights) ? onLink(plan_.zero > 0 ? copies.divided(its) : its.all) : Sides{};
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
        backward += beside(computing * piece.backward.compute + piece.backward.sent, scattered, weights(next),
                           fromHost(next) + kept(next));
        down += kept(at);
        loaded += fromHost(at);
        scattered = {};
        bucket += gradientsOf(piece);
        if (bucket.all < pieces_.bucketBytes && at > range.begin) continue;
        if (scatters && plan_.zero >= 3) {
            const auto each = copies.reduce(bucket, true);
            for (std::size_t g = 0; g < scattered.size(); ++g) scattered[g] = each[g].seconds;
        }
        bucket = {};
    }
    // The last of them go beside the forward pass that comes next, if one does.
    Sides longer;
    for (std::int64_t at = range.begin; at < range.end; ++at) {
        const LayerWay& way = pieceAt(at).forward;
        const std::int64_t next = std::min(at + 1, range.end - 1);
        const Sides own = computing * way.compute + way.sent;
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
    sums_.back().gathered = forward.likely() - forward_.back().likely() + backward.likely() - backward_.back().likely();
    forward_.back() = forward;
    backward_.back() = backward;
}

}  // namespace orrery::detail
