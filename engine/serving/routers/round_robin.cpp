#include "serving/routers/all.h"
#include "serving/routers/router_base.h"

#include <array>

namespace orrery {

namespace {

class RoundRobin final : public RouterBase {
public:
    using RouterBase::RouterBase;

private:
    std::int32_t choose(RequestIndex, bool decode, SimTime) override {
        auto& turn = turn_[decode ? 1 : 0];
        return candidates_[turn++ % candidates_.size()];
    }
    std::array<std::uint64_t, 2> turn_{};
};

}  // namespace

RouterCard roundRobin() {
    return {"round-robin", "Round robin", "One after the other, whatever they are doing.", "",
            [](const RouterSpec&, const FleetView& view) -> std::unique_ptr<Router> {
                return std::make_unique<RoundRobin>(view);
            }};
}

}  // namespace orrery
