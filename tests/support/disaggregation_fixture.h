#pragma once

// Fleets whose times can be worked out on paper: a prompt takes 1 ms per token, a decode step 10 ms whatever it holds.

#include "serving/serving_simulation.h"
#include "support/arrivals.h"

#include <QtTest/QtTest>

#include <memory>
#include <random>

namespace orrery::testing {

class PaperTime : public IterationTime {
public:
    explicit PaperTime(double speed = 1) : speed_(speed) {}
    IterationPrice price(const IterationWork& work) const override {
        double seconds = work.decodes.empty() ? 0 : 0.010;
        for (const PromptChunk& chunk : work.prompts) seconds += 0.001 * chunk.tokens;
        IterationPrice price;
        price.seconds = price.lastSeconds = seconds / speed_;
        return price;
    }

private:
    double speed_;
};

inline ReplicaSpec paperReplica(ReplicaRole role, std::int64_t blocks = 1000, const char* policy = "vllm-v0",
                                double speed = 1) {
    ReplicaSpec replica;
    replica.name = toText(role);
    replica.pool = toText(role);
    replica.role = role;
    replica.time = std::make_shared<PaperTime>(speed);
    replica.scheduler.id = policy;
    replica.scheduler.tokenBudget = 4096;
    replica.scheduler.watermark = 0;
    replica.kvBlocks = blocks;
    replica.kvBytesPerToken = 1000;
    return replica;
}

/// Seeded; `rate` requests per second.
inline std::shared_ptr<RequestStream> randomArrivals(unsigned seed, int count, double rate, int prompt = 400,
                                                     int output = 60) {
    std::mt19937 random(seed);
    std::vector<Arrival> list;
    double now = 0;
    for (int i = 0; i < count; ++i) {
        now += (static_cast<double>(random() % 2000) / 1000) / rate;
        list.push_back({now, 1 + static_cast<int>(random() % static_cast<unsigned>(prompt)),
                        1 + static_cast<int>(random() % static_cast<unsigned>(output))});
    }
    return arrivals(list);
}

inline ServingResult serve(FleetSpec fleet, std::shared_ptr<const RequestStream> stream) {
    ServingOptions options;
    options.events = true;
    auto result = simulate(std::make_shared<FleetSpec>(std::move(fleet)), std::move(stream), options);
    if (!result) qFatal("%s", toText(result.error()).c_str());
    return std::move(*result);
}
inline double firstToken(const ServingResult& result, RequestIndex r) {
    return toSeconds(result.requests.firstToken[r]);
}
inline double ended(const ServingResult& result, RequestIndex r) {
    return toSeconds(result.requests.ended[r]);
}
inline int count(const ServingResult& result, ServingEvent::Kind kind) {
    int number = 0;
    for (const ServingEvent& event : result.events) number += event.kind == kind;
    return number;
}
/// Empty if no token was lost or made, no block is held and everybody ended in order.
inline std::string broken(const ServingResult& result, const RequestStream& stream) {
    const RequestTable& table = result.requests;
    for (RequestIndex r = 0; r < table.size(); ++r) {
        const std::string who = "request " + std::to_string(r) + ": ";
        if (table.blocks[r] != 0)
            return who + "holds blocks, " + std::string(toText(table.state[r])) + " " +
                   std::string(toText(table.reason[r]));
        if (table.state[r] == RequestState::Rejected) {
            if (table.reason[r] == RejectReason::None) return who + "rejected without a reason";
            continue;
        }
        if (table.state[r] != RequestState::Done) return who + std::string(toText(table.state[r]));
        if (table.generated[r] != stream.output[r]) return who + "wrong number of tokens";
        if (table.arrived[r] > table.firstToken[r] || table.firstToken[r] > table.ended[r]) return who + "out of order";
    }
    return {};
}

}  // namespace orrery::testing
