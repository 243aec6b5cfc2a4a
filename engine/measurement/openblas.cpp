#include "measurement/dynamic_library.h"
#include "measurement/kernel_runner.h"
#include "measurement/machine_loops.h"
#include "measurement/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace orrery {

namespace {

using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
constexpr int rowMajor = 101, asItIs = 111, turned = 112;

Diagnostic notRun(const std::string& library, const Kernel& kernel, std::string_view expected) {
    return fail("measure.unsupported", fmt::format("{} does not run {}", library, toText(kernel)),
                std::string(expected), "install oneDNN (libdnnl2) for more kinds and types")
        .value();
}

class SgemmRunner final : public KernelRunner {
public:
    SgemmRunner(Sgemm* sgemm, const Kernel& kernel, std::size_t copies)
        : sgemm_(sgemm), m_(int(kernel.m)), n_(int(kernel.n)), k_(int(kernel.k)), turned_(kernel.transposedWeight) {
        a_.assign(std::size_t(m_) * std::size_t(k_), 0.5F);
        c_.assign(std::size_t(m_) * std::size_t(n_), 0);
        weights_.assign(copies, std::vector<float>(std::size_t(n_) * std::size_t(k_), 0.25F));
    }
    void run(std::size_t number) override {
        const auto& b = weights_[number % weights_.size()];
        sgemm_(rowMajor, asItIs, turned_ ? turned : asItIs, m_, n_, k_, 1, a_.data(), k_, b.data(), turned_ ? k_ : n_,
               0, c_.data(), n_);
    }

private:
    Sgemm* sgemm_;
    int m_, n_, k_;
    bool turned_;
    std::vector<float> a_, c_;
    std::vector<std::vector<float>> weights_;
};

class OpenBlas final : public KernelLibrary {
public:
    OpenBlas(DynamicLibrary library, Sgemm* sgemm, std::string name)
        : library_(std::move(library)), sgemm_(sgemm), name_(std::move(name)) {}
    std::string name() const override { return name_; }
    Expected<KernelRunnerPtr> make(const Kernel& kernel, double coldBytes) const override {
        if (kernel.kind != KernelKind::Gemm || kernel.type != DType::F32 || kernel.weightType != DType::F32 ||
            kernel.batch > 1) {
            return tl::unexpected(notRun(name_, kernel, "products in fp32, one at a time"));
        }
        if (kernel.bytes() > mostKernelBytes) {
            return fail("measure.memory", fmt::format("{} takes {:.3g} GB", toText(kernel), kernel.bytes() / 1e9),
                        fmt::format("at most {:g} GB", mostKernelBytes / 1e9));
        }
        const double bytes = 4.0 * double(kernel.n) * double(kernel.k);
        const auto copies = static_cast<std::size_t>(std::clamp(coldBytes / bytes, 1.0, 64.0));
        return KernelRunnerPtr(std::make_unique<SgemmRunner>(sgemm_, kernel, copies));
    }

private:
    DynamicLibrary library_;
    Sgemm* sgemm_;
    std::string name_;
};

class AddRunner final : public KernelRunner {
public:
    AddRunner(std::shared_ptr<Workers> workers, std::size_t count) : workers_(std::move(workers)), each_(count) {
        for (auto* array : {&a_, &b_, &c_}) array->assign(count, 1.0F);
        each_ = (count + workers_->count() - 1) / workers_->count();
    }
    void run(std::size_t) override {
        workers_->run([this](std::size_t part) {
            const std::size_t begin = std::min(part * each_, a_.size()), end = std::min(begin + each_, a_.size());
            addInto(a_.data() + begin, b_.data() + begin, c_.data() + begin, end - begin);
        });
    }

private:
    std::shared_ptr<Workers> workers_;
    std::size_t each_;
    std::vector<float> a_, b_, c_;
};

class OwnKernels final : public KernelLibrary {
public:
    std::string name() const override { return "loops of Orrery"; }
    Expected<KernelRunnerPtr> make(const Kernel& kernel, double) const override {
        const bool adds = kernel.kind == KernelKind::Elementwise && kernel.type == DType::F32 && kernel.operands == 2 &&
                          (kernel.function == "Add" || kernel.function.empty());
        if (!adds || kernel.bytes() > mostKernelBytes) {
            return tl::unexpected(notRun(name(), kernel, "additions in fp32"));
        }
        return KernelRunnerPtr(std::make_unique<AddRunner>(workers_, std::size_t(kernel.m * kernel.n)));
    }

private:
    std::shared_ptr<Workers> workers_ = std::make_shared<Workers>(usableCores());
};

}  // namespace

Expected<KernelLibraryPtr> loadOpenBlas() {
    constexpr std::string_view names[] = {"libopenblas.so.0"};
    auto library = DynamicLibrary::open(names);
    if (!library) return Unexpected(std::move(library.error()));
    Sgemm* sgemm = nullptr;
    char* (*config)() = nullptr;
    if (!library->load(sgemm, "cblas_sgemm")) {
        return fail("measure.no-library", fmt::format("{} has no cblas_sgemm", library->name()), "OpenBLAS",
                    "on Debian: apt install libopenblas0");
    }
    std::string name = "OpenBLAS";
    if (library->load(config, "openblas_get_config")) {
        const std::string_view said = config();
        name = std::string(said.substr(0, said.find(' ', said.find(' ') + 1)));
    }
    return KernelLibraryPtr(std::make_shared<const OpenBlas>(std::move(*library), sgemm, std::move(name)));
}

KernelLibraryPtr ownKernels() {
    return std::make_shared<const OwnKernels>();
}

}  // namespace orrery
