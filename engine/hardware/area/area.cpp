#include "hardware/area/area.h"

#include "base/dtype.h"
#include "hardware/area/technology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace orrery {

namespace {

double numberOf(const Component& component, std::string_view name, double otherwise = 0) {
    const Attribute* attribute = component.find(name);
    const auto* measure = attribute ? std::get_if<Measure>(&attribute->value) : nullptr;
    return measure ? measure->si : otherwise;
}

std::string textOf(const Component& component, std::string_view name) {
    const Attribute* attribute = component.find(name);
    const auto* text = attribute ? std::get_if<std::string>(&attribute->value) : nullptr;
    return text ? *text : std::string();
}

// Bits of a significand as stored; 0 for integers.
int significand(DType type) {
    switch (type) {
        case DType::F64:
            return 52;
        case DType::F32:
            return 23;
        case DType::TF32:
        case DType::F16:
            return 10;
        case DType::BF16:
            return 7;
        case DType::FP8:
            return 3;
        case DType::FP6:
            return 3;
        case DType::FP4:
            return 1;
        default:
            return 0;
    }
}

// What stands around a part: its die, the process, and whether a SIMT core holds it.
struct Around {
    std::string die;
    std::size_t dieIndex = 0;
    std::optional<ProcessNode> node;
    double count = 1;  ///< copies of the component in the whole design
    double clock = 0;
    bool simt = false;
    bool core = false;
};

void setPrice(DieArea& die) {
    if (die.waferPrice > 0) die.dollars = diePrice(die.area(), die.waferPrice, die.defects, die.yield);
}

class Sum {
public:
    Sum(const Technology& technology, const Component& root) : t_(technology), root_(root) {}
    AreaReport run() {
        visit(root_, {}, {});
        for (DieArea& die : report_.dies) {
            if (!die.stated) die.ofParts = die.modelled;
            setPrice(die);
        }
        return std::move(report_);
    }
    bool anyProcess() const { return anyProcess_; }

private:
    double logicScale(double nm, const ProcessNode& at) const { return t_.nodeAt(nm)->logic / at.logic; }
    double multiplyAdd(DType type, const ProcessNode& node) const {
        if (const int m = significand(type); m > 0) return t_.float64 * (m / 52.0) * (m / 52.0) / node.logic;
        const double width = std::max(bits(type), 1) / 32.0;
        return (t_.multiplier32 * width * width + t_.adder32) * logicScale(t_.integerNm, node);
    }
    void add(const ComponentPath& path, const Around& around, double each, std::string what) {
        if (!(each > 0)) return;
        report_.parts.push_back({pathText(root_, path), each, around.count, around.die, std::move(what)});
        DieArea& die = report_.dies[around.dieIndex];
        die.modelled += each * around.count / die.count;
    }
    void note(const ComponentPath& path, std::string what, std::string expected) {
        report_.notes.push_back({Severity::Note,
                                 "area.unknown",
                                 std::move(what),
                                 std::move(expected),
                                 {},
                                 {{}, 0, 0, pathText(root_, path)}});
    }
    Around visit(const Component& component, const ComponentPath& path, Around around);
    void unit(const Component& component, const ComponentPath& path, const Around& around);
    void price(const Component& component, const ComponentPath& path, const Around& around);
    void memory(const Component& component, const ComponentPath& path, const Around& around);

    const Technology& t_;
    const Component& root_;
    AreaReport report_;
    bool anyProcess_ = false;
};

bool holds(const Component& component, ComponentKind kind) {
    return std::any_of(component.children.begin(), component.children.end(),
                       [&](const Component& child) { return child.kind == kind || holds(child, kind); });
}

bool isDie(const Component& component) {
    if (component.kind == ComponentKind::Die) return true;
    return component.kind == ComponentKind::Package && !holds(component, ComponentKind::Die);
}

Around Sum::visit(const Component& component, const ComponentPath& path, Around around) {
    if (const double clock = numberOf(component, "clock"); clock > 0) around.clock = clock;
    if (isDie(component)) {
        around.die = pathText(root_, path);
        around.dieIndex = report_.dies.size();
        DieArea die{around.die, around.count};
        if (const double stated = numberOf(component, "area"); stated > 0) die.stated = stated;
        report_.dies.push_back(std::move(die));
    }
    if (const std::string process = textOf(component, "process"); !process.empty()) {
        around.node = t_.node(process);
        anyProcess_ = anyProcess_ || around.node;
        if (!around.node) note(path, fmt::format("nobody knows the process `{}`", process), "a size such as `7 nm`");
    }
    if (component.kind == ComponentKind::Core) {
        around.core = true;
        around.simt = component.find("warps") != nullptr;
    }
    if (isDie(component) && around.node) {
        report_.dies.back().waferPrice = around.node->waferPrice;
        report_.dies.back().defects = around.node->defects;
    }
    if (around.node && !around.die.empty()) price(component, path, around);
    // Dies first: a memory beside one has its interface there.
    Around beside = around;
    for (const bool dies : {true, false}) {
        for (std::size_t i = 0; i < component.children.size(); ++i) {
            const Component& child = component.children[i];
            if (isDie(child) != dies) continue;
            ComponentPath below = path;
            below.push_back(static_cast<int>(i));
            const bool memory = child.kind == ComponentKind::Dram && around.die.empty();
            Around place = memory ? beside : around;
            place.count = around.count * static_cast<double>(instancesIn(component, child));
            const Around inside = visit(child, below, place);
            if (dies && beside.die.empty()) beside = inside;
        }
    }
    return around;
}

void Sum::price(const Component& component, const ComponentPath& path, const Around& around) {
    const ProcessNode& node = *around.node;
    const double capacityBits = numberOf(component, "capacity") * 8;
    switch (component.kind) {
        case ComponentKind::Core:
            if (around.simt) add(path, around, t_.simtCore / node.logic, "what joins a SIMT core to the die");
            break;
        case ComponentKind::Mac: {
            const double width = numberOf(component, "width") * 8;
            const DType type = width >= 32 ? DType::I32 : width >= 16 ? DType::I16 : width >= 8 ? DType::I8 : DType::I4;
            // Widths that are no type's own scale as the multiplier does.
            const double factor = width > 0 ? (width / bits(type)) * (width / bits(type)) : 1;
            add(path, around, factor * multiplyAdd(type, node), fmt::format("multiply-add of {} bit", width));
            break;
        }
        case ComponentKind::TensorUnit:
        case ComponentKind::VectorUnit:
            unit(component, path, around);
            break;
        case ComponentKind::Cache:
            add(path, around, capacityBits * node.cell * (around.core ? t_.bufferCells : t_.cacheCells),
                "SRAM with tags");
            break;
        case ComponentKind::Buffer:
            add(path, around, capacityBits * node.cell * t_.bufferCells, "SRAM");
            break;
        case ComponentKind::RegisterFile:
            if (around.simt) {
                add(path, around, capacityBits * t_.simtRegister * logicScale(t_.simtRegisterNm, node),
                    "registers with four ports");
            } else {
                add(path, around, capacityBits * t_.registerBit * logicScale(t_.registerNm, node), "registers");
            }
            break;
        case ComponentKind::Dram:
            memory(component, path, around);
            break;
        case ComponentKind::Link: {
            const double links = numberOf(component, "bandwidth") / t_.linkRate;
            add(path, around, links * (t_.link.phy + t_.link.transistors / node.logic), "interface of a link");
            break;
        }
        default:
            break;
    }
}

// Narrow types share the datapath of wider ones: the type that takes most counts. Rates are per second or per cycle.
void Sum::unit(const Component& component, const ComponentPath& path, const Around& around) {
    const bool vector = component.kind == ComponentKind::VectorUnit;
    const Attribute* attribute = component.find(vector ? "flops" : "macs");
    const auto* rows = attribute ? std::get_if<std::vector<TableRow>>(&attribute->value) : nullptr;
    const double lanes = vector ? std::max(1.0, numberOf(component, "lanes", 1)) : 1;
    double floats = 0, integers = 0, wide = 0;
    std::string what;
    for (const TableRow& row : rows ? *rows : std::vector<TableRow>{}) {
        const auto type = dtype(row.key);
        const double perCycle = row.value.perCycle ? row.value.si : around.clock > 0 ? row.value.si / around.clock : 0;
        if (!type || perCycle <= 0) continue;
        const double units = vector ? perCycle / 2 : perCycle;
        const double area = units * multiplyAdd(*type, *around.node);
        double& kind = *type == DType::F64 ? wide : significand(*type) > 0 ? floats : integers;
        if (area > kind) {
            kind = area;
            if (&kind == &floats) what = fmt::format("{:g} {} multiply-adds", units * lanes, toText(*type));
        }
    }
    double each = lanes * (vector ? wide + floats + integers : std::max({wide, floats, integers}));
    if (vector && around.simt) each += lanes * t_.simtLane / around.node->logic;
    add(path, around, each, what.empty() ? std::string(vector ? "lanes" : "multiply-adds") : what);
}

void Sum::memory(const Component& component, const ComponentPath& path, const Around& around) {
    std::string standard = textOf(component, "timing");
    standard = standard.substr(0, standard.find('-'));
    const auto rate = t_.rates.find(standard);
    const bool stacked = standard.starts_with("HBM");
    report_.memoryDollars += numberOf(component, "capacity") * around.count * (stacked ? t_.hbmPrice : t_.ddrPrice);
    if (rate == t_.rates.end()) {
        note(path, fmt::format("nobody knows the memory `{}`", standard), "a standard such as HBM3, GDDR6, DDR5");
        return;
    }
    const Technology::Interface& side = stacked ? t_.hbm : t_.ddr;
    const double interfaces = numberOf(component, "bandwidth") / rate->second;
    add(path, around, interfaces * (side.phy + side.transistors / around.node->logic),
        stacked ? fmt::format("interfaces of {:.2g} {} stacks", interfaces, standard)
                : fmt::format("interfaces of {:.2g} bits of {}", interfaces * 32, standard));
}

}  // namespace

double diePrice(double area, double waferPrice, double defectsPerArea, double& yield) {
    constexpr double diameter = 0.3, clusters = 3;
    const double wafer = std::numbers::pi * diameter * diameter / 4;
    const double dies = wafer / area - std::numbers::pi * diameter / std::sqrt(2 * area);
    yield = std::pow(1 + area * defectsPerArea / clusters, -clusters);
    return area > 0 && dies >= 1 ? waferPrice / (dies * yield) : std::numeric_limits<double>::infinity();
}

AreaReport changedArea(const AreaReport& drawn, AreaReport changed) {
    for (DieArea& die : changed.dies) {
        const auto before = std::find_if(drawn.dies.begin(), drawn.dies.end(),
                                         [&](const DieArea& each) { return each.path == die.path; });
        if (before == drawn.dies.end() || !before->stated) continue;
        die.ofParts = die.modelled - before->modelled;
        die.stated = std::max(*before->stated + die.modelled - before->modelled, die.modelled);
        setPrice(die);
    }
    return changed;
}

double AreaReport::modelled() const {
    double sum = 0;
    for (const DieArea& die : dies) sum += die.modelled * die.count;
    return sum;
}

double AreaReport::area() const {
    double sum = 0;
    for (const DieArea& die : dies) sum += die.area() * die.count;
    return sum;
}

double AreaReport::areaAt(double ratio) const {
    double sum = 0;
    for (const DieArea& die : dies) sum += std::max(0.0, die.area() + die.ofParts * (ratio - 1)) * die.count;
    return sum;
}

double AreaReport::dollarsAt(double ratio) const {
    double sum = memoryDollars, yield = 0;
    for (const DieArea& die : dies) {
        const double area = std::max(1e-9, die.area() + die.ofParts * (ratio - 1));
        if (die.waferPrice > 0) sum += diePrice(area, die.waferPrice, die.defects, yield) * die.count;
    }
    return sum;
}

double AreaReport::dollars() const {
    double sum = memoryDollars;
    for (const DieArea& die : dies) sum += die.dollars * die.count;
    return sum;
}

Expected<AreaReport> areaOf(const Hardware& hardware) {
    const auto& technology = silicon();
    if (!technology) return Unexpected(technology.error());
    Sum sum(*technology, hardware.root);
    AreaReport report = sum.run();
    if (!sum.anyProcess() || report.dies.empty()) {
        return fail("area.process", "no die says in which process it is made", "`process: 7 nm` on a die or package",
                    "areas follow from the process", {{}, 0, 0, pathText(hardware.root, {})});
    }
    return report;
}

}  // namespace orrery
