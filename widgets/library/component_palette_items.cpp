#include "widgets/library/component_palette_items.h"

#include "hardware/walk.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

#include <initializer_list>
#include <optional>

namespace orrery::ui {
namespace {

using enum ComponentKind;

struct Given {
    const char* attribute;
    const char* text;
};

QString words(const char* text) {
    return QCoreApplication::translate("ComponentPalette", text);
}

/// Nothing if an attribute is refused.
std::optional<Component> make(ComponentKind kind, const char* name, std::initializer_list<Given> given = {},
                              std::vector<std::optional<Component>> children = {}) {
    Component component;
    component.kind = kind;
    component.name = name;
    for (const Given& one : given)
        if (!setAttribute(component, one.attribute, one.text)) return std::nullopt;
    for (std::optional<Component>& child : children) {
        if (!child) return std::nullopt;
        addPart(component, std::move(*child));
    }
    return component;
}

struct KindItem {
    ComponentKind kind;
    const char* group;
    const char* name;  ///< of the new component
    const char* meaning;
    const char* words;
};

constexpr auto containers = QT_TRANSLATE_NOOP("ComponentPalette", "Containers");
constexpr auto compute = QT_TRANSLATE_NOOP("ComponentPalette", "Compute");
constexpr auto memory = QT_TRANSLATE_NOOP("ComponentPalette", "Memory");
constexpr auto network = QT_TRANSLATE_NOOP("ComponentPalette", "Network");
constexpr auto topologies = QT_TRANSLATE_NOOP("ComponentPalette", "Topologies");
constexpr auto parts = QT_TRANSLATE_NOOP("ComponentPalette", "Parts");

// All but the system: a design is one, and none may stand in another.
constexpr KindItem kinds[] = {
    {Node, containers, "node", QT_TRANSLATE_NOOP("ComponentPalette", "One server: devices and their links"),
     "server host board"},
    {Package, containers, "package", QT_TRANSLATE_NOOP("ComponentPalette", "One device as sold: dies and memory"),
     "gpu tpu chip device socket"},
    {Die, containers, "die", QT_TRANSLATE_NOOP("ComponentPalette", "One piece of silicon"), "chip chiplet"},
    {Cluster, containers, "cluster", QT_TRANSLATE_NOOP("ComponentPalette", "Cores that share something"),
     "gpc shader engine tile"},
    {Core, compute, "core", QT_TRANSLATE_NOOP("ComponentPalette", "SM, compute unit, CPU core"), "sm cu npu"},
    {Array, compute, "array", QT_TRANSLATE_NOOP("ComponentPalette", "A grid of equal parts, drawn as one"),
     "systolic pe mesh"},
    {VectorUnit, compute, "vector", QT_TRANSLATE_NOOP("ComponentPalette", "Lanes that do the same operation"),
     "simd lanes fp32"},
    {TensorUnit, compute, "tensor", QT_TRANSLATE_NOOP("ComponentPalette", "Matrix products per cycle"),
     "matrix mxu core"},
    {Mac, compute, "mac", QT_TRANSLATE_NOOP("ComponentPalette", "One multiply-accumulate unit"), "multiplier pe"},
    {Buffer, memory, "buffer", QT_TRANSLATE_NOOP("ComponentPalette", "On-chip memory that software fills"),
     "sram scratchpad shared memory"},
    {Cache, memory, "cache", QT_TRANSLATE_NOOP("ComponentPalette", "On-chip memory that fills itself"),
     "l1 l2 l3 llc sram"},
    {RegisterFile, memory, "registers", QT_TRANSLATE_NOOP("ComponentPalette", "The innermost level: operands of units"),
     "rf spad"},
    {Dram, memory, "dram", QT_TRANSLATE_NOOP("ComponentPalette", "Main memory: DDR, GDDR, HBM"), "hbm gddr"},
    {Link, network, "link", QT_TRANSLATE_NOOP("ComponentPalette", "Joins two parts"), "wire nvlink pcie bus edge"},
    {Switch, network, "switch", QT_TRANSLATE_NOOP("ComponentPalette", "Joins what is linked to its ports"),
     "router crossbar nvswitch"},
    {Topology, network, "network", QT_TRANSLATE_NOOP("ComponentPalette", "Joins all siblings by a shape"),
     "interconnect fabric"},
};

struct TopologyItem {
    const char* id;
    const char* name;
    const char* meaning;
    std::initializer_list<Given> given;  ///< the first is the shape
    const char* words;
};

PaletteItem item(QString id, const char* group, QString name, const char* meaning, const char* more,
                 Component component) {
    return {std::move(id),           words(group), std::move(name),     words(meaning),
            QString::fromUtf8(more), {},           std::move(component)};
}

void addKinds(std::vector<PaletteItem>& items) {
    for (const KindItem& kind : kinds)
        items.push_back(item(qs(toText(kind.kind)), kind.group, qs(label(kind.kind)), kind.meaning, kind.words,
                             *make(kind.kind, kind.name)));
}

void addTopologies(std::vector<PaletteItem>& items) {
    const TopologyItem shapes[] = {
        {"ring",
         QT_TRANSLATE_NOOP("ComponentPalette", "Ring"),
         QT_TRANSLATE_NOOP("ComponentPalette", "A closed chain of neighbours"),
         {{"shape", "ring"}},
         "loop"},
        {"line",
         QT_TRANSLATE_NOOP("ComponentPalette", "Line"),
         QT_TRANSLATE_NOOP("ComponentPalette", "A chain with two open ends"),
         {{"shape", "line"}},
         "chain daisy"},
        {"mesh-2d",
         QT_TRANSLATE_NOOP("ComponentPalette", "2-D mesh"),
         QT_TRANSLATE_NOOP("ComponentPalette", "Rows and columns of neighbours"),
         {{"shape", "mesh"}, {"dims", "[4, 4]"}},
         "grid noc"},
        {"mesh-3d",
         QT_TRANSLATE_NOOP("ComponentPalette", "3-D mesh"),
         QT_TRANSLATE_NOOP("ComponentPalette", "Neighbours in three directions"),
         {{"shape", "mesh"}, {"dims", "[4, 4, 4]"}},
         "grid"},
        {"torus-2d",
         QT_TRANSLATE_NOOP("ComponentPalette", "2-D torus"),
         QT_TRANSLATE_NOOP("ComponentPalette", "A mesh whose edges meet"),
         {{"shape", "torus"}, {"dims", "[4, 4]"}},
         "grid tpu"},
        {"torus-3d",
         QT_TRANSLATE_NOOP("ComponentPalette", "3-D torus"),
         QT_TRANSLATE_NOOP("ComponentPalette", "A 3-D mesh whose faces meet"),
         {{"shape", "torus"}, {"dims", "[4, 4, 4]"}},
         "grid tpu"},
        {"fully-connected",
         QT_TRANSLATE_NOOP("ComponentPalette", "Fully connected"),
         QT_TRANSLATE_NOOP("ComponentPalette", "A link between every two"),
         {{"shape", "fully-connected"}},
         "all to all clique"},
        {"switch",
         QT_TRANSLATE_NOOP("ComponentPalette", "One switch"),
         QT_TRANSLATE_NOOP("ComponentPalette", "Every sibling on one switch"),
         {{"shape", "switch"}},
         "star crossbar"},
        {"fat-tree",
         QT_TRANSLATE_NOOP("ComponentPalette", "Fat tree"),
         QT_TRANSLATE_NOOP("ComponentPalette", "Tiers of equal switches (folded Clos)"),
         {{"shape", "fat-tree"}, {"radix", "8"}, {"oversubscription", "1"}},
         "clos leaf spine infiniband ethernet"},
        {"dragonfly",
         QT_TRANSLATE_NOOP("ComponentPalette", "Dragonfly"),
         // The balanced example of Kim et al., ISCA 2008, figure 5: p = h = 2, a = 4, g = 9, 72 endpoints.
         QT_TRANSLATE_NOOP("ComponentPalette", "Groups of routers, all joined"),
         {{"shape", "dragonfly"}, {"groups", "9"}, {"routers", "4"}, {"globals", "2"}},
         "slingshot"},
        {"rail-optimised",
         QT_TRANSLATE_NOOP("ComponentPalette", "Rail-optimised"),
         QT_TRANSLATE_NOOP("ComponentPalette", "Equal places on one rail switch"),
         {{"shape", "rail-optimised"}, {"groups", "8"}},
         "rails optimized superpod"},
        {"nvswitch",
         QT_TRANSLATE_NOOP("ComponentPalette", "NVSwitch planes"),
         QT_TRANSLATE_NOOP("ComponentPalette", "Every sibling on every switch"),
         {{"shape", "nvswitch"}, {"planes", "4"}},
         "nvlink multi-plane"},
    };
    for (const TopologyItem& shape : shapes) {
        auto made = make(Topology, shape.id, shape.given);
        if (!made) continue;
        for (Attribute& attribute : made->attributes) attribute.source.clear();
        PaletteItem& added = items.emplace_back(item(QStringLiteral("topology.") + QLatin1String(shape.id), topologies,
                                                     words(shape.name), shape.meaning, shape.words, std::move(*made)));
        added.shape = QString::fromUtf8(shape.given.begin()->text);
    }
}

void addParts(std::vector<PaletteItem>& items) {
    const auto add = [&items](const char* id, const char* name, const char* meaning, const char* more,
                              std::optional<Component> made) {
        if (made)
            items.push_back(
                item(QStringLiteral("part.") + QLatin1String(id), parts, words(name), meaning, more, std::move(*made)));
    };
    const auto accelerator = [](const char* name, const char* count) {
        return make(Package, name, {{"count", count}},
                    {make(Dram, "hbm"),
                     make(Die, "die", {},
                          {make(Cache, "l2"), make(Core, "core", {},
                                                   {make(RegisterFile, "registers"), make(Buffer, "shared"),
                                                    make(VectorUnit, "vector"), make(TensorUnit, "tensor")})})});
    };
    add("nvswitch-node", QT_TRANSLATE_NOOP("ComponentPalette", "NVSwitch node"),
        QT_TRANSLATE_NOOP("ComponentPalette", "8 devices on 4 switch planes"), "hgx dgx server gpu nvlink",
        make(Node, "node", {},
             {accelerator("gpu", "8"), make(Topology, "nvlink", {{"shape", "nvswitch"}, {"planes", "4"}})}));
    add("switched-node", QT_TRANSLATE_NOOP("ComponentPalette", "Switched node"),
        QT_TRANSLATE_NOOP("ComponentPalette", "8 devices on one switch"), "server gpu",
        make(Node, "node", {}, {accelerator("gpu", "8"), make(Topology, "fabric", {{"shape", "switch"}})}));
    add("accelerator", QT_TRANSLATE_NOOP("ComponentPalette", "Accelerator"),
        QT_TRANSLATE_NOOP("ComponentPalette", "Memory, cache and cores; no numbers"), "gpu device template",
        accelerator("accelerator", "1"));
    add("gpu-core", QT_TRANSLATE_NOOP("ComponentPalette", "GPU-like core"),
        QT_TRANSLATE_NOOP("ComponentPalette", "Registers, buffer, two kinds of unit"), "sm cu",
        make(Core, "core", {},
             {make(RegisterFile, "registers"), make(Buffer, "shared"), make(VectorUnit, "vector"),
              make(TensorUnit, "tensor")}));
    const auto cpuCore = [](const char* name) {
        return make(
            Core, name, {},
            {make(Cache, "l2"), make(Cache, "l1d"), make(RegisterFile, "registers"), make(VectorUnit, "vector")});
    };
    add("cpu-core", QT_TRANSLATE_NOOP("ComponentPalette", "CPU core with caches"),
        QT_TRANSLATE_NOOP("ComponentPalette", "Two caches, registers, vector unit"), "processor x86 arm l1 l2",
        cpuCore("core"));
    add("cpu", QT_TRANSLATE_NOOP("ComponentPalette", "CPU"),
        QT_TRANSLATE_NOOP("ComponentPalette", "DDR, a shared cache and cores"), "processor server socket epyc xeon ddr",
        make(Package, "cpu", {{"platform", "cpu"}},
             {make(Dram, "ddr"), make(Cluster, "cluster", {}, {make(Cache, "l3"), cpuCore("core")})}));
    // A module has two channels of 32 bits.
    add("dimm", QT_TRANSLATE_NOOP("ComponentPalette", "DIMM"),
        QT_TRANSLATE_NOOP("ComponentPalette", "A module of DDR5-4800, two channels"), "ddr dram memory module",
        make(Dram, "dimm", {{"timing", "DDR5-4800"}, {"channels", "2"}}));
    add("hbm-pim", QT_TRANSLATE_NOOP("ComponentPalette", "HBM stack with PIM"),
        QT_TRANSLATE_NOOP("ComponentPalette", "HBM2 that computes at its banks"), "memory processing aim attacc",
        make(Dram, "hbm_pim",
             {{"timing", "HBM2-2000"},
              {"channels", "8"},
              {"pseudo_channels", "2"},
              {"bank_groups", "4"},
              {"banks", "16"}},
             {make(TensorUnit, "pim", {{"per", "bank"}})}));
    add("pe-array", QT_TRANSLATE_NOOP("ComponentPalette", "Array of processing elements"),
        QT_TRANSLATE_NOOP("ComponentPalette", "16×16 MACs, each with a register file"), "systolic eyeriss tpu pe",
        make(Array, "pe", {{"mesh", "16 x 16"}}, {make(RegisterFile, "registers"), make(Mac, "mac")}));
    add("spatial-accelerator", QT_TRANSLATE_NOOP("ComponentPalette", "Spatial accelerator"),
        QT_TRANSLATE_NOOP("ComponentPalette", "A global buffer and 16×16 MACs"), "eyeriss npu systolic",
        make(Die, "chip", {},
             {make(Buffer, "global"),
              make(Array, "pe", {{"mesh", "16 x 16"}}, {make(RegisterFile, "registers"), make(Mac, "mac")})}));
}

}  // namespace

std::vector<PaletteItem> componentPaletteItems() {
    std::vector<PaletteItem> items;
    addKinds(items);
    addTopologies(items);
    addParts(items);
    return items;
}

}  // namespace orrery::ui
