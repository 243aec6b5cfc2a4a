#include "simulation/gpu/machine.h"

#include "base/hash.h"
#include "base/text/read_file.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace orrery::gpusim {

namespace {

struct Value {
    std::string text;
    Place place;
};

using Options = std::map<std::string, Value, std::less<>>;

bool isKey(std::string_view word) {
    return word.size() > 1 && word[0] == '-' && (std::isalpha(static_cast<unsigned char>(word[1])) || word[1] == '_');
}

// `-key value…` in any layout; `#` begins a remark; quotes hold a value over several lines.
void take(std::string_view text, const std::string& file, Options& options) {
    int line = 1;
    std::string key;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '\n') ++line;
        if (c == '#' && !quoted) {
            while (at < text.size() && text[at] != '\n') ++at;
            continue;
        }
        if (c == '"') {
            quoted = !quoted;
            ++at;
            continue;
        }
        if (std::isspace(static_cast<unsigned char>(c))) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && !std::isspace(static_cast<unsigned char>(text[end])) && text[end] != '"' &&
               text[end] != '#')
            ++end;
        const auto word = text.substr(at, end - at);
        at = end;
        if (!quoted && isKey(word)) {
            key = std::string(word.substr(1));
            options[key] = {"", {file, line, 0, {}}};
        } else if (!key.empty()) {
            auto& value = options[key].text;
            if (!value.empty() && !(quoted && value.back() == ':')) value += ' ';
            value += word;
        }
    }
}

class Reader {
public:
    explicit Reader(const Options& options) : options_(options) {}
    std::optional<Diagnostic> complaint;

    const Value* find(std::string_view key) const {
        const auto found = options_.find(key);
        return found == options_.end() ? nullptr : &found->second;
    }
    void complain(const Value& value, std::string_view key, std::string expected) {
        if (complaint) return;
        complaint = Diagnostic{.code = "gpu.config",
                               .message = fmt::format("-{} is '{}'", key, value.text),
                               .expected = std::move(expected),
                               .place = value.place};
    }
    double number(std::string_view key, double otherwise, double least, double most) {
        const auto* value = find(key);
        if (!value) return otherwise;
        const auto got = numberIn(value->text);
        if (!got || *got < least || *got > most) {
            complain(*value, key, fmt::format("a number from {} to {}", least, most));
            return otherwise;
        }
        return *got;
    }
    int whole(std::string_view key, int otherwise, int least = 0, int most = 1 << 20) {
        return static_cast<int>(number(key, otherwise, least, most));
    }
    // At least `count` numbers, each in the range.
    std::vector<double> list(std::string_view key, char mark, std::size_t count, double least = 0, double most = 1e9) {
        const auto* value = find(key);
        if (!value) return {};
        std::vector<double> out;
        for (const auto part : splitTrimmed(value->text, mark)) {
            const auto got = numberIn(part);
            if (!got || *got < least || *got > most) {
                complain(*value, key,
                         fmt::format("numbers from {:.10g} to {:.10g} with '{}' between them", least, most, mark));
                return {};
            }
            out.push_back(*got);
        }
        if (out.size() < count) {
            complain(*value, key, fmt::format("at least {} numbers", count));
            return {};
        }
        return out;
    }
    // `S:sets:line:ways,L:T:m:L:P,A:entries:merges,queue:…`
    CacheShape cache(std::string_view key) {
        CacheShape out;
        const auto* value = find(key);
        if (!value) return out;
        const auto parts = splitTrimmed(value->text, ',');
        const auto bad = [&] {
            complain(*value, key, "a cache such as S:4:128:64,L:T:m:L:L,A:256:32,16:0,32");
            return CacheShape{};
        };
        if (parts.size() < 4) return bad();
        const auto shape = split(parts[0], ':'), policy = split(parts[1], ':'), mshr = split(parts[2], ':'),
                   queue = split(parts[3], ':');
        if (shape.size() < 4 || policy.size() < 5 || mshr.size() < 3) return bad();
        const auto count = [&](std::string_view text, int& to, int most) {
            const auto got = wholeIn(text);
            if (!got || *got < 1 || *got > most) return false;
            to = static_cast<int>(*got);
            return true;
        };
        int line = 0;
        if (!count(shape[1], out.sets, 1 << 16) || !count(shape[2], line, 4096) || !count(shape[3], out.ways, 4096) ||
            !count(mshr[1], out.mshrs, 1 << 16) || !count(mshr[2], out.merges, 1 << 16) ||
            !count(queue[0], out.missQueue, 1 << 16))
            return bad();
        // What misses reads only while there is room for two: itself, and a line that is written back.
        if (out.missQueue < 2) {
            complain(*value, key, "a queue of misses of 2 or more: one for a miss, one for a line written back");
            return CacheShape{};
        }
        if (shape[0] != "S" || line != 128 || (policy[1] != "B" && policy[1] != "T") || policy[2] != "m" ||
            policy[3] != "L") {
            complain(*value, key,
                     "a sectored cache (S) with lines of 128 bytes, write-back or write-through (B, T), allocated on a "
                     "miss (m), written lazily (L)");
            return out;
        }
        if ((out.sets & (out.sets - 1)) != 0) {
            complain(*value, key, "a power of two of sets");
            return out;
        }
        out.writeBack = policy[1] == "B";
        out.indexing = policy[4].empty() ? 'L' : policy[4][0];
        if (out.indexing == 'P' && out.sets != 16 && out.sets != 32 && out.sets != 64)
            complain(*value, key, "16, 32 or 64 sets where they are hashed by a polynomial (P)");
        if (out.indexing != 'P' && out.indexing != 'X' && out.indexing != 'L')
            complain(*value, key, "an index function L, P or X");
        return out;
    }

private:
    const Options& options_;
};

void dramTiming(Reader& read, Machine& machine) {
    const auto* value = read.find("gpgpu_dram_timing_opt");
    if (!value) return;
    auto& t = machine.dram;
    const std::pair<std::string_view, int*> names[] = {
        {"nbk", &t.banks}, {"nbkgrp", &t.groups}, {"CCD", &t.ccd},   {"RRD", &t.rrd},  {"RCD", &t.rcd},
        {"RAS", &t.ras},   {"RP", &t.rp},         {"RC", &t.rc},     {"CL", &t.cl},    {"WL", &t.wl},
        {"CDLR", &t.cdlr}, {"WR", &t.wr},         {"CCDL", &t.ccdl}, {"RTPL", &t.rtpl}};
    for (const auto part : splitTrimmed(value->text, ':')) {
        if (part.empty()) continue;
        const auto equal = part.find('=');
        const auto found = std::find_if(std::begin(names), std::end(names),
                                        [&](const auto& one) { return one.first == trimmed(part.substr(0, equal)); });
        const auto got = equal == std::string_view::npos ? std::nullopt : wholeIn(trimmed(part.substr(equal + 1)));
        if (found == std::end(names) || !got || *got < 0 || *got > 100000)
            return read.complain(*value, "gpgpu_dram_timing_opt", "name=cycles with colons between, such as CL=12");
        *found->second = static_cast<int>(*got);
    }
    if (t.banks < 1 || t.banks > 64 || t.groups < 1 || t.groups > t.banks || (t.groups & (t.groups - 1)) != 0)
        return read.complain(*value, "gpgpu_dram_timing_opt", "1 to 64 banks in a power of two of groups");
    const int length = read.whole("gpgpu_dram_burst_length", 4, 1, 256),
              ratio = read.whole("dram_data_command_freq_ratio", 2, 1, 16);
    const int atom =
        length * read.whole("gpgpu_dram_buswidth", 4, 1, 256) * read.whole("gpgpu_n_mem_per_ctrlr", 1, 1, 16);
    if (atom != 32) return read.complain(*value, "gpgpu_dram_burst_length", "bus width × burst length of 32 bytes");
    t.burst = std::max(1, length / ratio);
    t.readToWrite = t.cl + t.burst + 2 - t.wl;
    t.writeToRead = t.wl + t.burst + t.cdlr;
    t.writeToPrecharge = t.wl + t.burst + t.wr;
    t.rowToWrite = t.rcd - (t.wl + 1);
    t.twoCommands = read.whole("dram_dual_bus_interface", 0) != 0;
}

void addressMap(Reader& read, Machine& machine) {
    const auto* value = read.find("gpgpu_mem_addr_mapping");
    if (!value) return;
    std::string_view text = value->text;
    const auto bad = [&] {
        read.complain(*value, "gpgpu_mem_addr_mapping", "dramid@8; and 64 of 0 R B C S, the highest bit first");
    };
    if (!text.starts_with("dramid@")) return bad();
    const auto end = text.find(';');
    if (end == std::string_view::npos) return bad();
    const auto bit = wholeIn(text.substr(7, end - 7));
    if (!bit || *bit < 5 || *bit > 20) return bad();
    machine.channelBit = static_cast<int>(*bit);
    std::string bits;
    for (const char c : text.substr(end + 1)) {
        if (c != '.' && c != '|' && c != ' ') bits += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    if (bits.size() != 64) return bad();
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint64_t one = std::uint64_t{1} << (63 - i);
        if (bits[i] == 'B')
            machine.bankMask |= one;
        else if (bits[i] == 'R')
            machine.rowMask |= one;
        else if (bits[i] == 'C')
            machine.columnMask |= one;
        else if (bits[i] != 'S' && bits[i] != '0')
            return bad();
    }
}

// Options of our own: caches of instructions and constants and the SMs of a GPC, in place of the generation's.
void codeCaches(Reader& read, Machine& m) {
    using Cache = GpuGeneration::LineCache;
    const auto cache = [](const std::vector<double>& all, std::size_t at) {
        return Cache{static_cast<int>(all[at]), std::max(1, static_cast<int>(all[at + 1])),
                     static_cast<int>(all[at + 2])};
    };
    const auto fits = [](const Cache& one, int line) { return one.bytes == 0 || one.bytes >= line * one.ways; };
    if (const auto all = read.list("core_code", ',', 11, 0, 1 << 24); all.size() >= 11) {
        const GpuGeneration::CodeCaches code{cache(all, 0), cache(all, 3), cache(all, 6), static_cast<int>(all[9]),
                                             static_cast<int>(all[10])};
        if (!fits(code.l0, 128) || !fits(code.l1, 128) || !fits(code.shared, 128) || code.ahead > 64 ||
            std::max({code.l0.ways, code.l1.ways, code.shared.ways}) > 64)
            return read.complain(*read.find("core_code"), "core_code",
                                 "caches of a line of 128 bytes and way at least, 64 ways and 64 lines ahead at most");
        m.askedCode = code;
    }
    if (const auto all = read.list("core_constants", ',', 7, 0, 1 << 24); all.size() >= 7) {
        const GpuGeneration::ConstantCaches constants{cache(all, 0), cache(all, 3), static_cast<int>(all[6])};
        if (!fits(constants.operands, 64) || !fits(constants.loads, 64) || constants.loadLatency > 200 ||
            std::max(constants.operands.latency, constants.loads.latency) > 500 ||
            std::max(constants.operands.ways, constants.loads.ways) > 64)
            return read.complain(*read.find("core_constants"), "core_constants",
                                 "caches of a line of 64 bytes and way at least, up to 64 ways; a miss up to 500 "
                                 "cycles, a load up to 200");
        m.askedConstants = constants;
    }
    m.coldCode = read.whole("cold_code", 0, 0, 1) != 0;
    if (read.find("core_gpc")) m.askedGpc = read.number("core_gpc", 1, 1, 256);
}

// Options of our own (orrery.config): the core of a drawn GPU.
void modernCore(Reader& read, Machine& m) {
    const auto* name = read.find("modern_core");
    if (!name) return;
    const GpuGeneration* generation = generationOf(name->text);
    if (!generation)
        return read.complain(*name, "modern_core", "a generation of presets/technology/gpu-generations.yaml");
    m.modernCore = true, m.generation = *generation,
    m.scheduler = generation->oldestFirst ? Scheduler::OldestFirst : Scheduler::GreedyThenYoungest;
    if (const auto* pipes = read.find("core_pipes")) {
        for (const auto part : splitTrimmed(pipes->text, ';')) {
            if (part.empty()) continue;
            const auto words = splitTrimmed(part, ',');
            const auto* found = std::find_if(namedPipes.begin(), namedPipes.end(),
                                             [&](const auto& one) { return one.first == words[0]; });
            const auto latency = words.size() == 3 ? wholeIn(words[1]) : std::nullopt,
                       initiation = words.size() == 3 ? wholeIn(words[2]) : std::nullopt;
            if (found == namedPipes.end() || !latency || !initiation || *latency < 1 || *latency > 512 ||
                *initiation < 1 || *initiation > 512)
                return read.complain(*pipes, "core_pipes", "PIPE,LATENCY,INITIATION;… in cycles up to 512");
            m.generation.*found->second = {static_cast<int>(*latency), static_cast<int>(*initiation)};
        }
    }
    if (const auto tensor = read.list("core_tensor", ',', 2); tensor.size() >= 2)
        m.generation.tensorLatency = static_cast<int>(tensor[0]), m.generation.tensorMacs = tensor[1];
}

int kilobytes(int value, int least) {
    return value < least ? value * 1024 : value;
}

}  // namespace

const OpcodeTiming* Machine::timingOf(std::string_view opcode) const {
    const OpcodeTiming* best = nullptr;
    for (const OpcodeTiming& one : opcodes) {
        if (opcode.starts_with(one.prefix) && (!best || one.prefix.size() > best->prefix.size())) best = &one;
    }
    return best;
}

Expected<MachineAnswer> readMachine(const MachineQuestion& question) {
    namespace fs = std::filesystem;
    Options options;
    const auto main = (fs::path(question.folder) / "gpgpusim.config").string();
    auto text = readFile(main, {.most = 1 << 20, .code = "gpu.config", .hint = "a folder with gpgpusim.config"});
    if (!text) return tl::unexpected(text.error());
    take(*text, main, options);
    MachineAnswer out;
    const auto trace = (fs::path(question.folder) / "trace.config").string();
    if (auto more = readFile(trace, {.most = 1 << 20, .code = "gpu.config"}))
        take(*more, trace, options);
    else
        out.warnings.push_back(warning("gpu.config", "no trace.config: units have a latency of 1",
                                       "copy the setting's trace.config beside gpgpusim.config", {main, 0, 0, {}}));
    // Options that Accel-Sim does not know stand apart, so that it can read the rest.
    const auto own = (fs::path(question.folder) / "orrery.config").string();
    if (auto more = readFile(own, {.most = 1 << 20, .code = "gpu.config"})) take(*more, own, options);
    std::string extra;
    for (const auto& word : question.options) extra += word + " ";
    take(extra, "--option", options);

    Machine& m = out.machine;
    Reader read(options);
    m.name = fs::path(question.folder).lexically_normal().filename().string();
    if (m.name.empty()) m.name = fs::path(question.folder).lexically_normal().parent_path().filename().string();
    if (const auto clocks = read.list("gpgpu_clock_domains", ':', 4); clocks.size() >= 4) {
        m.coreMhz = clocks[0], m.networkMhz = clocks[1], m.l2Mhz = clocks[2], m.dramMhz = clocks[3];
    }
    m.launchLatency = read.whole("gpgpu_kernel_launch_latency", 0, 0, 1 << 30);
    m.blockLaunchLatency = read.whole("gpgpu_TB_launch_latency", 0);
    if (read.whole("gpgpu_concurrent_kernel_sm", 0) != 0)
        m.concurrentKernels = read.whole("gpgpu_max_concurrent_kernel", 32, 1, 128);
    m.sms = read.whole("gpgpu_n_clusters", 0, 1, 4096) * read.whole("gpgpu_n_cores_per_cluster", 1, 1, 64);
    m.channels = read.whole("gpgpu_n_mem", 0, 1, 1024);
    m.slicesPerChannel = read.whole("gpgpu_n_sub_partition_per_mchannel", 1, 1, 64);
    if (const auto threads = read.list("gpgpu_shader_core_pipeline", ':', 1); !threads.empty()) {
        m.maxThreads = static_cast<int>(threads[0]);
        if (threads.size() > 1 && threads[1] == 64) m.lanes = 64;
    }
    m.dies = read.whole("dies", 1, 1, 64);
    if (m.dies > 1 && m.concurrentKernels > 1) {
        m.concurrentKernels = 1;
        out.warnings.push_back(warning("gpu.config",
                                       "kernels run one at a time: between two, the L2 of every die is emptied",
                                       "leave -gpgpu_concurrent_kernel_sm out", {main, 0, 0, {}}));
    }
    if (const auto cache = read.list("last_level", ',', 3); cache.size() >= 3) {
        m.lastLevel = {cache[0], static_cast<int>(cache[1]), std::max(1, static_cast<int>(cache[2]))};
    }
    m.issueEvery = read.whole("issue_every", 1, 1, 16);
    m.ordersMemory = read.whole("ordered_memory", 0) != 0, m.fillsLines = read.whole("whole_lines", 0) != 0;
    m.maxBlocks = read.whole("gpgpu_shader_cta", 32, 1, 64);
    m.registers = read.whole("gpgpu_shader_registers", 65536, 1, 1 << 24);
    m.sharedBytes = read.whole("gpgpu_shmem_size", 0, 0, 1 << 24);
    m.schedulers = read.whole("gpgpu_num_sched_per_core", 4, 1, 16);
    m.collectors = read.whole("gpgpu_operand_collector_num_units_gen", 8, 1, 64);
    m.collectorPorts = read.whole("gpgpu_operand_collector_num_in_ports_gen", 8, 1, 64);
    m.registerBanks = read.whole("gpgpu_num_reg_banks", 8, 1, 64);
    m.registerPasses = read.whole("gpgpu_reg_file_port_throughput", 1, 1, 8);
    m.fetches = read.whole("gpgpu_inst_fetch_throughput", 1, 1, 16);
    if (const auto* value = read.find("gpgpu_scheduler")) {
        const std::string_view word = value->text;
        if (word == "lrr")
            m.scheduler = Scheduler::LooseRoundRobin;
        else if (word == "gto")
            m.scheduler = Scheduler::GreedyThenOldest;
        else if (word.starts_with("two_level_active")) {
            m.scheduler = Scheduler::TwoLevel;
            out.warnings.push_back(warning("gpu.config", "two_level_active is run as lrr: all warps are active",
                                           "choose lrr, gto or oldest", {main, 0, 0, {}}));
        } else if (word == "old" || word == "oldest")
            m.scheduler = Scheduler::OldestFirst;
        else if (word == "rrr") {
            // Strict turns, an idle warp's cycle included: the loose form is the nearest that this core has.
            m.scheduler = Scheduler::LooseRoundRobin;
            out.warnings.push_back(warning("gpu.config", "rrr is run as lrr: a warp that cannot issue loses its turn",
                                           "choose lrr, gto or oldest", {main, 0, 0, {}}));
        } else
            read.complain(*value, "gpgpu_scheduler", "lrr, gto, two_level_active or oldest");
    }
    const auto timing = [&](std::string_view key, Unit unit) {
        const auto got = read.list(key, ',', 2);
        auto& to = m.units[static_cast<std::size_t>(unit)];
        if (got.size() < 2) return;
        to.latency = static_cast<int>(got[0]), to.initiation = static_cast<int>(got[1]);
        if (to.latency < 1 || to.latency > 500 || to.initiation < 1 || to.initiation > to.latency)
            read.complain(*read.find(key), key,
                          "latency,initiation in cycles: latency up to 500, initiation not above it");
    };
    timing("trace_opcode_latency_initiation_sp", Unit::Sp);
    timing("trace_opcode_latency_initiation_int", Unit::Int);
    timing("trace_opcode_latency_initiation_dp", Unit::Dp);
    timing("trace_opcode_latency_initiation_sfu", Unit::Sfu);
    timing("trace_opcode_latency_initiation_tensor", Unit::Tensor);
    for (int i = 0; i < 4; ++i) {
        const auto unit = static_cast<Unit>(static_cast<int>(Unit::Special1) + i);
        timing(fmt::format("trace_opcode_latency_initiation_spec_op_{}", i + 1), unit);
        const auto* value = read.find(fmt::format("specialized_unit_{}", i + 1));
        m.units[static_cast<std::size_t>(unit)].present = value && value->text.starts_with('1');
    }
    if (const auto* value = read.find("opcode_latency_initiation")) {
        for (const auto part : splitTrimmed(value->text, ';')) {
            if (part.empty()) continue;
            const auto words = splitTrimmed(part, ',');
            const auto latency = words.size() == 3 ? wholeIn(words[1]) : std::nullopt,
                       initiation = words.size() == 3 ? wholeIn(words[2]) : std::nullopt;
            if (!latency || !initiation || *latency < 1 || *latency > 900 || *initiation < 1 || *initiation > 900)
                read.complain(*value, "opcode_latency_initiation", "PREFIX,LATENCY,INITIATION;… in cycles up to 900");
            else
                m.opcodes.push_back({std::string(words[0]), static_cast<int>(*latency), static_cast<int>(*initiation)});
        }
    }
    Hash all;
    for (const auto& [key, value] : options) all.add(key).add(value.text);
    m.origin = all.hex();
    codeCaches(read, m);
    modernCore(read, m);
    if (m.askedCode) m.generation.code = *m.askedCode;
    if (m.askedConstants) m.generation.constants = *m.askedConstants;
    if (m.askedGpc && m.generation.clusters.sms > 0) m.generation.clusters.sms = *m.askedGpc;
    m.sharedLatency = read.whole("gpgpu_smem_latency", 3, 1, 4096);
    m.l1Latency = read.whole("gpgpu_l1_latency", 1, 1, 4096);
    m.l1Banks = read.whole("gpgpu_l1_banks", 1, 1, 64);
    m.l1 = read.cache("gpgpu_cache:dl1");
    m.l2 = read.cache("gpgpu_cache:dl2");
    m.unifiedBytes = read.whole("gpgpu_unified_l1d_size", 0) * 1024;
    m.adaptiveL1 = read.whole("gpgpu_adaptive_cache_config", 0) != 0;
    for (const double option : read.list("gpgpu_shmem_option", ',', 1))
        m.sharedOptions.push_back(kilobytes(static_cast<int>(option), 4096));
    std::sort(m.sharedOptions.begin(), m.sharedOptions.end());
    m.invalidatesL1 = read.whole("gpgpu_flush_l1_cache", 0) != 0;
    m.skipsL1 = read.whole("gpgpu_gmem_skip_L1D", 0) != 0;
    m.l1DirtyPercent = read.number("gpgpu_l1_cache_write_ratio", 0, 0, 100);
    m.copiesBypassL1 = read.whole("copies_bypass_l1", 0) != 0;
    m.permutesBanks = read.whole("permutes_banks", 0) != 0;
    m.sectorsPerCycle = read.whole("network_sectors_per_cycle", 1, 1, 8);
    m.networkBuffers = read.whole("icnt_in_buffer_limit", 64, 1);
    m.ejectionBuffers = read.whole("gpgpu_n_cluster_ejection_buffer_size", 8, 1);
    m.ropLatency = read.whole("gpgpu_l2_rop_latency", 0);
    m.dramLatency = read.whole("dram_latency", 0);
    if (const auto queues = read.list("gpgpu_dram_partition_queues", ':', 4, 1, 1 << 20); queues.size() >= 4) {
        m.toL2 = static_cast<int>(queues[0]), m.toDram = static_cast<int>(queues[1]);
        m.fromDram = static_cast<int>(queues[2]), m.fromL2 = static_cast<int>(queues[3]);
    }
    m.dramQueue = read.whole("gpgpu_frfcfs_dram_sched_queue_size", 64);
    m.dramReturnQueue = read.whole("gpgpu_dram_return_queue_size", 192);
    if (m.dramReturnQueue == 0) m.dramReturnQueue = 1024;
    m.firstReadyFirst = read.whole("gpgpu_dram_scheduler", 1) != 0;
    dramTiming(read, m);
    addressMap(read, m);
    m.partitionIndexing = read.whole("gpgpu_memory_partition_indexing", 0);
    m.warmsByCopies = read.whole("gpgpu_perf_sim_memcpy", 1) != 0;
    m.idealMemory = read.whole("gpgpu_perfect_mem", 0) != 0;
    if (read.complaint) return tl::unexpected(*read.complaint);

    const auto refuse = [&](std::string message, std::string expected) {
        return fail("gpu.config", std::move(message), std::move(expected), {}, {main, 0, 0, {}});
    };
    if (m.sms < 1 || m.channels < 1 || m.coreMhz <= 0 || m.networkMhz <= 0 || m.l2Mhz <= 0 || m.dramMhz <= 0)
        return refuse("a machine without SMs, channels or clocks",
                      "-gpgpu_n_clusters, -gpgpu_n_mem and -gpgpu_clock_domains");
    if (m.bankMask == 0) return refuse("no address map", "-gpgpu_mem_addr_mapping dramid@8;…");
    if (m.slicesPerChannel % m.dies != 0)
        return refuse("slices per channel that are not shared out evenly over the dies", "-dies that divide them");
    if (m.maxThreads < m.lanes || m.maxThreads > 2048)
        return refuse("SMs without threads", "-gpgpu_shader_core_pipeline 2048:32");
    if (m.schedulers > 8 || m.collectors % m.schedulers != 0 || m.registerBanks % m.schedulers != 0)
        return refuse("operand collectors and register banks are not shared out evenly over the schedulers",
                      "at most 8 schedulers; multiples of their number");
    const int slices = m.slices();
    if (m.partitionIndexing == 2 && slices != 16 && slices != 32 && slices != 64)
        return refuse(fmt::format("{} slices cannot be hashed by a polynomial", slices), "16, 32 or 64 slices");
    if (m.partitionIndexing != 0 && m.partitionIndexing != 2)
        return refuse("an unknown -gpgpu_memory_partition_indexing", "0 (plain) or 2 (polynomial)");
    if ((m.slicesPerDie() & (m.slicesPerDie() - 1)) != 0) return refuse("slices per channel", "a power of two");
    return out;
}

}  // namespace orrery::gpusim
