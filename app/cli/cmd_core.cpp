#include "app/cli/command.h"
#include "app/cli/core_cores.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/core_view.h"
#include "methods/cpu/core_windows.h"
#include "simulation/cpu/core/interval.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/core/sampling.h"
#include "simulation/cpu/core/view_machine.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string_view>

namespace orrery::cli {

namespace {

using CoreJson = nlohmann::ordered_json;
using namespace pipeline;

double shortened(double value) {
    return std::round(value * 1e4) / 1e4;
}

// A question to the core, as read from the command line.
struct CoreQuestion {
    Machine machine;
    KernelSpec kernel;
    LoopNest nest;
    std::vector<std::string> assumptions;
};

CoreJson headOf(const CoreQuestion& question, std::string_view method) {
    CoreJson json;
    json["format"] = "orrery-core";
    json["version"] = 1;
    json["core"] = question.machine.id;
    json["kernel"] = toText(question.kernel);
    json["method"] = std::string(method);
    return json;
}

void addTimes(CoreJson& json, const CoreQuestion& question, double cycles, double instructions) {
    json["cycles"] = cycles;
    json["instructions"] = instructions;
    json["ipc"] = shortened(cycles > 0 ? instructions / cycles : 0);
    json["cpi"] = shortened(instructions > 0 ? cycles / instructions : 0);
    json["seconds"] = cycles / question.machine.clock;
    json["flops_per_cycle"] = shortened(cycles > 0 ? flopsOf(question.kernel) / cycles : 0);
}

void addCaches(CoreJson& json, const Machine& machine, const MemoryCounts& counts) {
    json["caches"] = CoreJson::array();
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
        const double all = static_cast<double>(counts.hits[i] + counts.misses[i]);
        json["caches"].push_back({{"name", machine.caches[i].name},
                                  {"accesses", counts.hits[i] + counts.misses[i]},
                                  {"hits", counts.hits[i]},
                                  {"hit_rate", shortened(all > 0 ? static_cast<double>(counts.hits[i]) / all : 1)},
                                  {"prefetches", counts.prefetches[i]}});
    }
    json["memory"] = {{"read_lines", counts.memoryReads}, {"written_lines", counts.memoryWrites}};
}

CoreJson pipelineJson(const CoreQuestion& question, const Counters& counts) {
    CoreJson json = headOf(question, "pipeline");
    addTimes(json, question, static_cast<double>(counts.cycles), static_cast<double>(counts.instructions));
    json["operations"] = counts.operations;
    const auto stack = counts.stack();
    for (std::size_t c = 0; c < causeCount; ++c) json["stack"][std::string(toText(static_cast<Cause>(c)))] = stack[c];
    for (std::size_t p = 0; p < question.machine.portNames.size(); ++p) {
        json["ports"][question.machine.portNames[p]] = shortened(
            static_cast<double>(counts.portCycles[p]) / static_cast<double>(std::max<std::uint64_t>(1, counts.cycles)));
    }
    addCaches(json, question.machine, counts.memory);
    json["branches"] = {{"executed", counts.branches}, {"mispredicted", counts.mispredicted}};
    json["loads"] = {{"executed", counts.loads}, {"forwarded", counts.forwarded}, {"blocked", counts.blocked}};
    return json;
}

CoreJson intervalJson(const CoreQuestion& question, const IntervalResult& result) {
    CoreJson json = headOf(question, "interval");
    addTimes(json, question, result.cycles, static_cast<double>(result.instructions));
    json["operations"] = result.operations;
    addCaches(json, question.machine, result.memory);
    json["branches"] = {{"executed", result.branches}, {"mispredicted", result.mispredicted}};
    return json;
}

CoreJson windowsJson(const CoreQuestion& question, const CoreEstimate& answer, const WindowModel& model) {
    CoreJson json = headOf(question, "concorde");
    addTimes(json, question, answer.cycles, answer.instructions);
    json["operations"] = static_cast<std::uint64_t>(std::llround(answer.operations));
    json["low"] = answer.low;
    json["high"] = answer.high;
    json["confidence"] = 0.9;
    for (std::size_t r = 0; r < resourceCount; ++r)
        json["resources"][std::string(toText(static_cast<Resource>(r)))] = answer.by[r];
    json["resources"]["interplay"] = answer.interplay;
    json["windows"] = answer.classCycles.size();
    json["model"] = model.source;
    return json;
}

// In the order of SampleKind.
constexpr std::array<std::string_view, 3> samples{"smarts", "simpoint", "loops"};

CoreJson sampleJson(const CoreQuestion& question, const SampleOptions& options, const SampleResult& result) {
    CoreJson json = headOf(question, samples[static_cast<std::size_t>(options.kind)]);
    const auto operations = static_cast<double>(result.operations);
    addTimes(json, question, result.cpi * operations, result.instructionsPerOperation * operations);
    json["operations"] = result.operations;
    json["low"] = result.low * operations;
    json["high"] = result.high * operations;
    json["confidence"] = result.whole ? 1.0 : options.confidence;
    json["units"] = result.units;
    json["simulated"] = result.simulated;
    json["warmed"] = result.warmed;
    if (result.clusters > 0) json["clusters"] = result.clusters;
    json["whole"] = result.whole;
    return json;
}

std::string textOf(const CoreQuestion& question, const CoreJson& json) {
    std::string text = fmt::format(
        "{} on {}\n{:.0f} cycles for {:.0f} instructions: {:.2f} per cycle, {:.4g} s at {:.2f} GHz, {:.1f} FLOP per "
        "cycle\n",
        json["kernel"].get<std::string>(), question.machine.title, json["cycles"].get<double>(),
        json["instructions"].get<double>(), json["ipc"].get<double>(), json["seconds"].get<double>(),
        question.machine.clock / 1e9, json["flops_per_cycle"].get<double>());
    if (json.contains("units")) {
        text += json["whole"].get<bool>()
                    ? std::string("too short to be sampled: simulated from end to end\n")
                    : fmt::format("{:.0f} … {:.0f} cycles ({:.0f} %), from {} units; {} of {} operations simulated\n",
                                  json["low"].get<double>(), json["high"].get<double>(),
                                  100 * json["confidence"].get<double>(), json["units"].get<std::uint64_t>(),
                                  json["simulated"].get<std::uint64_t>(), json["operations"].get<std::uint64_t>());
    }
    if (json.contains("resources")) {
        text += fmt::format("{:.0f} … {:.0f} cycles: nine of ten runs of the pipeline that judged it\n",
                            json["low"].get<double>(), json["high"].get<double>());
        Table rows({"resource", "cycles", "share"}, {false, true, true});
        for (const auto& [name, cycles] : json["resources"].items()) {
            if (cycles.get<double>() <= 0.0005 * json["cycles"].get<double>()) continue;
            rows.add({name, fmt::format("{:.0f}", cycles.get<double>()),
                      fmt::format("{:.1f} %", 100 * cycles.get<double>() / json["cycles"].get<double>())});
        }
        text += "\n" + rows.text();
    }
    if (json.contains("stack")) {
        Table rows({"cause", "cycles", "share"}, {false, true, true});
        for (const auto& [name, cycles] : json["stack"].items()) {
            if (cycles.get<double>() <= 0) continue;
            rows.add({name, fmt::format("{:.0f}", cycles.get<double>()),
                      fmt::format("{:.1f} %", 100 * cycles.get<double>() / json["cycles"].get<double>())});
        }
        text += "\n" + rows.text();
        Table ports({"port", "busy"}, {false, true});
        for (const auto& [name, share] : json["ports"].items())
            ports.add({name, fmt::format("{:.1f} %", 100 * share.get<double>())});
        text += "\n" + ports.text();
    }
    if (json.contains("caches")) {
        Table caches({"cache", "accesses", "hits", "prefetches"}, {false, true, true, true});
        for (const auto& each : json["caches"]) {
            caches.add({each["name"].get<std::string>(), std::to_string(each["accesses"].get<std::uint64_t>()),
                        fmt::format("{:.2f} %", 100 * each["hit_rate"].get<double>()),
                        std::to_string(each["prefetches"].get<std::uint64_t>())});
        }
        text += "\n" + caches.text();
    }
    return text;
}

Expected<Machine> machineFor(const Arguments& arguments, std::vector<std::string>& assumptions) {
    const auto named = arguments.value("core"), drawn = arguments.value("hardware");
    if (named.has_value() == drawn.has_value()) {
        return fail("usage.missing", named ? "`--core` and `--hardware` both say which core" : "no core is given",
                    "--core NAME or --hardware NAME|FILE");
    }
    if (named) return loadMachine(*named);
    const auto design = loadHardware(*drawn);
    if (!design) return Unexpected(design.error());
    const auto view = coreView(design->hardware);
    if (!view) return Unexpected(view.error());
    assumptions = view->assumptions;
    return machineOf(*view);
}

Expected<std::uint64_t> wholeOption(const Arguments& arguments, std::string_view name, std::uint64_t usual) {
    const auto text = arguments.value(name);
    if (!text) return usual;
    const auto value = wholeIn(*text);
    if (!value || *value < 1)
        return fail("usage.value", fmt::format("`--{}` is wrong", name), "a whole number above 0");
    return static_cast<std::uint64_t>(*value);
}

// Teaches the learned part of `--method concorde` anew.
int teachCore(const Arguments& arguments, Watch& watch) {
    WindowFitOptions options;
    const auto runs = wholeOption(arguments, "runs", static_cast<std::uint64_t>(options.runs));
    const auto seed = wholeOption(arguments, "seed", options.seed);
    if (!runs) return failed(runs.error());
    if (!seed) return failed(seed.error());
    options.runs = static_cast<int>(std::min<std::uint64_t>(*runs, 100'000));
    options.seed = *seed;
    options.stop = watch.token();
    watch.begin("running kernels on cores");
    const auto fit = fitWindowModel(options);
    watch.end();
    if (!fit) return failed(fit.error());
    std::ofstream file(*arguments.value("teach"));
    file << toJson(fit->model);
    file.close();
    if (!file)
        return failed(
            fail("file.write", fmt::format("`{}` cannot be written", *arguments.value("teach")), "a place to write to")
                .value());
    std::string text = fit->model.source + "\n\n";
    Table rows({"core", "kernel", "cycles", "predicted", "off", "dataflow alone"},
               {false, false, true, true, true, true});
    for (const auto& each : fit->judged) {
        rows.add({each.core, each.kernel, fmt::format("{:.0f}", each.cycles), fmt::format("{:.0f}", each.predicted),
                  fmt::format("{:+.1f} %", 100 * (each.predicted / each.cycles - 1)),
                  fmt::format("{:+.1f} %", 100 * (each.together / each.cycles - 1))});
    }
    return print(text + rows.text()) ? Answered : Unanswered;
}

int runCore(const Arguments& arguments, Watch& watch) {
    if (arguments.value("teach")) return teachCore(arguments, watch);
    if (arguments.value("cores")) return runCores(arguments, watch);
    for (const char* each : {"bind", "pages"}) {
        if (arguments.value(each))
            return failed(
                fail("usage.value", fmt::format("`--{}` is said of several cores", each), "`--cores N` with it")
                    .value());
    }
    if (!arguments.value("kernel")) return failed(fail("usage.missing", "no kernel is given", "--kernel TEXT").value());
    CoreQuestion question;
    auto machine = machineFor(arguments, question.assumptions);
    if (!machine) return failed(machine.error());
    question.machine = std::move(*machine);
    auto kernel = readKernel(*arguments.value("kernel"));
    if (!kernel) return failed(kernel.error());
    question.kernel = std::move(*kernel);
    auto nest = nestOf(question.kernel, question.machine);
    if (!nest) return failed(nest.error());
    question.nest = std::move(*nest);
    for (const auto& each : question.assumptions) report(warning("core.assumed", each));
    const auto method = arguments.value("method").value_or("pipeline");
    const auto sample = arguments.value("sample");
    if (method != "pipeline" && method != "interval" && method != "concorde")
        return failed(
            fail("usage.value", fmt::format("there is no method `{}`", method), "pipeline, interval, concorde")
                .value());
    const auto kind = std::find(samples.begin(), samples.end(), sample.value_or("smarts"));
    if (kind == samples.end())
        return failed(
            fail("usage.value", fmt::format("there is no sampling `{}`", *sample), "smarts, simpoint, loops").value());
    const auto stop = watch.token();
    const auto ops = boundOps(question.machine, question.nest.ops);
    NestStream stream(question.nest);
    OpChunk chunk;
    CoreJson json;
    if (sample) {
        SampleOptions options;
        options.kind = static_cast<SampleKind>(kind - samples.begin());
        const auto units = wholeOption(arguments, "units", options.units);
        const auto seed = wholeOption(arguments, "seed", options.seed);
        if (!units) return failed(units.error());
        if (!seed) return failed(seed.error());
        options.units = *units;
        options.seed = *seed;
        options.stop = stop;
        json = sampleJson(question, options, sampled(question.nest, question.machine, options));
    } else if (method == "concorde") {
        const auto model = loadWindowModel();
        if (!model) return failed(model.error());
        json = windowsJson(question, estimateCore(question.nest, question.machine, *model), *model);
    } else if (method == "interval") {
        IntervalModel model(question.machine, ops);
        while (!stop.stop_requested() && stream.next(chunk)) model.run(chunk);
        json = intervalJson(question, model.result());
    } else {
        Pipeline core(question.machine, ops);
        while (!stop.stop_requested() && stream.next(chunk)) core.run(chunk);
        json = pipelineJson(question, core.counters());
    }
    if (stop.stop_requested()) return Unanswered;
    return print(arguments.has("json") ? json.dump(2) + "\n" : textOf(question, json)) ? Answered : Unanswered;
}

}  // namespace

const Command coreCommand{
    .name = "core",
    .summary = "simulate a kernel on an out-of-order CPU core",
    .details =
        "One core, its caches and the memory below run a kernel that is written for the instruction set and tiled for "
        "the caches; caches are empty at the start. The stack says what every cycle went to, and sums exactly.",
    .options = {{"core", "NAME|FILE",
                 "skylake-server, icelake-server, sapphire-rapids, granite-rapids, golden-cove, gracemont, zen2, zen4, "
                 "neoverse-n1, neoverse-v1, neoverse-v2, cortex-a72, cortex-a76, firestorm, icestorm, or your own file "
                 "(.yaml)"},
                {"hardware", "NAME|FILE", "instead: the core of a drawn CPU"},
                {"kernel", "TEXT",
                 "gemm, matvec, conv, depthwise, softmax, norm, add, relu, silu or attention with sizes and an "
                 "instruction set: "
                 "'gemm m=256 n=256 k=256 avx2'"},
                {"method", "NAME",
                 "pipeline (default); interval: first order, in one functional pass; concorde: one window of each "
                 "loop on the pipeline, shared out among resources, at a cost that does not grow with the kernel"},
                {"cores", "N",
                 "divide the kernel over so many cores of the drawn CPU (`--hardware`), in one clock, with the caches "
                 "and memories that they share"},
                {"bind", "NAME", "close (default) or spread: which cores run where not all do"},
                {"pages", "NAME",
                 "local (default), interleave, first-node or remote: in which memory pages lie where parts of the CPU "
                 "have their own"},
                {"sample", "NAME", "smarts, simpoint or loops: simulate units of it, and state an interval"},
                {"units", "N", "units of a sample (200)"},
                {"seed", "N", "of a sample (1)"},
                {"teach", "FILE",
                 "instead: run kernels on cores, teach trees what concorde's windows miss, and judge it"},
                {"runs", "N", "that teach (900)"},
                {"json", "", "as JSON (resources/schema/core.schema.json)"}},
    .examples = {{"orrery-cli core --core skylake-server --kernel \"gemm m=128 n=128 k=128 avx2\"",
                  "a product of matrices"},
                 {"orrery-cli core --hardware epyc-9654 --kernel \"softmax avx512\" --method interval --json",
                  "the core of a drawn processor, fast"},
                 {"orrery-cli core --hardware epyc-9654 --kernel \"add n=400000 avx512\" --cores 8 --bind spread",
                  "eight cores, each behind a last cache of its own"}},
    .run = runCore,
};

}  // namespace orrery::cli
