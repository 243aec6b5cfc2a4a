#include "methods/model/kernel_iteration.h"

#include "methods/model/compose.h"
#include "methods/model/turns.h"
#include "methods/model/whole_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using Stretch = GridAxis::Stretch;

GridAxis tokenAxis() {
    return GridAxis({Stretch{1, 1, 15}, Stretch{16, 8, 126}, Stretch{1024, 64, 112}, Stretch{8192, 1024, 56}});
}
GridAxis sequenceAxis() {
    return GridAxis({Stretch{1, 1, 15}, Stretch{16, 4, 12}, Stretch{64, 16, 12}, Stretch{256, 64, 28}});
}
GridAxis contextAxis() {
    return GridAxis({Stretch{0, 64, 16}, Stretch{1024, 256, 28}, Stretch{8192, 2048, 12}, Stretch{32768, 16384, 30}});
}
GridAxis chunkCountAxis() {
    return GridAxis({Stretch{1, 1, 3}, Stretch{4, 4, 3}, Stretch{16, 16, 3}, Stretch{64, 64, 7}});
}
GridAxis chunkAxis() {
    return GridAxis({Stretch{1, 31, 1}, Stretch{32, 32, 7}, Stretch{256, 128, 14}, Stretch{2048, 512, 28},
                     Stretch{16384, 2048, 24}});
}

// Memory's own time; the rest of a product or of attention follows the clock, hidden behind it as far as it is shorter.
// Vector kernels are launches and bytes.
double clockedPart(const PricedLaunch& priced, const Launch& launch, double bandwidth) {
    if (priced.price.bound.kind == BoundKind::Compute) return priced.seconds;
    switch (launch.kernel.kind) {
        case KernelKind::Gemm:
        case KernelKind::Experts:
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            return std::max(0.0, priced.seconds - 1.25 * launch.scale * launch.kernel.bytes() / bandwidth);
        default:
            return 0;
    }
}

// Half-width of a sum from its parts': between independent and fully correlated.
double joined(double squares, double all, double between) {
    return std::sqrt((1 - between) * squares + between * all * all);
}

// Where an installation's all-reduces were measured to be slower than the kernel method's.
void slowDown(PricedLaunch& priced, const Kernel& kernel, const SoftwareStack& software) {
    if (kernel.kind != KernelKind::Collective || kernel.collective != CollectiveOp::AllReduce) return;
    const bool large = software.largeMessage > 0 && kernel.messageBytes >= software.largeMessage;
    const double bandwidth = large ? software.largeBusBandwidth : software.busBandwidth;
    if (bandwidth <= 0 || kernel.ranks < 2) return;
    const auto ranks = static_cast<double>(kernel.ranks);
    const double least = 2 * (ranks - 1) / ranks * kernel.messageBytes / bandwidth;
    const double factor = priced.seconds > 0 ? std::max(1.0, least / priced.seconds) : 1;
    priced.seconds *= factor;
    priced.low *= factor;
    priced.high *= factor;
}

}  // namespace

KernelIterationTime::KernelIterationTime(KernelIterationSpec spec, IterationLaunches launches)
    : spec_(std::move(spec)),
      launches_(std::move(launches)),
      power_(spec_.gpu ? powerModel(*spec_.gpu) : PowerModel{}) {
    for (const Launch& launch : launches_.of(IterationGroup::Tokens, 1))
        foreign_ = foreign_ || (launch.kernel.kind == KernelKind::Gemm && !spec_.stack.own(launch.kernel));
    for (int g = 0; g < iterationGroupCount; ++g) {
        const auto group = static_cast<IterationGroup>(g);
        if (!launches_.has(group)) continue;
        byExtent_[static_cast<std::size_t>(g)] = PriceGrid(tokenAxis(), {}, {});
        for (const Launch& launch : launches_.of(group, 64)) launchCount_[static_cast<std::size_t>(g)] += launch.count;
    }
    for (const Launch& launch : launches_.decode(1, 64)) attentionLaunches_ += launch.count;
    prompts_ = PriceGrid(chunkCountAxis(), chunkAxis(), contextAxis());
    decodes_ = PriceGrid(sequenceAxis(), contextAxis(), {});
    if (spec_.model.plan.pipeline > 1) handOver_ = PriceGrid(tokenAxis(), {}, {});
}

Expected<std::shared_ptr<const KernelIterationTime>> KernelIterationTime::make(KernelIterationSpec spec) {
    auto launches = IterationLaunches::make(spec.model);
    if (!launches) return Unexpected(std::move(launches.error()));
    if (spec.gpu) spec.device = spec.gpu->device;
    if (spec.readRate <= 0 && !spec.device.levels.empty()) spec.readRate = spec.device.main().bandwidth.value;
    const PowerModel power = spec.gpu ? powerModel(*spec.gpu) : PowerModel{};
    if (spec.powerCap < 0 || !std::isfinite(spec.powerCap) ||
        (spec.powerCap > 0 && power.known() && spec.powerCap <= power.staticWatts)) {
        return fail("serving.bad-power-cap",
                    fmt::format("a power cap of {} W on {}, which draws {:.4g} W before it computes", spec.powerCap,
                                spec.device.name, power.staticWatts),
                    fmt::format("more than {:.4g} W, or 0 for the device's own cap", power.staticWatts),
                    "raise the cap", Place{{}, 0, 0, spec.device.path});
    }
    if (spec.device.levels.empty() || spec.device.main().bandwidth.value <= 0) {
        return fail("hardware.missing-bandwidth", fmt::format("the memory of {} has no bandwidth", spec.device.name),
                    "an attribute 'bandwidth'", "set the bandwidth of the device's main memory",
                    Place{{}, 0, 0, spec.device.path});
    }
    return std::shared_ptr<const KernelIterationTime>(new KernelIterationTime(std::move(spec), std::move(*launches)));
}

GridPrice KernelIterationTime::priceOf(std::span<const Launch> launches) const {
    GridPrice sum;
    const double way = spec_.gpu ? wayJoulesPerByte(*spec_.gpu) : 0;
    const double bandwidth = spec_.gpu ? spec_.gpu->dramBandwidth : spec_.device.main().bandwidth.value;
    std::vector<PricedLaunch> prices;
    prices.reserve(launches.size());
    const double epilogueRate = spec_.pricer->takesEpilogue() ? 0 : spec_.readRate;
    for (const Launch& launch : launches) {
        KernelPrice price = spec_.pricer->price(launch.kernel);
        if (!std::isfinite(price.seconds) || price.seconds < 0) price = rooflinePrice(spec_.device, launch.kernel);
        spec_.stack.doubt(launch.kernel, price);
        PricedLaunch priced = pricedLaunch(price, launch, spec_.device, epilogueRate);
        slowDown(priced, launch.kernel, spec_.software);
        sum.seconds += launch.count * priced.seconds;
        sum.clocked += launch.count * clockedPart(priced, launch, bandwidth);
        const PowerPoint point = spec_.gpu
                                     ? powerOf(power_, *spec_.gpu, launch.kernel, launch.scale * launch.kernel.flops,
                                               launch.scale * launch.kernel.bytes(), priced.seconds)
                                     : PowerPoint{};
        sum.joules += launch.count * priced.seconds * point.watts;
        const double pins =
            std::max(0.0, point.memoryWatts - way * launch.scale * launch.kernel.bytes() / priced.seconds);
        sum.switched += launch.count * priced.seconds * std::max(0.0, point.watts - power_.staticWatts - pins);
        const bool outside = !price.priced || price.domain == DomainVerdict::Outside;
        sum.doubt += outside ? launch.count * priced.seconds : 0;
        sum.beside += spec_.pricer->beside(launch.kernel) ? launch.count * priced.seconds : 0;
        prices.push_back(priced);
    }
    const ComposedInterval interval = composeLaunches(prices, launches, *spec_.pricer);
    sum.below = interval.seconds - interval.low;
    sum.above = interval.high - interval.seconds;
    return sum;
}

GridPrice KernelIterationTime::group(IterationGroup which, double extent) const {
    const PriceGrid& grid = byExtent_[static_cast<std::size_t>(which)];
    if (grid.empty() || extent <= 0) return {};
    return grid.at(extent, 0, 0,
                   [&](double tokens, double, double) { return priceOf(launches_.of(which, std::llround(tokens))); });
}

GridPrice KernelIterationTime::promptAttention(const IterationWork& work) const {
    double tokens = 0, squares = 0, seen = 0;
    for (const PromptChunk& chunk : work.prompts) {
        const double q = chunk.tokens;
        tokens += q;
        squares += q * q;
        seen += q * chunk.context;
    }
    if (tokens <= 0) return {};
    return prompts_.at(
        tokens * tokens / squares, squares / tokens, seen / tokens, [&](double count, double queries, double context) {
            return priceOf(launches_.prefill(std::llround(count), std::llround(queries), std::llround(context)));
        });
}

GridPrice KernelIterationTime::decodeAttention(const IterationWork& work) const {
    if (work.decodes.empty()) return {};
    const auto count = static_cast<double>(work.decodes.size());
    return decodes_.at(count, static_cast<double>(work.decodeContext) / count, 0,
                       [&](double sequences, double context, double) {
                           return priceOf(launches_.decode(std::llround(sequences), std::llround(context)));
                       });
}

double KernelIterationTime::takeTurns(const IterationWork& work, double tokens, GridPrice& layers) const {
    const bool graph = spec_.software.decodeGraphs || spec_.software.issue <= 0;  // else the host issues twice as many
    if (layers.beside <= 0 || !graph || !work.prompts.empty() || work.decodes.size() < 2) return 1;
    const double count = static_cast<double>(work.decodes.size()) / 2;
    GridPrice both;
    both.add(group(IterationGroup::Tokens, tokens / 2), 2);
    both.add(group(IterationGroup::Experts, tokens / 2), 2);
    both.add(group(IterationGroup::DecodeOnly, static_cast<double>(work.tokensPerDecode) * count), 2);
    both.add(decodes_.at(count, static_cast<double>(work.decodeContext) / (2 * count), 0,
                         [&](double sequences, double context, double) {
                             return priceOf(launches_.decode(std::llround(sequences), std::llround(context)));
                         }),
             2);
    const int layerCount = static_cast<int>(std::clamp<std::int64_t>(spec_.model.config.layers, 1, 1 << 20));
    const double deep = layerCount;
    const std::array block{TurnStretch{false, (both.seconds - both.beside) / (2 * deep)},
                           TurnStretch{true, both.beside / (2 * deep)}};
    const double taken = secondsOfTurns(block, layerCount);
    const double share = taken / layers.seconds;
    if (share >= 1) return 1;
    // Both halves spend their energy; the sides and what the clock stretches keep their share of the time.
    GridPrice turned;
    turned.add(layers, share);
    turned.joules = both.joules - power_.staticWatts * (both.seconds - taken);  // it stands for the time that passes
    turned.switched = both.switched;
    layers = turned;
    return share;
}

IterationCost KernelIterationTime::costOf(const IterationWork& work) const {
    double promptTokens = 0, promptReach = 0;
    for (const PromptChunk& chunk : work.prompts) {
        promptTokens += chunk.tokens;
        promptReach += chunk.tokens + chunk.context;
    }
    const double decodeTokens = static_cast<double>(work.decodes.size()) * work.tokensPerDecode;
    const double tokens = std::max<double>(work.tokens, promptTokens + decodeTokens);
    const std::array<GridPrice, iterationGroupCount + 2> parts{
        group(IterationGroup::Tokens, tokens),
        group(IterationGroup::Experts, tokens),
        group(IterationGroup::PromptOnly, promptReach),
        group(IterationGroup::DecodeOnly, decodeTokens),
        group(IterationGroup::Head, work.sampled),
        promptAttention(work),
        decodeAttention(work),
    };
    IterationCost cost;
    double launched = 0, belowSquares = 0, aboveSquares = 0;
    constexpr auto head = static_cast<std::size_t>(IterationGroup::Head);
    GridPrice layers;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (i != head) layers.add(parts[i], 1);
    const double turns = takeTurns(work, tokens, layers);
    cost.all.add(layers, 1);
    cost.all.add(parts[head], 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double scale = i == head ? 1 : turns;
        belowSquares += scale * parts[i].below * scale * parts[i].below;
        aboveSquares += scale * parts[i].above * scale * parts[i].above;
        if (i < iterationGroupCount && parts[i].seconds > 0) launched += launchCount_[i];
    }
    if (cost.all.seconds <= 0) return cost;
    launched += attentionLaunches_ * ((work.prompts.empty() ? 0 : 1) + (work.decodes.empty() ? 0 : 1));

    const SoftwareStack& host = spec_.software;
    const bool graph = work.prompts.empty() ? host.decodeGraphs : host.promptGraphs;
    cost.headSeconds = parts[head].seconds;
    cost.headClocked = parts[head].clocked;
    cost.issued = graph ? 0 : host.issue * (launched - launchCount_[head]);
    const double start = spec_.pricer->launchInside() && !spec_.gpu ? 0 : spec_.device.launchOverhead.value;
    cost.start = graph ? start : host.issue;
    cost.host = host.perIteration + (work.prompts.empty() ? 0 : host.perPrompt) +
                host.perSequence * static_cast<double>(work.prompts.size() + work.decodes.size());
    if (spec_.model.plan.pipeline > 1) {
        cost.handOver = handOver_
                            .at(tokens, 0, 0,
                                [&](double count, double, double) {
                                    const Launch launch = launches_.handOver(std::llround(count));
                                    return priceOf({&launch, 1});
                                })
                            .seconds;
    }
    // As composeLaunches() joins families: most of an iteration is products.
    const double between = std::max(betweenFamilies, spec_.pricer->correlation(KernelKind::Gemm));
    cost.below = joined(belowSquares, cost.all.below, between);
    cost.above = joined(aboveSquares, cost.all.above, between);
    // As widenWhole(): an iteration is many kernels.
    if (!spec_.pricer->launchInside()) {
        const WholeError side = wholeError(foreign_ ? 1 : 0, 0);
        cost.below = std::hypot(cost.below, -cost.all.seconds * std::expm1(-side.below));
        cost.above = std::hypot(cost.above, cost.all.seconds * std::expm1(side.above));
    }
    return cost;
}

std::vector<Launch> KernelIterationTime::kernelsOf(const IterationWork& work) const {
    std::vector<Launch> all;
    const auto append = [&](std::vector<Launch> more) { all.insert(all.end(), more.begin(), more.end()); };
    std::int64_t prompt = 0, reach = 0;
    for (const PromptChunk& chunk : work.prompts) {
        prompt += chunk.tokens;
        reach += chunk.tokens + chunk.context;
        append(launches_.prefill(1, chunk.tokens, chunk.context));
    }
    const auto decodes = static_cast<std::int64_t>(work.decodes.size());
    if (decodes > 0) append(launches_.decode(decodes, work.decodeContext / decodes));
    const std::int64_t tokens = prompt + decodes * work.tokensPerDecode;
    append(launches_.of(IterationGroup::Tokens, tokens));
    append(launches_.of(IterationGroup::Experts, tokens));
    append(launches_.of(IterationGroup::PromptOnly, reach));
    append(launches_.of(IterationGroup::DecodeOnly, decodes * work.tokensPerDecode));
    append(launches_.of(IterationGroup::Head, work.sampled));
    return all;
}

std::vector<std::string> KernelIterationTime::assumptions() const {
    const Plan& plan = spec_.model.plan;
    std::vector<std::string> said;
    said.push_back(fmt::format("{} over {} tensor-parallel devices and {} stages of {}", spec_.model.config.name,
                               plan.tensor, plan.pipeline, spec_.device.name));
    said.push_back(fmt::format("Host: {}. {}", spec_.software.title, spec_.software.source));
    said.push_back(
        "The prompts of one iteration count as equal chunks with the same tokens and scores, decodes at their mean "
        "context");
    if (spec_.powerCap > 0 && power_.known() && spec_.powerCap < power_.capWatts) {
        said.push_back(
            fmt::format("Power is held at {:.4g} of {:.4g} W per device: the clock falls until the mean power "
                        "of an iteration is within it, and arithmetic takes longer in proportion",
                        spec_.powerCap, power_.capWatts));
    }
    const ServedTransformer& served = spec_.model;
    if (served.routing.kind != RoutingKind::Balanced) {
        said.push_back(fmt::format(
            "Tokens choose experts by the routing `{}`: every layer waits for the device with the most of them",
            toText(served.routing.kind)));
    } else if (plan.expert > 1 || served.dataParallel > 1) {
        said.push_back("Experts are chosen evenly, so that their devices have equal work");
    }
    if (served.dataParallel > 1) {
        said.push_back(
            fmt::format("{} data-parallel ranks share the experts, go in step, and gather and scatter their "
                        "tokens in every layer over the devices' own links",
                        served.dataParallel));
    }
    for (std::string& more : spec_.pricer->assumptions()) said.push_back(std::move(more));
    return said;
}

}  // namespace orrery
