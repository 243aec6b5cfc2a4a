#include "methods/model/turns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace orrery {

namespace {

// When the halves end, and from when on the places are free.
struct Ends {
    std::array<double, 2> half{}, place{};

    void run(std::span<const TurnStretch> turns) {
        for (const TurnStretch& turn : turns) {
            double& free = place[turn.beside ? 1 : 0];
            for (double& end : half) free = end = std::max(end, free) + turn.seconds;
        }
    }
    /// All of them later by the same, or nothing.
    std::optional<double> step(const Ends& before) const {
        const double step = half[0] - before.half[0];
        const auto same = [&](double end, double was) { return std::abs(end - was - step) <= 1e-12 * end; };
        const bool all =
            same(half[1], before.half[1]) && same(place[0], before.place[0]) && same(place[1], before.place[1]);
        return all ? std::optional(step) : std::nullopt;
    }
    void move(double by) {
        for (auto* ends : {&half, &place})
            for (double& end : *ends) end += by;
    }
};

// A half keeps its place until it needs the other one: kernels in a row are one turn.
std::vector<TurnStretch> turnsOf(std::span<const TurnStretch> block) {
    std::vector<TurnStretch> turns;
    for (const TurnStretch& each : block) {
        if (turns.empty() || turns.back().beside != each.beside)
            turns.push_back(each);
        else
            turns.back().seconds += each.seconds;
    }
    return turns;
}

}  // namespace

double secondsOfTurns(std::span<const TurnStretch> block, int times) {
    std::vector<TurnStretch> turns = turnsOf(block);
    if (turns.empty() || times < 1) return 0;
    Ends now;
    if (turns.size() == 1) return 2 * times * turns.front().seconds;
    // The last turn of a block and the first of the next are one, where they are at the same place.
    double first = 0;
    if (turns.front().beside == turns.back().beside) {
        first = turns.front().seconds;
        now.run(std::span(turns).first(1));
        turns.erase(turns.begin());
        turns.back().seconds += first;
    }
    int left = times - 1;
    while (left > 0) {
        const Ends before = now;
        now.run(turns);
        --left;
        if (const auto step = now.step(before); step && left > 0) {  // every later block adds as much
            now.move(left * *step);
            left = 0;
        }
    }
    turns.back().seconds -= first;
    now.run(turns);
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
    const double rate = c.epilogueRate();
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
                     pricedLaunch(prices[i], launch, c.device, rate).seconds};
    }
    double saved = 0;
    for (const LaunchRun& run : c.runs) {
        if (run.times != std::floor(run.times) || run.times > 1e6) continue;  // repeats by the mean, of no order
        double whole = 0;
        for (std::size_t i = run.first; i < run.end; ++i) whole += c.prices[i].seconds;
        const std::span block = std::span(halves).subspan(run.first, run.end - run.first);
        saved += std::max(0.0, run.times * whole - secondsOfTurns(block, static_cast<int>(run.times)));
    }
    return saved;
}

}  // namespace orrery
