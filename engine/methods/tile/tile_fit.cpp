#include "methods/tile/tile_fit.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace orrery {

namespace {

constexpr std::size_t mostRows = 1000;
constexpr double priorRows = 10;  // how many rows' worth the nominal values weigh

class Search {
public:
    Search(const TileFamily& family, std::span<const TileRow> rows, std::vector<double> start, double outlier)
        : family_(family), values_(start.size()), outlier_(outlier) {
        hostTimed_ =
            family.graphLaunch > 0 && std::any_of(rows.begin(), rows.end(), [](const TileRow& r) { return r.byHost; });
        const std::size_t stride = std::max<std::size_t>(1, rows.size() / mostRows);
        for (std::size_t i = stride / 2; i < rows.size(); i += stride) rows_.push_back(rows[i]);
        for (const double value : start) centre_.push_back(std::log(value));
    }

    // Mean distance of logarithms, and the prior: a spread away costs as a row that is off by 2 %.
    double loss(const std::vector<double>& logs) {
        double prior = 0;
        for (std::size_t i = 0; i < logs.size(); ++i) {
            const double distance = (logs[i] - centre_[i]) / family_.parameters[i].spread;
            prior += distance * distance;
            values_[i] = std::exp(logs[i]);
        }
        double sum = 0;
        for (const TileRow& row : rows_) {
            const TilePhysics physics = family_.physics(*row.kernel, *row.gpu, values_);
            const double off = std::abs(std::log(secondsOfRow(family_, physics, row, hostTimed_) / row.seconds));
            sum += outlier_ > 0 ? outlier_ * std::log1p(off / outlier_) : off;
        }
        const auto count = static_cast<double>(rows_.size());
        return (sum + 0.002 * priorRows * prior) / count;
    }

    std::vector<double> run(std::stop_token stop) {
        std::vector<double> best = centre_, step(best.size(), 0.3);
        double least = loss(best);
        for (int round = 0; round < 40; ++round) {
            const double before = least;
            for (std::size_t i = 0; i < best.size(); ++i) {
                if (stop.stop_requested()) break;
                least = along(best, i, step[i], least);
            }
            if (stop.stop_requested() ||
                (before - least < 1e-5 && *std::max_element(step.begin(), step.end()) < 0.02)) {
                break;
            }
        }
        for (double& value : best) value = std::exp(value);
        return best;
    }

private:
    double along(std::vector<double>& best, std::size_t i, double& step, double least) {
        const double low = std::log(family_.parameters[i].low), high = std::log(family_.parameters[i].high);
        const double here = best[i];
        for (const double way : {1.0, -1.0}) {
            best[i] = std::clamp(here + way * step, low, high);
            if (best[i] == here) continue;
            if (const double found = loss(best); found < least) {
                step = std::min(step * 1.6, 1.0);
                return found;
            }
        }
        best[i] = here;
        step *= 0.5;
        return least;
    }

    const TileFamily& family_;
    std::vector<TileRow> rows_;
    std::vector<double> centre_, values_;
    double outlier_;
    bool hostTimed_ = false;
};

}  // namespace

double secondsOfRow(const TileFamily& family, const TilePhysics& physics, const TileRow& row, bool hostTimed) {
    return physics.seconds - (hostTimed && !row.byHost ? hostShare(physics, family.graphLaunch) : 0);
}

std::vector<double> fitTileParameters(const TileFamily& family, std::span<const TileRow> rows,
                                      std::vector<double> start, std::stop_token stop, double outlier) {
    if (rows.empty() || start.empty()) return start;
    return Search(family, rows, std::move(start), outlier).run(stop);
}

std::vector<TileRowGroup> groupTileRows(std::span<const KernelRows> rows, bool acrossDevices) {
    std::vector<TileRowGroup> groups;
    for (std::size_t d = 0; d < rows.size(); ++d) {
        for (std::size_t i = 0; i < rows[d].kernels.size(); ++i) {
            const Kernel& kernel = rows[d].kernels[i];
            const TileFamily* family = tileFamilyOn(kernel, rows[d].gpu);
            if (!family) continue;
            const std::string variant = kernelVariant(kernel);
            const std::int32_t device = acrossDevices ? -1 : static_cast<std::int32_t>(d);
            const auto same = [&](const TileRowGroup& group) {
                return group.family == family && group.kind == kernel.kind && group.device == device &&
                       group.variant == variant;
            };
            auto group = std::find_if(groups.begin(), groups.end(), same);
            if (group == groups.end()) {
                groups.push_back({family, kernel.kind, variant, device, {}, false});
                group = std::prev(groups.end());
            }
            const bool byHost = i < rows[d].byHost.size() && rows[d].byHost[i] != 0;
            group->rows.push_back({&kernel, &rows[d].gpu, rows[d].seconds[i], static_cast<std::int32_t>(d), byHost});
            if (byHost && family->graphLaunch > 0) group->hostTimed = true;
        }
    }
    return groups;
}

Expected<Calibration> fitTileSections(std::string_view method, std::string_view version,
                                      std::span<const KernelRows> rows, const FitOptions& options,
                                      const FitTileSection& section) {
    const auto groups = groupTileRows(rows, options.acrossDevices);
    if (groups.empty()) {
        return fail("learning.no-rows", "no row is a kernel that this method prices",
                    "rows of products, attention, vector operators or collectives",
                    "choose other references or another filter");
    }
    Calibration calibration;
    calibration.method = method;
    calibration.methodVersion = version;
    for (const TileRowGroup& group : groups) {
        if (options.stop.stop_requested() && !calibration.sections.empty()) break;
        auto fitted = section(group);
        if (!fitted) return Unexpected(std::move(fitted.error()));
        for (std::size_t d = 0; d < rows.size(); ++d) {
            if (group.device >= 0 && group.device != static_cast<std::int32_t>(d)) continue;
            CalibrationSource source = rows[d].source;
            source.rows = std::count_if(group.rows.begin(), group.rows.end(),
                                        [&](const TileRow& row) { return row.device == static_cast<std::int32_t>(d); });
            if (source.rows > 0 && group.device < 0) {
                fitted->devices.push_back(fingerprint(rows[d].gpu, group.rows.front().kernel->type));
                fitted->devices.back().id = rows[d].deviceId;
            }
            if (source.rows > 0) fitted->sources.push_back(std::move(source));
        }
        fitted->split = options.split;
        if (group.device >= 0) {
            const KernelRows& own = rows[static_cast<std::size_t>(group.device)];
            fitted->device = fingerprint(own.gpu, group.rows.front().kernel->type);
            fitted->device->id = own.deviceId;
        }
        calibration.sections.push_back(std::move(*fitted));
    }
    return calibration;
}

}  // namespace orrery
