#include "methods/tile/tile_hybrid_fit.h"

#include "base/random.h"
#include "learning/fit_section.h"
#include "methods/tile/hybrid_family.h"
#include "methods/tile/tile_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace orrery {

namespace {

using Parameters = std::map<std::string, double, std::less<>>;

// From so many rows on, a dozen parameters hardly move when a fold is left out: they are fitted once.
constexpr std::size_t manyRows = 1000, veryManyRows = 10000;
constexpr std::size_t pointsPerRow = 40, fewestPoints = 8000, mostPoints = 45000;  // of a lattice
// By which a price may fall where an extent grows by one, and from one knot to the next: shapes that suit a library
// less than the next larger ones do exist.
constexpr double fallPerStep = 0.015, mostFall = 0.3;

struct MixedRow {
    Kernel kernel;
    const GpuView* gpu = nullptr;
};

// Kernels between those that are fitted to, four times as many within reason and none larger than the largest of them.
std::vector<MixedRow> mixedRows(const TileRowGroup& group, std::span<const std::size_t> fitTo,
                                const HybridFamily& hybrid, std::uint64_t seed) {
    std::vector<MixedRow> mixed;
    if (fitTo.empty()) return mixed;
    double most = 0;
    for (const std::size_t i : fitTo) most = std::max(most, group.rows[i].kernel->bytes());
    RandomStream random(seed, 2);
    const auto any = [&]() -> const TileRow& { return group.rows[fitTo[random.below(fitTo.size())]]; };
    const std::size_t tries = std::clamp<std::size_t>(4 * fitTo.size(), 8000, 30000);
    for (std::size_t i = 0; i < tries; ++i) {
        const TileRow& first = any();
        const TileRow& second = any();
        const Kernel kernel = hybrid.mix(*first.kernel, *second.kernel, *any().kernel);
        if (kernel.bytes() <= most) mixed.push_back({kernel, first.gpu});
    }
    return mixed;
}

// An axis of a lattice: the values of one feature among rows that are fitted to, and a row of each.
struct AxisRows {
    std::vector<double> knots;
    std::vector<const Kernel*> kernels;
};

AxisRows axisOf(const TileRowGroup& group, std::span<const std::size_t> fitTo, std::span<const double> features,
                std::size_t columns, std::size_t column) {
    std::map<double, const Kernel*> seen;
    for (const std::size_t r : fitTo) seen.emplace(features[r * columns + column], group.rows[r].kernel);
    AxisRows axis;
    for (const auto& [value, kernel] : seen) axis.knots.push_back(value), axis.kernels.push_back(kernel);
    return axis;
}

// Without the inner knot that lies nearest to its neighbours.
void thin(AxisRows& axis) {
    std::size_t least = 1;
    for (std::size_t i = 2; i + 1 < axis.knots.size(); ++i) {
        if (axis.knots[i + 1] - axis.knots[i - 1] < axis.knots[least + 1] - axis.knots[least - 1]) least = i;
    }
    axis.knots.erase(axis.knots.begin() + std::ptrdiff_t(least));
    axis.kernels.erase(axis.kernels.begin() + std::ptrdiff_t(least));
}

// Points where the fitted rows have their extents, each extent with each other; physics and features there.
void addLattice(SectionRows& rows, const TileRowGroup& group, std::span<const std::size_t> fitTo,
                const HybridFamily& hybrid, std::span<const double> parameters) {
    if (fitTo.empty()) return;
    const std::size_t columns = rows.names.size();
    std::array<AxisRows, 3> axes;
    for (std::size_t a = 0; a < 3; ++a) axes[a] = axisOf(group, fitTo, rows.features, columns, a);
    const auto points = [&] { return axes[0].knots.size() * axes[1].knots.size() * axes[2].knots.size(); };
    const std::size_t most = std::clamp(pointsPerRow * fitTo.size(), fewestPoints, mostPoints);
    while (points() > most) {
        thin(*std::max_element(axes.begin(), axes.end(),
                               [](const auto& a, const auto& b) { return a.knots.size() < b.knots.size(); }));
    }
    const GpuView& gpu = *group.rows[fitTo.front()].gpu;
    std::vector<double> row(hybrid.featureNames.size());
    for (std::size_t a = 0; a < 3; ++a) {
        rows.lattice.push_back({a, axes[a].knots});
        std::vector<double> slack{0};
        for (std::size_t i = 1; i < axes[a].knots.size(); ++i) {
            const double steps = std::exp(axes[a].knots[i]) - std::exp(axes[a].knots[i - 1]);
            slack.push_back(slack.back() + std::min(fallPerStep * steps, mostFall));
        }
        rows.latticeSlack.push_back(std::move(slack));
    }
    for (const Kernel* first : axes[0].kernels) {
        for (const Kernel* second : axes[1].kernels) {
            for (const Kernel* third : axes[2].kernels) {
                const Kernel kernel = hybrid.mix(*first, *second, *third);
                const TilePhysics physics = group.family->physics(kernel, gpu, parameters);
                hybrid.features(kernel, gpu, physics, row);
                rows.unmeasured.insert(rows.unmeasured.end(), row.begin(), row.begin() + std::ptrdiff_t(columns));
                rows.latticeBaseline.push_back(physics.seconds);
            }
        }
    }
}

Expected<CalibrationSection> fitHybrid(const TileRowGroup& group, const FitOptions& options) {
    const TileFamily& family = *group.family;
    const HybridFamily* hybrid = hybridFamilyOf(family);
    std::size_t columns = hybrid ? hybrid->featureNames.size() : 0;
    if (hybrid && group.device >= 0) columns -= hybrid->deviceFeatures;

    SectionOptions how;
    how.kind = group.kind;
    how.variant = group.variant;
    how.learn = hybrid && group.rows.size() >= hybrid->fewestRows && !(hybrid->ownDeviceOnly && group.device < 0);
    TrainingOptions& training = how.candidates.front();
    training.kind = "trees";
    training.seed = options.seed;
    training.stop = options.stop;
    if (hybrid) {
        training.steps = hybrid->trees;
        training.depth = hybrid->depth;
        if (hybrid->tune) hybrid->tune(training, group.rows.size(), group.device < 0);
    }
    if (options.onStep) {
        training.onStep = [&](const TrainingPoint& point) { options.onStep(point, family.name); };
    }
    const bool teaches = hybrid && hybrid->mix && hybrid->tunePupil && group.device >= 0;
    if (teaches) {
        how.pupil = TrainingOptions{};
        how.pupil->kind = "compact-trees";
        hybrid->tunePupil(*how.pupil, group.rows.size());
    }
    if (group.rows.size() > manyRows) how.folds = group.rows.size() > veryManyRows ? 2 : 3;
    how.spread = group.device < 0;
    std::vector<double> fitted;
    const PrepareRows prepare = [&](std::span<const std::size_t> fitTo,
                                    Parameters& parameters) -> Expected<SectionRows> {
        std::vector<TileRow> rows;
        for (const std::size_t i : fitTo) rows.push_back(group.rows[i]);
        if (fitted.empty() || group.rows.size() < manyRows || group.device < 0) {
            fitted = fitTileParameters(family, rows, parametersOf(family, parameters), options.stop,
                                       group.device < 0 ? family.outlier : 0);
        }
        const std::vector<double>& values = fitted;
        for (std::size_t i = 0; i < values.size(); ++i) parameters[std::string(family.parameters[i].name)] = values[i];
        if (group.hostTimed) parameters[std::string(graphLaunchName)] = family.graphLaunch;
        SectionRows result;
        if (hybrid)
            result.names.assign(hybrid->featureNames.begin(), hybrid->featureNames.begin() + std::ptrdiff_t(columns));
        if (hybrid) {
            const std::size_t plain = hybrid->featureNames.size() - hybrid->deviceFeatures - hybrid->domainFeatures;
            for (std::size_t c = 0; c < hybrid->domainFeatures; ++c) result.domainOnly.push_back(plain + c);
        }
        std::vector<double> row(hybrid ? hybrid->featureNames.size() : 0);
        for (const TileRow& one : group.rows) {
            const TilePhysics physics = family.physics(*one.kernel, *one.gpu, values);
            if (hybrid) hybrid->features(*one.kernel, *one.gpu, physics, row);
            result.features.insert(result.features.end(), row.begin(), row.begin() + std::ptrdiff_t(columns));
            const double priced = secondsOfRow(family, physics, one, group.hostTimed);
            result.baseline.push_back(priced);
            result.doubt.push_back(physics.clockDoubt);
            result.measured.push_back(one.seconds);
            // As with its parameters, a correction for all devices is not to learn what ails one card.
            if (group.device < 0 && family.outlier > 0) {
                const double off = std::log(one.seconds / priced) / (2 * family.outlier);
                result.weight.push_back(1 / (1 + off * off));
            }
            if (group.device < 0) result.group.push_back(one.device);
        }
        if (!teaches || !how.learn) return result;
        const bool batched =
            std::any_of(group.rows.begin(), group.rows.end(), [](const TileRow& one) { return one.kernel->batch > 1; });
        if (hybrid->latticeAxes == 3 && !batched) {
            addLattice(result, group, fitTo, *hybrid, values);
            return result;
        }
        for (const MixedRow& mixed : mixedRows(group, fitTo, *hybrid, options.seed)) {
            const TilePhysics physics = family.physics(mixed.kernel, *mixed.gpu, values);
            hybrid->features(mixed.kernel, *mixed.gpu, physics, row);
            result.unmeasured.insert(result.unmeasured.end(), row.begin(), row.begin() + std::ptrdiff_t(columns));
        }
        return result;
    };
    auto fit = fitSection(group.rows.size(), prepare, how);
    if (!fit) return Unexpected(std::move(fit.error()));
    return std::move(fit->section);
}

}  // namespace

Expected<Calibration> fitTileHybrid(std::span<const KernelRows> rows, const FitOptions& options) {
    return fitTileSections(tileHybridId, tileHybridVersion, rows, options,
                           [&](const TileRowGroup& group) { return fitHybrid(group, options); });
}

}  // namespace orrery
