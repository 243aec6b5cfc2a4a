// Stages from their last backward pass on: gradients, the optimizer, weights; and what they hold.

#include "methods/system/training/closed_step_work.h"
#include "methods/system/training/offload.h"

#include <algorithm>
#include <cmath>

namespace orrery::detail {

void ClosedStep::send(Gradients& gradients, const Sides& ready) {
    if (gradients.bucket.all < 1) return;
    CopyExchanges& copies = this->copies(gradients.stage);
    const auto prices = copies.reduce(gradients.bucket, plan_.zero > 0);
    for (std::size_t g = 0; g < prices.size(); ++g) {
        gradients.until[g] = larger(gradients.until[g], ready) + prices[g].seconds;
        gradients.all[g] += prices[g].seconds;
        gradients.joules += prices[g].joules;
    }
    if (copies.replicas() > 1) {
        const auto sets = copies.replicate(gradients.bucket);
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
        const double bytes = divided ? copies.divided(gradients.bucket) : gradients.bucket.all;
        const Sides takes = onLink(bytes * facts_.host.downBytes);
        const Sides there =
            copies.any() ? larger(gradients.replicated, larger(gradients.until[0], gradients.until[1])) : ready;
        gradients.down = larger(gradients.down, there) + takes;
        gradients.lastDown = takes;
    }
    gradients.bucket = {};
}

// A chunk whose last backward pass ends at `end`: bucket by bucket, beside it.
void ClosedStep::exchangeBeside(std::int64_t chunk, const Sides& end, Gradients& gradients) {
    const LayerRange range = rangeOf(chunk);
    const bool put = plan_.schedule == PipelineSchedule::ZeroBubble;
    const Sides computing = this->computing(gradients.stage);
    Sides now = end - (put ? weights_ : backward_)[static_cast<std::size_t>(chunk)];
    for (std::int64_t at = range.end - 1; at >= range.begin; --at) {
        const LayerPiece& piece = pieceAt(at);
        now += put ? computing * piece.weightGradients : computing * piece.backward.compute + piece.backward.sent;
        gradients.bucket += gradientsOf(piece);
        if (gradients.bucket.all >= pieces_.bucketBytes || at == range.begin)
            send(gradients, at == range.begin ? end : now);
    }
}

// Of stages in pairs, when all is done.
void ClosedStep::exchangeAtEnd(std::int64_t chunk, const Sides& end, Gradients& gradients) {
    const LayerRange range = rangeOf(chunk);
    for (std::int64_t at = range.begin; at < range.end; ++at) {
        gradients.bucket += gradientsOf(pieceAt(at));
        if (gradients.bucket.all >= pieces_.bucketBytes) send(gradients, end);
    }
}

std::vector<Sides> ClosedStep::chunksApart(const PipelineTurns& turns) const {
    const auto p = static_cast<double>(plan_.pipeline);
    std::vector<Sides> apart(static_cast<std::size_t>(plan_.interleave));
    for (std::size_t k = 0; k + 1 < apart.size(); ++k) {
        Sides most, sum;
        for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
            const Sides& one = backward_[k * static_cast<std::size_t>(plan_.pipeline) + static_cast<std::size_t>(s)];
            most = larger(most, one), sum += one;
        }
        apart[k + 1] = apart[k] + (plan_.pipeline > 1 ? larger(most * p, sum + turns.messageBehind(0) * p) : sum);
    }
    return apart;
}

Sides ClosedStep::aheadOf(std::int64_t stage, const PipelineTurns& turns) const {
    const auto at = static_cast<std::size_t>(stage);
    if (plan_.schedule == PipelineSchedule::DualPipe) return {};
    if (plan_.schedule == PipelineSchedule::ZeroBubble)
        return larger({}, backward_[at] - weights_[at] * 2.0 + turns.messageBehind(stage));
    return backward_[at] + turns.messageBehind(stage);
}

Sides ClosedStep::sinceFirst(std::int64_t stage, const Sides& turn, const Sides& back) const {
    const auto m = static_cast<double>(microbatches_), v = static_cast<double>(plan_.interleave);
    if (plan_.schedule == PipelineSchedule::ZeroBubble) {
        // The first gradients of weights come when as many more have gone back as stages stand in front.
        const auto at = static_cast<std::size_t>(stage);
        const auto lag = static_cast<double>(std::min(stage, microbatches_ - 1));
        return turn * m - forward_[at] * (lag + 1) - (back - weights_[at]) * (lag + 1);
    }
    if (plan_.interleave < 2) return turn * m - forward_[static_cast<std::size_t>(stage)];
    const auto warmup = static_cast<double>(mostInFlight(plan_, stage, microbatches_) - 1);
    const auto behind = static_cast<double>(plan_.pipeline - 1 - stage);
    return back * m + (turn - back) * std::max(0.0, m - (warmup - behind) / v);
}

// The first stage and the last add up the gradients of what both hold, before either's optimizer.
void ClosedStep::addTied(const std::array<Ending, 2>& ends, Sides& total) {
    const auto bytes = static_cast<std::int64_t>(pieces_.tiedBytes);
    const StageWays* ways = stage(0).ways;
    const auto sum =
        ways ? stages_.over(ways->ends).priceAmong(TraceCollective::AllReduce, bytes, ways->ends.group, stop_)
             : stage(0).exchanges->price(TraceCollective::AllReduce, bytes,
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

// Weights come and gradients go over the same links, one after the other.
void ClosedStep::keepUp(std::int64_t stage, double microbatches, Gradients& gradients) {
    Sides before;
    for (std::int64_t s = 0; s < stage; ++s) before += forward_[static_cast<std::size_t>(s)];
    std::array<Sides, CopyExchanges::groups> sent = gradients.all;
    const LayerRange range = rangeOf(chunkOf(plan_, stage, 0));
    for (std::int64_t at = range.begin; at < range.end; ++at) {
        const auto weights = copies(stage).gather(weightsOf(pieceAt(at)));
        for (std::size_t g = 0; g < sent.size(); ++g) sent[g] += weights[g].seconds * 2.0;
    }
    for (std::size_t g = 0; g < sent.size(); ++g)
        gradients.until[g] = larger(gradients.until[g], before + sent[g] * microbatches);
}

void ClosedStep::endStages(const Sides& passes, const PipelineTurns& turns) {
    const std::vector<Sides> apart = chunksApart(turns);
    const bool pairs = plan_.schedule == PipelineSchedule::DualPipe;
    const auto m = static_cast<double>(microbatches_);
    std::array<Ending, 2> ends;
    Sides end = passes, total;
    for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
        Gradients gradients;
        gradients.stage = s;
        CopyExchanges& copies = this->copies(s);
        const ShardFacts& facts = *stage(s).facts;
        const bool leave = copies.any() || offloads(OffloadOptimizer);
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
        const bool each = plan_.zero >= 2 && copies.any() && !pairs;
        for (std::size_t g = 0; each && g < gradients.until.size(); ++g)
            gradients.until[g] = larger(gradients.until[g], end - sinceFirst(s, turn, back) + gradients.all[g] * m);
        if (each && plan_.zero >= 3 && plan_.schedule == PipelineSchedule::ZeroBubble) keepUp(s, m, gradients);
        if (each && copies.replicas() > 1)
            gradients.replicated =
                larger(gradients.replicated, larger(gradients.until[0], gradients.until[1]) + gradients.last);
        if (each) gradients.down = larger(gradients.down, gradients.end() + gradients.lastDown);
        sent_ += gradients.joules * (each ? m : 1) + gradients.once;
        const double share = pieces_.trainedBytes > 0 ? trained / pieces_.trainedBytes : 0;
        const HeldBytes updated = trained < held.all ? HeldBytes{trained, 0} : held;
        const double divided = held.all > 0 ? copies.divided(held) / held.all : 1;
        const double mine = plan_.zero > 0 ? divided : 1;
        const bool above = offloads(OffloadOptimizer), weights = offloads(OffloadWeights);
        const double update =
            above ? trained * mine * facts_.host.updateSeconds : stage(s).pieces->optimizerSeconds * share * mine;
        Sides step = facts.factor * update;
        const double copied = facts_.host.seconds(trained * mine / (above ? offload_parts : 1));
        if (above && !weights) step = stepAndSend(step, copied * offload_parts);
        if (!above && weights)
            for (double& each_side : step.at) each_side += copied;
        const Sides ready = larger(end, gradients.end());
        Sides finish = ready + step;
        if (copies.any() && (plan_.zero == 1 || plan_.zero == 2)) {
            auto prices = copies.gather(updated);
            if (facts_.row) prices[0].seconds = prices[0].seconds * (1 - facts_.row->hiddenGather);
            finish += larger(prices[0].seconds, prices[1].seconds);
            sent_ += prices[0].joules + prices[1].joules;
        }
        updates_ += above ? 0 : update * facts.joulesPerSecond;
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
    const ShardFacts* widest = stages_.each.front().facts;
    for (const ClosedStage& one : stages_.each)
        if (one.facts->spread.width() > widest->spread.width()) widest = one.facts;
    const bool widened = widest->row || !widest->bound;
    if (const StepSpread& spread = widest->spread; widened && spread.known()) {
        const double low = total.likely() * std::exp(spread.low), high = total.likely() * std::exp(spread.high);
        figures_.low = widest->row ? low : std::min(figures_.low, low);
        figures_.high = widest->row ? high : std::max(figures_.high, high);
    }
    const bool bounded = std::all_of(stages_.each.begin(), stages_.each.end(),
                                     [](const ClosedStage& one) { return one.facts->factor.at[Sides::Least] > 0; });
    figures_.bound = bounded ? std::min(total.likely(), total.at[Sides::Least]) : 0;
    figures_.low = std::max(figures_.low, figures_.bound);
}

// As stageMemories() has it.
void ClosedStep::addMemory(std::int64_t stage, double bytes, double trained, double share, double divided,
                           double largest) {
    double counting = 0;
    const StepPieces& pieces = *this->stage(stage).pieces;
    const std::int64_t chunks = chunksPerStage(plan_);
    for (std::int64_t k = 0; k < chunks; ++k)
        counting += sums_[static_cast<std::size_t>(chunkOf(plan_, stage, static_cast<std::int32_t>(k)))].counting;
    const double kept =
        static_cast<double>(mostInFlight(plan_, stage, microbatches_)) * counting / static_cast<double>(chunks);
    const double activations =
        pieces.full ? kept * pieces.inputBytes + pieces.activationBytes : kept * pieces.activationBytes;
    figures_.stages.push_back({Bytes(bytes * (plan_.zero >= 3 ? divided : 1)),
                               Bytes(trained * (plan_.zero >= 2 ? divided : 1)),
                               Bytes(pieces.stateBytes * share * (plan_.zero >= 1 ? divided : 1)), Bytes(activations)});
    StageMemory& its = figures_.stages.back();
    if (plan_.offload != 0)
        moveToHost(plan_.offload, largest * (plan_.zero >= 3 ? divided : 1),
                   pieces.full ? pieces.inputBytes : pieces.activationBytes, pieces.full ? pieces.activationBytes : 0,
                   trained * (plan_.zero >= 1 ? divided : 1) * facts_.host.gradientBytes, its);
    figures_.hostNeeds = std::max(figures_.hostNeeds, its.host.value);
    const double capacity = this->stage(stage).facts->capacity, needs = its.total().value;
    its.capacity = Bytes(capacity);
    // Of the fullest stage, as devices may differ.
    if (figures_.capacity > 0 ? needs * figures_.capacity <= figures_.needs * capacity : needs <= figures_.needs)
        return;
    figures_.needs = needs;
    figures_.capacity = capacity;
}

}  // namespace orrery::detail
