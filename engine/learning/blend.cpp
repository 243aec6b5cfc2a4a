#include "learning/blend.h"

#include "learning/trainers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <memory>

namespace orrery {

Blend::Blend(std::vector<RegressorPtr> parts) : parts_(std::move(parts)) {
    assert(!parts_.empty() && parts_.size() <= mostParts);
    for ([[maybe_unused]] const auto& part : parts_) assert(part->inputs() == inputs());
}

double Blend::predict(std::span<const double> features) const {
    double sum = 0;
    for (const auto& part : parts_) sum += part->predict(features);
    return sum / double(parts_.size());
}

namespace {

std::string partsJson(const std::vector<RegressorPtr>& parts) {
    std::string out = "[";
    for (const auto& part : parts) {
        if (out.size() > 1) out += ',';
        out += fmt::format(R"({{"kind":"{}","model":{}}})", part->kind(), part->toJson());
    }
    return out + "]";
}

// The parts of a model that is `whole`; empty if they cannot be read, which the cursor says.
std::vector<RegressorPtr> readParts(JsonCursor& json, std::string_view whole) {
    std::vector<RegressorPtr> parts;
    for (json.array(); json.element();) {
        std::string kind;
        RegressorPtr part;
        std::string_view key;
        for (json.object(); json.key(key);) {
            if (key == "kind") {
                kind = json.text();
            } else if (key == "model") {
                if (json.ok() && (kind.empty() || kind == "sum" || kind == whole)) {
                    json.fail("model", fmt::format("a part of a {} whose kind is not told before its model", whole),
                              whole == "sum" ? "trees, network, linear or blend" : "trees, network or linear");
                }
                part = json.ok() ? readRegressor(kind, json) : nullptr;
            } else
                json.skip();
        }
        if (json.ok() && !part)
            json.fail("model", fmt::format("a part of a {} without a model", whole), "kind and model");
        if (json.ok() && parts.size() >= mostParts) json.fail("model", "too many parts", fmt::format("{}", mostParts));
        if (json.ok() && !parts.empty() && part->inputs() != parts.front()->inputs()) {
            json.fail("model", fmt::format("parts of a {} over different features", whole), "equal inputs");
        }
        if (!json.ok()) return {};
        parts.push_back(std::move(part));
    }
    if (json.ok() && parts.empty()) json.fail("model", fmt::format("a {} without parts", whole), "one or more");
    if (!json.ok()) return {};
    return parts;
}

}  // namespace

std::string Blend::toJson() const {
    return partsJson(parts_);
}

RegressorPtr readBlend(JsonCursor& json) {
    auto parts = readParts(json, "blend");
    return parts.empty() ? nullptr : std::make_shared<Blend>(std::move(parts));
}

Sum::Sum(std::vector<RegressorPtr> parts) : parts_(std::move(parts)) {
    assert(!parts_.empty() && parts_.size() <= mostParts);
    for ([[maybe_unused]] const auto& part : parts_) assert(part->inputs() == inputs());
}

double Sum::predict(std::span<const double> features) const {
    double sum = 0;
    for (const auto& part : parts_) sum += part->predict(features);
    return sum;
}

std::string Sum::toJson() const {
    return partsJson(parts_);
}

RegressorPtr readSum(JsonCursor& json) {
    auto parts = readParts(json, "sum");
    return parts.empty() ? nullptr : std::make_shared<Sum>(std::move(parts));
}

Expected<RegressorPtr> trainBlend(const TrainingData& data, const TrainingData* validation,
                                  const TrainingOptions& options) {
    TrainingOptions network = options, trees = options;
    network.kind = "network";
    network.rate = 0;
    network.loss = "absolute";  // trees need steps that sum up, a network does better by its median
    trees.kind = "compact-trees";
    trees.steps = options.blendTrees;
    trees.onStep = nullptr;
    std::vector<RegressorPtr> parts;
    for (int i = 0; i < options.blendNetworks + options.blendBoosters; ++i) {
        network.seed = trees.seed = options.seed + std::uint64_t(i);
        if (i == 0 && options.blendNetworks == 0) trees.onStep = options.onStep;
        auto trained = train(data, validation, i < options.blendNetworks ? network : trees);
        network.onStep = trees.onStep = nullptr;
        if (!trained) return trained;
        parts.push_back(std::move(*trained));
    }
    if (parts.size() == 1) return parts.front();
    return std::make_shared<Blend>(std::move(parts));
}

}  // namespace orrery
