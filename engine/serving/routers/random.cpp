#include "base/random.h"

#include "serving/traffic/python_random.h"
#include "serving/routers/all.h"
#include "serving/routers/router_base.h"

#include <algorithm>
#include <bit>

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

// Python's randint after `random.seed(seed)` and `weight` words drawn: the upper bits of a word, again while too large.
class PythonRandomReplica final : public RouterBase {
public:
    PythonRandomReplica(const FleetView& view, double drawn) : RouterBase(view), random_(view.seed) {
        for (double i = 0; i < std::min(drawn, 1e9); ++i) random_.word();
    }

private:
    std::int32_t choose(RequestIndex, bool, SimTime) override {
        const auto n = static_cast<std::uint32_t>(candidates_.size());
        const int bits = std::bit_width(n);
        std::uint32_t drawn = n;
        while (drawn >= n) drawn = random_.word() >> (32 - bits);
        return candidates_[drawn];
    }
    PythonRandom random_;
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
