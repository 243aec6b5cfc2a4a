#include "methods/tile/tile_hybrid_fit.h"

#include "base/random.h"
#include "learning/fit_section.h"
#include "methods/tile/hybrid_family.h"
#include "methods/tile/tile_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery {

namespace {

using Parameters = std::map<std::string, double, std::less<>>;

// From so many rows on, a dozen parameters hardly move when a fold is left out: they are fitted once.
constexpr std::size_t manyRows = 1000, veryManyRows = 10000;

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

Expected<CalibrationSection> fitHybrid(const TileRowGroup& group, const FitOptions& options) {
    const TileFamily& family = *group.family;
    const HybridFamily* hybrid = hybridFamilyOf(family);
    std::size_t columns = hybrid ? hybrid->featureNames.size() : 0;
    if (hybrid && group.device >= 0) columns -= hybrid->deviceFeatures;

    SectionOptions how;
    how.kind = group.kind;
    how.variant = group.variant;
    how.learn = hybrid && group.rows.size() >= hybrid->fewestRows;
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
