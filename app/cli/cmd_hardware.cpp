#include "app/cli/command.h"
#include "app/cli/hardware_area.h"
#include "app/cli/hardware_cluster.h"
#include "app/cli/output.h"
#include "base/unit.h"
#include "hardware/check/validate.h"
#include "hardware/files/catalogue.h"
#include "hardware/network/joining.h"
#include "hardware/network/links.h"
#include "hardware/network/topology.h"
#include "hardware/views/device_view.h"
#include "hardware/walk.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view unitNames[] = {"vector", "tensor"};

int list(bool json) {
    const auto entries = hardwareCatalogue();
    if (entries.empty()) {
        report(warning("hardware.presets", fmt::format("no presets were found in {}", presetsFolder()),
                       "set ORRERY_PRESETS to the folder `presets` of Orrery"));
    }
    if (json) {
        Json out{{"format", "orrery-hardware-list"}, {"version", 1}};
        out["hardware"] = Json::array();
        for (const CatalogueEntry& entry : entries) {
            out["hardware"].push_back({{"id", entry.id},
                                       {"name", entry.name},
                                       {"group", entry.group},
                                       {"description", entry.description},
                                       {"file", entry.file}});
        }
        return print(out.dump(2) + "\n") ? Answered : Unanswered;
    }
    Table table({"id", "name", "group", "description"});
    for (const CatalogueEntry& entry : entries) table.add({entry.id, entry.name, entry.group, entry.description});
    return print(table.text()) ? Answered : Unanswered;
}

Json deviceJson(const DeviceView& view) {
    Json json{{"name", view.name}, {"path", view.path}, {"copies", view.copies}, {"cores", view.cores}};
    if (view.clock.value > 0) json["clock_hz"] = view.clock.value;
    if (view.powerCap.value > 0) json["power_cap_w"] = view.powerCap.value;
    json["peaks"] = Json::array();
    for (std::size_t unit = 0; unit < view.peaks.size(); ++unit) {
        for (int type = 0; type < dtypeCount; ++type) {
            const double rate = view.peaks[unit][static_cast<std::size_t>(type)].value;
            if (rate <= 0) continue;
            json["peaks"].push_back(
                {{"unit", unitNames[unit]}, {"type", toText(static_cast<DType>(type))}, {"rate_flop_per_s", rate}});
        }
    }
    json["levels"] = Json::array();
    for (const MemoryLevel& level : view.levels) {
        Json row{{"name", level.name}, {"path", level.path}};
        if (level.capacity.value > 0) row["capacity_bytes"] = level.capacity.value;
        if (level.bandwidth.value > 0) row["bandwidth_bytes_per_s"] = level.bandwidth.value;
        if (level.latency.value > 0) row["latency_s"] = level.latency.value;
        json["levels"].push_back(std::move(row));
    }
    json["assumptions"] = view.assumptions;
    return json;
}

std::string deviceText(const Hardware& hardware, const DeviceView& view) {
    std::string out = fmt::format("{}\n", hardware.name);
    if (!hardware.description.empty()) out += hardware.description + "\n";
    out += fmt::format("\ndevice  {} ×{}, {} cores", view.name, view.copies, view.cores);
    if (view.clock.value > 0) out += ", " + format(view.clock);
    if (view.powerCap.value > 0) out += ", " + format(view.powerCap);
    out += "\n\n";
    Table peaks({"unit", "type", "dense peak"}, {false, false, true});
    for (std::size_t unit = view.peaks.size(); unit-- > 0;) {
        for (int type = 0; type < dtypeCount; ++type) {
            const FlopsPerSecond rate = view.peaks[unit][static_cast<std::size_t>(type)];
            if (rate.value <= 0) continue;
            peaks.add({std::string(unitNames[unit]), std::string(toText(static_cast<DType>(type))), format(rate)});
        }
    }
    out += peaks.text() + "\n";
    Table levels({"level", "capacity", "bandwidth", "latency"}, {false, true, true, true});
    for (const MemoryLevel& level : view.levels) {
        const auto text = [](const auto& quantity) { return quantity.value > 0 ? format(quantity) : std::string("–"); };
        levels.add({level.name, text(level.capacity), text(level.bandwidth), text(level.latency)});
    }
    out += levels.text();
    for (const std::string& assumption : view.assumptions) out += fmt::format("assumed: {}\n", assumption);
    return out;
}

struct Network {
    std::string path;
    TopologySpec spec;
    TopologyFacts facts;
};
std::vector<Network> networksOf(const Hardware& hardware) {
    std::vector<Network> out;
    for (const ComponentPath& path : outermost(hardware.root, ComponentKind::Topology)) {
        auto spec = topologySpec(hardware.root, path);
        const auto facts = spec ? topologyFacts(*spec) : Expected<TopologyFacts>(tl::unexpect, spec.error());
        if (facts) out.push_back({pathText(hardware.root, path), std::move(*spec), *facts});
    }
    return out;
}

// Links drawn one by one, and how many they stand for side by side.
struct DrawnLinks {
    std::int64_t between = 0, outward = 0;
};
DrawnLinks drawnLinks(const Component& root) {
    DrawnLinks out;
    for (const LinkEnds& ends : linkEnds(root)) {
        if (!ends.from && !ends.to) continue;
        (ends.from && ends.to ? out.between : out.outward) += componentAt(root, ends.link)->instances();
    }
    return out;
}

std::string networksText(const Hardware& hardware) {
    std::string out;
    Table table({"network", "shape", "endpoints", "switches", "links", "diameter", "mean hops", "bisection"},
                {false, false, true, true, true, true, true, true});
    const auto networks = networksOf(hardware);
    for (const Network& one : networks) {
        const TopologyFacts& facts = one.facts;
        table.add(
            {one.spec.name, toText(one.spec), std::to_string(facts.endpoints), std::to_string(facts.switches),
             std::to_string(facts.links), std::to_string(facts.diameter), fmt::format("{:.3g}", facts.meanHops),
             facts.bisection.value > 0 ? format(facts.bisection) : fmt::format("{} links", facts.bisectionLinks)});
    }
    if (!networks.empty()) out += "\n" + table.text();
    const DrawnLinks drawn = drawnLinks(hardware.root);
    if (drawn.between > 0)
        out += fmt::format("\nlinks between parts: {}, out of them: {}\n", drawn.between, drawn.outward);
    return out;
}

Json networksJson(const Hardware& hardware) {
    Json out = Json::array();
    for (const Network& one : networksOf(hardware)) {
        const TopologyFacts& facts = one.facts;
        Json row{{"path", one.path},
                 {"shape", toText(one.spec)},
                 {"endpoints", facts.endpoints},
                 {"switches", facts.switches},
                 {"links", facts.links},
                 {"diameter", facts.diameter},
                 {"mean_hops", facts.meanHops},
                 {"bisection_links", facts.bisectionLinks}};
        if (facts.bisection.value > 0) row["bisection_bytes_per_s"] = facts.bisection.value;
        out.push_back(std::move(row));
    }
    return out;
}

int runHardware(const Arguments& arguments, Watch&) {
    if (arguments.positionals().empty()) return list(arguments.has("json"));
    const auto loaded = loadHardware(arguments.positionals().front());
    if (!loaded) {
        report(loaded.error());
        return Unanswered;
    }
    report(loaded->warnings);
    const Diagnostics findings = validate(loaded->hardware);
    report(findings);
    const bool broken = std::any_of(findings.begin(), findings.end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::Error; });
    if (broken) return Unanswered;
    if (arguments.has("area")) {
        const auto area = areaOf(loaded->hardware);
        if (!area) {
            report(area.error());
            return Unanswered;
        }
        report(area->notes);
        const std::string text = arguments.has("json") ? Json{{"format", "orrery-area"},
                                                              {"version", 1},
                                                              {"name", loaded->hardware.name},
                                                              {"area", areaJson(*area)}}
                                                                 .dump(2) +
                                                             "\n"
                                                       : areaText(loaded->hardware, *area);
        return print(text) ? Answered : Unanswered;
    }
    const auto view = deviceView(loaded->hardware);
    if (!view) {
        report(view.error());
        return Unanswered;
    }
    if (!arguments.has("json"))
        return print(deviceText(loaded->hardware, *view) + networksText(loaded->hardware) +
                     clusterText(loaded->hardware))
                   ? Answered
                   : Unanswered;
    Json json{{"format", "orrery-hardware"}, {"version", 1}, {"name", loaded->hardware.name}};
    if (!loaded->hardware.description.empty()) json["description"] = loaded->hardware.description;
    json["device"] = deviceJson(*view);
    if (Json networks = networksJson(loaded->hardware); !networks.empty()) json["networks"] = std::move(networks);
    json["cluster"] = clusterJson(loaded->hardware);
    return print(json.dump(2) + "\n") ? Answered : Unanswered;
}

}  // namespace

const Command hardwareCommand{
    .name = "hardware",
    .positional = "ID|FILE",
    .summary = "list the devices of the catalogue, or check and show one",
    .details =
        "With an id, a name or a file: reads the design, reports everything that is wrong or odd in it, and shows "
        "the peaks and memory levels that the methods read from it, and the size, hops and bisection of its networks. "
        "Of several devices: what each can send to the others, tier by tier, and what is not drawn.",
    .options = {{"json", "", "as JSON"}, {"area", "", "silicon area and price, part by part"}},
    .examples = {{"orrery-cli hardware", "a table of the catalogue"},
                 {"orrery-cli hardware h100-sxm", "peaks per precision and memory levels of one device"},
                 {"orrery-cli hardware h100-sxm --area", "what takes the silicon, and what does a die cost?"},
                 {"orrery-cli hardware my-chip.yaml", "is my own design complete and sound?"}},
    .run = runHardware,
};

}  // namespace orrery::cli
