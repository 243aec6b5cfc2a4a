#include "mapping/data_centric/maestro_parser.h"

#include "base/text/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

using Kind = MaestroToken::Kind;
const std::vector<std::string> layerKeys{"Type", "Stride", "Dimensions", "Dataflow"};
const std::vector<std::string> topKeys{"Constant", "Network", "Accelerator"};
const std::vector<std::string> types{"CONV", "DSCONV", "TRCONV", "NGCONV", "FC", "GEMM", "BMM", "LSTM"};

std::string shown(const MaestroToken& token) {
    return token.kind == Kind::End ? "the end of the file" : fmt::format("`{:.60}`", token.text);
}

}  // namespace

bool MaestroParser::accept(std::string_view sign) {
    if (!peek().is(sign)) return false;
    take();
    return true;
}

Unexpected MaestroParser::wrong(std::string code, std::string message, std::string expected, std::string hint) const {
    return fail(std::move(code), std::move(message), std::move(expected), std::move(hint), placeOf(peek()));
}

MaestroParser::Done MaestroParser::expect(std::string_view sign, std::string_view after) {
    if (accept(sign)) return {};
    return wrong("maestro.syntax", fmt::format("{} stands where `{}` belongs", shown(peek()), sign),
                 fmt::format("`{}` after {}", sign, after), "look for a bracket that is missing just before");
}

void MaestroParser::separators() {
    while (peek().is(",") || peek().is(";") || peek().is(":")) take();
}

std::string MaestroParser::nameUntilBrace() {
    std::string name;
    while (peek().kind != Kind::End && !peek().is("{") && !peek().is("}")) name += take().text;
    return name;
}

Expected<MaestroNetwork> MaestroParser::network() {
    MaestroNetwork out;
    bool any = false;
    while (peek().kind != Kind::End) {
        Done done;
        if (accept("Constant")) {
            done = constant();
        } else if (accept("Network")) {
            any = true;
            out.name = nameUntilBrace();
            done = layers(out);
        } else if (accept("Accelerator")) {
            done = skipBlock();
        } else {
            done = wrong(
                "maestro.syntax", fmt::format("{} begins no statement", shown(peek())),
                fmt::format("one of {}", fmt::join(topKeys, ", ")),
                peek().is("Layer") ? "put the layers into `Network NAME { … }`" : didYouMean(peek().text, topKeys));
        }
        if (!done) return tl::unexpected(done.error());
        separators();
    }
    if (!any)
        return wrong("maestro.empty", "the file has no Network", "`Network NAME { Layer … }`",
                     "is it a mapping file of MAESTRO?");
    if (out.layers.empty())
        return wrong("maestro.empty", "the network has no layer", "at least one Layer",
                     "`Layer NAME { Type: … Dimensions {…} Dataflow {…} }`");
    out.warnings = std::move(warnings_);
    return out;
}

MaestroParser::Done MaestroParser::skipBlock() {
    while (peek().kind != Kind::End && !peek().is("{")) take();
    if (auto open = expect("{", "Accelerator"); !open) return open;
    for (int depth = 1; depth > 0; take()) {
        if (peek().kind == Kind::End) return wrong("maestro.syntax", "the block is not closed", "`}`");
        if (peek().is("{")) ++depth;
        if (peek().is("}") && --depth == 0) break;
    }
    take();
    return {};
}

MaestroParser::Done MaestroParser::constant() {
    const MaestroToken name = take();
    if (name.kind != Kind::Word) {
        return fail("maestro.constant", fmt::format("{} is no name of a constant", shown(name)), "`Constant NAME 10;`",
                    "", placeOf(name));
    }
    separators();
    SizeExpression expression;
    if (auto done = sum(expression, 0); !done) return done;
    const auto value = evaluate(expression, FlowLayer{}, placeOf(name));
    if (!value) return tl::unexpected(value.error());
    constants_[name.text] = *value;
    return {};
}

MaestroParser::Done MaestroParser::layers(MaestroNetwork& out) {
    if (auto open = expect("{", "the network's name"); !open) return open;
    while (!accept("}")) {
        if (!accept("Layer")) {
            return wrong("maestro.syntax", fmt::format("{} stands where a layer belongs", shown(peek())),
                         "`Layer NAME {`, or `}` at the end of the network", didYouMean(peek().text, {"Layer"}));
        }
        if (auto done = layer(out); !done) return done;
        separators();
    }
    return {};
}

MaestroParser::Done MaestroParser::layer(MaestroNetwork& out) {
    MaestroLayer entry;
    const MaestroToken begin = peek();
    entry.line = begin.line;
    entry.layer.name = nameUntilBrace();
    entry.dataflow.file = file_;
    strides_.clear();
    dimensions_.clear();
    if (auto open = expect("{", "the layer's name"); !open) return open;
    while (!accept("}")) {
        const MaestroToken key = take();
        separators();
        Done done;
        if (key.is("Type")) {
            done = type(entry);
        } else if (key.is("Stride")) {
            done = sizes("Stride", strides_);
        } else if (key.is("Dimensions")) {
            done = sizes("Dimensions", dimensions_);
        } else if (key.is("Dataflow")) {
            done = dataflow(entry.dataflow);
        } else {
            return fail("maestro.syntax", fmt::format("{} is no part of a layer", shown(key)),
                        fmt::format("one of {}, or `}}`", fmt::join(layerKeys, ", ")), didYouMean(key.text, layerKeys),
                        placeOf(key));
        }
        if (!done) return done;
        separators();
    }
    if (auto done = finish(entry, begin); !done) return done;
    if (entry.dataflow.directives.empty()) {
        if (out.layers.empty()) {
            return fail("maestro.no-dataflow", fmt::format("layer `{}` has no Dataflow", entry.layer.name),
                        "`Dataflow { … }`, or a layer before it to take one from",
                        "a layer without directives takes those of the layer before it", placeOf(begin));
        }
        entry.dataflow = out.layers.back().dataflow;
    }
    entry.dataflow.name = entry.layer.name;
    out.layers.push_back(std::move(entry));
    return {};
}

MaestroParser::Done MaestroParser::type(MaestroLayer& out) {
    const MaestroToken token = take();
    if (std::find(types.begin(), types.end(), token.text) == types.end()) {
        std::string hint = didYouMean(token.text, types);
        if (token.is("POOL") || token.is("RESIDUAL_IDENTITY"))
            hint = "it multiplies nothing: write it as DSCONV to price its adds";
        return fail("maestro.type", fmt::format("{} is not a type of layer that is known", shown(token)),
                    fmt::format("one of {}", fmt::join(types, ", ")), hint, placeOf(token));
    }
    out.type = token.text;
    return {};
}

MaestroParser::Done MaestroParser::sizes(std::string_view block,
                                         std::map<std::string, std::pair<std::int64_t, int>>& out) {
    if (auto open = expect("{", block); !open) return open;
    while (!accept("}")) {
        const MaestroToken name = take();
        separators();
        auto letter = name.text;
        if (!letter.empty() && letter.back() == '\'') letter.pop_back();
        if (name.kind != Kind::Word || !flowDim(letter)) {
            return fail("maestro.dimension", fmt::format("{} is no dimension", shown(name)),
                        "one of B, N, G, M, K, C, R, S, Y, X, Y', X'", "", placeOf(name));
        }
        SizeExpression expression;
        if (auto done = sum(expression, 0); !done) return done;
        const auto value = evaluate(expression, FlowLayer{}, placeOf(name));
        if (!value) return tl::unexpected(value.error());
        const auto [before, added] = out.try_emplace(name.text, *value, name.line);
        if (!added && before->second.first != *value) {
            return fail("maestro.dimension-twice",
                        fmt::format("{} is {} here and {} before", name.text, *value, before->second.first), "one size",
                        "remove one of the two", placeOf(name));
        }
        separators();
    }
    return {};
}

MaestroParser::Done MaestroParser::dimensions(MaestroLayer& out) {
    FlowLayer& layer = out.layer;
    for (const auto& [name, value] : dimensions_) {
        if (name.back() != '\'') layer.extent(*flowDim(name)) = value.first;
    }
    for (const auto& [name, value] : strides_) {
        if (name == "Y" || name == "Y'") layer.strideY = value.first;
        if (name == "X" || name == "X'") layer.strideX = value.first;
    }
    for (const auto& [name, value] : dimensions_) {
        if (name.back() != '\'') continue;
        const auto dim = *flowDim(name.substr(0, 1));
        if (dim != FlowDim::Y && dim != FlowDim::X) {
            return fail("maestro.dimension", fmt::format("{} is no dimension", name), "Y' and X' are the only outputs",
                        "", {file_, value.second, 0, layer.name});
        }
        const auto filter = dim == FlowDim::Y ? FlowDim::R : FlowDim::S;
        const auto stride = dim == FlowDim::Y ? layer.strideY : layer.strideX;
        const auto input = (value.first - 1) * stride + std::max<std::int64_t>(layer.extent(filter), 1);
        if (layer.has(dim) && outputExtent(layer, dim) != value.first) {
            return fail(
                "maestro.dimension-twice",
                fmt::format("{} = {} does not follow from {} = {}", name, value.first, toText(dim), layer.extent(dim)),
                fmt::format("{} = {}", name, outputExtent(layer, dim)), "give only one of the two",
                {file_, value.second, 0, layer.name});
        }
        if (!layer.has(dim)) layer.extent(dim) = input;
    }
    return {};
}

MaestroParser::Done MaestroParser::finish(MaestroLayer& out, const MaestroToken& name) {
    if (out.type.empty()) {
        return fail("maestro.type", fmt::format("layer `{}` has no Type", out.layer.name), "`Type: CONV`",
                    fmt::format("one of {}", fmt::join(types, ", ")), placeOf(name));
    }
    if (dimensions_.empty()) {
        return fail("maestro.dimension", fmt::format("layer `{}` has no Dimensions", out.layer.name),
                    "`Dimensions { K: 64, C: 3, R: 7, S: 7, Y: 224, X: 224 }`", "", placeOf(name));
    }
    const bool either = out.type == "FC" || out.type == "LSTM";
    const bool product = out.type == "GEMM" || out.type == "BMM" || (either && dimensions_.contains("M"));
    out.layer.kind = product                ? FlowLayerKind::Product
                     : out.type == "DSCONV" ? FlowLayerKind::Depthwise
                                            : FlowLayerKind::Convolution;
    if (auto done = dimensions(out); !done) return done;
    const std::string_view needed = product ? "MNK" : either ? "KC" : out.type == "DSCONV" ? "CRSYX" : "KCRSYX";
    for (const char letter : needed) {
        if (out.layer.has(*flowDim(std::string_view(&letter, 1)))) continue;
        return fail("maestro.dimension", fmt::format("layer `{}` has no dimension {}", out.layer.name, letter),
                    fmt::format("all of {}", fmt::join(needed, ", ")),
                    fmt::format("add `{}: 1` if it is not used", letter), placeOf(name));
    }
    for (const char letter : std::string_view(product ? "GCRSYX" : "BM")) {
        if (!out.layer.has(*flowDim(std::string_view(&letter, 1)))) continue;
        return fail(
            "maestro.dimension",
            fmt::format("layer `{}` of type {} has no use for a dimension {}", out.layer.name, out.type, letter),
            product ? "B, M, N, K" : "N, G, K, C, R, S, Y, X", "remove it", placeOf(name));
    }
    return check(out.layer, {file_, name.line, name.column, out.layer.name});
}

}  // namespace orrery
