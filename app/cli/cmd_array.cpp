#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "simulation/systolic/closed_form.h"
#include "simulation/systolic/scalesim_files.h"
#include "simulation/systolic/simulate.h"
#include "simulation/systolic/trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;
using systolic::LayerReport;

// The columns of a report, under the names that SCALE-Sim gives them.
using Row = std::vector<std::pair<std::string_view, double>>;

Row computeRow(const LayerReport& r) {
    Row row{{"Total Cycles (incl. prefetch)", static_cast<double>(r.overallCycles)},
            {"Total Cycles", static_cast<double>(r.totalCycles)},
            {"Stall Cycles", static_cast<double>(r.stallCycles)},
            {"Overall Util %", r.overallUtilization},
            {"Mapping Efficiency %", r.mappingEfficiency},
            {"Compute Util %", r.computeUtilization}};
    if (r.ifmapConflictCycles > 0)
        row.push_back({"IFMAP Bank Conflict Cycles", static_cast<double>(r.ifmapConflictCycles)});
    if (r.filterConflictCycles > 0)
        row.push_back({"Filter Bank Conflict Cycles", static_cast<double>(r.filterConflictCycles)});
    return row;
}

Row bandwidthRow(const LayerReport& r) {
    const auto cycles = static_cast<double>(std::max<std::int64_t>(1, r.totalCycles));
    Row row{{"Avg IFMAP SRAM BW", r.sramIfmap.words / cycles}, {"Avg FILTER SRAM BW", r.sramFilter.words / cycles}};
    if (r.sparse) row.push_back({"Avg FILTER Metadata SRAM BW", r.storage.metadata / cycles});
    row.push_back({"Avg OFMAP SRAM BW", r.sramOfmap.words / cycles});
    if (!r.dramKnown) return row;
    row.push_back({"Avg IFMAP DRAM BW", r.dramIfmap.perCycle()});
    row.push_back({"Avg FILTER DRAM BW", r.dramFilter.perCycle()});
    row.push_back({"Avg OFMAP DRAM BW", r.dramOfmap.perCycle()});
    return row;
}

Row accessRow(const LayerReport& r) {
    Row row{{"SRAM IFMAP Start Cycle", r.sramIfmap.start}, {"SRAM IFMAP Stop Cycle", r.sramIfmap.stop},
            {"SRAM IFMAP Reads", r.sramIfmap.words},       {"SRAM Filter Start Cycle", r.sramFilter.start},
            {"SRAM Filter Stop Cycle", r.sramFilter.stop}, {"SRAM Filter Reads", r.sramFilter.words},
            {"SRAM OFMAP Start Cycle", r.sramOfmap.start}, {"SRAM OFMAP Stop Cycle", r.sramOfmap.stop},
            {"SRAM OFMAP Writes", r.sramOfmap.words}};
    if (!r.dramKnown) return row;
    const Row dram{{"DRAM IFMAP Start Cycle", r.dramIfmap.start}, {"DRAM IFMAP Stop Cycle", r.dramIfmap.stop},
                   {"DRAM IFMAP Reads", r.dramIfmap.words},       {"DRAM Filter Start Cycle", r.dramFilter.start},
                   {"DRAM Filter Stop Cycle", r.dramFilter.stop}, {"DRAM Filter Reads", r.dramFilter.words},
                   {"DRAM OFMAP Start Cycle", r.dramOfmap.start}, {"DRAM OFMAP Stop Cycle", r.dramOfmap.stop},
                   {"DRAM OFMAP Writes", r.dramOfmap.words}};
    row.insert(row.end(), dram.begin(), dram.end());
    return row;
}

Row sparseRow(const LayerReport& r) {
    if (!r.sparse) return {};
    return {{"Original Filter Storage", r.storage.original},
            {"New Storage (Filter+Metadata)", r.storage.compressed},
            {"Filter Metadata Storage", r.storage.metadata}};
}

struct Report {
    std::string_view key, title;
    Row (*row)(const LayerReport&);
};
constexpr Report reports[] = {{"compute", "Compute", computeRow},
                              {"bandwidth", "Bandwidth (words per cycle)", bandwidthRow},
                              {"access", "Accesses", accessRow},
                              {"sparse", "Sparse filters (words)", sparseRow}};

std::string numberText(double value) {
    return value == static_cast<double>(static_cast<std::int64_t>(value))
               ? fmt::format("{}", static_cast<std::int64_t>(value))
               : fmt::format("{:.4f}", value);
}

// A table per report with the layers side by side: the reports have more columns than a terminal.
std::string tables(const std::vector<LayerReport>& layers) {
    std::string out;
    for (const Report& one : reports) {
        if (one.row(layers.front()).empty()) continue;
        std::vector<std::string> heads{std::string(one.title)};
        std::vector<bool> right{false};
        for (const LayerReport& layer : layers) heads.push_back(layer.layer), right.push_back(true);
        Table table(std::move(heads), std::move(right));
        std::vector<Row> rows;
        for (const LayerReport& layer : layers) rows.push_back(one.row(layer));
        std::size_t most = 0;
        std::size_t longest = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].size() > most) most = rows[i].size(), longest = i;
        }
        for (std::size_t line = 0; line < most; ++line) {
            const std::string_view name = rows[longest][line].first;
            std::vector<std::string> cells{std::string(name)};
            for (const Row& row : rows) {
                const auto found =
                    std::find_if(row.begin(), row.end(), [&](const auto& cell) { return cell.first == name; });
                cells.push_back(found == row.end() ? "–" : numberText(found->second));
            }
            table.add(std::move(cells));
        }
        out += table.text() + "\n";
    }
    return out;
}

Json json(const systolic::Array& array, const std::vector<LayerReport>& layers, std::string_view by) {
    Json out{{"format", "orrery-array"}, {"version", 1}, {"method", by}};
    out["array"] = {{"name", array.name},
                    {"rows", array.rows},
                    {"cols", array.cols},
                    {"dataflow", abbreviation(array.dataflow)},
                    {"ifmap_sram_words", array.ifmapWords},
                    {"filter_sram_words", array.filterWords},
                    {"ofmap_sram_words", array.ofmapWords},
                    {"bandwidth", array.idealBandwidth ? "CALC" : "USER"}};
    if (array.ifmapBanks) out["array"]["ifmap_banks"] = array.ifmapBanks->count;
    if (array.filterBanks) out["array"]["filter_banks"] = array.filterBanks->count;
    out["layers"] = Json::array();
    for (const LayerReport& layer : layers) {
        Json row{{"layer", layer.layer},
                 {"m", layer.product.m},
                 {"n", layer.product.n},
                 {"k", layer.product.k},
                 {"folds", layer.folds}};
        for (const Report& one : reports) {
            const Row cells = one.row(layer);
            for (const auto& [name, value] : cells) row[std::string(one.key)][std::string(name)] = value;
        }
        if (!layer.dramKnown) row["compute"].erase("Total Cycles (incl. prefetch)");
        out["layers"].push_back(std::move(row));
    }
    return out;
}

int runArray(const Arguments& arguments, Watch& watch) {
    const auto config = systolic::readScaleSimConfig(*arguments.value("config"));
    if (!config) return report(config.error()), Unanswered;
    report(config->warnings);
    const auto topology = systolic::readScaleSimTopology(*arguments.value("topology"), arguments.has("gemm"));
    if (!topology) return report(topology.error()), Unanswered;
    report(topology->warnings);
    systolic::Array array = config->array;
    std::vector<systolic::Layer> described = topology->layers;
    if (const auto file = arguments.value("layout")) {
        const auto layouts = systolic::readScaleSimLayout(*file);
        if (!layouts) return report(layouts.error()), Unanswered;
        if (array.layouts()) {
            if (auto given = systolic::giveLayouts(described, *layouts); !given)
                return report(given.error()), Unanswered;
        } else {
            report(Diagnostic{.severity = Severity::Note,
                              .code = "scalesim.ignored",
                              .message = "the configuration asks for no custom layout",
                              .hint = "IfmapCustomLayout : True and InterfaceBandwidth : USER take the layout in",
                              .place = {.file = *file}});
        }
    }
    if (arguments.has("corrected")) array.waitsCountTwice = false;

    std::unique_ptr<systolic::CsvTrace> trace;
    if (const auto file = arguments.value("trace")) {
        auto opened = systolic::CsvTrace::open(*file);
        if (!opened) return report(opened.error()), Unanswered;
        trace = std::move(*opened);
    }
    const bool closed = arguments.has("closed-form");
    watch.begin("simulating the array");
    std::vector<LayerReport> layers;
    for (const systolic::Layer& layer : described) {
        systolic::SimulateOptions options;
        options.stop = watch.token();
        options.sink = trace.get();
        if (trace) trace->layer(layer.name);
        auto answer = closed ? systolic::closedForm(array, layer) : systolic::simulate(array, layer, options);
        if (!answer) {
            watch.end();
            report(answer.error());
            return Unanswered;
        }
        layers.push_back(std::move(*answer));
    }
    watch.end();
    if (trace && !trace->close()) {
        report(Diagnostic{.code = "systolic.trace",
                          .message = "the trace could not be written",
                          .hint = "is the disk full?",
                          .place = {.file = *arguments.value("trace")}});
        return Unanswered;
    }
    const std::string_view by = closed ? "systolic-closed-form" : "systolic-cycle";
    return print(arguments.has("json") ? json(array, layers, by).dump(2) + "\n" : tables(layers)) ? Answered
                                                                                                  : Unanswered;
}

}  // namespace

const Command arrayCommand{
    .name = "array",
    .summary = "simulate a systolic array from SCALE-Sim files, cycle by cycle",
    .details =
        "Reads a configuration and a topology as SCALE-Sim does and answers its reports: cycles, stalls and "
        "utilisation, words per cycle, first and last cycle and number of all accesses.",
    .options = {{"config", "FILE", "the configuration (.cfg)"},
                {"topology", "FILE", "the layers (.csv)"},
                {"layout", "FILE",
                 "how operands lie in the SRAM banks (.csv), where the configuration says CustomLayout"},
                {"gemm", "", "the layers are matrix products: name, M, N, K"},
                {"closed-form", "", "by formula instead of cycle by cycle; bandwidth counts as ideal"},
                {"corrected", "", "count each wait for DRAM once; SCALE-Sim 3.0.0 counts it twice"},
                {"trace", "FILE", "write a row of CSV per cycle"},
                {"json", "", "as JSON (resources/schema/array.schema.json)"}},
    .required = {"config", "topology"},
    .examples = {{"orrery-cli array --config scale.cfg --topology resnet18.csv", "the three reports of every layer"},
                 {"orrery-cli array --config scale.cfg --topology gemm.csv --gemm --json",
                  "of matrix products, as JSON"}},
    .run = runArray,
};

}  // namespace orrery::cli
