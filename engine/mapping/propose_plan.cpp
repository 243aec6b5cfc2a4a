#include "mapping/propose_plan.h"

#include "base/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace orrery {

namespace {

// Sizes of tensor parallelism that divide the model and stay inside the tier.
std::vector<std::int64_t> tensorSizes(const PlanNeeds& needs, const DeviceGroup& devices) {
    std::vector<std::int64_t> sizes{1};
    if (needs.heads <= 0 || devices.tiers.empty()) return sizes;
    const std::int64_t kv = needs.kvHeads > 0 ? needs.kvHeads : needs.heads;
    const std::int64_t inside = devices.tiers.front().size;
    for (std::int64_t n = 2; n <= inside; ++n) {
        const bool divides = inside % n == 0 && needs.heads % n == 0 && needs.width % n == 0;
        if (divides && (kv % n == 0 || n % kv == 0)) sizes.push_back(n);
    }
    return sizes;
}

double bytesOf(const PlanNeeds& needs, const Plan& plan) {
    const std::int64_t layers = std::max<std::int64_t>(1, needs.layers);
    const std::int64_t stage = (layers + plan.pipeline - 1) / plan.pipeline;
    return needs.fixedBytes + needs.bytes * static_cast<double>(stage) / static_cast<double>(layers * plan.tensor);
}

std::string reasonFor(const PlanNeeds& needs, const DeviceGroup& devices, const Plan& plan, double held, double room) {
    const double whole = needs.bytes + needs.fixedBytes;
    if (plan.devices() == 1) {
        return fmt::format("{} needs {}, which one {} holds ({} of {} may be filled).", needs.name,
                           format(Bytes(whole)), devices.name, format(Bytes(room)), format(devices.memory));
    }
    const std::string_view over =
        devices.tiers.empty() ? std::string_view() : std::string_view(devices.tiers.front().name);
    const std::string spread =
        plan.tensor == 1 ? fmt::format("{} stages", plan.pipeline)
        : plan.pipeline == 1
            ? fmt::format("{} tensor-parallel devices over {}", plan.tensor, over)
            : fmt::format("{} stages of {} tensor-parallel devices over {}", plan.pipeline, plan.tensor, over);
    return fmt::format("{} needs {}, and one {} holds {}: {} hold {} each.", needs.name, format(Bytes(whole)),
                       devices.name, format(Bytes(room)), spread, format(Bytes(held)));
}

}  // namespace

Expected<ProposedPlan> proposePlan(const PlanNeeds& needs, const DeviceGroup& devices, double memoryShare) {
    const Place place{.path = devices.path};
    if (devices.memory.value <= 0) {
        return fail("plan.no-memory", fmt::format("`{}` states no memory that could hold {}", devices.name, needs.name),
                    "a DRAM with a `capacity`", "add `capacity` to the device's DRAM", place);
    }
    const double room = devices.memory.value * memoryShare;
    const auto fits = [&](const Plan& plan) { return bytesOf(needs, plan) <= room; };
    const std::vector<std::int64_t> sizes = tensorSizes(needs, devices);
    ProposedPlan out;
    const auto done = [&]() -> Expected<ProposedPlan> {
        out.bytesPerDevice = bytesOf(needs, out.plan);
        out.why = reasonFor(needs, devices, out.plan, out.bytesPerDevice, room);
        return out;
    };
    for (const std::int64_t size : sizes) {
        out.plan.tensor = size;
        if (fits(out.plan)) return done();
    }
    const std::int64_t most = std::min(std::max<std::int64_t>(1, needs.layers), devices.count / out.plan.tensor);
    for (out.plan.pipeline = 2; out.plan.pipeline <= most; ++out.plan.pipeline)
        if (fits(out.plan)) return done();
    const double all = static_cast<double>(devices.count) * room;
    return fail("plan.does-not-fit",
                fmt::format("{} needs {}, and the {} drawn × `{}` hold {}", needs.name,
                            format(Bytes(needs.bytes + needs.fixedBytes * static_cast<double>(devices.count))),
                            devices.count, devices.name, format(Bytes(all))),
                fmt::format("memory for it, {} of each device's may be filled",
                            formatMeasure(memoryShare, Dimension::Fraction)),
                "draw more devices, choose larger ones, or narrower weights", place);
}

Expected<ProposedPlan> proposePlan(const PlanNeeds& needs, const ClusterView& view, double memoryShare) {
    Expected<ProposedPlan> first = proposePlan(needs, view.groups.front(), memoryShare);
    for (std::size_t i = 1; !first && i < view.groups.size(); ++i) {
        auto other = proposePlan(needs, view.groups[i], memoryShare);
        if (!other) continue;
        other->plan.placement = view.groups[i].path;
        return other;
    }
    return first;
}

}  // namespace orrery
