#include "methods/system/usual_pricer.h"

#include "methods/among_all.h"
#include "methods/model/iteration_launches.h"
#include "serving/serving_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr std::int64_t probeSequences = 16, probeContext = 512;
constexpr double doubted = 0.1;           // as expectedError() has it
constexpr double longestPerCycle = 1e-8;  // s: what walks cycle by cycle takes a minute for an iteration

std::vector<Launch> probes(const TransformerConfig& model, const ServedModel& types) {
    ServedTransformer served;
    served.config = model;
    served.weights = types.weights, served.activations = types.activations, served.kv = types.kv;
    auto launches = IterationLaunches::make(served);
    if (!launches) return {};
    std::vector<Launch> all = launches->decode(probeSequences, probeContext);
    for (int g = 0; g < iterationGroupCount; ++g) {
        const auto group = static_cast<IterationGroup>(g);
        if (!launches->has(group) || group == IterationGroup::PromptOnly) continue;
        for (Launch& launch : launches->of(group, probeSequences)) all.push_back(std::move(launch));
    }
    return all;
}

double errorToExpect(const KernelPricer& pricer, const std::vector<Launch>& launches) {
    double seconds = 0, error = 0, doubt = 0;
    for (const Launch& launch : launches) {
        const KernelPrice price = pricer.price(launch.kernel);
        if (!std::isfinite(price.seconds) || price.seconds <= 0) return std::numeric_limits<double>::infinity();
        const double time = launch.count * launch.scale * price.seconds;
        seconds += time;
        if (price.low > 0 && price.high > price.low) error += time * std::log(price.high / price.low) / 2;
        if (!price.priced || price.domain == DomainVerdict::Outside) doubt += time;
        if (!price.errorKnown) doubt += time;
    }
    return seconds > 0 ? (error + doubted * doubt) / seconds : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<PricerOffer> pricerOffers(const DeviceRef& device, const CalibrationSet& calibrations) {
    std::vector<PricerOffer> offers;
    for (const KernelMethod& method : kernelMethods()) {
        const Method* asked = findMethod(method.id);
        if (!asked || !standsAmongAll(asked->card)) continue;
        auto bound = method.bind(device, BindContext{calibrations, {}, 0});
        offers.push_back({&method, bound ? std::nullopt : std::optional(std::move(bound.error()))});
    }
    return offers;
}

std::vector<const KernelMethod*> pricersOf(const DeviceRef& device, const CalibrationSet& calibrations) {
    std::vector<const KernelMethod*> able;
    for (const PricerOffer& offer : pricerOffers(device, calibrations))
        if (!offer.refusal) able.push_back(offer.method);
    return able;
}

Expected<UsualPricer> usualPricer(const DeviceRef& device, const TransformerConfig& model, const ServedModel& types,
                                  const CalibrationSet& calibrations) {
    const std::vector<Launch> launches = probes(model, types);
    UsualPricer best;
    double least = std::numeric_limits<double>::infinity();
    const std::vector<const KernelMethod*> able = pricersOf(device, calibrations);
    for (const KernelMethod* method : able) {
        if (findMethod(method->id)->card.cost.perCycle > longestPerCycle) continue;
        const auto pricer = method->bind(device, BindContext{calibrations, {}, 0});
        if (!pricer) continue;
        const double error = errorToExpect(**pricer, launches);
        if (best.method && error >= least) continue;
        best.method = method;
        least = error;
    }
    if (!best.method) {
        const std::string others = namesOf(able);
        return fail(
            "serving.no-kernel-method", fmt::format("no fast kernel method predicts `{}`", pathText(device)),
            "a GPU, an array, an NPU or a CPU with the numbers that its methods read",
            others.empty() ? std::string("choose another device, or give measured tables") : "ask by name: " + others);
    }
    best.reason = fmt::format(
        "Iterations are predicted by {}. No method was chosen, and {} predicts only GPUs. Of the {} methods for {} it "
        "has the smallest expected error",
        best.method->id, TimeSlot{}.method, able.size(), pathText(device));
    return best;
}

std::string namesOf(const std::vector<const KernelMethod*>& methods) {
    std::string names;
    for (std::size_t i = 0; i < methods.size(); ++i)
        names += (i == 0 ? "" : i + 1 == methods.size() ? " or " : ", ") + std::string(methods[i]->id);
    return names;
}

}  // namespace orrery
