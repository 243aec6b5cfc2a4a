#include "methods/adapter/adapter_run.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "methods/adapter/adapter_output.h"
#include "methods/adapter/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {

namespace {

namespace fs = std::filesystem;

Expected<void> writeAll(const Adapter& adapter, const AdapterValues& values, const RunFolder& folder,
                        const AdapterWriter& writer) {
    for (const AdapterInput& input : adapter.inputs) {
        if (!input.writer.empty()) {
            if (auto written = writer(input, folder.path()); !written) return written;
            continue;
        }
        auto text = values.expand(input.text, adapter);
        if (!text) return Unexpected(std::move(text.error()));
        if (auto written = folder.write(input.file, *text); !written) return written;
    }
    return {};
}

Expected<std::vector<std::string>> expanded(const std::vector<AdapterText>& command, const Adapter& adapter,
                                            const AdapterValues& values) {
    std::vector<std::string> words;
    for (const AdapterText& each : command) {
        auto word = values.expand(each, adapter);
        if (!word) return Unexpected(std::move(word.error()));
        words.push_back(std::move(*word));
    }
    return words;
}

/// The last lines of what the program said, short.
std::string lastWords(const std::string& errors, const std::string& output) {
    for (const std::string& file : {errors, output}) {
        const auto text = readFile(file, std::size_t{128} << 20);
        if (!text) continue;
        std::string_view said = trimmed(*text);
        if (said.empty()) continue;
        said = said.substr(said.size() - std::min<std::size_t>(said.size(), 300));
        if (const auto line = said.find('\n');
            line != std::string_view::npos && line + 1 < said.size() && said.size() == 300)
            said.remove_prefix(line + 1);
        return isUtf8(said) ? std::string(said) : "bytes that are no text";
    }
    return "it said nothing";
}

Expected<ProgramRun> runAll(const Adapter& adapter, const AdapterUse& use, const AdapterValues& values,
                            const std::string& folder, const std::stop_token& stop) {
    ProgramRun all;
    for (std::size_t c = 0; c < adapter.commands.size(); ++c) {
        auto words = expanded(adapter.commands[c], adapter, values);
        if (!words) return Unexpected(std::move(words.error()));
        const std::string named = words->front();
        words->front() = named.starts_with("./") ? folder + named.substr(1) : findProgram(named);
        if (words->front().empty())
            return fail("adapter.not-found", fmt::format("`{}` is not in the search path", named),
                        "a program that can be run", adapter.program.install,
                        adapter.place(adapter.commands[c].front().line));
        const bool last = c + 1 == adapter.commands.size();
        const std::string suffix = last ? ".txt" : fmt::format("-{}.txt", c + 1);
        const ProgramCall call{.command = std::move(*words),
                               .folder = folder,
                               .output = folder + "/stdout" + suffix,
                               .errors = folder + "/stderr" + suffix,
                               .mostSeconds = use.mostSeconds};
        auto run = runProgram(call, stop);
        if (!run) {
            if (run.error().code != "study.cancelled")
                run.error().place = adapter.place(adapter.commands[c].front().line);
            return Unexpected(std::move(run.error()));
        }
        all.seconds += run->seconds;
        all.peakBytes = std::max(all.peakBytes, run->peakBytes);
        if (run->exit == 0) continue;
        const std::string how = run->signal ? fmt::format("was ended by signal {}", run->signal)
                                            : fmt::format("ended with status {}", run->exit);
        return fail("adapter.failed",
                    fmt::format("{}: `{}` {}: {}", adapter.title, call.command.front(), how,
                                lastWords(call.errors, call.output)),
                    "status 0",
                    use.keep.empty() ? "add keep=FOLDER to look at what it was given" : "look into " + folder,
                    adapter.place(adapter.commands[c].front().line));
    }
    return all;
}

Expected<std::optional<AdapterAnswer>> readAll(const Adapter& adapter, AdapterValues values, const std::string& folder,
                                               bool recorded) {
    for (const AdapterRead& each : adapter.reads) {
        auto value = readNumber(each, adapter, values, folder, recorded);
        if (!value) return Unexpected(std::move(value.error()));
        if (!*value) return std::optional<AdapterAnswer>();
        values.set(each.name, **value);
    }
    const auto si = [&](const AdapterQuantity& quantity) -> Expected<double> {
        auto value = values.number(quantity.value, adapter, quantity.line);
        if (!value || !quantity.cycles) return value ? Expected<double>(*value * quantity.scale) : value;
        static const auto array = Expression::parse("array_clock"), device = Expression::parse("clock");
        auto clock = values.number(*array, adapter, quantity.line);
        if (!clock) clock = values.number(*device, adapter, quantity.line);
        if (!clock || !(*clock > 0))
            return fail("adapter.no-value", "cycles need a clock, and the device has none", "an attribute `clock`", {},
                        adapter.place(quantity.line));
        return *value / *clock;
    };
    AdapterAnswer answer;
    answer.recorded = recorded;
    auto seconds = si(adapter.time);
    if (!seconds) return Unexpected(std::move(seconds.error()));
    if (!(*seconds >= 0))
        return fail("adapter.output", fmt::format("{} says a time of {} s", adapter.title, *seconds),
                    "no time below zero", {}, adapter.place(adapter.time.line));
    answer.seconds = *seconds;
    if (adapter.energy) {
        auto joules = si(*adapter.energy);
        if (!joules) return Unexpected(std::move(joules.error()));
        answer.joules = *joules;
    }
    for (const AdapterQuantity& each : adapter.figures) {
        auto value = si(each);
        if (!value) return Unexpected(std::move(value.error()));
        const bool plain = each.dimension == Dimension::Number;
        answer.figures.push_back({each.label, *value, each.dimension, plain ? each.unit : std::string()});
    }
    return std::optional(std::move(answer));
}

Expected<AdapterValues> withPlaces(const Adapter& adapter, AdapterValues values, const std::string& program,
                                   const std::string& folder) {
    values.setPath("program", program);
    values.setPath("folder", folder);
    values.setPath("adapter", adapter.folder);
    if (auto named = values.let(adapter); !named) return Unexpected(std::move(named.error()));
    return values;
}

}  // namespace

Expected<std::optional<AdapterAnswer>> runAdapter(const Adapter& adapter, const AdapterUse& use, AdapterValues values,
                                                  const std::string& name, const AdapterWriter& writer,
                                                  const std::stop_token& stop) {
    if (!use.recorded.empty()) {
        // A table of many kernels stands in the folder itself; a report of one in a folder of its own.
        std::error_code ignored;
        const fs::path own = fs::path(use.recorded) / name;
        const bool tables = std::all_of(adapter.reads.begin(), adapter.reads.end(), [](const AdapterRead& read) {
            return !(read.where.empty() && read.whereText.empty());
        });
        if (!fs::is_directory(own, ignored) && adapter.level == MethodLevel::Kernel && !tables)
            return std::optional<AdapterAnswer>();
        const std::string folder = fs::is_directory(own, ignored) ? own.string() : use.recorded;
        auto placed = withPlaces(adapter, std::move(values), {}, folder);
        if (!placed) return Unexpected(std::move(placed.error()));
        return readAll(adapter, std::move(*placed), folder, true);
    }
    const auto folder =
        use.keep.empty() ? RunFolder::temporary() : RunFolder::kept((fs::path(use.keep) / name).string());
    if (!folder) return Unexpected(folder.error());
    auto placed = withPlaces(adapter, std::move(values), use.program, folder->path());
    if (!placed) return Unexpected(std::move(placed.error()));
    if (auto written = writeAll(adapter, *placed, *folder, writer); !written)
        return Unexpected(std::move(written.error()));
    auto run = runAll(adapter, use, *placed, folder->path(), stop);
    if (!run) return Unexpected(std::move(run.error()));
    auto answer = readAll(adapter, std::move(*placed), folder->path(), false);
    if (answer && *answer) (*answer)->run = *run;
    return answer;
}

Expected<void> writeInputs(const Adapter& adapter, AdapterValues values, const std::string& folder,
                           const std::string& name, const AdapterWriter& writer) {
    const auto made = RunFolder::kept((fs::path(folder) / name).string());
    if (!made) return Unexpected(made.error());
    const std::string program = adapter.program.find.empty() ? adapter.title : adapter.program.find.front();
    auto placed = withPlaces(adapter, std::move(values), program, ".");
    if (!placed) return Unexpected(std::move(placed.error()));
    if (auto written = writeAll(adapter, *placed, *made, writer); !written) return written;
    std::string said;
    for (const auto& command : adapter.commands) {
        auto words = expanded(command, adapter, *placed);
        if (!words) return Unexpected(std::move(words.error()));
        for (const std::string& word : *words) said += word + "\n";
        said += "\n";
    }
    return made->write("command.txt", "# One argument per line; standard output into stdout.txt\n" + said);
}

}  // namespace orrery
