#include "methods/model/chains.h"

#include "methods/model/compose.h"

#include <algorithm>
#include <map>
#include <set>

namespace orrery {

namespace {

// Groups of operators by the launch that stands for them: what leaves a group, and which groups read it.
class Chains {
public:
    Chains(const Workload& workload, const LaunchList& list)
        : graph_(workload.graph), list_(list), roots_(viewRoots(workload.graph)), readers_(graph_.tensors.size()) {
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const Operator& op = graph_.operators[i];
            if (op.kind == OperatorKind::View) continue;
            for (const TensorId id : op.inputs) {
                if (graph_.tensor(id)) readers_[root(id)].insert(list_.leader[i]);
            }
        }
        for (const TensorId id : graph_.outputs) {
            if (graph_.tensor(id)) readers_[root(id)].insert(outside);
        }
    }

    // Bytes of the activation that `from` hands to `to` and to nobody else; 0: none.
    double handedOn(const Launch& from, const Launch& to) const {
        if (from.part != Part::Forward || to.part != Part::Forward || from.count != to.count) return 0;
        const Operator& reader = graph_.operators[static_cast<std::size_t>(to.op)];
        const Tensor* operand = reader.inputs.empty() ? nullptr : graph_.tensor(reader.inputs.front());
        if (!operand) return 0;
        const std::size_t wanted = root(reader.inputs.front());
        double bytes = 0;
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            if (list_.leader[i] != from.op) continue;
            for (const TensorId id : graph_.operators[i].outputs) {
                if (graph_.tensor(id) && root(id) == wanted) bytes = graph_.tensor(id)->bytes().value;
            }
        }
        auto readers = readers_[wanted];
        readers.erase(from.op);
        return readers == std::set<std::int32_t>{to.op} ? bytes : 0;
    }

private:
    static constexpr std::int32_t outside = -1;
    std::size_t root(TensorId id) const { return static_cast<std::size_t>(roots_[static_cast<std::size_t>(id)]); }

    const Graph& graph_;
    const LaunchList& list_;
    std::vector<TensorId> roots_;
    std::vector<std::set<std::int32_t>> readers_;
};

// One launch alone stands for its operators: eager lists have several.
bool alone(const std::vector<Launch>& launches, std::size_t i) {
    return (i == 0 || launches[i - 1].op != launches[i].op) &&
           (i + 1 == launches.size() || launches[i + 1].op != launches[i].op);
}

}  // namespace

Expected<void> keepChains(const Workload& workload, Composition& c, EstimateContext& context) {
    const auto& launches = c.list().launches;
    const Chains chains(workload, c.list());
    std::vector<Staying> stays(launches.size());
    std::vector<double> operandBytes(launches.size(), 0.0), resultBytes(launches.size(), 0.0);
    for (std::size_t i = 0; i + 1 < launches.size(); ++i) {
        if (!alone(launches, i) || !alone(launches, i + 1)) continue;
        const auto from = c.pricer->room(launches[i].kernel), to = c.pricer->room(launches[i + 1].kernel);
        const double bytes = from && to ? chains.handedOn(launches[i], launches[i + 1]) : 0;
        if (bytes <= 0) continue;
        // What the first one reads from the chip takes room there as well.
        const double held = std::max(from->held + operandBytes[i], to->held);
        if (bytes + held > std::min(from->capacity, to->capacity)) continue;
        stays[i].result = stays[i + 1].operand = true;
        resultBytes[i] = operandBytes[i + 1] = bytes;
        ++c.chains.activations;
        c.chains.bytes += 2 * bytes * launches[i].count;
    }
    const auto serial = makeSerialExecutor();
    for (std::size_t i = 0; i < launches.size(); ++i) {
        if (!stays[i].any()) continue;
        PriceContext asked{*serial, context.stop};
        auto price = c.pricer->price(launches[i].kernel, stays[i], asked);
        if (!price) return Unexpected(std::move(price.error()));
        // Its bound is that of the bytes which still cross main memory.
        Launch relieved = launches[i];
        double& read = relieved.kernel.readBytes;
        double& written = relieved.kernel.writeBytes;
        read = std::max(0.0, read - operandBytes[i]);
        written = std::max(0.0, written - resultBytes[i]);
        const PricedLaunch before = c.prices[i];
        c.prices[i] = pricedLaunch(*price, relieved, c.device, c.epilogueRate());
        if (c.prices[i].seconds > before.seconds) c.prices[i] = before;
    }
    return {};
}

}  // namespace orrery
