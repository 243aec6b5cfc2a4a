#include "hardware/check/validate.h"

#include "hardware/attributes.h"
#include "base/text/nearest.h"
#include "hardware/check/validate_network.h"
#include "hardware/check/validate_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

class Checker {
public:
    Diagnostics run(const Hardware& hardware) {
        if (hardware.root.kind != System) {
            error("hardware.root", "the root is not a system", "a component of kind `system`", {},
                  nameOfPath(hardware));
        }
        visit(hardware.root, nullptr, {nullptr, &hardware.root}, {});
        checkNetworks(hardware.root, found_);
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
    void visit(const Component& component, const Component* parent, const CheckPlace& path, Around around);
    void checkLimits(const Component& component, const CheckPlace& path, Around& around);
    void checkPlace(const Component& component, const Component& parent, const CheckPlace& path);
    void checkNumbers(const Component& component, const CheckPlace& path, bool clocked);
    void checkMeasure(const AttributeSpec& spec, const Measure& measure, const CheckPlace& at, std::string_view row,
                      bool clocked);
    void checkNeeds(const Component& component, const CheckPlace& path);
    void checkSizes(const Component& component, const CheckPlace& path);
    void checkSiblings(const Component& component, const CheckPlace& path);

    Diagnostics found_;
    std::vector<std::string_view> names_;  // of the siblings at hand, kept for its room
};

void Checker::checkPlace(const Component& component, const Component& parent, const CheckPlace& path) {
    if (mayContain(parent.kind, component.kind)) return;
    std::vector<std::string> allowed;
    for (int i = 0; i < componentKindCount; ++i) {
        if (mayContain(parent.kind, static_cast<ComponentKind>(i))) {
            allowed.emplace_back(toText(static_cast<ComponentKind>(i)));
        }
    }
    error("hardware.nesting", fmt::format("a {} cannot be inside a {}", toText(component.kind), toText(parent.kind)),
          allowed.empty() ? fmt::format("nothing inside a {}", toText(parent.kind)) : quotedList(allowed, "or"),
          "move it further out", path);
}

void Checker::checkMeasure(const AttributeSpec& spec, const Measure& measure, const CheckPlace& at,
                           std::string_view row, bool clocked) {
    const auto path = [&] {
        const std::string place = at + "." + std::string(spec.name);
        return row.empty() ? place : place + "." + std::string(row);
    };
    if (!std::isfinite(measure.si) || measure.si < 0) {
        error("hardware.number", fmt::format("`{}` is not a number from zero up", spec.name), "a finite number", {},
              path());
        return;
    }
    if (measure.si == 0 && spec.lowest > 0) {
        error("hardware.zero", fmt::format("`{}` is zero", spec.name), "a number above zero",
              "remove the attribute if it is not known", path());
        return;
    }
    if (!isUsual(spec, measure)) {
        warn("hardware.unusual-value",
             fmt::format("`{}` of {} is outside the usual range", spec.name, measure.spelling), "check the unit",
             path());
    }
    if (measure.perCycle && !clocked) {
        error("hardware.no-clock", fmt::format("`{}` is per cycle, and no clock is given", spec.name),
              "`clock` on the component or one that contains it", "add `clock`, such as `clock: 1 GHz`", path());
    }
}

void Checker::checkNumbers(const Component& component, const CheckPlace& path, bool clocked) {
    if (component.count < 1 ||
        std::any_of(component.mesh.begin(), component.mesh.end(), [](auto s) { return s < 1; })) {
        error("hardware.count", "there are fewer than one of it", "`count` and `mesh` from 1", {}, path);
    }
    for (const Attribute& attribute : component.attributes) {
        const AttributeSpec* spec = attributeSpec(component.kind, attribute.name);
        if (!spec) {
            warn("hardware.no-attribute",
                 fmt::format("`{}` is not an attribute of a {}", attribute.name, toText(component.kind)),
                 didYouMean(attribute.name, attributeNames(component.kind)), path + "." + attribute.name);
            continue;
        }
        if (const Measure* measure = std::get_if<Measure>(&attribute.value)) {
            checkMeasure(*spec, *measure, path, {}, clocked);
        } else if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value)) {
            for (const TableRow& row : *rows) checkMeasure(*spec, row.value, path, row.key, clocked);
        }
    }
}

void Checker::checkNeeds(const Component& component, const CheckPlace& path) {
    // What stands in a tensor unit computes for it.
    if (component.kind == TensorUnit && !component.children.empty()) return;
    for (const NeededAttribute& needed : neededAttributes(component.kind)) {
        if (component.find(needed.name)) continue;
        warn("hardware.missing-attribute", fmt::format("`{}` gives no {}", nameOf(component), needed.name),
             fmt::format("set it, such as `{}`", needed.example), path + "." + std::string(needed.name));
    }
}

void Checker::checkSizes(const Component& component, const CheckPlace& path) {
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

void Checker::checkSiblings(const Component& component, const CheckPlace& path) {
    names_.clear();
    for (const Component& child : component.children) names_.push_back(nameOf(child));
    std::sort(names_.begin(), names_.end());
    for (auto first = names_.begin(); first != names_.end();) {
        const auto last = std::find_if(first, names_.end(), [first](std::string_view name) { return name != *first; });
        if (last - first > 1) {
            error("hardware.duplicate-name", fmt::format("{} components here are named `{}`", last - first, *first),
                  "names that differ, so that each can be found", "give them names, or use `count` for identical ones",
                  path + "/" + std::string(*first));
        }
        first = last;
    }
    for (const Component& child : component.children) {
        if (child.name.find('/') != std::string::npos) {
            error("hardware.name", fmt::format("the name `{}` holds a slash", child.name), "a name without `/`",
                  "slashes separate names in paths", path + "/" + child.name);
        }
    }
}

// A file holds no more than this, so a design beyond it could be drawn and not be read back.
void Checker::checkLimits(const Component& component, const CheckPlace& path, Around& around) {
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

void Checker::visit(const Component& component, const Component* parent, const CheckPlace& path, Around around) {
    if (parent) checkPlace(component, *parent, path);
    checkLimits(component, path, around);
    // A memory beside a die takes the clock of that die; see device_view.h.
    const bool besideDevice = parent && (parent->kind == System || parent->kind == Node);
    around.clocked = around.clocked || measureOf(component, "clock") != nullptr;
    checkNumbers(component, path, around.clocked || besideDevice);
    checkNeeds(component, path);
    checkSizes(component, path);
    checkSiblings(component, path);
    ++around.depth;
    for (const Component& child : component.children) {
        visit(child, &component, {&path, &child}, around);
    }
}

}  // namespace

Diagnostics validate(const Hardware& hardware) {
    return Checker().run(hardware);
}

}  // namespace orrery
