#include "methods/model/turns.h"

#include <algorithm>
#include <array>
#include <vector>

namespace orrery {

double secondsOfTurns(std::span<const TurnStretch> block, double times) {
    std::array<double, 2> half{}, place{};
    for (double done = 0; done < times; ++done) {
        const double share = std::min(1.0, times - done);
        for (const TurnStretch& stretch : block) {
            double& free = place[stretch.beside ? 1 : 0];
            for (double& end : half) free = end = std::max(end, free) + share * stretch.seconds;
        }
    }
    return std::max(half[0], half[1]);
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
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            if (!halve(half.m)) return std::nullopt;
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
    if (!c.pricer->instant()) return 0;
    const auto& launches = c.list().launches;
    const bool inside = c.pricer->takesEpilogue();
    std::vector<TurnStretch> halves(launches.size());
    bool anyBeside = false;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        if (launches[i].part != Part::Forward) return 0;
        Launch launch = launches[i];
        const auto half = halfOfBatch(launch.kernel);
        if (!half) return 0;
        launch.kernel = *half;
        halves[i] = {c.pricer->beside(*half), pricedLaunch(c.pricer->price(*half), launch, c.device, inside).seconds};
        anyBeside = anyBeside || halves[i].beside;
    }
    if (!anyBeside) return 0;
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
