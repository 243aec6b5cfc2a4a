#include "measurement/host.h"

#include "base/text/read_file.h"
#include "measurement/machine_loops.h"
#include "measurement/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

namespace orrery {

namespace {

namespace fs = std::filesystem;

std::string lineOf(const fs::path& file) {
    const auto text = readFile(file.string());
    return text ? text->substr(0, text->find('\n')) : std::string();
}

// The value of `name : value` in /proc/cpuinfo and its like.
std::string entryOf(const char* file, std::string_view name) {
    std::istringstream stream(readFile(file).value_or(std::string()));
    for (std::string line; std::getline(stream, line);) {
        if (!line.starts_with(name)) continue;
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto start = line.find_first_not_of(" \t", colon + 1);
        return start == std::string::npos ? std::string() : line.substr(start);
    }
    return {};
}

bool hasFlag(std::string_view flags, std::string_view flag) {
    const std::string all = fmt::format(" {} ", flags);
    return all.find(fmt::format(" {} ", flag)) != std::string::npos;
}

// `32768K`
double sizeOf(const std::string& text) {
    std::istringstream stream(text);
    double number = 0;
    char unit = 0;
    stream >> number >> unit;
    return number * (unit == 'K' ? 1024.0 : unit == 'M' ? 1048576.0 : unit == 'G' ? 1073741824.0 : 1.0);
}

// How many processors `0-3,8` names.
int countOf(const std::string& list) {
    int count = 0;
    std::istringstream stream(list);
    for (std::string part; std::getline(stream, part, ',');) {
        const auto dash = part.find('-');
        count += dash == std::string::npos ? 1 : std::stoi(part.substr(dash + 1)) - std::stoi(part.substr(0, dash)) + 1;
    }
    return std::max(count, 1);
}

std::vector<HostCache> cachesOf(std::int64_t cores) {
    std::map<int, HostCache> byLevel;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/sys/devices/system/cpu/cpu0/cache", error)) {
        if (!entry.path().filename().string().starts_with("index")) continue;
        if (lineOf(entry.path() / "type") == "Instruction") continue;
        HostCache cache;
        cache.level = std::max(1, static_cast<int>(sizeOf(lineOf(entry.path() / "level"))));
        cache.bytes = sizeOf(lineOf(entry.path() / "size"));
        const int sharing = countOf(lineOf(entry.path() / "shared_cpu_list"));
        cache.count = static_cast<int>(std::max<std::int64_t>(1, cores / sharing));
        if (cache.bytes > 0) byLevel[cache.level] = cache;
    }
    std::vector<HostCache> caches;
    for (const auto& [level, cache] : byLevel) caches.push_back(cache);
    return caches;
}

// Bytes a second of c = a + b by all cores, over arrays that take `bytes` together; best of several rounds, because
// whatever else runs can only slow it.
double streamRate(Workers& workers, double bytes, std::stop_token stop) {
    const std::size_t parts = workers.count();
    const std::size_t each = std::max<std::size_t>(1024, static_cast<std::size_t>(bytes / 12 / double(parts)));
    std::vector<std::vector<float>> arrays(3 * parts);
    // Touched first by the thread that will use them.
    workers.run([&](std::size_t i) {
        for (std::size_t a = 0; a < 3; ++a) arrays[3 * i + a].assign(each, 1.0F);
    });
    const std::size_t passes = std::max<std::size_t>(1, static_cast<std::size_t>(2e7 / (12.0 * double(each * parts))));
    double best = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < 40 && !stop.stop_requested(); ++round) {
        const auto start = std::chrono::steady_clock::now();
        workers.run([&](std::size_t i) {
            for (std::size_t pass = 0; pass < passes; ++pass) {
                addInto(arrays[3 * i].data(), arrays[3 * i + 1].data(), arrays[3 * i + 2].data(), each);
            }
        });
        const auto now = std::chrono::steady_clock::now();
        const double seconds = std::chrono::duration<double>(now - start).count();
        best = std::max(best, 12.0 * double(each * parts * passes) / seconds);
        if (round >= 5 && std::chrono::duration<double>(now - begin).count() > 0.5) break;
    }
    return best;
}

}  // namespace

double HostDescription::lastCacheBytes() const {
    return caches.empty() ? 0 : caches.back().bytes * caches.back().count;
}

Expected<HostDescription> describeHost(std::stop_token stop) {
    HostDescription host;
    host.processor = entryOf("/proc/cpuinfo", "model name");
    if (host.processor.empty()) host.processor = entryOf("/proc/cpuinfo", "Model");
    if (host.processor.empty()) host.processor = "processor";
    host.cores = static_cast<std::int64_t>(usableCores());
    host.memoryBytes = sizeOf(entryOf("/proc/meminfo", "MemTotal")) * 1024;  // `16384 kB`
    if (host.memoryBytes <= 0) {
        return fail("measure.host", "the system does not say how much memory it has", "/proc/meminfo, as Linux has it");
    }
    const std::string flags = entryOf("/proc/cpuinfo", "flags");
    const VectorWidth width = vectorWidth();
    host.vectorName = width.name;
    host.lanes = width.lanes;
    host.clock = clockByAdditions();
    host.vectorUnits =
        std::clamp(static_cast<int>(std::lround(multiplyAddRate() / (host.clock * 2.0 * host.lanes))), 1, 4);
    if (hasFlag(flags, "avx512_bf16")) host.bf16PerCycle = 4;
    if (hasFlag(flags, "avx512_vnni") || hasFlag(flags, "avx_vnni")) host.int8PerCycle = 8;
    host.caches = cachesOf(host.cores);
    Workers workers(static_cast<std::size_t>(host.cores));
    for (HostCache& cache : host.caches) {
        cache.bandwidth = streamRate(workers, 0.5 * cache.bytes * cache.count, stop);
    }
    const double outside = std::clamp(4 * host.lastCacheBytes(), 64e6, host.memoryBytes / 8);
    host.memoryBandwidth = streamRate(workers, outside, stop);
    if (stop.stop_requested()) return fail("study.cancelled", "the measurement was stopped");
    // Where the loops were disturbed, no cache may look slower than what is outside it.
    double floor = host.memoryBandwidth;
    for (auto cache = host.caches.rbegin(); cache != host.caches.rend(); ++cache) {
        floor = cache->bandwidth = std::max(cache->bandwidth, floor);
    }
    return host;
}

std::string hostDesign(const HostDescription& host, std::string_view date) {
    const auto rate = [](double bytesPerSecond) { return fmt::format("{:.4g} GB/s", bytesPerSecond / 1e9); };
    const auto quoted = [](std::string_view text) {
        std::string out = "\"";
        for (const char c : text) out.append(c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c));
        return out + "\"";
    };
    std::string out = fmt::format(
        "orrery: hardware/1\n"
        "name: {}\n"
        "group: CPU\n"
        "description: {}\n"
        "sources:\n"
        "  system: /proc and /sys of this machine, {}\n"
        "  measured: loops of orrery-cli measure on this machine, {}\n"
        "system:\n"
        "  children:\n"
        "    - kind: package\n"
        "      name: cpu\n"
        "      clock: {{value: {:.4g} GHz, source: measured, note: by dependent additions}}\n"
        "      platform: cpu\n"
        "      source: system\n"
        "      children:\n"
        "        - kind: dram\n"
        "          name: memory\n"
        "          capacity: {:.4g} GB\n"
        "          bandwidth: {{value: {}, source: measured, note: \"c = a + b by all cores\"}}\n"
        "          source: system\n",
        quoted(host.processor), quoted(fmt::format("{} cores as measured here", host.cores)), date, date,
        host.clock / 1e9, host.memoryBytes / 1e9, rate(host.memoryBandwidth));
    std::string inner;
    for (auto cache = host.caches.rbegin(); cache != host.caches.rend(); ++cache) {
        const bool own = cache->count == host.cores && host.cores > 1;
        std::string line = fmt::format("- {{kind: cache, name: l{}, capacity: {:.6g} KiB, bandwidth: {}", cache->level,
                                       cache->bytes / 1024, rate(cache->bandwidth / cache->count));
        if (!own && cache->count > 1) line += fmt::format(", count: {}", cache->count);
        line += ", source: measured}\n";
        if (own) {
            inner += "            " + line;
        } else {
            out += "        " + line;
        }
    }
    out += fmt::format(
        "        - kind: core\n"
        "          name: core\n"
        "          count: {}\n"
        "          source: system\n"
        "          children:\n"
        "{}"
        "            - kind: vector_unit\n"
        "              name: {}\n"
        "              count: {}\n"
        "              lanes: {}\n"
        "              flops: {{fp64: 1/cycle, fp32: 2/cycle",
        host.cores, inner, host.vectorName == "128 bit" ? "simd" : host.vectorName, host.vectorUnits, host.lanes);
    if (host.bf16PerCycle > 0) out += fmt::format(", bf16: {:g}/cycle", host.bf16PerCycle);
    if (host.int8PerCycle > 0) out += fmt::format(", int8: {:g}/cycle", host.int8PerCycle);
    out += "}\n              source: measured\n";
    return out;
}

HostLoad hostLoad() {
    HostLoad load;
    std::istringstream stream(readFile("/proc/loadavg").value_or(std::string()));
    stream >> load.running;
    load.governor = lineOf("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    return load;
}

Expected<void> refuseBusy(const HostLoad& load, std::int64_t cores) {
    if (load.running > 0.25) {
        return fail(
            "measure.busy",
            fmt::format("the machine is busy: {:.3g} threads ran in the last minute, on {} cores", load.running, cores),
            "a machine with nothing else to do",
            "wait until it is idle, or measure all the same with --busy-ok: rows then say how far they spread");
    }
    if (load.governor == "powersave" || load.governor == "conservative") {
        return fail("measure.busy",
                    fmt::format("the clock's governor is `{}`, so that it rises while it is measured", load.governor),
                    "`performance`", "set it (cpupower frequency-set -g performance), or give --busy-ok");
    }
    return {};
}

}  // namespace orrery
