#include "base/random.h"
#include "serving/routers/all.h"
#include "serving/routers/router_base.h"

namespace orrery {

namespace {

class PowerOfTwo final : public RouterBase {
public:
    explicit PowerOfTwo(const FleetView& view) : RouterBase(view), random_(view.seed, 0x70326fu) {}

private:
    std::int32_t choose(RequestIndex, bool, SimTime) override {
        const std::size_t count = candidates_.size();
        const std::size_t a = random_.below(count);
        if (count == 1) return candidates_[a];
        std::size_t b = random_.below(count - 1);
        if (b >= a) ++b;
        return outstanding(candidates_[b]) < outstanding(candidates_[a]) ? candidates_[b] : candidates_[a];
    }
    RandomStream random_;
};

}  // namespace

RouterCard powerOfTwo() {
    return {"power-of-two", "Power of two choices",
            "Looks at two replicas drawn at random and takes the one with fewer requests: nearly as even as looking at "
            "all, at the cost of two.",
            "Mitzenmacher, IEEE TPDS 2001", [](const RouterSpec&, const FleetView& view) -> std::unique_ptr<Router> {
                return std::make_unique<PowerOfTwo>(view);
            }};
}

}  // namespace orrery
