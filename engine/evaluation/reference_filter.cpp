#include "base/text/nearest.h"
#include "base/text/words.h"
#include "base/unit.h"
#include "evaluation/reference_checks.h"
#include "evaluation/reference_table.h"
#include "evaluation/row_facets.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace orrery {

namespace {

struct Extent {
    std::string_view name;
    double (*of)(const Kernel&);
};
template <std::int64_t Kernel::*member>
double extent(const Kernel& k) {
    return static_cast<double>(k.*member);
}
template <std::int64_t AttentionShape::*member>
double attention(const Kernel& k) {
    return static_cast<double>(k.attention.*member);
}
constexpr std::array<Extent, 13> extents{
    {{"m", extent<&Kernel::m>},
     {"n", extent<&Kernel::n>},
     {"k", extent<&Kernel::k>},
     {"batch",
      [](const Kernel& k) {
          const bool inside = k.kind == KernelKind::PrefillAttention || k.kind == KernelKind::DecodeAttention;
          return static_cast<double>(inside                              ? k.attention.batch
                                     : k.kind == KernelKind::Convolution ? k.convolution.batch
                                                                         : k.batch);
      }},
     {"queries", attention<&AttentionShape::queries>},
     {"keys", attention<&AttentionShape::keys>},
     {"heads", attention<&AttentionShape::heads>},
     {"kv_heads", attention<&AttentionShape::kvHeads>},
     {"head_dim", attention<&AttentionShape::headDim>},
     {"window", extent<&Kernel::window>},
     {"ranks", extent<&Kernel::ranks>},
     {"message_bytes", [](const Kernel& k) { return k.messageBytes; }},
     {"scale_block", [](const Kernel& k) { return double{1} * k.scaleBlock; }}}};
constexpr std::array<std::string_view, 13> words{"device", "dtype",    "kind",       "variant", "software",
                                                 "table",  "function", "collective", "library", "platform",
                                                 "class",  "level",    "truth"};

struct Range {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
std::optional<Range> rangeOf(std::string_view text) {
    const auto number = [](std::string_view part, double& value) {
        if (part.empty()) return true;
        const auto read = numberIn(part);
        value = read.value_or(0);
        return read.has_value();
    };
    Range range;
    const auto dots = text.find("..");
    if (dots == std::string_view::npos) {
        if (text.empty() || !number(text, range.low)) return std::nullopt;
        range.high = range.low;
        return range;
    }
    if (text.size() == 2 || !number(text.substr(0, dots), range.low) || !number(text.substr(dots + 2), range.high)) {
        return std::nullopt;
    }
    return range;
}

// Types of all operands together, in the words that tables use.
bool isOfType(const Kernel& kernel, std::string_view word) {
    if (kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution) {
        const auto weights = toText(kernel.weightType);
        if (word == "int8_wo" || word == "int4_wo") {
            return kernel.weightType != kernel.type && weights == word.substr(0, word.size() - 3);
        }
        if (kernel.weightType != kernel.type) return false;
        const bool block = kernel.scaleBlock > 0 && kernel.type != DType::FP4;
        if (word.ends_with("_block")) {
            const auto type = dtype(word.substr(0, word.size() - 6));
            return block && type == kernel.type;
        }
        if (block) return false;
    }
    if (word == "sq") return kernel.type == DType::I8;
    if (word == "nvfp4") return kernel.type == DType::FP4 && kernel.scaleBlock == 16;
    return dtype(word) == kernel.type;
}

bool holds(std::string_view key, std::string_view value, const ReferenceTable& table, const ReferenceRow& row) {
    const Kernel& kernel = row.kernel;
    if (key == "device") {
        const auto& device = table.devices[static_cast<std::size_t>(row.device)];
        return device.catalogue == value || device.name == value;
    }
    if (key == "dtype") return isOfType(kernel, value);
    if (key == "kind") return (table.models.empty() ? toText(kernel.kind) : "model") == value;
    for (const Facet facet : facets) {
        if (key == toText(facet)) return facetOf(facet, table, row) == value;
    }
    if (key == "variant") return kernelVariant(kernel) == value;
    if (key == "software") return table.software == value;
    if (key == "table") return table.name == value;
    if (key == "function") return kernel.function == value;
    if (key == "collective") return kernel.kind == KernelKind::Collective && toText(kernel.collective) == value;
    if (key == "library") {
        return kernel.kind == KernelKind::Collective &&
               (kernel.library == CollectiveLibrary::Custom ? "custom" : "nccl") == value;
    }
    const auto found = std::find_if(extents.begin(), extents.end(), [&](const Extent& e) { return e.name == key; });
    const auto range = rangeOf(value);
    if (found == extents.end() || !range) return false;
    const double is = found->of(kernel);
    return is >= range->low && is <= range->high;
}

Expected<void> check(std::string_view key, std::string_view value) {
    const bool extentKey = std::any_of(extents.begin(), extents.end(), [&](const Extent& e) { return e.name == key; });
    if (!extentKey && std::find(words.begin(), words.end(), key) == words.end()) {
        std::vector<std::string> names(words.begin(), words.end());
        for (const auto& each : extents) names.emplace_back(each.name);
        return fail("reference.filter", fmt::format("rows cannot be chosen by '{}'", key), quotedList(names, "or"),
                    didYouMean(std::string(key), names));
    }
    std::string expected;
    if (value.empty()) expected = "key=value";
    if (extentKey && !rangeOf(value)) expected = "a number, or a range such as 1..64 or 4096..";
    const bool ownWord = value == "sq" || value == "nvfp4" || value.ends_with("_wo") || value.ends_with("_block");
    if (key == "dtype" && !ownWord && !dtype(value)) expected = "bf16, fp16, fp8, fp8_block, int8_wo, int4_wo, sq, …";
    if (key == "level" && value != "kernel" && value != "model" && value != "system")
        expected = "kernel, model or system";
    if (key == "truth" && value != "measured" && value != "summed" && value != "simulated")
        expected = "measured, summed or simulated";
    if (key == "kind" && value != "model" && !kernelKind(value))
        expected = "gemm, prefill-attention, decode-attention, elementwise, …";
    if (key == "platform") {
        const auto known = platformWords();
        if (std::find(known.begin(), known.end(), value) == known.end()) expected = quotedList(known, "or");
    }
    if (expected.empty()) return {};
    return fail("reference.filter", fmt::format("'{}' is no {} to choose rows by", value, key), std::move(expected),
                "terms are separated by commas, alternatives by |");
}

}  // namespace

bool ReferenceFilter::accepts(const ReferenceTable& table, const ReferenceRow& row) const {
    return std::all_of(terms.begin(), terms.end(), [&](const auto& term) {
        return std::any_of(term.second.begin(), term.second.end(),
                           [&](const std::string& value) { return holds(term.first, value, table, row); });
    });
}

Expected<ReferenceFilter> parseFilter(std::string_view text) {
    ReferenceFilter filter;
    while (!trimmed(text).empty()) {
        const auto comma = text.find(',');
        const auto term = trimmed(text.substr(0, comma));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        const auto equals = term.find('=');
        const auto key = trimmed(term.substr(0, equals));
        auto values = equals == std::string_view::npos ? std::string_view() : term.substr(equals + 1);
        std::vector<std::string> alternatives;
        while (true) {
            const auto bar = values.find('|');
            const auto value = trimmed(values.substr(0, bar));
            if (auto sound = check(key, value); !sound) return tl::unexpected(std::move(sound.error()));
            alternatives.emplace_back(value);
            if (bar == std::string_view::npos) break;
            values.remove_prefix(bar + 1);
        }
        filter.terms.emplace_back(std::string(key), std::move(alternatives));
    }
    return filter;
}

}  // namespace orrery
