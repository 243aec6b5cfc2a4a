#include "measurement/machine_loops.h"

#include <chrono>
#include <cstdint>

namespace orrery {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

template <int Lanes>
struct Register {
    typedef float type __attribute__((vector_size(Lanes * sizeof(float))));
};

// Twelve sums that do not wait for each other hide the latency of four to five cycles on two pipes.
template <int Lanes>
[[gnu::always_inline]] inline float multiplyAdds(std::uint64_t rounds) {
    using V = typename Register<Lanes>::type;
    V sum[12], factor = {}, addend = {};
    for (int i = 0; i < Lanes; ++i) factor[i] = 0.999F, addend[i] = 0.5F;
    for (auto& each : sum) each = addend;
    for (std::uint64_t r = 0; r < rounds; ++r) {
        for (auto& each : sum) {
            each = each * factor + addend;
        }
    }
    float total = 0;
    for (auto& each : sum) total += each[0];
    return total;
}

#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] float multiplyAdds512(std::uint64_t rounds) {
    return multiplyAdds<16>(rounds);
}
[[gnu::target("avx2,fma"), gnu::noinline]] float multiplyAdds256(std::uint64_t rounds) {
    return multiplyAdds<8>(rounds);
}
#endif
[[gnu::noinline]] float multiplyAdds128(std::uint64_t rounds) {
    return multiplyAdds<4>(rounds);
}

}  // namespace

double clockByAdditions() {
    constexpr std::uint64_t rounds = 200'000;
    double best = 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::uint64_t x = 0;
        const auto start = Clock::now();
        for (std::uint64_t i = 0; i < rounds; ++i) {
            // The empty statements keep the additions one by one.
            x += 3;
            asm volatile("" : "+r"(x));
            x += 5;
            asm volatile("" : "+r"(x));
            x += 7;
            asm volatile("" : "+r"(x));
            x += 9;
            asm volatile("" : "+r"(x));
        }
        const double rate = 4 * static_cast<double>(rounds) / secondsSince(start);
        best = rate > best ? rate : best;
    }
    return best;
}

VectorWidth vectorWidth() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {"avx512", 16};
    if (__builtin_cpu_supports("avx2")) return {"avx2", 8};
#endif
    return {"128 bit", 4};
}

double multiplyAddRate() {
    constexpr std::uint64_t rounds = 100'000;
    const int lanes = vectorWidth().lanes;
    double best = 0;
    [[maybe_unused]] volatile float kept = 0;
    for (int attempt = 0; attempt < 7; ++attempt) {
        const auto start = Clock::now();
#if defined(__x86_64__)
        kept = lanes == 16 ? multiplyAdds512(rounds) : lanes == 8 ? multiplyAdds256(rounds) : multiplyAdds128(rounds);
#else
        kept = multiplyAdds128(rounds);
#endif
        const double rate = 2.0 * 12 * lanes * static_cast<double>(rounds) / secondsSince(start);
        best = rate > best ? rate : best;
    }
    return best;
}

#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void addInto(const float* a, const float* b, float* c, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
}

}  // namespace orrery
