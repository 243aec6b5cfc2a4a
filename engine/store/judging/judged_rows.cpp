#include "store/judging/judged_rows.h"

#include "base/hash.h"
#include "evaluation/holdout.h"
#include "evaluation/row_facets.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace orrery {

namespace {

const ReferenceTable& tableOf(std::span<const ReferenceTable> tables, RowRef ref) {
    return tables[static_cast<std::size_t>(ref.table)];
}

/// What a row says; not where it stands.
Hash contentOf(std::span<const ReferenceTable> tables, RowRef ref) {
    const ReferenceTable& table = tableOf(tables, ref);
    const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
    const ReferenceDevice& device = table.devices[static_cast<std::size_t>(row.device)];
    Hash hash;
    hash.add(device.catalogue.empty() ? device.name : device.catalogue)
        .add(toText(row.kernel))
        .add(table.software)
        .add(toText(table.kind))
        .add(row.seconds);
    return hash;
}

}  // namespace

std::vector<RowRef> thinned(std::vector<RowRef> rows, std::size_t most) {
    if (rows.size() <= most) return rows;
    std::vector<RowRef> kept;
    kept.reserve(most);
    for (std::size_t i = 0; i < most; ++i) kept.push_back(rows[i * rows.size() / most]);
    return kept;
}

std::vector<RowRef> unseen(std::span<const ReferenceTable> tables, std::vector<RowRef> rows,
                           const CalibrationSet& calibrations) {
    std::set<std::string> splits;
    for (const auto& calibration : calibrations.all())
        for (const CalibrationSection& section : calibration->sections) splits.insert(section.split);
    // Calibrations are of kernels, and of GPUs and processors: nothing else can have been fitted.
    const auto fitted = [&](RowRef ref) {
        const std::string platform = facetOf(Facet::Platform, tables, ref);
        return facetOf(Facet::Level, tables, ref) == "kernel" && platform != "TPU" && platform != "Accelerator" &&
               platform != "Edge";
    };
    std::vector<RowRef> kernels;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(kernels), fitted);
    for (const std::string& words : splits) {
        const auto holdout = readHoldout(words);
        if (!holdout || holdout->kind != Holdout::Kind::Fraction) continue;
        if (auto split = splitRows(tables, kernels, *holdout)) kernels = std::move(split->test);
    }
    std::unordered_set<std::uint64_t> left;
    for (const RowRef ref : kernels) left.insert(rowKey(ref));
    std::erase_if(rows, [&](RowRef ref) { return fitted(ref) && !left.contains(rowKey(ref)); });
    return rows;
}

std::size_t fittedAmong(std::string_view method, std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                        const CalibrationSet& calibrations) {
    std::set<std::string, std::less<>> known;
    for (const auto& calibration : calibrations.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& section : calibration->sections)
            for (const CalibrationSource& source : section.sources) known.insert(source.name);
    }
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](RowRef ref) {
        const ReferenceTable& table = tableOf(tables, ref);
        return !table.models.empty() && known.contains(table.models[static_cast<std::size_t>(ref.row)].publication);
    }));
}

std::string rowId(std::span<const ReferenceTable> tables, RowRef ref) {
    return contentOf(tables, ref).hex().substr(0, 12);
}

std::string rowsHash(std::span<const ReferenceTable> tables, std::span<const RowRef> rows) {
    // Files may be given in another order.
    std::vector<std::uint64_t> all;
    all.reserve(rows.size());
    for (const RowRef ref : rows) all.push_back(contentOf(tables, ref).value());
    std::sort(all.begin(), all.end());
    Hash hash;
    for (const std::uint64_t each : all) hash.add(each);
    return hash.hex();
}

}  // namespace orrery
