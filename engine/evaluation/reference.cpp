#include "evaluation/reference.h"

namespace orrery {

std::string_view toText(ReferenceKind kind) {
    switch (kind) {
        case ReferenceKind::Measured:
            return "measured";
        case ReferenceKind::Summed:
            return "summed";
        case ReferenceKind::Simulated:
            return "simulated";
    }
    return "unknown";
}

Reference ReferenceSet::at(std::size_t i) const {
    return {graph.operators[i].name, Seconds(seconds[i]), device, software, source, noise, kind};
}

WorkloadPtr ReferenceSet::workload() const {
    auto made = std::make_shared<Workload>();
    made->id = made->name = source + " " + std::string(toText(family)) + " on " + device;
    made->graph = graph;
    made->costs = costTable(graph);
    // Facts of no transformer in particular: they let the methods that answer for transformers price single kernels.
    made->transformer = TransformerFacts{};
    return made;
}

}  // namespace orrery
