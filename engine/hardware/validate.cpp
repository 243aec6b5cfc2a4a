#include "hardware/validate.h"

#include "hardware/attributes.h"
#include "hardware/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace orrery {
namespace {

using enum ComponentKind;

// A component lies two YAML levels inside its parent, and a row of a table two more; 64 levels may be read.
constexpr int deepest = 30;
constexpr std::int64_t mostCopies = std::int64_t{1} << 53;

const Measure* measureOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}
std::string textOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    const std::string* words = found ? std::get_if<std::string>(&found->value) : nullptr;
    return words ? *words : std::string();
}

class Checker {
public:
    Diagnostics run(const Hardware& hardware) {
        if (hardware.root.kind != System) {
            error("hardware.root", "the root is not a system", "a component of kind `system`", {},
                  nameOfPath(hardware));
        }
        visit(hardware.root, nullptr, std::string(nameOf(hardware.root)), {});
        if (hardware.root.children.empty()) {
            warn("hardware.empty", "the design is empty", "add a device from the library", "system");
        }
        return std::move(found_);
    }

private:
    static std::string nameOfPath(const Hardware& hardware) { return std::string(nameOf(hardware.root)); }
    void error(std::string code, std::string message, std::string expected, std::string hint, std::string path) {
        found_.push_back({Severity::Error,
                          std::move(code),
                          std::move(message),
                          std::move(expected),
                          std::move(hint),
                          {{}, 0, 0, std::move(path)}});
    }
    void warn(std::string code, std::string message, std::string hint, std::string path) {
        found_.push_back(warning(std::move(code), std::move(message), std::move(hint), {{}, 0, 0, std::move(path)}));
    }

    /// What a component inherits from those around it.
    struct Around {
        bool clocked = false;
        int depth = 0;
        std::int64_t copies = 1;
    };
    void visit(const Component& component, const Component* parent, const std::string& path, Around around);
    void checkLimits(const Component& component, const std::string& path, Around& around);
    void checkPlace(const Component& component, const Component& parent, const std::string& path);
    void checkNumbers(const Component& component, const std::string& path, bool clocked);
    void checkMeasure(const AttributeSpec& spec, const Measure& measure, const std::string& path, bool clocked);
    void checkNeeds(const Component& component, const std::string& path);
    void checkSizes(const Component& component, const std::string& path);
    void checkSiblings(const Component& component, const std::string& path);
    void checkLinks(const Component& component, const std::string& path);
    void checkSwitch(const Component& component, const Component& parent, const std::string& path);

    Diagnostics found_;
};

void Checker::checkPlace(const Component& component, const Component& parent, const std::string& path) {
    if (mayContain(parent.kind, component.kind)) return;
    std::vector<std::string> allowed;
    for (int i = 0; i < componentKindCount; ++i) {
        if (mayContain(parent.kind, static_cast<ComponentKind>(i))) {
            allowed.emplace_back(toText(static_cast<ComponentKind>(i)));
        }
    }
    error("hardware.nesting", fmt::format("a {} cannot stand in a {}", toText(component.kind), toText(parent.kind)),
          allowed.empty() ? fmt::format("nothing inside a {}", toText(parent.kind)) : quotedList(allowed, "or"),
          "move it further out", path);
}

void Checker::checkMeasure(const AttributeSpec& spec, const Measure& measure, const std::string& path, bool clocked) {
    if (!std::isfinite(measure.si) || measure.si < 0) {
        error("hardware.number", fmt::format("`{}` is not a number from zero up", spec.name), "a finite number", {},
              path);
        return;
    }
    if (measure.si == 0 && spec.lowest > 0) {
        error("hardware.zero", fmt::format("`{}` is zero", spec.name), "a number above zero",
              "remove the attribute if it is not known", path);
        return;
    }
    if (!isUsual(spec, measure)) {
        warn("hardware.unusual-value",
             fmt::format("`{}` of {} is outside the usual range", spec.name, measure.spelling), "check the unit", path);
    }
    if (measure.perCycle && !clocked) {
        error("hardware.no-clock", fmt::format("`{}` is per cycle, and no clock is given", spec.name),
              "`clock` on the component or one that contains it", "add `clock`, such as `clock: 1 GHz`", path);
    }
}

void Checker::checkNumbers(const Component& component, const std::string& path, bool clocked) {
    if (component.count < 1 ||
        std::any_of(component.mesh.begin(), component.mesh.end(), [](auto s) { return s < 1; })) {
        error("hardware.count", "there are fewer than one of it", "`count` and `mesh` from 1", {}, path);
    }
    for (const Attribute& attribute : component.attributes) {
        const AttributeSpec* spec = attributeSpec(component.kind, attribute.name);
        const std::string place = path + "." + attribute.name;
        if (!spec) {
            warn("hardware.no-attribute",
                 fmt::format("`{}` is not an attribute of a {}", attribute.name, toText(component.kind)),
                 didYouMean(attribute.name, attributeNames(component.kind)), place);
            continue;
        }
        if (const Measure* measure = std::get_if<Measure>(&attribute.value)) {
            checkMeasure(*spec, *measure, place, clocked);
        } else if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value)) {
            for (const TableRow& row : *rows) checkMeasure(*spec, row.value, place + "." + row.key, clocked);
        }
    }
}

void Checker::checkNeeds(const Component& component, const std::string& path) {
    const auto missing = [&](std::string_view attribute, std::string example) {
        if (component.find(attribute)) return;
        warn("hardware.missing-attribute", fmt::format("`{}` gives no {}", nameOf(component), attribute),
             "set it, such as " + std::move(example), fmt::format("{}.{}", path, attribute));
    };
    switch (component.kind) {
        case Dram:
            missing("capacity", "`80 GB`");
            missing("bandwidth", "`3.35 TB/s`");
            break;
        case Cache:
        case Buffer:
        case RegisterFile:
            missing("capacity", "`256 KiB`");
            break;
        case TensorUnit:
            if (component.children.empty()) missing("macs", "`{bf16: 512/cycle}`");
            break;
        case VectorUnit:
            missing("flops", "`{fp32: 2/cycle}`");
            break;
        case Link:
            missing("bandwidth", "`25 GB/s`");
            break;
        default:
            break;
    }
}

void Checker::checkSizes(const Component& component, const std::string& path) {
    const Measure* capacity = measureOf(component, "capacity");
    if (!capacity) return;
    for (const std::string_view part : {"word", "line"}) {
        const Measure* size = measureOf(component, part);
        if (size && size->si > capacity->si) {
            error("hardware.smaller-than-part",
                  fmt::format("`{}` holds {} and is smaller than one {} of {}", nameOf(component), capacity->spelling,
                              part, size->spelling),
                  fmt::format("a capacity of at least one {}", part), "check the units", path + ".capacity");
        }
    }
}

void Checker::checkSiblings(const Component& component, const std::string& path) {
    std::map<std::string, int> names;
    for (const Component& child : component.children) ++names[std::string(nameOf(child))];
    for (const auto& [name, count] : names) {
        if (count > 1) {
            error("hardware.duplicate-name", fmt::format("{} components here are named `{}`", count, name),
                  "names that differ, so that each can be found", "give them names, or use `count` for identical ones",
                  path + "/" + name);
        }
    }
    for (const Component& child : component.children) {
        if (child.name.find('/') != std::string::npos) {
            error("hardware.name", fmt::format("the name `{}` holds a slash", child.name), "a name without `/`",
                  "slashes separate names in paths", path + "/" + child.name);
        }
    }
}

void Checker::checkLinks(const Component& component, const std::string& path) {
    std::vector<std::string> known;
    for (const Component& child : component.children) {
        if (child.kind != Link) known.emplace_back(nameOf(child));
    }
    for (const Component& child : component.children) {
        if (child.kind != Link) continue;
        const std::string place = path + "/" + std::string(nameOf(child));
        for (const std::string_view end : {"from", "to"}) {
            const std::string name = textOf(child, end);
            if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
            std::string hint = didYouMean(name, known);
            if (hint.empty() && !known.empty()) hint = "beside it stand " + quotedList(known, "and");
            error("hardware.link-nowhere", fmt::format("the link's `{}` names `{}`, which is not beside it", end, name),
                  "the name of a component with the same parent", std::move(hint), fmt::format("{}.{}", place, end));
        }
        if (!textOf(child, "from").empty() && textOf(child, "from") == textOf(child, "to")) {
            error("hardware.link-loop", "the link begins and ends at the same component", "two different ends", {},
                  place);
        }
    }
}

// A switch serves the devices beside it: nodes, packages, dies and, where drawn alone, cores.
void Checker::checkSwitch(const Component& component, const Component& parent, const std::string& path) {
    const Measure* ports = measureOf(component, "ports");
    if (!ports) return;
    double neighbours = 0;
    bool linked = false;
    for (const Component& sibling : parent.children) {
        if (sibling.kind != Link) continue;
        const bool here = textOf(sibling, "from") == nameOf(component) || textOf(sibling, "to") == nameOf(component);
        linked = linked || here;
        if (here) neighbours += static_cast<double>(sibling.instances());
    }
    if (!linked) {
        for (const Component& sibling : parent.children) {
            const ComponentKind kind = sibling.kind;
            if (kind == Node || kind == Package || kind == Die || kind == Core) {
                neighbours += static_cast<double>(instancesIn(parent, sibling));
            }
        }
    }
    if (neighbours > ports->si) {
        error("hardware.ports",
              fmt::format("`{}` has {} ports and {} neighbours", nameOf(component), ports->spelling, neighbours),
              "at least as many ports as neighbours", "raise `ports`, or remove neighbours", path + ".ports");
    }
}

// A file holds no more than this, so a design beyond it could be drawn and not be read back.
void Checker::checkLimits(const Component& component, const std::string& path, Around& around) {
    if (around.depth == deepest + 1) {
        error("hardware.too-deep", fmt::format("components are nested more than {} deep", deepest),
              fmt::format("at most {} levels", deepest), "use `count` and `mesh` instead of nesting", path);
    }
    const bool fitted = around.copies <= mostCopies;
    const bool overflow =
        __builtin_mul_overflow(around.copies, std::max<std::int64_t>(component.instances(), 1), &around.copies);
    if (overflow) around.copies = std::numeric_limits<std::int64_t>::max();
    if (fitted && around.copies > mostCopies) {
        error("hardware.count-overflow",
              fmt::format("the design would hold more than 2^53 copies of `{}`", nameOf(component)),
              "counts whose product stays below 2^53", "check `count` and `mesh` here and further out", path);
    }
}

void Checker::visit(const Component& component, const Component* parent, const std::string& path, Around around) {
    if (parent) checkPlace(component, *parent, path);
    checkLimits(component, path, around);
    // A memory beside a die takes the clock of that die; see device_view.h.
    const bool besideDevice = parent && (parent->kind == System || parent->kind == Node);
    around.clocked = around.clocked || measureOf(component, "clock") != nullptr;
    checkNumbers(component, path, around.clocked || besideDevice);
    checkNeeds(component, path);
    checkSizes(component, path);
    checkSiblings(component, path);
    checkLinks(component, path);
    if (parent && component.kind == Switch) checkSwitch(component, *parent, path);
    ++around.depth;
    for (const Component& child : component.children) {
        visit(child, &component, path + "/" + std::string(nameOf(child)), around);
    }
}

}  // namespace

Diagnostics validate(const Hardware& hardware) {
    return Checker().run(hardware);
}

}  // namespace orrery
