#include "methods/model/reuse_distances.h"

#include <algorithm>
#include <cstddef>

namespace orrery {

namespace {

struct Touch {
    std::int32_t tensor = 0;
    bool reads = false;  ///< made by another launch, or by nobody
};

class Distances {
public:
    Distances(const Workload& workload, const LaunchList& list)
        : workload_(workload),
          roots_(viewRoots(workload.graph)),
          list_(list),
          seen_(roots_.size(), -1),
          last_(roots_.size(), -1) {}

    std::vector<ReuseDistances> run() {
        collect();
        const double pass = passBytes();
        std::vector<ReuseDistances> found;
        found.reserve(list_.launches.size());
        for (std::size_t i = 0; i < list_.launches.size(); ++i) {
            double oldest = 0;
            for (const Touch& touch : touches_[i])
                if (touch.reads) oldest = std::max(oldest, since(i, touch.tensor, pass));
            found.push_back({std::min(pass, std::max(oldest, bytes_[i])), pass});
            for (const Touch& touch : touches_[i]) last_[at(touch.tensor)] = static_cast<std::int32_t>(i);
        }
        return found;
    }

private:
    static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }
    const Operator& op(std::size_t i) const { return workload_.graph.operators[i]; }
    double bytesOf(std::int32_t tensor) const { return workload_.graph.tensors[at(tensor)].bytes().value; }

    // Tensors that members exchange with operators of other groups, and bytes that no other launch shares.
    void collect() {
        const std::size_t operators = workload_.graph.operators.size();
        std::vector<std::vector<std::int32_t>> members(operators);
        for (std::size_t i = 0; i < operators; ++i)
            members[at(list_.leader[i])].push_back(static_cast<std::int32_t>(i));
        // Per tensor whether some other group than its maker's reads it.
        std::vector<std::int32_t> maker(roots_.size(), -1);
        std::vector<bool> leaves(roots_.size(), false);
        for (std::size_t i = 0; i < operators; ++i)
            if (op(i).kind != OperatorKind::View)
                eachActivation(op(i).outputs, [&](std::int32_t tensor) { maker[at(tensor)] = list_.leader[i]; });
        for (std::size_t i = 0; i < operators; ++i)
            if (op(i).kind != OperatorKind::View)
                eachActivation(op(i).inputs, [&](std::int32_t tensor) {
                    if (maker[at(tensor)] != list_.leader[i]) leaves[at(tensor)] = true;
                });
        eachActivation(workload_.graph.outputs, [&](std::int32_t tensor) { leaves[at(tensor)] = true; });
        touches_.resize(list_.launches.size());
        bytes_.assign(list_.launches.size(), 0);
        for (std::size_t i = 0; i < list_.launches.size(); ++i) {
            double own = 0;
            for (const std::int32_t member : members[at(list_.launches[i].op)]) {
                const CostTable& costs = workload_.costs;
                own += costs.weightBytes[at(member)] + costs.kvReadBytes[at(member)] + costs.kvWriteBytes[at(member)] +
                       costs.scratchBytes[at(member)];
                const auto add = [&](std::int32_t tensor, bool reads) {
                    if (!leaves[at(tensor)] || seen_[at(tensor)] == static_cast<std::int32_t>(i)) return;
                    seen_[at(tensor)] = static_cast<std::int32_t>(i);
                    touches_[i].push_back({tensor, reads});
                    bytes_[i] += bytesOf(tensor);
                };
                eachActivation(op(at(member)).inputs,
                               [&](std::int32_t tensor) { add(tensor, maker[at(tensor)] != list_.launches[i].op); });
                eachActivation(op(at(member)).outputs, [&](std::int32_t tensor) { add(tensor, false); });
            }
            own_.push_back(own);
            bytes_[i] += own;
        }
        std::ranges::fill(seen_, -1);
    }

    template <class Visit>
    void eachActivation(const std::vector<TensorId>& ids, Visit&& visit) const {
        for (const TensorId id : ids) {
            if (!workload_.graph.tensor(id)) continue;
            const TensorId root = roots_[at(id)];
            const TensorRole role = workload_.graph.tensors[at(root)].role;
            if (role == TensorRole::Weight || role == TensorRole::Constant || role == TensorRole::KvCache) continue;
            visit(root);
        }
    }

    // Weights and caches of all repeats, and the most memory that activations take up at once.
    double passBytes() const {
        const CostTable& costs = workload_.costs;
        double bytes = workload_.totals.weightBytes, live = 0, most = 0, all = 0;
        for (std::size_t i = 0; i < costs.size(); ++i) bytes += costs.repeat[i] * costs.kvReadBytes[i];
        std::vector<std::int32_t> first(roots_.size(), -1), last(roots_.size(), -1);
        for (std::size_t i = 0; i < touches_.size(); ++i)
            for (const Touch& touch : touches_[i]) {
                if (first[at(touch.tensor)] < 0) first[at(touch.tensor)] = static_cast<std::int32_t>(i);
                last[at(touch.tensor)] = static_cast<std::int32_t>(i);
            }
        for (std::size_t i = 0; i < touches_.size(); ++i) {
            const auto now = static_cast<std::int32_t>(i);
            for (const Touch& touch : touches_[i])
                if (first[at(touch.tensor)] == now) live += bytesOf(touch.tensor), all += bytesOf(touch.tensor);
            most = std::max(most, live);
            for (const Touch& touch : touches_[i])
                if (last[at(touch.tensor)] == now) live -= bytesOf(touch.tensor);
        }
        return bytes + (workload_.graph.keepsActivations ? all : most);
    }

    // Bytes from the last launch that touched the tensor to this one, both whole; `most` where that is longer ago.
    double since(std::size_t launch, std::int32_t tensor, double most) {
        const std::int32_t from = last_[at(tensor)];
        if (from < 0) return most;
        ++walk_;
        double bytes = 0;
        for (std::size_t i = launch + 1; i-- > at(from) && bytes < most;) {
            bytes += own_[i];
            for (const Touch& touch : touches_[i]) {
                if (seen_[at(touch.tensor)] == walk_) continue;
                seen_[at(touch.tensor)] = walk_;
                bytes += bytesOf(touch.tensor);
            }
        }
        return bytes;
    }

    const Workload& workload_;
    std::vector<TensorId> roots_;
    const LaunchList& list_;
    std::vector<std::vector<Touch>> touches_;  ///< per launch
    std::vector<double> bytes_, own_;          ///< per launch; own_: what is no activation
    std::vector<std::int32_t> seen_, last_;    ///< per tensor
    std::int32_t walk_ = -1;
};

}  // namespace

std::vector<ReuseDistances> reuseDistances(const Workload& workload, const LaunchList& list) {
    return Distances(workload, list).run();
}

}  // namespace orrery
