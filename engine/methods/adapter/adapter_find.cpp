#include "base/child_program.h"
#include "base/kept_files.h"
#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "methods/adapter/adapter.h"
#include "methods/adapter/run_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <regex>

namespace orrery {

namespace {

namespace fs = std::filesystem;

void addFolder(const std::string& folder, ShippedAdapters& shipped) {
    std::vector<std::string> files;
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
        if (entry->path().extension() == ".yaml") files.push_back(entry->path().string());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
        auto adapter = readAdapter(file);
        if (!adapter) {
            shipped.warnings.push_back(std::move(adapter.error()));
            shipped.warnings.back().severity = Severity::Warning;
            continue;
        }
        std::erase_if(shipped.all, [&](const AdapterPtr& each) { return each->id == adapter->id; });
        shipped.all.push_back(std::make_shared<const Adapter>(std::move(*adapter)));
    }
}

/// Without a blank line at its end; empty where the pattern shows nothing.
std::optional<std::string> versionIn(const Adapter& adapter, const std::string& program, std::string& why) {
    if (adapter.program.versionArguments.empty()) return std::string();
    const auto folder = RunFolder::temporary();
    if (!folder) {
        why = folder.error().message;
        return std::nullopt;
    }
    ProgramCall call{{program}, folder->path(), folder->path() + "/stdout.txt", folder->path() + "/stderr.txt"};
    call.mostSeconds = 20;
    call.mostOutput = 1 << 20;
    for (const AdapterText& each : adapter.program.versionArguments) call.command.push_back(each.text);
    const auto run = runProgram(call, {});
    if (!run) {
        why = run.error().message;
        return std::nullopt;
    }
    std::string said;
    for (const std::string& file : {call.output, call.errors}) {
        const auto text = readFile(file, std::size_t{2} << 20);
        if (text) said += *text;
    }
    if (run->exit != 0 || adapter.program.versionPattern.empty()) {
        std::string_view last = trimmed(said);
        last = last.substr(last.rfind('\n') == std::string_view::npos ? 0 : last.rfind('\n') + 1);
        why =
            run->exit == 0
                ? std::string()
                : fmt::format(
                      "{} is there, and ends with status {} when it is asked for its version{}", program, run->exit,
                      last.empty() || last.size() > 200 || !isUtf8(last) ? std::string() : fmt::format(" ({})", last));
        return run->exit == 0 ? std::optional(std::string()) : std::nullopt;
    }
    const std::regex pattern(adapter.program.versionPattern);
    for (const std::string_view line : split(said, '\n')) {
        std::match_results<std::string_view::const_iterator> match;
        if (line.size() < 4096 && std::regex_search(line.begin(), line.end(), match, pattern)) return match[1].str();
    }
    why = fmt::format("{} is there, and is another program: it does not say its version as expected", program);
    return std::nullopt;
}

std::string programOf(const Adapter& adapter, std::string_view given, std::string& why) {
    const auto missing = [&](std::string_view who, std::string_view path) {
        why = fmt::format("{} names `{}`, which is no program that can be run", who, path);
        return std::string();
    };
    if (!given.empty()) {
        const std::string found = findProgram(given);
        return found.empty() ? missing("the option `program`", given) : found;
    }
    const std::string& variable = adapter.program.variable;
    if (const char* named = variable.empty() ? nullptr : std::getenv(variable.c_str()); named && *named) {
        const std::string found = findProgram(named);
        return found.empty() ? missing(variable, named) : found;
    }
    for (const std::string& name : adapter.program.find) {
        const bool beside = name.find('/') != std::string::npos && !name.starts_with("/");
        const std::string found = findProgram(beside ? (fs::path(adapter.folder) / name).string() : name);
        if (!found.empty()) return found;
    }
    why = fmt::format("{} is not in the search path", fmt::join(adapter.program.find, " or "));
    return {};
}

}  // namespace

const ShippedAdapters& shippedAdapters() {
    static const ShippedAdapters shipped = [] {
        ShippedAdapters made;
        addFolder(presetsFolder() + "/adapters", made);
        if (const char* more = std::getenv("ORRERY_ADAPTERS"); more && *more) addFolder(more, made);
        std::sort(made.all.begin(), made.all.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
        return made;
    }();
    return shipped;
}

Expected<AdapterPtr> findAdapter(std::string_view idOrFile) {
    for (const AdapterPtr& each : shippedAdapters().all)
        if (each->id == idOrFile) return each;
    const std::string path(idOrFile);
    if (!path.ends_with(".yaml") && !path.ends_with(".yml")) {
        std::vector<std::string> ids;
        for (const AdapterPtr& each : shippedAdapters().all) ids.push_back(each->id);
        return fail("adapter.unknown", fmt::format("there is no adapter `{}`", idOrFile),
                    fmt::format("a file that ends in .yaml, or one of {}", fmt::join(ids, ", ")),
                    didYouMean(idOrFile, ids));
    }
    static KeptFiles<Adapter> kept(16);
    return kept.get({path}, [&] { return readAdapter(path); });
}

AdapterFound lookFor(const Adapter& adapter, std::string_view program) {
    struct Kept {
        fs::file_time_type written;
        AdapterFound found;
    };
    static std::mutex mutex;
    static std::map<std::string, Kept> kept;
    AdapterFound made;
    if (adapter.program.recordedOnly) {
        made.why = "its inputs do not follow from a drawing: recorded output is read";
        return made;
    }
    const std::string path = programOf(adapter, program, made.why);
    if (path.empty()) return made;
    std::error_code problem;
    const auto written = fs::last_write_time(path, problem);
    const std::string key = adapter.file + "\n" + path;
    const std::scoped_lock lock(mutex);
    if (const auto known = kept.find(key); known != kept.end() && known->second.written == written)
        return known->second.found;
    if (const auto version = versionIn(adapter, path, made.why)) {
        made.program = path;
        made.version = *version;
    }
    kept[key] = {written, made};
    return made;
}

}  // namespace orrery
