#include "methods/npu/npu_tile.h"

#include "base/maths.h"
#include "base/unit.h"
#include "hardware/views/device_view.h"
#include "hardware/views/npu_view.h"
#include "simulation/npu/dram_memory.h"
#include "simulation/npu/kernel_plan.h"
#include "simulation/npu/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

namespace orrery {

namespace {

// Least and greatest measured ÷ simulated of the rows that the card names; tests/methods/tst_npu_tpu.cpp and
// tst_npu_gemmini.cpp measure them again.
struct NpuSpread {
    double low, high;
    std::string_view basis;
};
constexpr NpuSpread oneScratchpad{
    0.84, 1.66,
    "Least and greatest measured time over simulated time of 13 rows measured on TPU v3 "
    "(PyTorchSim artifact fe04c9a); the rules of tiling and fusion were chosen with them in view"};
constexpr NpuSpread ownAccumulators{
    0.98, 1.02,
    "Least and greatest cycles of Gemmini's RTL over simulated cycles of 14 layers (ONNXim's "
    "tests), the memory as fast as there"};

constexpr std::array<std::string_view, npuEngineCount> engineNames{"DMA in", "arrays", "vector unit", "DMA out"};
constexpr std::size_t spansOfKernel = 256;

// Of a sampled product: output tiles per core until its pipeline is full, and those that are then looked at; both at
// least as many pieces of reductions as show the rhythm of loads.
constexpr std::int64_t leastWarm = 1, warmPieces = 8, leastSeen = 2, seenPieces = 24;
constexpr double negligible = 0.03;    // of the work: shapes of tiles that are not looked at
constexpr double worthSampling = 0.7;  // of the tiles; more is simulated whole

std::size_t slotOf(NpuEngine engine) {
    return static_cast<std::size_t>(engine);
}

// Keeps its memory from kernel to kernel, so one is used by one thread at a time.
struct NpuSimulator {
    explicit NpuSimulator(const NpuMachine& machine)
        : memory(pipeMemory(machine.memoryBytes, machine.memoryLatency)), simulation(machine, *memory) {}
    std::unique_ptr<MemoryModel> memory;
    NpuSimulation simulation;
    NpuProgram program;
};

class NpuPricer final : public SlowPricer {
public:
    NpuPricer(NpuView view, bool sampling)
        : view_(std::move(view)),
          machine_(machineOf(view_)),
          sustained_(sustainedShareOf(view_.timing)),
          sampling_(sampling && machine_.accumulator > 0) {
        if (sustained_) machine_.memoryBytes *= sustained_->share;
    }

    using SlowPricer::price;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override {
        if (context.stop.stop_requested()) return fail("study.cancelled", "the simulation was cancelled");
        const NpuKernels work = npuKernels(kernel, machine_);
        KernelPrice price;
        if (work.kernels.empty()) {
            price.seconds = std::numeric_limits<double>::quiet_NaN();
            price.priced = false;
            return price;
        }
        auto simulator = take();
        double cycles = 0, moved = 0, compute = 0, arrays = 0;
        for (const NpuKernel& each : work.kernels) {
            const auto* mapping = std::get_if<MappedSpec>(&each.work);
            auto run =
                sampling_ && mapping ? sampled(*mapping, *simulator, context) : whole(each.work, *simulator, context);
            if (!run) return Unexpected(std::move(run.error()));
            const double times = mapping ? static_cast<double>(mapping->batch) : 1;
            const double cores = static_cast<double>(machine_.cores);
            const double array = static_cast<double>(run->busy[slotOf(NpuEngine::Array)]) * times / cores;
            const double vector = static_cast<double>(run->busy[slotOf(NpuEngine::Vector)]) * times / cores;
            cycles += static_cast<double>(machine_.launch);
            if (context.spans) addSpans(*run, cycles, *context.spans);
            cycles += times * static_cast<double>(run->cycles);
            moved += static_cast<double>(run->loaded + run->stored) * times;
            compute += std::max(array, vector);
            arrays += array;
        }
        giveBack(std::move(simulator));
        const double launched = static_cast<double>(machine_.launch) * static_cast<double>(work.kernels.size());
        price.seconds = cycles / machine_.hertz;
        // Independent of what the whole simulation is off by.
        const double error = sampling_ ? npuSampledError : 0;
        price.low = price.seconds * std::exp(-std::hypot(std::log(spread().low), error));
        price.high = price.seconds * std::exp(std::hypot(std::log(spread().high), error));
        price.bound = boundOf(compute, moved / machine_.memoryBytes, launched);
        price.levelBytes[0] = static_cast<float>(moved);
        price.busy = static_cast<float>(arrays / cycles);
        if (work.byBytes) price.note = 0;
        return price;
    }
    std::vector<KernelNote> notes() const override {
        return {
            {"without a kernel of their own, they cost the passing of their bytes and their operations on the "
             "vector unit",
             "npu.by-bytes", "Read their share as a guess"}};
    }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> said{
            fmt::format("Cores of {} arrays of {} x {}, {} of scratchpad each; every operand element takes one place "
                        "of an array, whatever its type",
                        view_.arrays, view_.rows, view_.columns, format(view_.scratchpad)),
            fmt::format("Main memory is {}", pipeMemory(machine_.memoryBytes, machine_.memoryLatency)->description()),
            "Kernels hand tensors over in main memory",
            sustained_ ? fmt::format("{} gives streams {:.0f} % of its peak: {} simulated bank by bank, with refresh "
                                     "and turnaround",
                                     view_.memoryName, 100 * sustained_->share, sustained_->standard)
                       : fmt::format("{} gives its whole peak bandwidth: it names no timing standard that is known",
                                     view_.memoryName)};
        if (sampling_)
            said.emplace_back("A few output tiles of each shape speak for the others of a product (sampled)");
        said.insert(said.end(), view_.assumptions.begin(), view_.assumptions.end());
        return said;
    }
    std::string basis() const override { return std::string(spread().basis); }
    std::vector<std::string> levels() const override { return {view_.memoryName}; }
    double correlation(KernelKind) const override { return 1; }
    bool launchInside() const override { return true; }
    PartsRead used() const override { return view_.used; }
    bool takesEpilogue() const override { return true; }
    bool takesAnyType() const override { return view_.floats; }
    std::vector<std::string> rows() const override {
        std::vector<std::string> rows;
        if (sampling_) return rows;  // most of a launch is not simulated
        for (std::int64_t core = 0; core < machine_.cores; ++core) {
            for (const auto name : engineNames) {
                rows.push_back(machine_.cores > 1 ? fmt::format("core {} {}", core, name) : std::string(name));
            }
        }
        return rows;
    }

private:
    Expected<NpuRun> whole(const KernelWork& work, NpuSimulator& simulator, PriceContext& context) const {
        simulator.program.clear();
        if (auto ok = lower(work, machine_, simulator.program); !ok) return Unexpected(std::move(ok.error()));
        return simulator.simulation.run(simulator.program, {context.spans != nullptr, spansOfKernel, context.stop});
    }
    Expected<NpuRun> part(const MappedSpec& spec, std::int64_t begin, std::int64_t end, NpuSimulator& simulator,
                          PriceContext& context) const {
        simulator.program.clear();
        if (auto ok = lowerMapped(spec.mapping, spec.layer, machine_, simulator.program, begin, end); !ok)
            return Unexpected(std::move(ok.error()));
        return simulator.simulation.run(simulator.program, {false, spansOfKernel, context.stop});
    }

    // Output tiles of one shape, which take turns alike: where their longest row begins, and how many there are.
    struct Stratum {
        double work = 0;
        std::int64_t tiles = 0, begin = 0, run = 0;
    };
    static std::vector<Stratum> strataOf(const std::vector<double>& work) {
        std::vector<Stratum> all;
        const auto count = static_cast<std::int64_t>(work.size());
        for (std::int64_t i = 0; i < count;) {
            std::int64_t end = i + 1;
            while (end < count && work[static_cast<std::size_t>(end)] == work[static_cast<std::size_t>(i)]) ++end;
            const double each = work[static_cast<std::size_t>(i)];
            auto known =
                std::find_if(all.begin(), all.end(), [&](const Stratum& stratum) { return stratum.work == each; });
            if (known == all.end()) known = all.insert(all.end(), Stratum{each, 0, i, 0});
            known->tiles += end - i;
            if (end - i > known->run) known->begin = i, known->run = end - i;
            i = end;
        }
        std::stable_sort(all.begin(), all.end(), [](const Stratum& a, const Stratum& b) {
            return a.work * static_cast<double>(a.tiles) > b.work * static_cast<double>(b.tiles);
        });
        return all;
    }

    // Stratified sampling after a warm-up (Wunderlich et al.: SMARTS, ISCA 2003): a few output tiles of each shape, by
    // a short run and a longer one. Their difference is free of filling and emptying the pipeline, and holds for each
    // tile of the shape. Shapes that hardly count follow by their work (ratio estimator).
    Expected<NpuRun> sampled(const MappedSpec& spec, NpuSimulator& simulator, PriceContext& context) const {
        const TileLoops& o = spec.mapping.outer;
        const std::int64_t pieces = std::max<std::int64_t>(o.s * o.r * o.c, 1);
        const std::int64_t warm = std::max(leastWarm * machine_.cores, ceilDiv(warmPieces, pieces));
        const std::int64_t seen = std::max(leastSeen * machine_.cores, ceilDiv(seenPieces, pieces));
        const auto all = static_cast<double>(o.n * o.p * o.q * o.m);
        if (static_cast<double>(2 * warm + seen) > all * worthSampling) return whole(spec, simulator, context);
        const auto strata = strataOf(mappedWork(spec.mapping, spec.layer, machine_));
        double total = 0, simulated = 0;
        for (const Stratum& each : strata) total += each.work * static_cast<double>(each.tiles);
        std::size_t looked = 0;
        for (double rest = total; looked < strata.size() && rest > negligible * total; ++looked) {
            rest -= strata[looked].work * static_cast<double>(strata[looked].tiles);
            simulated += static_cast<double>(2 * warm + seen);
        }
        const bool runsLong = std::all_of(strata.begin(), strata.begin() + static_cast<std::ptrdiff_t>(looked),
                                          [&](const Stratum& each) { return each.run >= warm + seen; });
        if (!runsLong || simulated > all * worthSampling) return whole(spec, simulator, context);
        NpuRun sum;
        double done = 0;  // work of the strata that were looked at
        for (std::size_t k = 0; k < looked; ++k) {
            const Stratum& each = strata[k];
            auto shorter = part(spec, each.begin, each.begin + warm, simulator, context);
            if (!shorter) return shorter;
            auto longer = part(spec, each.begin, each.begin + warm + seen, simulator, context);
            if (!longer) return longer;
            // Of the first, what it takes to fill and empty; of all, what one tile more takes.
            const double tiles = static_cast<double>(each.tiles) - (k == 0 ? static_cast<double>(warm) : 0);
            const double times = tiles / static_cast<double>(seen);
            const auto add = [&](std::int64_t& to, std::int64_t less, std::int64_t more) {
                to += static_cast<std::int64_t>(times * static_cast<double>(more - less)) + (k == 0 ? less : 0);
            };
            add(sum.cycles, shorter->cycles, longer->cycles);
            add(sum.loaded, shorter->loaded, longer->loaded);
            add(sum.stored, shorter->stored, longer->stored);
            for (std::size_t e = 0; e < sum.busy.size(); ++e) add(sum.busy[e], shorter->busy[e], longer->busy[e]);
            done += each.work * static_cast<double>(each.tiles);
        }
        const double grown = done > 0 ? total / done : 1;
        const auto grow = [grown](std::int64_t& of) {
            of = static_cast<std::int64_t>(grown * static_cast<double>(of));
        };
        grow(sum.cycles), grow(sum.loaded), grow(sum.stored);
        for (std::int64_t& each : sum.busy) grow(each);
        return sum;
    }

    const NpuSpread& spread() const { return machine_.accumulator > 0 ? ownAccumulators : oneScratchpad; }

    // What a launch was busy with longest.
    static Bound boundOf(double compute, double memory, double launch) {
        if (launch >= compute && launch >= memory && launch > 0) return {BoundKind::Overhead, -1};
        if (compute >= memory) return {compute > 0 ? BoundKind::Compute : BoundKind::None, -1};
        return {BoundKind::Memory, 0};
    }
    void addSpans(const NpuRun& run, double begin, std::vector<KernelSpan>& spans) const {
        for (const NpuSpan& span : run.spans) {
            spans.push_back({span.core * npuEngineCount + static_cast<int>(span.engine),
                             (begin + static_cast<double>(span.start)) / machine_.hertz,
                             (begin + static_cast<double>(span.end)) / machine_.hertz});
        }
    }

    std::unique_ptr<NpuSimulator> take() const {
        const std::scoped_lock lock(guard_);
        if (idle_.empty()) return std::make_unique<NpuSimulator>(machine_);
        auto one = std::move(idle_.back());
        idle_.pop_back();
        return one;
    }
    void giveBack(std::unique_ptr<NpuSimulator> one) const {
        const std::scoped_lock lock(guard_);
        idle_.push_back(std::move(one));
    }

    NpuView view_;
    NpuMachine machine_;
    std::optional<SustainedShare> sustained_;
    bool sampling_ = false;
    mutable std::mutex guard_;
    mutable std::vector<std::unique_ptr<NpuSimulator>> idle_;
};

Expected<KernelPricerPtr> bindNpuTile(const DeviceRef& place, const BindContext& context) {
    auto view = npuView(place);
    if (!view) {
        // A GPU or a row-stationary array is no mistake of the user's.
        auto& why = view.error();
        if (why.code == "hardware.not-an-npu" || why.code == "hardware.dataflow") why.code = "method.not-applicable";
        return Unexpected(std::move(why));
    }
    const auto found = context.options.find(npuSampleKey);
    const bool sampling = found != context.options.end() && found->second == npuSampleTiles;
    if (sampling && machineOf(*view).accumulator == 0) {
        return fail("npu.no-sampling", "products on this device are not cut into output tiles of their own",
                    "a device with accumulators", "ask `npu-tile` without `sample`");
    }
    return KernelPricerPtr(std::make_shared<NpuPricer>(std::move(*view), sampling));
}

MethodCard npuTileCard() {
    return {
        .title = "NPU tiles",
        .methodology = Methodology::CycleAccurate,
        .summary =
            "Event-driven simulation of tiles on systolic arrays, vector units, DMA engines and scratchpads, "
            "kernel by kernel. Ask it where a TPU-like device waits: for memory, for weights, or for nothing.",
        .platforms = {"TPU", "NPU", "Accelerator"},
        .evidence = {{"layers of CNNs and transformers", "Gemmini",
                      "MAPE 0.6 %, at most 1.8 %, over 14 int8 layers in RTL simulation (ONNXim's tests)"},
                     {"products, convolutions, softmax, normalisation, ResNet-18, a BERT block", "TPU",
                      "MAPE 10.6 % over 13 fp32 rows measured on one core of TPU v3 (PyTorchSim artifact fe04c9a); "
                      "worst -40 % for a convolution of 64 channels and -31 % for ResNet-18 of batch 1"}},
        .needs = {"An array or tensor unit with a weight- or output-stationary dataflow", "Scratchpad capacity",
                  "Vector unit rates", "Bandwidth of the main memory", "Shapes of all tensors"},
        .failureMode =
            "Knows no compiler's own choices: layouts, fusions and tilings follow fixed rules. Kernels do not overlap "
            "and exchange everything through main memory: pessimistic for devices that keep activations on the chip. "
            "Copies that change a layout are ignored.",
        .lineage = {"Ham et al.: ONNXim: A Fast, Cycle-level Multi-core NPU Simulator, IEEE CAL 2024",
                    "Yang et al.: PyTorchSim, MICRO 2025", "Genc et al.: Gemmini, DAC 2021",
                    "Jouppi et al.: In-Datacenter Performance Analysis of a Tensor Processing Unit, ISCA 2017"},
        .cost = {.fixed = 3.3e-5, .perKernel = 8.1e-6, .perCycle = 2.7e-10},
        .live = true,
    };
}

}  // namespace

KernelMethod npuTileKernels() {
    return {.id = "npu-tile",
            .version = "2",
            .binder = bindNpuTile,
            .options = {{.key = npuSampleKey,
                         .title = "Sampling",
                         .choices = {"off", npuSampleTiles},
                         .fallback = "off",
                         .meaning = "Of large products on machines with accumulators: a few output tiles of each "
                                    "shape are simulated and speak for the others."}},
            .card = npuTileCard()};
}

}  // namespace orrery
