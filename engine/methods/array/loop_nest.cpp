#include "methods/array/loop_nest.h"

#include "methods/array/array_kernel.h"
#include "methods/array/loop_nest_relief.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::string_view nestVersion = "3";
constexpr std::uint64_t stepsOfAProof = 20000000;             // of one nest: seconds, and the same on every machine
constexpr std::array<int, 7> gaps{1, 2, 5, 10, 20, 50, 100};  // per cent
enum NestNote : std::int8_t { NoNest, Raised, Proven, FirstGap, Unbounded = FirstGap + int(gaps.size()) };

/// What a proof says of a mapping that it did not finish with.
NestNote proofOf(const MappedOperator& op) {
    if (op.proven) return Proven;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        if (op.value <= op.lowerBound * (1 + gaps[i] / 100.0)) return static_cast<NestNote>(FirstGap + int(i));
    }
    return Unbounded;
}

/// The level that an operator waits for: index into levels outermost first, or -1 where the arithmetic does.
std::int16_t limitOf(const MappedOperator& op) {
    const std::size_t levels = op.hardware.levels.size();
    double most = op.computeCycles();
    std::int16_t limit = -1;
    for (std::size_t l = levels; l-- > 0;) {
        double cycles = 0;
        for (const MappedNest& nest : op.nests) cycles += nest.times * nest.counts().levels[l].cycles;
        if (cycles > most * (1 + 1e-9)) {
            most = cycles;
            limit = static_cast<std::int16_t>(levels - 1 - l);
        }
    }
    return limit;
}

// Searches are kept across estimates: they hang on nest, array and options alone.
MappingCache& sharedMappings() {
    static MappingCache cache;
    return cache;
}

class NestPricer final : public SlowPricer {
public:
    NestPricer(ArrayDevice device, LoopNestOptions options)
        : device_(std::move(device)), options_(std::move(options)) {}

    using SlowPricer::price;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override {
        return price(kernel, Staying{}, context);
    }
    Expected<KernelPrice> price(const Kernel& kernel, Staying stays, PriceContext& context) const override {
        if (context.stop.stop_requested()) return fail("study.cancelled", "the search was stopped");
        if (kernel.kind == KernelKind::Collective) return notPriced(device_, kernel);
        const KernelOperator made = operatorOf(kernel);
        KernelPrice roof = arrayRoofline(device_, relieved(kernel, made, stays), made.macs());
        if (nestsOf(made.op(), made.graph).empty()) {
            roof.note = NoNest;
            return roof;
        }
        SearchContext search{context.executor, context.stop, nullptr, &sharedMappings(), {}, nullptr};
        const auto mapped = mapOperator(device_.view, made.op(), made.graph, options_, search);
        if (context.stop.stop_requested()) return fail("study.cancelled", "the search was stopped");
        if (!mapped) {
            roof.priced = false;
            return roof;
        }
        return priceOf(*mapped, roof, kernel, stays);
    }
    std::optional<ChipRoom> room(const Kernel& kernel) const override {
        const std::size_t levels = device_.array.hardware.levels.size();
        if (levels < 2 || kernel.kind == KernelKind::Collective) return std::nullopt;
        const NestLevel& storage = device_.array.hardware.levels[levels - 2];
        ChipRoom room{levelBytes(storage, storage.capacityWords / std::max(storage.multipleBuffering, 1.0)), 0};
        const KernelOperator made = operatorOf(kernel);
        if (nestsOf(made.op(), made.graph).empty()) {
            // Works in place on the whole activation that it is given.
            const bool inPlace = kernel.kind == KernelKind::Elementwise || kernel.kind == KernelKind::Softmax ||
                                 kernel.kind == KernelKind::Normalization;
            return inPlace ? std::optional(room) : std::nullopt;
        }
        const auto serial = makeSerialExecutor();
        SearchContext search{*serial, {}, nullptr, &sharedMappings(), {}, nullptr};
        const auto mapped = mapOperator(device_.view, made.op(), made.graph, options_, search);
        if (!mapped) return std::nullopt;
        room.held = levelBytes(storage, tileWords(*mapped, levels - 2));
        return room;
    }
    std::vector<KernelNote> notes() const override {
        const std::string_view by = toText(objective());
        std::vector<KernelNote> said{
            {"not loop nests; their roofline is used"},
            {"they take their roofline, which counts biases and padding that their nests do not"},
            {fmt::format("proven, no mapping of the space has a smaller {}", by)}};
        for (const int gap : gaps)
            said.push_back({fmt::format("not proven, their {} is at most {} % above the least of the space", by, gap)});
        said.push_back({fmt::format("not proven, and their {} may be more than {} % above the least of the space", by,
                                    gaps.back())});
        return said;
    }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> said{
            options_.mapper.kind == MapperKind::Optimal
                ? fmt::format("Each loop nest runs by the mapping with the least {} that there is, as far as {} "
                              "million steps of a proof tell; nests run one after the other",
                              toText(objective()), stepsOfAProof / 1000000)
                : fmt::format("Each loop nest runs by the best of the mappings that {} found (seed {}), one after the "
                              "other",
                              toText(options_.mapper.kind), options_.mapper.seed),
            "Levels are double buffered and overlap with the arithmetic; filling and draining the array and starting a "
            "kernel take no time"};
        if (device_.view.dataflow) {
            said.push_back(
                fmt::format("The array is unrolled as its dataflow, {}, says", toText(*device_.view.dataflow)));
        }
        const auto& view = device_.view.assumptions;
        const auto& array = device_.array.assumptions;
        said.insert(said.end(), view.begin(), view.end());
        said.insert(said.end(), array.begin(), array.end());
        if (options_.imperfect) said.push_back("Factors of a loop need not divide its extent");
        const MapObjective first = options_.mapper.objectives.front();
        if (device_.array.energies) {
            said.push_back(
                "Energy counts accesses of every level and multiply-accumulates of the nests, and of other kernels the "
                "bytes of main memory; no idle power");
        } else if (first == MapObjective::Energy || first == MapObjective::Edp) {
            said.push_back("The design states no energies: mappings were searched for latency");
        }
        return said;
    }
    std::string basis() const override {
        return "No error against measured machines is known; the counts are those of Timeloop v3.0.3, exact on its "
               "recorded cases, and the machine may differ from the model";
    }
    std::vector<std::string> levels() const override {
        std::vector<std::string> names{device_.mainMemory()};
        for (std::size_t l = 1; l < device_.view.levels.size(); ++l) names.push_back(device_.view.levels[l].name);
        return names;
    }
    bool launchInside() const override { return true; }
    PartsRead used() const override { return device_.view.used; }
    bool takesAnyType() const override { return false; }

private:
    /// That searches have in truth: without energies, latency.
    MapObjective objective() const {
        const MapObjective first = options_.mapper.objectives.front();
        const bool joules = first == MapObjective::Energy || first == MapObjective::Edp;
        return joules && !device_.array.energies ? MapObjective::Latency : first;
    }
    static double levelBytes(const NestLevel& level, double words) {
        return words * static_cast<double>(std::max<std::int64_t>(level.instances, 1)) *
               static_cast<double>(level.wordBits) / 8;
    }
    // Without the bytes that stay on the chip: the first operand, the result.
    static Kernel relieved(Kernel kernel, const KernelOperator& made, Staying stays) {
        if (stays.operand) {
            const Tensor* operand = made.graph.tensor(made.op().inputs.front());
            kernel.readBytes = std::max(0.0, kernel.readBytes - (operand ? operand->bytes().value : 0));
        }
        if (stays.result) kernel.writeBytes = 0;
        return kernel;
    }
    KernelPrice priceOf(const MappedOperator& op, const KernelPrice& roof, const Kernel& kernel, Staying stays) const {
        const ReliefOfNest relief = relieve(op, stays.operand, stays.result);
        KernelPrice price = roof;
        const double seconds = relief.cycles / device_.view.clock.value;
        // The nest leaves out biases, padding and scores that are written; the bound does not.
        if (seconds >= roof.seconds) {
            price.seconds = price.low = price.high = seconds;
            const std::int16_t limit = limitOf(op);
            price.bound = limit < 0 ? Bound{BoundKind::Compute, -1} : Bound{BoundKind::Memory, limit};
        } else {
            price.note = Raised;
        }
        if (price.note < 0 && options_.mapper.kind == MapperKind::Optimal) price.note = proofOf(op);
        const std::size_t count = device_.view.levels.size();
        for (std::size_t l = 0; l < std::min(count, mostPricedLevels); ++l) {
            price.levelBytes[l] = static_cast<float>(op.bytes(count - 1 - l));
        }
        price.levelBytes[0] -= static_cast<float>(relief.savedBytes);
        price.busy =
            price.seconds > 0
                ? static_cast<float>(std::min(1.0, op.computeCycles() / device_.view.clock.value / price.seconds))
                : 0;
        if (device_.array.energies) {
            price.joules = relief.energy + kernel.epilogue.bytes * device_.joulesPerByte;
        }
        return price;
    }

    ArrayDevice device_;
    LoopNestOptions options_;
};

// The first word of each list is the fallback. `exhaustive` is left out: of the few mappings that a method has time to
// cost it would see one corner.
std::vector<MethodOption> nestOptions() {
    return {{"mapper",
             "Mapper",
             {"annealing", "genetic", "loop-order", "random-pruned", "linear-pruned", "optimal"},
             "annealing",
             "How mappings are searched; optimal proves that no mapping is better, or gives the remaining gap."},
            {"objective",
             "Objective",
             {"latency", "energy", "edp", "last-level-accesses"},
             "latency",
             "What the best mapping is best in; latency decides between equals, and energy after latency."},
            {"factors",
             "Factors",
             {"perfect", "imperfect"},
             "perfect",
             "Imperfect factors need not divide an extent; the search then takes longer."},
            {.key = "chains",
             .title = "Chains",
             .choices = {"off", "on"},
             .fallback = "off",
             .meaning = "Activations stay on the chip between neighbours where they fit.",
             .formerly = "fusion"}};
}

LoopNestOptions nestOptionsOf(const BindContext& context) {
    const auto value = [&](std::string_view key, std::string_view fallback) {
        const auto found = context.options.find(key);
        return found == context.options.end() ? fallback : std::string_view(found->second);
    };
    LoopNestOptions options;
    options.mapper.seed = context.seed + 1;
    options.mapper.kind = mapperKind(value("mapper", {})).value_or(options.mapper.kind);
    const auto objective = mapObjective(value("objective", {})).value_or(MapObjective::Latency);
    if (objective != MapObjective::Latency) options.mapper.objectives = {objective, MapObjective::Latency};
    if (options.mapper.kind == MapperKind::Optimal) options.mapper.steps = stepsOfAProof;
    options.imperfect = value("factors", {}) == "imperfect";
    return options;
}

Expected<KernelPricerPtr> bindLoopNest(const DeviceRef& place, const BindContext& context) {
    auto device = arrayDevice(place);
    if (!device) return Unexpected(std::move(device.error()));
    return KernelPricerPtr(std::make_shared<NestPricer>(std::move(*device), nestOptionsOf(context)));
}

MethodCard loopNestCard() {
    return {
        .title = "Loop nests",
        .methodology = Methodology::Analytical,
        .summary =
            "Searches a mapping of every matrix product, convolution and attention onto the array and its "
            "memories, and counts what each level reads and writes. Ask it which buffer, bandwidth or dataflow "
            "an accelerator needs.",
        .platforms = {"Accelerator", "TPU"},
        .evidence = {{"convolutions and matrix products", "Accelerator",
                      "cycles and every read, fill and update equal to those of Timeloop v3.0.3 on 16 recorded cases, "
                      "energy within 0.1 %; no measured machine"}},
        .needs = {"An array with a mesh, or a tensor unit with a dataflow", "Capacity of every memory level",
                  "Bandwidth of the main memory", "Shapes of all tensors"},
        .failureMode =
            "Optimistic if filling and draining the array, bank conflicts or the network between elements take time. "
            "Pessimistic for extents with few divisors, unless factors are imperfect. A real compiler may not find the "
            "mapping that the search found.",
        .lineage = {"Parashar et al.: Timeloop, ISPASS 2019", "Chen et al.: Eyeriss, ISCA 2016",
                    "Horeni et al.: Ruby, ISPASS 2022"},
        .cost = {.fixed = 2.4e-3, .perKernel = 2.3e-3},
        .live = false,
    };
}

}  // namespace

KernelMethod loopNestKernels() {
    return {.id = "loop-nest",
            .version = nestVersion,
            .binder = bindLoopNest,
            .options = nestOptions(),
            .card = loopNestCard()};
}

}  // namespace orrery
