#include "app/cli/command.h"
#include "app/cli/gpu_counters.h"
#include "app/cli/gpu_kernel.h"
#include "app/cli/gpu_sample.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "methods/gpu/gpu_represented.h"
#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/interval/interval_run.h"
#include "simulation/power/simulated.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;
using gpusim::KernelResult;

// A folder, or its name beside the traces or in the folders that ORRERY_GPU_CONFIGS lists.
std::string configFolder(const std::string& given, const std::string& traces) {
    namespace fs = std::filesystem;
    std::vector<fs::path> places{given};
    const auto above = fs::absolute(traces).lexically_normal().parent_path();
    for (auto at = above; at.has_relative_path(); at = at.parent_path()) {
        places.push_back(at / "configs" / given);
    }
    if (const char* listed = std::getenv("ORRERY_GPU_CONFIGS")) {
        for (const auto part : split(listed, ':')) {
            if (!part.empty()) places.push_back(fs::path(std::string(part)) / given);
        }
    }
    std::error_code ignored;
    for (const auto& place : places) {
        if (fs::exists(place / "gpgpusim.config", ignored)) return place.string();
    }
    return given;
}

// The named one, or that of a configuration whose name begins with its compute capability: SM86_RTX3070, SM7_QV100.
Expected<const gpusim::GpuGeneration*> generationFor(const Arguments& arguments, const std::string& config) {
    const auto& all = gpusim::gpuGenerations();
    if (!all) return tl::unexpected(all.error());
    const auto named = arguments.value("generation");
    const gpusim::GpuGeneration* found = nullptr;
    if (named) {
        found = gpusim::generationOf(*named);
    } else if (const auto at = config.find("SM"); at != std::string::npos) {
        const auto end = config.find_first_not_of("0123456789", at + 2);
        const auto number = wholeIn(config.substr(at + 2, end - at - 2));
        if (number && *number > 0 && *number < 1000)
            found = gpusim::generationOf(static_cast<int>(*number < 10 ? *number * 10 : *number));
    }
    if (found) return found;
    std::string names;
    for (const auto& one : *all) names += (names.empty() ? "" : ", ") + one.name;
    return fail("gpu.generation",
                named ? fmt::format("there is no generation '{}'", *named)
                      : fmt::format("'{}' does not say which generation it is", config),
                names, "say --generation NAME");
}

Json cacheJson(const gpusim::CacheCounts& c) {
    return {{"reads", c.reads},
            {"read_hits", c.readHits},
            {"read_pending", c.readPending},
            {"read_misses", c.readMisses},
            {"writes", c.writes},
            {"write_hits", c.writeHits},
            {"write_misses", c.writeMisses},
            {"atomics", c.atomics},
            {"refused", c.refused}};
}

double partOf(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The energies of a Volta, whatever the machine: AccelWattch too has no others.
GpuPower powerOf(const KernelResult& kernel, const gpusim::Machine& machine, GpuPowerTable table) {
    table.sms = machine.sms;
    return gpuPower(table, activityOf(kernel, machine.sms), {machine.coreMhz * 1e6, 0});
}

Json powerJson(const KernelResult& kernel, const gpusim::Machine& machine, const GpuPowerTable& table) {
    const GpuPower power = powerOf(kernel, machine, table);
    Json out{{"total", power.total()}, {"table", table.name}};
    for (std::size_t i = 0; i < gpuPowerParts; ++i) {
        if (static_cast<GpuPowerPart>(i) != GpuPowerPart::Unassigned)
            out[std::string(gpuPowerPartNames[i])] = power.watts[i];
    }
    return out;
}

std::uint64_t schedulerCycles(const KernelResult& kernel, const gpusim::Machine& machine) {
    return kernel.counts.activeSmCycles * static_cast<unsigned>(machine.schedulers);
}

Json kernelJson(const KernelResult& k, const gpusim::Machine& machine, const GpuPowerTable& power) {
    const auto& n = k.counts;
    Json out{{"kernel", k.name},
             {"grid", k.header.grid},
             {"block", k.header.block},
             {"warp_lanes", k.header.lanes},
             {"stream", k.header.stream},
             {"cycles", k.cycles},
             {"start_cycle", k.startCycle},
             {"end_cycle", k.endCycle},
             {"launch_cycles", k.launchCycles},
             {"seconds", k.seconds},
             {"instructions",
              {{"warp", n.warpInstructions}, {"thread", n.threadInstructions}, {"memory", n.memoryInstructions}}}};
    // An SM's cycles are one kernel's, also where another issues in them: then they say nothing of either.
    const auto alone = [&](Json figure) { return k.overlaps ? Json() : std::move(figure); };
    out["occupancy"] = {{"blocks_that_fit", k.blocksThatFit},
                        {"limited_by", k.limitedBy},
                        {"blocks_per_sm", k.blocksPerSm},
                        {"warps_per_active_sm", alone(partOf(n.residentWarpCycles, n.activeSmCycles))},
                        {"active_sms", alone(partOf(n.activeSmCycles, k.cycles))}};
    out["l1"] = cacheJson(n.l1);
    out["l1"]["bytes"] = k.l1Bytes;
    out["l1"]["bypassed_reads"] = n.bypassReads;
    out["l2"] = cacheJson(n.l2);
    out["dram"] = {{"reads", n.dramReads},
                   {"writes", n.dramWrites},
                   {"activations", n.dramActivations},
                   {"precharges", n.dramPrecharges}};
    if (machine.lastLevel.bytes > 0) {
        out["last_level"] = {
            {"reads", n.lastLevelReads}, {"read_hits", n.lastLevelHits}, {"written_lines", n.lastLevelWrites}};
    }
    out["stalls"] = alone({{"scheduler_cycles", schedulerCycles(k, machine)},
                           {"issued", n.warpInstructions},
                           {"no_instruction", n.stallNoInstruction},
                           {"dependence", n.stallDependence},
                           {"unit_busy", n.stallUnit},
                           {"shared_conflict_cycles", n.sharedConflictCycles},
                           {"l1_bank_cycles", n.l1BankCycles}});
    out["power_w"] = alone(powerJson(k, machine, power));
    return out;
}

// Caches of instructions and constants: of the modern core, cycle by cycle.
void addCode(Json& out, const KernelResult& k) {
    const auto& n = k.counts;
    if (out["stalls"].is_object())
        out["stalls"]["instruction_cache"] = n.stallCode, out["stalls"]["constant_cache"] = n.stallConstant;
    out["code"] = {{"lines_asked", n.codeRequests},
                   {"l1_misses", n.codeL1Misses},
                   {"from_l2", n.codeFromL2},
                   {"constant_misses", n.constantMisses}};
}

// What only the interval model tells: the cycles by cause, which add up to `cycles`.
void addIntervals(Json&, const KernelResult&) {}
void addIntervals(Json& out, const gpusim::IntervalResult& k) {
    Json stack;
    for (const auto& [name, cycles] : k.stack.parts()) stack[std::string(name)] = cycles;
    out["stack"] = std::move(stack);
    out["intervals"] = {
        {"count", k.intervals}, {"instructions", k.instructions}, {"mean_length", partOf(k.instructions, k.intervals)}};
}

void addIntervals(Json& out, const gpusim::SampledResult& k) {
    out["sample"] = sampleJson(k);
}

// Of what the counts are: a reader of the JSON sees no note on another stream.
Json countedOf(const KernelResult&) {
    return Json::object({{"of", "all blocks"}});
}
Json countedOf(const RepresentedResult& k) {
    return Json::object({{"of", "first wave of one multiprocessor"},
                         {"scale", k.scale},
                         {"simulated_warp_instructions", static_cast<std::uint64_t>(k.simulated)},
                         {"how", k.how}});
}

Json countedOf(const gpusim::SampledResult& k) {
    if (k.whole()) return Json::object({{"of", "all blocks"}});
    if (k.stoodFor()) return Json::object({{"of", "a kernel alike"}});
    return Json::object({{"of", "sampled waves"},
                         {"scale", k.instructions / k.simulated},
                         {"simulated_warp_instructions", static_cast<std::uint64_t>(k.simulated)}});
}

std::string percentOf(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "–" : fmt::format("{:.1f} %", 100 * partOf(part, whole));
}

std::string stackOf(const KernelResult&) {
    return {};
}
std::string stackOf(const gpusim::IntervalResult& k) {
    std::string out = fmt::format("{}: {} intervals of {:.1f} instructions on the way of the last warp;", k.name,
                                  k.intervals, partOf(k.instructions, k.intervals));
    for (const auto& [name, cycles] : k.stack.parts()) {
        if (cycles > 0) out += fmt::format(" {} {:.1f} %", name, 100 * cycles / k.stack.total());
    }
    return out + "\n";
}

template <class Kernel>
std::string tables(const std::vector<Kernel>& kernels, const gpusim::Machine& machine, const GpuPowerTable& power) {
    Table table({"kernel", "cycles", "µs", "warp instructions", "blocks/SM", "L1 hits", "L2 hits", "DRAM sectors",
                 "issued", "waits: registers", "unit", "instruction cache", "constant cache", "nothing to issue", "W"},
                {false, true, true, true, true, true, true, true, true, true, true, true, true, true, true});
    std::string stacks;
    for (const auto& k : kernels) {
        const auto& n = k.counts;
        const auto slots = k.overlaps ? 0 : schedulerCycles(k, machine);
        table.add({k.name, count(static_cast<double>(k.cycles)), fmt::format("{:.2f}", k.seconds * 1e6),
                   count(static_cast<double>(n.warpInstructions)), fmt::format("{}", k.blocksPerSm),
                   percentOf(n.l1.readHits, n.l1.reads), percentOf(n.l2.readHits, n.l2.reads),
                   count(static_cast<double>(n.dramReads + n.dramWrites)), percentOf(n.warpInstructions, slots),
                   percentOf(n.stallDependence, slots), percentOf(n.stallUnit, slots),
                   percentOf(n.stallCode, slots), percentOf(n.stallConstant, slots),
                   percentOf(n.stallNoInstruction, slots),
                   k.overlaps ? "–" : fmt::format("{:.1f}", powerOf(k, machine, power).total())});
        stacks += stackOf(k);
    }
    std::uint64_t last = 0;
    bool overlap = false;
    for (const auto& k : kernels) last = std::max(last, k.endCycle), overlap = overlap || k.overlaps;
    if (overlap) {
        stacks += fmt::format(
            "Kernels of different streams ran side by side, so cycles of schedulers and power are "
            "not told apart (–); the last one ended at cycle {}\n",
            count(static_cast<double>(last)));
    }
    return fmt::format("{} at {:g} MHz; {} cycles of each kernel are its launch\n", machine.name, machine.coreMhz,
                       machine.launchLatency) +
           table.text() + stacks;
}

template <class Result>
int answer(const Arguments& arguments, const std::vector<Result>& kernels, const gpusim::Machine& machine,
           std::string_view method, std::string_view setting, const Json& sample = {}, const std::string& words = {},
           const std::string& program = {}) {
    const auto& power = voltaPower();
    if (!power) return report(power.error()), Unanswered;
    if (!arguments.has("json")) {
        const std::string first = program.empty() ? std::string() : program + "\n";
        return print(first + tables(kernels, machine, *power) + words) ? Answered : Unanswered;
    }
    Json out{{"format", "orrery-gpu"}, {"version", 1},           {"method", fmt::format("gpu-{}", method)},
             {"setting", setting},     {"config", machine.name}, {"core_mhz", machine.coreMhz}};
    if (!program.empty()) out["program"] = program;
    if (!sample.is_null()) out["sample"] = sample;
    out["kernels"] = Json::array();
    for (const auto& k : kernels) {
        out["kernels"].push_back(kernelJson(k, machine, *power));
        out["kernels"].back()["counts"] = countedOf(k);
        if (machine.modernCore && method == "cycle") addCode(out["kernels"].back(), k);
        addIntervals(out["kernels"].back(), k);
    }
    return print(out.dump(2) + "\n") ? Answered : Unanswered;
}

// What both forms of the command take; nothing of it is left unread.
struct Asked {
    std::string method = "cycle";
    gpusim::SimulateOptions options;
    std::string resume, snapshot;  // their bytes
    std::optional<gpusim::SampleOptions> sample;
};

int answer(const Arguments& arguments, const Expected<gpusim::SampledList>& all, const Asked& asked,
           const gpusim::Machine& machine, std::string_view setting, const std::string& program = {}) {
    if (!all) return report(all.error()), Unanswered;
    return answer(arguments, all->kernels, machine, asked.method, setting, sampleJson(*all, *asked.sample),
                  sampleText(*all, *asked.sample), program);
}

// Where a run begins and ends between two kernels.
int readSnapshots(const Arguments& arguments, Asked& out) {
    const bool any = arguments.has("snapshot") || arguments.has("resume") || arguments.has("until-kernel");
    if (any && out.method == "interval") {
        report(fail("usage.together", "snapshots are of the cycle simulation", "--method cycle", {}).value());
        return Usage;
    }
    if (arguments.has("snapshot") && !arguments.has("until-kernel")) {
        report(
            fail("usage.missing", "`--snapshot` needs the kernel after which it is taken", "--until-kernel N").value());
        return Usage;
    }
    if (const auto until = arguments.value("until-kernel")) {
        const auto number = wholeIn(*until);
        if (!number || *number < 1) {
            report(fail("usage.number", fmt::format("`--until-kernel {}`", *until), "a whole number of 1 or more")
                       .value());
            return Usage;
        }
        out.options.untilKernel = static_cast<std::size_t>(*number);
    }
    if (const auto file = arguments.value("resume")) {
        auto bytes = readFile(
            *file,
            {.most = std::size_t{1} << 31, .code = "gpu.snapshot", .expected = "a file that --snapshot has written"});
        if (!bytes) return report(bytes.error()), Unanswered;
        out.resume = std::move(*bytes);
        out.options.resume = out.resume;
        if (out.resume.empty()) {
            report(fail("gpu.snapshot", "the snapshot is empty", "a file that --snapshot has written", {},
                        Place{*file, 0, 0, {}})
                       .value());
            return Unanswered;
        }
    }
    if (arguments.has("snapshot")) out.options.snapshot = &out.snapshot;
    return Answered;
}

// Says what is wrong and returns the exit status, 0 where all is well.
int readAsked(const Arguments& arguments, Asked& out) {
    out.method = arguments.value("method").value_or("cycle");
    if (out.method != "cycle" && out.method != "interval") {
        report(Diagnostic{.code = "gpu.method",
                          .message = fmt::format("there is no method '{}'", out.method),
                          .expected = "cycle or interval",
                          .hint = "leave --method out"});
        return Unanswered;
    }
    if (const auto threads = arguments.value("threads")) {
        const auto number = wholeIn(*threads);
        if (!number || *number < 1 || *number > 1024) {
            report(
                fail("usage.number", fmt::format("`--threads {}`", *threads), "a whole number from 1 to 1024").value());
            return Usage;
        }
        out.options.threads = static_cast<int>(*number);
        if (*number > 1 && out.method == "interval") {
            report(Diagnostic{.severity = Severity::Note,
                              .code = "gpu.threads",
                              .message = "intervals run on one thread; the answer would be the same on more"});
        }
    }
    if (const auto most = arguments.value("cycles")) {
        const auto number = wholeIn(*most);
        if (!number || *number < 1) {
            report(Diagnostic{.code = "gpu.cycles",
                              .message = fmt::format("'{}' is no number of cycles", *most),
                              .expected = "a whole number of 1 or more"});
            return Unanswered;
        }
        out.options.mostCycles = static_cast<std::uint64_t>(*number);
    }
    auto sample = askedSample(arguments);
    if (!sample) return report(sample.error()), Usage;
    out.sample = *sample;
    return Answered;
}

// An option that means nothing beside another is refused, not passed over.
bool refuses(const Arguments& arguments, std::string_view form, std::span<const char* const> others) {
    for (const char* other : others) {
        if (!arguments.has(other)) continue;
        report(fail("usage.together", fmt::format("`--{}` means nothing with --{}", other, form),
                    form == "kernel" ? "--hardware, --method, --threads, --cycles, --export"
                                     : "--config, --setting, --method",
                    form == "kernel"
                        ? "the machine is the drawing's: change the drawing, or --export it and use --traces"
                        : "leave it out")
                   .value());
        return true;
    }
    return false;
}

// What is asked of traces, or of the machine that runs them, and of no drawn kernel.
constexpr std::array ofTraces{"traces",          "config",       "setting",  "generation", "set",
                              "whole-addresses", "until-kernel", "snapshot", "resume"};
constexpr std::array ofDrawings{"hardware", "export"};

// A kernel from a template, on a drawn GPU: all of its blocks, or by intervals one multiprocessor for all.
int runTemplate(const Arguments& arguments, Watch& watch) {
    if (refuses(arguments, "kernel", ofTraces)) return Usage;
    Asked asked;
    if (const int wrong = readAsked(arguments, asked); wrong != Answered) return wrong;
    auto drawn = drawnKernel(*arguments.value("kernel"), arguments.value("hardware").value_or("h100-sxm"));
    if (!drawn) return report(drawn.error()), Unanswered;
    if (const auto folder = arguments.value("export")) {
        const std::vector<gpusim::KernelTemplatePtr> kernels{drawn->kernel};
        const auto list = exportTraces(kernels, *folder);
        if (!list) return report(list.error()), Unanswered;
        if (const auto wrote = writeMachine(drawn->machine, *folder); !wrote) return report(wrote.error()), Unanswered;
        if (!arguments.has("json"))
            print(fmt::format("orrery-cli gpu --traces {} --config {} --whole-addresses\n", *list, *folder));
    }
    auto source = gpusim::TemplateSource::open(drawn->kernel, drawn->machine);
    if (!source) return report(source.error()), Unanswered;
    asked.options.stop = watch.token();
    watch.begin("simulating the GPU");
    if (asked.sample) {
        const auto open = [&]() -> Expected<std::unique_ptr<gpusim::KernelSource>> {
            auto anew = gpusim::TemplateSource::open(drawn->kernel, drawn->machine);
            if (!anew) return tl::unexpected(anew.error());
            return std::make_unique<gpusim::TemplateSource>(std::move(*anew));
        };
        const auto sampled = gpusim::sampleKernel(drawn->machine, open, *asked.sample, asked.options).map(listOf);
        watch.end();
        return answer(arguments, sampled, asked, drawn->machine, "drawn", drawn->program);
    }
    const auto tell = [&](const auto& result) -> int {
        watch.end();
        if (!result) return report(result.error()), Unanswered;
        return answer(arguments, std::vector{*result}, drawn->machine, asked.method, "drawn", {}, {}, drawn->program);
    };
    if (asked.method == "cycle") return tell(simulate(drawn->machine, *source, asked.options));
    if (!isRepresented(drawn->loop, drawn->machine))
        return tell(simulateIntervals(drawn->machine, *source, asked.options));
    report(Diagnostic{.severity = Severity::Note,
                      .code = "gpu.represented",
                      .message =
                          "one multiprocessor stands for all: cycles and instructions are extrapolated, hits and "
                          "DRAM accesses are those of its first wave, scaled",
                      .expected = "within 7 % of all blocks cycle by cycle in the mean, 39 % at worst",
                      .hint = "--method cycle simulates all blocks"});
    return tell(representedResult(drawn->loop, drawn->machine,
                                  {.mostCycles = asked.options.mostCycles, .stop = asked.options.stop}));
}

int runGpu(const Arguments& arguments, Watch& watch) {
    if (arguments.has("judge-counters")) return runJudgeCounters(arguments, watch);
    if (arguments.has("learn-counters")) return runLearnCounters(arguments, watch);
    for (const char* other : {"save", "seed", "leave-out"})
        if (arguments.has(other) && !(arguments.has("sample") && std::string_view(other) == "seed"))
            return failed(fail("usage.together", fmt::format("`--{}` means nothing without `--learn-counters`", other),
                               "--learn-counters N", "leave it out")
                              .value());
    if (arguments.has("predict")) {
        if (!arguments.has("kernel"))
            return failed(fail("usage.missing", "`--predict` needs a kernel", "--kernel TEXT").value());
        std::vector<std::string_view> others(ofTraces.begin(), ofTraces.end());
        others.insert(others.end(), {"export", "method", "threads", "cycles", "sample", "units"});
        if (const auto problem = meaningless(arguments, "`--predict`", others)) return failed(*problem);
        return runPredict(arguments);
    }
    if (arguments.has("kernel")) return runTemplate(arguments, watch);
    for (const char* needed : {"traces", "config"}) {
        if (arguments.has(needed)) continue;
        report(fail("usage.missing", fmt::format("`--{}` is missing", needed),
                    "--traces with --config, or --kernel with --hardware")
                   .value());
        return Usage;
    }
    if (refuses(arguments, "traces", ofDrawings)) return Usage;
    const std::string traces = *arguments.value("traces");
    const std::string setting = arguments.value("setting").value_or("compatibility");
    if (setting != "compatibility" && setting != "hardware") {
        report(Diagnostic{.code = "gpu.setting",
                          .message = fmt::format("there is no setting '{}'", setting),
                          .expected = "compatibility (as Accel-Sim runs it) or hardware (as real GPUs were measured)",
                          .hint = "leave --setting out"});
        return Unanswered;
    }
    Asked asked;
    if (const int wrong = readAsked(arguments, asked); wrong != Answered) return wrong;
    if (const int wrong = readSnapshots(arguments, asked); wrong != Answered) return wrong;
    gpusim::MachineQuestion question{configFolder(*arguments.value("config"), traces), {}};
    for (const auto& option : arguments.values("set")) {
        const auto equal = option.find('=');
        if (equal == std::string::npos) {
            report(Diagnostic{.code = "gpu.config",
                              .message = fmt::format("'{}' sets nothing", option),
                              .expected = "KEY=VALUE, such as gpgpu_scheduler=gto"});
            return Unanswered;
        }
        question.options.push_back("-" + option.substr(0, equal));
        question.options.push_back(option.substr(equal + 1));
    }
    auto machine = readMachine(question);
    if (!machine) return report(machine.error()), Unanswered;
    if (setting == "hardware") {
        const auto generation = generationFor(arguments, machine->machine.name);
        if (!generation) return report(generation.error()), Unanswered;
        useHardwareSetting(machine->machine, **generation);
    }
    report(machine->warnings);
    const auto commands = gpusim::readKernelList(traces);
    if (!commands) return report(commands.error()), Unanswered;
    asked.options.stop = watch.token();
    asked.options.cutsCopyAddresses = setting == "compatibility" && !arguments.has("whole-addresses");
    watch.begin("simulating the GPU");
    if (asked.sample) {
        const auto sampled = gpusim::sampleKernels(machine->machine, *commands, *asked.sample, asked.options);
        watch.end();
        return answer(arguments, sampled, asked, machine->machine, setting);
    }
    const auto tell = [&](const auto& results) -> int {
        watch.end();
        if (!results) return report(results.error()), Unanswered;
        // The answer stands also where the snapshot cannot be written.
        const int answered = answer(arguments, *results, machine->machine, asked.method, setting);
        if (asked.options.snapshot && !writeTo(*arguments.value("snapshot"), asked.snapshot)) return Unanswered;
        return answered;
    };
    return asked.method == "interval" ? tell(simulateIntervals(machine->machine, *commands, asked.options))
                                      : tell(simulate(machine->machine, *commands, asked.options));
}

}  // namespace

const Command gpuCommand{
    .name = "gpu",
    .summary = "simulate GPU kernels from instruction traces, cycle by cycle",
    .details =
        "Reads a list of kernels and their SASS traces as Accel-Sim's tracer writes them, and the machine from "
        "Accel-Sim's option files, and answers per kernel: cycles, instructions, caches, DRAM, occupancy, why "
        "schedulers waited, and power by the energies of a Volta. A configuration is a folder with gpgpusim.config and "
        "trace.config, or its name in a "
        "folder `configs` above the traces or in ORRERY_GPU_CONFIGS. With --kernel the instructions come from a "
        "template and "
        "the machine from a drawing.",
    .options = {{"kernel", "TEXT",
                 "a kernel from a template instead: 'gemm m=1024 n=1024 k=1024 fp16', 'fir n=65536 taps=16'"},
                {"hardware", "ID|FILE", "the drawn GPU that it runs on (h100-sxm)"},
                {"export", "DIR", "also write its trace and its machine, as Accel-Sim takes them"},
                {"traces", "FILE", "the list of kernels (kernelslist.g)"},
                {"config", "NAME|DIR", "the machine: gpgpusim.config and trace.config"},
                {"setting", "NAME",
                 "compatibility: as Accel-Sim runs it; hardware: the modern core with measured latencies"},
                {"generation", "NAME",
                 "of --setting hardware: volta, ampere, hopper, …; by the name of the configuration"},
                {"method", "NAME",
                 "cycle, or interval: each instruction once, with a stack of cycles by cause; of a template one "
                 "multiprocessor for all, where L2 is one"},
                {"set", "KEY=VALUE", "an option of the files, changed: gpgpu_scheduler=gto", true},
                {"whole-addresses", "", "host copies warm L2 at their full addresses; the peer cuts them to 32 bits"},
                {"threads", "N", "that share each cycle (1); the answer is the same for any number"},
                {"cycles", "N", "give up a kernel after so many cycles"},
                {"sample", "NAME",
                 "simulate some waves of blocks and state an interval; smarts: at random; simpoint: those that stand "
                 "for waves, and kernels of a list, that run the same instructions"},
                {"units", "N", "of a sample: waves measured of each kernel (6)"},
                {"until-kernel", "N", "end after the first N kernels of the list"},
                {"snapshot", "FILE", "with --until-kernel: write the machine's state there, to go on from"},
                {"resume", "FILE", "go on behind the kernels of a snapshot: same list, same machine"},
                {"predict", "[FILE]",
                 "of --kernel: its counters from its code, without simulating, by a learned model (the shipped one)"},
                {"learn-counters", "N",
                 "draw N kernels on 16 GPUs, simulate them (--method interval unless told otherwise), learn their "
                 "counters, and say how far predictions are off on kernels that were not seen"},
                {"leave-out", "ID", "with it: also judge on this GPU by a model that has not seen it", true},
                 {"judge-counters", "N",
                  "draw N fresh kernels and say how far the shipped model, or the one of --predict, is off on them"},
                 {"seed", "N",
                  "with these: of kernels and training; 1 if left out, to judge 2; of a sample: of its draws"},
                {"save", "FILE", "with it: write the model, for --predict"},
                {"json", "", "as JSON (resources/schema/gpu.schema.json, counters.schema.json)"}},
    .required = {},
    .examples = {{"orrery-cli gpu --kernel 'gemm m=256 n=256 k=256 fp16' --hardware a100-80-sxm",
                  "a product on a drawn GPU, with no trace"},
                 {"orrery-cli gpu --kernel 'softmax m=512 n=4096 fp16' --hardware h100-sxm --method interval",
                  "each instruction once, and where the cycles went"},
                 {"orrery-cli gpu --kernel 'gemm m=256 n=256 k=256 fp16' --hardware a100-80-sxm --predict",
                  "its counters from its code alone, with intervals"},
                 {"orrery-cli gpu --kernel 'elementwise m=8192 n=2048 fp16' --hardware a100-80-sxm --sample simpoint",
                  "a long kernel by waves that stand for the others, with an interval"},
                 {"orrery-cli gpu --traces vecadd/kernelslist.g --config SM7_QV100",
                  "cycles and stalls of every kernel"},
                 {"orrery-cli gpu --traces vecadd/kernelslist.g --config SM7_QV100 --method interval",
                  "faster, and where the cycles went"},
                 {"orrery-cli gpu --traces vecadd/kernelslist.g --config SM7_QV100 --set gpgpu_scheduler=gto --json",
                  "with another scheduler, as JSON"}},
    .run = runGpu,
};

}  // namespace orrery::cli
