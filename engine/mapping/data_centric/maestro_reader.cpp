#include "mapping/data_centric/maestro_reader.h"

#include "base/text/nearest.h"
#include "mapping/data_centric/maestro_parser.h"

#include <fmt/format.h>

namespace orrery {

namespace {

struct HardwareKey {
    std::string_view name;
    void (*set)(FlowHardware&, std::int64_t);
};

// The keys of DFSL_syntax_tokens.hpp, then those of MAESTRO's command line that say what its file cannot.
constexpr HardwareKey hardwareKeys[] = {
    {"num_pes", [](FlowHardware& h, std::int64_t v) { h.pes = v; }},
    {"l1_size_cstr", [](FlowHardware& h, std::int64_t v) { h.l1Words = static_cast<double>(v); }},
    {"l2_size_cstr", [](FlowHardware& h, std::int64_t v) { h.l2Words = static_cast<double>(v); }},
    {"noc_bw_cstr", [](FlowHardware& h, std::int64_t v) { h.nocBandwidth = static_cast<double>(v); }},
    {"NoC_NumHops", [](FlowHardware& h, std::int64_t v) { h.nocLatency = static_cast<double>(v); }},
    {"noc_hops", [](FlowHardware& h, std::int64_t v) { h.nocLatency = static_cast<double>(v); }},
    {"noc_latency", [](FlowHardware& h, std::int64_t v) { h.nocLatency = static_cast<double>(v); }},
    {"offchip_bw_cstr", [](FlowHardware& h, std::int64_t v) { h.offchipBandwidth = static_cast<double>(v); }},
    {"num_simd_lanes", [](FlowHardware& h, std::int64_t v) { h.simdLanes = v; }},
};

std::vector<std::string> keyNames() {
    std::vector<std::string> names;
    for (const auto& key : hardwareKeys) names.emplace_back(key.name);
    return names;
}

}  // namespace

Expected<MaestroNetwork> parseMaestroMapping(std::string_view text, const std::string& file) {
    auto tokens = maestroTokens(text, file);
    if (!tokens) return tl::unexpected(tokens.error());
    return MaestroParser(std::move(*tokens), file).network();
}

Expected<MaestroNetwork> readMaestroMapping(const std::string& path) {
    auto text = readMaestroText(path);
    if (!text) return tl::unexpected(text.error());
    return parseMaestroMapping(*text, path);
}

Expected<DirectiveDataflow> parseDataflow(std::string_view text, const std::string& file, FlowConstants constants) {
    auto tokens = maestroTokens(text, file);
    if (!tokens) return tl::unexpected(tokens.error());
    return MaestroParser(std::move(*tokens), file, std::move(constants)).dataflowAlone();
}

Expected<FlowHardware> parseMaestroHardware(std::string_view text, const std::string& file) {
    const auto tokens = maestroTokens(text, file);
    if (!tokens) return tl::unexpected(tokens.error());
    FlowHardware hardware;
    std::vector<std::string_view> seen;
    for (std::size_t i = 0; (*tokens)[i].kind != MaestroToken::Kind::End;) {
        const MaestroToken& key = (*tokens)[i++];
        const Place place{file, key.line, key.column, ""};
        const auto* known = std::find_if(std::begin(hardwareKeys), std::end(hardwareKeys),
                                         [&](const HardwareKey& each) { return each.name == key.text; });
        if (known == std::end(hardwareKeys)) {
            return fail("maestro.hardware-key", fmt::format("`{:.60}` is not a key of a hardware file", key.text),
                        fmt::format("one of {}", fmt::join(keyNames(), ", ")), didYouMean(key.text, keyNames()), place);
        }
        if (std::find(seen.begin(), seen.end(), known->name) != seen.end()) {
            return fail("maestro.hardware-twice", fmt::format("`{}` is given twice", key.text), "each key once",
                        "remove one of the two lines", place);
        }
        seen.push_back(known->name);
        while ((*tokens)[i].is(":")) ++i;
        const MaestroToken& value = (*tokens)[i];
        const bool latency = key.is("NoC_NumHops") || key.is("noc_hops") || key.is("noc_latency");
        if (value.kind != MaestroToken::Kind::Number || value.number < (latency ? 0 : 1)) {
            return fail("maestro.hardware-value",
                        value.kind == MaestroToken::Kind::End ? fmt::format("`{}` has no value", key.text)
                                                              : fmt::format("`{}` is `{:.60}`", key.text, value.text),
                        latency ? "a whole number" : "a whole number of at least 1", fmt::format("`{}: 256`", key.text),
                        {file, value.line, value.column, ""});
        }
        known->set(hardware, value.number);
        ++i;
        while ((*tokens)[i].is(",") || (*tokens)[i].is(";")) ++i;
    }
    if (std::find(seen.begin(), seen.end(), "num_pes") == seen.end()) {
        return fail("maestro.hardware-pes", "the number of processing elements is not given", "`num_pes: 256`",
                    "add a line `num_pes: N`", {file, tokens->back().line, 0, ""});
    }
    return hardware;
}

Expected<FlowHardware> readMaestroHardware(const std::string& path) {
    auto text = readMaestroText(path);
    if (!text) return tl::unexpected(text.error());
    return parseMaestroHardware(*text, path);
}

}  // namespace orrery
