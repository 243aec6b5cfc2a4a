// oneDNN's C interface of version 2, as far as it is used: its descriptors are plain structs that its own functions
// fill, so that room for the largest is all that has to be known of them.

#include "measurement/dynamic_library.h"
#include "measurement/kernel_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace orrery {

namespace {

constexpr int dnnlMaxDims = 12;
using Dims = std::array<std::int64_t, dnnlMaxDims>;
struct alignas(16) MemoryDesc {
    std::array<std::byte, 4096> room;
};
struct alignas(16) OperationDesc {
    std::array<std::byte, 32768> room;
};
struct ExecArg {
    int arg;
    void* memory;
};
enum DnnlType { dnnlBf16 = 2, dnnlF32 = 3, dnnlS32 = 4, dnnlS8 = 5, dnnlU8 = 6 };
constexpr int argSource = 1, argSource1 = 2, argDest = 17, argWeights = 33, argMean = 49, argVariance = 50;
constexpr int anyLayout = 1, weightsLayout = 131;  // a format tag; a query
constexpr int forwardInference = 96, convolutionAuto = 3, eltwiseRelu = 0x1f, eltwiseGelu = 0x30, binaryAdd = 0x1fff0;

struct Functions {
    int (*engineCreate)(void**, int, std::size_t) = nullptr;
    int (*streamCreate)(void**, void*, unsigned) = nullptr;
    int (*streamWait)(void*) = nullptr;
    int (*memoryDesc)(MemoryDesc*, int, const std::int64_t*, int, const std::int64_t*) = nullptr;
    int (*memoryDescByTag)(MemoryDesc*, int, const std::int64_t*, int, int) = nullptr;
    std::size_t (*memorySize)(const void*) = nullptr;
    const void* (*queryLayout)(const void*, int, int) = nullptr;
    int (*memoryCreate)(void**, const void*, void*, void*) = nullptr;
    int (*memoryDestroy)(void*) = nullptr;
    int (*matmul)(OperationDesc*, const MemoryDesc*, const MemoryDesc*, const MemoryDesc*, const MemoryDesc*) = nullptr;
    int (*softmax)(OperationDesc*, int, const MemoryDesc*, int) = nullptr;
    int (*normalise)(OperationDesc*, int, const MemoryDesc*, const MemoryDesc*, float, unsigned) = nullptr;
    int (*eltwise)(OperationDesc*, int, int, const MemoryDesc*, float, float) = nullptr;
    int (*binary)(OperationDesc*, int, const MemoryDesc*, const MemoryDesc*, const MemoryDesc*) = nullptr;
    int (*convolve)(OperationDesc*, int, int, const MemoryDesc*, const MemoryDesc*, const MemoryDesc*,
                    const MemoryDesc*, const std::int64_t*, const std::int64_t*, const std::int64_t*) = nullptr;
    int (*descCreate)(void**, const void*, const void*, void*, const void*) = nullptr;
    int (*descDestroy)(void*) = nullptr;
    int (*primitiveCreate)(void**, const void*) = nullptr;
    int (*primitiveDestroy)(void*) = nullptr;
    int (*execute)(void*, void*, int, const ExecArg*) = nullptr;
};

struct OneDnn {
    Functions f;
    void *engine = nullptr, *stream = nullptr;
};
using OneDnnPtr = std::shared_ptr<const OneDnn>;

int typeOf(DType type) {
    switch (type) {
        case DType::F32:
            return dnnlF32;
        case DType::BF16:
            return dnnlBf16;
        case DType::I8:
            return dnnlS8;
        default:
            return 0;
    }
}

// Memory whose bytes are small numbers of the type, so that no arithmetic meets denormals or infinities.
struct Block {
    std::vector<std::byte> bytes;
    MemoryDesc desc;
    void* memory = nullptr;
};

// One primitive after another; operands are kept as long as the runner.
class DnnlRunner final : public KernelRunner {
public:
    explicit DnnlRunner(OneDnnPtr library) : library_(std::move(library)) {}
    ~DnnlRunner() override {
        for (const auto& step : steps_) library_->f.primitiveDestroy(step.primitive);
        for (const auto& block : blocks_) library_->f.memoryDestroy(block->memory);
    }
    // Returns the block's number, or -1.
    int add(int dims, const Dims& extents, int type, const Dims* strides = nullptr) {
        auto block = std::make_unique<Block>();
        Dims packed{};
        std::int64_t count = 1;
        for (int d = dims - 1; d >= 0; --d) {
            packed[std::size_t(d)] = count;
            count *= extents[std::size_t(d)];
        }
        if (library_->f.memoryDesc(&block->desc, dims, extents.data(), type,
                                   strides ? strides->data() : packed.data()) != 0)
            return -1;
        const std::size_t size = type == dnnlF32 || type == dnnlS32 ? 4 : type == dnnlBf16 ? 2 : 1;
        block->bytes.resize(std::size_t(count) * size);
        const void* layout = &block->desc;
        return add(std::move(block), layout, size);
    }
    const MemoryDesc* desc(int block) const { return &blocks_[std::size_t(block)]->desc; }
    // `weights`: the blocks of which run i takes the i-th; empty: all arguments are fixed.
    bool step(const OperationDesc& operation, std::vector<std::pair<int, int>> arguments,
              std::vector<int> weights = {}) {
        void* desc = nullptr;
        if (library_->f.descCreate(&desc, &operation, nullptr, library_->engine, nullptr) != 0) return false;
        const bool made = step(desc, std::move(arguments), std::move(weights));
        library_->f.descDestroy(desc);
        return made;
    }
    // The same where weights lie as the primitive likes them, so many copies of them: a model's are reordered once.
    bool stepWithWeights(const OperationDesc& operation, std::vector<std::pair<int, int>> arguments, int type,
                         std::size_t copies) {
        void* desc = nullptr;
        if (library_->f.descCreate(&desc, &operation, nullptr, library_->engine, nullptr) != 0) return false;
        bool made = false;
        if (const void* layout = library_->f.queryLayout(desc, weightsLayout, 0)) {
            std::vector<int> weights;
            for (std::size_t i = 0; i < copies; ++i) {
                auto block = std::make_unique<Block>();
                block->bytes.resize(library_->f.memorySize(layout));
                weights.push_back(add(std::move(block), layout, type == dnnlF32 ? 4 : type == dnnlBf16 ? 2 : 1));
            }
            arguments.emplace_back(argWeights, weights.front());
            made = std::ranges::find(weights, -1) == weights.end() && step(desc, std::move(arguments), weights);
        }
        library_->f.descDestroy(desc);
        return made;
    }
    void run(std::size_t number) override {
        for (auto& step : steps_) {
            if (!step.weights.empty()) {
                const int block = step.weights[number % step.weights.size()];
                step.arguments.back() = {argWeights, blocks_[std::size_t(block)]->memory};
            }
            library_->f.execute(step.primitive, library_->stream, static_cast<int>(step.arguments.size()),
                                step.arguments.data());
        }
        library_->f.streamWait(library_->stream);
    }

private:
    struct Step {
        void* primitive;
        std::vector<ExecArg> arguments;  // weights last
        std::vector<int> weights;
    };
    int add(std::unique_ptr<Block> block, const void* layout, std::size_t size) {
        constexpr float one = 0.5F;
        std::byte pattern[4];
        std::memcpy(pattern, &one, 4);
        std::array<std::byte, 4000> page;
        for (std::size_t i = 0; i < page.size(); ++i) {
            page[i] = size == 1 ? std::byte(i % 5) : size == 2 ? pattern[2 + i % 2] : pattern[i % 4];
        }
        for (std::size_t i = 0; i < block->bytes.size(); i += page.size()) {
            std::memcpy(block->bytes.data() + i, page.data(), std::min(page.size(), block->bytes.size() - i));
        }
        if (library_->f.memoryCreate(&block->memory, layout, library_->engine, block->bytes.data()) != 0) return -1;
        blocks_.push_back(std::move(block));
        return static_cast<int>(blocks_.size()) - 1;
    }
    bool step(const void* desc, std::vector<std::pair<int, int>> arguments, std::vector<int> weights) {
        void* primitive = nullptr;
        if (library_->f.primitiveCreate(&primitive, desc) != 0) return false;
        Step next{primitive, {}, std::move(weights)};
        for (const auto& [arg, block] : arguments) next.arguments.push_back({arg, blocks_[std::size_t(block)]->memory});
        steps_.push_back(std::move(next));
        return true;
    }
    OneDnnPtr library_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::vector<Step> steps_;
};

class OneDnnLibrary final : public KernelLibrary {
public:
    OneDnnLibrary(OneDnnPtr library, std::string version)
        : library_(std::move(library)), version_(std::move(version)) {}
    std::string name() const override { return version_; }

    Expected<KernelRunnerPtr> make(const Kernel& kernel, double coldBytes) const override {
        const int type = typeOf(kernel.type);
        const auto unsupported = [&] {
            return fail("measure.unsupported", fmt::format("{} does not run {}", version_, toText(kernel)),
                        "fp32, bf16 or int8 products, attention, convolutions, additions, ReLU, GELU, softmax, layer "
                        "normalisation");
        };
        if (type == 0) return unsupported();
        if (kernel.bytes() > mostKernelBytes) {
            return fail("measure.memory", fmt::format("{} takes {:.3g} GB", toText(kernel), kernel.bytes() / 1e9),
                        fmt::format("at most {:g} GB", mostKernelBytes / 1e9));
        }
        auto runner = std::make_unique<DnnlRunner>(library_);
        bool made = false;
        switch (kernel.kind) {
            case KernelKind::Gemm:
                made = kernel.weightType == kernel.type && product(*runner, kernel, type, coldBytes);
                break;
            case KernelKind::PrefillAttention:
            case KernelKind::DecodeAttention:
                made = kernel.type != DType::I8 && kernel.window == 0 && attention(*runner, kernel, type);
                break;
            case KernelKind::Convolution:
                made = kernel.weightType == kernel.type && convolution(*runner, kernel, type, coldBytes);
                break;
            case KernelKind::Elementwise:
            case KernelKind::Softmax:
            case KernelKind::Normalization:
                made = rows(*runner, kernel, type);
                break;
            default:
                break;
        }
        if (!made) return unsupported();
        return KernelRunnerPtr(std::move(runner));
    }

private:
    static std::size_t copies(double bytes, double coldBytes) {
        return static_cast<std::size_t>(std::clamp(coldBytes / std::max(bytes, 1.0), 1.0, 64.0));
    }
    static int resultOf(int type) { return type == dnnlS8 ? int(dnnlS32) : type; }

    bool product(DnnlRunner& runner, const Kernel& k, int type, double coldBytes) const {
        const std::int64_t batch = std::max<std::int64_t>(1, k.batch);
        const int dims = batch > 1 ? 3 : 2;
        const auto extents = [&](std::int64_t rows, std::int64_t columns) {
            return dims == 3 ? Dims{batch, rows, columns} : Dims{rows, columns};
        };
        const int a = runner.add(dims, extents(k.m, k.k), type);
        const int c = runner.add(dims, extents(k.m, k.n), resultOf(type));
        // Stored n × k where a linear layer has it so: the same bytes with their strides exchanged.
        const Dims turned = dims == 3 ? Dims{k.n * k.k, 1, k.k} : Dims{1, k.k};
        std::vector<int> weights;
        const double bytes = double(batch) * double(k.n) * double(k.k) * bits(k.weightType) / 8;
        const std::size_t wanted = batch > 1 ? 1 : copies(bytes, coldBytes);
        for (std::size_t i = 0; i < wanted; ++i) {
            weights.push_back(runner.add(dims, extents(k.k, k.n), type, k.transposedWeight ? &turned : nullptr));
            if (weights.back() < 0) return false;
        }
        if (a < 0 || c < 0) return false;
        OperationDesc operation;
        if (library_->f.matmul(&operation, runner.desc(a), runner.desc(weights.front()), nullptr, runner.desc(c)) != 0)
            return false;
        return runner.step(operation, {{argSource, a}, {argDest, c}, {argWeights, weights.front()}}, weights);
    }
    // Scores, softmax, values, each in a kernel of its own: as a framework without fused attention has it.
    bool attention(DnnlRunner& runner, const Kernel& kernel, int type) const {
        const AttentionShape& s = kernel.attention;
        const std::int64_t value = s.valueDim > 0 ? s.valueDim : s.headDim;
        if (s.heads % std::max<std::int64_t>(1, s.kvHeads) != 0) return false;
        // Queries that share a head of keys stand below each other.
        const std::int64_t shared = s.heads / std::max<std::int64_t>(1, s.kvHeads);
        const std::int64_t products = s.batch * std::max<std::int64_t>(1, s.kvHeads), rows = s.queries * shared;
        const Dims turned{s.keys * s.headDim, 1, s.headDim};
        const int q = runner.add(3, {products, rows, s.headDim}, type);
        const int k = runner.add(3, {products, s.headDim, s.keys}, type, &turned);
        const int scores = runner.add(3, {products, rows, s.keys}, type);
        const int v = runner.add(3, {products, s.keys, value}, type);
        const int out = runner.add(3, {products, rows, value}, type);
        if (q < 0 || k < 0 || scores < 0 || v < 0 || out < 0) return false;
        OperationDesc first, second, third;
        const Functions& f = library_->f;
        return f.matmul(&first, runner.desc(q), runner.desc(k), nullptr, runner.desc(scores)) == 0 &&
               runner.step(first, {{argSource, q}, {argDest, scores}, {argWeights, k}}) &&
               f.softmax(&second, forwardInference, runner.desc(scores), 2) == 0 &&
               runner.step(second, {{argSource, scores}, {argDest, scores}}) &&
               f.matmul(&third, runner.desc(scores), runner.desc(v), nullptr, runner.desc(out)) == 0 &&
               runner.step(third, {{argSource, scores}, {argDest, out}, {argWeights, v}});
    }
    // Channels last, which oneDNN has its quickest kernels for, and weights as it likes them: in a layout of ours int8
    // falls back to its reference code, 300 times slower.
    bool convolution(DnnlRunner& runner, const Kernel& kernel, int type, double coldBytes) const {
        const ConvolutionShape& s = kernel.convolution;
        if (s.groups != 1 || s.dilation != 1) return false;
        const auto last = [](std::int64_t c, std::int64_t h, std::int64_t w) { return Dims{c * h * w, 1, w * c, c}; };
        const Dims in = last(s.inChannels, s.height, s.width), out = last(s.outChannels, s.outHeight, s.outWidth);
        const int a = runner.add(4, {s.batch, s.inChannels, s.height, s.width}, type, &in);
        const int c = runner.add(4, {s.batch, s.outChannels, s.outHeight, s.outWidth}, resultOf(type), &out);
        const double bytes =
            double(s.outChannels * s.inChannels * s.kernelHeight * s.kernelWidth) * bits(kernel.weightType) / 8;
        MemoryDesc taps;
        const Dims extents{s.outChannels, s.inChannels, s.kernelHeight, s.kernelWidth};
        if (library_->f.memoryDescByTag(&taps, 4, extents.data(), type, anyLayout) != 0) return false;
        if (a < 0 || c < 0) return false;
        // What makes the output's extent from the input's, as many as needed before and after.
        const auto pad = [&](std::int64_t extent, std::int64_t outExtent, std::int64_t tap) {
            return std::max<std::int64_t>(0, (outExtent - 1) * s.stride + tap - extent);
        };
        const std::int64_t high = pad(s.height, s.outHeight, s.kernelHeight),
                           wide = pad(s.width, s.outWidth, s.kernelWidth);
        const Dims strides{s.stride, s.stride}, before{high / 2, wide / 2}, after{high - high / 2, wide - wide / 2};
        OperationDesc operation;
        if (library_->f.convolve(&operation, forwardInference, convolutionAuto, runner.desc(a), &taps, nullptr,
                                 runner.desc(c), strides.data(), before.data(), after.data()) != 0)
            return false;
        return runner.stepWithWeights(operation, {{argSource, a}, {argDest, c}}, type, copies(bytes, coldBytes));
    }
    bool rows(DnnlRunner& runner, const Kernel& k, int type) const {
        const Functions& f = library_->f;
        const int in = runner.add(2, {k.m, k.n}, type), out = runner.add(2, {k.m, k.n}, type);
        if (in < 0 || out < 0) return false;
        OperationDesc operation;
        if (k.kind == KernelKind::Softmax) {
            return f.softmax(&operation, forwardInference, runner.desc(in), 1) == 0 &&
                   runner.step(operation, {{argSource, in}, {argDest, out}});
        }
        if (k.kind == KernelKind::Normalization) {
            if (k.function != "LayerNormalization" && !k.function.empty()) return false;
            const int mean = runner.add(1, {k.m}, dnnlF32), variance = runner.add(1, {k.m}, dnnlF32);
            return mean >= 0 && variance >= 0 &&
                   f.normalise(&operation, forwardInference, runner.desc(in), runner.desc(mean), 1e-5F, 0) == 0 &&
                   runner.step(operation, {{argSource, in}, {argDest, out}, {argMean, mean}, {argVariance, variance}});
        }
        if (k.operands == 2) {
            if (k.function != "Add" && !k.function.empty()) return false;
            const int second = runner.add(2, {k.m, k.n}, type);
            return second >= 0 &&
                   f.binary(&operation, binaryAdd, runner.desc(in), runner.desc(second), runner.desc(out)) == 0 &&
                   runner.step(operation, {{argSource, in}, {argSource1, second}, {argDest, out}});
        }
        if (k.function != "Relu" && k.function != "Gelu") return false;
        return f.eltwise(&operation, forwardInference, k.function == "Relu" ? eltwiseRelu : eltwiseGelu,
                         runner.desc(in), 0, 0) == 0 &&
               runner.step(operation, {{argSource, in}, {argDest, out}});
    }

    OneDnnPtr library_;
    std::string version_;
};

}  // namespace

Expected<KernelLibraryPtr> loadOneDnn() {
    constexpr std::string_view names[] = {"libdnnl.so.2"};
    auto library = DynamicLibrary::open(names);
    if (!library) return Unexpected(std::move(library.error()));
    auto loaded = std::make_shared<OneDnn>();
    Functions& f = loaded->f;
    const bool complete =
        library->load(f.engineCreate, "dnnl_engine_create") && library->load(f.streamCreate, "dnnl_stream_create") &&
        library->load(f.streamWait, "dnnl_stream_wait") &&
        library->load(f.memoryDesc, "dnnl_memory_desc_init_by_strides") &&
        library->load(f.memoryDescByTag, "dnnl_memory_desc_init_by_tag") &&
        library->load(f.memorySize, "dnnl_memory_desc_get_size") &&
        library->load(f.queryLayout, "dnnl_primitive_desc_query_md") &&
        library->load(f.memoryCreate, "dnnl_memory_create") && library->load(f.memoryDestroy, "dnnl_memory_destroy") &&
        library->load(f.matmul, "dnnl_matmul_desc_init") &&
        library->load(f.softmax, "dnnl_softmax_forward_desc_init") &&
        library->load(f.normalise, "dnnl_layer_normalization_forward_desc_init") &&
        library->load(f.eltwise, "dnnl_eltwise_forward_desc_init") &&
        library->load(f.binary, "dnnl_binary_desc_init") &&
        library->load(f.convolve, "dnnl_convolution_forward_desc_init") &&
        library->load(f.descCreate, "dnnl_primitive_desc_create") &&
        library->load(f.descDestroy, "dnnl_primitive_desc_destroy") &&
        library->load(f.primitiveCreate, "dnnl_primitive_create") &&
        library->load(f.primitiveDestroy, "dnnl_primitive_destroy") &&
        library->load(f.execute, "dnnl_primitive_execute");
    constexpr int cpu = 1;
    constexpr unsigned inOrder = 1;
    if (!complete || f.engineCreate(&loaded->engine, cpu, 0) != 0 ||
        f.streamCreate(&loaded->stream, loaded->engine, inOrder) != 0) {
        return fail("measure.no-library", fmt::format("{} is not oneDNN 2 as Debian 12 has it", library->name()),
                    "libdnnl.so.2", "on Debian: apt install libdnnl2, or libopenblas0");
    }
    struct Version {
        int major, minor, patch;
    };
    const Version* (*version)() = nullptr;
    std::string name = "oneDNN 2";
    if (library->load(version, "dnnl_version")) {
        name = fmt::format("oneDNN {}.{}.{}", version()->major, version()->minor, version()->patch);
    }
    return KernelLibraryPtr(std::make_shared<const OneDnnLibrary>(std::move(loaded), std::move(name)));
}

}  // namespace orrery
