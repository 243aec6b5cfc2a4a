#include "base/text/nearest.h"
#include "mapping/energy_tables.h"
#include "mapping/timeloop/read_parts.h"
#include "mapping/timeloop/timeloop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

using timeloop::Attributes;

constexpr std::int64_t most = std::int64_t{1} << 31;

// Names by which an attribute has gone, and what is read but does not matter here.
const std::vector<std::string>& storageKeys() {
    static const std::vector<std::string> keys{"name",
                                               "class",
                                               "subclass",
                                               "attributes",
                                               "required_actions",
                                               "enabled",
                                               "word-bits",
                                               "word_width",
                                               "datawidth",
                                               "block-size",
                                               "n_words",
                                               "cluster-size",
                                               "width",
                                               "memory_width",
                                               "data_storage_width",
                                               "entries",
                                               "depth",
                                               "memory_depth",
                                               "data_storage_depth",
                                               "sizeKB",
                                               "technology",
                                               "num-ports",
                                               "n_ports",
                                               "n_rd_ports",
                                               "n_wr_ports",
                                               "n_rdwr_ports",
                                               "num-banks",
                                               "n_banks",
                                               "bandwidth",
                                               "read_bandwidth",
                                               "write_bandwidth",
                                               "shared_bandwidth",
                                               "multiple-buffering",
                                               "min-utilization",
                                               "instances",
                                               "meshX",
                                               "meshY",
                                               "mesh_x",
                                               "mesh_y",
                                               "network_read",
                                               "network_fill",
                                               "network_drain",
                                               "network_update",
                                               "network_fill_latency",
                                               "network_drain_latency",
                                               "allow_overbooking",
                                               "vector-access-energy",
                                               "addr-gen-energy",
                                               "cluster-area",
                                               "reduction_supported",
                                               "power_gated_at",
                                               "has_power_gating",
                                               "global_cycle_seconds",
                                               "metadata-block-size",
                                               "metadata_datawidth",
                                               "metadata_word_bits",
                                               "metadata_storage_width",
                                               "metadata_storage_depth",
                                               "metadata_counter_width",
                                               "compression_supported",
                                               "decompression_supported",
                                               "concordant_compressed_tile_traversal",
                                               "tile_partition_supported",
                                               "tile_traversal_order",
                                               "version",
                                               "latency",
                                               "action_latency_cycles",
                                               "constraints",
                                               "spatial",
                                               "container",
                                               "wire-energy",
                                               "router-energy",
                                               "network-word-bits",
                                               "is_sparse_module",
                                               "network_operand",
                                               "network_result",
                                               "energy",
                                               "area",
                                               "tile-width",
                                               "area_scale",
                                               "energy_scale"};
    return keys;
}

Expected<void> meshOf(const Attributes& a, std::int64_t elements, std::int64_t& instances, std::int64_t& meshX) {
    instances = elements;
    if (const auto ok = a.whole({"instances"}, instances, 1, most); !ok) return ok;
    std::int64_t x = 0, y = 0;
    if (const auto ok = a.whole({"meshX", "mesh_x"}, x, 1, most); !ok) return ok;
    if (const auto ok = a.whole({"meshY", "mesh_y"}, y, 1, most); !ok) return ok;
    if (instances == 0 && x > 0 && y > 0) instances = x * y;
    if (instances == 0) {
        return fail("timeloop.missing", fmt::format("{} has no number of instances", a.name),
                    "`instances`, or `meshX` and `meshY`", "", a.place());
    }
    if (x == 0) x = y > 0 ? instances / y : instances;
    if (instances % x != 0 || (y > 0 && x * y != instances)) {
        return fail("timeloop.mesh",
                    fmt::format("{} instances of {} do not make a mesh of {} × {}", instances, a.name, x,
                                y > 0 ? y : instances / x),
                    "instances = meshX × meshY", "correct one of the three", a.place());
    }
    meshX = x;
    return {};
}

Expected<void> readSize(const Attributes& a, NestLevel& level) {
    std::int64_t width = 0, size = 0;
    const bool blockGiven = a.has({"block-size", "n_words"}), clusterGiven = a.has({"cluster-size"});
    if (const auto ok = a.whole({"block-size", "n_words"}, level.blockSize, 1, most); !ok) return ok;
    if (const auto ok = a.whole({"cluster-size"}, level.clusterSize, 1, most); !ok) return ok;
    if (const auto ok = a.whole({"width", "memory_width", "data_storage_width"}, width, 0, most); !ok) return ok;
    if (width > 0) {
        // The width of a row is word × block × cluster: what is not given follows from it.
        const std::int64_t known = level.wordBits * level.blockSize * level.clusterSize;
        if (!blockGiven && width % (level.wordBits * level.clusterSize) == 0) {
            level.blockSize = width / (level.wordBits * level.clusterSize);
        } else if (blockGiven && !clusterGiven && width % (level.wordBits * level.blockSize) == 0) {
            level.clusterSize = width / (level.wordBits * level.blockSize);
        } else if (width != known) {
            return fail(
                "timeloop.width",
                fmt::format("a row of {} is {} bits, words of {} bits do not fill it", a.name, width, level.wordBits),
                "width = word bits × block size × cluster size", "check width, datawidth and block-size", a.place());
        }
    }
    if (a.has({"entries"})) {
        if (const auto ok = a.whole({"entries"}, size, 0, std::int64_t{1} << 40); !ok) return ok;
        level.capacityWords = static_cast<double>(size);
    } else if (a.has({"depth", "memory_depth", "data_storage_depth"})) {
        if (const auto ok = a.whole({"depth", "memory_depth", "data_storage_depth"}, size, 0, std::int64_t{1} << 40);
            !ok) {
            return ok;
        }
        level.capacityWords = static_cast<double>(size) * static_cast<double>(level.blockSize);
    } else if (a.has({"sizeKB"})) {
        double kilobytes = 0;
        if (const auto ok = a.number({"sizeKB"}, kilobytes); !ok) return ok;
        level.capacityWords = std::floor(kilobytes * 1024 * 8 / static_cast<double>(level.wordBits));
    }
    return {};
}

Expected<NestLevel> readLevel(const DocNode& node, std::int64_t elements, Diagnostics& warnings) {
    const Attributes a(node);
    if (const auto ok = a.refuseUnknown(storageKeys(), warnings); !ok) return Unexpected(ok.error());
    NestLevel level;
    level.name = a.name;
    if (level.name.empty()) {
        return fail("timeloop.missing", "a storage level has no name", "`name`", "", node.place());
    }
    const auto is = a.text({"class"}) + a.text({"subclass"});
    level.dram = a.text({"class"}).find("DRAM") != std::string::npos || a.text({"technology"}) == "DRAM";
    if (const auto ok = a.whole({"word-bits", "word_width", "datawidth"}, level.wordBits, 1, 65536); !ok) {
        return Unexpected(ok.error());
    }
    if (const auto ok = readSize(a, level); !ok) return Unexpected(ok.error());
    if (const auto ok = meshOf(a, elements, level.instances, level.meshX); !ok) return Unexpected(ok.error());
    double both = 0, fill = 0, drain = 0, metadataDepth = 0;
    const auto numbers = {
        std::pair<const char*, double*>{"bandwidth", &both},
        {"read_bandwidth", &level.readBandwidth},
        {"write_bandwidth", &level.writeBandwidth},
        {"shared_bandwidth", &level.sharedBandwidth},
        {"multiple-buffering", &level.multipleBuffering},
        {"min-utilization", &level.minUtilisation},
        {"network_fill_latency", &fill},
        {"network_drain_latency", &drain},
        {"metadata_storage_width", &level.metadataWidthBits},
        {"metadata_storage_depth", &metadataDepth},
    };
    for (const auto& [name, into] : numbers) {
        if (const auto ok = a.number({name}, *into); !ok) return Unexpected(ok.error());
    }
    if (const auto ok = a.number({"metadata_datawidth", "metadata_word_bits"}, level.metadataWordBits); !ok) {
        return Unexpected(ok.error());
    }
    // The old name stands for both directions together.
    if (both > 0 && level.readBandwidth == 0) level.readBandwidth = both / 2;
    if (both > 0 && level.writeBandwidth == 0) level.writeBandwidth = both / 2;
    if (level.multipleBuffering < 1) level.multipleBuffering = 1;
    level.networkLatency = fill + drain;
    if (std::isfinite(level.capacityWords) && a.has({"metadata_storage_depth"})) {
        level.metadataCapacityBits = metadataDepth * level.metadataWidthBits;
    } else if (std::isfinite(level.capacityWords)) {
        level.metadataCapacityBits = 0;
    }
    if (const auto ok = a.flag({"compression_supported"}, level.compressionSupported); !ok)
        return Unexpected(ok.error());
    if (const auto ok = a.flag({"decompression_supported"}, level.decompressionSupported); !ok) {
        return Unexpected(ok.error());
    }
    level.energy = ratioEnergies(level);
    double access = -1;
    if (const auto ok = a.number({"vector-access-energy"}, access); !ok) return Unexpected(ok.error());
    if (access >= 0) {
        level.energy.vectorRead = level.energy.vectorWrite = level.energy.vectorUpdate = access * 1e-12;
        level.energy.source = fmt::format("vector-access-energy at {}", toText(a.place()));
    }
    (void)is;
    return level;
}

Expected<NestArithmetic> readArithmetic(const DocNode& node, std::int64_t elements, Diagnostics& warnings) {
    const Attributes a(node);
    if (const auto ok = a.refuseUnknown(storageKeys(), warnings); !ok) return Unexpected(ok.error());
    NestArithmetic arithmetic;
    arithmetic.name = a.name.empty() ? "__ARITH__" : a.name;
    if (const auto ok = a.whole({"word-bits", "datawidth", "word_width"}, arithmetic.wordBits, 1, 65536); !ok) {
        return Unexpected(ok.error());
    }
    if (const auto ok = meshOf(a, elements, arithmetic.instances, arithmetic.meshX); !ok) return Unexpected(ok.error());
    double energy = ratioMacEnergy(static_cast<double>(arithmetic.wordBits)) * 1e12, area = 0;
    if (const auto ok = a.number({"energy"}, energy); !ok) return Unexpected(ok.error());
    if (const auto ok = a.number({"area"}, area); !ok) return Unexpected(ok.error());
    arithmetic.energy = energy * 1e-12;
    arithmetic.area = area * 1e-6;
    return arithmetic;
}

bool contains(const std::string& text, std::initializer_list<const char*> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const char* part) { return text.find(part) != std::string::npos; });
}

// Depth first from the outside: what stands deeper is nearer to the arithmetic.
Expected<void> readTree(const DocNode& node, std::int64_t multiple, int depth, NestHardware& hardware, bool& arithmetic,
                        Diagnostics& warnings) {
    if (const DocNode* name = node.find("name"); name != nullptr && depth > 0) {
        const auto parsed = timeloop::splitName(*name);
        if (!parsed) return Unexpected(parsed.error());
        multiple *= parsed->count;
        if (hardware.name.empty()) hardware.name = parsed->name;
    }
    if (const DocNode* local = node.find("local"); local != nullptr) {
        for (const DocNode& part : local->items) {
            const DocNode* name = part.find("name");
            const DocNode* kind = part.find("class");
            if (name == nullptr || kind == nullptr) {
                return fail("timeloop.missing", "a component has no name or no class", "`name` and `class`", "",
                            part.place());
            }
            const auto parsed = timeloop::splitName(*name);
            if (!parsed) return Unexpected(parsed.error());
            const std::int64_t elements = multiple * parsed->count;
            if (elements > most) {
                return fail("timeloop.value", fmt::format("{} stands {} times", parsed->name, elements),
                            "at most 2^31 instances", "check the ranges in the names around it", part.place());
            }
            if (contains(kind->text, {"DRAM", "SRAM", "regfile", "smartbuffer", "storage"})) {
                auto level = readLevel(part, elements, warnings);
                if (!level) return Unexpected(level.error());
                hardware.levels.insert(hardware.levels.begin(), std::move(*level));
            } else if (contains(kind->text, {"mac", "compute", "mult", "MAC"})) {
                auto unit = readArithmetic(part, elements, warnings);
                if (!unit) return Unexpected(unit.error());
                hardware.arithmetic = std::move(*unit);
                arithmetic = true;
            } else {
                warnings.push_back(warning("timeloop.class",
                                           fmt::format("{} of class `{}` is neither storage nor arithmetic and is left "
                                                       "out",
                                                       parsed->name, kind->text),
                                           "its energy is not counted", part.place()));
            }
        }
    }
    const DocNode* subtree = node.find("subtree");
    if (subtree == nullptr) return {};
    if (!subtree->isList() || subtree->items.size() != 1) {
        return fail("timeloop.tree", fmt::format("`subtree` holds {} branches", subtree->items.size()),
                    "one branch: storage levels are a chain", "keep the branch that ends at the arithmetic",
                    subtree->place());
    }
    return readTree(subtree->items.front(), multiple, depth + 1, hardware, arithmetic, warnings);
}

}  // namespace

Expected<NestHardware> readTimeloopArchitecture(const DocNode& root, Diagnostics& warnings) {
    const DocNode* part = root.findAny({"architecture", "arch"});
    if (part == nullptr || !part->isMap()) {
        return fail("timeloop.missing", "there is no architecture",
                    "`architecture:` with a tree, or `arch:` with `arithmetic` and `storage`",
                    "give the file with the architecture too", root.place("architecture"));
    }
    NestHardware hardware;
    bool arithmetic = false;
    if (const DocNode* storage = part->find("storage"); storage != nullptr) {
        const DocNode* unit = part->find("arithmetic");
        if (unit == nullptr || !storage->isList()) {
            return fail("timeloop.missing", "the architecture has no arithmetic, or its storage is no list",
                        "`arithmetic`, and `storage` as a list from the inside out", "", part->place());
        }
        auto read = readArithmetic(*unit, 0, warnings);
        if (!read) return Unexpected(read.error());
        hardware.arithmetic = std::move(*read);
        arithmetic = true;
        for (const DocNode& node : storage->items) {
            auto level = readLevel(node, 0, warnings);
            if (!level) return Unexpected(level.error());
            hardware.levels.push_back(std::move(*level));
        }
    } else if (part->find("nodes") != nullptr) {
        return fail("timeloop.tree", "the architecture is a list of `nodes` that the front end has not flattened yet",
                    "`subtree` and `local`", "use the flattened file that Timeloop's front end writes",
                    part->find("nodes")->place());
    } else if (const auto done = readTree(*part, 1, 0, hardware, arithmetic, warnings); !done) {
        return Unexpected(done.error());
    }
    if (!arithmetic || hardware.levels.empty()) {
        return fail("timeloop.missing",
                    arithmetic ? "the architecture has no storage" : "the architecture has no arithmetic",
                    "one component of class `mac` or `compute`, and storage around it",
                    "check the classes of the components", part->place());
    }
    if (const DocNode* name = part->find("name"); name != nullptr && name->isScalar()) hardware.name = name->text;
    return hardware;
}

}  // namespace orrery
