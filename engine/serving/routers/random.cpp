#include "base/random.h"

#include "serving/routers/all.h"
#include "serving/routers/router_base.h"

#include <bit>
#include <random>

namespace orrery {

namespace {

class RandomReplica final : public RouterBase {
public:
    explicit RandomReplica(const FleetView& view) : RouterBase(view), random_(view.seed, 0x726f757465ull) {}

private:
    std::int32_t choose(RequestIndex, bool, SimTime) override {
        return candidates_[static_cast<std::size_t>(random_.below(candidates_.size()))];
    }
    RandomStream random_;
};

// Python's `random` after `random.seed(seed)` and `weight` words drawn: the Mersenne Twister keyed by an array of one
// number (Matsumoto and Nishimura, 1998, init_by_array), and randint by rejection of its upper bits.
class PythonRandomReplica final : public RouterBase {
public:
    PythonRandomReplica(const FleetView& view, double drawn) : RouterBase(view) {
        constexpr std::uint32_t n = std::mt19937::state_size;
        std::vector<std::uint32_t> state(n);
        state[0] = 19650218u;
        for (std::uint32_t i = 1; i < n; ++i) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
        const std::uint32_t keys[2] = {static_cast<std::uint32_t>(view.seed),
                                       static_cast<std::uint32_t>(view.seed >> 32)};
        const std::uint32_t length = keys[1] != 0 ? 2 : 1;
        std::uint32_t i = 1, j = 0;
        const auto wrap = [&] {
            if (++i >= n) {
                state[0] = state[n - 1];
                i = 1;
            }
        };
        for (std::uint32_t k = 0; k < n; ++k) {
            state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525u)) + keys[j] + j;
            wrap();
            if (++j >= length) j = 0;
        }
        for (std::uint32_t k = 0; k < n - 1; ++k) {
            state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941u)) - i;
            wrap();
        }
        state[0] = 0x80000000u;
        State words(std::move(state));
        engine_.seed(words);
        engine_.discard(static_cast<unsigned long long>(drawn));
    }

private:
    // What std::mt19937 takes as a seed sequence: hands over the state as it is.
    struct State {
        using result_type = std::uint32_t;
        std::vector<std::uint32_t> words;
        explicit State(std::vector<std::uint32_t> state) : words(std::move(state)) {}
        template <class It>
        void generate(It begin, It end) {
            for (std::size_t k = 0; begin != end; ++begin, ++k) *begin = words[k];
        }
    };
    std::int32_t choose(RequestIndex, bool, SimTime) override {
        const auto n = static_cast<std::uint32_t>(candidates_.size());
        const int bits = std::bit_width(n);
        std::uint32_t r;
        do r = static_cast<std::uint32_t>(engine_()) >> (32 - bits);
        while (r >= n);
        return candidates_[r];
    }
    std::mt19937 engine_;
};

}  // namespace

RouterCard randomReplica() {
    return {"random", "Random", "Any replica, each as likely as the others.",
            "compatibility `vidur`: Python's generator after `weight` words drawn from it",
            [](const RouterSpec& spec, const FleetView& view) -> std::unique_ptr<Router> {
                if (spec.compatibility == "vidur") return std::make_unique<PythonRandomReplica>(view, spec.weight);
                return std::make_unique<RandomReplica>(view);
            }};
}

}  // namespace orrery
