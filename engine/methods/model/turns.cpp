#include "methods/model/turns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace orrery {

double secondsOfTurns(std::span<const TurnStretch> block, double times) {
    struct State {
        std::array<double, 2> half{}, place{};
    } now;
    const auto run = [&](double share) {
        for (const TurnStretch& stretch : block) {
            double& free = now.place[stretch.beside ? 1 : 0];
            for (double& end : now.half) free = end = std::max(end, free) + share * stretch.seconds;
        }
    };
    for (double left = times; left > 0; left -= 1) {
        const State before = now;
        run(std::min(1.0, left));
        // Once all ends move on by the same, so do those of every later block.
        const double step = now.half[0] - before.half[0];
        const auto same = [&](double end, double was) { return std::abs(end - was - step) <= 1e-12 * end; };
        if (left <= 2 || !same(now.half[1], before.half[1]) || !same(now.place[0], before.place[0]) ||
            !same(now.place[1], before.place[1]))
            continue;
        const double skipped = std::floor(left - 1) - 1;
        for (auto* ends : {&now.half, &now.place})
            for (double& end : *ends) end += skipped * step;
        left -= skipped;
    }
    return std::max(now.half[0], now.half[1]);
}

std::optional<Kernel> halfOfBatch(const Kernel& kernel) {
    Kernel half = kernel;
    const auto halve = [](std::int64_t& extent) {
        const bool splits = extent > 1;
        extent = (extent + 1) / 2;
        return splits;
    };
    half.epilogue.operations /= 2;
    half.epilogue.bytes /= 2;
    switch (kernel.kind) {
        case KernelKind::Gemm:
            if (!halve(half.batch > 1 && half.m == 1 ? half.batch : half.m)) return std::nullopt;
            break;
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            (void)(halve(half.m) || halve(half.batch));  // what has one row runs once for each half
            break;
        case KernelKind::DecodeAttention:
            if (!halve(half.attention.batch)) return std::nullopt;
            break;
        case KernelKind::Experts:
            if (!halve(half.experts.tokens)) return std::nullopt;
            (void)halve(half.experts.rows);
            half.experts.touched = std::min(half.experts.touched, half.experts.rows);
            break;
        case KernelKind::Collective:
            half.messageBytes /= 2;
            break;
        case KernelKind::Movement:
        case KernelKind::Other:
            half.flops /= 2;
            half.readBytes /= 2;
            half.writeBytes /= 2;
            return half;
        case KernelKind::PrefillAttention:
        case KernelKind::Convolution:
            return std::nullopt;
    }
    countWork(half);
    return half;
}

double savedByTurns(const Composition& c) {
    const auto& launches = c.list().launches;
    if (!c.pricer->instant() ||
        std::ranges::none_of(launches, [&](const Launch& each) { return c.pricer->beside(each.kernel); }))
        return 0;
    const bool inside = c.pricer->takesEpilogue();
    const auto& first = c.distinct().first;
    std::vector<KernelPrice> prices(launches.size());
    std::vector<TurnStretch> halves(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
        if (launches[i].part != Part::Forward) return 0;
        Launch launch = launches[i];
        const auto half = halfOfBatch(launch.kernel);
        if (!half) return 0;
        launch.kernel = *half;
        const auto same = static_cast<std::size_t>(first[i]);
        prices[i] = same < i ? prices[same] : c.pricer->price(*half);
        if (!std::isfinite(prices[i].seconds) || prices[i].seconds < 0) return 0;
        halves[i] = {same < i ? halves[same].beside : c.pricer->beside(*half),
                     pricedLaunch(prices[i], launch, c.device, inside).seconds};
    }
    double saved = 0;
    for (const LaunchRun& run : c.runs) {
        double whole = 0;
        for (std::size_t i = run.first; i < run.end; ++i) whole += c.prices[i].seconds;
        const std::span block = std::span(halves).subspan(run.first, run.end - run.first);
        saved += std::max(0.0, run.times * whole - secondsOfTurns(block, run.times));
    }
    return saved;
}

}  // namespace orrery
