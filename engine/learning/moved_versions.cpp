#include "learning/moved_versions.h"

#include "base/text/table.h"
#include "hardware/files/catalogue.h"
#include "learning/software_version.h"

#include <algorithm>

namespace orrery {

Expected<std::vector<MovedVersion>> readMovedVersions(const std::string& path) {
    TableSpec spec;
    spec.area = "drift";
    spec.columns = {textColumn("software"), textColumn("device"), textColumn("kind"),
                    textColumn("variant"),  textColumn("from"),   textColumn("to")};
    for (TableColumn& column : numberColumns({"kernels", "change_median", "change_p90"}))
        spec.columns.push_back(std::move(column));
    spec.what = "what `orrery-cli drift --steps --csv` writes";
    spec.hint = "make it again";
    spec.mayBeEmpty = true;
    const auto table = readTable(path, spec);
    if (!table) return tl::unexpected(table.error());
    std::vector<MovedVersion> all;
    for (std::size_t i = 0; i < table->size(); ++i) {
        const auto kind = kernelKind(table->texts[2][i]);
        if (!kind) continue;
        all.push_back({engineName(table->texts[0][i]), table->texts[1][i], table->texts[3][i], *kind,
                       table->texts[4][i], table->texts[5][i], static_cast<std::size_t>(table->numbers[6][i]),
                       table->numbers[7][i], table->numbers[8][i]});
    }
    return all;
}

const std::vector<MovedVersion>& shippedMovedVersions() {
    static const std::vector<MovedVersion> shipped =
        readMovedVersions(presetsFolder() + "/calibrations/moved-versions.csv").value_or(std::vector<MovedVersion>());
    return shipped;
}

std::optional<MovedVersion> movedBetween(std::span<const MovedVersion> known, std::string_view software,
                                         std::string_view a, std::string_view b, KernelKind kind,
                                         std::string_view variant, std::string_view device) {
    const bool forward = olderVersion(a, b);
    if (!forward && !olderVersion(b, a)) return std::nullopt;
    const std::string_view older = forward ? a : b, later = forward ? b : a;
    const MovedVersion *here = nullptr, *anywhere = nullptr;
    bool comparedHere = false;
    for (const MovedVersion& each : known) {
        if (each.software != software || each.kind != kind || each.variant != variant) continue;
        if (!olderVersion(each.from, later) || !olderVersion(older, each.to)) continue;
        comparedHere = comparedHere || each.device == device;
        if (!each.moved()) continue;
        const auto widest = [&](const MovedVersion*& so) {
            if (!so || each.changeHigh > so->changeHigh) so = &each;
        };
        widest(anywhere);
        if (each.device == device) widest(here);
    }
    // What stood still on this device is not doubted because it moved on another.
    if (const MovedVersion* found = comparedHere ? here : anywhere) return *found;
    return std::nullopt;
}

std::optional<MovedVersion> movedSince(const CalibrationSection& section, std::string_view software,
                                       std::span<const MovedVersion> known, std::string_view device) {
    std::optional<MovedVersion> widest;
    for (const SoftwareVersion& asked : softwareParts(software)) {
        if (asked.version.empty()) continue;
        for (const CalibrationSource& source : section.sources) {
            for (const SoftwareVersion& learned : softwareParts(source.software)) {
                if (learned.name != asked.name || learned.version.empty()) continue;
                auto found = movedBetween(known, asked.name, learned.version, asked.version, section.kind,
                                          section.variant, device);
                if (found && (!widest || found->changeHigh > widest->changeHigh)) widest = std::move(found);
            }
        }
    }
    return widest;
}

}  // namespace orrery
