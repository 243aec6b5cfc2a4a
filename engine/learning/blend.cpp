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

std::string Blend::toJson() const {
    std::string out = "[";
    for (const auto& part : parts_) {
        if (out.size() > 1) out += ',';
        out += fmt::format(R"({{"kind":"{}","model":{}}})", part->kind(), part->toJson());
    }
    return out + "]";
}

RegressorPtr readBlend(JsonCursor& json) {
    std::vector<RegressorPtr> parts;
    for (json.array(); json.element();) {
        std::string kind;
        RegressorPtr part;
        std::string_view key;
        for (json.object(); json.key(key);) {
            if (key == "kind") {
                kind = json.text();
            } else if (key == "model") {
                if (json.ok() && (kind.empty() || kind == "blend")) {
                    json.fail("model", "a part of a blend whose kind is not told before its model",
                              "trees, network or linear");
                }
                part = json.ok() ? readRegressor(kind, json) : nullptr;
            } else
                json.skip();
        }
        if (json.ok() && !part) json.fail("model", "a part of a blend without a model", "kind and model");
        if (json.ok() && parts.size() >= mostParts) json.fail("model", "too many parts", fmt::format("{}", mostParts));
        if (json.ok() && !parts.empty() && part->inputs() != parts.front()->inputs()) {
            json.fail("model", "parts of a blend over different features", "equal inputs");
        }
        if (!json.ok()) return nullptr;
        parts.push_back(std::move(part));
    }
    if (json.ok() && parts.empty()) json.fail("model", "a blend without parts", "one or more");
    if (!json.ok()) return nullptr;
    return std::make_shared<Blend>(std::move(parts));
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
