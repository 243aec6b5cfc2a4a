#include "app/cli/cmd_map_maestro.h"

#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/nearest.h"
#include "mapping/data_centric/maestro_reader.h"
#include "mapping/data_centric/stock_dataflows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

struct PricedLayer {
    const MaestroLayer* layer;
    FlowCounts counts;
};

nlohmann::ordered_json accessesJson(const std::array<TensorAccesses, flowTensors>& accesses) {
    nlohmann::ordered_json json;
    for (std::size_t t = 0; t < flowTensors; ++t) {
        json[std::string(toText(static_cast<FlowTensor>(t)))] = {{"reads", accesses[t].reads},
                                                                 {"writes", accesses[t].writes}};
    }
    return json;
}

nlohmann::ordered_json delayJson(const StepDelay& delay) {
    return {{"min", delay.least}, {"max", delay.most}, {"mean", delay.mean}};
}

nlohmann::ordered_json layerJson(const PricedLayer& priced) {
    const FlowCounts& counts = priced.counts;
    nlohmann::ordered_json json;
    json["layer"] = priced.layer->layer.name;
    json["type"] = priced.layer->type;
    json["macs"] = counts.macs;
    json["cycles"] = counts.cycles;
    json["utilization"] = counts.utilisation;
    json["l1_bytes"] = counts.l1Words;
    json["l2_bytes"] = counts.l2Words;
    json["energy_mac"] = counts.energy;
    const auto sum = [](const auto& accesses, double TensorAccesses::*which) {
        double total = 0;
        for (const auto& each : accesses) total += each.*which;
        return total;
    };
    json["l1_reads"] = sum(counts.l1, &TensorAccesses::reads);
    json["l1_writes"] = sum(counts.l1, &TensorAccesses::writes);
    json["l2_reads"] = sum(counts.l2, &TensorAccesses::reads);
    json["l2_writes"] = sum(counts.l2, &TensorAccesses::writes);
    json["l1"] = accessesJson(counts.l1);
    json["l2"] = accessesJson(counts.l2);
    json["mapped_macs"] = counts.mappedMacs;
    json["active_pes"] = counts.activePes;
    json["macs_per_cycle"] = counts.cycles > 0 ? counts.macs / counts.cycles : 0;
    json["noc_bandwidth"] = {{"peak", counts.peakBandwidth}, {"mean", counts.meanBandwidth}};
    json["offchip_bandwidth"] = counts.offchipBandwidth;
    json["arithmetic_intensity"] = counts.arithmeticIntensity;
    json["ingress_delay"] = delayJson(counts.ingress);
    json["egress_delay"] = delayJson(counts.egress);
    json["compute_delay"] = delayJson(counts.compute);
    return json;
}

std::string textOf(const std::vector<PricedLayer>& layers) {
    Table table({"layer", "MACs", "cycles", "MACs/cycle", "busy", "L1", "L2", "L2 reads", "L2 writes", "energy"},
                {false, true, true, true, true, true, true, true, true, true});
    FlowCounts sum;
    for (const auto& [layer, counts] : layers) {
        double reads = 0, writes = 0;
        for (const auto& each : counts.l2) reads += each.reads, writes += each.writes;
        table.add({layer->layer.name, count(counts.macs), count(counts.cycles),
                   fmt::format("{:.2f}", counts.cycles > 0 ? counts.macs / counts.cycles : 0),
                   fmt::format("{:.1f} %", 100 * counts.utilisation), fmt::format("{:.0f} B", counts.l1Words),
                   fmt::format("{:.0f} B", counts.l2Words), count(reads), count(writes),
                   fmt::format("{:.4g}", counts.energy)});
        sum.macs += counts.macs;
        sum.cycles += counts.cycles;
        sum.energy += counts.energy;
    }
    table.add({"all", count(sum.macs), count(sum.cycles),
               fmt::format("{:.2f}", sum.cycles > 0 ? sum.macs / sum.cycles : 0), "", "", "", "", "",
               fmt::format("{:.4g}", sum.energy)});
    return table.text() + "\nEnergy in multiply-accumulates; one word is taken as one byte.\n";
}

}  // namespace

int mapMaestro(const Arguments& arguments) {
    const auto hardwareFile = arguments.value("maestro-hardware");
    if (!hardwareFile) {
        return failed(fail("usage.missing", "`--maestro` needs `--maestro-hardware`", "--maestro-hardware HW.m",
                           "a file with `num_pes: 256` and so on")
                          .value());
    }
    const StockDataflow* stock = nullptr;
    if (const auto id = arguments.value("dataflow")) {
        stock = stockDataflow(*id);
        if (!stock) {
            std::vector<std::string> known;
            for (const auto& each : stockDataflows()) known.emplace_back(each.id);
            return failed(fail("usage.dataflow", fmt::format("`{}` is not a stock dataflow", *id),
                               fmt::format("one of {}", fmt::join(known, ", ")), didYouMean(*id, known))
                              .value());
        }
    }
    const auto hardware = readMaestroHardware(*hardwareFile);
    if (!hardware) return failed(hardware.error());
    const auto network = readMaestroMapping(*arguments.value("maestro"));
    if (!network) return failed(network.error());
    report(network->warnings);

    std::vector<PricedLayer> priced;
    nlohmann::ordered_json json;
    json["network"] = network->name;
    json["layers"] = nlohmann::ordered_json::array();
    FlowAnalysis analysis;
    for (const MaestroLayer& each : network->layers) {
        const FlowLayer layer = stock ? asConvolution(each.layer) : each.layer;
        const auto& dataflow = stock ? directivesOf(*stock, layer.kind) : each.dataflow;
        const auto bound = bind(dataflow, layer);
        const auto counts = bound ? analysis(layer, *bound, *hardware, dataflow.file) : tl::unexpected(bound.error());
        if (!counts) {
            report(counts.error());
            json["layers"].push_back({{"layer", each.layer.name}, {"error", toText(counts.error())}});
            continue;
        }
        report(analysis.warnings());
        priced.push_back({&each, *counts});
        json["layers"].push_back(layerJson(priced.back()));
    }
    if (priced.empty()) return Unanswered;
    return print(arguments.has("json") ? json.dump(2) + "\n" : textOf(priced)) ? Answered : Unanswered;
}

}  // namespace orrery::cli
