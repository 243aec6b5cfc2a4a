#include "mapping/mappers/lane.h"

namespace orrery {

MapLane::MapLane(const Mapspace& space, const MapperOptions& options, const std::shared_ptr<const SparseDesign>& sparse,
                 std::size_t number)
    : space_(space),
      objectives_(options.objectives),
      joulesPerCycle_(options.joulesPerCycle),
      sparse_(sparse != nullptr),
      evaluator_(space.problem(), space.hardware(), sparse),
      random_(options.seed, number) {}

bool MapLane::stopped() {
    if (!stopSeen_ && ++sincePoll_ >= 64) {
        sincePoll_ = 0;
        stopSeen_ = stop_.stop_requested();
    }
    return stopSeen_;
}

void MapLane::refuse(const PointFault& fault) {
    ++examined_;
    ++refusals_.count[static_cast<std::size_t>(fault.fault)][fault.level];
}

bool MapLane::consider(const MapPoint& point, MapScore& score) {
    ++examined_;
    // Compressed tiles may be smaller than the dense ones, and skipped instances are not there: only the evaluator
    // knows.
    PointFault fault;
    if (!sparse_) fault = space_.check(point);
    if (fault.fault == MappingFault::None) {
        space_.toMapping(point, mapping_);
        fault.fault = evaluator_.evaluate(mapping_, counts_);
    }
    if (fault.fault != MappingFault::None) {
        ++refusals_.count[static_cast<std::size_t>(fault.fault)][fault.level];
        return false;
    }
    ++valid_;
    for (std::size_t i = 0; i < objectives_.size() && i < score.value.size(); ++i)
        score.value[i] = objectiveValue(objectives_[i], counts_, joulesPerCycle_);
    if (!found_ || score < bestScore_) {
        found_ = true;
        best_ = point;
        bestScore_ = score;
        improvements_.push_back({valid_, score, counts_.cycles, counts_.energy});
    }
    return true;
}

}  // namespace orrery
