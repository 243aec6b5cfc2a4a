#include "app/cli/cmd_map_maestro.h"
#include "app/cli/map_bound.h"
#include "app/cli/map_fuse.h"
#include "app/cli/map_parts.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/unit.h"
#include "mapping/energy_tables.h"
#include "mapping/mapspace_read.h"
#include "mapping/nest_statics.h"
#include "mapping/nest_text.h"
#include "mapping/sparse/sparse_read.h"
#include "mapping/timeloop/timeloop.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>

namespace orrery::cli {

std::string countsText(const TimeloopInput& input, const NestCounts& counts) {
    std::string out = fmt::format("{} on {}\n\n", input.problem.name.empty() ? "problem" : input.problem.name,
                                  input.hardware.name.empty() ? "the architecture" : input.hardware.name);
    Table summary({"quantity", "value", ""}, {false, true, false});
    summary.add(
        {"cycles", count(counts.cycles), fmt::format("{} without bandwidth limits", count(counts.computeCycles))});
    summary.add({"utilisation", fmt::format("{:.2f} %", counts.utilisation * 100), "of the arithmetic units"});
    summary.add({"energy", formatMeasure(counts.energy, Dimension::Energy, 6),
                 fmt::format("{} of it arithmetic", formatMeasure(counts.arithmeticEnergy, Dimension::Energy, 6))});
    if (const double leaks = leakage(input.hardware, counts.cycles); leaks > 0)
        summary.add({"leakage", formatMeasure(leaks, Dimension::Energy, 6),
                     "of all instances over all cycles, not in the energy"});
    if (const double area = statedArea(input.hardware); area > 0)
        summary.add({"area", fmt::format("{:.6g} mm²", area), "of the parts that state one"});
    summary.add({"operations", count(counts.operations),
                 counts.computed < counts.operations ? fmt::format("{} carried out", count(counts.computed)) : ""});
    out += summary.text() + "\n";
    Table levels({"level", "tensor", "instances", "tile", "reads", "fills", "updates", "energy", "cycles"},
                 {false, false, true, true, true, true, true, true, true});
    for (std::size_t l = 0; l < counts.levels.size(); ++l) {
        for (std::size_t t = 0; t < input.problem.tensors.size(); ++t) {
            const TensorCounts& at = counts.levels[l].tensors[t];
            if (!at.kept) continue;
            levels.add({input.hardware.levels[l].name, input.problem.tensors[t].name, count(at.instances),
                        count(at.tile), count(at.reads), count(at.fills), count(at.updates),
                        formatMeasure(at.energy, Dimension::Energy, 6), count(counts.levels[l].cycles)});
        }
    }
    out += levels.text() + "\nCounts are per instance, energies over all instances.\n\n";
    return out + nestText(input.problem, input.hardware, *input.mapping, &counts);
}

// Whole numbers as such: counts are, up to 2^53.
nlohmann::ordered_json exact(double value) {
    if (value == std::floor(value) && std::abs(value) < 9007199254740992.0) return static_cast<std::int64_t>(value);
    return value;
}

nlohmann::ordered_json countsJson(const TimeloopInput& input, const NestCounts& counts) {
    nlohmann::ordered_json json;
    json["cycles"] = exact(counts.cycles);
    json["utilization"] = counts.utilisation;
    json["energy_j"] = counts.energy;
    json["macs"] = exact(counts.operations);
    if (const double leaks = leakage(input.hardware, counts.cycles); leaks > 0) json["leakage_j"] = leaks;
    if (const double area = statedArea(input.hardware); area > 0) json["area_mm2"] = area;
    json["levels"] = nlohmann::ordered_json::array();
    for (std::size_t l = 0; l < counts.levels.size(); ++l) {
        for (std::size_t t = 0; t < input.problem.tensors.size(); ++t) {
            const TensorCounts& at = counts.levels[l].tensors[t];
            if (!at.kept) continue;
            json["levels"].push_back({{"level", input.hardware.levels[l].name},
                                      {"tensor", input.problem.tensors[t].name},
                                      {"instances", exact(at.instances)},
                                      {"reads", exact(at.reads)},
                                      {"fills", exact(at.fills)},
                                      {"updates", exact(at.updates)},
                                      {"energy_j", at.energy}});
        }
    }
    return json;
}

namespace {

int runMap(const Arguments& arguments, Watch& watch) {
    if (arguments.has("maestro")) return mapMaestro(arguments);
    if (arguments.has("hardware") || arguments.has("workload")) return mapWorkload(arguments, watch);
    std::vector<std::string> files = arguments.values("timeloop");
    files.insert(files.end(), arguments.positionals().begin(), arguments.positionals().end());
    if (files.empty()) {
        return failed(fail("usage.missing", "no file is named", "--timeloop FILE...",
                           "name the files with problem, architecture and mapping")
                          .value());
    }
    auto input = readTimeloopFiles(files);
    if (!input) return failed(input.error());
    if (const auto text = arguments.value("technology")) {
        DocNode node;
        node.kind = DocNode::Kind::Scalar;
        node.text = text->ends_with("nm") ? text->substr(0, text->size() - 2) : *text;
        const auto nanometres = docNumber(node, "--technology");
        if (!nanometres) {
            return failed(
                fail("usage.value", fmt::format("`{}` is no technology", *text), "nanometres: `45nm`").value());
        }
        if (const auto done = applyTechnologyEnergies(input->hardware, *nanometres); !done) return failed(done.error());
    }
    const auto sparse = readSparseDesign(input->root, input->problem, input->hardware, input->warnings);
    if (!sparse) return failed(sparse.error());
    report(input->warnings);
    std::string search;
    std::optional<FoundMapping> searched;
    if (arguments.has("mapper") || (!input->mapping && asksForMapper(input->root))) {
        auto found = searchFor(*input, *sparse, arguments, watch);
        if (!found) return failed(found.error());
        searched = std::move(*found);
        input->mapping = searched->result->mapping;
        search = searchText(*searched->result, searched->options, input->hardware);
    } else if (!input->mapping && !arguments.has("bound-curve")) {
        return failed(fail("timeloop.missing", "there is no mapping", "`mapping:`, a list of directives",
                           "give the file with the mapping too, or let --mapper search one",
                           input->root.place("mapping"))
                          .value());
    }
    if (arguments.has("bound-curve")) return boundOfInput(*input, arguments, watch);
    NestEvaluator evaluator(input->problem, input->hardware, *sparse);
    const auto counts = evaluator.explain(*input->mapping);
    if (!counts) return failed(input->placed(counts.error()));
    if (const auto path = arguments.value("write")) {
        if (!writeTo(*path, writeTimeloop(input->problem, input->hardware, *input->mapping))) return Unanswered;
        if (*path == "-") return Answered;
    }
    if (!arguments.has("json")) return print(search + countsText(*input, *counts)) ? Answered : Unanswered;
    auto json = countsJson(*input, *counts);
    if (searched) addSearch(json, *searched->result, searched->options);
    return print(json.dump(2) + "\n") ? Answered : Unanswered;
}

std::vector<Option> options() {
    std::vector<Option> all{
        {"timeloop", "FILE", "an input of Timeloop; more may follow", true},
        {"json", "",
         "cycles, utilization, energy_j, macs and levels[] as JSON; after a search also proven, lower_bound, "
         "edp and seconds"},
        {"write", "FILE",
         "also write problem, architecture, mapping and energies as YAML; `-` is standard "
         "output"}};
    all.push_back(
        {"technology", "NM", "published energies scaled to this technology instead of the files' (7 to 130 nm)"});
    all.insert(all.end(), mapperOptions().begin(), mapperOptions().end());
    all.insert(all.end(), boundOptions().begin(), boundOptions().end());
    all.insert(all.end(), fuseOptions().begin(), fuseOptions().end());
    all.push_back({"maestro", "FILE", "a network with data-centric dataflows, in the notation of MAESTRO"});
    all.push_back({"maestro-hardware", "FILE", "the array for it: num_pes, noc_bw_cstr and so on"});
    all.push_back({"dataflow", "ID", "with --maestro, this stock dataflow in the place of the file's"});
    all.push_back({"hardware", "H", "instead of files: a design with an array, of the catalogue or a file"});
    all.push_back({"workload", "W", "with --hardware: map every operator of this model"});
    all.push_back({"operator", "NAME", "with --workload: this operator alone, with its loops and counts"});
    all.push_back({"sparse", "FILE",
                   "with --workload: densities of Inputs, Weights, Outputs and sparse_optimizations of the "
                   "design's levels, as Sparseloop writes them"});
    all.push_back({"set", "PATH=VALUE", "change an attribute of the hardware", true});
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    return all;
}

}  // namespace

const Command mapCommand{
    .name = "map",
    .positional = "[FILE...]",
    .summary = "count what one mapping of a loop nest moves, how long it takes and what it costs",
    .details =
        "FILEs are inputs of Timeloop, in libconfig (v1 to v3) or YAML (v3, v4), all parts in one or spread over "
        "several: problem, architecture, mapping, sparse_optimizations, ERT and ART. JSON counts are per instance.",
    .options = options(),
    .required = {},
    .examples = {{"orrery-cli map --timeloop model.cfg", "cycles, energy and traffic of every level"},
                 {"orrery-cli map --timeloop arch.yaml prob.yaml map.yaml ERT.yaml --json", "the same for a script"},
                 {"orrery-cli map --timeloop model.cfg --write model.yaml", "from the old syntax to the new one"},
                 {"orrery-cli map --timeloop mapper.cfg --mapper annealing --objective edp",
                  "the best mapping that a search finds"},
                 {"orrery-cli map --timeloop mapper.cfg --mapper optimal --objective edp --json",
                  "the best mapping there is, proven"},
                 {"orrery-cli map --hardware tpu-v3 --workload resnet-50", "a mapping of every layer"},
                 {"orrery-cli map --hardware eyeriss-like --workload alexnet --weights int16 --activations int16 "
                  "--sparse sparse.yaml",
                  "and what would skipping zeros bring?"},
                 {"orrery-cli map --hardware eyeriss-like --workload alexnet --operator conv2 --bound-curve",
                  "the least that must move for any size of the buffer"},
                 {"orrery-cli map --hardware tpu-v1-like --workload bert-base --seq 128 --fuse --objective latency",
                  "which neighbours to run together, and what that saves"},
                 {"orrery-cli map --maestro net.m --maestro-hardware hw.m --dataflow kcp-ws",
                  "the layers of a MAESTRO file under NVDLA's dataflow"}},
    .run = runMap,
};

}  // namespace orrery::cli
