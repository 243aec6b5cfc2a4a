#include "mapping/mappers/mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

constexpr std::array<std::string_view, mapperKindCount> kinds{
    "exhaustive", "linear-pruned", "random-pruned", "loop-order", "annealing", "genetic", "optimal"};
constexpr std::array<std::string_view, 4> objectives{"latency", "energy", "edp", "last-level-accesses"};
constexpr std::array<std::string_view, mappingFaultCount> faults{"nothing",  "factors",     "fan-out",
                                                                 "capacity", "utilisation", "keeps"};

}  // namespace

std::string_view toText(MapperKind kind) {
    return kinds[static_cast<std::size_t>(kind)];
}
std::optional<MapperKind> mapperKind(std::string_view text) {
    const auto at = std::find(kinds.begin(), kinds.end(), text);
    if (at == kinds.end()) return std::nullopt;
    return static_cast<MapperKind>(at - kinds.begin());
}
std::string_view toText(MapObjective objective) {
    return objectives[static_cast<std::size_t>(objective)];
}
std::optional<MapObjective> mapObjective(std::string_view text) {
    if (text == "delay") return MapObjective::Latency;
    const auto at = std::find(objectives.begin(), objectives.end(), text);
    if (at == objectives.end()) return std::nullopt;
    return static_cast<MapObjective>(at - objectives.begin());
}

double objectiveValue(MapObjective objective, const NestCounts& counts, double joulesPerCycle) {
    switch (objective) {
        case MapObjective::Latency:
            return counts.cycles;
        case MapObjective::Energy:
            return counts.energy + joulesPerCycle * counts.cycles;
        case MapObjective::Edp:
            return counts.energy * counts.cycles;
        case MapObjective::LastLevelAccesses: {
            double words = 0;
            for (const TensorCounts& tensor : counts.levels.back().tensors) {
                if (tensor.kept) words += (tensor.reads + tensor.fills + tensor.updates) * tensor.instances;
            }
            return words;
        }
    }
    return 0;
}

void MapperProgress::post(const std::vector<MapperPoint>& points, std::uint64_t examined, std::uint64_t valid) {
    const std::lock_guard lock(mutex_);
    curve_.insert(curve_.end(), points.begin(), points.end());
    examined_ = examined;
    valid_ = valid;
}
void MapperProgress::postBound(double lowerBound) {
    const std::lock_guard lock(mutex_);
    lowerBound_ = lowerBound;
}
double MapperProgress::lowerBound() const {
    const std::lock_guard lock(mutex_);
    return lowerBound_;
}
std::vector<MapperPoint> MapperProgress::curve() const {
    const std::lock_guard lock(mutex_);
    return curve_;
}
std::uint64_t MapperProgress::examined() const {
    const std::lock_guard lock(mutex_);
    return examined_;
}
std::uint64_t MapperProgress::valid() const {
    const std::lock_guard lock(mutex_);
    return valid_;
}

std::uint64_t Refusals::of(MappingFault fault) const {
    const auto& levels = count[static_cast<std::size_t>(fault)];
    return std::accumulate(levels.begin(), levels.end(), std::uint64_t{0});
}
std::uint64_t Refusals::total() const {
    std::uint64_t sum = 0;
    for (std::size_t f = 0; f < mappingFaultCount; ++f) sum += of(static_cast<MappingFault>(f));
    return sum;
}

std::string refusalText(const Refusals& refusals, const NestHardware& hardware) {
    std::vector<std::size_t> order(mappingFaultCount);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto of = [&](std::size_t f) { return refusals.of(static_cast<MappingFault>(f)); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return of(a) > of(b); });
    std::string text;
    for (const std::size_t f : order) {
        if (of(f) == 0) continue;
        text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", of(f), faults[f]);
        const auto fault = static_cast<MappingFault>(f);
        if (fault != MappingFault::FanOut && fault != MappingFault::Capacity) continue;
        const auto& levels = refusals.count[f];
        const auto worst = static_cast<std::size_t>(std::max_element(levels.begin(), levels.end()) - levels.begin());
        if (worst >= hardware.levels.size()) continue;
        const NestLevel& level = hardware.levels[worst];
        if (fault == MappingFault::FanOut) {
            const FanOut fan = fanOut(hardware, worst);
            text += fmt::format(" ({} of them below {}, {} x {} instances)", levels[worst], level.name, fan.x, fan.y);
        } else {
            text += fmt::format(" ({} of them in {}, {} words)", levels[worst], level.name, level.capacityWords);
        }
    }
    return text.empty() ? "none" : text;
}

MapperResultPtr MappingCache::find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, result] : entries_) {
        if (known == key) return result;
    }
    return nullptr;
}

void MappingCache::store(const std::string& key, MapperResultPtr result) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() < capacity_) {
        entries_.emplace_back(key, std::move(result));
    } else if (capacity_ > 0) {
        entries_[next_] = {key, std::move(result)};
        next_ = (next_ + 1) % capacity_;
    }
}

}  // namespace orrery
