#include "simulation/cpu/core/strata.h"

#include <algorithm>

namespace orrery::pipeline {

Strata::Strata(const LoopNest& nest, std::uint64_t turn, double least)
    : nest_(nest), of_(nest.ops.size(), 0), parent_(nest.nodes.size(), -1), offset_(nest.nodes.size(), 0) {
    if (nest.nodes.empty()) return;
    visit(0, turn);
    places_.resize(operations_.size());
    locate(0, 1);
    joinRare(least);
}

int Strata::open() {
    operations_.push_back(0);
    return static_cast<int>(operations_.size()) - 1;
}

void Strata::mark(int at, int stratum) {
    const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
    for (std::uint32_t op = node.firstOp; op < node.firstOp + node.ops; ++op) of_[op] = stratum;
    for (const int child : node.inside) mark(child, stratum);
}

void Strata::visit(int at, std::uint64_t turn) {
    const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
    if (node.length / std::max<std::uint64_t>(1, node.trips) <= turn) {
        mark(at, open());
        return;
    }
    int between = -1;  // a stretch of short children
    std::uint64_t length = 0;
    for (const int child : node.inside) {
        const std::uint64_t operations = nest_.nodes[static_cast<std::size_t>(child)].length;
        if (operations > turn) {
            between = -1;
            visit(child, turn);
            continue;
        }
        if (between < 0 || length + operations > turn) between = open(), length = 0;
        length += operations;
        mark(child, between);
    }
    if (node.ops == 0) return;
    if (between < 0) between = open();
    for (std::uint32_t op = node.firstOp; op < node.firstOp + node.ops; ++op) of_[op] = between;
}

void Strata::locate(int at, std::uint64_t executions) {
    const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
    const std::uint64_t own = executions * std::max<std::uint64_t>(1, node.trips);
    if (node.ops > 0) {
        const auto stratum = static_cast<std::size_t>(of_[node.firstOp]);
        places_[stratum].push_back({at, own, node.ops});
        operations_[stratum] += static_cast<double>(own * node.ops);
    }
    std::uint64_t offset = 0;
    for (const int child : node.inside) {
        parent_[static_cast<std::size_t>(child)] = at;
        offset_[static_cast<std::size_t>(child)] = offset;
        offset += nest_.nodes[static_cast<std::size_t>(child)].length;
        locate(child, own);
    }
}

void Strata::joinRare(double least) {
    const double enough = least * static_cast<double>(nest_.length());
    std::vector<int> to(operations_.size(), -1);
    int rare = -1, kept = 0;
    for (std::size_t s = 0; s < operations_.size(); ++s) {
        const bool isRare = operations_[s] < enough;
        if (isRare && rare < 0) rare = kept++;
        to[s] = isRare ? rare : kept++;
    }
    std::vector<double> operations(static_cast<std::size_t>(kept), 0.0);
    std::vector<std::vector<Place>> places(operations.size());
    for (std::size_t s = 0; s < to.size(); ++s) {
        const auto target = static_cast<std::size_t>(to[s]);
        operations[target] += operations_[s];
        places[target].insert(places[target].end(), places_[s].begin(), places_[s].end());
    }
    for (int& each : of_) each = to[static_cast<std::size_t>(each)];
    operations_ = std::move(operations);
    places_ = std::move(places);
}

std::uint64_t Strata::draw(std::size_t stratum, double when, RandomStream& random) const {
    double op = random.uniform() * operations_[stratum];
    const Place* place = nullptr;
    for (const Place& each : places_[stratum]) {
        place = &each;
        op -= static_cast<double>(each.executions * each.ops);
        if (op < 0) break;
    }
    const auto at = static_cast<std::uint64_t>(when * static_cast<double>(place->executions));
    std::uint64_t execution = std::min(at, place->executions - 1), position = random.below(place->ops);
    const auto& line = nest_.nodes[static_cast<std::size_t>(place->node)];
    if (line.trips > 0) {  // increment and branch at the end of a turn
        const std::uint64_t turn = line.length / line.trips;
        position += execution % line.trips * turn + turn - line.ops;
        execution /= line.trips;
    }
    for (std::size_t node = static_cast<std::size_t>(place->node); parent_[node] >= 0;
         node = static_cast<std::size_t>(parent_[node])) {
        const auto& around = nest_.nodes[static_cast<std::size_t>(parent_[node])];
        const std::uint64_t trip = execution % around.trips;
        execution /= around.trips;
        position += trip * (around.length / around.trips) + offset_[node];
    }
    return position;
}

}  // namespace orrery::pipeline
