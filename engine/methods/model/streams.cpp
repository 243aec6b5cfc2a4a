#include "methods/model/compose.h"

#include <algorithm>

namespace orrery {

double overlappedSeconds(const Workload& workload, const Composition& c) {
    const Graph& graph = workload.graph;
    const std::vector<TensorId> roots = viewRoots(graph);
    std::vector<std::vector<std::size_t>> members(graph.operators.size());
    for (std::size_t i = 0; i < c.list().leader.size(); ++i) {
        members[static_cast<std::size_t>(c.list().leader[i])].push_back(i);
    }
    const auto each = [&](const std::vector<TensorId>& ids, auto&& visit) {
        for (const TensorId id : ids) {
            if (graph.tensor(id)) visit(static_cast<std::size_t>(roots[static_cast<std::size_t>(id)]));
        }
    };
    double saved = 0;
    for (const LaunchRun& run : c.runs) {
        std::vector<double> done(graph.tensors.size(), 0.0);
        double serial = 0, longest = 0, compute = 0, memory = 0;
        bool forward = true;
        for (std::size_t i = run.first; i < run.end && forward;) {
            const std::int32_t op = c.list().launches[i].op;
            const auto& group = members[static_cast<std::size_t>(op)];
            double end = 0;
            for (const std::size_t m : group) {
                each(graph.operators[m].inputs, [&](std::size_t root) { end = std::max(end, done[root]); });
            }
            for (; i < run.end && c.list().launches[i].op == op; ++i) {
                const Launch& launch = c.list().launches[i];
                forward = forward && launch.part == Part::Forward;
                end += c.prices[i].seconds;
                serial += c.prices[i].seconds;
                const KernelPrice roof = rooflinePrice(c.device, launch.kernel);
                if (roof.bound.kind == BoundKind::Compute) compute += roof.seconds;
                memory += (launch.kernel.bytes() + launch.kernel.epilogue.bytes) / c.device.main().bandwidth.value;
            }
            for (const std::size_t m : group) {
                each(graph.operators[m].outputs, [&](std::size_t root) { done[root] = end; });
            }
            longest = std::max(longest, end);
        }
        if (forward) saved += run.times * std::max(0.0, serial - std::max({longest, compute, memory}));
    }
    return saved;
}

}  // namespace orrery
