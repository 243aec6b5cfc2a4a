#include "methods/trace/skew_correction.h"

#include "methods/trace/table_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>

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

Expected<YAML::Node> metaOf(const std::filesystem::path& folder, std::string& path) {
    std::error_code ignored;
    for (const auto& place : {folder / "meta.yaml", folder.parent_path() / "meta.yaml"})
        if (std::filesystem::exists(place, ignored)) {
            path = place.string();
            try {
                return YAML::LoadFile(path);
            } catch (const YAML::Exception& error) {
                return fail("tables.unreadable", fmt::format("this is not YAML: {}", error.msg),
                            "a profile's meta.yaml", "profile again", Place{.file = path, .line = error.mark.line + 1});
            }
        }
    return YAML::Node();
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
    try {
        if (!meta->IsMap()) return skew;
        const YAML::Node fit = (*meta)["skew_fit"];
        if (!fit || !fit.IsMap() || !fit["enabled"].as<bool>(false)) return skew;
        const YAML::Node mine = fit["per_tp"] ? fit["per_tp"][std::to_string(tensorParallel)] : YAML::Node();
        if (mine && mine["alpha_default"])
            skew.fallback_ = mine["alpha_default"].as<double>(0);
        else
            skew.fallback_ = fit["alpha_default"].as<double>(0);
        if (!(std::abs(skew.fallback_) <= 10)) return wrong("alpha_default");
        const YAML::Node axes = mine && mine["bucket_axes"] ? mine["bucket_axes"] : fit["bucket_axes"];
        std::error_code ignored;
        if (!axes || (!std::filesystem::exists(folder / "skew_fit.csv", ignored) &&
                      !std::filesystem::exists(folder / "skew_fit.csv.gz", ignored)))
            return skew;
        const auto read = [&](const char* name, SkewCorrection::Axis& axis) {
            axis.bins = axes[std::string(name) + "_bins"].as<std::vector<double>>(std::vector<double>{});
            axis.labels = axes[std::string(name) + "_labels"].as<std::vector<std::string>>(std::vector<std::string>{});
            return !axis.labels.empty() && axis.labels.size() < 256 && axis.bins.size() == axis.labels.size() + 1 &&
                   std::is_sorted(axis.bins.begin(), axis.bins.end());
        };
        if (!read("n", skew.decodes_)) return wrong("n_bins");
        if (!read("skew_rate", skew.skew_)) return wrong("skew_rate_bins");
        if (!read("kv_big", skew.longest_)) return wrong("kv_big_bins");
        if (!read("kp", skew.cached_)) return wrong("kp_bins");
    } catch (const YAML::Exception& error) {
        return fail("tables.unreadable", fmt::format("meta.yaml holds what it should not: {}", error.msg),
                    "a profile's meta.yaml", "profile again", Place{.file = path, .line = error.mark.line + 1});
    }

    const auto rows = readColumns(folder, "skew_fit.csv", {"n_label", "skew_rate_label", "kv_big_label", "kp_label"},
                                  {"pc", "alpha"}, -1e6);
    if (!rows) return Unexpected(rows.error());
    const SkewCorrection::Axis* axes[] = {&skew.decodes_, &skew.skew_, &skew.longest_, &skew.cached_};
    for (std::size_t i = 0; i < rows->size(); ++i) {
        if (rows->numbers[0][i] < 0)
            return fail("tables.number", fmt::format("pc is {}", rows->numbers[0][i]), "a number of tokens", "",
                        Place{.file = (folder / "skew_fit.csv").string(), .line = rows->lines[i]});
        std::uint64_t at[4]{};
        bool known = true;
        for (std::size_t a = 0; a < 4; ++a) {
            const auto& labels = axes[a]->labels;
            at[a] =
                static_cast<std::uint64_t>(std::find(labels.begin(), labels.end(), rows->texts[a][i]) - labels.begin());
            known &= at[a] < labels.size();
        }
        // A label that meta.yaml does not know can never be looked up.
        if (known)
            skew.buckets_[SkewCorrection::key(static_cast<std::uint64_t>(rows->numbers[0][i]), at[0], at[1], at[2],
                                              at[3])] = rows->numbers[1][i];
    }
    return skew;
}

}  // namespace orrery
