#include "store/project/what_if_yaml.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "store/project/what_ifs.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::store {
namespace {

constexpr std::int64_t mostSlots = 1'000'000, largestReshapedExtent = 1'000'000'000'000;

std::vector<std::string> kindNames() {
    std::vector<std::string> names;
    for (int k = 0; k < operatorKindCount; ++k) names.emplace_back(toText(static_cast<OperatorKind>(k)));
    return names;
}

Expected<RetypeKind> readRetype(MapReader& map, const YamlNode& node) {
    const Place place = map.placeOf(node, "retype");
    auto text = readText(node, place);
    if (!text) return tl::unexpected(text.error());
    const std::vector<std::string> names = kindNames();
    const auto kind = std::find_if(names.begin(), names.end(), [&](const auto& n) { return lower(n) == lower(*text); });
    if (kind == names.end()) {
        return fail("what-if.kind", fmt::format("`{}` is not a kind of operator", *text),
                    fmt::format("one of {}", fmt::join(names, ", ")), didYouMean(*text, names), place);
    }
    auto typeNode = map.require("type", "the number format, such as int8");
    if (!typeNode) return tl::unexpected(typeNode.error());
    const Place typePlace = map.placeOf(*typeNode, "type");
    auto typeText = readText(*typeNode, typePlace);
    if (!typeText) return tl::unexpected(typeText.error());
    const auto type = dtype(*typeText);
    if (!type || *type == DType::String) {
        return fail("what-if.type", fmt::format("`{}` is not a number format", *typeText),
                    "one of fp32, tf32, bf16, fp16, fp8, fp6, fp4, int32, int16, int8, int4",
                    didYouMean(*typeText, {"fp32", "bf16", "fp16", "fp8", "int8", "int4"}), typePlace);
    }
    return RetypeKind{static_cast<OperatorKind>(kind - names.begin()), *type};
}

Expected<FuseOperators> readFuse(MapReader& map, const YamlNode& node) {
    FuseOperators fuse;
    auto names = readTexts(node, map.placeOf(node, "fuse"));
    if (!names) return tl::unexpected(names.error());
    fuse.operators = std::move(*names);
    if (const auto name = map.take("name")) {
        auto text = readText(*name, map.placeOf(*name, "name"));
        if (!text) return tl::unexpected(text.error());
        fuse.name = std::move(*text);
    }
    return fuse;
}

Expected<ReshapeOperator> readReshape(MapReader& map, const YamlNode& node) {
    ReshapeOperator reshape;
    auto op = readText(node, map.placeOf(node, "reshape"));
    if (!op) return tl::unexpected(op.error());
    reshape.op = std::move(*op);
    const auto input = map.take("input"), output = map.take("output");
    if (input && output) {
        return fail("what-if.tensor", "an input and an output are named", "one tensor for each change",
                    "write two changes", map.placeOf(*output, "output"));
    }
    if (input || output) {
        const YamlNode& slot = input ? *input : *output;
        auto number = readWhole(slot, map.placeOf(slot, input ? "input" : "output"), 0, mostSlots);
        if (!number) return tl::unexpected(number.error());
        reshape.output = static_cast<int>(input ? -1 - *number : *number);
    }
    auto extents = map.require("extents", "the shape, such as [8, 512]");
    if (!extents) return tl::unexpected(extents.error());
    const Place place = map.placeOf(*extents, "extents");
    auto list = readList(*extents, place);
    if (!list) return tl::unexpected(list.error());
    for (const YamlNode& each : *list) {
        auto extent = readWhole(each, place, 1, largestReshapedExtent);
        if (!extent) return tl::unexpected(extent.error());
        reshape.extents.push_back(*extent);
    }
    return reshape;
}

struct Writer {
    std::string operator()(const RetypeKind& retype) const {
        return fmt::format("retype: {}\ntype: {}\n", toText(retype.kind), toText(retype.type));
    }
    std::string operator()(const FuseOperators& fuse) const {
        std::string list;
        for (const std::string& name : fuse.operators) list += (list.empty() ? "" : ", ") + yamlScalar(name);
        std::string out = fmt::format("fuse: [{}]\n", list);
        if (!fuse.name.empty()) out += fmt::format("name: {}\n", yamlScalar(fuse.name));
        return out;
    }
    std::string operator()(const ReshapeOperator& reshape) const {
        const bool output = reshape.output >= 0;
        return fmt::format("reshape: {}\n{}: {}\nextents: [{}]\n", yamlScalar(reshape.op), output ? "output" : "input",
                           output ? reshape.output : -1 - reshape.output, fmt::join(reshape.extents, ", "));
    }
};

}  // namespace

Expected<std::vector<WhatIf>> readWhatIfs(MapReader& map, YamlContext& context) {
    std::vector<WhatIf> changes;
    const auto node = map.take("what_if");
    if (!node) return changes;
    auto items = readList(*node, map.placeOf(*node, "what_if"));
    if (!items) return tl::unexpected(items.error());
    for (std::size_t i = 0; i < items->size(); ++i) {
        auto item = MapReader::open((*items)[i], fmt::format("what_if[{}]", i + 1), context);
        if (!item) return tl::unexpected(item.error());
        const auto add = [&](auto change) -> Expected<void> {
            if (!change) return tl::unexpected(change.error());
            changes.push_back(std::move(*change));
            return {};
        };
        Expected<void> done;
        if (const auto retype = item->take("retype")) {
            done = add(readRetype(*item, *retype));
        } else if (const auto fuse = item->take("fuse")) {
            done = add(readFuse(*item, *fuse));
        } else if (const auto reshape = item->take("reshape")) {
            done = add(readReshape(*item, *reshape));
        } else {
            return fail("what-if.unknown", "this version does not know such a change",
                        "an entry with `retype`, `fuse` or `reshape`",
                        "open the project in a newer Orrery, or remove it", item->place());
        }
        if (!done) return tl::unexpected(done.error());
        item->rest();  // warns of keys that mean nothing here
    }
    return changes;
}

std::string writeWhatIfs(const std::vector<WhatIf>& changes) {
    if (changes.empty()) return {};
    std::string out = "what_if:\n";
    for (const WhatIf& change : changes) {
        const std::string block = std::visit(Writer{}, change);
        out += "  - " + indented(block, 4).substr(4);
    }
    return out;
}

}  // namespace orrery::store

namespace orrery {

Expected<std::vector<WhatIf>> parseWhatIfs(std::string_view text) {
    try {
        store::YamlContext context;
        const auto first = text.find_first_not_of(" \t\r\n");
        if (first == std::string_view::npos) {
            return fail("what-if.read", "no change is given", "such as `{retype: MatMul, type: int8}`");
        }
        const bool list = text[first] == '[' || text[first] == '-';
        const std::string block = store::indented(text, list ? 2 : 4);
        auto root = store::parseDocument(
            "what_if:\n" + (list || block.size() < 4 ? block : "  - " + block.substr(4)) + "\n", context);
        if (!root) return tl::unexpected(root.error());
        auto map = store::MapReader::open(*root, "", context);
        if (!map) return tl::unexpected(map.error());
        auto changes = store::readWhatIfs(*map, context);
        if (changes && !context.warnings.empty()) {
            // A misspelt key would be a question that nobody asked.
            Diagnostic unknown = context.warnings.front();
            unknown.severity = Severity::Error;
            return tl::unexpected(std::move(unknown));
        }
        return changes;
    } catch (const std::exception& error) {
        return fail("what-if.read", fmt::format("the change cannot be read: {}", error.what()),
                    "such as `{retype: MatMul, type: int8}`");
    }
}

}  // namespace orrery
