#include "methods/trace/engine_overheads.h"

#include <algorithm>

namespace orrery {

namespace {

class Padded final : public IterationTime {
public:
    Padded(IterationTimePtr inner, std::vector<std::int32_t> sizes)
        : inner_(std::move(inner)), sizes_(std::move(sizes)) {}
    IterationPrice price(const IterationWork& work) const override {
        const auto size = std::lower_bound(sizes_.begin(), sizes_.end(), work.tokens);
        if (size == sizes_.end() || *size == work.tokens) return inner_->price(work);
        IterationWork padded = work;
        padded.tokens = *size;
        return inner_->price(padded);
    }
    int stages() const override { return inner_->stages(); }
    std::vector<std::string> assumptions() const override {
        auto all = inner_->assumptions();
        all.push_back("Iterations are padded to the sizes of captured graphs.");
        return all;
    }

private:
    IterationTimePtr inner_;
    std::vector<std::int32_t> sizes_;
};

class Hosted final : public IterationTime {
public:
    Hosted(IterationTimePtr inner, const HostOverhead& overhead) : inner_(std::move(inner)), overhead_(overhead) {}
    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price = inner_->price(work);
        const auto sequences = static_cast<double>(work.prompts.size() + work.decodes.size());
        const double host =
            overhead_.perIteration + overhead_.perSequence * sequences + overhead_.perToken * work.tokens;
        const int stages = inner_->stages();
        if (overhead_.launch > 0) {
            price.lastSeconds += overhead_.launch;
            price.seconds += overhead_.launch;
        }
        // The slowest stage sets the rhythm behind which the host can hide.
        const double device = stages == 1 ? price.lastSeconds : std::max(price.seconds, price.lastSeconds);
        price.host += overhead_.asynchronous ? std::max(0.0, host - device) : host;
        return price;
    }
    int stages() const override { return inner_->stages(); }
    std::vector<std::string> assumptions() const override {
        auto all = inner_->assumptions();
        all.push_back(overhead_.asynchronous ? "The host plans the next iteration while the device computes."
                                             : "The device waits for the host between iterations.");
        return all;
    }

private:
    IterationTimePtr inner_;
    HostOverhead overhead_;
};

}  // namespace

IterationTimePtr withGraphPadding(IterationTimePtr inner, std::vector<std::int32_t> sizes) {
    if (sizes.empty()) return inner;
    return std::make_shared<Padded>(std::move(inner), std::move(sizes));
}

std::vector<std::int32_t> vllmGraphSizes(std::int32_t largest) {
    std::vector<std::int32_t> sizes;
    for (std::int32_t size = 1; size <= largest; size += size < 4 ? size : size < 8 ? 4 : size < 256 ? 8 : 16)
        sizes.push_back(size);
    return sizes;
}

IterationTimePtr withHostOverhead(IterationTimePtr inner, const HostOverhead& overhead) {
    return std::make_shared<Hosted>(std::move(inner), overhead);
}

}  // namespace orrery
