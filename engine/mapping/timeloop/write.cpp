#include "base/text/yaml_node.h"
#include "mapping/timeloop/timeloop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery {
namespace {

// Coefficients other than 1 get names of their own, in the order in which they come.
struct CoefficientNames {
    std::map<std::int64_t, std::string> names;
    std::string of(std::int64_t value) {
        auto& name = names[value];
        if (name.empty()) name = fmt::format("times{}", value);
        return name;
    }
};

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + yamlScalar(word);
    return text;
}

std::string number(double value) {
    return fmt::format("{}", value);
}

void levelText(const NestLevel& level, std::string& out) {
    const auto line = [&out](const char* key, const std::string& value) {
        out += fmt::format("          {}: {}\n", key, value);
    };
    out += fmt::format("      - name: {}\n        class: {}\n        attributes:\n", yamlScalar(level.name),
                       level.dram ? "DRAM" : "storage");
    line("instances", fmt::format("{}", level.instances));
    line("meshX", fmt::format("{}", level.meshX));
    line("datawidth", fmt::format("{}", level.wordBits));
    line("block-size", fmt::format("{}", level.blockSize));
    line("cluster-size", fmt::format("{}", level.clusterSize));
    if (std::isfinite(level.capacityWords)) line("entries", number(level.capacityWords));
    if (level.readBandwidth > 0) line("read_bandwidth", number(level.readBandwidth));
    if (level.writeBandwidth > 0) line("write_bandwidth", number(level.writeBandwidth));
    if (level.sharedBandwidth > 0) line("shared_bandwidth", number(level.sharedBandwidth));
    if (level.multipleBuffering != 1) line("multiple-buffering", number(level.multipleBuffering));
    if (level.minUtilisation > 0) line("min-utilization", number(level.minUtilisation));
    if (level.networkLatency > 0) line("network_fill_latency", number(level.networkLatency));
    if (level.metadataWidthBits > 0) line("metadata_storage_width", number(level.metadataWidthBits));
    if (level.metadataWidthBits > 0 && std::isfinite(level.metadataCapacityBits)) {
        line("metadata_storage_depth", number(level.metadataCapacityBits / level.metadataWidthBits));
    }
    if (level.metadataWordBits > 0) line("metadata_datawidth", number(level.metadataWordBits));
    if (level.compressionSupported) line("compression_supported", "true");
    if (level.decompressionSupported) line("decompression_supported", "true");
}

void energyRows(const std::string& name, std::initializer_list<std::pair<const char*, double>> actions,
                std::string& out) {
    out += fmt::format("    - name: {}\n      actions:\n", yamlScalar(name));
    for (const auto& [action, energy] : actions) {
        out += fmt::format("        - {{name: {}, energy: {}}}\n", action, number(energy * 1e12));
    }
}

std::string energyTable(const NestHardware& hardware) {
    std::string out = "ERT:\n  version: 0.4\n  tables:\n";
    for (const NestLevel& level : hardware.levels) {
        const ActionEnergies& e = level.energy;
        energyRows(level.name,
                   {{"read", e.vectorRead},
                    {"write", e.vectorWrite},
                    {"update", e.vectorUpdate},
                    {"gated_read", e.gatedRead},
                    {"gated_write", e.gatedWrite},
                    {"skipped_read", e.skippedRead},
                    {"skipped_write", e.skippedWrite},
                    {"metadata_read", e.metadataRead},
                    {"metadata_write", e.metadataWrite},
                    {"gated_metadata_read", e.gatedMetadataRead},
                    {"gated_metadata_write", e.gatedMetadataWrite},
                    {"skipped_metadata_read", e.skippedMetadataRead},
                    {"skipped_metadata_write", e.skippedMetadataWrite},
                    {"decompression", e.decompression},
                    {"compression", e.compression},
                    {"leak", e.leakPerCycle}},
                   out);
    }
    energyRows(hardware.arithmetic.name,
               {{"compute", hardware.arithmetic.energy},
                {"compute_gated", hardware.arithmetic.gatedEnergy},
                {"compute_skipped", hardware.arithmetic.skippedEnergy}},
               out);
    out += "ART:\n  version: 0.4\n  tables:\n";
    for (const NestLevel& level : hardware.levels) {
        out += fmt::format("    - {{name: {}, area: {}}}\n", yamlScalar(level.name), number(level.area * 1e6));
    }
    return out + fmt::format("    - {{name: {}, area: {}}}\n", yamlScalar(hardware.arithmetic.name),
                             number(hardware.arithmetic.area * 1e6));
}

}  // namespace

std::string writeTimeloopProblem(const NestProblem& problem) {
    CoefficientNames coefficients;
    std::string spaces;
    for (const NestTensor& tensor : problem.tensors) {
        spaces += fmt::format("      - name: {}\n        projection:\n", yamlScalar(tensor.name));
        for (const TensorRank& rank : tensor.ranks) {
            std::string terms;
            for (const ProjectionTerm& term : rank.terms) {
                const std::string& dimension = problem.dimensions[term.dimension];
                terms += terms.empty() ? "" : ", ";
                terms += term.coefficient == 1
                             ? fmt::format("[{}]", yamlScalar(dimension))
                             : fmt::format("[{}, {}]", yamlScalar(dimension), coefficients.of(term.coefficient));
            }
            spaces += fmt::format("          - [{}]\n", terms);
        }
        spaces += fmt::format("        read-write: {}\n", tensor.written);
    }
    std::string out =
        fmt::format("problem:\n  version: 0.4\n  shape:\n    name: {}\n    dimensions: [{}]\n",
                    yamlScalar(problem.name.empty() ? "problem" : problem.name), joined(problem.dimensions));
    if (!coefficients.names.empty()) {
        out += "    coefficients:\n";
        for (const auto& [value, name] : coefficients.names) {
            out += fmt::format("      - {{name: {}, default: {}}}\n", name, value);
        }
    }
    out += "    data-spaces:\n" + spaces + "  instance:\n";
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
        out += fmt::format("    {}: {}\n", yamlScalar(problem.dimensions[d]), problem.extents[d]);
    }
    return out;
}

std::string writeTimeloopArchitecture(const NestHardware& hardware) {
    std::string out = fmt::format("architecture:\n  version: 0.4\n  subtree:\n    - name: {}\n      local:\n",
                                  yamlScalar(hardware.name.empty() ? "system" : hardware.name));
    std::string parts;
    for (std::size_t l = hardware.levels.size(); l-- > 0;) levelText(hardware.levels[l], parts);
    const NestArithmetic& unit = hardware.arithmetic;
    parts += fmt::format(
        "      - name: {}\n        class: compute\n        attributes:\n          instances: {}\n          meshX: {}\n"
        "          datawidth: {}\n",
        yamlScalar(unit.name), unit.instances, unit.meshX, unit.wordBits);
    return out + parts;
}

std::string writeTimeloopMapping(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping) {
    std::string out = "mapping:\n";
    for (std::size_t l = hardware.levels.size(); l-- > 0;) {
        const LevelMapping& level = mapping.levels[l];
        const std::string target = yamlScalar(hardware.levels[l].name);
        std::vector<std::string> keep, pass;
        for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
            ((level.keeps >> t & 1u) != 0 ? keep : pass).push_back(problem.tensors[t].name);
        }
        out += fmt::format("  - {{target: {}, type: bypass, keep: [{}], bypass: [{}]}}\n", target, joined(keep),
                           joined(pass));
        for (const bool temporal : {true, false}) {
            std::vector<std::string> order;
            std::string factors;
            std::size_t split = 0;
            const auto take = [&](LoopKind kind) {
                for (const NestLoop& loop : level.loops) {
                    if (loop.kind != kind) continue;
                    order.push_back(problem.dimensions[loop.dimension]);
                    factors += fmt::format("{}{}={}", factors.empty() ? "" : " ", order.back(), loop.bound);
                    if (loop.residual != loop.bound) factors += fmt::format(",{}", loop.residual);
                }
            };
            if (temporal) {
                take(LoopKind::Temporal);
            } else {
                take(LoopKind::SpatialX);
                split = order.size();
                take(LoopKind::SpatialY);
                if (order.empty()) continue;
            }
            out += fmt::format("  - {{target: {}, type: {}, factors: \"{}\", permutation: [{}]", target,
                               temporal ? "temporal" : "spatial", factors, joined(order));
            out += temporal ? "}\n" : fmt::format(", split: {}}}\n", split);
        }
    }
    return out;
}

std::string writeTimeloop(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping) {
    return writeTimeloopProblem(problem) + writeTimeloopArchitecture(hardware) +
           writeTimeloopMapping(problem, hardware, mapping) + energyTable(hardware);
}

}  // namespace orrery
