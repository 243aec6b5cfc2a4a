#include "serving/routers/all.h"
#include "serving/routers/router_base.h"

namespace orrery {

namespace {

class LeastOutstanding final : public RouterBase {
public:
    LeastOutstanding(const RouterSpec& spec, const FleetView& view)
        : RouterBase(view), waitingOnly_(spec.compatibility == "vidur") {}

private:
    // Vidur looks at the queues alone: those are nearly always empty, so that the first replica gets nearly everything.
    std::int32_t choose(RequestIndex, bool, SimTime) override {
        std::int32_t best = -1, fewest = 0;
        for (const std::int32_t i : candidates_) {
            const std::int32_t load =
                waitingOnly_ ? view_.schedulers[static_cast<std::size_t>(i)]->waiting() : outstanding(i);
            if (best < 0 || load < fewest) {
                best = i;
                fewest = load;
            }
        }
        return best;
    }
    bool waitingOnly_;
};

}  // namespace

RouterCard leastOutstanding() {
    return {"least-outstanding", "Least outstanding",
            "To the replica with the fewest requests, those that run and those on their way included.",
            "compatibility `vidur`: counts requests that wait, as Vidur's LOR does",
            [](const RouterSpec& spec, const FleetView& view) -> std::unique_ptr<Router> {
                return std::make_unique<LeastOutstanding>(spec, view);
            }};
}

}  // namespace orrery
