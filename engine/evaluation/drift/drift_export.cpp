#include "evaluation/drift/drift_export.h"

#include "base/maths.h"
#include "base/text/csv_cell.h"
#include "evaluation/drift/drift_watch.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

double middleOf(std::vector<double> values) {
    return values.empty() ? 0 : quantileType7(values, 0.5);
}

nlohmann::json jsonOf(const FamilyDrift& f) {
    const DriftFigures& g = f.figures;
    nlohmann::json one{
        {"device", f.family.device},
        {"software", f.family.software},
        {"kind", f.family.kind},
        {"variant", f.family.variant},
        {"host_timed", f.family.hostTimed},
        {"from", f.from},
        {"to", f.to},
        {"kernels", f.kernels},
        {"ratio", {{"p10", f.ratioLow}, {"median", f.ratioMedian}, {"p90", f.ratioHigh}}},
        {"change_median", f.changeMedian},
        {"change_p90", f.changeHigh},
        {"moved_share", f.movedShare},
        {"moved", f.moved()},
        {"noticed", f.noticed},
        {"error", {{"untouched", g.untouched}, {"factor", g.factor}, {"repaired", g.repaired}}},
        {"repaired_coverage", g.repairedInside},
        {"repaired_half_width", g.repairedWidth},
        {"weights", {{"nothing", g.shares.nothing}, {"factor", g.shares.factor}, {"smooth", g.shares.smooth}}}};
    if (f.noticedAfter > 0) one["noticed_after_rows"] = f.noticedAfter;
    if (g.stated >= 0) one["stated_coverage"] = g.stated;
    if (g.staleInside >= 0) {
        one["stale_coverage"] = g.staleInside;
        one["stale_factor"] = 1 + g.staleWidth;
    }
    return one;
}

}  // namespace

std::string driftJson(const Drift& drift) {
    nlohmann::json all{{"format", "orrery-drift"},        {"version", 1},       {"believed", drift.believed},
                       {"repair_rows", drift.repairRows}, {"seed", drift.seed}, {"families", nlohmann::json::array()},
                       {"kinds", nlohmann::json::array()}};
    for (const FamilyDrift& family : drift.families) all["families"].push_back(jsonOf(family));
    for (const DriftSummary& s : summariesOf(drift)) {
        nlohmann::json one{{"kind", s.kind},
                           {"families", s.families},
                           {"moved", s.moved},
                           {"noticed", s.noticed},
                           {"still", s.still},
                           {"false_alarms", s.falseAlarms},
                           {"error", {{"untouched", s.untouched}, {"factor", s.factor}, {"repaired", s.repaired}}},
                           {"repaired_coverage", s.repairedInside}};
        if (s.staleInside >= 0) one["stale_coverage"] = s.staleInside;
        all["kinds"].push_back(std::move(one));
    }
    return all.dump(2) + "\n";
}

std::string driftCsv(const Drift& drift) {
    std::string out =
        "software,device,kind,variant,host_timed,from,to,kernels,ratio_p10,ratio_median,ratio_p90,moved_share,noticed,"
        "noticed_after,untouched,factor,repaired,repaired_coverage,stale_factor,stale_coverage,"
        "change_median,change_p90\n";
    for (const FamilyDrift& f : drift.families) {
        const DriftFigures& g = f.figures;
        out += fmt::format("{},{},{},{},{},{},{},{},{:.5g},{:.5g},{:.5g},{:.4f},{:.4f},{},{:.5f},{:.5f},{:.5f},{:.4f},",
                           csvCell(f.family.software), csvCell(f.family.device), f.family.kind,
                           csvCell(f.family.variant), f.family.hostTimed ? 1 : 0, csvCell(f.from), csvCell(f.to),
                           f.kernels, f.ratioLow, f.ratioMedian, f.ratioHigh, f.movedShare, f.noticed,
                           f.noticedAfter > 0 ? fmt::format("{}", f.noticedAfter) : "", g.untouched, g.factor,
                           g.repaired, g.repairedInside);
        out += g.staleInside >= 0 ? fmt::format("{:.4f},{:.4f},", 1 + g.staleWidth, g.staleInside) : ",,";
        out += fmt::format("{:.4f},{:.4f}\n", f.changeMedian, f.changeHigh);
    }
    return out;
}

std::vector<DriftSummary> summariesOf(const Drift& drift) {
    std::map<std::string, std::vector<const FamilyDrift*>> kinds;
    for (const FamilyDrift& f : drift.families) {
        const bool custom = f.family.variant.starts_with("custom ");
        kinds[(custom ? "custom " : "") + f.family.kind + (f.family.hostTimed ? ", timed by a host" : "")].push_back(
            &f);
    }
    std::vector<DriftSummary> all;
    for (const auto& [kind, families] : kinds) {
        DriftSummary s{kind, families.size(), 0, 0, 0, 0, 0, 0, 0, 0, -1};
        std::vector<double> untouched, factor, repaired;
        double stale = 0, inside = 0;
        std::size_t withStale = 0;
        for (const FamilyDrift* f : families) {
            untouched.push_back(f->figures.untouched);
            factor.push_back(f->figures.factor);
            repaired.push_back(f->figures.repaired);
            inside += f->figures.repairedInside;
            if (f->figures.staleInside >= 0) stale += f->figures.staleInside, ++withStale;
            if (f->moved()) {
                ++s.moved;
                s.noticed += f->noticed >= 0.9 ? 1 : 0;
            } else if (f->movedShare <= stillShare) {
                ++s.still;
                s.falseAlarms += f->noticed;
            }
        }
        s.untouched = middleOf(std::move(untouched));
        s.factor = middleOf(std::move(factor));
        s.repaired = middleOf(std::move(repaired));
        s.repairedInside = inside / static_cast<double>(families.size());
        if (withStale > 0) s.staleInside = stale / static_cast<double>(withStale);
        if (s.still > 0) s.falseAlarms /= static_cast<double>(s.still);
        all.push_back(std::move(s));
    }
    return all;
}

}  // namespace orrery
