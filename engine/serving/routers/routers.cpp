#include "serving/routers/all.h"

namespace orrery {

std::span<const RouterCard> routers() {
    static const std::vector<RouterCard> all{
        roundRobin(),
        leastOutstanding(),
        randomReplica(),
        shortestQueue(),
        powerOfTwo(),
        prefixAffinity(),
        predictedLatency(),
        mooncakeConductor(),
        splitwisePools(),
    };
    return all;
}

const RouterCard* findRouter(std::string_view id) {
    for (const auto& card : routers()) {
        if (card.id == id) return &card;
    }
    return nullptr;
}

}  // namespace orrery
