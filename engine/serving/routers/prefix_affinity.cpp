#include "serving/routers/all.h"
#include "serving/routers/prefix_directory.h"
#include "serving/routers/router_base.h"

namespace orrery {

namespace {

class PrefixAffinity final : public RouterBase {
public:
    PrefixAffinity(const RouterSpec& spec, const FleetView& view)
        : RouterBase(view), weight_(spec.weight), directory_(view.size()) {}

private:
    std::int32_t choose(RequestIndex r, bool decode, SimTime) override {
        const RequestStream& stream = *view_.requests->stream;
        if (decode) return fewestOutstanding();
        directory_.hits(stream, r, hits_);
        std::int32_t best = -1;
        double least = 0;
        for (const std::int32_t i : candidates_) {
            const auto at = static_cast<std::size_t>(i);
            const double cost = static_cast<double>(view_.schedulers[at]->pendingTokens()) - weight_ * hits_[at];
            const bool better = best < 0 || cost < least || (cost == least && outstanding(i) < outstanding(best));
            if (better) best = i, least = cost;
        }
        directory_.sent(stream, r, best);
        return best;
    }
    std::int32_t fewestOutstanding() const {
        std::int32_t best = candidates_.front();
        for (const std::int32_t i : candidates_)
            if (outstanding(i) < outstanding(best)) best = i;
        return best;
    }
    double weight_;
    PrefixDirectory directory_;
    std::vector<std::int32_t> hits_;
};

}  // namespace

RouterCard prefixAffinity() {
    return {
        "prefix-affinity", "Prefix affinity",
        "To the replica with the fewest tokens to compute before the answer begins: those that wait, less `weight` × "
        "those that its cache should hold. Weights above 1 keep conversations together at the price of balance.",
        "as SGLang's cache-aware router and llm-d score",
        [](const RouterSpec& spec, const FleetView& view) -> std::unique_ptr<Router> {
            return std::make_unique<PrefixAffinity>(spec, view);
        }};
}

}  // namespace orrery
