#include "methods/system/training/step_pieces.h"

#include <algorithm>

namespace orrery {

namespace {

ExchangeGroup groupOf(ProgramGroup group, const Plan& plan) {
    switch (group) {
        case ProgramGroup::Tensor:
            return {plan.tensor, 1};
        case ProgramGroup::Context:
            return {plan.context, plan.tensor};
        case ProgramGroup::Experts:
            return {plan.expert, 1};
        default:
            return {};  // gradients are no part of a layer
    }
}

Expected<LayerWay> layerWay(const std::vector<ProgramPiece>& list, const Plan& plan, const ExchangeCache& exchanges,
                            double hiddenTensor, const std::stop_token& stop, double& joules) {
    LayerWay way;
    for (const ProgramPiece& piece : list) {
        way.compute += piece.seconds;
        const auto price = exchanges.price(piece.op, piece.bytes, groupOf(piece.group, plan), stop);
        if (!price) return Unexpected(price.error());
        const bool tensor = piece.group == ProgramGroup::Tensor;
        const Sides seconds = price->seconds * (tensor ? 1 - hiddenTensor : 1);
        way.sent += seconds;
        joules += price->joules;
        way.exchanges += seconds.likely() > 0 ? 1 : 0;
        (tensor ? way.tensor : piece.group == ProgramGroup::Context ? way.context : way.expert) += seconds.likely();
    }
    return way;
}

}  // namespace

Expected<StepPieces> stepPieces(const TrainingProgram& program, const StageMemory& memory, const TrainingStep& step,
                                const ExchangeCache& exchanges, double hiddenTensor, const std::stop_token& stop) {
    StepPieces pieces;
    pieces.full = step.recompute == Recompute::Full;
    const bool blocks =
        std::any_of(program.layers.begin(), program.layers.end(), [](const LayerProgram& one) { return one.repeated; });
    for (const LayerProgram& layer : program.layers) {
        LayerPiece piece;
        auto forward = layerWay(layer.forward, program.plan, exchanges, hiddenTensor, stop, piece.joules);
        if (!forward) return Unexpected(std::move(forward.error()));
        auto backward = layerWay(layer.backward, program.plan, exchanges, hiddenTensor, stop, piece.joules);
        if (!backward) return Unexpected(std::move(backward.error()));
        piece.forward = *forward;
        piece.backward = *backward;
        piece.parameterBytes = layer.parameterBytes;
        piece.gradientBytes = layer.gradientBytes;
        piece.trainedShare = layer.trainedShare;
        piece.experts = expertsAcrossCopies(program.plan) ? layer.expertShare : 0;
        piece.expertsTrained = expertsAcrossCopies(program.plan) ? layer.expertsTrained() : 0;
        piece.weightGradients = std::min(layer.weightGradientSeconds, piece.backward.compute);
        piece.counts = !blocks || layer.repeated;
        piece.repeated = layer.repeated;
        if (piece.counts) pieces.inputBytes = std::max(pieces.inputBytes, layer.inputBytes);
        pieces.layers.push_back(piece);
    }
    double counting = 0;
    std::vector<std::int32_t> order;
    for (const ChunkProgram& chunk : program.chunks)
        order.insert(order.end(), chunk.layers.begin(), chunk.layers.end());
    for (const std::int32_t layer : order) {
        const LayerPiece& piece = pieces.layers[static_cast<std::size_t>(layer)];
        if (pieces.runs.empty() || pieces.runs.back().layer != layer)
            pieces.runs.push_back({layer, pieces.count, pieces.count});
        pieces.runs.back().end = ++pieces.count;
        pieces.parameterBytes += piece.parameterBytes;
        pieces.trainedBytes += piece.parameterBytes * piece.trainedShare;
        counting += piece.counts ? 1 : 0;
    }
    // As trainingProgram() deals them out.
    const auto alone = [&](std::int64_t at) {
        return !program.layers[static_cast<std::size_t>(order[static_cast<std::size_t>(at)])].repeated;
    };
    std::int64_t behind = 0;
    while (pieces.front < pieces.count && alone(pieces.front)) ++pieces.front;
    while (behind < pieces.count - pieces.front && alone(pieces.count - 1 - behind)) ++behind;
    pieces.dealt = pieces.count - pieces.front - behind;
    for (const double seconds : program.optimizerSeconds) pieces.optimizerSeconds += seconds;
    pieces.bucketBytes = static_cast<double>(program.bucketBytes);
    pieces.stageBytes = program.stageBytes;
    pieces.tiedBytes = program.tiedBytes;
    pieces.stateBytes = memory.optimizer.value;
    const double kept = memory.activations.value - (pieces.full ? counting * pieces.inputBytes : 0);
    pieces.activationBytes = std::max(0.0, kept) / (pieces.full ? 1 : std::max(1.0, counting));
    return pieces;
}

double secondsOfLayer(const StepPieces& pieces) {
    const bool blocks =
        std::any_of(pieces.layers.begin(), pieces.layers.end(), [](const LayerPiece& one) { return one.repeated; });
    double seconds = 0, layers = 0;
    for (const LayerRun& run : pieces.runs) {
        const LayerPiece& piece = pieces.layers[static_cast<std::size_t>(run.layer)];
        if (blocks && !piece.repeated) continue;
        const auto many = static_cast<double>(run.end - run.begin);
        layers += many;
        seconds += many * (piece.forward.compute + piece.backward.compute);
    }
    return layers > 0 ? seconds / layers : 0;
}

ChunkSums chunkSums(const StepPieces& pieces, std::int64_t begin, std::int64_t end, const Sides& factor) {
    ChunkSums sums;
    for (const LayerRun& run : pieces.runs) {
        const std::int64_t many = std::min(end, run.end) - std::max(begin, run.begin);
        if (many <= 0) continue;
        const auto times = static_cast<double>(many);
        const LayerPiece& piece = pieces.layers[static_cast<std::size_t>(run.layer)];
        const auto add = [&](const LayerWay& way, Sides& sum, Sides& computed) {
            computed += factor * (way.compute * times);
            sum += (factor * way.compute + way.sent) * times;
            sums.compute += times * way.compute;
            sums.tensor += times * way.tensor;
            sums.context += times * way.context;
            sums.expert += times * way.expert;
        };
        add(piece.forward, sums.forward, sums.forwardComputed);
        add(piece.backward, sums.backward, sums.backwardComputed);
        sums.weights += factor * (piece.weightGradients * times);
        sums.parameterBytes += times * piece.parameterBytes;
        sums.trainedBytes += times * piece.parameterBytes * piece.trainedShare;
        sums.expertBytes += times * piece.parameterBytes * piece.experts;
        sums.joules += times * piece.joules;
        sums.counting += piece.counts ? times : 0;
    }
    return sums;
}

}  // namespace orrery
