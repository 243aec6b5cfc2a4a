#include "simulation/systolic/report.h"

#include <algorithm>

namespace orrery::systolic {

namespace {

Access accessOf(const Transfer& transfer) {
    return {static_cast<double>(transfer.start), static_cast<double>(transfer.stop),
            static_cast<double>(transfer.words)};
}

}  // namespace

LayerReport beginReport(const Array& array, const Layer& layer, const FoldPlan& plan) {
    LayerReport report;
    report.layer = layer.name;
    report.product = plan.product;
    report.folds = plan.folds();
    const FoldAverages averages = foldAverages(plan);
    report.mappingEfficiency = averages.mappingEfficiency;
    report.computeUtilization = averages.computeUtilization;

    const auto m = static_cast<double>(plan.product.m);
    const auto n = static_cast<double>(plan.product.n);
    const auto k = static_cast<double>(plan.product.k);
    const auto rowFolds = static_cast<double>(plan.rowFolds);
    const auto colFolds = static_cast<double>(plan.colFolds);
    switch (plan.dataflow) {
        case Dataflow::OutputStationary:
            report.sramIfmap.words = m * k * colFolds;
            report.sramFilter.words = k * n * rowFolds;
            // The tool adds the sides of the array once per fold.
            report.sramOfmap.words =
                m * n + static_cast<double>(plan.folds()) * static_cast<double>(plan.rows + plan.cols);
            break;
        case Dataflow::WeightStationary:
            report.sramIfmap.words = m * k * colFolds;
            report.sramFilter.words = k * n;
            report.sramOfmap.words = m * n * rowFolds;
            if (array.sparse) {
                // An input is read again for every row of the block that might want it.
                report.sramIfmap.words *= static_cast<double>(layer.sparseOf) / static_cast<double>(layer.sparseKept);
            }
            break;
        case Dataflow::InputStationary:
            report.sramIfmap.words = m * k;
            report.sramFilter.words = k * n * colFolds;
            report.sramOfmap.words = m * n * rowFolds;
            break;
        case Dataflow::RowStationary:  // refused by check()
            break;
    }
    report.sparse = array.sparse;
    if (array.sparse) report.storage = filterStorage(layer, array);
    return report;
}

void finishReport(LayerReport& report, const Array& array, const Transfer& ifmap, const Transfer& filter,
                  const Transfer& ofmap) {
    const double macs = static_cast<double>(report.product.m) * static_cast<double>(report.product.n) *
                        static_cast<double>(report.product.denseK);
    // Of a sparse layer the tool counts the multiplications that were saved, too.
    report.overallUtilization =
        report.totalCycles > 0
            ? macs * 100 / (static_cast<double>(report.totalCycles) * static_cast<double>(array.rows * array.cols))
            : 0;
    if (!report.dramKnown) return;
    report.dramIfmap = accessOf(ifmap);
    report.dramFilter = accessOf(filter);
    report.dramOfmap = accessOf(ofmap);
    report.overallCycles = ofmap.stop - std::min(ifmap.start, filter.start);
}

}  // namespace orrery::systolic
