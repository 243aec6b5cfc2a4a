#include "methods/gpu/gpu_machine.h"

#include "base/unit.h"
#include "simulation/gpu/code_path.h"
#include "simulation/gpu/hardware_setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using gpusim::Machine;
using gpusim::MultiplyForm;
using gpusim::Unit;

constexpr double sector = 32;
constexpr int mostTiming = 900;  // cycles that the simulator's wheel of results holds

int wholeAtLeast(double value, int least) {
    return std::max(least, static_cast<int>(std::lround(value)));
}

// Multiply-accumulates of one sub-core in a cycle.
double tensorRate(const GpuView& gpu, DType type) {
    return gpu.tensorOpsPerCycle(type) / 2 / gpu.subCores;
}
double vectorRate(const GpuView& gpu, DType type) {
    return gpu.vectorOpsPerCycle(type) / 2 / gpu.subCores;
}

struct TensorName {
    DType type;
    const char* warp;    // opcode of one warp's instruction
    const char* group;   // start of a warp group's
    const char* suffix;  // after its shape
};
// One wavefront's; k is 256 bits of both operands as of a warp's.
struct MatrixName {
    DType type;
    const char* opcode;
    int steps;
};
constexpr MatrixName matrixNames[] = {
    {DType::F16, "v_mfma_f32_16x16x16_f16", 1},  {DType::BF16, "v_mfma_f32_16x16x16_bf16", 1},
    {DType::TF32, "v_mfma_f32_16x16x8_xf32", 1}, {DType::F32, "v_mfma_f32_16x16x4_f32", 2},
    {DType::F64, "v_mfma_f64_16x16x4_f64", 1},   {DType::FP8, "v_mfma_f32_16x16x32_fp8_fp8", 1},
    {DType::I8, "v_mfma_i32_16x16x32_i8", 1}};

constexpr TensorName tensorNames[] = {{DType::F16, "HMMA.16816.F32", "HGMMA", ".F32"},
                                      {DType::BF16, "HMMA.16816.F32.BF16", "HGMMA", ".F32.BF16"},
                                      {DType::TF32, "HMMA.1688.F32.TF32", "HGMMA", ".F32.TF32"},
                                      {DType::FP8, "QMMA.16832.F32.E4M3", "QGMMA", ".F32.E4M3"},
                                      {DType::FP6, "QMMA.16832.F32.E3M2", "QGMMA", ".F32.E3M2"},
                                      {DType::FP4, "QMMA.16864.F32.E2M1", "QGMMA", ".F32.E2M1"},
                                      {DType::I8, "IMMA.16832.S8.S8", "IGMMA", ".S8.S8"},
                                      {DType::I4, "IMMA.16864.S4.S4", "IGMMA", ".S4.S4"},
                                      {DType::F64, "DMMA.884", nullptr, ""}};

const TensorName* tensorName(DType type) {
    const auto* found =
        std::find_if(std::begin(tensorNames), std::end(tensorNames), [&](const auto& one) { return one.type == type; });
    return found == std::end(tensorNames) ? nullptr : found;
}

// The type in which the device's tensor units compute another: fp32 as tf32 only where that is asked for by type.
DType tensorType(const GpuView& gpu, DType type) {
    if (gpu.tensorPeak(type) > 0) return type;
    for (const DType other : {DType::FP8, DType::F16, DType::BF16, DType::I8}) {
        const bool narrow = bits(type) < 16 && type != DType::I8 && type != DType::I4;
        const bool integer = other == DType::I8 && type == DType::I4;
        if (((narrow && other != DType::I8) || integer) && gpu.tensorPeak(other) > 0) return other;
    }
    return type;
}

void dramOf(const GpuView& gpu, Machine& m) {
    const bool stacked = gpu.dramTiming.starts_with("HBM") || (gpu.dramTiming.empty() && gpu.dramBandwidth > 1.3e12);
    // Channels of about 1 GHz (a sector per command cycle, HBM) or 3.5 GHz (one per four, GDDR).
    const double own = stacked ? sector * 1.0e9 : sector / 4 * 3.5e9;
    m.channels = channelsNear(gpu.dramBandwidth / own);
    auto& t = m.dram;
    if (stacked) {
        // QV100's HBM2 in nanoseconds (its setting: cycles of 850 MHz).
        m.dramMhz = gpu.dramBandwidth / (sector * m.channels) / 1e6;
        const auto ns = [&](double cycles) {
            return std::max(1, static_cast<int>(std::ceil(cycles / 850 * m.dramMhz)));
        };
        t.ccd = 1, t.ccdl = 2, t.rrd = ns(3), t.rcd = ns(12), t.rp = ns(12), t.ras = ns(28), t.rc = ns(40);
        t.cl = ns(12), t.wl = ns(2), t.cdlr = ns(3), t.wr = ns(10), t.rtpl = ns(3);
        t.burst = 1, t.twoCommands = true;
    } else {
        m.dramMhz = 4 * gpu.dramBandwidth / (sector * m.channels) / 1e6;
        t.ccd = 4, t.ccdl = 6, t.rrd = 12, t.rcd = 24, t.rp = 24, t.ras = 55, t.rc = 78;
        t.cl = 24, t.wl = 8, t.cdlr = 10, t.wr = 24, t.rtpl = 4;
        t.burst = 4, t.twoCommands = false;
    }
    t.banks = 16, t.groups = 4;
    t.readToWrite = t.cl + t.burst + 2 - t.wl;
    t.writeToRead = t.wl + t.burst + t.cdlr;
    t.writeToPrecharge = t.wl + t.burst + t.wr;
    t.rowToWrite = t.rcd - (t.wl + 1);
    m.channelBit = 8;
    m.bankMask = 0x7080, m.columnMask = 0xf60, m.rowMask = 0x7ffff8000;  // R…BBB CCCCB CCSSSSS
}

// The drawing's own numbers in place of its generation's: rates of units, distances.
void drawnNumbers(const GpuView& gpu, gpusim::GpuGeneration& g) {
    const auto every = [](double lanesOfWarp, double rate, int otherwise) {
        return rate > 0 ? std::clamp(static_cast<int>(std::lround(lanesOfWarp / rate)), 1, 64) : otherwise;
    };
    const double warp = g.lanes, lanes = gpu.vectorLanes / gpu.subCores;
    // A wavefront's fp32 and integers go through the lanes once; its rates also count packed instructions.
    const bool packs = g.lanes > 32 && lanes > 0;
    g.fp32.initiation = every(warp, packs ? lanes : vectorRate(gpu, DType::F32), g.fp32.initiation);
    g.alu.initiation = every(warp, packs ? lanes : vectorRate(gpu, DType::I32), g.alu.initiation);
    g.fp64.initiation = every(warp, vectorRate(gpu, DType::F64), g.fp64.initiation);
    g.half.initiation = every(2 * warp, vectorRate(gpu, DType::F16), g.half.initiation);
    const double tensor = std::max(tensorRate(gpu, DType::F16), tensorRate(gpu, DType::BF16));
    if (tensor > 0) g.tensorMacs = tensor;
    // A drawn size keeps lines, ways and distance of the generation's cache.
    const auto cache = [](double bytes, int line, gpusim::GpuGeneration::LineCache& to) {
        if (bytes <= 0) return;
        to.bytes = wholeAtLeast(bytes, line);
        to.ways = std::min(std::max(1, to.ways), to.bytes / line);
    };
    if (g.code.l0.bytes > 0)
        cache(gpu.instructionL0, gpusim::CodePath::lineBytes, g.code.l0),
            cache(gpu.instructionL1, gpusim::CodePath::lineBytes, g.code.l1);
    if (g.clusters.sms > 0 && gpu.gpcCores > 0) g.clusters.sms = gpu.gpcCores;
    if (g.constants.loads.bytes > 0) cache(gpu.constantCache, gpusim::CodePath::constantLine, g.constants.loads);
    const auto distance = [&](double seconds, gpusim::GpuGeneration::Distance& to) {
        if (seconds > 0) to = {seconds * gpu.clock, 0};
    };
    distance(gpu.sharedLatency, g.shared), distance(gpu.l2Latency, g.l2), distance(gpu.dramLatency, g.dram);
}

// The next cache inside the outermost one, where dies have one each: the L2 of MI300X, behind which its Infinity Cache
// stands.
const MemoryLevel* cacheOfDies(const GpuView& gpu) {
    bool outer = false;
    for (const MemoryLevel& level : gpu.device.levels) {
        if (level.kind != ComponentKind::Cache || static_cast<double>(level.instances) >= gpu.sms) continue;
        if (outer) return &level;
        outer = true;
    }
    return nullptr;
}

void l2Of(const GpuView& gpu, const gpusim::GpuGeneration& g, Machine& m, std::vector<std::string>& said) {
    // Of two caches that all multiprocessors reach, the inner one is L2 and the other stands in front of memory.
    const MemoryLevel* inner = cacheOfDies(gpu);
    const bool two = inner != nullptr;
    const double bandwidth = two ? inner->bandwidth.value : gpu.l2Bandwidth,
                 capacity = two ? inner->capacity.value : gpu.l2Bytes;
    m.dies = std::clamp(wholeAtLeast(two            ? static_cast<double>(inner->instances)
                                     : g.lanes > 32 ? gpu.l2Slices
                                                    : 1,
                                     1),
                        1, m.sms);
    if (two) {
        m.lastLevel.bytes = gpu.l2Bytes;
        const double own = sector * m.channels * m.dramMhz * 1e6;
        m.lastLevel.sectorsPerCycle = std::clamp(wholeAtLeast(gpu.l2Bandwidth / own, 1), 1, 8);
        said.push_back(
            fmt::format("{} dies with an L2 of their own take blocks in turn; behind them a cache of {:.0f} MB", m.dies,
                        gpu.l2Bytes / 1e6));
    }
    const double bytesPerCycle = bandwidth > 0 ? bandwidth / (m.coreMhz * 1e6) : g.l2Bytes * gpu.sms;
    if (bandwidth <= 0) {
        said.push_back(
            fmt::format("L2 gives {:g} B per cycle and multiprocessor, that of its generation: the drawing "
                        "has no bandwidth",
                        g.l2Bytes));
    }
    // A multiprocessor's port is 64 B, or wider where all of them together were measured at more.
    while (m.sectorsPerCycle < 8 && sector * m.sectorsPerCycle * m.sms < bytesPerCycle) m.sectorsPerCycle *= 2;
    m.slicesPerChannel = 1;
    while (m.slicesPerChannel < 4 && bytesPerCycle / sector > 1.4 * m.dies * m.slicesPerChannel * m.channels)
        m.slicesPerChannel *= 2;
    m.slicesPerChannel *= m.dies;
    m.l2Mhz = bytesPerCycle * m.coreMhz / (sector * m.slices());
    const double slice = std::max(capacity, 64.0 * 1024) / m.slices();
    int sets = 1;
    while (sets * 2 * 128 * 16 <= slice && sets < 1024) sets *= 2;
    m.l2 = {.sets = sets,
            .ways = std::max(1, static_cast<int>(slice / (128.0 * sets))),
            .mshrs = 192,
            .merges = 256,  // Accel-Sim's four make a slice wait where many blocks ask for one line
            .missQueue = 32,
            .writeBack = true,
            .indexing = 'X'};
}

}  // namespace

int channelsNear(double wanted) {
    const auto isPrime = [](int n) {
        for (int d = 2; d * d <= n; ++d) {
            if (n % d == 0) return false;
        }
        return true;
    };
    int n = std::clamp(static_cast<int>(wanted), 11, 509);
    while (!isPrime(n)) --n;
    return n;
}

gpusim::MultiplyForm multiplyForm(const GpuView& gpu, const gpusim::GpuGeneration& generation, DType type,
                                  bool groups) {
    MultiplyForm form;
    const DType as = tensorType(gpu, type);
    if (generation.lanes > 32) {
        const auto* own = std::find_if(std::begin(matrixNames), std::end(matrixNames),
                                       [&](const auto& one) { return one.type == as; });
        if (own != std::end(matrixNames) && gpu.tensorPeak(as) > 0) {
            form.kind = MultiplyForm::Kind::Warp, form.opcode = own->opcode, form.steps = own->steps;
            form.m = form.n = 16, form.k = 256 / bits(as);
            return form;
        }
        if (type == DType::F32) form.opcode = "v_pk_fma_f32", form.perLane = 2;
    }
    const TensorName* name = generation.lanes > 32 ? nullptr : tensorName(as);
    if (!name || gpu.tensorPeak(as) <= 0) {
        if (type == DType::F64) {
            form.opcode = "DFMA";
        } else if (bits(type) == 16 && gpu.vectorPeak(type) > 1.5 * gpu.vectorPeak(DType::F32)) {
            form.opcode = "HFMA2", form.perLane = 2;
        } else if (bits(type) <= 8 || type == DType::I16 || type == DType::I32) {
            form.opcode = type == DType::I8 ? "IDP.4A.S8.S8" : "IMAD", form.perLane = type == DType::I8 ? 4 : 1;
        }
        return form;
    }
    if (groups && generation.groups && name->group) {
        form.kind = MultiplyForm::Kind::Group;
        form.opcode = name->group, form.suffix = name->suffix;
        form.m = 64, form.k = 256 / std::max(4, bits(as));
        return form;
    }
    form.kind = MultiplyForm::Kind::Warp;
    form.opcode = name->warp;
    form.m = 16, form.n = 8, form.k = 256 / std::max(4, bits(as));
    if (as == DType::F64) {
        form.m = 8, form.n = 8, form.k = 4;
    } else if (generation.computeCapability < 75) {
        form.opcode = "HMMA.884.F32.F32";
        form.n = 16, form.k = 4, form.steps = 4;
    } else if (generation.computeCapability < 80) {
        form.opcode = as == DType::I8 ? "IMMA.8816.S8.S8" : "HMMA.1688.F32";
        form.k = 8;
        if (as == DType::I8) form.m = 8, form.k = 16;
    }
    return form;
}

Expected<DrawnMachine> machineOf(const GpuView& gpu) {
    if (gpu.warpSize != 32 && gpu.warpSize != 64) {
        return fail("method.not-applicable",
                    fmt::format("`{}` has warps of {} threads; instructions of its kind are not known", gpu.device.name,
                                gpu.warpSize),
                    "a GPU with warps of 32 threads or wavefronts of 64", "choose interval-analysis");
    }
    if (gpu.dramBandwidth <= 0 || gpu.sms < 1 || gpu.clock <= 0 || gpu.vectorPeak(DType::F32) <= 0) {
        return fail("hardware.missing-attribute",
                    fmt::format("`{}` lacks what cycles are counted with", gpu.device.name),
                    "multiprocessors with vector units for fp32, a clock and a main memory with a bandwidth",
                    "complete the design", Place{{}, 0, 0, gpu.device.path});
    }
    auto generation = generationOf(gpu);
    if (!generation) return Unexpected(generation.error());
    DrawnMachine out;
    gpusim::GpuGeneration& g = out.generation;
    g = *generation;
    drawnNumbers(gpu, g);
    Machine& m = out.machine;
    m.name = gpu.device.name;
    m.coreMhz = m.networkMhz = gpu.clock / 1e6;
    m.sms = wholeAtLeast(gpu.sms, 1);
    m.maxThreads = std::clamp(wholeAtLeast(g.lanes * gpu.warpsPerSm, g.lanes), g.lanes, 2048);
    m.maxBlocks = 32;
    m.registers = gpu.registerBytes > 0 ? wholeAtLeast(gpu.registerBytes / 4, 1024) : 65536;
    m.sharedBytes = gpu.sharedBytes > 0 ? wholeAtLeast(gpu.sharedBytes, 1024) : g.carveBytes.back();
    m.schedulers = std::clamp(wholeAtLeast(gpu.subCores, 1), 1, 8);
    m.unitsPerClass = m.schedulers;
    // The modern core has none; memory instructions pass them at once.
    m.collectors = m.collectorPorts = m.registerBanks = 2 * m.schedulers;
    m.registerPasses = 2, m.fetches = m.schedulers;
    m.sharedOptions = g.carveBytes;
    m.unifiedBytes = std::max(g.unifiedBytes, m.sharedBytes + 16 * 1024);
    // L1 beside shared memory, not in it.
    if (g.lanes > 32)
        m.unifiedBytes = g.unifiedBytes - g.carveBytes.back() + m.sharedBytes, m.sharedOptions = {m.sharedBytes};
    m.l1 = {.sets = 4, .ways = m.unifiedBytes / 512, .mshrs = 512, .merges = 64, .missQueue = 16};
    m.l1DirtyPercent = 25;
    m.l1.indexing = 'X';
    if (g.lanes > 32) m.l1.missQueue = 64;  // lines come four sectors at a time
    m.copiesBypassL1 = m.permutesBanks = true;
    m.sectorsPerCycle = 2;
    m.networkBuffers = 512;
    l2Of(gpu, g, (dramOf(gpu, m), m), out.assumptions);
    useHardwareSetting(m, g);
    m.launchLatency = 0;
    // An instruction holds its sub-core's tensor unit for its multiplications; a group's also reads shared memory.
    const double shared = gpu.sharedBandwidth > 0 ? gpu.sharedBandwidth / gpu.clock : 128;
    for (const MatrixName& name : matrixNames) {
        const double rate = g.lanes > 32 ? tensorRate(gpu, name.type) : 0;
        if (rate <= 0) continue;
        const int initiation = std::clamp(
            static_cast<int>(std::lround(16.0 * 16 * 256 / bits(name.type) / name.steps / rate)), 1, mostTiming);
        m.opcodes.push_back({name.opcode, std::clamp(g.tensorLatency, initiation, mostTiming), initiation});
    }
    for (const TensorName& name : tensorNames) {
        if (g.lanes > 32) break;
        const double rate = tensorRate(gpu, name.type);
        if (rate <= 0) continue;
        const auto add = [&](std::string opcode, double macs, double bytes, int latency) {
            const int initiation =
                std::clamp(static_cast<int>(std::lround(std::max(macs / rate, bytes / shared))), 1, mostTiming);
            m.opcodes.push_back({std::move(opcode), std::clamp(latency, initiation, mostTiming), initiation});
        };
        const MultiplyForm warp = multiplyForm(gpu, g, name.type, false);
        add(warp.opcode, static_cast<double>(warp.m) * warp.n * warp.k / warp.steps, 0, g.tensorLatency);
        const MultiplyForm group = multiplyForm(gpu, g, name.type, true);
        if (group.kind != MultiplyForm::Kind::Group) continue;
        for (int n = 8; n <= 256; n += 8) {
            const double width = bits(name.type) / 8.0;
            // An instruction of more than 64 rows reads the columns once for all of them.
            add(fmt::format("{}.64x{}x{}{}", group.opcode, n, group.k, group.suffix), 16.0 * n * group.k,
                (64.0 + 64.0 * n / g.groupRows) * group.k * width, 0);
        }
    }
    out.assumptions.push_back(fmt::format(
        "Generation `{}` by its warps and the types of its tensor units: latencies that the drawing lacks are that "
        "generation's (presets/technology/gpu-generations.yaml)",
        g.name));
    out.assumptions.push_back(
        fmt::format("Main memory as {} channels of {:.0f} MHz, L2 as {} slices; a multiprocessor "
                    "takes {:.0f} B per cycle from L2",
                    m.channels, m.dramMhz, m.slices(), sector * m.sectorsPerCycle));
    return out;
}

}  // namespace orrery
