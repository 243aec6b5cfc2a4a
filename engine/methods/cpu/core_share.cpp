#include "methods/cpu/core_share.h"

#include "methods/answer/vector_functions.h"
#include "simulation/cpu/cores/split.h"

#include <algorithm>
#include <cmath>

namespace orrery {

using pipeline::KernelSpec;
using pipeline::Machine;

namespace {

constexpr std::int64_t largest = 1 << 20;  // size of a form

std::int64_t shares(std::int64_t whole, std::int64_t parts) {
    return (whole + parts - 1) / parts;
}

std::string widest(const Machine& machine) {
    for (const char* set : {"avx512", "avx2", "sve", "neon"}) {
        if (machine.has(set)) return set;
    }
    return "scalar";
}

class Sharing {
public:
    Sharing(const Kernel& kernel, const Machine& machine, std::int64_t cores, bool framework)
        : kernel_(kernel), machine_(machine), cores_(std::max<std::int64_t>(1, cores)), framework_(framework) {
        const bool product = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution;
        // Tiles of fp16 came a generation after those of bf16 and int8.
        matrix_ = bits(kernel.type) < 32 && product && machine.has(kernel.type == DType::F16 ? "amx-fp16" : "amx");
        if (matrix_) {
            share_.spec.instructionSet = "amx";
            lanes_ = 32;
        } else {
            useVectors(hasHalves());
        }
    }

    std::optional<CoreShare> make() {
        switch (kernel_.kind) {
            case KernelKind::Gemm:
                if (kernel_.m <= pipeline::fewRows) {
                    if (!fewRows()) return std::nullopt;
                    break;
                }
                product(std::max<std::int64_t>(1, kernel_.batch), kernel_.m, kernel_.n, kernel_.k);
                break;
            case KernelKind::Convolution:
                if (!convolution()) return std::nullopt;
                break;
            case KernelKind::PrefillAttention:
            case KernelKind::DecodeAttention:
                attention();
                break;
            case KernelKind::Softmax:
            case KernelKind::Normalization: {
                const std::int64_t rows = spread(kernel_.m);
                set(kernel_.kind == KernelKind::Softmax ? "softmax" : "norm", {{"rows", rows}, {"columns", kernel_.n}});
                break;
            }
            case KernelKind::Elementwise: {
                const bool exponential = vectorWork(kernel_).exponentials > 0;
                const std::int64_t elements = spread(kernel_.m * kernel_.n);
                const std::int64_t rounds = shares(elements, largest);
                share_.rounds = double(rounds);
                set(exponential ? "silu" : kernel_.operands > 1 ? "add" : "relu", {{"n", shares(elements, rounds)}});
                break;
            }
            default:
                return std::nullopt;
        }
        for (const auto& [name, size] : share_.spec.sizes) {
            if (size < 1 || size > largest) return std::nullopt;
        }
        return share_;
    }

private:
    void set(const char* form, std::initializer_list<std::pair<const char*, std::int64_t>> sizes) {
        share_.spec.kernel = form;
        for (const auto& [name, size] : sizes) share_.spec.sizes[name] = size;
    }
    // Pieces of one extent: what the busiest core has.
    std::int64_t spread(std::int64_t whole) {
        share_.active = std::clamp<std::int64_t>(whole, 1, cores_);
        return shares(whole, share_.active);
    }

    std::pair<std::int64_t, std::int64_t> grid(std::int64_t rows, std::int64_t columns, std::int64_t cores) {
        const pipeline::Grid made = pipeline::gridOf(rows, columns, lanes_, cores);
        share_.active *= made.down * made.across;
        share_.down = shares(rows, made.rows);
        share_.across = shares(columns, made.columns);
        return {made.rows, made.columns};
    }

    // From the pieces of both operands that each of so many cores has, the whole operands and the result.
    void noteReaders(double cores, double pieceA, double pieceB, double a, double b, double result) {
        share_.readers = std::max(1.0, (cores * (pieceA + pieceB) + result) / (a + b + result));
    }

    void product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
        if (batch >= cores_) {
            share_.active = cores_, share_.rounds = double(shares(batch, cores_));
            set("gemm", {{"m", m}, {"n", n}, {"k", k}});
            return;
        }
        share_.active = batch;
        const auto [rows, columns] = grid(m, n, cores_ / batch);
        noteReaders(double(share_.active) / double(batch), double(rows * k), double(k * columns), double(m * k),
                    double(k * n), double(m * n));
        set("gemm", {{"m", rows}, {"n", columns}, {"k", k}});
    }

    // Kernels that are written in half precision, where the core computes in it.
    bool hasHalves() const {
        if (kernel_.type != DType::F16 || !machine_.has(pipeline::fp16Set)) return false;
        return kernel_.kind == KernelKind::Convolution || kernel_.kind == KernelKind::Gemm ||
               (kernel_.kind == KernelKind::Elementwise && vectorWork(kernel_).exponentials <= 0);
    }
    void useVectors(bool halves) {
        matrix_ = false;
        share_.spec.instructionSet = halves ? std::string(pipeline::fp16Set) : widest(machine_);
        share_.widened = bits(kernel_.type) < 32 && !halves;
        lanes_ = pipeline::registerBytes(machine_, share_.spec.instructionSet) /
                 pipeline::elementBytes(share_.spec.instructionSet);
    }

    bool fewRows() {
        if (framework_ && kernel_.m <= 1) {
            share_.rounds = double(std::max<std::int64_t>(1, kernel_.batch));
            set("gemm", {{"m", kernel_.m}, {"n", kernel_.n}, {"k", kernel_.k}});
            return true;
        }
        const int width = bits(kernel_.weightType);
        if (width < 8) return false;
        useVectors(false);
        const std::int64_t batch = std::max<std::int64_t>(1, kernel_.batch);
        const std::int64_t together = std::min(batch, cores_), across = cores_ / together;
        const std::int64_t columns = shares(kernel_.n, std::min(kernel_.n, across));
        share_.rounds = double(shares(batch, together));
        share_.active = together * shares(kernel_.n, columns);
        set("matvec", {{"m", kernel_.m}, {"n", columns}, {"k", kernel_.k}, {"bytes", std::min(4, width / 8)}});
        return true;
    }

    bool depthwise(const ConvolutionShape& c) {
        if (c.kernelHeight != c.kernelWidth || c.kernelHeight > 31 || c.dilation != 1) return false;
        useVectors(hasHalves());
        share_.active = std::min(c.batch, cores_);
        share_.rounds = double(shares(c.batch, share_.active));
        const auto [rows, channels] = grid(c.outHeight, c.outChannels, std::max<std::int64_t>(1, cores_ / c.batch));
        const auto reach = [&](std::int64_t made) { return (made - 1) * c.stride + c.kernelHeight; };
        set("depthwise", {{"c", channels},
                          {"h", reach(rows)},
                          {"w", reach(c.outWidth)},
                          {"r", c.kernelHeight},
                          {"stride", c.stride}});
        return true;
    }

    bool convolution() {
        const ConvolutionShape& c = kernel_.convolution;
        const std::int64_t groups = std::max<std::int64_t>(1, c.groups);
        if (groups > 1 && groups == c.inChannels) return depthwise(c);
        const std::int64_t in = c.inChannels / groups, out = c.outChannels / groups;
        const bool direct = !matrix_ && c.kernelHeight == c.kernelWidth && c.kernelHeight > 1 && c.kernelHeight < 32 &&
                            c.dilation == 1 && c.outWidth > 1;
        const std::int64_t images = c.batch * groups;
        if (!direct) {
            product(groups, c.batch * c.outHeight * c.outWidth, out, in * c.kernelHeight * c.kernelWidth);
            return true;
        }
        share_.active = std::min(images, cores_);
        share_.oneWeight = groups == 1;
        share_.rounds = double(shares(images, share_.active));
        const auto reach = [&](std::int64_t made) { return (made - 1) * c.stride + c.kernelHeight; };
        const double taps = double(in * c.kernelHeight * c.kernelWidth), across = double(in * reach(c.outWidth));
        const auto [rows, columns] = grid(c.outHeight, out, std::max<std::int64_t>(1, cores_ / images));
        noteReaders(double(share_.active) / double(std::min(images, cores_)), across * double(reach(rows)),
                    taps * double(columns), across * double(reach(c.outHeight)), taps * double(out),
                    double(c.outHeight * c.outWidth * out));
        set("conv", {{"c", in},
                     {"k", columns},
                     {"h", reach(rows)},
                     {"w", reach(c.outWidth)},
                     {"r", c.kernelHeight},
                     {"stride", c.stride}});
        return true;
    }

    void attention() {
        const AttentionShape& a = kernel_.attention;
        // Heads that share keys are rows of one product.
        const std::int64_t together = std::max<std::int64_t>(1, a.heads / std::max<std::int64_t>(1, a.kvHeads));
        const bool decode = kernel_.kind == KernelKind::DecodeAttention;
        const std::int64_t heads = a.batch * (decode ? a.kvHeads : a.heads);
        std::int64_t keys = kernel_.window > 0 ? std::min(a.keys, kernel_.window) : a.keys;
        if (a.causal && !decode && a.keys == a.queries) keys = std::max<std::int64_t>(1, (keys + 1) / 2);
        const std::int64_t queries = decode ? together : a.queries, mine = spread(heads);
        // What is left of the cores divides the queries of a head.
        const std::int64_t across = decode ? 1 : std::clamp<std::int64_t>(cores_ / heads, 1, queries);
        const std::int64_t piece = shares(queries, across), parts = shares(queries, piece);
        share_.active *= parts;
        share_.across = parts;
        const double row = double(a.headDim), kept = 2 * double(keys) * row;
        noteReaders(double(parts), double(piece) * row, kept, double(queries) * row, kept, double(queries) * row);
        set("attention", {{"heads", mine}, {"q", piece}, {"kv", keys}, {"d", a.headDim}});
    }

    const Kernel& kernel_;
    const Machine& machine_;
    std::int64_t cores_, lanes_ = 1;
    bool framework_ = false, matrix_ = false;
    CoreShare share_;
};

}  // namespace

std::optional<CoreShare> coreShareOf(const Kernel& kernel, const Machine& machine, std::int64_t cores, bool framework) {
    return Sharing(kernel, machine, cores, framework).make();
}

Machine machineAmong(Machine machine, const CoreView& core, double bandwidth, double active, double readers) {
    const double reach = core.caches.empty() ? 1 : std::min(core.caches.back().sharedBy, active);
    machine.memoryBandwidth =
        std::min(machine.memoryBandwidth, bandwidth / active * std::clamp(readers, 1.0, std::max(1.0, reach)));
    for (std::size_t i = 0; i < machine.caches.size() && i < core.caches.size(); ++i)
        machine.caches[i].bytes /= std::max(1.0, std::min(core.caches[i].sharedBy, active));
    return machine;
}

pipeline::Chip chipAmong(const Machine& machine, const CoreView& core, double bandwidth, const CoreShare& share,
                         int together) {
    const double active = double(share.active);
    const auto sharers = [&](std::size_t level) {
        const double drawn = level < core.caches.size() ? core.caches[level].sharedBy : 1;
        return std::max<std::int64_t>(1, std::min<std::int64_t>(std::llround(drawn), share.active));
    };
    int cores = static_cast<int>(std::clamp<std::int64_t>(together, 1, share.active));
    const auto divides = [&] {
        std::int64_t inside = 1;
        for (std::size_t level = 0; level < machine.caches.size(); ++level) {
            const std::int64_t here = std::min<std::int64_t>(sharers(level), cores);
            if (cores % here != 0 || here % inside != 0) return false;
            inside = here;
        }
        return true;
    };
    while (cores > 1 && !divides()) --cores;
    pipeline::Chip chip;
    chip.core = machine;
    chip.cores = cores;
    double reach = 1;
    for (std::size_t level = 0; level < machine.caches.size(); ++level) {
        const double all = double(sharers(level)), here = std::min(all, double(cores));
        pipeline::CacheSpec& cache = chip.core.caches[level];
        cache.bytes = std::max(64.0 * cache.ways, cache.bytes * here / all);
        chip.sharedBy.push_back(static_cast<int>(here));
        reach = all;
    }
    // What more cores read than are here comes for all of them at once too.
    const double readers = std::clamp(share.readers, 1.0, reach);
    chip.nodeBandwidth = bandwidth * cores / active * readers / std::min(readers, double(cores));
    chip.core.memoryBandwidth = std::min(chip.core.memoryBandwidth, chip.nodeBandwidth);
    return chip;
}

std::vector<std::vector<std::int64_t>> copiesAmong(const pipeline::LoopNest& nest, const CoreShare& share, int cores) {
    std::vector<std::vector<std::int64_t>> copies;
    const std::int64_t pieces = share.down * share.across;
    for (std::int64_t core = 0; core < cores; ++core) {
        const std::int64_t problem = core / pieces, piece = core % pieces;
        const std::int64_t row = problem * share.down + piece / share.across;
        const std::int64_t column = (share.oneWeight ? 0 : problem * share.across) + piece % share.across;
        copies.push_back(pipeline::copiesOf(nest, share.spec.kernel, row, column, core));
    }
    return copies;
}

}  // namespace orrery
