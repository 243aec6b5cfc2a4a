#include "hardware/area/technology.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "base/unit.h"
#include "hardware/files/catalogue.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace orrery {

namespace {

constexpr double um2 = 1e-12, mm2 = 1e-6;

// Reads numbers by their path and remembers the first that is not there.
class Numbers {
public:
    Numbers(const YamlNode& root, std::string_view file) : root_(root), file_(file) {}
    double operator()(std::initializer_list<std::string_view> path, std::optional<Dimension> dimension = {}) {
        const YamlNode* node = &root_;
        std::string text;
        for (const std::string_view key : path) {
            text += fmt::format("{}{}", text.empty() ? "" : ".", key);
            node = node ? node->find(key) : nullptr;
        }
        return of(node, text, dimension);
    }
    double of(const YamlNode* node, const std::string& path, std::optional<Dimension> dimension = {}) {
        if (node && node->isScalar()) {
            if (dimension) {
                if (const auto measure = parseMeasure(node->scalar, *dimension)) return measure->si;
            } else if (const auto number = numberIn(node->scalar); number && *number > 0) {
                return *number;
            }
        }
        if (!problem_) {
            problem_ = fail("technology.number", fmt::format("`{}` is no number above 0", path), "a number", "",
                            {std::string(file_), node ? node->line : 0})
                           .value();
        }
        return 1;
    }
    double signedOf(const YamlNode* node, const std::string& path) {
        const auto value = node && node->isScalar() ? numberIn(node->scalar) : std::nullopt;
        return value ? *value : of(node, path);
    }
    /// Of an entry that may lack it.
    double orNone(const YamlNode* node, const std::string& path) { return node ? of(node, path) : 0; }
    const std::optional<Diagnostic>& problem() const { return problem_; }

private:
    const YamlNode& root_;
    std::string file_;
    std::optional<Diagnostic> problem_;
};

void readEnergies(const YamlNode& root, Numbers& number, Technology& t) {
    const YamlNode* sources = root.find("sources");
    const auto text = [](const YamlNode* node) { return node ? node->scalar : std::string(); };
    if (const YamlNode* energies = root.find("energies")) {
        for (const YamlNode& each : energies->items) {
            EnergyEntry entry;
            entry.component = text(each.find("component"));
            entry.nm = number.orNone(each.find("nm"), "energies.nm");
            entry.bits = number.of(each.find("bits"), "energies.bits");
            entry.capacityBytes = number.orNone(each.find("bytes"), "energies.bytes");
            entry.energy = number.of(each.find("pJ"), "energies.pJ") * 1e-12;
            entry.source = text(each.find("source"));
            if (const YamlNode* whole = sources ? sources->find(entry.source) : nullptr) entry.source = whole->scalar;
            t.energies.push_back(std::move(entry));
        }
    }
    const auto order = [](const EnergyEntry& e) { return std::tie(e.component, e.nm, e.bits, e.capacityBytes); };
    std::stable_sort(t.energies.begin(), t.energies.end(),
                     [&](const auto& a, const auto& b) { return order(a) < order(b); });
    if (const YamlNode* scaling = root.find("scaling")) {
        for (const YamlNode& each : scaling->items) {
            t.scaling.push_back({number.of(each.find("nm"), "scaling.nm"),
                                 number.signedOf(each.find("square"), "scaling.square"),
                                 number.signedOf(each.find("linear"), "scaling.linear"),
                                 number.signedOf(each.find("constant"), "scaling.constant")});
        }
    }
    std::sort(t.scaling.begin(), t.scaling.end(), [](const auto& a, const auto& b) { return a.nm > b.nm; });
}

}  // namespace

std::optional<ProcessNode> Technology::nodeAt(double nm) const {
    if (nodes.empty() || nm > nodes.front().nm || nm < nodes.back().nm) return std::nullopt;
    const auto finer = std::find_if(nodes.begin(), nodes.end(), [&](const ProcessNode& n) { return n.nm <= nm; });
    if (finer->nm == nm || finer == nodes.begin()) return *finer;
    const ProcessNode &a = *(finer - 1), &b = *finer;
    const double share = std::log(nm / a.nm) / std::log(b.nm / a.nm);
    const auto between = [&](double from, double to) { return from * std::pow(to / from, share); };
    return ProcessNode{nm, between(a.logic, b.logic), between(a.cell, b.cell), between(a.waferPrice, b.waferPrice),
                       between(a.defects, b.defects)};
}

std::optional<ProcessNode> Technology::node(std::string_view process) const {
    process = trimmed(process);
    if (const auto named = names.find(process); named != names.end()) return nodeAt(named->second);
    if (process.ends_with("nm")) process = trimmed(process.substr(0, process.size() - 2));
    const auto nm = numberIn(process);
    return nm ? nodeAt(*nm) : std::nullopt;
}

Expected<Technology> readTechnology(std::string_view yaml, std::string_view file) {
    auto root = parseYaml(yaml, file);
    if (!root) return Unexpected(root.error());
    const YamlNode* kind = root->find("orrery");
    if (!kind || kind->scalar != "technology/1") {
        return fail("technology.kind", "this is no technology file", "`orrery: technology/1`", "", {std::string(file)});
    }
    Numbers number(*root, file);
    Technology t;
    if (const YamlNode* nodes = root->find("nodes")) {
        for (const YamlNode& each : nodes->items) {
            t.nodes.push_back(
                {number.of(each.find("nm"), "nodes.nm"), number.of(each.find("logic"), "nodes.logic") * 1e6 / mm2,
                 number.of(each.find("cell"), "nodes.cell") * um2, number.of(each.find("wafer"), "nodes.wafer"),
                 number.of(each.find("defects"), "nodes.defects") / mm2});
        }
    }
    std::sort(t.nodes.begin(), t.nodes.end(), [](const auto& a, const auto& b) { return a.nm > b.nm; });
    if (const YamlNode* names = root->find("names")) {
        for (const YamlNode& each : names->items) t.names[each.key] = number.of(&each, "names." + each.key);
    }
    if (const YamlNode* rates = root->find("rates")) {
        for (const YamlNode& each : rates->items)
            t.rates[each.key] = number.of(&each, "rates." + each.key, Dimension::DataRate);
    }
    t.float64 = number({"logic", "float64", "transistors"});
    t.multiplier32 = number({"logic", "integer32", "multiplier_um2"}) * um2;
    t.adder32 = number({"logic", "integer32", "adder_um2"}) * um2;
    t.integerNm = number({"logic", "integer32", "nm"});
    t.simtLane = number({"logic", "simt_lane", "transistors"});
    t.simtCore = number({"logic", "simt_core", "transistors"});
    t.cacheCells = number({"storage", "cache", "cells"});
    t.bufferCells = number({"storage", "buffer", "cells"});
    t.simtRegister = number({"storage", "simt_register", "um2"}) * um2;
    t.simtRegisterNm = number({"storage", "simt_register", "nm"});
    t.registerBit = number({"storage", "register", "um2"}) * um2;
    t.registerNm = number({"storage", "register", "nm"});
    t.hbm = {number({"memories", "HBM", "phy_mm2"}) * mm2, number({"memories", "HBM", "transistors"})};
    t.ddr = {number({"memories", "DDR", "phy_mm2"}) * mm2, number({"memories", "DDR", "transistors"})};
    t.link = {number({"links", "phy_mm2"}) * mm2, number({"links", "transistors"})};
    t.linkRate = number({"links", "bandwidth"}, Dimension::DataRate);
    t.hbmPrice = number({"prices", "HBM"}) / 1e9;
    t.ddrPrice = number({"prices", "DDR"}) / 1e9;
    readEnergies(*root, number, t);
    if (number.problem()) return Unexpected(*number.problem());
    if (t.nodes.empty())
        return fail("technology.number", "no process stands in `nodes`", "at least one", "", {std::string(file)});
    return t;
}

const Expected<Technology>& silicon() {
    static const Expected<Technology> read = [] {
        const std::string path = presetsFolder() + "/technology/silicon.yaml";
        auto text = readFile(path);
        if (!text) return Expected<Technology>(Unexpected(text.error()));
        return readTechnology(*text, path);
    }();
    return read;
}

}  // namespace orrery
