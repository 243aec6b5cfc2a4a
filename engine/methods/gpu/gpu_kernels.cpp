#include "methods/gpu/gpu_kernels.h"

#include "methods/answer/direct_convolution.h"
#include "methods/answer/vector_functions.h"
#include "methods/interval/interval_analysis.h"
#include "methods/interval/interval_programs.h"
#include "simulation/gpu/templates/attention.h"
#include "simulation/gpu/templates/vector.h"
#include "workload/expert_routing.h"
#include "workload/kernel_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

using gpusim::ElementsSpec;
using gpusim::FlashSpec;
using gpusim::MultiplyForm;
using gpusim::ProductSpec;
using gpusim::RowsSpec;

constexpr std::int64_t mostExtent = std::int64_t{1} << 40;
constexpr std::int64_t mostBlocks = std::numeric_limits<int>::max();

// Shared memory that one block may have: newer GPUs keep 1 KB of each.
double sharedRoom(const DrawnMachine& drawn) {
    return drawn.machine.sharedBytes -
           (drawn.generation.lanes == 32 && drawn.generation.computeCapability >= 80 ? 1024.0 : 0.0);
}

double sizeOf(DType type) {
    return bits(type) / 8.0;
}

Unexpected tooLarge(const Kernel& kernel) {
    return fail("gpu.template", fmt::format("{} has too many blocks or bytes to be written down", toText(kernel)),
                "extents up to 2^40 and 2^31 blocks", "make it smaller");
}

std::int64_t extent(std::int64_t value) {
    return std::clamp<std::int64_t>(value, 1, mostExtent);
}

// Libraries keep to the most efficient tile, 256 × 128, wherever it gives every multiprocessor a block, even if the
// last wave is nearly empty then (NVIDIA, Matrix Multiplication Background User's Guide, DU-09799-001, February 2023:
// 2.3 for usual tiles, 3.2 for waves).
// It needs three stages of shared memory (CUTLASS's kernels for it). Deeper reductions than the result is wide are left
// to the plan, which splits them.
bool takeLibraryTile(const ProductSpec& spec, double sms, double shared, IntervalPlan& plan) {
    constexpr std::int64_t longSide = 256, shortSide = 128;
    if (spec.form.kind == MultiplyForm::Kind::Vector || spec.k > std::max(spec.m, spec.n)) return false;
    const double depth = 128 / std::max(spec.aBytes, spec.bBytes);
    double fewest = std::numeric_limits<double>::infinity();
    for (const auto& [m, n] : {std::pair{shortSide, longSide}, std::pair{longSide, shortSide}}) {
        const double blocks = static_cast<double>(spec.batch) *
                              std::ceil(static_cast<double>(spec.m) / static_cast<double>(m)) *
                              std::ceil(static_cast<double>(spec.n) / static_cast<double>(n));
        const double stage = depth * (static_cast<double>(m) * spec.aBytes + static_cast<double>(n) * spec.bBytes);
        if (spec.m < m || spec.n < n || blocks < sms || 3 * stage > shared || blocks >= fewest) continue;
        fewest = blocks;
        plan.tileM = static_cast<double>(m), plan.tileN = static_cast<double>(n), plan.tileK = depth;
        plan.splits = 1, plan.program.warpsPerBlock = 8;
    }
    return std::isfinite(fewest);
}

// Partial sums are added up by a kernel of their own (CUTLASS, "Efficient GEMM in CUDA", parallelized reductions: one
// kernel for the parts, one for the reduction; cuBLAS's is splitKreduce_kernel). One more kernel with next to nothing
// to do takes 1.37 us in a captured graph on A100, 1.29 on H200, 0.94 on L40 (gpu-benches 1038c5d, 4,096 elements):
// their mean, and beyond it the bytes.
constexpr double furtherKernel = 1.2e-6;
double secondsOfReduction(const ProductSpec& spec, const GpuView& gpu) {
    if (spec.splits < 2 || !spec.partsStored) return 0;
    const double results = static_cast<double>(spec.batch) * static_cast<double>(spec.m) * static_cast<double>(spec.n);
    const double bytes = results * (4.0 * spec.splits + spec.cBytes);
    const double rate =
        bytes <= gpu.l2Bytes && gpu.l2Bandwidth > gpu.dramBandwidth ? gpu.l2Bandwidth : gpu.dramBandwidth;
    return furtherKernel + bytes / rate;
}

// Extents and elements of a product; its tile is open.
ProductSpec untiled(const Kernel& kernel) {
    ProductSpec spec;
    spec.aBytes = sizeOf(kernel.type);
    spec.bBytes = std::max(sizeOf(kernel.weightType), 0.5);
    spec.cBytes = sizeOf(wideType(kernel.type));
    if (kernel.kind == KernelKind::Convolution) {
        const ConvolutionShape& c = kernel.convolution;
        const std::int64_t groups = std::max<std::int64_t>(1, c.groups);
        spec.batch = groups;
        spec.m = extent(c.batch * c.outHeight * c.outWidth), spec.n = extent(c.outChannels / groups);
        spec.k = extent(c.inChannels / groups * c.kernelHeight * c.kernelWidth);
        // Windows overlap: rows stand as far apart as each input element is read once.
        const double image =
            static_cast<double>(c.batch * c.height * c.width) * static_cast<double>(c.inChannels / groups);
        spec.aStride = std::clamp(std::ceil(image / static_cast<double>(spec.m)), 1.0, static_cast<double>(spec.k));
        spec.bBytes = sizeOf(kernel.type);
    } else {
        spec.batch = extent(kernel.batch), spec.m = extent(kernel.m), spec.n = extent(kernel.n),
        spec.k = extent(kernel.k);
    }
    return spec;
}

// How the generation brings operands, once form and tile are known.
void bringAs(const gpusim::GpuGeneration& generation, ProductSpec& spec) {
    spec.copiesPast = generation.copiesPast && spec.form.kind != MultiplyForm::Kind::Vector;
    spec.matrixLoads = generation.matrixLoads;
    spec.multicast =
        spec.form.kind == MultiplyForm::Kind::Group && generation.clusters.most > 1 && generation.clusters.sms >= 2;
    spec.binaryVersion = generation.computeCapability;
}

// Whole instructions along the reduction, and rows of whole pieces of 16 bytes.
int leastStep(const ProductSpec& spec) {
    return std::max(spec.form.kind == MultiplyForm::Kind::Vector ? 4 : spec.form.k,
                    static_cast<int>(16 / std::min(spec.aBytes, spec.bBytes)));
}

double bytesOfStep(const ProductSpec& spec) {
    return (spec.tileM * spec.aBytes + spec.tileN * spec.bBytes) * spec.tileK;
}

// Of a thread: its sums, and what it needs beside them.
int registersAsked(const ProductSpec& spec, const DrawnMachine& drawn) {
    return spec.tileM * spec.tileN / (drawn.machine.lanes * spec.warps) + 64;
}

Expected<KernelProgram> tiledProgram(const Kernel& kernel, const ProductSpec& spec) {
    const double elements =
        static_cast<double>(spec.batch) * std::max({static_cast<double>(spec.m) * static_cast<double>(spec.k),
                                                    static_cast<double>(spec.n) * static_cast<double>(spec.k),
                                                    static_cast<double>(spec.m) * static_cast<double>(spec.n)});
    const double blocks = static_cast<double>(spec.batch) * std::ceil(static_cast<double>(spec.m) / spec.tileM) *
                          std::ceil(static_cast<double>(spec.n) / spec.tileN) * spec.splits;
    if (elements > static_cast<double>(mostExtent) || blocks > static_cast<double>(mostBlocks)) return tooLarge(kernel);
    KernelProgram program;
    program.name = fmt::format("tile {}×{}×{}{}", spec.tileM, spec.tileN, spec.tileK,
                               spec.splits > 1 ? fmt::format(", {} parts of the reduction", spec.splits) : "");
    program.steps = spec.stepsOfBlock();
    program.fewest = std::max(3, spec.stages);
    program.tileM = spec.tileM, program.tileN = spec.tileN, program.tileK = spec.tileK;
    program.build = [spec](std::int64_t steps) {
        ProductSpec some = spec;
        if (steps > 0 && steps < spec.stepsOfBlock()) {
            some.aStride = spec.aStride > 0 ? spec.aStride : static_cast<double>(spec.k);
            some.bStride = spec.bStride > 0 ? spec.bStride : static_cast<double>(spec.k);
            some.k = steps * spec.tileK * spec.splits;
        }
        return gpusim::productTemplate(some);
    };
    return program;
}

Expected<KernelProgram> productProgram(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& drawn,
                                       const IntervalPlan& plan, bool partsStored) {
    ProductSpec spec = untiled(kernel);
    spec.form = multiplyForm(gpu, drawn.generation, kernel.type, plan.tileM >= 64);
    spec.tileM = static_cast<int>(plan.tileM), spec.tileN = static_cast<int>(plan.tileN);
    spec.warps = std::max(1, static_cast<int>(plan.program.warpsPerBlock));
    // Warps of 64×64, so that shared memory is read no more often than it must be.
    if (spec.form.kind == MultiplyForm::Kind::Warp)
        spec.warps = std::min(spec.warps, std::max(4, spec.tileM * spec.tileN / 4096));
    const int least = leastStep(spec);
    spec.tileK = std::max(least, static_cast<int>(plan.tileK) / least * least);
    spec.splits = static_cast<int>(plan.splits), spec.partsStored = partsStored;
    bringAs(drawn.generation, spec);
    while (2 * bytesOfStep(spec) > sharedRoom(drawn) && spec.tileK > least) spec.tileK /= 2;
    spec.stages = spec.copiesPast ? std::clamp(static_cast<int>(sharedRoom(drawn) / bytesOfStep(spec)), 2, 4) : 1;
    spec.registers = std::min(255, registersAsked(spec, drawn));
    spec.registers = std::min(spec.registers, drawn.machine.registers / (drawn.machine.lanes * spec.warps) / 4 * 4);
    auto program = tiledProgram(kernel, spec);
    if (!program) return program;
    program->afterSeconds = secondsOfReduction(spec, gpu);
    program->unitCycles = plan.stack.base + plan.stack.mathPipe;
    return program;
}

// The one that libraries keep to, else that of fewest cycles.
struct UsualPlan {
    IntervalPlan plan;
    bool byRule = false;
};
Expected<UsualPlan> usualPlan(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& drawn) {
    UsualPlan out{planIntervals(intervalMachine(gpu), kernel)};
    if (!out.plan.covered || out.plan.tileM <= 0) {
        return fail("gpu.template", fmt::format("no tile is known for {}", toText(kernel)), {},
                    "choose a type that the device multiplies");
    }
    ProductSpec spec = untiled(kernel);
    spec.form = multiplyForm(gpu, drawn.generation, kernel.type, out.plan.tileM >= 64);
    out.byRule = drawn.generation.lanes == 32 && out.plan.tileM >= 64 &&
                 takeLibraryTile(spec, gpu.sms, sharedRoom(drawn), out.plan);
    return out;
}

Expected<KernelProgram> productProgram(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& drawn) {
    const auto usual = usualPlan(kernel, gpu, drawn);
    if (!usual) return tl::unexpected(usual.error());
    return productProgram(kernel, gpu, drawn, usual->plan, false);
}

// Nothing where a block of the schedule can run.
const char* whyNot(const ProductSpec& spec, const DrawnMachine& drawn) {
    const int threads = drawn.machine.lanes * spec.warps, registers = registersAsked(spec, drawn);
    const bool vector = spec.form.kind == MultiplyForm::Kind::Vector,
               group = spec.form.kind == MultiplyForm::Kind::Group;
    if (threads > 1024) return "more than 1,024 threads";
    if (registers > 255 || registers * threads > drawn.machine.registers) return "its sums need more registers";
    if (spec.tileK % leastStep(spec) != 0) return "a step is no whole number of instructions";
    if (group && spec.warps % 4 != 0) return "warp groups are of four warps";
    const int least = group ? 64 * 8 / 4 : vector ? 4 * drawn.machine.lanes : spec.form.m * spec.form.n;
    if (spec.tileM * spec.tileN < least * spec.warps) return "a warp has less than an instruction";
    if (spec.copiesPast ? spec.stages < 2 : spec.stages != 1) return "no such stages";
    // Through registers two steps share the memory: one is filled while the other is read.
    if (std::max(2, spec.stages) * bytesOfStep(spec) > sharedRoom(drawn)) return "more shared memory than there is";
    const std::int64_t steps = (spec.k + spec.tileK - 1) / spec.tileK;
    if ((spec.splits - 1) * spec.stepsOfBlock() >= steps) return "a part without a step";
    return nullptr;
}

Expected<KernelProgram> attentionProgram(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& drawn) {
    const AttentionShape shape = windowed(kernel);
    FlashSpec spec;
    spec.batch = extent(shape.batch), spec.heads = extent(shape.heads), spec.kvHeads = extent(shape.kvHeads);
    spec.queries = extent(shape.queries), spec.keys = extent(shape.keys);
    spec.keyDim = static_cast<int>(std::clamp<std::int64_t>((shape.headDim + 15) / 16 * 16, 16, 1024));
    spec.valueDim = static_cast<int>(std::clamp<std::int64_t>((shape.valueDim + 15) / 16 * 16, 16, 1024));
    spec.bytes = sizeOf(kernel.type), spec.cacheBytes = sizeOf(kernel.kvType);
    spec.causal = shape.causal, spec.latent = latentCache(shape);
    spec.grouped = kernel.kind == KernelKind::DecodeAttention;
    spec.form = multiplyForm(gpu, drawn.generation, kernel.type, false);
    spec.copiesPast = drawn.generation.copiesPast, spec.binaryVersion = drawn.generation.computeCapability;
    const std::int64_t rows =
        spec.grouped ? spec.queries * std::max<std::int64_t>(1, spec.heads / spec.kvHeads) : spec.queries;
    spec.tileQueries = rows > 64 ? 128 : rows > 32 ? 64 : rows > 16 ? 32 : 16;
    spec.warps = spec.tileQueries >= 128 ? 8 : 4;
    spec.tileKeys = spec.tileQueries >= 64 ? 64 : 128;
    while (spec.tileKeys > 16 && spec.tileQueries * spec.keyDim * spec.bytes +
                                         2.0 * spec.tileKeys * (spec.keyDim + spec.valueDim) * spec.cacheBytes >
                                     sharedRoom(drawn))
        spec.tileKeys /= 2;
    // A query tile too large for shared memory beside one step of keys is halved.
    while (spec.tileQueries > 16 && spec.tileQueries * spec.keyDim * spec.bytes +
                                            2.0 * spec.tileKeys * (spec.keyDim + spec.valueDim) * spec.cacheBytes >
                                        sharedRoom(drawn))
        spec.tileQueries /= 2, spec.warps = 4;
    if (spec.grouped) {
        const double blocks = static_cast<double>(spec.blocks());
        spec.cuts = static_cast<int>(std::clamp(std::floor(2 * gpu.sms / std::max(1.0, blocks)), 1.0,
                                                std::ceil(static_cast<double>(spec.keys) / spec.tileKeys)));
    }
    const double elements = static_cast<double>(spec.batch) * static_cast<double>(spec.heads) *
                            static_cast<double>(std::max(spec.queries, spec.keys)) *
                            std::max(spec.keyDim, spec.valueDim);
    if (elements > static_cast<double>(mostExtent)) return tooLarge(kernel);
    KernelProgram program;
    program.name = fmt::format("{} queries by steps of {} keys{}", spec.tileQueries, spec.tileKeys,
                               spec.cuts > 1 ? fmt::format(", keys in {} parts", spec.cuts) : "");
    const double mean = spec.meanSteps();
    program.steps = std::max<std::int64_t>(1, std::llround(mean));
    program.longest = ((spec.keys + spec.tileKeys - 1) / spec.tileKeys + spec.cuts - 1) / spec.cuts;
    program.fewest = 3;
    program.tileM = spec.tileQueries, program.tileN = spec.tileKeys, program.tileK = spec.keyDim;
    program.build = [spec](std::int64_t steps) {
        FlashSpec some = spec;
        some.steps = steps;
        return gpusim::flashTemplate(some);
    };
    return program;
}

/// `operations`: of an element, in place of those of the kernel's function; 0: those.
Expected<KernelProgram> vectorProgram(const Kernel& kernel, const DrawnMachine& drawn, double operations = 0) {
    const double element = std::max(sizeOf(kernel.type), 0.5);
    KernelProgram program;
    if (kernel.kind == KernelKind::Softmax || kernel.kind == KernelKind::Normalization) {
        RowsSpec spec;
        spec.rows = extent(extent(kernel.batch) * kernel.m), spec.columns = extent(kernel.n);
        const double elements = static_cast<double>(spec.rows) * static_cast<double>(spec.columns);
        const VectorWork work = vectorWork(kernel);
        spec.readBytes = kernel.readBytes > 0 ? std::max(kernel.readBytes / elements, element) : element;
        spec.writeBytes = kernel.writeBytes > 0 ? kernel.writeBytes / elements : element;
        spec.operations = work.operations, spec.specials = work.exponentials;
        spec.binaryVersion = drawn.generation.computeCapability;
        if (elements > static_cast<double>(mostExtent) || spec.rows > mostBlocks) return tooLarge(kernel);
        program.name = fmt::format("{} rows of {}", spec.rows, spec.columns);
        program.build = [spec](std::int64_t) { return gpusim::rowsTemplate(spec); };
        return program;
    }
    ElementsSpec spec;
    const double counted =
        static_cast<double>(kernel.batch) * static_cast<double>(kernel.m) * static_cast<double>(kernel.n);
    const double elements =
        std::max(1.0, counted > 0 ? counted : std::max(kernel.writeBytes, kernel.readBytes) / element);
    if (elements > static_cast<double>(mostExtent)) return tooLarge(kernel);
    spec.elements = static_cast<std::int64_t>(std::ceil(elements));
    const VectorWork work = operations > 0                           ? VectorWork{operations, 0}
                            : kernel.kind == KernelKind::Elementwise ? vectorWork(kernel)
                                                                     : VectorWork{kernel.flops / elements, 0};
    spec.readBytes = kernel.readBytes / elements, spec.writeBytes = kernel.writeBytes / elements;
    spec.operations = work.operations, spec.specials = work.exponentials;
    spec.unroll = elements * element > 64.0 * 1024 * drawn.machine.sms ? 4 : 1;
    spec.binaryVersion = drawn.generation.computeCapability;
    program.name = fmt::format("{} elements", spec.elements);
    program.build = [spec](std::int64_t) { return gpusim::elementsTemplate(spec); };
    return program;
}

/// The stream of a convolution in groups, where intervals say that it is faster than a product's tiles.
std::optional<Kernel> fasterStream(const Kernel& kernel, const GpuView& gpu) {
    auto stream = convolutionAsStream(kernel);
    if (!stream) return std::nullopt;
    const IntervalMachine machine = intervalMachine(gpu);
    const IntervalPlan product = planIntervals(machine, kernel), direct = planIntervals(machine, *stream);
    const double cycles = std::max(direct.stack.total(), operandSeconds(kernel, gpu) * machine.clock);
    if (!direct.covered || (product.covered && product.stack.total() <= cycles)) return std::nullopt;
    return stream;
}

/// As libraries compute it directly: a multiplication and an addition for each weight of a result's window. What a
/// thread reads again comes from registers; of L1 nothing is asked.
Expected<KernelProgram> directProgram(const Kernel& kernel, const Kernel& stream, const DrawnMachine& drawn) {
    const double elements = static_cast<double>(stream.m) * static_cast<double>(stream.n);
    auto program = vectorProgram(stream, drawn, kernel.flops / 2 / elements);
    if (program) program->name = "direct, " + program->name;
    return program;
}

}  // namespace

Expected<KernelProgram> programOf(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine) {
    switch (kernel.kind) {
        case KernelKind::Gemm:
            return productProgram(kernel, gpu, machine);
        case KernelKind::Convolution:
            if (const auto stream = fasterStream(kernel, gpu)) return directProgram(kernel, *stream, machine);
            return productProgram(kernel, gpu, machine);
        case KernelKind::Experts:
            return productProgram(expertsAsProduct(kernel), gpu, machine);
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            return attentionProgram(kernel, gpu, machine);
        case KernelKind::Softmax:
        case KernelKind::Normalization:
        case KernelKind::Elementwise:
        case KernelKind::Movement:
        case KernelKind::Other:
            return vectorProgram(kernel, machine);
        case KernelKind::Collective:
            break;
    }
    return fail("gpu.template", "a collective has no template of instructions", {}, "its time is that of its links");
}

Expected<std::vector<KernelProgram>> programsOf(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine) {
    constexpr std::size_t most = 3;
    std::vector<KernelProgram> out;
    const auto take = [&](Expected<KernelProgram> one) -> Expected<void> {
        if (!one) return tl::unexpected(one.error());
        if (std::none_of(out.begin(), out.end(), [&](const auto& each) { return each.name == one->name; }))
            out.push_back(std::move(*one));
        return {};
    };
    if (kernel.kind != KernelKind::Gemm || machine.generation.lanes != 32) {
        if (const auto only = take(programOf(kernel, gpu, machine)); !only) return tl::unexpected(only.error());
        return out;
    }
    const auto usual = usualPlan(kernel, gpu, machine);
    if (!usual) return tl::unexpected(usual.error());
    if (const auto first = take(productProgram(kernel, gpu, machine, usual->plan, true)); !first)
        return tl::unexpected(first.error());
    if (usual->byRule) return out;
    const IntervalMachine intervals = intervalMachine(gpu);
    for (const IntervalPlan& plan :
         planProducts(intervals, intervalProductOf(kernel), most, furtherKernel * intervals.clock))
        (void)take(productProgram(kernel, gpu, machine, plan, true));
    return out;
}

Expected<KernelProgram> programOf(const Kernel& product, const GpuView& gpu, const DrawnMachine& machine,
                                  const ProductTile& tile) {
    ProductSpec spec = untiled(product);
    spec.form = multiplyForm(gpu, machine.generation, product.type, tile.m >= 64);
    spec.tileM = tile.m, spec.tileN = tile.n, spec.tileK = tile.k, spec.warps = tile.warps, spec.splits = tile.splits,
    spec.stages = tile.stages;
    bringAs(machine.generation, spec);
    if (const char* why = whyNot(spec, machine))
        return fail("gpu.template", fmt::format("a tile of {}×{}×{} by {} warps cannot run: {}", tile.m, tile.n, tile.k,
                                                tile.warps, why));
    spec.registers = registersAsked(spec, machine);
    return tiledProgram(product, spec);
}

}  // namespace orrery
