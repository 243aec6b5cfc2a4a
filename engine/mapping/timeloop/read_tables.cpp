#include "mapping/timeloop/read_parts.h"
#include "mapping/timeloop/timeloop.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace orrery {
namespace {

constexpr double picojoule = 1e-12;
using Actions = std::map<std::string, double>;  ///< joules; the dearest of an action's arguments

Expected<void> addAction(const std::string& name, const DocNode& row, Actions& actions) {
    if (row.isList()) {
        for (const DocNode& one : row.items) {
            if (const auto ok = addAction(name, one, actions); !ok) return ok;
        }
        return {};
    }
    const DocNode* energy = row.find("energy");
    if (energy == nullptr) {
        return fail("timeloop.missing", fmt::format("the action {} has no energy", name), "`energy`, in picojoules", "",
                    row.place(name));
    }
    const auto value = docNumber(*energy, fmt::format("the energy of {}", name));
    if (!value) return Unexpected(value.error());
    double& known = actions[name];
    known = std::max(known, *value * picojoule);
    return {};
}

// v0.2 has maps of maps, v0.3 and later lists of rows with `name`.
Expected<Actions> actionsOf(const DocNode& table) {
    Actions actions;
    const DocNode& rows = table.find("actions") != nullptr ? *table.find("actions") : table;
    if (rows.isMap()) {
        for (std::size_t i = 0; i < rows.keys.size(); ++i) {
            if (const auto ok = addAction(rows.keys[i], rows.items[i], actions); !ok) return Unexpected(ok.error());
        }
        return actions;
    }
    for (const DocNode& row : rows.items) {
        const DocNode* name = row.find("name");
        if (name == nullptr) return fail("timeloop.missing", "an action has no name", "`name`", "", row.place());
        if (const auto ok = addAction(name->text, row, actions); !ok) return Unexpected(ok.error());
    }
    return actions;
}

// The first of several names that the table has; else the value stays.
void pick(const Actions& actions, std::initializer_list<const char*> names, double& into) {
    for (const char* name : names) {
        if (const auto found = actions.find(name); found != actions.end()) {
            into = found->second;
            return;
        }
    }
}

void applyStorage(const Actions& a, const std::string& source, ActionEnergies& e) {
    pick(a, {"random_read", "read"}, e.vectorRead);
    pick(a, {"random_fill", "random_write", "fill", "write"}, e.vectorWrite);
    pick(a, {"random_update", "random_write", "update", "write"}, e.vectorUpdate);
    pick(a, {"gated_read", "idle", "read"}, e.gatedRead);
    pick(a, {"gated_fill", "gated_write", "idle", "write"}, e.gatedWrite);
    pick(a, {"skipped_read", "gated_read", "idle", "read"}, e.skippedRead);
    pick(a, {"skipped_fill", "skipped_write", "gated_write", "idle", "write"}, e.skippedWrite);
    pick(a, {"random_metadata_read", "metadata_read", "metadata_idle", "idle"}, e.metadataRead);
    pick(a, {"random_metadata_write", "metadata_write", "metadata_idle", "idle"}, e.metadataWrite);
    pick(a, {"gated_metadata_read", "metadata_idle", "metadata_read"}, e.gatedMetadataRead);
    pick(a, {"gated_metadata_write", "metadata_idle", "metadata_write"}, e.gatedMetadataWrite);
    pick(a, {"skipped_metadata_read", "metadata_idle", "metadata_read"}, e.skippedMetadataRead);
    pick(a, {"skipped_metadata_write", "metadata_idle", "metadata_write"}, e.skippedMetadataWrite);
    pick(a, {"decompression_count", "decompression"}, e.decompression);
    pick(a, {"compression_count", "compression"}, e.compression);
    pick(a, {"leak"}, e.leakPerCycle);
    e.source = source;
}

void applyArithmetic(const Actions& a, NestArithmetic& unit) {
    pick(a, {"mac_random", "mult_random", "mac", "mult", "compute"}, unit.energy);
    pick(a, {"mac_gated", "mult_gated", "compute_gated", "mac", "mult", "compute"}, unit.gatedEnergy);
    pick(a,
         {"mac_skipped", "mult_skipped", "compute_skipped", "mac_gated", "mult_gated", "compute_gated", "mac", "mult",
          "compute"},
         unit.skippedEnergy);
}

Expected<void> applyRow(const std::string& name, const DocNode& table, NestHardware& hardware) {
    const std::string last = timeloop::lastName(name);
    const auto actions = actionsOf(table);
    if (!actions) return Unexpected(actions.error());
    if (hardware.arithmetic.name == last) applyArithmetic(*actions, hardware.arithmetic);
    for (NestLevel& level : hardware.levels) {
        if (level.name == last) applyStorage(*actions, fmt::format("ERT, {}", toText(table.place())), level.energy);
    }
    return {};
}

const DocNode* tablesOf(const DocNode& root, std::initializer_list<std::string_view> names) {
    const DocNode* part = root.findAny(names);
    return part == nullptr ? nullptr : part->find("tables");
}

}  // namespace

Expected<void> readTimeloopTables(const DocNode& root, NestHardware& hardware, Diagnostics& warnings) {
    (void)warnings;
    if (const DocNode* tables = tablesOf(root, {"ERT", "energy_reference_table"})) {
        if (tables->isMap()) {
            for (std::size_t i = 0; i < tables->keys.size(); ++i) {
                if (const auto ok = applyRow(tables->keys[i], tables->items[i], hardware); !ok) return ok;
            }
        }
        for (const DocNode& table : tables->items) {
            if (tables->isMap()) break;
            const DocNode* name = table.find("name");
            if (name == nullptr) {
                return fail("timeloop.missing", "a table of the ERT has no name", "`name` and `actions`", "",
                            table.place());
            }
            if (const auto ok = applyRow(name->text, table, hardware); !ok) return ok;
        }
    }
    if (const DocNode* tables = tablesOf(root, {"ART", "area_reference_table"});
        tables != nullptr && tables->isList()) {
        for (const DocNode& table : tables->items) {
            const DocNode* name = table.find("name");
            const DocNode* area = table.find("area");
            if (name == nullptr || area == nullptr) {
                return fail("timeloop.missing", "a table of the ART has no name or no area",
                            "`name`, and `area` in square micrometres", "", table.place());
            }
            const auto value = docNumber(*area, fmt::format("the area of {}", name->text));
            if (!value) return Unexpected(value.error());
            const std::string last = timeloop::lastName(name->text);
            if (hardware.arithmetic.name == last) hardware.arithmetic.area = *value * 1e-6;
            for (NestLevel& level : hardware.levels) {
                if (level.name == last) level.area = *value * 1e-6;
            }
        }
    }
    return {};
}

}  // namespace orrery
