#include "hardware/check/fixes_find.h"
#include "hardware/network/links.h"
#include "base/text/nearest.h"
#include "hardware/check/validate_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace orrery::fixes {
namespace {

using enum ComponentKind;

std::string textOf(const Component& component, const std::string& attribute) {
    const Attribute* found = component.find(attribute);
    const std::string* words = found ? std::get_if<std::string>(&found->value) : nullptr;
    return words ? *words : std::string();
}

}  // namespace

bool worsens(const Component& before, const Component& after) {
    std::map<std::string, int> more;
    for (const auto& [root, sign] : {std::pair{&before, -1}, {&after, 1}}) {
        Diagnostics found;
        checkNetworks(*root, found);
        for (const Diagnostic& one : found) more[one.code] += one.severity == Severity::Error ? sign : 0;
    }
    return std::any_of(more.begin(), more.end(), [](const auto& code) { return code.second > 0; });
}

Fixes linkNowhere(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty() || (found.attribute != "from" && found.attribute != "to")) return {};
    const Component& link = *componentAt(design.root, found.path);
    const Component& parent = *componentAt(design.root, ComponentPath(found.path.begin(), found.path.end() - 1));
    // The names as far as they lead, and what could stand after them.
    std::string said = textOf(link, found.attribute), led;
    const Component* at = &parent;
    for (;;) {
        const auto slash = said.find('/');
        const std::string name = said.substr(0, slash);
        const auto child = std::find_if(at->children.begin(), at->children.end(),
                                        [&name](const Component& c) { return c.kind != Link && nameOf(c) == name; });
        if (child == at->children.end() || slash == std::string::npos) break;
        at = &*child;
        led += name + "/";
        said.erase(0, slash + 1);
    }
    std::vector<std::string> known;
    for (const Component& child : at->children) {
        if (child.kind != Link && child.kind != Topology) known.emplace_back(nameOf(child));
    }
    const std::string other = textOf(link, found.attribute == "from" ? "to" : "from");
    Fixes out;
    for (const std::string& name : nearest(said.substr(0, said.find('/')), known)) {
        if (led + name == other) continue;
        Fix fix = set(fmt::format("Let it {} at `{}`", found.attribute == "from" ? "begin" : "end", led + name),
                      found.path, found.attribute, led + name);
        // The end must also have room for the link.
        const auto edited = fix.apply(design);
        if (edited && !worsens(design.root, edited->root)) out.push_back(std::move(fix));
    }
    out.push_back(
        without(fmt::format("Remove this end: the link leaves `{}`", nameOf(parent)), found.path, found.attribute));
    out.push_back(removeComponent(fmt::format("Remove the link `{}`", nameOf(link)), found.path));
    return out;
}

Fixes linkLoop(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    return {removeComponent(fmt::format("Remove the link `{}`", nameOf(*componentAt(design.root, found.path))),
                            found.path)};
}

Fixes portUsed(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    const auto links = linkEnds(design.root);
    const auto here = std::find_if(links.begin(), links.end(), [&](const LinkEnds& l) { return l.link == found.path; });
    if (here == links.end()) return {};
    const bool begins = found.attribute == "from_port";
    const auto owner = begins ? here->from : here->to;
    const std::string port = begins ? here->fromPort : here->toPort;
    std::vector<std::pair<ComponentPath, std::string>> others;  // all ends at the port but the first
    bool first = true;
    for (const LinkEnds& link : links) {
        if (link.from == owner && link.fromPort == port && !std::exchange(first, false))
            others.emplace_back(link.link, "from_port");
        if (link.to == owner && link.toPort == port && !std::exchange(first, false))
            others.emplace_back(link.link, "to_port");
    }
    return {{fmt::format("Keep port {} for the first link; the others take any", port),
             [others](Hardware edited) -> Expected<Hardware> {
                 for (const auto& [path, attribute] : others) {
                     Component* link = componentAt(edited.root, path);
                     if (!link) return fail("hardware.no-component", "the link is no longer there");
                     std::erase_if(link->attributes, [name = attribute](const Attribute& a) { return a.name == name; });
                 }
                 return edited;
             }}};
}

Fixes ports(const Hardware&, const Found& found, const Diagnostic& problem) {
    // The message says how many neighbours there are, after the number of ports.
    const auto at = problem.message.rfind(" and ");
    if (at == std::string::npos) return {};
    double needed = 0;
    const char* begin = problem.message.data() + at + 5;
    std::from_chars(begin, problem.message.data() + problem.message.size(), needed);
    if (!(needed >= 1)) return {};
    const std::string number = fmt::format("{:.0f}", needed);
    return {set("Raise `ports` to " + number, found.path, "ports", number)};
}

Fixes unlinkedMemory(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    const ComponentPath parentPath(found.path.begin(), found.path.end() - 1);
    const Component& parent = *componentAt(design.root, parentPath);
    const Component& memory = *componentAt(design.root, found.path);
    Fixes out;
    for (std::size_t i = 0; i < parent.children.size() && out.size() < 4; ++i) {
        const ComponentKind kind = parent.children[i].kind;
        if (kind > Array) continue;
        ComponentPath part = parentPath;
        part.push_back(static_cast<int>(i));
        out.push_back({fmt::format("Link `{}` to `{}`", nameOf(memory), nameOf(parent.children[i])),
                       [path = found.path, part](Hardware edited) -> Expected<Hardware> {
                           auto made = makeLink(edited.root, path, part);
                           if (!made) return Unexpected(made.error());
                           // The memory's own rate is what its link can carry.
                           const Attribute* rate = componentAt(edited.root, path)->find("bandwidth");
                           const Measure* value = rate ? std::get_if<Measure>(&rate->value) : nullptr;
                           if (value && !value->perCycle) made->link.attributes.push_back(*rate);
                           componentAt(edited.root, made->parent)->children.push_back(std::move(made->link));
                           return edited;
                       }});
    }
    return out;
}

Fixes disconnected(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    const ComponentPath parentPath(found.path.begin(), found.path.end() - 1);
    const Component& parent = *componentAt(design.root, parentPath);
    const std::vector<std::vector<int>> groups = joinedParts(design.root, parentPath);
    if (groups.size() < 2) return {};
    const auto part = [&](int index) -> const Component& { return parent.children[static_cast<std::size_t>(index)]; };
    const auto at = [parentPath](int index) {
        ComponentPath path = parentPath;
        path.push_back(index);
        return path;
    };
    std::optional<Attribute> rate;  // as the links beside it carry
    for (const Component& child : parent.children) {
        const Attribute* bandwidth = child.kind == Link && child.find("from") ? child.find("bandwidth") : nullptr;
        if (bandwidth && !rate) rate = *bandwidth;
    }
    // A switch serves the parts left out best; without one, any part of the network does.
    std::vector<int> hubs;
    for (const bool switches : {true, false}) {
        for (const int index : groups.front()) {
            if ((part(index).kind == Switch) == switches && hubs.size() < 3) hubs.push_back(index);
        }
    }
    Fixes out;
    for (const int hub : hubs) {
        const std::string what = groups.size() == 2 ? fmt::format("`{}`", nameOf(part(groups.back().front())))
                                                    : fmt::format("the {} parts left out", groups.size() - 1);
        Fix fix{fmt::format("Link {} to `{}`", what, nameOf(part(hub))),
                [groups, hub, at, rate](Hardware edited) -> Expected<Hardware> {
                    for (std::size_t group = 1; group < groups.size(); ++group) {
                        auto made = makeLink(edited.root, at(groups[group].front()), at(hub));
                        if (!made) return Unexpected(made.error());
                        if (rate) made->link.attributes.push_back(*rate);
                        componentAt(edited.root, made->parent)->children.push_back(std::move(made->link));
                    }
                    return edited;
                }};
        const auto edited = fix.apply(design);
        if (edited && !worsens(design.root, edited->root) && joinedParts(edited->root, parentPath).size() < 2)
            out.push_back(std::move(fix));
    }
    return out;
}

}  // namespace orrery::fixes
