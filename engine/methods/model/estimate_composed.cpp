#include "base/unit.h"
#include "learning/foreign.h"
#include "methods/answer/answer.h"
#include "methods/answer/ceilings.h"
#include "methods/answer/energy.h"
#include "methods/answer/parts_used.h"
#include "methods/model/columns.h"
#include "methods/model/compose.h"
#include "methods/model/open_composition.h"
#include "methods/model/pass_evidence.h"
#include "methods/model/power.h"
#include "workload/engine_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double worthSaying = 0.01;  // of the time

std::string percent(double share) {
    return share > 0 && share < 0.01 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

// What the pricer says of some kernels, with how many operators and of which types.
void addNotes(Estimate& answer, const Workload& workload, const Composition& c) {
    const auto notes = c.pricer->notes();
    for (std::size_t n = 0; n < notes.size(); ++n) {
        std::vector<std::int32_t> operators;
        std::vector<std::string_view> types;
        for (std::size_t i = 0; i < c.prices.size(); ++i) {
            const std::int32_t op = c.list().launches[i].op;
            if (c.prices[i].price.note != static_cast<std::int8_t>(n) || c.prices[i].seconds <= 0) continue;
            if (operators.empty() || operators.back() != op) operators.push_back(op);
            const std::string_view type = workload.graph.operators[static_cast<std::size_t>(op)].type;
            if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
        }
        if (operators.empty()) continue;
        std::string named;
        for (std::size_t t = 0; t < std::min<std::size_t>(types.size(), 6); ++t) {
            named.append(named.empty() ? "" : ", ").append(types[t]);
        }
        if (types.size() > 6) named += ", …";
        const auto& first = workload.graph.operators[static_cast<std::size_t>(operators.front())];
        if (notes[n].code.empty()) {
            answer.assumptions.push_back(fmt::format("{} operator{} ({}): {}", operators.size(),
                                                     operators.size() == 1 ? "" : "s", named, notes[n].text));
        } else {
            answer.warnings.push_back(
                warning(notes[n].code,
                        fmt::format("{} operator{} ({}), `{}` among them: {}", operators.size(),
                                    operators.size() == 1 ? "" : "s", named, first.name, notes[n].text),
                        notes[n].hint, Place{{}, 0, 0, first.name}));
        }
    }
}

struct OtherStack {
    std::string engine;
    double seconds = 0;                      // share of the busy time
    double moved = 0;                        // share of kernels that are known to have moved since they were learned
    const MovedVersion* furthest = nullptr;  // of those
};

OtherStack otherStack(const Composition& c, const Software& software) {
    OtherStack other{software.engine};
    if (c.stack.empty()) return other;
    double busy = 0;
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const Launch& launch = c.list().launches[i];
        const double seconds = launch.count * c.prices[i].seconds;
        busy += seconds;
        if (c.stack.foreign(launch.kernel)) other.seconds += seconds;
        const MovedVersion* since = c.stack.moved(launch.kernel);
        if (!since) continue;
        other.moved += seconds;
        if (!other.furthest || since->changeHigh > other.furthest->changeHigh) other.furthest = since;
    }
    if (busy > 0) other.seconds /= busy, other.moved /= busy;
    return other;
}

void addDoubts(Estimate& answer, const Doubts& doubts, const OtherStack& stack) {
    if (doubts.notCovered > worthSaying) {
        std::string kinds;
        for (int k = 0; k < kernelKindCount; ++k) {
            const double share = doubts.notCoveredByKind[static_cast<std::size_t>(k)];
            if (share <= 0) continue;
            kinds +=
                fmt::format("{}{} {}", kinds.empty() ? "" : ", ", toText(static_cast<KernelKind>(k)), percent(share));
        }
        answer.warnings.push_back(warning("method.kernels-not-covered",
                                          fmt::format("{} of the time is in kernels that this method does not predict "
                                                      "({}): their roofline is used, which is the least possible time",
                                                      percent(doubts.notCovered), kinds),
                                          "Compare with a method that covers them"));
    }
    if (doubts.raised > worthSaying) {
        answer.warnings.push_back(
            warning("method.below-bound",
                    fmt::format("{} of the time is in kernels that this method predicts faster than peak rates allow: "
                                "the bound is used",
                                percent(doubts.raised)),
                    "The device's stated peaks may be too low, or the kernels outside the domain of the method"));
    }
    if (stack.seconds > worthSaying) {
        answer.warnings.push_back(
            warning("calibration.other-stack",
                    fmt::format("{} of the time is in kernels whose calibration was fitted to other software than {}: "
                                "their intervals are wider by the difference between engines",
                                percent(stack.seconds), stack.engine),
                    "Calibrate with measurements of this software"));
    }
    if (stack.furthest && stack.moved > worthSaying) {
        const MovedVersion& since = *stack.furthest;
        answer.warnings.push_back(warning(
            "calibration.moved-version",
            fmt::format("{} of the time is in kernels that are known to have changed between the fitted version and "
                        "{}: their intervals are wider by this change. The furthest: 90 % of {} {} {} "
                        "kernels within a factor of {:.2f} from {} to {}, as {} of them on {} show",
                        percent(stack.moved), stack.engine, since.software, since.variant, toText(since.kind),
                        1 + since.changeHigh, since.from, since.to, since.kernels, since.device),
            "Calibrate with measurements of this version; `orrery-cli drift` shows how few are enough"));
    }
    if (doubts.outside > worthSaying) {
        answer.warnings.push_back(warning(
            "calibration.extrapolates",
            fmt::format("{} of the time is of kernels outside what the calibration has seen{}", percent(doubts.outside),
                        doubts.edge > worthSaying ? fmt::format(", {} more near its border", percent(doubts.edge))
                                                  : std::string()),
            "Calibrate with measurements of shapes like these, or trust the interval rather than the number"));
    }
    if (doubts.unknown > worthSaying) {
        answer.warnings.push_back(warning("method.unmeasured",
                                          fmt::format("for {} of the time no error of this method was measured on this "
                                                      "device: there the interval is a factor of two either way",
                                                      percent(doubts.unknown)),
                                          "Calibrate the method with measurements of this device or one like it"));
    }
}

std::string widthReason(const Doubts& doubts) {
    const std::string most = fmt::format("most of it comes from {} kernels", toText(doubts.widest));
    if (doubts.outside > 0.1) return fmt::format("{} of the time is outside the calibration", percent(doubts.outside));
    if (doubts.unknown > 0.1) return fmt::format("{} of the time has no measured error", percent(doubts.unknown));
    if (doubts.notCovered > 0.1) return fmt::format("{} of the time uses the roofline", percent(doubts.notCovered));
    return most;
}

// What speaks for most of the time, in words.
std::string supportText(const Composition& c, const Doubts& doubts, std::string_view method,
                        const CalibrationSet& calibrations) {
    if (c.list().launches.empty()) return {};
    const Kernel& kernel = c.list().launches[doubts.longest].kernel;
    const VariantName variant = variantName(kernel);
    const auto found = c.gpu ? calibrations.find(method, kernel.kind, variant.view(), *c.gpu) : CalibrationSet::Found{};
    if (!found.section) {
        const std::string basis = c.pricer->basis();
        return basis.empty() ? fmt::format("never compared with {} {} kernels", variant.view(), toText(kernel.kind))
                             : basis;
    }
    const CalibrationSection& section = *found.section;
    std::int64_t rows = 0;
    double error = 0;
    for (const ResidualClass& each : section.residuals) {
        rows += each.rows;
        error += each.meanAbsolute * static_cast<double>(each.rows);
    }
    const double distance = foreignDistance(section, *c.gpu);
    const bool here = section.device && distance <= 0;
    std::string of = here             ? "this device"
                     : section.device ? section.device->id
                                      : fmt::format("{} devices", std::max<std::size_t>(1, section.devices.size()));
    if (!section.sources.empty() && !section.sources.front().software.empty()) {
        of += fmt::format(" ({})", section.sources.front().software);
    }
    // What is to be expected of a device that was not among them.
    if (distance > 0) of += fmt::format(", {:.0f} % to be expected of this one", 100 * std::expm1(doubts.error));
    if (rows == 0) return fmt::format("calibrated on {} kernels of {}", toText(kernel.kind), of);
    return fmt::format("{:.1f} % on {} {} {} kernels of {}", 100 * std::expm1(error / static_cast<double>(rows)), rows,
                       variant.view(), toText(kernel.kind), of);
}

void addInterval(Estimate& answer, const Composition& c, const Doubts& doubts) {
    const auto& i = c.interval;
    const double shift = answer.latency.value - i.seconds;
    const double latency = answer.latency.value;
    answer.interval.low = Seconds(std::max(0.0, std::min(latency, i.low + std::min(0.0, shift))));
    answer.interval.high = Seconds(std::max(latency, i.high + std::max(0.0, shift)));
    answer.interval.kind =
        doubts.unknown + doubts.notCovered > 0.5 ? IntervalKind::StatedError : IntervalKind::Residuals;
    const std::string stated = c.pricer->basis();
    if (!stated.empty()) {
        answer.interval.kind = IntervalKind::StatedError;
        answer.interval.basis = stated;
    } else {
        answer.interval.basis = fmt::format(
            "90 % of the residuals of each kernel, composed with their measured correlation within a family and "
            "{:.1f} or more between families: {} to {} if errors of kernels were independent, {} to {} if all were "
            "equal; plus the error of measured passes outside their kernels",
            betweenFamilies, format(Seconds(i.independentLow)), format(Seconds(i.independentHigh)),
            format(Seconds(i.correlatedLow)), format(Seconds(i.correlatedHigh)));
    }
    addWidth(answer, widthReason(doubts));
    if (doubts.unknown > worthSaying) {
        answer.interval.basis += fmt::format("; {} of the time has no measured error", percent(doubts.unknown));
    }
}

void addMemoryUse(Estimate& answer, const Workload& workload, const Composition& c, const ModelOptions& options) {
    if (options.step == Step::Inference) {
        addMemory(answer, workload, c.device);
        return;
    }
    const TrainingMemory memory = trainingMemory(workload, options);
    const auto& main = c.device.main();
    MemoryUse use{memory.weights + memory.gradients + memory.optimizer, Bytes(0), memory.activations, main.capacity};
    if (use.capacity.value > 0 && use.total() > use.capacity) {
        answer.warnings.push_back(warning(
            "memory.does-not-fit",
            fmt::format("a training step needs {} and {} holds {}: the time is that of a device with enough memory",
                        format(use.total()), main.name, format(use.capacity)),
            "Lower the batch or sequence, compute activations again, or split the model over devices",
            Place{{}, 0, 0, main.path}));
    }
    answer.assumptions.push_back("Weights in the memory use include gradients and the optimizer's state");
    answer.memory = use;
}

// Of the kernels' own energies, where the method says all of them.
bool addKernelEnergy(Estimate& answer, const Composition& c) {
    std::vector<double> perOperator(answer.operators.size(), 0.0);
    double joules = 0;
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const Launch& launch = c.list().launches[i];
        const double one = c.prices[i].price.joules;
        if (one < 0) return false;
        perOperator[static_cast<std::size_t>(launch.op)] += launch.count * launch.scale * one;
        joules += launch.count * launch.scale * one;
    }
    if (joules <= 0) return false;
    answer.operators.joules = std::move(perOperator);
    answer.energy = Joules(joules);
    return true;
}

// Stated energies where the device has them, else what the power cap says; the clock that the cap allows either way.
// Returns what it read of the design.
PartsRead addEnergyUse(Estimate& answer, const Composition& c, const Workload& workload) {
    bool stated = addKernelEnergy(answer, c);
    if (!stated && !c.layouts.empty()) return {};  // the device's energies are not those of what runs beside it
    if (!stated) {
        addEnergy(answer, c.device);
        stated = answer.energy.has_value();
    }
    if (!c.gpu) {
        const auto rates = computeRates(c.device, workload.costs);
        if (stated || !rates) return {};
        return addPowerCapEnergy(answer, c.device, workload.costs, rates->rates, c.place.design.get());
    }
    const PowerModel model = powerModel(*c.gpu);
    if (!model.known()) return {};
    double busy = 0, clock = 0, joules = 0;
    std::vector<double> perOperator(answer.operators.size(), 0.0);
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const Launch& launch = c.list().launches[i];
        const double seconds = c.prices[i].seconds;
        const PowerPoint point = powerOf(model, *c.gpu, launch.kernel, launch.scale * launch.kernel.flops,
                                         launch.scale * launch.kernel.bytes(), seconds);
        const double all = launch.count * seconds;
        busy += all;
        clock += all * point.clockShare;
        const double drawn = all * point.watts + c.pipelined.idle[i] * model.staticWatts;
        perOperator[static_cast<std::size_t>(launch.op)] += drawn;
        joules += drawn;
    }
    if (busy <= 0) return {};
    answer.figures.push_back({"Sustained clock", clock / busy * c.gpu->clock, Dimension::Frequency, {}});
    if (stated) return {};
    answer.operators.joules = std::move(perOperator);
    answer.energy = Joules(joules);
    if (answer.latency.value > 0) {
        answer.figures.push_back({"Mean power", joules / answer.latency.value, Dimension::Power, {}});
    }
    answer.assumptions.push_back(model.basis);
    return {};
}

std::vector<std::string> assumptionsOf(const Composition& c, const ModelOptions& options) {
    std::vector<std::string> said = c.list().assumptions;
    if (c.pricer->launchInside()) {
        said.push_back("Kernels follow one another; the launch is included in each");
    } else if (options.launch == LaunchMode::Eager) {
        said.push_back(fmt::format("The host issues a kernel every {} on the mean; the GPU waits where it is faster",
                                   format(Seconds(c.issue))));
    } else {
        said.push_back(fmt::format("All kernels are launched as one graph, {} once", format(Seconds(c.graphLaunch))));
    }
    if (options.streams && !c.layouts.empty()) {
        said.push_back("Operators on two places follow one another: streams save nothing");
    } else if (options.streams) {
        said.push_back(c.overlapped > 0
                           ? fmt::format("Independent operators overlap on streams, which saves {} at most; that much "
                                         "is counted",
                                         format(Seconds(c.overlapped)))
                           : "No two operators are independent of each other: streams save nothing");
    }
    if (c.turns > 0) {
        said.push_back(fmt::format(
            "Two half batches take turns on the device and on the units beside it, which saves {}; what the "
            "second reading of the weights adds to bytes and energy is left out",
            format(Seconds(c.turns))));
    }
    if (c.hostSeconds && options.launch == LaunchMode::Graph && !c.pricer->launchInside())
        said.push_back("The host's time per kernel does not count: a captured graph holds them all");
    if (c.chains.activations > 0) {
        said.push_back(fmt::format("{} activations stay on the chip between kernels; {} less cross main memory",
                                   c.chains.activations, format(Bytes(c.chains.bytes))));
    }
    if (c.laidOut > 0)
        said.push_back(
            fmt::format("{} tensors are laid out anew where they cross between the places of kernels", c.laidOut));
    if (c.laidOut > 0 &&
        std::ranges::any_of(c.list().launches, [](const Launch& l) { return l.part != Part::Forward; }))
        said.push_back("New layouts are those of the forward pass: gradients that cross are not laid out anew");
    const auto more = c.pricer->assumptions();
    said.insert(said.end(), more.begin(), more.end());
    if (c.pricer->tellsUses()) {
        std::vector<std::pair<const Kernel*, KernelUse>> asked;
        for (const Launch& launch : c.list().launches) asked.emplace_back(&launch.kernel, useOf(launch));
        for (std::string& each : c.pricer->leftOut(asked)) said.push_back(std::move(each));
    }
    const auto& ofView = c.gpu ? c.gpu->assumptions : c.device.assumptions;
    // Pricers that pass on what the view assumes have said it.
    std::ranges::copy_if(ofView, std::back_inserter(said),
                         [&](const std::string& each) { return std::ranges::find(more, each) == more.end(); });
    return said;
}

// By time, what lies at the border and has a known error. Kernels of none are unmeasured, wherever they lie, so that
// both shares overlap only by what weighPasses() adds (evaluation/best_answer.cpp reads that).
double knownAtEdge(const Composition& c) {
    double busy = 0, edge = 0;
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const PricedLaunch& p = c.prices[i];
        const double seconds = p.seconds * c.list().launches[i].count;
        busy += seconds;
        if (p.price.priced && p.known && p.price.domain == DomainVerdict::Edge) edge += seconds;
    }
    return busy > 0 ? edge / busy : 0;
}

}  // namespace

ModelOptions modelOptions(const MethodCard& card, const EstimateContext& context, const Task& task,
                          const Software& software) {
    ModelOptions options;
    options.launch = optionOf(card, context, "launch") == "eager" ? LaunchMode::Eager : LaunchMode::Graph;
    if (software.graphs) options.launch = *software.graphs ? LaunchMode::Graph : LaunchMode::Eager;
    options.fusion = fusionOf(optionOf(card, context, "fusion"));
    options.streams = optionOf(card, context, "streams") == "on";
    options.chains = optionOf(card, context, "chains") == "on";
    options.flashDecoding = decodesByFlash(software.engine);
    if (const auto* step = std::get_if<TrainingStep>(&task)) {
        options.step = Step::Training;
        options.optimizer = step->optimizer;
        options.accumulate = step->accumulate;
    } else if (optionOf(card, context, "step") == "training") {  // older files
        options.step = Step::Training;
        const auto optimizer = optionOf(card, context, "optimizer");
        options.optimizer = optimizer == "sgd"    ? Optimizer::Sgd
                            : optimizer == "none" ? Optimizer::None
                                                  : Optimizer::Adam;
    }
    return options;
}

Expected<Estimate> estimateComposed(const Scenario& scenario, const KernelMethod& method, const MethodCard& card,
                                    EstimateContext& context) {
    const ModelOptions options = modelOptions(card, context, scenario.task, scenario.software);
    const auto composed = compose(scenario, method, options, context);
    if (!composed) return Unexpected(composed.error());
    return estimateOf(scenario, method.id, options, *composed, context);
}

Expected<Estimate> estimateOf(const Scenario& scenario, std::string_view method, const ModelOptions& options,
                              const Composition& c, EstimateContext& context) {
    const Workload& workload = *scenario.workload;

    Estimate answer;
    answer.levels = c.pricer->levels();
    if (answer.levels.empty()) answer.levels = {c.device.main().name};
    answer.operators = operatorColumns(workload, c);
    answer.latency = Seconds(latencyOf(c));
    double least = 0;
    for (std::size_t i = 0; i < c.prices.size(); ++i) least += c.list().launches[i].count * c.prices[i].least;
    answer.bound = Seconds(std::min(least, answer.latency.value));
    const Doubts doubts = doubtsOf(c);
    addInterval(answer, c, doubts);
    answer.support = Support{
        doubts.error, doubts.outside, knownAtEdge(c), std::min(1.0, doubts.unknown + doubts.notCovered),
        supportText(c, doubts, method, context.calibrations ? *context.calibrations : shippedCalibrations().set)};
    if (options.step == Step::Inference)
        weighPasses(*answer.support, c, method,
                    context.calibrations ? *context.calibrations : shippedCalibrations().set);
    answer.assumptions = assumptionsOf(c, options);
    answer.warnings = workload.warnings;
    addCopies(answer, c.device);
    addNotes(answer, workload, c);
    addDoubts(answer, doubts, otherStack(c, scenario.software));
    addMemoryUse(answer, workload, c, options);
    answer.ceilings = ceilingsFor(c.device, workload.costs, answer.levels.size());
    addFigures(answer, workload, c, options);
    PartsRead read = addEnergyUse(answer, c, workload);
    read.add(c.device.used);
    read.add(c.pricer->used());
    addParts(answer, *c.place.design, read);
    if (context.wantTimeline) answer.timeline = composedTimeline(c);
    return answer;
}

}  // namespace orrery
