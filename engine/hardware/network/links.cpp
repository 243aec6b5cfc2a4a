#include "hardware/network/links.h"

#include "hardware/check/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace orrery {
namespace {

std::string textOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    const std::string* words = found ? std::get_if<std::string>(&found->value) : nullptr;
    return words ? *words : std::string();
}

// Children by name; built once for each parent that is searched, so that many links in one parent stay linear.
class Names {
public:
    int find(const Component& parent, std::string_view name) {
        auto& byName = parents_[&parent];
        if (byName.empty()) {
            for (std::size_t i = 0; i < parent.children.size(); ++i) {
                const Component& child = parent.children[i];
                if (child.kind != ComponentKind::Link) byName.emplace(nameOf(child), static_cast<int>(i));
            }
        }
        const auto found = byName.find(name);
        return found == byName.end() ? -1 : found->second;
    }
    std::optional<ComponentPath> resolve(const Component& parent, ComponentPath path, std::string_view names) {
        const Component* at = &parent;
        for (;;) {
            const auto slash = names.find('/');
            const int index = find(*at, names.substr(0, slash));
            if (index < 0) return std::nullopt;
            path.push_back(index);
            at = &at->children[static_cast<std::size_t>(index)];
            if (slash == std::string_view::npos) return path;
            names.remove_prefix(slash + 1);
        }
    }

private:
    std::unordered_map<const Component*, std::unordered_map<std::string_view, int>> parents_;
};

void collect(const Component& component, ComponentPath& path, Names& names, std::vector<LinkEnds>& out) {
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        const Component& child = component.children[i];
        path.push_back(static_cast<int>(i));
        if (child.kind == ComponentKind::Link) {
            LinkEnds ends;
            ends.link = path;
            path.pop_back();
            const auto end = [&](std::string_view which) -> std::optional<ComponentPath> {
                const std::string text = textOf(child, which);
                if (text.empty()) return std::nullopt;
                auto found = names.resolve(component, path, text);
                ends.broken = ends.broken || !found;
                return found;
            };
            ends.from = end("from");
            ends.to = end("to");
            ends.fromPort = textOf(child, "from_port");
            ends.toPort = textOf(child, "to_port");
            path.push_back(static_cast<int>(i));
            out.push_back(std::move(ends));
        }
        collect(child, path, names, out);
        path.pop_back();
    }
}

bool startsWith(const ComponentPath& path, const ComponentPath& prefix) {
    return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

}  // namespace

std::vector<LinkEnds> linkEnds(const Component& root) {
    std::vector<LinkEnds> out;
    ComponentPath path;
    Names names;
    collect(root, path, names, out);
    return out;
}

std::optional<std::string> endText(const Component& root, const ComponentPath& parent, const ComponentPath& end) {
    if (end.size() <= parent.size() || !startsWith(end, parent)) return std::nullopt;
    const Component* at = componentAt(root, parent);
    std::string text;
    for (std::size_t i = parent.size(); at && i < end.size(); ++i) {
        if (end[i] < 0 || end[i] >= static_cast<int>(at->children.size())) return std::nullopt;
        at = &at->children[static_cast<std::size_t>(end[i])];
        if (!text.empty()) text += '/';
        text += nameOf(*at);
    }
    return at ? std::optional(text) : std::nullopt;
}

ComponentPath commonParent(const ComponentPath& a, const ComponentPath& b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t same = 0;
    while (same + 1 < most && a[same] == b[same]) ++same;
    return {a.begin(), a.begin() + static_cast<std::ptrdiff_t>(same)};
}

Expected<NewLink> makeLink(const Component& root, const ComponentPath& from, const ComponentPath& to,
                           const LinkPorts& ports) {
    const Component* ends[] = {componentAt(root, from), componentAt(root, to)};
    if (!ends[0] || !ends[1] || from.empty() || to.empty()) {
        return fail("hardware.link-nowhere", "a link joins two components inside the design",
                    "two components, neither of them the system");
    }
    if (from == to) {
        return fail("hardware.link-loop", "the link would begin and end at the same component", "two different ends",
                    {}, {{}, 0, 0, pathText(root, from)});
    }
    if (startsWith(from, to) || startsWith(to, from)) {
        return fail("hardware.link-inside",
                    fmt::format("`{}` stands inside `{}`", nameOf(*ends[startsWith(from, to) ? 0 : 1]),
                                nameOf(*ends[startsWith(from, to) ? 1 : 0])),
                    "two components, neither inside the other", {}, {{}, 0, 0, pathText(root, from)});
    }
    for (const auto* path : {&from, &to}) {
        const ComponentKind kind = componentAt(root, *path)->kind;
        if (kind != ComponentKind::Link && kind != ComponentKind::Topology) continue;
        return fail("hardware.link-nowhere", fmt::format("a link cannot end at a {}", toText(kind)),
                    "a part or a switch", {}, {{}, 0, 0, pathText(root, *path)});
    }
    NewLink made;
    made.parent = commonParent(from, to);
    while (!made.parent.empty() && !mayContain(componentAt(root, made.parent)->kind, ComponentKind::Link)) {
        made.parent.pop_back();
    }
    const Component& parent = *componentAt(root, made.parent);
    std::set<std::string_view> taken;
    for (const Component& child : parent.children) taken.insert(nameOf(child));
    const std::string wanted = fmt::format("{}-{}", nameOf(*ends[0]), nameOf(*ends[1]));
    std::string name = wanted;
    for (int i = 2; taken.count(name); ++i) name = fmt::format("{}-{}", wanted, i);
    made.link.kind = ComponentKind::Link;
    made.link.name = name;
    made.link.attributes = {{"from", *endText(root, made.parent, from), {}, {}},
                            {"to", *endText(root, made.parent, to), {}, {}}};
    if (!ports.from.empty()) made.link.attributes.push_back({"from_port", ports.from, {}, {}});
    if (!ports.to.empty()) made.link.attributes.push_back({"to_port", ports.to, {}, {}});
    return made;
}

}  // namespace orrery
