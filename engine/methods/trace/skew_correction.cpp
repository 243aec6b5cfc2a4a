#include "methods/trace/skew_correction.h"

#include "base/text/read_file.h"
#include "base/text/table.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

namespace orrery {

std::uint64_t SkewCorrection::Axis::bucket(double value) const {
    for (std::size_t i = 0; i + 1 < labels.size(); ++i)
        if (value <= bins[i + 1]) return i;
    return labels.empty() ? 0 : labels.size() - 1;
}

double SkewCorrection::alpha(std::int64_t chunk, std::int64_t decodes, std::int64_t shortest, std::int64_t mean,
                             std::int64_t longest, std::int64_t cached) const {
    const auto gap = static_cast<double>(longest - shortest);
    const double skew = gap > 0 ? std::clamp(static_cast<double>(mean - shortest) / gap, 0.0, 1.0) : 0.5;
    const auto at = buckets_.find(key(static_cast<std::uint64_t>(chunk), decodes_.bucket(static_cast<double>(decodes)),
                                      skew_.bucket(skew), longest_.bucket(static_cast<double>(longest)),
                                      cached_.bucket(static_cast<double>(cached))));
    return at == buckets_.end() ? fallback_ : at->second;
}

namespace {

// A profile's meta.yaml; null where there is none.
Expected<YamlNode> metaOf(const std::filesystem::path& folder, std::string& path) {
    std::error_code ignored;
    for (const auto& place : {folder / "meta.yaml", folder.parent_path() / "meta.yaml"}) {
        if (!std::filesystem::exists(place, ignored)) continue;
        path = place.string();
        const auto text = readFile(path, {.code = "tables.unreadable", .expected = "a profile's meta.yaml"});
        if (!text) return tl::unexpected(text.error());
        auto read = parseYaml(*text, path);
        if (read) return read;
        const Diagnostic& why = read.error();
        return fail("tables.unreadable", why.message, "a profile's meta.yaml", "profile again", why.place);
    }
    return YamlNode{};
}

const YamlNode* find(const YamlNode* map, std::string_view key) {
    return map ? map->find(key) : nullptr;
}

std::optional<double> numberOf(const YamlNode* node) {
    if (!node || !node->isScalar()) return std::nullopt;
    if (node->scalar == ".inf" || node->scalar == "-.inf")
        return (node->scalar.front() == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
    return numberIn(node->scalar);
}

}  // namespace

Expected<SkewCorrection> readSkewCorrection(const std::filesystem::path& folder, int tensorParallel) {
    SkewCorrection skew;
    std::string path;
    const auto meta = metaOf(folder, path);
    if (!meta) return Unexpected(meta.error());
    const auto wrong = [&](std::string_view what) {
        return fail("tables.missing", fmt::format("skew_fit has no {} that fits", what),
                    "rising bins, one more than labels", "profile again, or take skew_fit out", Place{.file = path});
    };
    const YamlNode* fit = meta->find("skew_fit");
    const YamlNode* enabled = find(fit, "enabled");
    if (!enabled || (enabled->scalar != "true" && enabled->scalar != "yes" && enabled->scalar != "on")) return skew;
    const YamlNode* mine = find(find(fit, "per_tp"), std::to_string(tensorParallel));
    const YamlNode* fallback = find(mine, "alpha_default");
    if (!fallback) fallback = find(fit, "alpha_default");
    skew.fallback_ = numberOf(fallback).value_or(0);
    if (!(std::abs(skew.fallback_) <= 10)) return wrong("alpha_default");
    const YamlNode* axes = find(mine, "bucket_axes");
    if (!axes) axes = find(fit, "bucket_axes");
    std::error_code ignored;
    if (!axes || (!std::filesystem::exists(folder / "skew_fit.csv", ignored) &&
                  !std::filesystem::exists(folder / "skew_fit.csv.gz", ignored)))
        return skew;
    const auto read = [&](const std::string& name, SkewCorrection::Axis& axis) {
        const YamlNode* bins = axes->find(name + "_bins");
        const YamlNode* labels = axes->find(name + "_labels");
        if (!bins || !labels || !bins->isSequence() || !labels->isSequence()) return false;
        for (const YamlNode& label : labels->items) axis.labels.push_back(label.scalar);
        for (const YamlNode& bin : bins->items) {
            const auto value = numberOf(&bin);
            if (!value) return false;
            axis.bins.push_back(*value);
        }
        return !axis.labels.empty() && axis.labels.size() < 256 && axis.bins.size() == axis.labels.size() + 1 &&
               std::is_sorted(axis.bins.begin(), axis.bins.end());
    };
    if (!read("n", skew.decodes_)) return wrong("n_bins");
    if (!read("skew_rate", skew.skew_)) return wrong("skew_rate_bins");
    if (!read("kv_big", skew.longest_)) return wrong("kv_big_bins");
    if (!read("kp", skew.cached_)) return wrong("kp_bins");

    const auto rows = readTable((folder / "skew_fit.csv").string(), {.columns = {textColumn("n_label"),
                                                                                 textColumn("skew_rate_label"),
                                                                                 textColumn("kv_big_label"),
                                                                                 textColumn("kp_label"),
                                                                                 {.name = "pc"},
                                                                                 {.name = "alpha", .least = -1e6}},
                                                                     .what = "a profile's table of skew"});
    if (!rows) return Unexpected(rows.error());
    const SkewCorrection::Axis* labelled[] = {&skew.decodes_, &skew.skew_, &skew.longest_, &skew.cached_};
    for (std::size_t i = 0; i < rows->size(); ++i) {
        std::uint64_t at[4]{};
        bool known = true;
        for (std::size_t a = 0; a < 4; ++a) {
            const auto& labels = labelled[a]->labels;
            at[a] =
                static_cast<std::uint64_t>(std::find(labels.begin(), labels.end(), rows->texts[a][i]) - labels.begin());
            known &= at[a] < labels.size();
        }
        // A label that meta.yaml does not know can never be looked up.
        if (known)
            skew.buckets_[SkewCorrection::key(static_cast<std::uint64_t>(rows->numbers[4][i]), at[0], at[1], at[2],
                                              at[3])] = rows->numbers[5][i];
    }
    return skew;
}

}  // namespace orrery
