#include "evaluation/holdout.h"

#include "base/hash.h"
#include "base/text/words.h"
#include "workload/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

Unexpected wrong(std::string_view text) {
    return fail("usage.holdout", fmt::format("'{}' does not say which rows to keep for the test", text),
                "fraction=0.8, rows=50 or device=h100-sxm",
                "fraction is the share that is tested, rows the number fitted");
}

struct Side {
    std::string device, family;
    double position;
};

Side placeOf(std::span<const ReferenceTable> tables, RowRef ref, std::uint64_t seed) {
    const auto& table = tables[static_cast<std::size_t>(ref.table)];
    const auto& row = table.rows[static_cast<std::size_t>(ref.row)];
    const auto& device = table.devices[static_cast<std::size_t>(row.device)];
    std::string name = device.catalogue.empty() ? device.name : device.catalogue;
    const double position = splitPosition(kernelIdentity(row.kernel), name, seed);
    std::string family = fmt::format("{}/{}/{}", name, toText(row.kernel.kind), kernelVariant(row.kernel));
    return {std::move(name), std::move(family), position};
}

// The position below which `count` different kernels of each family lie, for families that have no border yet.
void addBorders(Holdout& holdout, std::span<const ReferenceTable> tables, std::span<const RowRef> rows) {
    std::map<std::string, std::vector<double>> positions;
    for (const RowRef ref : rows) {
        auto place = placeOf(tables, ref, holdout.seed);
        if (!holdout.border.contains(place.family)) positions[std::move(place.family)].push_back(place.position);
    }
    for (auto& [family, all] : positions) {
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        // Halfway to the next, so that the border survives being written with fewer digits.
        const auto count = holdout.trainingRows;
        holdout.border[family] = count >= all.size() ? 1 : count == 0 ? 0 : (all[count - 1] + all[count]) / 2;
    }
}

bool isTested(const Holdout& holdout, const Side& place) {
    switch (holdout.kind) {
        case Holdout::Kind::None:
            return false;
        case Holdout::Kind::Fraction:
            return place.position < holdout.testShare;
        case Holdout::Kind::Rows: {
            const auto found = holdout.border.find(place.family);
            return found == holdout.border.end() || place.position >= found->second;
        }
        case Holdout::Kind::Device:
            return std::find(holdout.devices.begin(), holdout.devices.end(), place.device) != holdout.devices.end();
    }
    return false;
}

}  // namespace

double splitPosition(std::uint64_t identity, std::string_view device, std::uint64_t seed) {
    const std::uint64_t before = mixedBits(mixedBits(seed) ^ Hash().add(device).value());
    return static_cast<double>(mixedBits(before ^ identity) >> 11) * 0x1p-53;
}

Expected<Holdout> parseHoldout(std::string_view text, std::uint64_t seed) {
    Holdout holdout;
    holdout.seed = seed;
    if (text.empty()) return holdout;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return wrong(text);
    const auto key = text.substr(0, equals);
    const auto value = text.substr(equals + 1);
    const double parsed = numberIn(value).value_or(0);
    if (key == "fraction" && parsed > 0 && parsed < 1) {
        holdout.kind = Holdout::Kind::Fraction;
        holdout.testShare = parsed;
        return holdout;
    }
    if (key == "rows" && parsed >= 1 && parsed <= 1e9 && parsed == std::floor(parsed)) {
        holdout.kind = Holdout::Kind::Rows;
        holdout.trainingRows = static_cast<std::size_t>(parsed);
        return holdout;
    }
    if (key == "device" && !value.empty()) {
        holdout.kind = Holdout::Kind::Device;
        for (const auto device : split(value, '|')) holdout.devices.emplace_back(device);
        return holdout;
    }
    return wrong(text);
}

std::string toText(const Holdout& holdout) {
    switch (holdout.kind) {
        case Holdout::Kind::None:
            return "holdout none";
        case Holdout::Kind::Fraction:
            return fmt::format("holdout fraction={}; seed={}", holdout.testShare, holdout.seed);
        case Holdout::Kind::Device: {
            std::string devices;
            for (const auto& device : holdout.devices) devices.append(devices.empty() ? "" : "|").append(device);
            return fmt::format("holdout device={}; seed={}", devices, holdout.seed);
        }
        case Holdout::Kind::Rows:
            break;
    }
    std::string text = fmt::format("holdout rows={}; seed={}", holdout.trainingRows, holdout.seed);
    for (const auto& [family, border] : holdout.border) text += fmt::format("; below {}={}", family, border);
    return text;
}

Expected<Holdout> readHoldout(std::string_view words) {
    const auto noSplit = [&] {
        return fail("calibration.no-split",
                    fmt::format("the calibration does not say how rows were held out: '{}'", words),
                    "a calibration that was fitted with --holdout", "evaluate it without --held-out");
    };
    const auto all = split(words, ';');
    if (words == "holdout none" || !words.starts_with("holdout ") || all.size() < 2) return noSplit();
    const auto seed = all[1].starts_with(" seed=") ? numberIn(all[1].substr(6)) : std::nullopt;
    if (!seed || *seed < 0) return noSplit();
    auto holdout = parseHoldout(all[0].substr(8), static_cast<std::uint64_t>(*seed));
    if (!holdout) return noSplit();
    for (std::size_t i = 2; i < all.size(); ++i) {
        const auto equals = all[i].rfind('=');
        if (!all[i].starts_with(" below ") || equals == std::string_view::npos) return noSplit();
        const auto border = numberIn(all[i].substr(equals + 1));
        if (!border) return noSplit();
        holdout->border[std::string(all[i].substr(7, equals - 7))] = *border;
    }
    return holdout;
}

Expected<RowSplit> splitRows(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                             const Holdout& holdout) {
    RowSplit split;
    split.holdout = holdout;
    if (holdout.kind == Holdout::Kind::Rows) addBorders(split.holdout, tables, rows);
    for (const RowRef ref : rows) {
        const bool tested = isTested(split.holdout, placeOf(tables, ref, holdout.seed));
        (tested ? split.test : split.training).push_back(ref);
    }
    const bool empty = split.training.empty() || (holdout.kind != Holdout::Kind::None && split.test.empty());
    if (!empty) return split;
    return fail("reference.empty-split",
                fmt::format("the split leaves no row to {}", split.training.empty() ? "fit" : "test"),
                fmt::format("rows on both sides of {}", toText(holdout)),
                rows.empty() ? "let --where accept some rows" : "choose another --holdout, or more references");
}

std::vector<RowRef> testedRows(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                               const Holdout& holdout) {
    std::vector<RowRef> tested;
    for (const RowRef ref : rows) {
        if (holdout.kind == Holdout::Kind::None || isTested(holdout, placeOf(tables, ref, holdout.seed))) {
            tested.push_back(ref);
        }
    }
    return tested;
}

}  // namespace orrery
