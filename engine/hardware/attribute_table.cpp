#include "hardware/attributes.h"
#include "hardware/dataflow.h"

#include <array>

namespace orrery {
namespace {

using enum ComponentKind;

template <class... Kinds>
constexpr std::uint32_t on(Kinds... kinds) {
    return (0u | ... | (1u << static_cast<int>(kinds)));
}

constexpr std::uint32_t every = (1u << componentKindCount) - 1;
constexpr std::uint32_t chips = on(Package, Die);
constexpr std::uint32_t devices = on(Package, Die, Cluster, Core, Array);
constexpr std::uint32_t units = on(VectorUnit, TensorUnit, Mac);
constexpr std::uint32_t onChip = on(Buffer, Cache, RegisterFile);
constexpr std::uint32_t memories = onChip | on(Dram);
constexpr std::uint32_t wires = on(Link, Switch, Topology);
constexpr std::uint32_t parts = on(Cluster, Core, Array, VectorUnit, TensorUnit, Mac, Buffer);

constexpr std::array<std::string_view, 4> keepsChoices{"inputs", "weights", "outputs", "instructions"};
constexpr std::array<std::string_view, 7> platformChoices{"gpu", "tpu", "cpu", "npu", "array", "soc", "pim"};
constexpr std::array<std::string_view, 5> perChoices{"channel", "rank", "chip", "bank_group", "bank"};
constexpr std::array<std::string_view, 6> nocChoices{
    "row-column-multicast", "multicast", "systolic", "mesh", "broadcast", "crossbar"};
constexpr std::array<std::string_view, 12> shapeChoices{
    "line", "ring",   "mesh",     "torus",     "fully-connected", "star",
    "bus",  "switch", "fat-tree", "dragonfly", "rail-optimised",  "nvswitch"};

constexpr AttributeSpec measure(std::string_view name, Dimension dimension, std::uint32_t kinds, double lowest,
                                double highest, std::string_view meaning, bool explorable = false,
                                std::optional<double> fallback = std::nullopt) {
    return {name, AttributeForm::Measure, dimension, kinds, fallback, lowest, highest, meaning, {}, explorable};
}
constexpr AttributeSpec table(std::string_view name, std::uint32_t kinds, double lowest, double highest,
                              std::string_view meaning) {
    return {name, AttributeForm::Table, Dimension::OperationRate, kinds, std::nullopt, lowest, highest, meaning, {},
            true};
}
constexpr AttributeSpec text(std::string_view name, std::uint32_t kinds, std::string_view meaning) {
    return {name, AttributeForm::Text, Dimension::Number, kinds, std::nullopt, 0, 0, meaning, {}, false};
}
constexpr AttributeSpec choice(std::string_view name, std::uint32_t kinds, std::string_view meaning,
                               std::span<const std::string_view> choices) {
    return {name, AttributeForm::Choice, Dimension::Number, kinds, std::nullopt, 0, 0, meaning, choices, false};
}
constexpr AttributeSpec list(std::string_view name, std::uint32_t kinds, std::string_view meaning,
                             std::span<const std::string_view> choices) {
    return {name, AttributeForm::List, Dimension::Number, kinds, std::nullopt, 0, 0, meaning, choices, false};
}

constexpr bool slider = true;

const std::array specs{
    // Time and power
    measure("clock", Dimension::Frequency, every & ~(wires | on(System)), 1e6, 1e10,
            "Nominal clock; parts inside without a clock of their own run at it too.", slider),
    measure("sustained", Dimension::Fraction, devices, 0.2, 1,
            "Share of the nominal clock that holds under load; peaks are given at the nominal clock.", slider, 1),
    // 3 µs beside 80 % of the peaks fits the measured bf16 GEMMs of A100, H100 and H200 (NVIDIA's aiconfigurator).
    measure("launch_overhead", Dimension::Time, devices, 0, 1e-3,
            "Time to start one operator or kernel that no other work hides.", slider, 3e-6),
    measure("power_cap", Dimension::Power, chips | on(Node, Dram), 0.01, 1e5,
            "Power that the part may draw at most (TDP); of a memory, what its own units may take.", slider),
    measure("rated_peak", Dimension::OperationRate, chips, 1e9, 1e17,
            "Dense 16-bit rate (32-bit or the fastest where that is faster, or there is none) of the chip for which "
            "`power_cap` was set. An operation keeps its energy when more units are drawn."),
    measure("idle_power", Dimension::Power, chips | on(Node), 0, 1e4, "Power drawn while nothing runs.", slider),
    text("process", chips, "Fabrication process, as its maker names it: `4N`, `7 nm`."),
    choice("platform", devices, "Family of device, by which stated errors of methods are chosen.", platformChoices),
    text("energy_table", chips | on(System),
         "Where energies of an array come from that it does not state: `ratio` (multiples of a multiply-accumulate, by "
         "capacity), or `published` (by the process; also where nothing is said)."),
    measure("area", Dimension::Area, chips | parts | on(Cache, RegisterFile), 1e-11, 3e-3, "Silicon area."),

    // Cores and what computes in them
    measure("warps", Dimension::Count, on(Core), 1, 256, "Warps (wavefronts) that may be resident at once."),
    measure("warp_size", Dimension::Count, on(Core), 1, 128, "Threads of one warp (wavefront).", false, 32),
    measure("schedulers", Dimension::Count, on(Core), 1, 16, "Warp schedulers, each issuing one instruction a cycle.",
            false, 4),
    measure("instruction_l0", Dimension::Data, on(Core), 128, 1 << 24,
            "Instruction cache of one scheduler of a GPU's core; its generation's where nothing is said."),
    measure(
        "instruction_l1", Dimension::Data, on(Core), 128, 1 << 24,
        "Instruction cache of a GPU's core, behind those of its schedulers; its generation's where nothing is said."),
    measure("constant_cache", Dimension::Data, on(Core), 64, 1 << 24,
            "Constant cache of a GPU's core; its generation's where nothing is said."),
    measure(
        "gpc_cores", Dimension::Count, on(Core), 1, 256,
        "Cores of a GPU's GPC, in the mean: blocks of a cluster run on one; its generation's where nothing is said."),
    measure("threads", Dimension::Count, on(Core), 1, 4096, "Hardware threads.", false, 1),
    measure("pipeline", Dimension::Count, on(Core), 1, 64, "Pipeline stages."),
    text("microarchitecture", on(Core), "Pipeline of a CPU core, by the name of a file in presets/pipelines: `zen4`."),
    measure("issue_width", Dimension::Count, on(Core), 1, 32, "Instructions issued in one cycle at most."),
    choice("per", on(Cluster, Core, Array, VectorUnit, TensorUnit, Mac, Buffer),
           "Inside a DRAM: one of these stands at every channel (on the buffer die), rank, chip, bank group or bank.",
           perChoices),
    measure("lanes", Dimension::Count, on(VectorUnit), 1, 16384, "Elements that are worked on side by side.", slider,
            1),
    table("flops", on(VectorUnit), 0.01, 1e13, "Operations of one lane, by type; a fused multiply-add is two."),
    table("macs", on(TensorUnit, Mac), 0.001, 1e15, "Dense multiply-accumulates of one unit, by type."),
    measure("width", Dimension::Data, on(Mac), 0.125, 8, "Width of the operands, which tells their type.", false),
    choice("dataflow", on(Array, TensorUnit), "Which operand stays in place.", dataflowNames),
    measure("energy", Dimension::EnergyPerOperation, units | on(Array), 1e-15, 1e-9,
            "Energy of one operation; a multiply-accumulate is two.", slider),
    choice("noc", on(Array, Cluster, Die), "How operands travel between the parts.", nocChoices),
    measure("noc_bandwidth", Dimension::DataRate, on(Array, Cluster, Die), 1e6, 1e15,
            "Rate at which operands enter the network between the parts.", slider),

    // Memories
    measure("capacity", Dimension::Data, memories, 1, 1e14, "Bytes that one instance holds.", slider),
    measure("bandwidth", Dimension::DataRate, memories, 1e6, 1e15, "Rate of one instance; reads and writes share it.",
            slider),
    measure("latency", Dimension::Time, memories, 1e-10, 1e-5, "Time of a load that is answered here.", slider),
    measure("energy", Dimension::EnergyPerData, memories | wires, 1e-15, 1e-8, "Energy of moving one byte.", slider),
    measure("relative_energy", Dimension::Number, memories | wires, 0.01, 1e5,
            "Energy of one word's access in units of one multiply-accumulate."),
    measure("word", Dimension::Data, memories, 0.125, 1024, "One word, the least that is read or written."),
    measure("block", Dimension::Count, memories, 1, 4096, "Words that move in one access.", false, 1),
    measure("ports", Dimension::Count, onChip, 1, 256, "Accesses that may begin in one cycle."),
    measure("banks", Dimension::Count, memories, 1, 65536, "Banks that work side by side; of one chip for a DRAM.",
            false, 1),
    measure("line", Dimension::Data, on(Cache), 4, 4096, "One cache line."),
    measure("ways", Dimension::Count, on(Cache), 1, 1024, "Associativity."),
    measure("slices", Dimension::Count, on(Cache), 1, 1024, "Slices of one cache; capacity and bandwidth are of all."),
    list("keeps", onChip, "Operands that live here; all of them where not given.", keepsChoices),
    text("timing", on(Dram), "Name of the timing standard: `HBM3`, `DDR4-2400`."),
    measure("channels", Dimension::Count, on(Dram), 1, 1024, "Independent channels."),
    measure("layout_lanes", Dimension::Count, on(Dram), 1, 4096,
            "Elements to a multiple of which one dimension of a stored tensor is padded (tiled layouts).", false, 1),
    measure("ranks", Dimension::Count, on(Dram), 1, 64, "Ranks.", false, 1),
    measure("chips", Dimension::Count, on(Dram), 1, 64, "Chips of one rank.", false, 1),
    measure("pseudo_channels", Dimension::Count, on(Dram), 1, 8, "Pseudo-channels of one channel (HBM).", false, 1),
    measure("bank_groups", Dimension::Count, on(Dram), 1, 64, "Bank groups of one chip; `banks` counts those of all.",
            false, 1),

    // Between the parts
    measure("bandwidth", Dimension::DataRate, wires, 1e6, 1e15,
            "Rate of one link in one direction; of a switch, of one port.", slider),
    measure("latency", Dimension::Time, wires, 1e-10, 1e-3, "Time for the first byte to cross.", slider),
    text("from", on(Link),
         "Where the link begins: names below its parent, `gpu0` or `node0/gpu0`; it leaves the parent if not given."),
    text("to", on(Link),
         "Where the link ends: names below its parent, `gpu1` or `node1/gpu0`; it leaves the parent if not given."),
    text("from_port", on(Link), "Port of the part where the link begins; a numbered port takes one link."),
    text("to_port", on(Link), "Port of the part where the link ends; a numbered port takes one link."),
    measure("width", Dimension::Count, on(Link), 1, 65536, "Lanes of the link: bits that cross side by side."),
    measure("ports", Dimension::Count, on(Switch), 1, 4096, "Neighbours that the switch may have."),
    choice("shape", on(Topology), "Shape of the network between the siblings.", shapeChoices),
    list("dims", on(Topology), "Sides of a torus or mesh: `[4, 4, 4]`.", {}),
    measure("size", Dimension::Count, on(Topology), 1, 1e6,
            "Number of endpoints; default: the number of parts beside it."),
    measure("radix", Dimension::Count, on(Topology), 2, 4096, "Ports of each switch of the network."),
    measure("oversubscription", Dimension::Number, on(Topology), 1, 64,
            "Bandwidth into a level of switches over that out of it.", slider, 1),
    measure("planes", Dimension::Count, on(Topology), 1, 256,
            "Switches that every endpoint is on (nvswitch), or spines over the rails (rail-optimised).", false, 1),
    measure("groups", Dimension::Count, on(Topology), 1, 4096,
            "Groups of a dragonfly (as many as its global links reach if not given); rails of a rail-optimised one."),
    measure("routers", Dimension::Count, on(Topology), 1, 1024, "Routers in each group of a dragonfly."),
    measure("globals", Dimension::Count, on(Topology), 1, 1024, "Global links of each router of a dragonfly."),

    // Words for people
    text("source", every, "Where the numbers come from: a key of `sources`, or free text; `unverified` if unchecked."),
    text("note", every, "Remark for the reader."),
};

}  // namespace

std::span<const AttributeSpec> attributeSpecs() {
    return specs;
}

const AttributeSpec* attributeSpec(ComponentKind kind, std::string_view name) {
    // By kind, since checks ask for every attribute of every component.
    static const auto byKind = [] {
        std::array<std::vector<const AttributeSpec*>, componentKindCount> out;
        for (const AttributeSpec& spec : specs) {
            for (int i = 0; i < componentKindCount; ++i) {
                if (spec.on(static_cast<ComponentKind>(i))) out[static_cast<std::size_t>(i)].push_back(&spec);
            }
        }
        return out;
    }();
    for (const AttributeSpec* spec : byKind[static_cast<std::size_t>(kind)]) {
        if (spec->name == name) return spec;
    }
    return nullptr;
}

std::span<const NeededAttribute> neededAttributes(ComponentKind kind) {
    // Of an H100 in round numbers: its memory, one link, and one of the four quarters of its SM (32 lanes that add and
    // multiply, one tensor core). NVIDIA H100 Tensor Core GPU Architecture, 2022.
    static constexpr std::array dram{NeededAttribute{"capacity", "80 GB"}, NeededAttribute{"bandwidth", "3 TB/s"}};
    static constexpr std::array inside{NeededAttribute{"capacity", "256 KiB"}};
    static constexpr std::array tensor{NeededAttribute{"macs", "{fp16: 512/cycle, bf16: 512/cycle}"}};
    static constexpr std::array vector{NeededAttribute{"flops", "{fp32: 64/cycle}"}};
    static constexpr std::array link{NeededAttribute{"bandwidth", "25 GB/s"}};
    switch (kind) {
        case Dram:
            return dram;
        case Cache:
        case Buffer:
        case RegisterFile:
            return inside;
        case TensorUnit:
            return tensor;
        case VectorUnit:
            return vector;
        case Link:
            return link;
        default:
            return {};
    }
}

std::vector<std::string> attributeNames(ComponentKind kind) {
    std::vector<std::string> names;
    for (const AttributeSpec& spec : specs) {
        if (spec.on(kind)) names.emplace_back(spec.name);
    }
    return names;
}

}  // namespace orrery
