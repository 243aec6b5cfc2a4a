#include "methods/model/compose.h"

#include "learning/section_price.h"
#include "methods/answer/compute_rates.h"
#include "methods/answer/stated_errors.h"
#include "methods/cpu/cpu_pages.h"
#include "methods/model/kernel_bound.h"
#include "methods/model/open_composition.h"
#include "methods/model/placed.h"
#include "methods/model/turns.h"
#include "methods/model/whole_error.h"
#include "methods/reuse_pricer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace orrery {

namespace {

// What PyTorch's dispatch takes on the host per operation; 5 to 25 µs are reported (jiahuanglin.xyz, lesson 18). Mixed
// precision took up to 75 in 2021: 13 ms of ResNet-50's 177 launches at batch 1 (DeepLearningExamples @ 729963dd).
constexpr double eagerIssue = 10e-6, leastIssue = 5e-6, mostIssue = 80e-6;
// Where rows that a host timed tell it, they are of one host and one framework.
constexpr double otherHost = 2;

OperatorFamily familyOf(KernelKind kind) {
    switch (kind) {
        case KernelKind::Gemm:
        case KernelKind::Experts:
            return OperatorFamily::MatrixProduct;
        case KernelKind::PrefillAttention:
            return OperatorFamily::PrefillAttention;
        case KernelKind::DecodeAttention:
            return OperatorFamily::DecodeAttention;
        case KernelKind::Convolution:
            return OperatorFamily::Convolution;
        default:
            return OperatorFamily::Elementwise;
    }
}

KernelPrice settled(KernelPrice price, const Kernel& kernel, const Composition& c) {
    if (!std::isfinite(price.seconds) || price.seconds < 0) return rooflinePrice(c.device, kernel);
    c.stack.doubt(kernel, price);
    return price;
}

// Host seconds of each launch: what a framework's call takes where rows that a host timed tell it, a dispatch else.
std::vector<double> eagerIssues(const Composition& c) {
    const auto& launches = c.list().launches;
    const auto& first = c.distinct().first;
    const double usual = c.hostSeconds.value_or(eagerIssue);
    std::vector<double> issue(launches.size(), std::max(usual, c.device.launchOverhead.value));
    if (c.hostSeconds || !c.pricer->instant()) return issue;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const auto same = static_cast<std::size_t>(first[i]);
        if (same < i) {
            issue[i] = issue[same];
            continue;
        }
        const Kernel& kernel = launches[i].kernel;
        const double call = c.pricer->priceByHost(kernel).seconds - c.pricer->price(kernel).seconds;
        if (std::isfinite(call)) issue[i] = std::max(issue[i], call);
    }
    return issue;
}

// Simulators and searches: distinct kernels side by side, each once for every state of the caches that they begin with.
Expected<void> priceSlowly(Composition& c, EstimateContext& context, std::vector<KernelPrice>& prices) {
    const auto& first = c.distinct().first;
    const auto& launches = c.list().launches;
    const auto* told = dynamic_cast<const ReusePricer*>(c.pricer.get());
    std::vector<std::size_t> distinct;
    std::map<std::pair<std::int32_t, std::uint32_t>, std::size_t> known;
    std::vector<std::size_t> same(first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
        const auto [at, isNew] = known.try_emplace({first[i], startOf(c, i)}, i);
        same[i] = at->second;
        if (isNew) distinct.push_back(i);
    }
    const bool wantSpans = context.wantTimeline && !c.pricer->rows().empty();
    if (wantSpans) c.spans.resize(first.size());
    if (context.progress) context.progress->setTotal(distinct.size());
    std::vector<std::optional<Diagnostic>> problems(distinct.size());
    context.executor.forEach(distinct.size(), [&](std::size_t d) {
        const std::size_t at = distinct[d];
        const Kernel& kernel = launches[at].kernel;
        const auto serial = makeSerialExecutor();
        PriceContext asked{*serial, context.stop, nullptr, wantSpans ? &c.spans[at] : nullptr};
        auto price = told ? told->priceAfter(kernel, c.kernels->reuse[at], asked) : c.pricer->price(kernel, asked);
        if (price) {
            prices[at] = settled(*price, kernel, c);
        } else {
            problems[d] = std::move(price.error());
        }
        if (context.progress) context.progress->advance();
    });
    for (auto& problem : problems) {
        if (problem) return Unexpected(std::move(*problem));
    }
    for (std::size_t i = 0; i < same.size(); ++i) {
        if (same[i] != i) prices[i] = prices[same[i]];
    }
    return {};
}

// Arrays that take any type multiply it as their own (fp32 as bf16 on a TPU), and so does the bound of a product.
Launch boundedBy(const Composition& c, const Launch& launch) {
    Launch bounded = launch;
    const KernelKind kind = launch.kernel.kind;
    const bool product = kind == KernelKind::Gemm || kind == KernelKind::Experts || kind == KernelKind::Convolution ||
                         kind == KernelKind::PrefillAttention || kind == KernelKind::DecodeAttention;
    if (c.gpu || !product || !c.pricer->takesAnyType()) return bounded;
    const auto own = ownType(c.device);
    if (own && c.device.peak(true, *own) > c.device.peak(true, launch.kernel.type)) bounded.kernel.type = *own;
    return bounded;
}

// Every distinct kernel is priced once; where its use counts, every launch.
Expected<void> priceAll(Composition& c, EstimateContext& context) {
    const auto& launches = c.list().launches;
    const auto& first = c.distinct().first;
    const double rate = c.epilogueRate();
    c.prices.resize(launches.size());
    std::vector<KernelPrice> slow;
    if (!c.pricer->instant()) {
        slow.resize(launches.size());
        if (auto done = priceSlowly(c, context, slow); !done) return done;
    }
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const auto at = static_cast<std::size_t>(first[i]);
        const Kernel& kernel = launches[i].kernel;
        if (c.pricer->tellsUses()) {
            const KernelPrice price = c.pricer->price(kernel, useOf(launches[i]));
            c.prices[i] = pricedLaunch(settled(price, kernel, c), launches[i], c.device, rate);
        } else if (!slow.empty()) {
            c.prices[i] = pricedLaunch(slow[i], boundedBy(c, launches[i]), c.device, rate);
        } else if (at == i) {
            c.prices[i] = pricedLaunch(settled(c.pricer->price(kernel), kernel, c), launches[i], c.device, rate);
        } else {
            c.prices[i] = pricedLaunch(c.prices[at].price, launches[i], c.device, rate);
        }
    }
    return {};
}

}  // namespace

ComposedInterval composeLaunches(std::span<const PricedLaunch> prices, std::span<const Launch> launches,
                                 const KernelPricer& pricer) {
    std::vector<PartInterval> parts;
    parts.reserve(prices.size());
    std::array<double, kernelKindCount> correlation{}, busy{}, unknown{};
    for (std::size_t i = 0; i < prices.size(); ++i) {
        const PricedLaunch& p = prices[i];
        const auto kind = static_cast<std::size_t>(launches[i].kernel.kind);
        parts.push_back({p.seconds, p.low, p.high, launches[i].count, static_cast<std::int32_t>(kind)});
        busy[kind] += p.seconds * launches[i].count;
        if (!p.known) unknown[kind] += p.seconds * launches[i].count;
    }
    double common = 0, all = 0;
    for (std::size_t k = 0; k < busy.size(); ++k) {
        // What nobody measured is missed alike: a guess does not become surer by being made many times.
        const double measured = pricer.correlation(static_cast<KernelKind>(k));
        const double share = busy[k] > 0 ? unknown[k] / busy[k] : 0;
        correlation[k] = measured + (1 - measured) * share;
        common += correlation[k] * busy[k];
        all += busy[k];
    }
    // What the kernels of one kind share on a device that was not fitted is the device, and that all kinds share.
    return composeIntervals(parts, correlation, all > 0 ? std::max(betweenFamilies, common / all) : betweenFamilies);
}

WholeError wholeError(double foreign, double longest) {
    const double share = std::clamp(foreign, 0.0, 1.0), many = std::clamp(1 - longest, 0.0, 1.0);
    const auto side = [&](double own, double other) {
        return many * std::sqrt((1 - share) * own * own + share * share * other * other);
    };
    return {side(wholeOwnSoftware.below, wholeOtherSoftware.below),
            side(wholeOwnSoftware.above, wholeOtherSoftware.above)};
}

void widenWhole(const ModelOptions& options, Composition& c) {
    if (c.pricer->launchInside()) return;
    const auto& launches = c.list().launches;
    const auto& first = c.distinct().first;
    std::vector<double> seconds, alike(launches.size(), 0.0);
    seconds.reserve(launches.size());
    double busy = 0, foreign = 0, least = 0, squares = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const PricedLaunch& p = c.prices[i];
        const double time = p.seconds * launches[i].count;
        seconds.push_back(p.seconds);
        alike[static_cast<std::size_t>(first[i])] += time;
        busy += time;
        least += p.least * launches[i].count;
        if (!c.stack.own(launches[i].kernel)) foreign += time;
    }
    if (!(busy > 0)) return;
    for (const double time : alike) squares += time * time;
    ComposedInterval& whole = c.interval;
    const double middle = whole.seconds;
    const WholeError side = wholeError(foreign / busy, squares / (busy * busy));
    double below = -middle * std::expm1(-side.below), above = middle * std::expm1(side.above);
    if (options.launch == LaunchMode::Eager && !c.hostSeconds) {
        std::vector<double> issue = eagerIssues(c), fast = issue, slow = issue;
        const double usual = std::max(eagerIssue, c.device.launchOverhead.value);
        for (std::size_t i = 0; i < issue.size(); ++i) {
            const bool told = issue[i] > usual * (1 + 1e-9);
            fast[i] = told ? issue[i] / otherHost : std::min(issue[i], leastIssue);
            slow[i] = told ? issue[i] * otherHost : std::max(issue[i], mostIssue);
        }
        const double now = pipelined(c.runs, seconds, issue).total;
        below = std::hypot(below, std::max(0.0, now - pipelined(c.runs, seconds, fast).total));
        above = std::hypot(above, std::max(0.0, pipelined(c.runs, seconds, slow).total - now));
    }
    whole.low = std::max({0.0, std::min(least, middle), middle - std::hypot(middle - whole.low, below)});
    whole.high = middle + std::hypot(whole.high - middle, above);
}

KernelUse useOf(const Launch& launch) {
    switch (launch.part) {
        case Part::Forward:
            return KernelUse::Forward;
        case Part::Loss:
            return KernelUse::Loss;
        case Part::Optimizer:
            return KernelUse::Optimizer;
        case Part::Backward:
            break;
    }
    return launch.what == "dW" || launch.what == "dB" ? KernelUse::WeightGradient : KernelUse::Backward;
}

PricedLaunch pricedLaunch(const KernelPrice& price, const Launch& launch, const DeviceView& device,
                          double epilogueRate) {
    PricedLaunch result;
    result.price = price;
    double low = price.low, high = price.high;
    if (!price.priced) {
        const StatedErrors* errors = statedErrors("roofline");
        const auto bounds = errors ? errorBounds(*errors, familyOf(launch.kernel.kind), price.seconds)
                                   : ErrorBounds{price.seconds, unmeasuredFactor * price.seconds};
        low = price.seconds;
        high = std::max(price.seconds, bounds.high);
    } else if (!(price.low < price.high)) {
        low = price.seconds / unmeasuredFactor;
        high = price.seconds * unmeasuredFactor;
        result.known = false;
    } else {
        result.known = price.errorKnown;
    }
    const double beside = launch.kernel.epilogue.bytes;
    const double extra = beside > 0 && epilogueRate > 0 ? beside / epilogueRate : 0;
    result.least = launch.scale * leastSeconds(device, launch);
    result.seconds = launch.scale * price.seconds + extra;
    if (price.stands) result.least = std::min(result.least, launch.scale * low + extra);
    result.raised = result.seconds < result.least * (1 - 1e-9);
    result.seconds = std::max(result.seconds, result.least);
    result.low = std::max(result.least, std::min(result.seconds, launch.scale * low + extra));
    result.high = std::max(result.seconds, launch.scale * high + extra);
    // A price below the bound is no reason to be certain.
    if (result.raised && result.high <= result.seconds && price.seconds > 0) {
        result.high = result.seconds * high / price.seconds;
    }
    return result;
}

namespace {

double errorOf(const PricedLaunch& p) {
    if (!p.known || !p.price.priced || !(p.low > 0) || !(p.seconds > 0)) return std::log(unmeasuredFactor);
    return meanError(p.seconds, p.low, p.high);
}

}  // namespace

Doubts doubtsOf(const Composition& c) {
    Doubts doubts;
    double busy = 0, most = -1;
    std::array<double, kernelKindCount> width{};
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const PricedLaunch& p = c.prices[i];
        const double seconds = p.seconds * c.list().launches[i].count;
        const double times = c.list().launches[i].count;
        busy += seconds;
        doubts.error += seconds * errorOf(p);
        width[static_cast<std::size_t>(c.list().launches[i].kernel.kind)] += times * (p.high - p.low);
        if (seconds > most) most = seconds, doubts.longest = i;
        if (!p.price.priced) {
            doubts.notCovered += seconds;
            doubts.notCoveredByKind[static_cast<std::size_t>(c.list().launches[i].kernel.kind)] += seconds;
            continue;
        }
        if (p.price.domain == DomainVerdict::Outside) doubts.outside += seconds;
        if (p.price.domain == DomainVerdict::Edge) doubts.edge += seconds;
        if (!p.known) doubts.unknown += seconds;
        if (p.raised) doubts.raised += seconds;
    }
    if (busy <= 0) return doubts;
    doubts.widest = static_cast<KernelKind>(std::max_element(width.begin(), width.end()) - width.begin());
    for (double* share :
         {&doubts.error, &doubts.notCovered, &doubts.outside, &doubts.edge, &doubts.unknown, &doubts.raised})
        *share /= busy;
    for (double& share : doubts.notCoveredByKind) share /= busy;
    return doubts;
}

namespace {

// The view of a device and the method bound to it.
Expected<void> bindTo(const DeviceRef& place, const KernelMethod& method, const EstimateContext& context,
                      Composition& c) {
    c.place = place;
    const CalibrationSet& calibrations = context.calibrations ? *context.calibrations : shippedCalibrations().set;
    auto gpu = gpuView(place);
    if (gpu) {
        c.device = gpu->device;
        c.gpu = std::move(*gpu);
    } else {
        auto device = deviceView(place);
        if (!device) return Unexpected(std::move(device.error()));
        c.device = std::move(*device);
        c.gpu.reset();
    }
    const bool lies = std::ranges::any_of(method.options, [](const MethodOption& each) { return each.key == "pages"; });
    c.readRate = c.device.main().bandwidth.value;
    if (lies) {
        const auto rate = placePages(c.device, place, context.options);
        if (!rate) return Unexpected(rate.error());
        c.readRate = rate->value;
    }
    const bool ofGpu = std::holds_alternative<GpuBinder>(method.binder);
    if (ofGpu && !c.gpu) return Unexpected(std::move(gpu.error()));
    auto pricer = ofGpu ? method.bind(*c.gpu, calibrations)
                        : method.bind(place, BindContext{calibrations, context.options, context.seed});
    if (!pricer) return Unexpected(std::move(pricer.error()));
    c.pricer = std::move(*pricer);
    return {};
}

// Products of types that the device multiplies in.
Expected<void> typesKnown(const Composition& c) {
    for (const Launch& launch : c.list().launches) {
        const KernelKind kind = launch.kernel.kind;
        const bool product = kind == KernelKind::Gemm || kind == KernelKind::Experts ||
                             kind == KernelKind::Convolution || kind == KernelKind::PrefillAttention ||
                             kind == KernelKind::DecodeAttention;
        if (product && c.device.peak(true, launch.kernel.type).value <= 0) {
            return Unexpected(missingPeak(c.device, launch.kernel.type));
        }
    }
    return {};
}

Expected<void> bindAnywhere(const Scenario& scenario, const KernelMethod& method, const EstimateContext& context,
                            Composition& c) {
    if (!scenario.plan.placement.empty()) {
        auto path = findComponent(scenario.hardware->root, scenario.plan.placement);
        if (!path) return Unexpected(std::move(path.error()));
        auto place = deviceAt(scenario.hardware, *path);
        if (!place) return Unexpected(std::move(place.error()));
        return bindTo(*place, method, context, c);
    }
    auto places = devicesOf(scenario.hardware);
    if (!places) return Unexpected(std::move(places.error()));
    constexpr std::string_view notFor = "method.not-applicable";
    Expected<void> refused;
    for (const DeviceRef& place : *places) {
        auto bound = bindTo(place, method, context, c);
        if (bound) return bound;
        // That a method is not for one device says less than what another lacks for it.
        if (refused || (refused.error().code == notFor && bound.error().code != notFor)) refused = std::move(bound);
        // Written-out copies of one device refuse alike: a few tell.
        if (&place - places->data() >= 8) break;
    }
    return refused;
}

}  // namespace

Expected<Composition> openComposition(const Scenario& scenario, const KernelMethod& method, const ModelOptions& options,
                                      const EstimateContext& context) {
    const Workload& workload = *scenario.workload;
    Composition c;
    if (auto bound = bindAnywhere(scenario, method, context, c); !bound) return Unexpected(std::move(bound.error()));
    if (workload.costs.size() == 0) {
        return fail("workload.empty", "workload '" + workload.name + "' has no operators", "at least one",
                    "Import a model or choose a built-in one");
    }
    if (c.device.main().bandwidth.value <= 0) {
        const auto& main = c.device.main();
        return fail("hardware.missing-bandwidth", "the main memory of " + c.device.name + " has no bandwidth",
                    "an attribute 'bandwidth', e.g. 3.35 TB/s", "Set the bandwidth of " + main.path,
                    Place{{}, 0, 0, main.path + ".bandwidth"});
    }
    if (context.stop.stop_requested()) return fail("study.cancelled", "cancelled");
    c.hostSeconds = scenario.software.hostSeconds;
    if (c.gpu) {
        const CalibrationSet& known = context.calibrations ? *context.calibrations : shippedCalibrations().set;
        c.stack = ForeignStack(method.id, known, *c.gpu, scenario.software.engine);
    }
    c.kernels = kernelListOf(scenario.workload, options, c.gpu.has_value());
    if (!c.pricer->takesAnyType()) {
        if (auto known = typesKnown(c); !known) return Unexpected(std::move(known.error()));
    }
    return c;
}

Expected<KernelPrice> priceLaunch(const Composition& c, std::size_t i, PriceContext& context) {
    const Launch& launch = c.list().launches[i];
    if (c.pricer->tellsUses()) return settled(c.pricer->price(launch.kernel, useOf(launch)), launch.kernel, c);
    if (c.pricer->instant()) return settled(c.pricer->price(launch.kernel), launch.kernel, c);
    const auto* told = dynamic_cast<const ReusePricer*>(c.pricer.get());
    auto price =
        told ? told->priceAfter(launch.kernel, c.kernels->reuse[i], context) : c.pricer->price(launch.kernel, context);
    if (!price) return price;
    return settled(*price, launch.kernel, c);
}

std::uint32_t startOf(const Composition& c, std::size_t i) {
    const auto* told = dynamic_cast<const ReusePricer*>(c.pricer.get());
    return told ? told->startOf(c.list().launches[i].kernel, c.kernels->reuse[i]) : 0;
}

PricedLaunch pricedAs(const Composition& c, std::size_t i, const KernelPrice& price) {
    const Launch& launch = c.list().launches[i];
    const bool slow = !c.pricer->instant() && !c.pricer->tellsUses();
    return pricedLaunch(price, slow ? boundedBy(c, launch) : launch, c.device, c.epilogueRate());
}

void closeComposition(const Workload& workload, const ModelOptions& options, Composition& c) {
    c.runs = runsOf(workload.graph, c.list().launches);
    std::vector<double> seconds;
    seconds.reserve(c.prices.size());
    for (const PricedLaunch& p : c.prices) seconds.push_back(p.seconds);
    std::vector<double> issue(seconds.size(), 0.0);
    if (!c.pricer->launchInside() && options.launch == LaunchMode::Eager) {
        issue = eagerIssues(c);
        double all = 0, launched = 0;
        for (std::size_t i = 0; i < issue.size(); ++i) {
            const double count = c.list().launches[i].count;
            all += count * issue[i], launched += count;
        }
        c.issue = launched > 0 ? all / launched : 0;
    } else if (!c.pricer->launchInside()) {
        c.graphLaunch = c.device.launchOverhead.value;
    }
    c.pipelined = pipelined(c.runs, seconds, issue);
    // Of two places the device's peaks say nothing.
    if (options.streams && c.layouts.empty()) c.overlapped = overlappedSeconds(workload, c);
    if (c.issue == 0 && !options.streams) c.turns = savedByTurns(c);  // streams would hide the same seconds
    c.launched = 0;
    for (const Launch& launch : c.list().launches) c.launched += launch.count;
    c.interval = composeLaunches(c.prices, c.list().launches, *c.pricer);
    widenWhole(options, c);
}

Expected<Composition> compose(const Scenario& scenario, const KernelMethod& method, const ModelOptions& options,
                              EstimateContext& context) {
    auto open = openComposition(scenario, method, options, context);
    if (!open) return open;
    Composition& c = *open;
    if (auto priced = priceAll(c, context); !priced) return Unexpected(std::move(priced.error()));
    if (context.stop.stop_requested()) return fail("study.cancelled", "cancelled");
    if (options.chains) {
        if (auto kept = keepChains(*scenario.workload, c, context); !kept) return Unexpected(std::move(kept.error()));
    }
    layTensorsOut(*scenario.workload, c);
    closeComposition(*scenario.workload, options, c);
    return open;
}

}  // namespace orrery
