#include "simulation/cluster/cluster_stepper.h"

#include "simulation/cluster/cluster_machine.h"

namespace orrery {

struct ClusterStepper::State {
    ClusterJob job;
    ClusterSettings settings;
    std::unique_ptr<ClusterMachine> machine;
};

ClusterStepper::ClusterStepper(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClusterStepper::ClusterStepper(ClusterStepper&&) noexcept = default;
ClusterStepper& ClusterStepper::operator=(ClusterStepper&&) noexcept = default;
ClusterStepper::~ClusterStepper() = default;

Expected<ClusterStepper> ClusterStepper::make(ClusterJob job, ClusterSettings settings, bool keepSpans) {
    if (auto good = checkCluster(job, settings); !good) return Unexpected(std::move(good.error()));
    auto state = std::make_unique<State>();
    state->job = std::move(job);
    state->settings = std::move(settings);
    auto fabric = MessageFabric::make(state->settings.network, state->job.slotOf);
    if (!fabric) return Unexpected(std::move(fabric.error()));
    state->machine = std::make_unique<ClusterMachine>(state->job, state->settings, std::move(*fabric), keepSpans);
    if (auto good = state->machine->begin(); !good) return Unexpected(std::move(good.error()));
    return ClusterStepper(std::move(state));
}

Expected<void> ClusterStepper::advance(SimTime until, const std::stop_token& stop) {
    return state_->machine->advance(until, stop);
}
bool ClusterStepper::ended() const {
    return state_->machine->ended();
}
SimTime ClusterStepper::next() const {
    return state_->machine->next();
}
const std::vector<RankSpan>& ClusterStepper::spans() const {
    return state_->machine->soFar().spans;
}
const std::vector<RankResult>& ClusterStepper::ranks() const {
    return state_->machine->soFar().ranks;
}
const std::vector<MessageFabric::LinkUse>& ClusterStepper::links() const {
    return state_->machine->fabric().use();
}
std::vector<std::size_t> ClusterStepper::busyLinks(SimTime at) const {
    std::vector<std::size_t> busy;
    const MessageFabric& fabric = state_->machine->fabric();
    for (std::size_t l = 0; l < fabric.use().size(); ++l)
        if (fabric.busyUntil(l) > at) busy.push_back(l);
    return busy;
}
Expected<ClusterOutcome> ClusterStepper::outcome() {
    return state_->machine->finish();
}

}  // namespace orrery
