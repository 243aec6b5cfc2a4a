#include "simulation/cluster/trace_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace orrery {

namespace {

/// Equal distances between ranks, as a pattern that all ranks can repeat; nothing where they are uneven or unknown.
std::optional<TraceGroup> groupPattern(const TraceGroup& group) {
    if (group.ranks.empty()) return group.size > 0 && group.stride > 0 ? std::optional(group) : std::nullopt;
    TraceGroup pattern{static_cast<std::int64_t>(group.ranks.size()), 1, {}};
    if (group.ranks.size() > 1) pattern.stride = group.ranks[1] - group.ranks[0];
    if (pattern.stride < 1) return std::nullopt;
    for (std::size_t m = 1; m < group.ranks.size(); ++m)
        if (group.ranks[m] - group.ranks[m - 1] != pattern.stride) return std::nullopt;
    return pattern;
}

class TraceJobMaker {
public:
    TraceJobMaker(ExecutionTrace trace, const ClusterSettings& settings)
        : trace_(std::move(trace)), settings_(settings) {
        out_.network = settings.network;
        for (const FabricDimension& one : settings.network.dimensions)
            devices_ = one.size > 0 && devices_ <= 1 << 24 ? devices_ * one.size : devices_;
    }

    Expected<TraceJob> make(bool fold) {
        if (devices_ > 1 << 24)
            return fail("cluster.ranks", "the network has more than 16 million devices", "2 to 16,777,216 devices",
                        "change its sizes");
        if (auto good = groups(); !good) return Unexpected(std::move(good.error()));
        leaveOut();
        if (devices_ == 1) {
            // No one to exchange with: two who do not.
            out_.network.dimensions = {FabricDimension{}};
            finish(1, 2);
            return std::move(out_);
        }
        const bool grouped = std::any_of(trace_.nodes.begin(), trace_.nodes.end(), [](const TraceNode& node) {
            return node.work == TraceWork::Collective && node.group >= 0;
        });
        const auto devices = static_cast<std::size_t>(devices_);
        if (grouped && fold) {
            const std::int64_t period = alike() ? 1 : repeats();
            if (period < devices_) {
                finish(period, devices_);
                return std::move(out_);
            }
        }
        constexpr std::size_t most = 400'000'000;
        if (grouped && trace_.nodes.size() > most / devices)
            return fail("cluster.ranks",
                        fmt::format("{} nodes on each of {} ranks, which differ on this network", trace_.nodes.size(),
                                    devices_),
                        fmt::format("at most {} nodes in all", most),
                        "take a switch, or dimensions of the groups' sizes, where one rank stands for all");
        finish(devices_, devices_);
        return std::move(out_);
    }

private:
    Expected<void> groups() {
        std::vector<bool> everyone(trace_.groups.size(), false);
        for (std::size_t g = 0; g < trace_.groups.size(); ++g) {
            auto pattern = g < trace_.members.size() ? groupPattern(trace_.members[g]) : std::nullopt;
            everyone[g] = !pattern || pattern->size > devices_;
            if (everyone[g]) pattern = TraceGroup{devices_, 1, {}};
            if (devices_ % (pattern->size * pattern->stride) != 0)
                return fail("cluster.group",
                            fmt::format("group `{}` of {} ranks {} apart does not divide {} ranks", trace_.groups[g],
                                        pattern->size, pattern->stride, devices_),
                            fmt::format("a multiple of {} ranks", pattern->size * pattern->stride),
                            "change the number of ranks");
            patterns_.push_back(*pattern);
        }
        std::size_t count = 0;
        std::string example;
        for (TraceNode& node : trace_.nodes) {
            if (node.group < 0) continue;
            const auto g = static_cast<std::size_t>(node.group);
            if (everyone[g] && node.work == TraceWork::Collective && count++ == 0) example = trace_.groups[g];
            if (patterns_[g].size == devices_) node.group = -1;
        }
        if (count > 0)
            say("trace.group",
                fmt::format("{} collectives are of groups whose ranks are not known here, as `{}`; all {} "
                            "ranks take part",
                            count, example, devices_));
        return {};
    }

    void leaveOut() {
        std::size_t messages = 0, memory = 0, beyond = 0;
        const std::size_t dimensions = settings_.network.dimensions.size();
        for (TraceNode& node : trace_.nodes) {
            if (node.work == TraceWork::Send || node.work == TraceWork::Receive) {
                node.work = TraceWork::Nothing;
                ++messages;
            } else if ((node.work == TraceWork::Load || node.work == TraceWork::Store) &&
                       settings_.remote.bandwidth <= 0) {
                node.work = TraceWork::Nothing;
                ++memory;
            } else if (node.work == TraceWork::Collective && devices_ == 1) {
                node.work = TraceWork::Nothing;
            } else if (node.work == TraceWork::Collective && node.group < 0 && dimensions < 32 &&
                       (node.dimensions & ((1U << dimensions) - 1)) == 0) {
                ++beyond;
            }
        }
        if (messages > 0)
            say("trace.messages",
                fmt::format("{} messages between single ranks were left out: one trace does not say what the others do",
                            messages));
        if (memory > 0)
            say("trace.memory", fmt::format("{} loads and stores were left out: there is no memory for them", memory));
        if (beyond > 0)
            say("trace.dimensions",
                fmt::format("{} collectives use dimensions that the network of {} does not have; they exchange nothing",
                            beyond, dimensions));
    }

    bool drawn() const {
        const auto& dimensions = settings_.network.dimensions;
        if (settings_.network.congestion && inPackets(settings_.network.carrying)) return true;
        return std::any_of(dimensions.begin(), dimensions.end(),
                           [](const FabricDimension& one) { return one.routes != nullptr; });
    }
    bool plainAlgorithms() const {
        for (const auto& choices : settings_.algorithms)
            for (const AlgorithmChoice& one : choices)
                if (one.algorithm != StepAlgorithm::Ring && one.algorithm != StepAlgorithm::Direct) return false;
        return true;
    }
    /// Whether the network looks the same from all ranks: one without neighbours, or groups that are its dimensions.
    bool alike() const {
        const auto& dimensions = settings_.network.dimensions;
        if (drawn() || !plainAlgorithms()) return false;
        if (dimensions.size() == 1 && dimensions.front().shape != TopologyShape::Ring) return true;
        return std::all_of(patterns_.begin(), patterns_.end(), [&](const TraceGroup& pattern) {
            if (pattern.size == devices_ || pattern.size == 1) return true;
            std::int64_t stride = 1;
            for (const FabricDimension& one : dimensions) {
                if (pattern.stride == stride && pattern.size == one.size) return true;
                stride *= one.size;
            }
            return false;
        });
    }

    /// After how many ranks everything looks the same again: around a ring or behind a switch, outermost, groups either
    /// lie in blocks or go all the way round. As many as there are ranks where it never does.
    std::int64_t repeats() const {
        const auto& dimensions = settings_.network.dimensions;
        const FabricDimension& outer = dimensions.back();
        if (drawn() || !plainAlgorithms() || outer.shape == TopologyShape::FullyConnected) return devices_;
        std::int64_t period = devices_ / outer.size;
        for (const TraceGroup& pattern : patterns_) {
            const std::int64_t block = pattern.size * pattern.stride;
            if (pattern.size > 1 && block < devices_) period = std::lcm(period, block);
        }
        return period;
    }

    /// Ranks so far apart are run once.
    void finish(std::int64_t period, std::int64_t devices) {
        const auto slots = static_cast<std::size_t>(period);
        std::map<std::pair<std::size_t, std::int64_t>, std::int32_t> made;
        ClusterJob& job = out_.job;
        for (std::size_t s = 0; s < slots; ++s) {
            std::vector<std::int32_t> mine;
            for (std::size_t g = 0; g < patterns_.size(); ++g) {
                const TraceGroup& pattern = patterns_[g];
                if (pattern.size == devices_) {
                    mine.push_back(-1);
                    continue;
                }
                const auto rank = static_cast<std::int64_t>(s);
                const std::int64_t block = pattern.size * pattern.stride;
                const std::int64_t first = rank / block * block + rank % pattern.stride;
                const auto [at, fresh] = made.try_emplace({g, first}, static_cast<std::int32_t>(job.groups.size()));
                if (fresh) {
                    RankGroup group;
                    group.name = fmt::format("{} from {}", trace_.groups[g], first);
                    for (std::int64_t m = 0; m < pattern.size; ++m)
                        group.members.push_back(static_cast<std::int32_t>(first + m * pattern.stride));
                    job.groups.push_back(std::move(group));
                }
                mine.push_back(at->second);
            }
            if (!patterns_.empty()) job.groupOf.push_back(std::move(mine));
        }
        job.traces.assign(slots, std::make_shared<const ExecutionTrace>(std::move(trace_)));
        for (std::int64_t r = 0; period < devices && r < devices; ++r)
            job.slotOf.push_back(static_cast<std::int32_t>(r % period));
    }
    void say(const char* code, std::string message) { out_.warnings.push_back(warning(code, std::move(message))); }

    ExecutionTrace trace_;
    const ClusterSettings& settings_;
    std::int64_t devices_ = 1;
    std::vector<TraceGroup> patterns_;
    TraceJob out_;
};

}  // namespace

Expected<TraceJob> jobOfTrace(ExecutionTrace trace, const ClusterSettings& settings, bool fold) {
    return TraceJobMaker(std::move(trace), settings).make(fold);
}

}  // namespace orrery
