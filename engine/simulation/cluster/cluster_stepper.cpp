#include "simulation/cluster/cluster_stepper.h"

#include "simulation/cluster/cluster_machine.h"

#include <algorithm>
#include <iterator>

namespace orrery {

namespace {

struct KeptMoment {
    std::uint64_t event = 0;
    SimTime time = 0;
    std::shared_ptr<const ClusterMachine::Moment> state;
};

}  // namespace

struct ClusterStepper::State {
    ClusterJob job;
    ClusterSettings settings;
    std::unique_ptr<ClusterMachine> machine;
    std::vector<KeptMoment> kept;  ///< rising; the first is the beginning
    std::uint64_t interval = 1;

    Expected<void> forward(SimTime until, std::uint64_t event, const std::stop_token& stop);
    void keep();
    void goBack(const KeptMoment& to) { machine->goBack(*to.state); }
};

void ClusterStepper::State::keep() {
    kept.push_back({machine->events(), machine->now(), machine->moment()});
    if (kept.size() <= most_kept) return;
    for (std::size_t i = 1; 2 * i < kept.size(); ++i) kept[i] = kept[2 * i];
    kept.resize((kept.size() + 1) / 2);
    interval *= 2;
}

// States are kept where the run comes for the first time.
Expected<void> ClusterStepper::State::forward(SimTime until, std::uint64_t event, const std::stop_token& stop) {
    for (;;) {
        const std::uint64_t last = kept.back().event + interval;
        if (auto good = machine->advance(until, stop, std::min(event, last)); !good) return good;
        if (machine->events() < last || machine->ended()) return {};
        if (machine->events() == last) keep();
        if (machine->events() >= event || machine->next() > until) return {};
    }
}

ClusterStepper::ClusterStepper(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClusterStepper::ClusterStepper(ClusterStepper&&) noexcept = default;
ClusterStepper& ClusterStepper::operator=(ClusterStepper&&) noexcept = default;
ClusterStepper::~ClusterStepper() = default;

Expected<ClusterStepper> ClusterStepper::make(ClusterJob job, ClusterSettings settings, bool keepSpans,
                                              std::uint64_t interval) {
    if (auto good = checkCluster(job, settings); !good) return Unexpected(std::move(good.error()));
    if (settings.network.carrying == LinkCarrying::Ns3) {
        return fail("cluster.step", "a run that ns-3 follows cannot go back", "messages, fluid or packets",
                    "follow it in packets instead");
    }
    auto state = std::make_unique<State>();
    state->job = std::move(job);
    state->settings = std::move(settings);
    auto fabric = MessageFabric::make(state->settings.network, state->job.slotOf);
    if (!fabric) return Unexpected(std::move(fabric.error()));
    state->machine = std::make_unique<ClusterMachine>(state->job, state->settings, std::move(*fabric), keepSpans);
    if (auto good = state->machine->begin(); !good) return Unexpected(std::move(good.error()));
    state->interval = std::max<std::uint64_t>(1, interval);
    state->keep();
    return ClusterStepper(std::move(state));
}

Expected<void> ClusterStepper::advance(SimTime until, const std::stop_token& stop) {
    return state_->forward(until, ~std::uint64_t{0}, stop);
}
Expected<void> ClusterStepper::goToEvent(std::uint64_t event, const std::stop_token& stop) {
    if (event < this->event()) {
        const auto after = std::ranges::upper_bound(state_->kept, event, {}, &KeptMoment::event);
        state_->goBack(*std::prev(after));
    }
    return state_->forward(MessageFabric::furthest, event, stop);
}
Expected<void> ClusterStepper::goTo(SimTime until, const std::stop_token& stop) {
    if (until < now()) {
        const auto after = std::ranges::upper_bound(state_->kept, std::max<SimTime>(0, until), {}, &KeptMoment::time);
        state_->goBack(*std::prev(after));
    }
    return state_->forward(until, ~std::uint64_t{0}, stop);
}
std::uint64_t ClusterStepper::event() const {
    return state_->machine->events();
}
std::uint64_t ClusterStepper::interval() const {
    return state_->interval;
}
SimTime ClusterStepper::now() const {
    return state_->machine->now();
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
