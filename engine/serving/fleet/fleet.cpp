#include "serving/fleet/fleet.h"

#include "serving/fields/field.h"
#include "serving/routers/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

Place at(std::string path) {
    return Place{{}, 0, 0, std::move(path)};
}

Expected<void> check(const ReplicaSpec& replica, const std::string& path) {
    if (!replica.time) {
        return fail("serving.no-time", "the replica has no source of iteration times", "a table, a law or a method",
                    "choose how iterations are timed", at(path));
    }
    if (replica.time->stages() < 1 || replica.time->stages() > 1024) {
        return fail("serving.bad-stages", fmt::format("{} pipeline stages", replica.time->stages()), "1 to 1024", {},
                    at(path));
    }
    if (replica.tokensPerBlock < 1) {
        return fail("serving.block-size", fmt::format("a KV block of {} tokens", replica.tokensPerBlock),
                    "1 token or more; 16 is usual", {}, at(path + ".block"));
    }
    if (replica.kvBlocks < 1) {
        return fail("serving.no-memory", "no memory is left for the KV cache", "one block or more",
                    "use more devices, fewer bits per weight, or a smaller model", at(path + ".kv-blocks"));
    }
    if (replica.kvBlocks > (std::int64_t{1} << 40)) {
        return fail("serving.no-memory", fmt::format("{} KV blocks", replica.kvBlocks), "at most 2^40", {},
                    at(path + ".kv-blocks"));
    }
    if (replica.wave >= 0 && replica.time->stages() > 1) {
        return fail("serving.waves", "ranks that share experts have several pipeline stages", "one stage",
                    "take the pipeline or the wave away", at(path + ".wave"));
    }
    const auto& drafts = replica.speculation;
    if (drafts.drafts < 0 || drafts.drafts > 64 || !(drafts.acceptance >= 0 && drafts.acceptance <= 1) ||
        !(drafts.draftSeconds >= 0 && std::isfinite(drafts.draftSeconds))) {
        return fail("serving.speculation", "speculation with numbers that make no sense",
                    "0 to 64 drafts, an acceptance from 0 to 1, a time from 0 on", {}, at(path + ".speculation"));
    }
    auto scheduler = orrery::check(replica.scheduler);
    if (!scheduler) scheduler.error().place = at(path + ".scheduler");
    return scheduler;
}

}  // namespace

std::string_view toText(ReplicaRole role) {
    switch (role) {
        case ReplicaRole::Whole:
            return "whole";
        case ReplicaRole::Prefill:
            return "prefill";
        case ReplicaRole::Decode:
            return "decode";
    }
    return "";
}

bool serves(const ReplicaSpec& replica, const RequestStream& stream, RequestIndex r) {
    if (replica.tenants.empty()) return true;
    const std::int32_t tenant = stream.tenant.empty() ? 0 : stream.tenant[r];
    return std::find(replica.tenants.begin(), replica.tenants.end(), tenant) != replica.tenants.end();
}

ServiceLevel promiseTo(const FleetSpec& fleet, std::int32_t tenant) {
    ServiceLevel promise = fleet.promise;
    const auto at = static_cast<std::size_t>(std::max(0, tenant));
    if (at < fleet.tenantTtft.size() && fleet.tenantTtft[at] > 0) promise.ttft = fleet.tenantTtft[at];
    return promise;
}

Expected<void> check(const FleetSpec& fleet) {
    if (fleet.replicas.empty()) {
        return fail("serving.no-replica", "the fleet has no replica", "one replica or more", "add a pool");
    }
    bool starts = false, prefills = false, decodes = false;
    for (std::size_t i = 0; i < fleet.replicas.size(); ++i) {
        const auto& replica = fleet.replicas[i];
        const auto path = fmt::format("replicas[{}]", i);
        if (auto good = check(replica, path); !good) return good;
        starts |= replica.role != ReplicaRole::Decode;
        prefills |= replica.role == ReplicaRole::Prefill;
        decodes |= replica.role == ReplicaRole::Decode;
    }
    if (prefills != decodes || !starts) {
        return fail("serving.roles",
                    prefills ? "prompts are computed apart, but no replica decodes"
                             : "replicas decode prompts that no replica computes",
                    "prefill and decode replicas together", "give both pools at least one replica", at("pools"));
    }
    if (!findRouter(fleet.router.id)) {
        std::string known;
        for (const auto& card : routers()) known += fmt::format("{}{}", known.empty() ? "" : ", ", card.id);
        return fail("serving.unknown-router", fmt::format("there is no router `{}`", fleet.router.id), known, {},
                    at("router"));
    }
    if (auto good = checkFields(fleet.router, "router"); !good) return good;
    if (auto good = checkFields(fleet.transfer, "transfer"); !good) return good;
    if (auto good = checkFields(fleet.autoscale, "autoscale"); !good) return good;
    if (auto good = checkFields(fleet.promise, "promise"); !good) return good;
    for (std::size_t i = 0; i < fleet.failures.size(); ++i) {
        const ReplicaFailure& failure = fleet.failures[i];
        const std::string path = fmt::format("failures[{}]", i + 1);
        if (auto good = checkFields(failure, path); !good) return good;
        if (static_cast<std::size_t>(failure.replica) >= fleet.replicas.size()) {
            return fail("serving.failure", fmt::format("a failure of replica {} at {} s", failure.replica, failure.at),
                        fmt::format("a replica from 0 to {}", fleet.replicas.size() - 1), {}, at(path + "/replica"));
        }
    }
    return {};
}

}  // namespace orrery
