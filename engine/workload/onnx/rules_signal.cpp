// Signal processing, text and images.

#include "workload/onnx/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {
namespace {

constexpr auto other = OperatorKind::Other;

std::int64_t scalar(const RuleContext& context, std::size_t slot) {
    const auto* elements = context.elements(slot);
    return elements && elements->size() == 1 && elements->front() >= 0 ? elements->front() : unknown;
}

/// x[…, signal, 1 or 2] becomes […, bins, 2].
void dft(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x || x->rank() < 2) return;
    std::int64_t axisGiven = context.node.integer("axis", 1);
    if (context.node.opset() >= 20) {
        axisGiven = -2;
        if (context.input(2)) {
            const auto* given = context.elements(2);
            if (!given || given->size() != 1) return context.set(0, x->type, Extents(x->rank(), unknown));
            axisGiven = given->front();
        }
    }
    const auto axis = context.axis(axisGiven, x->rank());
    if (!axis) return;
    Extents result = x->extents;
    if (context.input(1)) result[*axis] = scalar(context, 1);
    const bool half = context.node.integer("onesided", 0) != 0;
    if (half && result[*axis] != unknown) result[*axis] = result[*axis] / 2 + 1;
    result.back() = 2;
    context.set(0, x->type, std::move(result));
}

/// signal[B, L, 1 or 2] becomes [B, frames, bins, 2].
void stft(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value *x = context.shaped(0), *window = context.shaped(2);
    if (!x || x->rank() < 2) return;
    const std::int64_t step = scalar(context, 1), length = x->extents[1];
    std::int64_t frame = scalar(context, 3);
    if (frame == unknown && window && window->rank() == 1) frame = window->extents[0];
    if (step == 0) {
        context.contradict("frame_step is 0", "1 or more");
        return;
    }
    if (frame > length && length >= 0) {
        context.contradict(fmt::format("a frame of {} does not fit a signal of {}", frame, length), "a shorter frame");
        return;
    }
    const std::int64_t frames = frame < 0 || step < 0 || length < 0 ? unknown : (length - frame) / step + 1;
    const bool half = context.node.integer("onesided", 1) != 0;
    context.set(0, x->type, {x->extents[0], frames, frame < 0 ? unknown : half ? frame / 2 + 1 : frame, 2});
}

void stringNormalizer(RuleContext& context) {
    const Value* x = context.shaped(0);
    context.setType(0, ElementType::String);
    if (!x) return;
    const auto* stop = context.node.attribute("stopwords");
    Extents result = x->extents;
    if (stop && stop->strings_size() > 0 && !result.empty()) result.back() = unknown;
    context.set(0, ElementType::String, std::move(result));
}

void tfIdf(RuleContext& context) {
    const Value* x = context.shaped(0);
    context.setType(0, ElementType::Float);
    if (!x || x->rank() == 0) return;
    std::int64_t last = -1;
    for (const std::int64_t at : context.node.integers("ngram_indexes")) last = std::max(last, at);
    Extents result(x->extents.begin(), x->extents.end() - 1);
    result.push_back(last < largestExtent ? last + 1 : largestExtent + 1);
    context.set(0, ElementType::Float, std::move(result));
}

void fullMatch(RuleContext& context) {
    context.like(0, 0);
    context.setType(0, ElementType::Bool);
}

void stringSplit(RuleContext& context) {
    const Value* x = context.shaped(0);
    context.setType(0, ElementType::String);
    context.setType(1, ElementType::Int64);
    if (!x) return;
    context.set(1, ElementType::Int64, x->extents);
    Extents result = x->extents;
    result.push_back(unknown);
    context.set(0, ElementType::String, std::move(result));
}

void decodeImage(RuleContext& context) {
    const bool grey = context.node.text("pixel_format", "RGB") == "Grayscale";
    context.set(0, ElementType::UInt8, {unknown, unknown, grey ? 1 : 3});
}

}  // namespace

std::vector<RuleRow> signalRules() {
    return {{"DFT", dft, other},
            {"STFT", stft, other},
            {"StringNormalizer", stringNormalizer, other},
            {"StringConcat", broadcastAll, other},
            {"StringSplit", stringSplit, other},
            {"RegexFullMatch", fullMatch, other},
            {"TfIdfVectorizer", tfIdf, other},
            {"ImageDecoder", decodeImage, other}};
}

}  // namespace orrery::onnx_import
