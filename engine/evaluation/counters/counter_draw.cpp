// Kernels by seed, and what our own simulators count of them.

#include "base/random.h"
#include "evaluation/counters/counter_model.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/gpu_view.h"
#include "methods/gpu/gpu_represented.h"
#include "workload/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace orrery {

namespace {

constexpr double mostOperations = 0x1p36, mostInstructions = 4e5;  // warp instructions of a kernel that runs whole
constexpr int tries = 40;
constexpr double sectorBytes = 32;

struct Device {
    std::string id;
    GpuView gpu;
    DrawnMachine drawn;
};

// From `low` to `high`, even in the logarithm; half of them multiples of 16.
std::int64_t extentIn(RandomStream& random, double low, double high) {
    const double value = std::exp2(std::log2(low) + random.uniform() * std::log2(high / low));
    const auto whole = static_cast<std::int64_t>(std::llround(value));
    return std::max<std::int64_t>(1, random.uniform() < 0.5 && whole > 16 ? whole / 16 * 16 : whole);
}

std::string drawnSource(RandomStream& random) {
    const double kind = random.uniform();
    const char* type = random.uniform() < 0.6 ? "fp16" : random.uniform() < 0.5 ? "bf16" : "fp32";
    const auto any = [&](double low, double high) { return extentIn(random, low, high); };
    // Draws stand one after another: arguments of a call have no order.
    if (kind < 0.5) {
        const auto m = any(1, 4096), n = any(16, 8192), k = any(16, 8192);
        return fmt::format("gemm m={} n={} k={} {}", m, n, k, type);
    }
    if (kind < 0.58) {
        const auto batch = any(1, 4), heads = any(1, 32), length = any(32, 2048);
        return fmt::format("prefill-attention batch={0} heads={1} queries={2} keys={2} head_dim={3} fp16", batch, heads,
                           length, random.uniform() < 0.5 ? 64 : 128);
    }
    const std::string_view word = kind < 0.7 ? "softmax" : kind < 0.82 ? "normalization" : "elementwise";
    const auto m = any(1, 8192), n = any(16, 16384);
    return fmt::format("{} m={} n={} {}", word, m, n, type);
}

CounterValues valuesOf(const gpusim::Counters& c, const gpusim::Machine& machine, double cycles, double dramBytes,
                       double l2Bytes) {
    const auto share = [](double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0; };
    const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
    const double slots = number(c.activeSmCycles) * machine.schedulers;
    CounterValues out{};
    const auto set = [&](GpuCounter counter, double value) { out[static_cast<std::size_t>(counter)] = value; };
    set(GpuCounter::Cycles, std::max(1.0, cycles));
    set(GpuCounter::DramBytes, std::max(sectorBytes, dramBytes));
    set(GpuCounter::L2Bytes, std::max(sectorBytes, l2Bytes));
    set(GpuCounter::L2Hits, share(number(c.l2.readHits), number(c.l2.reads)));
    set(GpuCounter::L1Hits, share(number(c.l1.readHits), number(c.l1.reads + c.bypassReads)));
    set(GpuCounter::Occupancy, share(number(c.residentWarpCycles), number(c.activeSmCycles) * machine.warps()));
    set(GpuCounter::Issue, share(number(c.warpInstructions), slots));
    set(GpuCounter::Dependence, share(number(c.stallDependence), slots));
    set(GpuCounter::UnitBusy, share(number(c.stallUnit), slots));
    return out;
}

}  // namespace

const std::vector<std::string>& counterDevices() {
    static const std::vector<std::string> devices{
        "v100",     "t4",       "a10", "a30",  "a100-40-sxm", "a100-80-sxm", "a40",      "rtx-3090",
        "rtx-4080", "rtx-4090", "l4",  "l40s", "h100-pcie",   "h100-sxm",    "h200-sxm", "rtx-5090"};
    return devices;
}

Expected<CounterValues> countedBy(const KernelProgram& program, const gpusim::Machine& machine, bool cycles,
                                  const std::stop_token& stop) {
    SampleOptions options;
    options.intervals = !cycles;
    options.instructions = 2 * mostInstructions;
    options.stop = stop;
    const auto sample = sampleKernel(program, machine, options);
    if (!sample) return Unexpected(sample.error());
    return valuesOf(sample->counts, machine, sample->cycles, sample->dramBytes, sample->l2Bytes);
}

CounterValues countersOf(const gpusim::KernelResult& run, const gpusim::Machine& machine) {
    const gpusim::Counters& c = run.counts;
    return valuesOf(c, machine, static_cast<double>(run.cycles - run.launchCycles),
                    sectorBytes * static_cast<double>(c.dramReads + c.dramWrites),
                    sectorBytes * static_cast<double>(c.l2.reads + c.l2.writes));
}

Expected<std::vector<CounterSample>> drawCounters(const CounterDraw& draw) {
    std::vector<Device> devices;
    for (const std::string& id : draw.devices.empty() ? counterDevices() : draw.devices) {
        auto loaded = loadHardware(id);
        if (!loaded) return Unexpected(loaded.error());
        auto gpu = gpuView(loaded->hardware);
        if (!gpu) return Unexpected(gpu.error());
        auto drawn = machineOf(*gpu);
        if (!drawn) return Unexpected(drawn.error());
        if (drawn->machine.dies > 1 || drawn->machine.lanes != 32)
            return fail("counters.devices", fmt::format("counters of `{}` are not learned", id),
                        "GPUs with warps of 32 lanes and one L2");
        devices.push_back({id, std::move(*gpu), std::move(*drawn)});
    }
    std::vector<std::optional<CounterSample>> drawn(draw.samples);
    if (draw.progress) draw.progress->setTotal(draw.samples);
    const auto one = [&](std::size_t i) {
        RandomStream random(draw.seed, i);
        for (int attempt = 0; attempt < tries && !draw.stop.stop_requested(); ++attempt) {
            const Device& device = devices[random.below(devices.size())];
            const std::string source = drawnSource(random);
            const auto kernel = kernelFromSource(source);
            if (!kernel || kernel->flops > mostOperations) continue;
            const auto program = programOf(*kernel, device.gpu, device.drawn);
            if (!program) continue;
            auto code = codeOf(*program, device.drawn.machine, device.gpu);
            if (!code) continue;
            // instructions of a warp × warps × blocks
            const double all = code->features[17] * code->features[1] * code->features[0];
            if (draw.cycles ? all > mostInstructions : !isRepresented(*program, device.drawn.machine)) continue;
            const auto counted = countedBy(*program, device.drawn.machine, draw.cycles, draw.stop);
            if (!counted) continue;
            drawn[i] = CounterSample{device.id, source, std::move(*code), *counted};
            break;
        }
        if (draw.progress) draw.progress->advance();
    };
    if (draw.executor)
        draw.executor->forEach(draw.samples, one);
    else
        for (std::size_t i = 0; i < draw.samples; ++i) one(i);
    if (draw.stop.stop_requested()) return fail("study.cancelled", "drawing was stopped");
    std::vector<CounterSample> out;
    for (auto& each : drawn)
        if (each) out.push_back(std::move(*each));
    return out;
}

}  // namespace orrery
