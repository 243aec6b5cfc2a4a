#include "base/dtype.h"
#include "base/text/nearest.h"
#include "base/text/words.h"
#include "hardware/attribute_at.h"
#include "hardware/component.h"
#include "hardware/copies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace orrery {
namespace {

Expected<std::int64_t> parseWhole(std::string_view name, std::string_view text) {
    text = trimmed(text);
    const auto value = wholeIn(text);
    if (!value || *value < 1) {
        return fail("hardware.count", fmt::format("`{}` is not a {}", text, name), "a whole number from 1");
    }
    return *value;
}

Expected<void> setMesh(Component& component, std::string_view text) {
    std::vector<std::int64_t> sides;
    std::string plain(text);
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return c == 'x' || c == 'X' || c == ','; }, ' ');
    std::erase_if(plain, [](char c) { return c == '[' || c == ']'; });
    for (std::string_view rest = trimmed(plain); !rest.empty();) {
        const auto space = rest.find(' ');
        const auto side = parseWhole("side of a mesh", rest.substr(0, space));
        if (!side) return Unexpected(side.error());
        sides.push_back(*side);
        rest = space == std::string_view::npos ? std::string_view() : trimmed(rest.substr(space));
    }
    if (sides.size() > 4) return fail("hardware.mesh", "a mesh has at most four sides", "sides such as `14 x 12`");
    component.mesh = std::move(sides);
    return {};
}

// Rows × columns make a grid of copies where a number or such a grid stood. Elsewhere they would replace what is no
// copies: the grid of an array, or what each of many copies holds.
Expected<void> setGridOfCopies(Component& component, std::string_view text) {
    const bool array = component.kind == ComponentKind::Array;
    if (array || (!component.mesh.empty() && !isGridOfCopies(component))) {
        return fail("hardware.count",
                    array ? fmt::format("rows × columns are no number of copies of an array (`{}`)", nameOf(component))
                          : fmt::format("`{}` has a mesh of {} beside its number of copies", nameOf(component),
                                        fmt::join(component.mesh, "x")),
                    "a whole number from 1", "rows and columns are its `mesh`: change that");
    }
    Component grid;
    if (auto sides = setMesh(grid, text); !sides) return sides;
    if (grid.mesh.size() < 2)
        return fail("hardware.count", fmt::format("`{}` is no rows × columns", text), "such as `12x11`");
    component.mesh = std::move(grid.mesh);
    component.count = 1;
    return {};
}

// A value that a person has changed no longer comes from where it came from.
void markEdited(const Component& component, Attribute& attribute) {
    if (!sourceOf(component, attribute).empty()) attribute.source = "edited";
}

std::vector<std::string> settableNames(ComponentKind kind) {
    auto names = attributeNames(kind);
    names.insert(names.end(), {"count", "mesh", "name"});
    return names;
}

Unexpected noAttribute(const Component& component, std::string_view attribute) {
    const auto known = settableNames(component.kind);
    std::vector<std::string> owners;
    for (int i = 0; i < componentKindCount; ++i) {
        if (attributeSpec(static_cast<ComponentKind>(i), attribute)) {
            owners.emplace_back(toText(static_cast<ComponentKind>(i)));
        }
    }
    std::string hint =
        owners.empty() ? didYouMean(attribute, known) : fmt::format("it is one of a {}", fmt::join(owners, ", "));
    if (hint.empty()) hint = "it may have " + quotedList(known, "or");
    return fail(
        "hardware.no-attribute",
        fmt::format("`{}` is not an attribute of a {} (`{}`)", attribute, toText(component.kind), nameOf(component)),
        fmt::format("an attribute of a {}", toText(component.kind)), std::move(hint));
}

Expected<void> setRow(Component& component, const AttributeSpec& spec, std::string_view key, std::string_view text) {
    Attribute* attribute = component.find(spec.name);
    std::vector<TableRow> rows;
    if (const auto* table = attribute ? std::get_if<std::vector<TableRow>>(&attribute->value) : nullptr) rows = *table;
    const auto row = std::find_if(rows.begin(), rows.end(), [key](const TableRow& r) {
        return r.key == key || (dtype(r.key) && dtype(r.key) == dtype(key));
    });
    if (trimmed(text).empty()) {
        if (row != rows.end()) rows.erase(row);
    } else {
        auto measure = parseAttributeMeasure(spec, text);
        if (!measure) return Unexpected(std::move(measure.error()));
        if (row != rows.end()) {
            if (row->value == *measure) return {};
            row->value = std::move(*measure);
        } else {
            rows.push_back({std::string(key), std::move(*measure)});
        }
    }
    if (auto wrong = checkRows(spec, rows); !wrong) return Unexpected(std::move(wrong.error()));
    if (!attribute) attribute = &component.attributes.emplace_back(Attribute{std::string(spec.name), {}, {}, {}});
    attribute->value = std::move(rows);
    markEdited(component, *attribute);
    return {};
}

void collect(const Component& component, ComponentPath& path, const auto& fits, std::vector<ComponentPath>& out) {
    if (fits(component)) out.push_back(path);
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        path.push_back(static_cast<int>(i));
        collect(component.children[i], path, fits, out);
        path.pop_back();
    }
}

bool contains(const ComponentPath& outer, const ComponentPath& inner) {
    return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

// Whose attribute it is when no component is named: the only one that has it (or that all others which have it stand
// inside), else the only one that may have it.
Expected<ComponentPath> ownerOf(const Component& root, std::string_view attribute) {
    const std::string_view name = attribute.substr(0, attribute.find('.'));
    std::vector<ComponentPath> owners;
    ComponentPath path;
    collect(
        root, path, [name](const Component& c) { return c.find(name) != nullptr; }, owners);
    if (!owners.empty() && std::all_of(owners.begin(), owners.end(), [&owners](const ComponentPath& inner) {
            return contains(owners.front(), inner);
        })) {
        return owners.front();
    }
    if (owners.empty()) {
        collect(
            root, path, [name](const Component& c) { return attributeSpec(c.kind, name) != nullptr; }, owners);
    }
    if (owners.size() == 1) return owners.front();
    if (owners.empty()) {
        std::vector<std::string> known;
        for (const AttributeSpec& spec : attributeSpecs()) known.emplace_back(spec.name);
        std::string hint = didYouMean(name, known);
        if (hint.empty()) hint = "write component and attribute, such as `sm.count`";
        return fail("hardware.no-attribute", fmt::format("no component has an attribute `{}`", name),
                    "a path such as `hbm3.bandwidth`", std::move(hint));
    }
    std::vector<std::string> places;
    for (const ComponentPath& owner : owners) {
        if (places.size() < 6) places.push_back(fmt::format("{}.{}", nameOf(*componentAt(root, owner)), attribute));
    }
    return fail("hardware.ambiguous-attribute", fmt::format("{} components have `{}`", owners.size(), name),
                "component and attribute", "name the component: " + quotedList(places, "or"));
}

bool isAttribute(std::string_view name) {
    if (name == "count" || name == "mesh" || name == "name") return true;
    const auto specs = attributeSpecs();
    return std::any_of(specs.begin(), specs.end(), [name](const AttributeSpec& spec) { return spec.name == name; });
}

// `a/b.attribute`, `a/b.attribute.row`, `attribute`, `attribute.row`. Names of components may hold dots, so the split
// is sought from the right.
Expected<AttributeAt> resolve(const Component& root, std::string_view path) {
    const auto last = path.rfind('.');
    if (last == std::string_view::npos) {
        auto owner = ownerOf(root, path);
        if (!owner) return Unexpected(std::move(owner.error()));
        return AttributeAt{std::move(*owner), std::string(path)};
    }
    auto cut = last;
    if (const auto before = path.substr(0, last).rfind('.'); !isAttribute(path.substr(last + 1))) {
        const auto middle = before == std::string_view::npos ? 0 : before + 1;
        if (isAttribute(path.substr(middle, last - middle))) {
            if (before == std::string_view::npos) {
                auto owner = ownerOf(root, path);
                if (!owner) return Unexpected(std::move(owner.error()));
                return AttributeAt{std::move(*owner), std::string(path)};
            }
            cut = before;
        }
    }
    auto component = findComponent(root, path.substr(0, cut));
    if (!component) return Unexpected(std::move(component.error()));
    return AttributeAt{std::move(*component), std::string(path.substr(cut + 1))};
}

}  // namespace

Expected<void> setAttribute(Component& component, std::string_view attribute, std::string_view value) {
    if (attribute == "name") {
        component.name = std::string(trimmed(value));
        return {};
    }
    if (attribute == "count") {
        if (value.find_first_of("xX") != std::string_view::npos) return setGridOfCopies(component, value);
        const auto count = parseWhole("number of copies", value);
        if (!count) return Unexpected(count.error());
        setCopies(component, *count);
        return {};
    }
    if (attribute == "mesh") return setMesh(component, value);
    const auto dot = attribute.find('.');
    const AttributeSpec* spec = attributeSpec(component.kind, attribute.substr(0, dot));
    if (!spec) return noAttribute(component, attribute.substr(0, dot));
    if (dot != std::string_view::npos) {
        if (spec->form == AttributeForm::Table) return setRow(component, *spec, attribute.substr(dot + 1), value);
        return fail("hardware.no-attribute", fmt::format("`{}` has no rows", spec->name),
                    fmt::format("`{}` alone", spec->name));
    }
    Attribute* existing = component.find(spec->name);
    if (trimmed(value).empty()) {
        std::erase_if(component.attributes, [spec](const Attribute& a) { return a.name == spec->name; });
        return {};
    }
    auto parsed = parseAttribute(*spec, value);
    if (!parsed) return Unexpected(std::move(parsed.error()));
    if (existing && existing->value == *parsed) return {};
    if (!existing) existing = &component.attributes.emplace_back(Attribute{std::string(spec->name), {}, {}, {}});
    existing->value = std::move(*parsed);
    if (spec->name != "source" && spec->name != "note") markEdited(component, *existing);
    return {};
}

Expected<AttributeAt> attributeAt(const Component& root, std::string_view path) {
    auto found = resolve(root, trimmed(path));
    if (!found) return found;
    const Component& component = *componentAt(root, found->component);
    const std::string_view name = std::string_view(found->attribute).substr(0, found->attribute.find('.'));
    if (name == "count" || name == "mesh" || name == "name") return found;
    found->spec = attributeSpec(component.kind, name);
    if (!found->spec) return noAttribute(component, name);
    return found;
}

Expected<Hardware> withAttribute(Hardware hardware, std::string_view path, std::string_view value) {
    const std::string_view wanted = trimmed(path);
    const auto target = resolve(hardware.root, wanted);
    if (!target) return Unexpected(target.error());
    Component* component = componentAt(hardware.root, target->component);
    if (auto done = setAttribute(*component, target->attribute, value); !done) {
        Diagnostic wrong = std::move(done.error());
        wrong.place.path = fmt::format("{}.{}", pathText(hardware.root, target->component), target->attribute);
        return Unexpected(std::move(wrong));
    }
    return hardware;
}

}  // namespace orrery
