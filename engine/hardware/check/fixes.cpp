#include "hardware/check/fixes.h"

#include "hardware/attributes.h"
#include "hardware/check/fixes_find.h"
#include "base/text/nearest.h"
#include "hardware/edit/tree_edit.h"
#include "hardware/check/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace orrery {
namespace fixes {

Fix change(std::string title, ComponentPath path, std::function<void(Component&)> edit) {
    return {std::move(title), [path = std::move(path), edit = std::move(edit)](Hardware design) -> Expected<Hardware> {
                Component* component = componentAt(design.root, path);
                if (!component) return fail("hardware.no-component", "the component is no longer there");
                edit(*component);
                return design;
            }};
}
Fix set(std::string title, ComponentPath path, std::string attribute, std::string value) {
    return {std::move(title),
            [path = std::move(path), attribute = std::move(attribute),
             value = std::move(value)](Hardware design) -> Expected<Hardware> {
                Component* component = componentAt(design.root, path);
                if (!component) return fail("hardware.no-component", "the component is no longer there");
                if (auto done = setAttribute(*component, attribute, value); !done) return Unexpected(done.error());
                return design;
            }};
}
Fix without(std::string title, ComponentPath path, std::string attribute) {
    return set(std::move(title), std::move(path), std::move(attribute), {});
}
Fix removeComponent(std::string title, ComponentPath path) {
    return {std::move(title), [path = std::move(path)](Hardware design) -> Expected<Hardware> {
                auto edit = removed(std::move(design), {path});
                if (!edit) return Unexpected(edit.error());
                return std::move(edit->design);
            }};
}

std::optional<ComponentPath> clockOwner(const Hardware& design, ComponentPath at) {
    std::optional<ComponentPath> owner;
    for (; !at.empty(); at.pop_back()) {
        const ComponentKind kind = componentAt(design.root, at)->kind;
        if (attributeSpec(kind, "clock") && (!owner || kind != ComponentKind::Node)) owner = at;
    }
    return owner;
}
Attribute usualClock() {
    return {"clock", Measure{1e9, false, "1 GHz"}, "unverified", {}};
}

std::string freeName(const std::set<std::string>& taken, const std::string& name) {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9' && name.size() - digits < 9) --digits;
    const bool numbered = digits > 0 && digits < name.size();
    const std::string stem = numbered ? name.substr(0, digits) : name;
    for (long i = numbered ? std::stol(name.substr(digits)) + 1 : 2;; ++i) {
        std::string next = stem + std::to_string(i);
        if (!taken.count(next)) return next;
    }
}
std::set<std::string> namesIn(const Component& parent) {
    std::set<std::string> names;
    for (const Component& child : parent.children) names.emplace(nameOf(child));
    return names;
}

namespace {

bool follows(const std::string& text, std::size_t at, char mark) {
    return text.size() == at || text[at] == mark;
}

void search(const Component& component, const std::string& here, ComponentPath& path, const std::string& text,
            std::vector<Found>& out) {
    if (text.compare(0, here.size(), here) != 0) return;
    if (follows(text, here.size(), '.')) {
        out.push_back({path, text.size() > here.size() ? text.substr(here.size() + 1) : std::string()});
    }
    if (text.size() <= here.size() || text[here.size()] != '/') return;
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        const std::string_view name = nameOf(component.children[i]);
        if (text.compare(here.size() + 1, name.size(), name) != 0) continue;
        path.push_back(static_cast<int>(i));
        search(component.children[i], here + "/" + std::string(name), path, text, out);
        path.pop_back();
    }
}

}  // namespace

std::vector<Found> find(const Component& root, const std::string& place) {
    std::vector<Found> out;
    ComponentPath path;
    search(root, std::string(nameOf(root)), path, place, out);
    // `system/a.b` may be the component `a.b` or the attribute `b` of `a`: the whole name goes first.
    std::stable_sort(out.begin(), out.end(),
                     [](const Found& a, const Found& b) { return a.attribute.size() < b.attribute.size(); });
    return out;
}

namespace {

std::string nameAt(const Hardware& design, const ComponentPath& path) {
    return std::string(nameOf(*componentAt(design.root, path)));
}

Fixes duplicateName(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    const ComponentPath parentPath(found.path.begin(), found.path.end() - 1);
    const Component& parent = *componentAt(design.root, parentPath);
    const std::string name = nameAt(design, found.path);
    auto taken = namesIn(parent);
    std::vector<std::pair<int, std::string>> names;
    // Links end at the first part of a name, and never at a link: that part keeps it.
    std::vector<int> same;
    for (std::size_t i = 0; i < parent.children.size(); ++i) {
        if (nameOf(parent.children[i]) == name) same.push_back(static_cast<int>(i));
    }
    auto kept = std::find_if(same.begin(), same.end(), [&parent](int i) {
        return parent.children[static_cast<std::size_t>(i)].kind != ComponentKind::Link;
    });
    if (kept == same.end()) kept = same.begin();
    const bool firstKept = kept == same.begin();
    if (kept != same.end()) same.erase(kept);
    for (const int i : same) {
        names.emplace_back(i, freeName(taken, name));
        taken.insert(names.back().second);
    }
    if (names.empty()) return {};
    std::string title =
        fmt::format("Rename the {} `{}` to `{}`", firstKept ? "second" : "first", name, names.front().second);
    if (names.size() > 1) {
        title = fmt::format("Rename the other {} `{}` to `{}` … `{}`", names.size(), name, names.front().second,
                            names.back().second);
    }
    return {change(title, parentPath, [names](Component& holder) {
        for (const auto& [index, next] : names) {
            if (index < static_cast<int>(holder.children.size()))
                holder.children[static_cast<std::size_t>(index)].name = next;
        }
    })};
}

Fixes slashInName(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    std::string name = nameAt(design, found.path);
    std::replace(name.begin(), name.end(), '/', '-');
    const auto taken = namesIn(*componentAt(design.root, ComponentPath(found.path.begin(), found.path.end() - 1)));
    if (taken.count(name)) name = freeName(taken, name);
    return {change(fmt::format("Rename it to `{}`", name), found.path, [name](Component& c) { c.name = name; })};
}

Fixes nesting(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    const ComponentKind kind = componentAt(design.root, found.path)->kind;
    ComponentPath host(found.path.begin(), found.path.end() - 1);
    while (!host.empty() && !mayContain(componentAt(design.root, host)->kind, kind)) host.pop_back();
    if (!mayContain(componentAt(design.root, host)->kind, kind)) return {};
    Fix fix{fmt::format("Move `{}` out to `{}`", nameAt(design, found.path), nameAt(design, host)),
            [path = found.path, host](Hardware edited) -> Expected<Hardware> {
                auto edit = reparented(std::move(edited), {path}, host);
                if (!edit) return Unexpected(edit.error());
                return std::move(edit->design);
            }};
    const auto after = fix.apply(design);
    if (!after || worsens(design.root, after->root)) return {};
    return {std::move(fix)};
}

Fixes zero(const Hardware& design, const Found& found, const Diagnostic&) {
    return {without(fmt::format("Remove `{}` of `{}`: not known", found.attribute, nameAt(design, found.path)),
                    found.path, found.attribute)};
}

Fixes smallerThanPart(const Hardware& design, const Found& found, const Diagnostic&) {
    const Component& component = *componentAt(design.root, found.path);
    const Measure* largest = nullptr;
    for (const char* part : {"word", "line"}) {
        const Attribute* one = component.find(part);
        const Measure* size = one ? std::get_if<Measure>(&one->value) : nullptr;
        if (size && (!largest || size->si > largest->si)) largest = size;
    }
    if (!largest) return {};
    return {set(fmt::format("Raise `capacity` to {}, the part that it must hold", largest->spelling), found.path,
                "capacity", largest->spelling)};
}

// As another part of the design has it, else the usual first guess.
Fixes noClock(const Hardware& design, const Found& found, const Diagnostic&) {
    const auto around = clockOwner(design, found.path);
    if (!around) return {};
    const ComponentPath& owner = *around;
    Fixes out;
    std::set<std::string> offered;
    const auto visit = [&](auto&& self, const Component& component) -> void {
        const Attribute* clock = component.find("clock");
        const Measure* rate = clock ? std::get_if<Measure>(&clock->value) : nullptr;
        if (rate && rate->si > 0 && out.size() < 2 && offered.insert(rate->spelling).second) {
            out.push_back(set(fmt::format("Give `{}` the clock of `{}`, {}", nameAt(design, owner), nameOf(component),
                                          rate->spelling),
                              owner, "clock", rate->spelling));
        }
        for (const Component& child : component.children) self(self, child);
    };
    visit(visit, design.root);
    if (!out.empty()) return out;
    return {change(fmt::format("Give `{}` a clock of 1 GHz, marked as unverified", nameAt(design, owner)), owner,
                   [](Component& c) { c.attributes.push_back(usualClock()); })};
}

Fixes noAttribute(const Hardware& design, const Found& found, const Diagnostic&) {
    const Component& component = *componentAt(design.root, found.path);
    const Attribute* wrong = component.find(found.attribute);
    if (!wrong) return {};
    Fixes out;
    for (const std::string& name : nearest(found.attribute, attributeNames(component.kind), 1)) {
        const AttributeSpec* spec = attributeSpec(component.kind, name);
        if (component.find(name) || !spec || !parseAttribute(*spec, toText(wrong->value))) continue;
        out.push_back(change(fmt::format("Rename `{}` to `{}`", found.attribute, name), found.path,
                             [from = found.attribute, name](Component& c) {
                                 Attribute* old = c.find(from);
                                 if (!old) return;
                                 const std::string text = toText(old->value);
                                 auto value = parseAttribute(*attributeSpec(c.kind, name), text);
                                 if (!value) return;
                                 old->name = name;
                                 old->value = std::move(*value);
                             }));
    }
    out.push_back(
        change(fmt::format("Remove `{}`", found.attribute), found.path, [from = found.attribute](Component& c) {
            std::erase_if(c.attributes, [&from](const Attribute& a) { return a.name == from; });
        }));
    return out;
}

Fixes copies(const Hardware&, const Found& found, const Diagnostic&) {
    return {change("Make it one at least", found.path, [](Component& c) {
        c.count = std::max<std::int64_t>(c.count, 1);
        for (auto& side : c.mesh) side = std::max<std::int64_t>(side, 1);
    })};
}

std::size_t sizeOf(const Component& component) {
    std::size_t size = 1;
    for (const Component& child : component.children) size += sizeOf(child);
    return size;
}

std::set<std::string> errorCodes(const Diagnostics& found) {
    std::set<std::string> codes;
    for (const Diagnostic& one : found) {
        if (one.severity == Severity::Error) codes.insert(one.code);
    }
    return codes;
}

// The problem is gone and no kind of error is there that was not: what lies around a fix may forbid it.
bool mends(const Hardware& design, const Diagnostic& problem, const std::set<std::string>& codes, const Fix& fix) {
    const auto after = fix.apply(design);
    if (!after) return false;
    const Diagnostics left = validate(*after);
    const bool there = std::any_of(left.begin(), left.end(), [&](const Diagnostic& one) {
        return one.code == problem.code && one.place == problem.place;
    });
    const auto now = errorCodes(left);
    return !there && std::includes(codes.begin(), codes.end(), now.begin(), now.end());
}

}  // namespace
}  // namespace fixes

std::vector<Fix> fixesFor(const Hardware& design, const Diagnostic& problem) {
    constexpr std::size_t mostTried = 5000;  // components; in larger designs a trial of each fix would be felt
    using Make = fixes::Fixes (*)(const Hardware&, const fixes::Found&, const Diagnostic&);
    static constexpr std::pair<std::string_view, Make> table[] = {
        {"hardware.duplicate-name", fixes::duplicateName},
        {"hardware.name", fixes::slashInName},
        {"hardware.nesting", fixes::nesting},
        {"hardware.zero", fixes::zero},
        {"hardware.smaller-than-part", fixes::smallerThanPart},
        {"hardware.no-clock", fixes::noClock},
        {"hardware.no-attribute", fixes::noAttribute},
        {"hardware.count", fixes::copies},
        {"hardware.link-nowhere", fixes::linkNowhere},
        {"hardware.link-loop", fixes::linkLoop},
        {"hardware.port-used", fixes::portUsed},
        {"hardware.ports", fixes::ports},
        {"hardware.unlinked-memory", fixes::unlinkedMemory},
        {"hardware.topology-size", fixes::topologySize},
        {"hardware.topology-radix", fixes::topologyRadix},
        {"hardware.topology-empty", fixes::topologyEmpty},
        {"hardware.missing-attribute", fixes::missingAttribute},
        {"hardware.disconnected", fixes::disconnected},
    };
    for (const auto& [code, make] : table) {
        if (code != problem.code) continue;
        const auto found = fixes::find(design.root, problem.place.path);
        if (found.empty()) return {};
        // Which of several of one name is meant cannot be told: their names must be mended first.
        const bool several = found.size() > 1 && found[0].attribute == found[1].attribute;
        if (several && code != "hardware.duplicate-name") return {};
        std::vector<Fix> all = make(design, found.front(), problem);
        const bool small = fixes::sizeOf(design.root) <= mostTried;
        if (small && !all.empty()) {
            const auto codes = fixes::errorCodes(validate(design));
            std::erase_if(all, [&](const Fix& fix) { return !fixes::mends(design, problem, codes, fix); });
        }
        return all;
    }
    return {};
}

}  // namespace orrery
