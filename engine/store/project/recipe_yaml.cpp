#include "store/project/recipe_yaml.h"

#include "base/text/nearest.h"
#include "workload/one_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace orrery::store {

namespace {

constexpr std::int64_t largestExtent = 1'000'000'000;

Expected<void> readExtent(MapReader& map, std::string_view key, std::int64_t lowest, std::int64_t& out) {
    const auto node = map.take(key);
    if (!node) return {};
    auto value = readWhole(*node, map.placeOf(*node, key), lowest, largestExtent);
    if (!value) return tl::unexpected(value.error());
    out = *value;
    return {};
}

Expected<void> readType(MapReader& map, std::string_view key, DType& out) {
    const auto node = map.take(key);
    if (!node) return {};
    const Place place = map.placeOf(*node, key);
    auto text = readText(*node, place);
    if (!text) return tl::unexpected(text.error());
    const auto type = dtype(*text);
    if (!type || *type == DType::String) {
        return fail("recipe.dtype", fmt::format("`{}` is not a number format", *text),
                    "one of fp32, tf32, bf16, fp16, fp8, fp6, fp4, int32, int16, int8, int4",
                    didYouMean(*text, {"fp32", "bf16", "fp16", "fp8", "int8", "int4"}), place);
    }
    out = *type;
    return {};
}

Expected<std::optional<NumberFormat>> readFormat(MapReader& map, std::string_view key) {
    const auto node = map.take(key);
    if (!node) return std::nullopt;
    const Place place = map.placeOf(*node, key);
    auto text = readText(*node, place);
    if (!text) return tl::unexpected(text.error());
    const auto format = numberFormat(*text);
    if (!format) {
        std::vector<std::string> known{"fp32", "bf16", "fp16", "fp8", "int8", "int4"};
        const auto scaled = scaledFormatNames();
        known.insert(known.end(), scaled.begin(), scaled.end());
        return fail("recipe.dtype", fmt::format("`{}` is not a number format", *text),
                    fmt::format("one of fp32, tf32, bf16, fp16, fp8, fp6, fp4, int32, int16, int8, int4, {}",
                                fmt::join(scaled, ", ")),
                    didYouMean(*text, known), place);
    }
    return format;
}

Expected<void> readBindings(MapReader& map, Bindings& out) {
    const auto node = map.take("bindings");
    if (!node) return {};
    const Place place = map.placeOf(*node, "bindings");
    if (!node->isMap()) {
        return fail("yaml.type", "expected a mapping of symbols to numbers here", "`{batch: 8, seq: 128}`", "", place);
    }
    Bindings bindings;
    for (const YamlNode& each : node->items) {
        auto value = readWhole(each, map.placeOf(each, "bindings." + each.key), 1, largestExtent);
        if (!value) return tl::unexpected(value.error());
        bindings.emplace(each.key, *value);
    }
    out = std::move(bindings);
    return {};
}

}  // namespace

Expected<WorkloadOptions> readOptions(MapReader& map, WorkloadOptions options, const std::string& source) {
    const auto flow = readExtent(map, "batch", 1, options.batch)
                          .and_then([&] { return readExtent(map, "sequence", 0, options.sequence); })
                          .and_then([&] { return readExtent(map, "image", 0, options.image); })
                          .and_then([&] { return readType(map, "kv", options.kv); })
                          .and_then([&] { return readBindings(map, options.bindings); });
    if (!flow) return tl::unexpected(flow.error());
    auto weights = readFormat(map, "weights"), activations = readFormat(map, "activations");
    if (!weights) return tl::unexpected(std::move(weights.error()));
    if (!activations) return tl::unexpected(std::move(activations.error()));
    if (*weights) options.setWeights(**weights);
    if (*weights && **weights == WorkloadOptions{}.weightFormat() && hasOwnTypes(source))
        map.warn(warning("recipe.weights",
                         fmt::format("weights of {} say nothing of an ONNX file: they keep the types that stand in it",
                                     toText(**weights)),
                         "remove the line, or put the products into one type with `what_if: [{retype: MatMul, type: "
                         "fp16}]`",
                         map.place()));
    if (*activations) options.setActivations(**activations);
    if (const auto node = map.take("phase")) {
        const Place place = map.placeOf(*node, "phase");
        auto text = readText(*node, place);
        if (!text) return tl::unexpected(text.error());
        const auto found = phase(*text);
        if (!found) {
            return fail("recipe.phase", fmt::format("`{}` is not a phase", *text),
                        "one of forward, prefill, decode, training-forward",
                        didYouMean(*text, {"forward", "prefill", "decode", "training-forward"}), place);
        }
        options.phase = *found;
    }
    if (const auto node = map.take("flash_attention")) {
        auto on = readBool(*node, map.placeOf(*node, "flash_attention"));
        if (!on) return tl::unexpected(on.error());
        options.flashAttention = *on;
    }
    return options;
}

std::string writeOptions(const WorkloadOptions& options, int indent, const WorkloadOptions& base) {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string out;
    const auto line = [&](std::string_view key, std::string_view value) {
        out += fmt::format("{}{}: {}\n", margin, key, value);
    };
    const auto number = [&](std::string_view key, std::int64_t value, std::int64_t usual) {
        if (value != usual) line(key, fmt::format("{}", value));
    };
    const auto type = [&](std::string_view key, DType value, DType usual) {
        if (value != usual) line(key, toText(value));
    };
    number("batch", options.batch, base.batch);
    number("sequence", options.sequence, base.sequence);
    number("image", options.image, base.image);
    if (options.phase != base.phase) line("phase", toText(options.phase));
    if (options.weightFormat() != base.weightFormat()) line("weights", toText(options.weightFormat()));
    if (options.activationFormat() != base.activationFormat()) line("activations", toText(options.activationFormat()));
    type("kv", options.kv, base.kv);
    if (options.flashAttention != base.flashAttention) {
        line("flash_attention", options.flashAttention ? "true" : "false");
    }
    if (options.bindings != base.bindings) {
        std::string list;
        for (const auto& [symbol, value] : options.bindings) {
            list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", yamlScalar(symbol), value);
        }
        line("bindings", "{" + list + "}");
    }
    return out;
}

}  // namespace orrery::store
