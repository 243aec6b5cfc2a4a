// A machine in the option files that Accel-Sim and readMachine() take.

#include "methods/gpu/gpu_machine.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace orrery {

namespace {

using gpusim::Machine;
using gpusim::Unit;

std::string addressMapText(const Machine& m) {
    std::string text;
    for (int bit = 63; bit >= 0; --bit) {
        const std::uint64_t one = std::uint64_t{1} << bit;
        text += m.bankMask & one ? 'B' : m.rowMask & one ? 'R' : m.columnMask & one ? 'C' : bit < 5 ? 'S' : '0';
        if (bit % 8 == 0 && bit > 0) text += '.';
    }
    return text;
}

std::string mainOptions(const Machine& m) {
    std::string carve;
    for (const int bytes : m.sharedOptions) carve += fmt::format("{}{}", carve.empty() ? "" : ",", bytes / 1024);
    const auto& t = m.dram;
    std::string out = fmt::format(
        "# {} as Orrery drew it\n-gpgpu_kernel_launch_latency {}\n-gpgpu_TB_launch_latency {}\n-gpgpu_n_clusters {}\n"
        "-gpgpu_n_cores_per_cluster 1\n-gpgpu_n_mem {}\n-gpgpu_n_sub_partition_per_mchannel {}\n"
        "-gpgpu_clock_domains {}:{}:{}:{}\n-gpgpu_shader_core_pipeline {}:{}\n-gpgpu_shader_cta {}\n"
        "-gpgpu_shader_registers {}\n-gpgpu_shmem_size {}\n-gpgpu_num_sched_per_core {}\n-gpgpu_scheduler {}\n"
        "-gpgpu_operand_collector_num_units_gen {}\n-gpgpu_operand_collector_num_in_ports_gen {}\n"
        "-gpgpu_num_reg_banks {}\n-gpgpu_reg_file_port_throughput {}\n-gpgpu_inst_fetch_throughput {}\n",
        m.name, m.launchLatency, m.blockLaunchLatency, m.sms, m.channels, m.slicesPerChannel, m.coreMhz, m.networkMhz,
        m.l2Mhz, m.dramMhz, m.maxThreads, m.lanes, m.maxBlocks, m.registers, m.sharedBytes, m.schedulers,
        m.scheduler == gpusim::Scheduler::LooseRoundRobin ? "lrr" : "gto", m.collectors, m.collectorPorts,
        m.registerBanks, m.registerPasses, m.fetches);
    out += fmt::format(
        "-gpgpu_smem_latency {}\n-gpgpu_l1_latency {}\n-gpgpu_l1_banks {}\n"
        "-gpgpu_cache:dl1 S:{}:128:{},L:T:m:L:{},A:{}:{},{}:0,32\n-gpgpu_cache:dl2 "
        "S:{}:128:{},L:B:m:L:{},A:{}:{},{}:0,32\n"
        "-gpgpu_unified_l1d_size {}\n-gpgpu_adaptive_cache_config {}\n-gpgpu_shmem_option {}\n"
        "-gpgpu_flush_l1_cache {}\n-gpgpu_l1_cache_write_ratio {}\n-icnt_in_buffer_limit {}\n"
        "-gpgpu_n_cluster_ejection_buffer_size {}\n-gpgpu_l2_rop_latency {}\n-dram_latency {}\n"
        "-gpgpu_dram_partition_queues {}:{}:{}:{}\n-gpgpu_frfcfs_dram_sched_queue_size {}\n"
        "-gpgpu_dram_return_queue_size {}\n-gpgpu_dram_scheduler {}\n",
        m.sharedLatency, m.l1Latency, m.l1Banks, m.l1.sets, m.l1.ways, m.l1.indexing, m.l1.mshrs, m.l1.merges,
        m.l1.missQueue, m.l2.sets, m.l2.ways, m.l2.indexing, m.l2.mshrs, m.l2.merges, m.l2.missQueue,
        m.unifiedBytes / 1024, m.adaptiveL1 ? 1 : 0, carve, m.invalidatesL1 ? 1 : 0, m.l1DirtyPercent, m.networkBuffers,
        m.ejectionBuffers, m.ropLatency, m.dramLatency, m.toL2, m.toDram, m.fromDram, m.fromL2, m.dramQueue,
        m.dramReturnQueue, m.firstReadyFirst ? 1 : 0);
    const int buswidth = m.dram.burst == 1 ? 16 : 2;
    out += fmt::format(
        "-gpgpu_dram_buswidth {}\n-gpgpu_dram_burst_length {}\n-dram_data_command_freq_ratio {}\n"
        "-gpgpu_n_mem_per_ctrlr 1\n-dram_dual_bus_interface {}\n"
        "-gpgpu_dram_timing_opt "
        "nbk={}:CCD={}:RRD={}:RCD={}:RAS={}:RP={}:RC={}:CL={}:WL={}:CDLR={}:WR={}:nbkgrp={}:CCDL={}:RTPL={}\n"
        "-gpgpu_mem_addr_mapping dramid@{};{}\n-gpgpu_memory_partition_indexing {}\n-gpgpu_perf_sim_memcpy 1\n",
        buswidth, 32 / buswidth, 32 / buswidth / m.dram.burst, t.twoCommands ? 1 : 0, t.banks, t.ccd, t.rrd, t.rcd,
        t.ras, t.rp, t.rc, t.cl, t.wl, t.cdlr, t.wr, t.groups, t.ccdl, t.rtpl, m.channelBit, addressMapText(m),
        m.partitionIndexing);
    return out;
}

std::string traceOptions(const Machine& m) {
    const auto& of = [&](Unit unit) { return m.units[static_cast<std::size_t>(unit)]; };
    std::string out;
    const std::pair<const char*, Unit> classes[] = {
        {"int", Unit::Int}, {"sp", Unit::Sp}, {"dp", Unit::Dp}, {"sfu", Unit::Sfu}, {"tensor", Unit::Tensor}};
    for (const auto& [name, unit] : classes)
        out += fmt::format("-trace_opcode_latency_initiation_{} {},{}\n", name, of(unit).latency, of(unit).initiation);
    const char* names[] = {"BRA", "TEX", "TENSOR", "UDP"};
    for (int i = 0; i < 4; ++i) {
        const auto timing = of(static_cast<Unit>(static_cast<int>(Unit::Special1) + i));
        out +=
            fmt::format("-specialized_unit_{} {},{},{},{},{},{}\n-trace_opcode_latency_initiation_spec_op_{} {},{}\n",
                        i + 1, timing.present ? 1 : 0, m.unitsPerClass, timing.latency, m.unitsPerClass,
                        m.unitsPerClass, names[i], i + 1, timing.latency, timing.initiation);
    }
    return out;
}

std::string ownOptions(const Machine& m) {
    std::string out = fmt::format("-network_sectors_per_cycle {}\n-copies_bypass_l1 {}\n-permutes_banks {}\n",
                                  m.sectorsPerCycle, m.copiesBypassL1 ? 1 : 0, m.permutesBanks ? 1 : 0);
    if (m.modernCore) {
        out += fmt::format("-modern_core {}\n-core_pipes ", m.generation.name);
        for (const auto& [name, pipe] : gpusim::namedPipes)
            out += fmt::format("{},{},{};", name, (m.generation.*pipe).latency, (m.generation.*pipe).initiation);
        out += fmt::format("\n-core_tensor {},{}\n", m.generation.tensorLatency, m.generation.tensorMacs);
        const auto cache = [](const gpusim::GpuGeneration::LineCache& one) {
            return fmt::format("{},{},{}", one.bytes, one.ways, one.latency);
        };
        const auto& code = m.generation.code;
        const auto& constants = m.generation.constants;
        out += fmt::format("-core_code {},{},{},{},{}\n-core_constants {},{},{}\n-cold_code {}\n", cache(code.l0),
                           cache(code.l1), cache(code.shared), code.l2Latency, code.ahead, cache(constants.operands),
                           cache(constants.loads), constants.loadLatency, m.coldCode ? 1 : 0);
    }
    if (m.modernCore && m.generation.clusters.sms > 0) out += fmt::format("-core_gpc {}\n", m.generation.clusters.sms);
    if (m.lanes > 32) {
        out += fmt::format("-dies {}\n-last_level {},{},{}\n-issue_every {}\n-ordered_memory {}\n-whole_lines {}\n",
                           m.dies, m.lastLevel.bytes, m.lastLevel.latency, m.lastLevel.sectorsPerCycle, m.issueEvery,
                           m.ordersMemory ? 1 : 0, m.fillsLines ? 1 : 0);
    }
    if (m.opcodes.empty()) return out;
    out += "-opcode_latency_initiation ";
    for (const auto& one : m.opcodes) out += fmt::format("{},{},{};", one.prefix, one.latency, one.initiation);
    return out + "\n";
}

}  // namespace

Expected<bool> writeMachine(const gpusim::Machine& machine, const std::string& folder) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    const std::pair<const char*, std::string> files[] = {{"gpgpusim.config", mainOptions(machine)},
                                                         {"trace.config", traceOptions(machine)},
                                                         {"orrery.config", ownOptions(machine)}};
    for (const auto& [name, text] : files) {
        std::ofstream file(fs::path(folder) / name);
        file << text;
        if (!file.flush()) {
            return fail("gpu.export", fmt::format("`{}` cannot be written", (fs::path(folder) / name).string()), {},
                        "choose a folder that may be written");
        }
    }
    return true;
}

}  // namespace orrery
