#include "workload/models/other_models.h"

#include "workload/models/catalogue.h"

namespace orrery {
namespace {

BuiltinModel modelOf(WorkloadInfo info, Graph (*build)(const WorkloadOptions&)) {
    BuiltinModel model;
    model.info = std::move(info);
    model.build = [name = model.info.name, build](const WorkloadOptions& options) -> Expected<ImportedGraph> {
        ImportedGraph result;
        result.name = name;
        result.graph = build(options);
        return result;
    };
    return model;
}

}  // namespace

std::vector<BuiltinModel> otherModels() {
    std::vector<BuiltinModel> models;
    WorkloadInfo dlrm{.id = "dlrm",
                      .name = "DLRM",
                      .group = "Recommendation",
                      .description = "Click prediction: 26 embedding tables, two perceptrons, dot interaction",
                      .source = "Naumov et al., arXiv:1906.00091; MLPerf's configuration on Criteo Terabyte"};
    dlrm.usual.batch = 2048;
    models.push_back(modelOf(std::move(dlrm), buildDlrm));
    models.push_back(modelOf({.id = "gcn",
                              .name = "GCN",
                              .group = "Graph networks",
                              .description = "Three graph convolutions on the citations of ogbn-arxiv",
                              .source = "Kipf and Welling, ICLR 2017; Open Graph Benchmark's baseline"},
                             buildGcn));
    return models;
}

}  // namespace orrery
