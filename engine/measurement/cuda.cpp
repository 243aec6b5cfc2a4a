#include "measurement/cuda.h"

#include "base/random.h"
#include "measurement/cuda_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace orrery {

namespace {

// So many products in one graph that its launch and the events do not count.
constexpr double leastGraph = 200e-6;
constexpr std::size_t mostInGraph = 512;

struct Format {
    int operand, sum, result, resultBytes;
};
std::optional<Format> formatOf(DType type) {
    switch (type) {
        case DType::F32:
            return Format{Cublas::float32, Cublas::sumInFloat, Cublas::float32, 4};
        case DType::F16:
            return Format{Cublas::half, Cublas::sumInFloat, Cublas::half, 2};
        case DType::BF16:
            return Format{Cublas::bfloat, Cublas::sumInFloat, Cublas::bfloat, 2};
        case DType::I8:
            return Format{Cublas::int8, Cublas::sumInInt, Cublas::int32, 4};
        default:
            return std::nullopt;
    }
}

/// A driver, a device of it, and what is made on it; all of it ends with the last kernel.
struct Device {
    CudaDriver driver;
    Cublas cublas;
    NvmlWatch watch;
    int number = 0;
    void *context = nullptr, *stream = nullptr, *handle = nullptr, *begin = nullptr, *end = nullptr;

    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() {
        if (begin) driver.endEvent(begin);
        if (end) driver.endEvent(end);
        if (handle) cublas.destroy(handle);
        if (stream) driver.endStream(stream);
        if (context) driver.releaseContext(number);
    }
    Expected<void> sound(int error, std::string_view what) const {
        if (error == 0) return {};
        return fail("measure.cuda", fmt::format("{} failed: {}", what, driver.text(error)), "a GPU that works",
                    "look at `nvidia-smi`; other programs may hold its memory");
    }
    /// The driver's calls are of the context that the calling thread uses.
    Expected<void> use() const { return sound(driver.useContext(context), "using the GPU"); }
};
using DevicePtr = std::shared_ptr<const Device>;

class DeviceMemory {
public:
    explicit DeviceMemory(DevicePtr device) : device_(std::move(device)) {}
    DeviceMemory(DeviceMemory&& other) noexcept : device_(std::move(other.device_)), at_(std::exchange(other.at_, 0)) {}
    DeviceMemory& operator=(DeviceMemory&&) = delete;
    ~DeviceMemory() {
        if (at_) device_->driver.release(at_);
    }
    /// Filled with `pattern` over and over: power, and so the clock, hang on what is multiplied.
    Expected<void> take(std::size_t bytes, const std::vector<std::byte>& pattern) {
        if (auto got = device_->sound(device_->driver.allocate(&at_, bytes), "taking memory of the GPU"); !got)
            return got;
        for (std::size_t done = 0; done < bytes; done += pattern.size()) {
            const std::size_t part = std::min(pattern.size(), bytes - done);
            if (auto put = device_->sound(device_->driver.upload(at_ + done, pattern.data(), part), "filling memory");
                !put)
                return put;
        }
        return {};
    }
    void* at() const { return reinterpret_cast<void*>(at_); }

private:
    DevicePtr device_;
    CudaPointer at_ = 0;
};

/// Numbers in [-1, 1), or all bytes, as the type stores them.
std::vector<std::byte> randomOperand(DType type) {
    constexpr std::size_t bytes = std::size_t{1} << 22;
    std::vector<std::byte> pattern(bytes);
    RandomStream random(1);
    const std::size_t each = static_cast<std::size_t>(bits(type)) / 8;
    for (std::size_t i = 0; i < bytes; i += each) {
        const auto value = static_cast<float>(2 * random.uniform() - 1);
        std::uint32_t word;
        std::memcpy(&word, &value, sizeof word);
        if (type == DType::F32) std::memcpy(&pattern[i], &word, 4);
        if (type == DType::BF16) {
            const auto upper = static_cast<std::uint16_t>(word >> 16);
            std::memcpy(&pattern[i], &upper, 2);
        }
        if (type == DType::F16) {
            // Sign and mantissa at random below one: no conversion of halves is needed for that.
            const auto half = static_cast<std::uint16_t>((word >> 16 & 0x8000u) | 0x3800u | (word >> 13 & 0x3FFu));
            std::memcpy(&pattern[i], &half, 2);
        }
        if (type == DType::I8) pattern[i] = static_cast<std::byte>(random() & 0xFFu);
    }
    return pattern;
}

class ProductRunner final : public KernelRunner {
public:
    ProductRunner(DevicePtr device, const Kernel& kernel, Format format)
        : device_(std::move(device)), kernel_(kernel), format_(format), input_(device_), result_(device_) {}
    ~ProductRunner() override {
        if (graph_) device_->driver.endGraph(graph_);
    }

    Expected<void> prepare(double coldBytes) {
        const double batch = static_cast<double>(std::max<std::int64_t>(1, kernel_.batch));
        const double m = double(kernel_.m), n = double(kernel_.n), k = double(kernel_.k);
        const double each = bits(kernel_.type) / 8.0, weights = each * n * k * batch;
        const auto copies = static_cast<std::size_t>(std::clamp(std::ceil(coldBytes / weights), 1.0, 64.0));
        std::size_t free = 0, all = 0;
        if (auto known = device_->sound(device_->driver.memory(&free, &all), "asking for free memory"); !known)
            return known;
        const double needed = each * m * k * batch + format_.resultBytes * m * n * batch + double(copies) * weights;
        if (needed > 0.9 * double(free)) {
            return fail("measure.memory", fmt::format("{} takes {:.3g} GB", toText(kernel_), needed / 1e9),
                        fmt::format("at most {:.3g} GB, what is free on the GPU", 0.9e-9 * double(free)));
        }
        const auto pattern = randomOperand(kernel_.type);
        if (auto took = input_.take(static_cast<std::size_t>(each * m * k * batch), pattern); !took) return took;
        if (auto took = result_.take(static_cast<std::size_t>(format_.resultBytes * m * n * batch), pattern); !took)
            return took;
        for (std::size_t i = 0; i < copies; ++i) {
            weights_.emplace_back(device_);
            if (auto took = weights_.back().take(static_cast<std::size_t>(weights), pattern); !took) return took;
        }
        // The first run loads the kernel and may be refused; the next says how many make a sample.
        if (auto first = alone(0); !first) return tl::unexpected(std::move(first.error()));
        const auto once = alone(1);
        if (!once) return tl::unexpected(once.error());
        const double wanted = std::ceil(leastGraph / std::max(*once, 1e-7) / double(copies)) * double(copies);
        inGraph_ = static_cast<std::size_t>(std::clamp(wanted, double(copies), double(std::max(mostInGraph, copies))));
        return capture();
    }

    void run(std::size_t number) override { (void)alone(number); }

    /// One launch of the graph, whatever was asked for: the mean of its products.
    Expected<double> seconds(std::size_t, std::size_t runs) override {
        const auto& driver = device_->driver;
        if (auto used = device_->use(); !used) return tl::unexpected(std::move(used.error()));
        const auto took = between([&] { return driver.launchGraph(graph_, device_->stream); });
        if (!took) return took;
        return *took / double(inGraph_) * double(runs);
    }

private:
    int start(std::size_t number) const {
        const float one = 1, zero = 0;
        const std::int32_t oneInt = 1, zeroInt = 0;
        const bool whole = format_.sum == Cublas::sumInInt;
        const void* alpha = whole ? static_cast<const void*>(&oneInt) : &one;
        const void* beta = whole ? static_cast<const void*>(&zeroInt) : &zero;
        const int m = int(kernel_.m), n = int(kernel_.n), k = int(kernel_.k);
        const void* weights = weights_[number % weights_.size()].at();
        // Rows lie side by side with us, columns with cuBLAS: it computes the transposed result.
        const int turned = kernel_.transposedWeight ? Cublas::turned : Cublas::asItIs;
        const int row = kernel_.transposedWeight ? k : n;
        if (kernel_.batch <= 1) {
            return device_->cublas.product(device_->handle, turned, Cublas::asItIs, n, m, k, alpha, weights,
                                           format_.operand, row, input_.at(), format_.operand, k, beta, result_.at(),
                                           format_.result, n, format_.sum, Cublas::anyAlgorithm);
        }
        const long long stepW = 1LL * n * k, stepX = 1LL * m * k, stepY = 1LL * m * n;
        return device_->cublas.products(device_->handle, turned, Cublas::asItIs, n, m, k, alpha, weights,
                                        format_.operand, row, stepW, input_.at(), format_.operand, k, stepX, beta,
                                        result_.at(), format_.result, n, stepY, int(kernel_.batch), format_.sum,
                                        Cublas::anyAlgorithm);
    }

    /// Seconds on the device of what `start` puts into the stream.
    template <class Start>
    Expected<double> between(Start&& start) const {
        const auto& driver = device_->driver;
        int error = driver.recordEvent(device_->begin, device_->stream);
        if (!error) error = start();
        if (!error) error = driver.recordEvent(device_->end, device_->stream);
        if (!error) error = driver.awaitEvent(device_->end);
        float milliseconds = 0;
        if (!error) error = driver.elapsed(&milliseconds, device_->begin, device_->end);
        if (auto went = device_->sound(error, "timing a kernel"); !went) return tl::unexpected(std::move(went.error()));
        return 1e-3 * double(milliseconds);
    }

    Expected<double> alone(std::size_t number) const {
        int refused = 0;
        const auto took = between([&] { return refused = start(number), 0; });
        if (refused != 0) {
            return fail("measure.unsupported",
                        fmt::format("cuBLAS does not run {} (status {})", toText(kernel_), refused),
                        "products in fp32, fp16 or bf16, or in int8 with extents that are multiples of four");
        }
        return took;
    }

    Expected<void> capture() {
        const auto& driver = device_->driver;
        if (auto begun =
                device_->sound(driver.beginCapture(device_->stream, CudaDriver::captureAnyCall), "recording a graph");
            !begun)
            return begun;
        int refused = 0;
        for (std::size_t i = 0; i < inGraph_ && !refused; ++i) refused = start(i);
        void* recorded = nullptr;
        const int ended = driver.endCapture(device_->stream, &recorded);
        int error = ended;
        if (!error && !refused) error = driver.makeGraph(&graph_, recorded, 0);
        if (recorded) driver.forgetCapture(recorded);
        if (refused) {
            return fail("measure.unsupported",
                        fmt::format("cuBLAS cannot be recorded for {} (status {})", toText(kernel_), refused));
        }
        return device_->sound(error, "making a graph");
    }

    DevicePtr device_;
    Kernel kernel_;
    Format format_;
    DeviceMemory input_, result_;
    std::vector<DeviceMemory> weights_;
    std::size_t inGraph_ = 1;
    void* graph_ = nullptr;
};

class CublasKernels final : public KernelLibrary {
public:
    CublasKernels(DevicePtr device, std::string name) : device_(std::move(device)), name_(std::move(name)) {}
    std::string name() const override { return name_; }
    double clock() const override { return device_->watch.clock(); }
    Expected<KernelRunnerPtr> make(const Kernel& kernel, double coldBytes) const override {
        const auto format = formatOf(kernel.type);
        if (kernel.kind != KernelKind::Gemm || !format || kernel.weightType != kernel.type ||
            std::max({kernel.m, kernel.n, kernel.k}) > INT32_MAX) {
            return fail("measure.unsupported", fmt::format("{} does not run {}", name_, toText(kernel)),
                        "products in fp32, fp16, bf16 or int8");
        }
        if (auto used = device_->use(); !used) return tl::unexpected(std::move(used.error()));
        auto runner = std::make_unique<ProductRunner>(device_, kernel, *format);
        if (auto ready = runner->prepare(coldBytes); !ready) return tl::unexpected(std::move(ready.error()));
        return KernelRunnerPtr(std::move(runner));
    }

private:
    DevicePtr device_;
    std::string name_;
};

/// 11402 is 11.4, 120304 is 12.3: the number changed its form with version 12.
std::string versionText(int version) {
    return version < 100'000 ? fmt::format("{}.{}", version / 1000, version / 100 % 10)
                             : fmt::format("{}.{}", version / 10'000, version / 100 % 100);
}

}  // namespace

Expected<GpuLibrary> loadCuda(int ordinal) {
    auto made = std::make_shared<Device>();
    auto driver = CudaDriver::open();
    if (!driver) return tl::unexpected(std::move(driver.error()));
    made->driver = std::move(*driver);
    const auto& d = made->driver;
    if (const auto begun = made->sound(d.init(0), "starting the driver"); !begun) return tl::unexpected(begun.error());
    int count = 0;
    if (const auto counted = made->sound(d.deviceCount(&count), "counting GPUs"); !counted)
        return tl::unexpected(counted.error());
    if (ordinal < 0 || ordinal >= count) {
        return fail("measure.device", fmt::format("there is no cuda:{}", ordinal),
                    count > 0 ? fmt::format("cuda:0 to cuda:{}", count - 1) : std::string("a GPU"),
                    "CUDA_VISIBLE_DEVICES may hide some");
    }
    auto cublas = Cublas::open();
    if (!cublas) return tl::unexpected(std::move(cublas.error()));
    made->cublas = std::move(*cublas);
    char name[256] = {}, bus[64] = {};
    int l2 = 0;
    int error = d.device(&made->number, ordinal);
    if (!error) error = d.deviceName(name, sizeof name - 1, made->number);
    if (!error) error = d.deviceAttribute(&l2, CudaDriver::l2Bytes, made->number);
    if (!error) error = d.deviceBus(bus, sizeof bus - 1, made->number);
    if (!error) error = d.retainContext(&made->context, made->number);
    if (!error) error = d.useContext(made->context);
    if (!error) error = d.makeStream(&made->stream, CudaDriver::streamByItself);
    if (!error) error = d.makeEvent(&made->begin, 0);
    if (!error) error = d.makeEvent(&made->end, 0);
    if (const auto ready = made->sound(error, "opening the GPU"); !ready) return tl::unexpected(ready.error());
    int version = 0;
    int status = made->cublas.create(&made->handle);
    if (!status) status = made->cublas.useStream(made->handle, made->stream);
    if (!status) status = made->cublas.version(made->handle, &version);
    if (status) {
        return fail("measure.cuda", fmt::format("cuBLAS did not start (status {})", status),
                    "a cuBLAS that fits the driver", "update NVIDIA's driver, or use an older CUDA");
    }
    made->watch = NvmlWatch(bus);
    GpuLibrary gpu{nullptr, name, double(l2), made->watch.busy()};
    gpu.library = std::make_shared<const CublasKernels>(std::move(made), "cuBLAS " + versionText(version));
    return gpu;
}

Expected<void> refuseBusyGpu(const GpuLibrary& gpu) {
    constexpr double most = 0.1;
    if (gpu.busy <= most) return {};
    return fail("measure.busy",
                fmt::format("other programs use {} for {:.0f} % of the time", gpu.device, 100 * gpu.busy),
                "a GPU that does nothing else", "stop them, or measure all the same with --busy-ok");
}

}  // namespace orrery
