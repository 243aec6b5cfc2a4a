#include "base/hash.h"
#include "workload/kernel.h"

#include <array>
#include <bit>
#include <initializer_list>

namespace orrery {

namespace {

class Mixer {
public:
    Mixer& add(std::uint64_t number) {
        state_ = mixedBits(state_ ^ number);
        return *this;
    }
    Mixer& add(std::initializer_list<std::int64_t> numbers) {
        for (const auto number : numbers) add(static_cast<std::uint64_t>(number));
        return *this;
    }
    Mixer& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }
    Mixer& add(std::string_view text) { return add(Hash().add(text).value()); }
    std::uint64_t value() const { return state_; }

private:
    std::uint64_t state_ = 0;
};

// Enumerations count by name (their order in the code may change, a split must not), hashed once.
template <class Enum, std::size_t count>
std::uint64_t nameHash(Enum value) {
    static const auto hashes = [] {
        std::array<std::uint64_t, count> all{};
        for (std::size_t i = 0; i < count; ++i) all[i] = Hash().add(toText(static_cast<Enum>(i))).value();
        return all;
    }();
    return hashes[static_cast<std::size_t>(value)];
}
std::uint64_t nameHash(KernelKind kind) {
    return nameHash<KernelKind, kernelKindCount>(kind);
}
std::uint64_t nameHash(DType type) {
    return nameHash<DType, dtypeCount>(type);
}
std::uint64_t nameHash(CollectiveOp op) {
    return nameHash<CollectiveOp, 6>(op);
}

}  // namespace

std::uint64_t kernelIdentity(const Kernel& k) {
    Mixer mixer;
    mixer.add(nameHash(k.kind)).add(nameHash(k.type));
    switch (k.kind) {
        case KernelKind::Gemm:
            mixer.add(nameHash(k.weightType)).add({k.scaleBlock, k.quantisesInput, k.bias, k.transposedWeight});
            mixer.add({k.batch, k.m, k.n, k.k});
            break;
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            const auto& a = k.attention;
            mixer.add(nameHash(k.kvType)).add({a.batch, a.heads, a.kvHeads, a.queries, a.keys, a.headDim, a.valueDim});
            mixer.add({a.causal, a.flash, k.window});
            if (k.flashDecoding) mixer.add({1});
            break;
        }
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            mixer.add(k.function).add({k.operands, k.m, k.n});
            break;
        case KernelKind::Convolution: {
            const auto& c = k.convolution;
            mixer.add({c.batch, c.inChannels, c.outChannels, c.groups, c.height, c.width, c.kernelHeight});
            mixer.add({c.kernelWidth, c.outHeight, c.outWidth, c.stride, c.dilation});
            break;
        }
        case KernelKind::Collective:
            mixer.add(nameHash(k.collective)).add({static_cast<std::int64_t>(k.library), k.ranks}).add(k.messageBytes);
            break;
        case KernelKind::Experts: {
            const auto& e = k.experts;
            mixer.add(nameHash(k.weightType)).add({k.scaleBlock, k.quantisesInput});
            mixer.add({e.tokens, e.rows, e.held, e.touched, e.hidden, e.inner, e.gated}).add(e.skew);
            break;
        }
        case KernelKind::Movement:
        case KernelKind::Other:
            mixer.add(k.function).add(k.flops).add(k.readBytes).add(k.writeBytes);
            break;
    }
    return mixer.value();
}

}  // namespace orrery
