#include "app/window/gpu/gpu_question.h"

#include "base/unit.h"
#include "learning/calibration.h"
#include "methods/gpu/gpu_choice.h"
#include "methods/gpu/gpu_cycle.h"
#include "methods/gpu/gpu_what_if.h"
#include "methods/kernel_method.h"
#include "methods/model/kernel_bound.h"
#include "methods/model/launches.h"
#include "simulation/gpu/sampling/wave_plan.h"
#include "widgets/common/units_text.h"
#include "workload/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace orrery::app {

namespace {

constexpr std::string_view tracePrefix = "trace:";

Expected<KernelProgram> programFor(const std::string& text, const GpuDrawing& gpu, std::optional<Kernel>& kernel,
                                   const std::stop_token& stop) {
    auto read = kernelFromSource(text);
    if (!read) return tl::unexpected(read.error());
    kernel = *read;
    return chosenProgram(*read, gpu.view, gpu.drawn, {.stop = stop});
}

// The roofline of the part that was simulated: a part of the machine takes a part of the work, in the same time. Of a
// run that was stopped, of the instructions that it had issued.
void addRoofline(GpuRun& run, const Kernel& kernel, const GpuView& view) {
    const WatchedPart& part = run.seen.part;
    if (part.allInstructions <= 0) return;
    const double done = run.stopped()
                            ? std::min(part.instructions, static_cast<double>(run.seen.result.counts.warpInstructions))
                            : part.instructions;
    const double share = done * part.share / part.allInstructions;
    const double hertz = run.seen.machine.coreMhz * 1e6;
    const BoundingWork work = workOf(kernel);
    run.computeCycles = work.operations * secondsPerOperation(view.device, work.type) * hertz * share;
    // What had been fetched when it was stopped is what it moved, no share of the operands.
    if (view.dramBandwidth > 0 && !run.stopped()) run.operandCycles = work.bytes / view.dramBandwidth * hertz * share;
    const auto spread = cycleSpreadOf(kernel, run.seen.machine.lanes);
    if (spread && part.whole() && !run.stopped())
        run.interval = {spread->low * run.seconds(), std::max(1.0, spread->high) * run.seconds()};
}

// Waves are simulated whole, and a few in any case: of a kernel of few, a sample is nearly all of it.
Expected<void> sampleFits(const WatchedPart& part, double budget) {
    const auto places = static_cast<std::int64_t>(std::llround(static_cast<double>(part.allBlocks) / part.waves));
    const auto blocks = gpusim::leastBlocks(part.allBlocks, std::max<std::int64_t>(places, 1));
    const double least = part.allInstructions * static_cast<double>(blocks) / static_cast<double>(part.allBlocks);
    if (least <= budget) return {};
    return fail(
        "gpu.sample",
        fmt::format("{} of the {} blocks must be simulated, about {:.0f} s: the kernel has {:.3g} waves", blocks,
                    part.allBlocks, std::ceil(least / gpuInstructionsPerSecond), part.waves),
        fmt::format("a budget of {:.0f} s, or the first waves alone", std::ceil(least / gpuInstructionsPerSecond)));
}

std::string grouped(std::uint64_t number) {
    return ui::countText(static_cast<double>(number)).toStdString();
}

}  // namespace

Expected<GpuDrawing> gpuDrawing(const HardwarePtr& hardware) {
    if (!hardware) return fail("gpu.hardware", "no design is drawn", "a GPU", "open a device of the library");
    auto view = gpuView(*hardware);
    if (!view) return tl::unexpected(view.error());
    auto drawn = machineOf(*view);
    if (!drawn) return tl::unexpected(drawn.error());
    return GpuDrawing{std::move(*view), std::move(*drawn)};
}

Expected<gpusim::KernelHeader> kernelHeader(const std::string& kernel, const GpuDrawing& gpu) {
    if (kernel.starts_with(tracePrefix)) {
        auto trace = gpusim::KernelTrace::open(kernel.substr(tracePrefix.size()), gpu.drawn.machine);
        if (!trace) return tl::unexpected(trace.error());
        return trace->header();
    }
    const auto read = kernelFromSource(kernel);
    if (!read) return tl::unexpected(read.error());
    const auto program = programOf(*read, gpu.view, gpu.drawn);
    if (!program) return tl::unexpected(program.error());
    return program->build(0)->header();
}

Expected<KernelProgram> kernelProgram(const std::string& kernel, const GpuDrawing& gpu, std::stop_token stop) {
    if (kernel.starts_with(tracePrefix))
        return fail("gpu.kernel", "a recorded trace has no program to read", "a kernel of a template");
    std::optional<Kernel> read;
    return programFor(kernel, gpu, read, stop);
}

PassKernels kernelsByTime(const Workload& workload, const GpuView& gpu) {
    const KernelMethod& method = *findKernelMethod("tile-hybrid");
    const auto pricer = method.bind(gpu, shippedCalibrations().set);
    PassKernels all{{}, std::string(pricer ? method.id : "roofline")};
    std::map<std::string, std::pair<std::size_t, double>> known;  // where it stands, s of one launch
    double whole = 0;
    for (const Launch& launch : launchesOf(workload, {}).launches) {
        std::string text = kernelSource(launch.kernel);
        if (text.starts_with("kernel:")) text.erase(0, 7);
        if (text.empty()) continue;
        const auto [at, isNew] = known.try_emplace(text, all.kernels.size(), 0);
        if (isNew) {
            all.kernels.push_back({text});
            at->second.second =
                pricer ? (*pricer)->price(launch.kernel).seconds : leastSeconds(gpu.device, launch.kernel);
        }
        PassKernel& kernel = all.kernels[at->second.first];
        const double seconds = launch.count * launch.scale * at->second.second;
        kernel.launches += launch.count;
        if (seconds > 0) kernel.share += seconds, whole += seconds;
    }
    for (PassKernel& each : all.kernels) each.share /= whole > 0 ? whole : 1;
    std::ranges::stable_sort(all.kernels, std::greater(), &PassKernel::share);
    return all;
}

Expected<GpuAnswer> answerGpu(const GpuQuestion& question, std::stop_token stop, Progress& progress) {
    const auto gpu = gpuDrawing(question.hardware);
    if (!gpu) return tl::unexpected(gpu.error());
    GpuAnswer out;
    out.question = question;
    out.assumptions = gpu->drawn.assumptions;
    const double budget = question.seconds * gpuInstructionsPerSecond;
    WatchOptions options;
    options.stop = std::move(stop);
    options.progress = &progress;
    options.keepsStopped = true;
    gpusim::SampleOptions sample;
    const auto kind = gpusim::sampleKindOf(question.sample);
    sample.kind = kind.value_or(sample.kind), sample.mostInstructions = budget;
    const auto run = [&](const std::string& kernel, const gpusim::Machine& machine,
                         std::string name) -> Expected<void> {
        GpuRun one;
        one.name = std::move(name);
        if (kernel.starts_with(tracePrefix)) {
            const std::string file = kernel.substr(tracePrefix.size());
            auto seen = kind ? watchSample(file, machine, sample, options) : watchTrace(file, machine, options);
            if (!seen) return tl::unexpected(seen.error());
            one.seen = std::move(*seen);
            one.header = one.seen.result.header;
        } else {
            std::optional<Kernel> read;
            const auto program = programFor(kernel, *gpu, read, options.stop);
            if (!program) return tl::unexpected(program.error());
            // As the drawn machine would be cut, so that both designs do the same.
            const auto part = watchedPart(*program, gpu->drawn.machine, budget);
            if (!part) return tl::unexpected(part.error());
            if (kind && !part->whole()) {
                if (auto room = sampleFits(*part, budget); !room) return tl::unexpected(room.error());
            }
            // Both designs by the same kind of sample: what fits the budget is whole on either.
            auto seen = kind && !part->whole() ? watchSample(*program, machine, sample, options)
                                               : watchKernel(*program, machine, *part, options);
            if (!seen) return tl::unexpected(seen.error());
            one.seen = std::move(*seen);
            one.program = toText(*program), one.header = program->build(0)->header();
            addRoofline(one, *read, gpu->view);
        }
        one.l2Cycles = l2Cycles(one.seen), one.dramCycles = dramCycles(one.seen);
        out.runs.push_back(std::move(one));
        return {};
    };
    const gpusim::Machine& machine = gpu->drawn.machine;
    if (auto first = run(question.kernel, machine, question.hardware->name); !first)
        return tl::unexpected(first.error());
    if (out.stopped() || (question.change.empty() && question.other.empty())) return out;
    gpusim::Machine second = machine;
    std::string name = question.hardware->name;
    if (const MachineChange* change = machineChange(question.change)) {
        auto changed = changedMachine(machine, *change, question.factor);
        if (!changed) return tl::unexpected(changed.error());
        second = std::move(*changed);
        name = change->scales ? fmt::format("{:g} × {}", question.factor, change->name) : std::string(change->name);
    }
    const bool otherKernel = !question.other.empty() && question.other != question.kernel;
    if (otherKernel) name = question.change.empty() ? question.other : fmt::format("{}, {}", question.other, name);
    if (otherKernel) out.runs.front().name = question.kernel;
    if (auto beside = run(otherKernel ? question.other : question.kernel, second, name); !beside)
        return tl::unexpected(beside.error());
    // The roofline is the drawn device's, and so is what its error was measured on; a changed one has others.
    if (!question.change.empty()) {
        out.runs.back().computeCycles = out.runs.back().operandCycles = 0;
        out.runs.back().interval.reset();
    }
    return out;
}

std::string limitWords(std::string_view limitedBy) {
    std::string words;
    while (!limitedBy.empty()) {
        const auto one = limitedBy.substr(0, limitedBy.find('+'));
        limitedBy.remove_prefix(std::min(limitedBy.size(), one.size() + 1));
        words += fmt::format("{}{}", words.empty() ? "" : " and ", one == "shared" ? "shared memory" : one);
    }
    return words;
}

double GpuRun::cycles() const {
    return seen.sample ? seen.sample->estimate - static_cast<double>(seen.sample->launchCycles)
                       : static_cast<double>(seen.recording->cycles);
}
double GpuRun::seconds() const {
    return cycles() / (seen.machine.coreMhz * 1e6);
}

std::string headlineOf(const GpuRun& run) {
    const auto& result = run.seen.result;
    const std::string reached =
        fmt::format("{} cycles, {}", grouped(static_cast<std::uint64_t>(std::llround(run.cycles()))),
                    format(Seconds(run.seconds())));
    if (run.stopped()) {
        return fmt::format("Stopped after {} · {} of {} blocks had ended", reached,
                           grouped(static_cast<std::uint64_t>(result.finishedBlocks)),
                           grouped(static_cast<std::uint64_t>(run.seen.result.header.blocks())));
    }
    std::string interval;
    if (run.interval) {
        interval =
            fmt::format(" ({} to {})", format(Seconds(run.interval->first)), format(Seconds(run.interval->second)));
    } else if (const auto& sample = run.seen.sample) {
        const auto launch = static_cast<double>(sample->launchCycles);
        const auto time = [&](double cycles) {
            return format(Seconds(std::max(0.0, cycles - launch) / (run.seen.machine.coreMhz * 1e6)));
        };
        interval = fmt::format(" ({} to {})", time(sample->low), time(sample->high));
    }
    const std::string program = run.program.empty() ? std::string() : fmt::format(" · {}", run.program);
    return reached + interval + program +
           fmt::format(" · {} {} per multiprocessor, limited by {}", result.blocksThatFit,
                       result.blocksThatFit == 1 ? "block" : "blocks",
                       result.blocksPerSm < result.blocksThatFit ? "the grid" : limitWords(result.limitedBy));
}

}  // namespace orrery::app
