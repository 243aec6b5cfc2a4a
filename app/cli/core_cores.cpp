#include "app/cli/core_cores.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/core_view.h"
#include "simulation/cpu/cores/cores.h"
#include "simulation/cpu/cores/fork_join.h"
#include "simulation/cpu/cores/view_chip.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace orrery::cli {

namespace {

using CoresJson = nlohmann::ordered_json;
using namespace pipeline;

// A question to several cores, as read from the command line.
struct CoresQuestion {
    Chip chip;
    int cores = 1;
    Binding binding = Binding::Close;
    KernelSpec kernel;
};

double rounded(double value) {
    return std::round(value * 1e4) / 1e4;
}

CoresJson jsonOf(const CoreResult& core, const KernelPart& part, const Chip& chip) {
    CoresJson json;
    json["core"] = core.core;
    json["kernel"] = toText(part.spec);
    json["cycles"] = core.counters.cycles;
    json["instructions"] = core.counters.instructions;
    const auto stack = core.counters.stack();
    for (std::size_t c = 0; c < causeCount; ++c) json["stack"][std::string(toText(static_cast<Cause>(c)))] = stack[c];
    json["shared"] = CoresJson::array();
    for (std::size_t level = 0; level < chip.core.caches.size(); ++level) {
        if (chip.sharedBy[level] < 2) continue;
        const SharedCounts& counts = core.shared[level];
        json["shared"].push_back({{"name", chip.core.caches[level].name},
                                  {"accesses", counts.hits + counts.misses},
                                  {"hits", counts.hits},
                                  {"from_others", counts.fromOthers},
                                  {"waited", counts.waited}});
    }
    json["memory"] = {{"read_lines", core.use.reads},
                      {"written_lines", core.use.writes},
                      {"remote_lines", core.use.remote},
                      {"waited_own", core.use.waitedOwn},
                      {"waited_channel", core.use.waitedChannel},
                      {"waited_link", core.use.waitedLink}};
    return json;
}

CoresJson jsonOf(const CoresQuestion& question, const SplitRun& run) {
    const Chip& chip = question.chip;
    CoresJson json;
    json["format"] = "orrery-core";
    json["version"] = 1;
    json["core"] = chip.core.id;
    json["kernel"] = toText(question.kernel);
    json["method"] = "cores";
    std::uint64_t instructions = 0, operations = 0, reads = 0, writes = 0;
    for (const CoreResult& core : run.cores) {
        instructions += core.counters.instructions;
        operations += core.counters.operations;
        reads += core.use.reads;
        writes += core.use.writes;
    }
    const double cycles = static_cast<double>(run.cycles()), all = static_cast<double>(instructions);
    const double seconds = cycles / chip.core.clock;
    json["cycles"] = cycles;
    json["instructions"] = all;
    json["ipc"] = rounded(cycles > 0 ? all / cycles : 0);
    json["cpi"] = rounded(all > 0 ? cycles / all : 0);
    json["seconds"] = seconds;
    json["flops_per_cycle"] = rounded(cycles > 0 ? flopsOf(question.kernel) / cycles : 0);
    json["operations"] = operations;
    double idle = 0;
    const auto stack = run.stack(idle);
    for (std::size_t c = 0; c < causeCount; ++c) json["stack"][std::string(toText(static_cast<Cause>(c)))] = stack[c];
    json["stack"]["idle"] = idle;
    json["fork_join_seconds"] = forkJoinSeconds(chip, run.cores);
    json["bind"] = toText(question.binding);
    json["nodes"] = chip.nodes;
    json["pages"] = toText(chip.pages);
    json["memory"] = {{"read_lines", reads},
                      {"written_lines", writes},
                      {"bandwidth_gbs", rounded(seconds > 0 ? run.bytesMoved() / seconds / 1e9 : 0)},
                      {"drawn_gbs", rounded(chip.nodes * chip.nodeBandwidth / 1e9)}};
    json["cores"] = CoresJson::array();
    for (std::size_t i = 0; i < run.cores.size(); ++i)
        json["cores"].push_back(jsonOf(run.cores[i], run.parts[i], chip));
    return json;
}

std::string textOf(const CoresQuestion& question, const SplitRun& run, const CoresJson& json) {
    const Chip& chip = question.chip;
    std::string text = fmt::format(
        "{} on {} of {} cores of {}\n{:.0f} cycles until the last core is done, {:.4g} s at {:.2f} GHz, {:.1f} FLOP "
        "per cycle; {:.1f} of {:.1f} GB/s of memory\n"
        "Besides, {:.0f} ns to begin on all these cores and to wait for the last\n",
        toText(question.kernel), run.cores.size(), chip.cores, chip.core.title, json["cycles"].get<double>(),
        json["seconds"].get<double>(), chip.core.clock / 1e9, json["flops_per_cycle"].get<double>(),
        json["memory"]["bandwidth_gbs"].get<double>(), json["memory"]["drawn_gbs"].get<double>(),
        1e9 * json["fork_join_seconds"].get<double>());
    Table causes({"cause", "cycles of a core", "share"}, {false, true, true});
    for (const auto& [name, cycles] : json["stack"].items()) {
        if (cycles.get<double>() <= 0) continue;
        causes.add({name, fmt::format("{:.0f}", cycles.get<double>()),
                    fmt::format("{:.1f} %", 100 * cycles.get<double>() / json["cycles"].get<double>())});
    }
    text += "\n" + causes.text();
    std::vector<std::string> heads{"core", "cycles"};
    for (std::size_t level = 0; level < chip.core.caches.size(); ++level) {
        if (chip.sharedBy[level] < 2) continue;
        const std::string& name = chip.core.caches[level].name;
        heads.insert(heads.end(), {name + " hits", "from others", name + " wait"});
    }
    heads.insert(heads.end(), {"memory lines", "remote", "memory wait", "link wait"});
    Table rows(heads, std::vector<bool>(heads.size(), true));
    const auto each = [](std::uint64_t cycles, std::uint64_t times) {
        return fmt::format("{:.1f}", times > 0 ? static_cast<double>(cycles) / static_cast<double>(times) : 0.0);
    };
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
        return fmt::format("{:.1f} %", whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
    };
    for (const CoreResult& core : run.cores) {
        std::vector<std::string> cells{std::to_string(core.core), std::to_string(core.counters.cycles)};
        for (std::size_t level = 0; level < chip.core.caches.size(); ++level) {
            if (chip.sharedBy[level] < 2) continue;
            const SharedCounts& counts = core.shared[level];
            cells.insert(cells.end(), {share(counts.hits, counts.hits + counts.misses),
                                       share(counts.fromOthers, counts.hits), each(counts.waited, counts.hits)});
        }
        const MemoryLines& use = core.use;
        cells.insert(cells.end(),
                     {std::to_string(use.reads + use.writes), share(use.remote, use.reads + use.writes),
                      each(use.waitedOwn + use.waitedChannel, use.reads), each(use.waitedLink, use.reads)});
        rows.add(cells);
    }
    return text + "\n" + rows.text() + "waits: cycles of one line, mean\n";
}

template <class Word, std::size_t count>
Expected<Word> wordOption(const Arguments& arguments, std::string_view name, const std::array<Word, count>& all) {
    const auto text = arguments.value(name);
    if (!text) return all.front();
    std::string names;
    for (const Word each : all) {
        if (toText(each) == *text) return each;
        names += (names.empty() ? "" : ", ") + std::string(toText(each));
    }
    return fail("usage.value", fmt::format("`--{}` is `{}`", name, *text), names);
}

Expected<CoresQuestion> questionOf(const Arguments& arguments) {
    for (const char* other : {"method", "sample"}) {
        if (arguments.value(other) && *arguments.value(other) != "pipeline")
            return fail("usage.value", fmt::format("`--{}` is of one core", other), "`--cores` without it");
    }
    if (!arguments.value("kernel")) return fail("usage.missing", "no kernel is given", "--kernel TEXT");
    const auto drawn = arguments.value("hardware");
    if (!drawn || arguments.value("core"))
        return fail("usage.missing", "what cores share is read from a drawn CPU", "--hardware NAME|FILE",
                    "a pipeline alone says nothing of other cores");
    CoresQuestion question;
    const auto binding = wordOption(arguments, "bind", std::array{Binding::Close, Binding::Spread});
    if (!binding) return Unexpected(binding.error());
    const auto pages =
        wordOption(arguments, "pages", std::array{Pages::Local, Pages::Interleaved, Pages::FirstNode, Pages::Remote});
    if (!pages) return Unexpected(pages.error());
    question.binding = *binding;
    auto kernel = readKernel(*arguments.value("kernel"));
    if (!kernel) return Unexpected(kernel.error());
    question.kernel = std::move(*kernel);
    const auto design = loadHardware(*drawn);
    if (!design) return Unexpected(design.error());
    const auto view = coreView(design->hardware);
    if (!view) return Unexpected(view.error());
    auto chip = chipOf(*view, *pages);
    if (!chip) return Unexpected(chip.error());
    question.chip = std::move(*chip);
    const auto cores = wholeIn(*arguments.value("cores"));
    if (!cores || *cores < 1 || *cores > question.chip.cores)
        return fail("usage.value", fmt::format("`--cores` is `{}`", *arguments.value("cores")),
                    fmt::format("1 to {}, which `{}` has", question.chip.cores, view->name));
    question.cores = static_cast<int>(*cores);
    for (const auto& each : assumptionsOf(*view, question.chip)) report(warning("core.assumed", each));
    return question;
}

}  // namespace

int runCores(const Arguments& arguments, Watch& watch) {
    const auto question = questionOf(arguments);
    if (!question) return failed(question.error());
    const auto stop = watch.token();
    watch.begin("running cores");
    std::uint64_t before = 0;
    SplitOptions options;
    options.stop = stop;
    options.advanced = [&](std::uint64_t done, std::uint64_t all) {
        watch.progress().setTotal(all);
        watch.progress().advance(done - before);
        before = done;
    };
    const auto run = runSplit(question->kernel, question->chip, question->cores, question->binding, options);
    watch.end();
    if (!run) return failed(run.error());
    if (stop.stop_requested()) return Unanswered;
    if (const int ran = static_cast<int>(run->cores.size()); ran < question->cores)
        report(warning("core.fewer", fewerCores(question->kernel, question->cores, ran)));
    const CoresJson json = jsonOf(*question, *run);
    return print(arguments.has("json") ? json.dump(2) + "\n" : textOf(*question, *run, json)) ? Answered : Unanswered;
}

}  // namespace orrery::cli
