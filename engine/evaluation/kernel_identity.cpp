#include "evaluation/kernel_identity.h"

#include "base/hash.h"

#include <bit>
#include <initializer_list>

namespace orrery {

namespace {

std::uint64_t mixed(std::uint64_t x) {  // splitmix64's finaliser (Steele, Lea, Flood 2014)
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

class Mixer {
public:
    Mixer& add(std::uint64_t number) {
        state_ = mixed(state_ ^ number);
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

}  // namespace

std::uint64_t kernelIdentity(const Kernel& k) {
    Mixer mixer;
    // Enumerations by name: their order in the code may change, a split must not.
    mixer.add(toText(k.kind)).add(toText(k.type));
    switch (k.kind) {
        case KernelKind::Gemm:
            mixer.add(toText(k.weightType)).add({k.scaleBlock, k.quantisesInput, k.bias, k.transposedWeight});
            mixer.add({k.batch, k.m, k.n, k.k});
            break;
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            const auto& a = k.attention;
            mixer.add(toText(k.kvType)).add({a.batch, a.heads, a.kvHeads, a.queries, a.keys, a.headDim, a.valueDim});
            mixer.add({a.causal, a.flash, k.window});
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
            mixer.add(toText(k.collective)).add({static_cast<std::int64_t>(k.library), k.ranks}).add(k.messageBytes);
            break;
        case KernelKind::Movement:
        case KernelKind::Other:
            mixer.add(k.function).add(k.flops).add(k.readBytes).add(k.writeBytes);
            break;
    }
    return mixer.value();
}

double splitPosition(std::uint64_t identity, std::string_view device, std::uint64_t seed) {
    const auto mixedAll = Mixer().add(seed).add(device).add(identity).value();
    return static_cast<double>(mixedAll >> 11) * 0x1p-53;
}

}  // namespace orrery
