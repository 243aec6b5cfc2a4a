#include "app/cli/hardware_cluster.h"

#include "app/cli/output.h"
#include "base/unit.h"
#include "hardware/views/cluster_view.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

std::string shapeOf(const NetworkTier& tier) {
    if (!tier.drawn()) return "not drawn";
    if (tier.irregular) return "drawn links";
    std::string out(label(tier.shape));
    for (std::size_t i = 0; i < tier.sides.size(); ++i) out += fmt::format("{}{}", i == 0 ? " " : " × ", tier.sides[i]);
    return out;
}

std::string orDash(double value, const std::string& text) {
    return value > 0 ? text : "–";
}

}  // namespace

std::string clusterText(const Hardware& hardware) {
    const auto view = clusterView(hardware);
    if (!view) return toText(view.error()) + "\n";
    std::string out;
    Table tiers({"devices", "tier", "joins", "shape", "one sends", "all to all", "latency"},
                {false, false, true, false, true, true, true});
    bool any = false;
    for (const DeviceGroup& group : view->groups) {
        std::string name = fmt::format("{} × {}", group.count, group.name);
        if (group.tiers.empty() && view->groups.size() > 1) tiers.add({name, "–", "", "", "", "", ""}), any = true;
        for (const NetworkTier& tier : group.tiers) {
            any = true;
            const std::string joins =
                tier.inner > 1 ? fmt::format("{} groups of {}", tier.size, tier.inner) : std::to_string(tier.size);
            tiers.add({name, tier.name, joins, shapeOf(tier), orDash(tier.bandwidth.value, format(tier.bandwidth)),
                       orDash(tier.allToAll.value, format(tier.allToAll)),
                       orDash(tier.latency.value, format(tier.latency))});
            name.clear();
        }
    }
    if (any) out += "\n" + tiers.text();
    for (const Diagnostic& problem : view->warnings) out += toText(problem) + "\n";
    return out;
}

nlohmann::ordered_json clusterJson(const Hardware& hardware) {
    using Json = nlohmann::ordered_json;
    const auto view = clusterView(hardware);
    Json out = Json::object();
    if (!view) return out;
    out["devices"] = Json::array();
    for (const DeviceGroup& group : view->groups) {
        Json row{{"name", group.name}, {"path", group.path}, {"count", group.count}};
        if (group.memory.value > 0) row["memory_bytes"] = group.memory.value;
        if (group.ownLinks.value > 0) row["own_links_bytes_per_s"] = group.ownLinks.value;
        row["tiers"] = Json::array();
        for (const NetworkTier& tier : group.tiers) {
            Json one{{"name", tier.name},
                     {"path", tier.path},
                     {"read_from", toText(tier.source)},
                     {"shape", tier.irregular ? "drawn-links" : std::string(toText(tier.shape))},
                     {"joins", tier.size},
                     {"devices_behind_each", tier.inner}};
            if (tier.drawn()) {
                one["bandwidth_bytes_per_s"] = tier.bandwidth.value;
                one["all_to_all_bytes_per_s"] = tier.allToAll.value;
            }
            if (tier.latency.value > 0) one["latency_s"] = tier.latency.value;
            row["tiers"].push_back(std::move(one));
        }
        out["devices"].push_back(std::move(row));
    }
    out["warnings"] = Json::array();
    for (const Diagnostic& problem : view->warnings) out["warnings"].push_back(problem.message);
    out["used"] = Json::array();
    for (const PartRead& part : view->used.parts) out["used"].push_back(pathText(hardware.root, part.path));
    return out;
}

}  // namespace orrery::cli
