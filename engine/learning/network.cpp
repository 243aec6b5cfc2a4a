#include "learning/network.h"

#include "learning/trees.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <iterator>
#include <memory>

namespace orrery {

namespace {

constexpr std::size_t mostLayers = 16;

void print(std::string& out, std::string_view name, const std::vector<float>& values) {
    fmt::format_to(std::back_inserter(out), R"("{}":[)", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) out += ',';
        fmt::format_to(std::back_inserter(out), "{}", values[i]);
        if (out.ends_with(".0")) out.resize(out.size() - 2);
    }
    out += ']';
}

std::vector<float> floats(JsonCursor& json, std::size_t limit) {
    std::vector<float> out;
    for (const double value : json.numbers(limit)) {
        if (!(std::abs(value) < 1e30)) json.fail("model", "a weight is too large");
        out.push_back(float(value));
    }
    return out;
}

}  // namespace

Network::Network(NetworkWeights weights) : weights_(std::move(weights)) {
    assert(!weights_.layers.empty() && weights_.layers.back().outputs == 1);
}

double Network::predict(std::span<const double> features) const {
    float input[widestLayer], output[widestLayer];
    for (std::size_t i = 0; i < weights_.mean.size(); ++i) {
        input[i] = weights_.scale[i] > 0 ? (float(features[i]) - weights_.mean[i]) / weights_.scale[i] : 0;
    }
    for (std::size_t l = 0; l < weights_.layers.size(); ++l) {
        const NetworkLayer& layer = weights_.layers[l];
        std::copy(layer.bias.begin(), layer.bias.end(), output);
        const float* weight = layer.weights.data();
        for (std::size_t i = 0; i < layer.inputs; ++i, weight += layer.outputs) {
            const float x = input[i];
            for (std::size_t o = 0; o < layer.outputs; ++o) output[o] += x * weight[o];
        }
        if (l + 1 == weights_.layers.size()) break;
        for (std::size_t o = 0; o < layer.outputs; ++o) input[o] = rectify(output[o]);
    }
    return double(weights_.targetMean) + double(weights_.targetScale) * double(output[0]);
}

std::string Network::toJson() const {
    std::string out = R"({"activation":"smooth-rectifier",)";
    print(out, "mean", weights_.mean);
    out += ',';
    print(out, "scale", weights_.scale);
    fmt::format_to(std::back_inserter(out), R"(,"target_mean":{},"target_scale":{},"layers":[)", weights_.targetMean,
                   weights_.targetScale);
    for (std::size_t l = 0; l < weights_.layers.size(); ++l) {
        fmt::format_to(std::back_inserter(out), R"({}{{"outputs":{},)", l > 0 ? ",\n" : "\n",
                       weights_.layers[l].outputs);
        print(out, "weights", weights_.layers[l].weights);
        out += ',';
        print(out, "bias", weights_.layers[l].bias);
        out += '}';
    }
    return out + "]}";
}

RegressorPtr readNetwork(JsonCursor& json) {
    NetworkWeights read;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "activation") {
            if (const auto name = json.text(); json.ok() && name != "smooth-rectifier") {
                json.fail("model", fmt::format("activation '{}' is not known", name), "smooth-rectifier");
            }
        } else if (key == "mean") {
            read.mean = floats(json, widestLayer);
        } else if (key == "scale") {
            read.scale = floats(json, widestLayer);
        } else if (key == "target_mean") {
            read.targetMean = float(json.number());
        } else if (key == "target_scale") {
            read.targetScale = float(json.number());
        } else if (key == "layers") {
            for (json.array(); json.element();) {
                NetworkLayer layer;
                for (json.object(); json.key(key);) {
                    if (key == "outputs")
                        layer.outputs = std::size_t(std::max(0.0, json.number()));
                    else if (key == "weights")
                        layer.weights = floats(json, widestLayer * widestLayer);
                    else if (key == "bias")
                        layer.bias = floats(json, widestLayer);
                    else
                        json.skip();
                }
                read.layers.push_back(std::move(layer));
                if (read.layers.size() > mostLayers) json.fail("model", fmt::format("more than {} layers", mostLayers));
            }
        } else {
            json.skip();
        }
    }
    if (!json.ok()) return nullptr;
    if (read.mean.empty() || read.mean.size() != read.scale.size() || read.layers.empty()) {
        json.fail("model", "a network without layers, or with means and scales of different length",
                  "mean and scale of each feature, and layers");
    }
    std::size_t inputs = read.mean.size();
    for (std::size_t l = 0; json.ok() && l < read.layers.size(); ++l) {
        NetworkLayer& layer = read.layers[l];
        layer.inputs = inputs;
        const bool last = l + 1 == read.layers.size();
        if (layer.outputs < 1 || layer.outputs > widestLayer || (last && layer.outputs != 1) ||
            layer.bias.size() != layer.outputs || layer.weights.size() != inputs * layer.outputs) {
            json.fail("model",
                      fmt::format("layer {}: {} weights and {} biases for {} inputs and {} outputs", l,
                                  layer.weights.size(), layer.bias.size(), inputs, layer.outputs),
                      "inputs × outputs weights, one bias per output, one output of the last layer");
        }
        inputs = layer.outputs;
    }
    if (!json.ok()) return nullptr;
    return std::make_shared<Network>(std::move(read));
}

}  // namespace orrery
