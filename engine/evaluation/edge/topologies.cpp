#include "evaluation/edge/topologies.h"

#include "workload/workload.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>

namespace orrery {
namespace {

// Logarithms of totals, and the share of the work that is done group by group.
std::vector<double> shapeOf(const Workload& workload) {
    const CostTable& costs = workload.costs;
    double macs = 0, grouped = 0, weights = 0, moved = 0, kernels = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const double times = costs.repeat[i];
        macs += times * costs.macs[i];
        if (costs.kind[i] == OperatorKind::Conv && costs.gemm[i].batch > 1) grouped += times * costs.macs[i];
        weights += times * costs.weightBytes[i];
        moved += times * (costs.inputBytes[i] + costs.outputBytes[i]);
        if (costs.kind[i] != OperatorKind::View) kernels += times;
    }
    if (!(macs > 0)) return {};
    return {std::log(macs), std::log(1 + weights), std::log(1 + moved), std::log(1 + kernels), grouped / macs};
}

const std::vector<std::string>& topologyFacts() {
    static const std::vector<std::string> all{"work", "weights", "traffic", "kernels", "grouped work"};
    return all;
}

}  // namespace

Expected<void> addTopologies(EdgeTable& table, const std::string& folder) {
    table.facts = topologyFacts();
    table.shapes.assign(table.networks.size(), std::vector<double>(table.facts.size(), std::nan("")));
    table.graphs.assign(table.networks.size(), {});
    std::size_t found = 0;
    for (std::size_t n = 0; n < table.networks.size(); ++n) {
        for (const char* ending : {".param", ".onnx"}) {
            std::error_code ignored;
            const auto path = std::filesystem::path(folder) / (table.networks[n] + ending);
            if (table.networks[n].find('/') != std::string::npos || !std::filesystem::is_regular_file(path, ignored))
                continue;
            const auto workload = loadWorkload({.source = path.string(), .options = {}, .whatIfs = {}});
            if (!workload) {
                table.notes.push_back(warning("edge.topology",
                                              fmt::format("{}: {}", path.filename().string(), workload.error().message),
                                              workload.error().hint, Place{.file = path.string()}));
                continue;
            }
            if (auto shape = shapeOf(**workload); !shape.empty()) {
                table.shapes[n] = std::move(shape);
                table.graphs[n] = operatorGraph(**workload);
                ++found;
            }
            break;
        }
    }
    if (found > 0) return {};
    return fail("edge.no-topologies", fmt::format("{} has no topology of a network of the table", folder),
                "NAME.param or NAME.onnx", fmt::format("such as {}.param", table.networks.front()),
                Place{.file = folder});
}

Expected<void> addNetwork(EdgeTable& table, const std::string& source) {
    if (table.facts != topologyFacts())
        return fail("edge.no-topologies",
                    fmt::format("{} is predicted from what it is made of, and the table's networks are not", source),
                    "a table of networks by name, with their topologies", "--topologies FOLDER",
                    Place{.file = table.path});
    const auto workload = loadWorkload({.source = source, .options = {}, .whatIfs = {}});
    if (!workload) return Unexpected(workload.error());
    auto shape = shapeOf(**workload);
    if (shape.empty())
        return fail("edge.no-topologies", fmt::format("{} has no multiplication", source), "a network of layers");
    table.networks.push_back(source);
    table.index.push_back(static_cast<double>(table.index.size()));
    table.shapes.push_back(std::move(shape));
    table.graphs.resize(table.networks.size());
    table.graphs.back() = operatorGraph(**workload);
    for (auto& values : table.values) values.push_back(std::nan(""));
    return {};
}

}  // namespace orrery
