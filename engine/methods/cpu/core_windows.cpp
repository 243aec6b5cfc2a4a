#include "methods/cpu/core_windows.h"

#include "base/text/json_node.h"
#include "base/text/read_file.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery {

using namespace pipeline;

namespace {

constexpr double least = 1e-4;   // cycles per operation; what is less counts as this
constexpr int modelVersion = 2;  // 1: `together` was a pass of dataflow

}  // namespace

const std::vector<std::string>& windowFeatureNames() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (std::size_t r = 0; r < resourceCount; ++r) all.emplace_back(toText(static_cast<Resource>(r)));
        for (const char* more : {"together", "slots", "loads", "stores", "branches", "mispredicted", "missing_1",
                                 "missing_2", "missing_3", "issue_width", "reorder_buffer"})
            all.emplace_back(more);
        return all;
    }();
    return names;
}

void windowFeatures(const WindowBounds& b, const Machine& machine, std::vector<double>& out) {
    out.clear();
    const double together = std::max(b.together, least);
    for (const double cycles : b.cycles) out.push_back(std::log(std::clamp(cycles / together, 0.01, 4.0)));
    out.push_back(std::log(together));
    for (const double each : {b.slotsTaken, b.loads, b.stores, b.branches}) out.push_back(each);
    out.push_back(std::log(1e-4 + b.mispredicted));
    for (const double each : b.missing) out.push_back(std::log(1e-4 + each));
    out.push_back(machine.issueWidth);
    out.push_back(std::log(machine.reorderBuffer));
}

std::array<double, resourceCount> shareLargest(const std::array<double, resourceCount>& bounds) {
    std::array<std::size_t, resourceCount> order{};
    for (std::size_t i = 0; i < resourceCount; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bounds[a] < bounds[b]; });
    std::array<double, resourceCount> shares{};
    double before = 0, paid = 0;
    for (std::size_t i = 0; i < resourceCount; ++i) {
        const double bound = std::max(0.0, bounds[order[i]]);
        paid += (bound - before) / static_cast<double>(resourceCount - i);
        before = bound;
        shares[order[i]] = paid;
    }
    return shares;
}

CoreEstimate estimateCore(const KernelWindows& windows, const Machine& machine, const WindowModel& model) {
    CoreEstimate out;
    out.operations = windows.operations;
    out.instructions = windows.instructions;
    std::vector<double> features;
    for (const WindowBounds& b : windows.classes) {
        windowFeatures(b, machine, features);
        const double scale = model.regressor ? std::exp(model.regressor->predict(features)) : 1.0;
        // No window is faster than its width allows.
        const double rate = std::max(b.together * scale, b.cycles[static_cast<std::size_t>(Resource::Width)]);
        const double cycles = rate * b.operations;
        out.cycles += cycles;
        out.classCycles.push_back(cycles);
        const auto shares = shareLargest(b.cycles);
        double largest = 0;
        for (const double each : shares) largest += each;
        // A bound that proves too high is no more than what was predicted.
        const double fits = largest > rate ? rate / largest : 1;
        for (std::size_t r = 0; r < resourceCount; ++r) out.by[r] += shares[r] * fits * b.operations;
    }
    double told = 0;
    for (const double each : out.by) told += each;
    out.interplay = std::max(0.0, out.cycles - told);
    out.low = out.cycles * model.low;
    out.high = out.cycles * model.high;
    return out;
}

CoreEstimate estimateCore(const LoopNest& nest, const Machine& machine, const WindowModel& model,
                          const WindowOptions& options) {
    const auto ops = boundOps(machine, nest.ops);
    return estimateCore(windowsOf(nest, machine, ops, options), machine, model);
}

std::string toJson(const WindowModel& model) {
    nlohmann::ordered_json json{{"format", "orrery-core-windows"},
                                {"version", modelVersion},
                                {"source", model.source},
                                {"low", model.low},
                                {"high", model.high},
                                {"features", windowFeatureNames()},
                                {"kind", model.regressor ? std::string(model.regressor->kind()) : "none"}};
    // A text: what reads it is the regressor's own reader.
    json["model"] = model.regressor ? model.regressor->toJson() : "";
    return json.dump() + "\n";
}

Expected<WindowModel> loadWindowModel(const std::string& given) {
    const std::string path = given.empty() ? presetsFolder() + "/pipelines/windows-model.json" : given;
    const auto text = readFile(path);
    if (!text) return Unexpected(text.error());
    const auto refuse = [&](std::string message, std::string expected) {
        return fail("core.model", std::move(message), std::move(expected),
                    "`orrery-cli core --teach FILE` writes such a file", Place{path, 0, 0, {}});
    };
    const auto json = parseJson(*text, path, "core");
    if (!json) return Unexpected(json.error());
    const JsonNode* format = json->given("format");
    if (!format || format->text != "orrery-core-windows")
        return refuse("this is no model of windows", "a JSON object of format orrery-core-windows");
    if (json->numberOf("version").value_or(0) != modelVersion)
        return refuse("the model is of another version", fmt::format("version {}", modelVersion));
    const JsonNode* features = json->given("features");
    const auto names = windowFeatureNames();
    const auto isNamed = [](const JsonNode& node, const std::string& name) { return node.text == name; };
    if (!features || !features->isArray() ||
        !std::equal(features->items.begin(), features->items.end(), names.begin(), names.end(), isNamed))
        return refuse("the model asks for other features", "the features of this version");
    const JsonNode *kind = json->given("kind"), *trees = json->given("model");
    if (!kind || !kind->isText() || !trees || !trees->isText())
        return refuse("the model has no regressor", "keys `kind` and `model`");
    WindowModel model;
    if (kind->text != "none") {
        auto regressor = parseRegressor(kind->text, trees->text);
        if (!regressor) return Unexpected(regressor.error());
        if ((*regressor)->inputs() != names.size())
            return refuse("the regressor takes another number of features", fmt::format("{}", names.size()));
        model.regressor = *regressor;
    }
    model.low = json->numberOf("low").value_or(1), model.high = json->numberOf("high").value_or(1);
    if (const JsonNode* source = json->given("source")) model.source = source->text;
    return model;
}

}  // namespace orrery
