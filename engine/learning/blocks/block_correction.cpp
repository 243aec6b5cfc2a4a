#include "learning/blocks/block_correction.h"

#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::block {

namespace {

// A block near the border of what was fitted is corrected half.
double weightOf(DomainVerdict verdict) {
    switch (verdict) {
        case DomainVerdict::Inside:
            return 1;
        case DomainVerdict::Edge:
            return 0.5;
        case DomainVerdict::Outside:
            return 0;
    }
    return 0;
}

// Of ln: a hundred times off is none of what measured blocks say of bounds, whatever a file holds.
constexpr double farthest = 4.605;

// Between the limits, also what is no number.
double within(double low, double value, double high) {
    return std::fmax(low, std::fmin(value, high));
}

}  // namespace

double BlockCorrection::learned(std::span<const double> features) const {
    const double all = within(-farthest, ratio->predict(features), farthest);
    return std::abs(all) < quiet ? 0 : all;
}

BlockCorrection::Verdict BlockCorrection::apply(const Analyser& analyser, const Code& code, Prediction& prediction,
                                                std::vector<double>& features) const {
    Verdict verdict;
    verdict.bounds = prediction.cycles;
    if (!(prediction.cycles > 0)) return verdict;
    features.resize(inputs());
    blockFeatures(analyser, code, prediction, mnemonics, features);
    verdict.domain = domain.check(std::span<const double>(features).first(plainFeatureNames().size()));
    const Class& its = classes[static_cast<std::size_t>(prediction.binding)];
    verdict.weight = its.helps ? weightOf(verdict.domain) : 0;
    if (verdict.weight <= 0) return verdict;
    const double bounds = std::max(prediction.cycles, leastCycles), off = learned(features);
    const double reach = std::exp(within(-2 * farthest, scale->predict(features), farthest));
    const double corrected = bounds * std::exp(off);
    double low = corrected * std::exp(within(-farthest, its.below * reach, 0)),
           high = corrected * std::exp(within(0, its.above * reach, farthest));
    // Half a correction has an interval of its own in no measured block: both of the others hold.
    if (verdict.weight < 1) low = std::min(low, prediction.low), high = std::max(high, prediction.high);
    prediction.cycles = bounds * std::exp(verdict.weight * off);
    prediction.low = std::min(prediction.cycles, low);
    prediction.high = std::max(prediction.cycles, high);
    return verdict;
}

std::string coreHash(const Core& core) {
    Hash hash;
    const CoreRules& r = core.rules;
    for (const double each : {r.issueWidth,
                              r.microcodeSwitch,
                              r.forward,
                              r.forwardVector,
                              r.blocked,
                              r.shortShare,
                              r.locked,
                              r.loadLatency,
                              r.loadLatencyVector,
                              r.chaseGain,
                              double(r.predecodeWidth),
                              double(r.fetchBytes),
                              double(r.lengthPenalty),
                              double(r.decoders),
                              double(r.decoderSlots),
                              double(r.fusesLast),
                              double(r.eliminatesGeneral),
                              double(r.eliminatesVector),
                              double(r.splitsIndexed),
                              double(r.splitsIndexedThree),
                              double(r.shortBytes),
                              double(r.loadPorts),
                              double(r.storeAddressPorts),
                              double(r.indexedStorePorts),
                              double(r.storeDataPorts),
                              double(r.aluPorts),
                              double(r.bankConflicts)})
        hash.add(each);
    const auto many = [&](const auto& list) { hash.add(std::uint64_t{list.size()}); };
    many(r.portNames);
    for (const auto& port : r.portNames) hash.add(port);
    many(core.forms);
    for (const Form& form : core.forms) {
        hash.add(form.name).add(form.uops).add(form.fusedSlots).add(form.decoded).add(form.microcode);
        hash.add(std::uint64_t{form.complexDecoder}).add(std::uint64_t{form.latenciesStated});
        many(form.ports);
        for (const PortUse& use : form.ports) hash.add(std::uint64_t{use.ports}).add(use.uops);
        many(form.latencies);
        for (const Latency& each : form.latencies)
            hash.add(std::uint64_t{each.from}).add(std::uint64_t{each.to}).add(double(each.cycles));
    }
    return hash.hex();
}

Expected<void> checkFits(const BlockCorrection& correction, const Core& core, const std::string& file) {
    if (correction.coreHash == coreHash(core)) return {};
    const bool other = correction.core != core.rules.id;
    return fail(
        "block.correction-core",
        other ? fmt::format("the correction is of `{}`, the question is about `{}`", correction.core, core.rules.id)
              : fmt::format("the correction was fitted over another port table or other rules of `{}`", core.rules.id),
        "a correction that was fitted over the same core and table",
        "`orrery-cli block --core … --fit FILE --out FILE` makes one", Place{file, 0, 0, {}});
}

}  // namespace orrery::block
