#include "serving/scenario_tenants.h"

#include "base/random.h"
#include "base/text/nearest.h"
#include "serving/fields/field.h"
#include "serving/fleet/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace orrery {

namespace {

constexpr std::int32_t mostAdapters = 1'000'000;
constexpr std::size_t mostNames = 4096;
// Of a worker on a host, whose texts are held by no cache.
constexpr std::int64_t hostBlocks = std::int64_t{1} << 40;

Place inList(std::string_view list, std::size_t index, std::string_view field) {
    return Place{.path = fmt::format("{}[{}]/{}", list, index + 1, field)};
}

bool names(const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

bool runs(const ServingScenario& scenario, const StageSpec& stage, const PoolSpec& pool) {
    if (stage.pool == pool.name) return true;
    if (pool.role != ReplicaRole::Decode || stage.pool.empty()) return false;
    const bool named = std::any_of(scenario.stages.begin(), scenario.stages.end(),
                                   [&](const StageSpec& each) { return each.pool == pool.name; });
    return !named && std::any_of(scenario.pools.begin(), scenario.pools.end(), [&](const PoolSpec& each) {
        return each.role == ReplicaRole::Prefill && each.name == stage.pool;
    });
}

Expected<void> checkNames(const ServingScenario& scenario) {
    if (scenario.tenants.size() > mostNames) {
        return fail("serving.tenants", fmt::format("{} tenants", scenario.tenants.size()),
                    fmt::format("at most {}", mostNames), {}, Place{.path = "tenants"});
    }
    std::set<std::string_view> seen;
    double shares = 0;
    std::int64_t adapters = 0;
    for (std::size_t i = 0; i < scenario.tenants.size(); ++i) {
        const TenantSpec& tenant = scenario.tenants[i];
        if (tenant.name.empty() || !seen.insert(tenant.name).second) {
            return fail(
                "serving.tenants",
                tenant.name.empty() ? "a tenant has no name" : fmt::format("two tenants are called '{}'", tenant.name),
                "a name for each", "pools serve tenants by name", inList("tenants", i, "name"));
        }
        auto good = checkFields(tenant, fmt::format("tenants[{}]", i + 1), fmt::format("tenant '{}'", tenant.name));
        if (!good) return good;
        shares += tenant.share;
        adapters += tenant.adapters;
    }
    if (!scenario.tenants.empty() && shares <= 0) {
        return fail("serving.tenants", "every tenant has a share of 0", "at least one above 0", {},
                    Place{.path = "tenants"});
    }
    if (adapters > mostAdapters) {
        return fail("serving.tenants", fmt::format("{} adapters", adapters), fmt::format("at most {}", mostAdapters),
                    {}, Place{.path = "tenants"});
    }
    return {};
}

Expected<void> checkServed(const ServingScenario& scenario) {
    std::vector<std::string> known;
    for (const TenantSpec& tenant : scenario.tenants) known.push_back(tenant.name);
    for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
        for (const std::string& name : scenario.pools[p].serves) {
            if (names(known, name)) continue;
            return fail("serving.tenants",
                        fmt::format("pool '{}' serves '{}', which is no tenant", scenario.pools[p].name, name),
                        "the name of a tenant", didYouMean(name, known), inList("pools", p, "serves"));
        }
    }
    const auto takes = [&](const PoolSpec& pool, const TenantSpec& tenant, const StageSpec* stage) {
        return pool.replicas > 0 && (pool.serves.empty() || names(pool.serves, tenant.name)) &&
               (!stage || runs(scenario, *stage, pool));
    };
    // What begins on a prefill pool must end on a decode pool.
    const auto start = [&](const TenantSpec& tenant, const StageSpec* stage) {
        bool whole = false, prefills = false, decodes = false;
        for (const PoolSpec& pool : scenario.pools) {
            if (!takes(pool, tenant, stage)) continue;
            whole |= pool.role == ReplicaRole::Whole;
            prefills |= pool.role == ReplicaRole::Prefill;
            decodes |= pool.role == ReplicaRole::Decode;
        }
        return prefills ? decodes : whole;
    };
    const auto served = [&](const TenantSpec& tenant) {
        if (scenario.stages.empty()) return start(tenant, nullptr);
        return std::all_of(scenario.stages.begin(), scenario.stages.end(),
                           [&](const StageSpec& stage) { return stage.pool.empty() || start(tenant, &stage); });
    };
    for (std::size_t i = 0; i < scenario.tenants.size(); ++i) {
        if (scenario.tenants[i].share <= 0 || served(scenario.tenants[i])) continue;
        return fail("serving.tenants", fmt::format("no pool serves '{}'", scenario.tenants[i].name),
                    "a pool that serves it, or all", "name it in the `serves` of a pool", inList("tenants", i, "name"));
    }
    return {};
}

Expected<void> checkStage(const ServingScenario& scenario, std::size_t index) {
    const StageSpec& stage = scenario.stages[index];
    auto good = checkFields(stage, fmt::format("stages[{}]", index + 1), fmt::format("stage '{}'", stage.name));
    if (!good) return good;
    if (!stage.pool.empty()) {
        std::vector<std::string> known;
        for (const PoolSpec& pool : scenario.pools) known.push_back(pool.name);
        if (names(known, stage.pool)) return {};
        return fail("serving.stages", fmt::format("stage '{}' runs on '{}', which is no pool", stage.name, stage.pool),
                    "the name of a pool, or seconds", didYouMean(stage.pool, known), inList("stages", index, "pool"));
    }
    if (stage.seconds + stage.perToken <= 0) {
        return fail("serving.stages", fmt::format("stage '{}' has neither a pool nor a time", stage.name),
                    "`pool`, or `seconds` and `per_token`", "name the pool that runs it",
                    inList("stages", index, "name"));
    }
    return {};
}

std::vector<double> untilOf(std::size_t count, const std::function<double(std::size_t)>& weight) {
    std::vector<double> until(count);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) until[i] = sum += weight(i);
    return until;
}
std::int32_t draw(RandomStream& random, const std::vector<double>& until) {
    const double at = random.uniform() * until.back();
    const auto found = std::upper_bound(until.begin(), until.end(), at) - until.begin();
    return static_cast<std::int32_t>(std::min<std::ptrdiff_t>(found, std::ssize(until) - 1));
}

// The trace's own tenants, by name; drawn by share otherwise, one for a whole session.
Expected<void> nameTenants(const ServingScenario& scenario, RequestStream& stream, std::uint64_t seed) {
    std::vector<std::string> known;
    for (const TenantSpec& tenant : scenario.tenants) known.push_back(tenant.name);
    const bool named = !stream.tenant.empty() && !stream.tenantNames.empty();
    if (!stream.tenant.empty() && !named) {
        return fail("serving.tenants", "the traffic draws tenants without names, and tenants are named",
                    "one of the two", "leave `tenants` of the traffic out", Place{.path = "traffic/tenants"});
    }
    if (named) {
        std::vector<std::int32_t> number;
        for (const std::string& name : stream.tenantNames) {
            const auto found = std::find(known.begin(), known.end(), name);
            if (found == known.end()) {
                return fail("serving.tenants", fmt::format("the trace has a tenant '{}' that is not named", name),
                            "every tenant of the trace in `tenants`", didYouMean(name, known),
                            Place{.file = stream.source, .path = "tenants"});
            }
            number.push_back(static_cast<std::int32_t>(found - known.begin()));
        }
        for (std::int32_t& tenant : stream.tenant) tenant = number[static_cast<std::size_t>(tenant)];
    }
    const RandomStream random(seed, 0x74656E616E74ull);
    RandomStream people = random.split(1), wishes = random.split(2);
    const auto shares = untilOf(known.size(), [&](std::size_t i) { return scenario.tenants[i].share; });
    std::vector<std::vector<double>> wished;
    bool any = false;
    for (const TenantSpec& tenant : scenario.tenants) {
        wished.push_back(untilOf(static_cast<std::size_t>(tenant.adapters), [&](std::size_t k) {
            return std::pow(static_cast<double>(k + 1), -tenant.adapterSkew);
        }));
        any |= tenant.adapters > 0;
    }
    if (!named) stream.tenant.assign(stream.size(), 0);
    if (any) stream.adapter.assign(stream.size(), -1);
    for (std::size_t r = 0; r < stream.size(); ++r) {
        const RequestIndex before = stream.after.empty() ? no_request : stream.after[r];
        if (before != no_request) {
            if (!named) stream.tenant[r] = stream.tenant[before];
            if (any) stream.adapter[r] = stream.adapter[before];
            continue;
        }
        if (!named) stream.tenant[r] = draw(people, shares);
        const auto tenant = static_cast<std::size_t>(stream.tenant[r]);
        if (scenario.tenants[tenant].adapters > 0)
            stream.adapter[r] = firstAdapter(scenario, tenant) + draw(wishes, wished[tenant]);
    }
    stream.tenantNames = std::move(known);
    return {};
}

}  // namespace

std::int32_t firstAdapter(const ServingScenario& scenario, std::size_t tenant) {
    std::int32_t first = 0;
    for (std::size_t i = 0; i < tenant; ++i) first += scenario.tenants[i].adapters;
    return first;
}

Expected<void> checkTenants(const ServingScenario& scenario) {
    if (auto good = checkNames(scenario); !good) return good;
    if (scenario.stages.size() > 64) {
        return fail("serving.stages", fmt::format("{} stages", scenario.stages.size()), "at most 64", {},
                    Place{.path = "stages"});
    }
    for (std::size_t i = 0; i < scenario.stages.size(); ++i) {
        if (auto good = checkStage(scenario, i); !good) return good;
    }
    for (std::size_t p = 0; p < scenario.pools.size() && !scenario.stages.empty(); ++p) {
        const PoolSpec& pool = scenario.pools[p];
        if (std::any_of(scenario.stages.begin(), scenario.stages.end(),
                        [&](const StageSpec& stage) { return runs(scenario, stage, pool); }))
            continue;
        return fail("serving.stages", fmt::format("no stage runs on pool '{}'", pool.name), "a stage that names it",
                    "name it in a stage, or take it away", inList("pools", p, "name"));
    }
    return checkServed(scenario);
}

std::vector<std::int32_t> tenantsOf(const ServingScenario& scenario, const PoolSpec& pool) {
    std::vector<std::int32_t> all;
    if (scenario.stages.empty() && pool.serves.empty()) return all;
    const std::size_t tenants = std::max<std::size_t>(1, scenario.tenants.size());
    for (std::size_t s = 0; s < std::max<std::size_t>(1, scenario.stages.size()); ++s) {
        if (!scenario.stages.empty() && !runs(scenario, scenario.stages[s], pool)) continue;
        for (std::size_t t = 0; t < tenants; ++t) {
            if (!pool.serves.empty() && !names(pool.serves, scenario.tenants[t].name)) continue;
            all.push_back(static_cast<std::int32_t>(s * tenants + t));
        }
    }
    return all;
}

std::vector<ReplicaSpec> stageWorkers(const ServingScenario& scenario) {
    std::vector<ReplicaSpec> workers;
    const std::size_t tenants = std::max<std::size_t>(1, scenario.tenants.size());
    for (std::size_t s = 0; s < scenario.stages.size(); ++s) {
        const StageSpec& stage = scenario.stages[s];
        if (!stage.pool.empty()) continue;
        ReplicaSpec worker;
        worker.name = stage.name;
        worker.pool = "stage " + stage.name;
        worker.time = affineTime(stage.seconds, stage.perToken, stage.seconds);
        worker.scheduler.id = "vllm-v1";
        worker.scheduler.maxSequences = stage.together;
        worker.scheduler.more["async"] = 0;
        worker.scheduler.tokenBudget = std::numeric_limits<std::int32_t>::max();
        worker.kvBlocks = hostBlocks;
        worker.devices = 0;
        for (std::size_t t = 0; t < tenants; ++t) worker.tenants.push_back(static_cast<std::int32_t>(s * tenants + t));
        for (std::int32_t i = 0; i < stage.workers; ++i) workers.push_back(worker);
    }
    return workers;
}

Expected<RequestStream> requestsOf(const ServingScenario& scenario, const TrafficSpec& traffic, std::uint64_t seed) {
    if (auto good = checkTenants(scenario); !good) return Unexpected(std::move(good.error()));
    auto stream = makeTraffic(traffic, seed);
    if (!stream) return stream;
    if (!scenario.tenants.empty()) {
        if (auto good = nameTenants(scenario, *stream, seed); !good) return Unexpected(std::move(good.error()));
    } else {
        stream->tenantNames.clear();  // nobody asked for figures by the names of a trace
    }
    if (scenario.stages.empty()) return stream;
    if (scenario.tenants.empty()) stream->tenant.clear();  // fairness among the trace's own is for lone models
    const auto tenants = static_cast<std::int32_t>(std::max<std::size_t>(1, scenario.tenants.size()));
    std::vector<PipelineStage> stages;
    for (const StageSpec& stage : scenario.stages) {
        stages.push_back({stage.name, static_cast<std::int32_t>(stages.size()) * tenants, stage.ofPrompt, stage.added,
                          stage.output, stage.pause});
    }
    auto pipeline = inStages(*stream, stages);
    if (!pipeline) return Unexpected(std::move(pipeline.error()));
    return std::move(pipeline->stream);
}

}  // namespace orrery
