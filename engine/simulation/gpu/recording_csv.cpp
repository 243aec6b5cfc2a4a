#include "simulation/gpu/recording_csv.h"

#include <fmt/format.h>

#include <iterator>

namespace orrery::gpusim {

namespace {

constexpr std::array<std::string_view, unitCount> columns{"sp",  "sfu",      "mem",      "tensor",   "dp",
                                                          "int", "special1", "special2", "special3", "special4"};

std::string quoted(const std::string& text) {
    return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

}  // namespace

std::string warpsCsv(const Recording& r) {
    std::string out = "warp,scheduler,from_cycle,to_cycle,state,pc,instruction\n";
    auto to = std::back_inserter(out);
    for (std::size_t w = 0; w < r.warps.size(); ++w) {
        for (std::size_t i = 0; i < r.warps[w].size(); ++i) {
            const WarpSpan& span = r.warps[w][i];
            if (span.state == WarpState::Absent) continue;
            const auto end = i + 1 < r.warps[w].size() ? r.warps[w][i + 1].begin : r.recorded;
            const bool known = span.instruction < r.instructions.size();
            fmt::format_to(to, "{},{},{},{},{},{:#x},{}\n", w, w % static_cast<std::size_t>(r.schedulers), span.begin,
                           end, toText(span.state), known ? r.instructions[span.instruction].text.pc : 0,
                           known ? quoted(r.instructions[span.instruction].text.text) : "");
        }
    }
    return out;
}

std::string activityCsv(const Recording& r) {
    std::string out = "from_cycle,cycles";
    auto to = std::back_inserter(out);
    for (const auto name : columns) fmt::format_to(to, ",issues_{},busy_{}", name, name);
    out +=
        ",issued,nothing_to_issue,waits_for_registers,unit_busy,shared_passes,shared_conflict_cycles,"
        "l1_bank_cycles,l1_sectors,l1_hits,l2_sectors,l2_hits,dram_sectors\n";
    for (std::size_t i = 0; i < r.bins.size(); ++i) {
        const RecordedBin& b = r.bins[i];
        fmt::format_to(to, "{},{}", i * r.binCycles, r.binCycles);
        for (std::size_t u = 0; u < unitCount; ++u) fmt::format_to(to, ",{},{}", b.issues[u], b.unitCycles[u]);
        for (std::size_t s = 1; s < schedulerStateCount; ++s) fmt::format_to(to, ",{}", b.schedulers[s]);
        fmt::format_to(to, ",{},{},{},{},{},{},{},{}\n", b.sharedPasses, b.sharedConflictCycles, b.l1BankCycles, b.l1,
                       b.l1Hits, b.l2, b.l2Hits, b.dram);
    }
    return out;
}

std::string instructionsCsv(const Recording& r) {
    std::string out = "pc,instruction,issues,lanes,awaited_cycles";
    auto to = std::back_inserter(out);
    for (std::size_t s = 2; s + 1 < warpStateCount; ++s) {
        std::string name(toText(static_cast<WarpState>(s)));
        for (char& c : name) c = c == ' ' ? '_' : c;
        fmt::format_to(to, ",{}", name);
    }
    out += '\n';
    for (const RecordedInstruction& one : r.instructions) {
        fmt::format_to(to, "{:#x},{},{},{},{}", one.text.pc, quoted(one.text.text), one.issues, one.lanes, one.awaited);
        for (std::size_t s = 2; s + 1 < warpStateCount; ++s) fmt::format_to(to, ",{}", one.warpCycles[s]);
        out += '\n';
    }
    return out;
}

}  // namespace orrery::gpusim
