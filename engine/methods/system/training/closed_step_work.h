#pragma once

// A plan, worked through once: for the sources of closedStep() only. closed_step.cpp has the order and the sums,
// closed_step_chunks.cpp the chunks of layers in turns, closed_step_ends.cpp what comes after the last of them.

#include "methods/system/training/closed_step.h"
#include "methods/system/training/copy_exchanges.h"
#include "methods/system/training/pipeline_law.h"

#include <array>
#include <optional>
#include <vector>

namespace orrery::detail {

/// Layers [begin, end).
struct LayerRange {
    std::int64_t begin = 0, end = 0;
};

class ClosedStep {
public:
    ClosedStep(const ClosedStages& stages, const Plan& plan, std::int64_t microbatches, const std::stop_token& stop);

    Expected<StepFigures> make();

private:
    std::vector<TurnBit> bitsOf(const LayerRange& range, bool forward) const;
    std::vector<double> waitsBeside() const;
    LayerRange rangeOf(std::int64_t chunk) const;
    Sides onLink(double bytes) const;
    Sides linkBound() const;
    bool offloads(OffloadPart part) const { return (plan_.offload & part) != 0; }
    double largestOf(const LayerRange& range) const;
    bool alike() const { return !mixed() && plan_.layers.empty() && pieces_.dealt % chunks_ == 0; }
    bool mixed() const { return stages_.each.size() > 1; }
    const ClosedStage& stage(std::int64_t at) const { return stages_.each[mixed() ? static_cast<std::size_t>(at) : 0]; }
    std::int64_t stageOf(std::int64_t layer) const;  ///< of several kinds of device; else 0
    CopyExchanges& copies(std::int64_t at) { return copies_[mixed() ? static_cast<std::size_t>(at) : 0]; }
    Sides computing(std::int64_t at) const { return stage(at).facts->factor * slow_; }
    Expected<std::vector<Sides>> messages();
    std::int32_t layerAt(std::int64_t at) const {
        for (const LayerRun& run : pieces_.runs)
            if (at < run.end) return run.layer;
        return pieces_.runs.back().layer;
    }
    void addChunk(const LayerRange& range);
    /// The run that holds all of it; null where it holds several.
    const LayerRun* runOf(const LayerRange& range) const;
    static HeldBytes weightsOf(const LayerPiece& piece) {
        return {piece.parameterBytes, piece.parameterBytes * piece.experts};
    }
    static HeldBytes gradientsOf(const LayerPiece& piece) {
        return {piece.gradientBytes, piece.gradientBytes * piece.expertsTrained};
    }
    const LayerPiece& pieceAt(std::int64_t at) const {
        return stage(stageOf(at)).pieces->layers[static_cast<std::size_t>(layerAt(at))];
    }
    void slowBeside();
    /// Share of a chunk's forward passes that come after a backward one: those of the warm-up do not.
    double afterBackwards(std::int64_t chunk) const;
    void fetchBeside(std::int64_t chunk, const LayerRange& range);

    /// The exchanges of gradients of one stage: one under way in each group of holders.
    struct Gradients {
        std::int64_t stage = 0;
        std::array<Sides, CopyExchanges::groups> until, all;
        Sides down, lastDown;    ///< until the host has them, and what the last of it takes
        Sides replicated, last;  ///< until sets of copies have added up their shares, and what the last of it takes
        double joules = 0, once = 0;
        HeldBytes bucket;
        Sides end() const { return larger(larger(down, replicated), larger(until[0], until[1])); }
    };
    void send(Gradients& gradients, const Sides& ready);
    void exchangeBeside(std::int64_t chunk, const Sides& end, Gradients& gradients);
    void exchangeAtEnd(std::int64_t chunk, const Sides& end, Gradients& gradients);
    /// With `zero=3` and gradients of weights put off: no stage is done before all that its micro-batches send is.
    void keepUp(std::int64_t stage, double microbatches, Gradients& gradients);
    /// How far before a stage's end the last backward pass of each of its interleaved chunks ends.
    std::vector<Sides> chunksApart(const PipelineTurns& turns) const;
    /// By how much a stage ends before the one in front of it.
    Sides aheadOf(std::int64_t stage, const PipelineTurns& turns) const;
    /// From a stage's first backward pass to its last. It waits in there for one forward pass of each stage behind it;
    /// those of the warm-up are not among it.
    Sides sinceFirst(std::int64_t stage, const Sides& turn, const Sides& back) const;

    /// A stage from when its gradients are whole.
    struct Ending {
        Sides ready, after;
        double end = 0, update = 0;  ///< s, likely
    };
    void addTied(const std::array<Ending, 2>& ends, Sides& total);
    void endStages(const Sides& passes, const PipelineTurns& turns);
    void addMemory(std::int64_t stage, double bytes, double trained, double share, double divided, double largest);

    void hide();
    void sumUp();

    const ClosedStages& stages_;
    const StepPieces& pieces_;  ///< of the first stage: what holds for all, which is all but seconds
    const ShardFacts& facts_;   ///< the same
    const Plan& plan_;
    std::int64_t microbatches_, chunks_;
    std::vector<CopyExchanges> copies_;  ///< as stages_.each
    std::vector<std::int64_t> bounds_;   ///< of layers, by chunk, where they are not dealt evenly
    const std::stop_token& stop_;
    StepFigures figures_;
    std::optional<Diagnostic> problem_;
    std::vector<ChunkSums> sums_;
    std::vector<Sides> forward_, backward_, forwardComputed_, backwardComputed_, weights_;  ///< by chunk
    std::vector<Sides> onHostLink_;  ///< of a micro-batch, both ways, by chunk; empty: nothing
    LayerRange last_;
    double slow_ = 1;     ///< computing, by exchanges beside it
    Sides began_;         ///< until the first weights are there
    double updates_ = 0;  ///< J of one device of each stage, for its optimizer
    double sent_ = 0;     ///< the same, for gradients, weights and what stages hand over
};

}  // namespace orrery::detail
