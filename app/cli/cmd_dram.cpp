#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "simulation/dram/ruled/binding.h"
#include "simulation/dram/ruled/counted_bounds.h"
#include "simulation/dram/ruled/ruled_energy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<RuledCommand, std::string_view> commandNames[] = {
    {RuledCommand::Activate, "ACT"},      {RuledCommand::ActivateSecond, "ACT2"},
    {RuledCommand::Precharge, "PRE"},     {RuledCommand::PrechargeAll, "PREA"},
    {RuledCommand::Read, "RD"},           {RuledCommand::Write, "WR"},
    {RuledCommand::RefreshAll, "REFab"},  {RuledCommand::RefreshBank, "REFpb"},
    {RuledCommand::SyncRead, "CAS_RD"},   {RuledCommand::SyncWrite, "CAS_WR"},
    {RuledCommand::ReadPrecharge, "RDA"}, {RuledCommand::WritePrecharge, "WRA"},
};

struct Question {
    std::string mapping, injection, page;
    bool refresh = true;
    std::vector<DramCountedBound> bounds;
    Expected<RuledEnergy> energy = Unexpected(Diagnostic{});
    std::vector<std::string> energyWarnings;  // of currents that are named and of another device
};

Json json(const RuledEnergy& energy) {
    const double total = energy.parts.total();
    Json parts = Json::array();
    for (std::size_t i = 0; i < energy.parts.joules.size(); ++i)
        parts.push_back({{"part", DramEnergyParts::names[i]},
                         {"joules", energy.parts.joules[i]},
                         {"share", total > 0 ? energy.parts.joules[i] / total : 0}});
    return {{"currents", energy.currents.id},
            {"title", energy.currents.title},
            {"basis", energy.currents.basis},
            {"source", energy.currents.source},
            {"devices_per_rank", energy.devices},
            {"ranks", energy.ranks},
            {"joules", total},
            {"pj_per_bit", energy.joulesPerBit() * 1e12},
            {"watts", energy.watts()},
            {"parts", std::move(parts)}};
}

std::string text(const RuledEnergy& energy) {
    const double total = energy.parts.total();
    std::string out =
        fmt::format("\nenergy ({}; per rank {:g}, ranks {}):\n", energy.currents.title, energy.devices, energy.ranks);
    Table table({"", "uJ", "%"}, {false, true, true});
    for (std::size_t i = 0; i < energy.parts.joules.size(); ++i)
        table.add({std::string(DramEnergyParts::names[i]), fmt::format("{:.3f}", energy.parts.joules[i] * 1e6),
                   fmt::format("{:.0f}", total > 0 ? 100 * energy.parts.joules[i] / total : 0)});
    return out + table.body() + fmt::format("currents: {}; {}\n", energy.currents.basis, energy.currents.source);
}

// The first that is not the data bus at its pace, unless that is nearly all there is.
const DramBinding& headline(const std::vector<DramBinding>& bindings) {
    if (bindings.size() > 1 && bindings.front().timing == "data bus" && bindings.front().share < 0.9)
        return bindings[1];
    return bindings.front();
}

Json json(const DramRules& rules, const Question& asked, const RuledResult& r,
          const std::vector<DramBinding>& bindings) {
    Json out{{"format", "orrery-dram"},
             {"version", 1},
             {"family", rules.family},
             {"mapping", asked.mapping},
             {"injection", asked.injection},
             {"refresh", asked.refresh},
             {"page", asked.page},
             {"clock_ps", rules.cycleSeconds() * 1e12},
             {"transaction_bytes", rules.burstBytes()},
             {"reads", r.reads},
             {"writes", r.writes},
             {"cycles", r.cycles},
             {"bandwidth_gbs", r.bytesPerSecond * 1e-9},
             {"peak_gbs", rules.peakBandwidth() * 1e-9},
             {"lat_avg", r.meanLatency},
             {"lat_min", r.leastLatency},
             {"lat_p50", r.medianLatency},
             {"lat_p95", r.latency95},
             {"lat_max", r.mostLatency},
             {"row_hits", r.counts.rowHits},
             {"row_misses", r.counts.rowMisses},
             {"row_conflicts", r.counts.rowConflicts},
             {"forwarded", r.counts.forwarded},
             {"coalesced", r.counts.merged},
             {"last_accept_cycle", r.lastAccept}};
    Json commands = Json::object();
    for (const auto& [command, name] : commandNames)
        if (const auto n = r.counts.commands[static_cast<int>(command)]; n > 0) commands[std::string(name)] = n;
    out["commands"] = std::move(commands);
    if (!bindings.empty()) {
        const auto& first = headline(bindings);
        out["binding"] = fmt::format("{}: {}", first.timing, first.words);
        Json list = Json::array();
        for (const auto& one : bindings)
            list.push_back(
                {{"timing", one.timing}, {"cycles", one.cycles}, {"share", one.share}, {"words", one.words}});
        out["bindings"] = std::move(list);
    }
    Json bounds = Json::array();
    for (const auto& bound : asked.bounds)
        bounds.push_back({{"timing", bound.timing}, {"cycles", bound.cycles}, {"words", bound.words}});
    out["bounds"] = std::move(bounds);
    out["energy"] = asked.energy ? json(*asked.energy) : Json(nullptr);
    if (!asked.energy) out["energy_missing"] = asked.energy.error().message;
    if (!asked.energyWarnings.empty()) out["energy_warnings"] = asked.energyWarnings;
    out["accept_cycles"] = r.accepted;
    out["done_cycles"] = r.done;
    return out;
}

std::string text(const DramRules& rules, const Question& asked, const RuledResult& r,
                 const std::vector<DramBinding>& bindings) {
    const double peak = rules.peakBandwidth();
    std::string out = fmt::format("{}, {}, {}, {} page, {}\n\n", rules.family, asked.mapping, asked.injection,
                                  asked.page, asked.refresh ? "with refresh" : "without refresh");
    Table table({"", ""}, {false, true});
    table.add(
        {"requests",
         fmt::format("{} ({} reads, {} writes of {} B)", count(static_cast<double>(r.reads + r.writes)),
                     count(static_cast<double>(r.reads)), count(static_cast<double>(r.writes)), rules.burstBytes())});
    table.add({"cycles", fmt::format("{} ({:.3f} us)", count(static_cast<double>(r.cycles)),
                                     static_cast<double>(r.cycles) * rules.cycleSeconds() * 1e6)});
    if (!asked.bounds.empty() && r.cycles > 0) {
        const auto& bound = asked.bounds.front();
        table.add({"in any order at least",
                   fmt::format("{} ({}; {:.0f} % of the run)", count(static_cast<double>(bound.cycles)), bound.timing,
                               100 * static_cast<double>(bound.cycles) / static_cast<double>(r.cycles))});
    }
    table.add({"bandwidth", fmt::format("{:.2f} GB/s of {:.2f} ({:.0f} %)", r.bytesPerSecond * 1e-9, peak * 1e-9,
                                        100 * r.bytesPerSecond / peak)});
    if (r.reads > 0)
        table.add({"read latency, cycles", fmt::format("{:.1f} (least {}, median {}, 95 % {}, most {})", r.meanLatency,
                                                       r.leastLatency, r.medianLatency, r.latency95, r.mostLatency)});
    table.add({"row hits, misses, conflicts",
               fmt::format("{}, {}, {}", r.counts.rowHits, r.counts.rowMisses, r.counts.rowConflicts)});
    std::string commands;
    for (const auto& [command, name] : commandNames)
        if (const auto n = r.counts.commands[static_cast<int>(command)]; n > 0)
            commands += fmt::format("{}{} {}", commands.empty() ? "" : ", ", name, n);
    table.add({"commands", commands});
    table.add({"energy", asked.energy
                             ? fmt::format("{:.3f} uJ, {:.2f} pJ per bit, {:.3f} W", asked.energy->parts.total() * 1e6,
                                           asked.energy->joulesPerBit() * 1e12, asked.energy->watts())
                             : fmt::format("none: {}", asked.energy.error().message)});
    out += table.body();
    out += "\nwhat the data bus did:\n";
    Table binding({"", "%", ""}, {false, true, false});
    for (const auto& one : bindings)
        if (one.share >= 0.005) binding.add({one.timing, fmt::format("{:.0f}", 100 * one.share), one.words});
    out += binding.body();
    out += "\nno order of these requests takes less:\n";
    Table least({"", "cycles", "% of the run", ""}, {false, true, true, false});
    for (const auto& bound : asked.bounds)
        if (r.cycles > 0 && 100 * bound.cycles >= r.cycles)
            least.add({bound.timing, count(static_cast<double>(bound.cycles)),
                       fmt::format("{:.0f}", 100 * static_cast<double>(bound.cycles) / static_cast<double>(r.cycles)),
                       bound.words});
    out += least.body();
    if (asked.energy) out += text(*asked.energy);
    for (const std::string& warning : asked.energyWarnings) out += fmt::format("warning: {}\n", warning);
    return out;
}

int runDram(const Arguments& arguments, Watch& watch) {
    auto rules = readDramRules(*arguments.value("config"));
    if (!rules) return report(rules.error()), Unanswered;
    Question asked;
    asked.mapping = arguments.value("mapping").value_or(rules->mapping.empty() ? "RoBaRaCoCh" : rules->mapping);
    asked.injection = arguments.value("injection").value_or("asap");
    asked.refresh = !arguments.has("no-refresh");
    asked.page = arguments.value("page").value_or("open");
    if (const auto set = setPage(*rules, asked.page, asked.refresh); !set) return report(set.error()), Unanswered;
    const auto map = RuledAddressMap::make(*rules, asked.mapping);
    if (!map) return report(map.error()), Unanswered;
    const auto injection = RuledInjection::parse(asked.injection);
    if (!injection) return report(injection.error()), Unanswered;
    const auto trace = readDramTrace(*arguments.value("trace"));
    if (!trace) return report(trace.error()), Unanswered;
    // The named currents, or the published ones of these devices; a wrong name is refused before the run.
    const auto named = arguments.value("currents");
    auto currents = named ? loadDramCurrents(*named) : currentsFor(*rules);
    if (named && !currents) return report(currents.error()), Unanswered;
    if (named) asked.energyWarnings = unlike(*currents, deviceOf(*rules));
    watch.begin("simulating the memory");
    const auto result = runRuledDram(*rules, *map, asked.refresh, *injection, *trace, watch.token());
    watch.end();
    if (!result) return report(result.error()), Unanswered;
    const auto bindings = dramBindings(*rules, *result);
    asked.bounds = dramCountedBounds(*rules, *map, asked.refresh, *injection, *trace);
    asked.energy = currents ? ruledEnergy(*rules, *result, std::move(*currents)) : Unexpected(currents.error());
    if (named && !asked.energy) return report(asked.energy.error()), Unanswered;
    return print(arguments.has("json") ? json(*rules, asked, *result, bindings).dump(2) + "\n"
                                       : text(*rules, asked, *result, bindings))
               ? Answered
               : Unanswered;
}

}  // namespace

const Command dramCommand{
    .name = "dram",
    .summary = "simulate a DRAM channel from a Ramulator 2.1 configuration and a request trace, cycle by cycle",
    .details =
        "Reads the fully expanded configuration (levels, timings, timing constraints, controller) and a trace of one "
        "'R 0xADDRESS' or 'W 0xADDRESS' per line. Answers cycles, bandwidth, latency, row hits, commands, the cycle at "
        "which "
        "each request was done, the timing that holds the run back, in closed form what no order of the requests "
        "beats, and the energy by commands and standby where supply currents of the devices are known.",
    .options = {{"config", "FILE", "the configuration (.yaml)"},
                {"trace", "FILE", "the requests"},
                {"mapping", "NAME", "RoBaRaCoCh or MOP4CLXOR; without it, what the configuration says"},
                {"no-refresh", "", "leave refresh out"},
                {"injection", "HOW",
                 "asap: one request a cycle at most (default); every10: ten cycles apart at least; chain: after the "
                 "read before has returned"},
                {"page", "open|closed",
                 "open: a row is closed when another one of its bank is wanted (default); closed: with the last access "
                 "that waits for it"},
                {"currents", "NAME|FILE",
                 "supply currents for the energy; without it, the published ones of the configuration's devices, or "
                 "no energy"},
                {"json", "", "as JSON (resources/schema/dram.schema.json)"}},
    .required = {"config", "trace"},
    .examples = {{"orrery-cli dram --config ddr4_3200.yaml --trace stream.trace", "where the bandwidth went"},
                 {"orrery-cli dram --config hbm2_2000.yaml --mapping MOP4CLXOR --no-refresh --injection chain --trace "
                  "chase.trace "
                  "--json",
                  "dependent reads, request by request"}},
    .run = runDram,
};

}  // namespace orrery::cli
