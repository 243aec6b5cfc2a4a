#include "hardware/check/validate_network.h"

#include "hardware/network/links.h"
#include "base/text/nearest.h"
#include "hardware/network/topology.h"
#include "hardware/network/topology_place.h"
#include "hardware/check/validate_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace orrery {
namespace {

using enum ComponentKind;

const Measure* measureOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}
std::string textOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    const std::string* words = found ? std::get_if<std::string>(&found->value) : nullptr;
    return words ? *words : std::string();
}
bool isServed(ComponentKind kind) {
    return kind == Node || kind == Package || kind == Die || kind == Core;
}

class Joined {
public:
    explicit Joined(std::size_t size) : parent_(size) {
        for (std::size_t i = 0; i < size; ++i) parent_[i] = i;
    }
    std::size_t find(std::size_t at) {
        while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
        return at;
    }
    void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

private:
    std::vector<std::size_t> parent_;
};

/// What the links say about one component that holds linked parts.
struct Web {
    bool explicitly = false;                        // some link here has both ends
    std::vector<std::pair<int, int>> joins;         // children; -1: the world outside
    std::unordered_map<int, double> linksOfSwitch;  // a direct child, links of one of its copies
};

class NetworkChecker {
public:
    NetworkChecker(const Component& root, Diagnostics& out) : root_(root), out_(out), links_(linkEnds(root)) {}
    void run() {
        for (const LinkEnds& link : links_) {
            checkEnds(link);
            gather(link);
        }
        checkPorts();
        ComponentPath path;
        visit(root_, path, {nullptr, &root_}, nullptr);
    }
    std::vector<std::vector<int>> groupsIn(const ComponentPath& parent) {
        for (const LinkEnds& link : links_) gather(link);
        const Component* component = componentAt(root_, parent);
        if (!component || component->kind == Topology) return {};
        const auto web = webs_.find(component);
        return groups(*component, web == webs_.end() ? Web{} : web->second);
    }

private:
    void error(std::string code, std::string message, std::string expected, std::string hint, std::string path) {
        out_.push_back({Severity::Error,
                        std::move(code),
                        std::move(message),
                        std::move(expected),
                        std::move(hint),
                        {{}, 0, 0, std::move(path)}});
    }
    void warn(std::string code, std::string message, std::string hint, std::string path) {
        out_.push_back(warning(std::move(code), std::move(message), std::move(hint), {{}, 0, 0, std::move(path)}));
    }
    const Component& at(const ComponentPath& path) const { return *componentAt(root_, path); }

    void checkEnds(const LinkEnds& link);
    void gather(const LinkEnds& link);
    void checkPorts();
    void checkSwitch(const Component& component, const Component& parent, const CheckPlace& path, double linked);
    void checkReach(const Component& component, const CheckPlace& text, const Web& web);
    std::vector<std::vector<int>> groups(const Component& component, const Web& web) const;
    void checkTopology(const ComponentPath& path);
    void visit(const Component& component, ComponentPath& path, const CheckPlace& text, const Component* parent);

    const Component& root_;
    Diagnostics& out_;
    std::vector<LinkEnds> links_;
    std::unordered_map<const Component*, Web> webs_;
    std::unordered_map<const Component*, double> switchLinks_;  // of one copy
    std::unordered_set<const Component*> linked_;               // components that a link ends at or inside of
};

void NetworkChecker::checkEnds(const LinkEnds& link) {
    const Component& component = at(link.link);
    for (const auto& [end, found] : {std::pair{"from", &link.from}, {"to", &link.to}}) {
        const std::string text = textOf(component, end);
        if (text.empty() || *found) continue;
        const Component& parent = at(ComponentPath(link.link.begin(), link.link.end() - 1));
        std::vector<std::string> known;
        for (const Component& child : parent.children) {
            if (child.kind != Link) known.emplace_back(nameOf(child));
        }
        std::string hint = didYouMean(text, known);
        if (hint.empty() && !known.empty()) {
            if (known.size() > 12) known.resize(12);
            hint = "beside it stand " + quotedList(known, "and");
        }
        error("hardware.link-nowhere", fmt::format("the link's `{}` is `{}`, but there is no such name", end, text),
              "names of components below the link's parent, such as `gpu0` or `node0/gpu0`", std::move(hint),
              fmt::format("{}.{}", pathText(root_, link.link), end));
    }
    if (link.from && link.from == link.to) {
        error("hardware.link-loop", "the link begins and ends at the same component", "two different ends", {},
              pathText(root_, link.link));
    }
}

// Copies of a component below the parent of a link.
double copiesBelow(const Component& root, const ComponentPath& path, std::size_t depth) {
    double copies = 1;
    const Component* at = &root;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const Component& child = at->children[static_cast<std::size_t>(path[i])];
        if (i >= depth) copies *= static_cast<double>(std::max<std::int64_t>(instancesIn(*at, child), 1));
        at = &child;
    }
    return copies;
}

// One link stands for each copy of what it joins: eight GPUs on one switch are eight links on that switch.
void NetworkChecker::gather(const LinkEnds& link) {
    const ComponentPath parent(link.link.begin(), link.link.end() - 1);
    Web& web = webs_[&at(parent)];
    const bool both = link.from && link.to;
    web.explicitly = web.explicitly || (both && link.from != link.to);
    if (both) {
        web.joins.push_back({(*link.from)[parent.size()], (*link.to)[parent.size()]});
        const double from = copiesBelow(root_, *link.from, parent.size());
        const double to = copiesBelow(root_, *link.to, parent.size());
        const double all = static_cast<double>(at(link.link).instances()) * std::max(from, to);
        if (at(*link.from).kind == Switch) switchLinks_[&at(*link.from)] += all / from;
        if (at(*link.to).kind == Switch) switchLinks_[&at(*link.to)] += all / to;
    }
    for (const auto* end : {&link.from, &link.to}) {
        if (!*end) continue;
        const ComponentPath& path = **end;
        if (!both) {
            web.joins.push_back({path[parent.size()], -1});
            if (at(path).kind == Switch) switchLinks_[&at(path)] += static_cast<double>(at(link.link).instances());
        }
        const Component* inner = &at(parent);
        for (std::size_t depth = parent.size(); depth < path.size(); ++depth) {
            if (depth > parent.size()) webs_[inner].joins.push_back({path[depth], -1});
            inner = &inner->children[static_cast<std::size_t>(path[depth])];
            linked_.insert(inner);
        }
    }
}

void NetworkChecker::checkPorts() {
    std::map<std::pair<ComponentPath, std::string>, std::vector<const LinkEnds*>> used;
    for (const LinkEnds& link : links_) {
        const auto note = [&](const std::optional<ComponentPath>& end, const std::string& port) {
            const bool numbered = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
            if (end && numbered) used[{*end, port}].push_back(&link);
        };
        note(link.from, link.fromPort);
        note(link.to, link.toPort);
    }
    for (const auto& [port, links] : used) {
        if (links.size() < 2) continue;
        const LinkEnds& last = *links.back();
        const bool begins = last.from && *last.from == port.first && last.fromPort == port.second;
        error("hardware.port-used",
              fmt::format("{} links use port {} of `{}`", links.size(), port.second, nameOf(at(port.first))),
              "one link on a numbered port", "give another port, or none",
              fmt::format("{}.{}", pathText(root_, last.link), begins ? "from_port" : "to_port"));
    }
}

// A switch that no link names serves the devices beside it: nodes, packages, dies and, where drawn alone, cores.
void NetworkChecker::checkSwitch(const Component& component, const Component& parent, const CheckPlace& path,
                                 double linked) {
    const Measure* ports = measureOf(component, "ports");
    if (!ports) return;
    double neighbours = linked;
    if (linked == 0) {
        for (const Component& sibling : parent.children) {
            if (isServed(sibling.kind)) neighbours += static_cast<double>(instancesIn(parent, sibling));
        }
    }
    if (neighbours > ports->si) {
        error("hardware.ports",
              fmt::format("`{}` has {} ports and {} neighbours", nameOf(component), ports->spelling,
                          std::ceil(neighbours)),
              "at least as many ports as neighbours", "raise `ports`, or remove neighbours", path + ".ports");
    }
}

// The largest group of joined parts is the network; what is not in it is left out.
std::vector<std::vector<int>> NetworkChecker::groups(const Component& component, const Web& web) const {
    const auto& children = component.children;
    const bool network =
        std::any_of(children.begin(), children.end(), [](const auto& c) { return c.kind == Topology; });
    if (!web.explicitly && !network) return {};
    const std::size_t outside = children.size();
    Joined joined(children.size() + 1);
    for (const auto& [a, b] : web.joins) {
        joined.join(static_cast<std::size_t>(a), b < 0 ? outside : static_cast<std::size_t>(b));
    }
    std::ptrdiff_t first = -1;
    for (std::size_t i = 0; i < children.size(); ++i) {
        const bool served = network && isEndpoint(component, children[i]);
        const bool hub = !web.explicitly && children[i].kind == Switch;
        if (!served && !hub) continue;
        if (first >= 0) joined.join(static_cast<std::size_t>(first), i);
        first = static_cast<std::ptrdiff_t>(i);
    }
    std::vector<std::vector<int>> found;
    std::unordered_map<std::size_t, std::size_t> groupOf;
    for (std::size_t i = 0; i < children.size(); ++i) {
        const ComponentKind kind = children[i].kind;
        if (kind > Array && kind != Switch && !(kind == Dram && linked_.count(&children[i]))) continue;
        const auto [group, isNew] = groupOf.try_emplace(joined.find(i), found.size());
        if (isNew) found.emplace_back();
        found[group->second].push_back(static_cast<int>(i));
    }
    const auto largest =
        std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (largest != found.end()) std::rotate(found.begin(), largest, largest + 1);
    return found;
}

void NetworkChecker::checkReach(const Component& component, const CheckPlace& text, const Web& web) {
    const auto& children = component.children;
    for (const Component& child : children) {
        if (child.kind != Dram || !web.explicitly || linked_.count(&child)) continue;
        warn("hardware.unlinked-memory",
             fmt::format("no link reaches `{}`, though other parts beside it are linked", nameOf(child)),
             "link it to the part that it serves", text + "/" + std::string(nameOf(child)));
    }
    const std::vector<std::vector<int>> joined = groups(component, web);
    if (joined.size() < 2) return;
    std::vector<int> left;
    for (std::size_t i = 1; i < joined.size(); ++i) left.insert(left.end(), joined[i].begin(), joined[i].end());
    std::sort(left.begin(), left.end());
    std::vector<std::string> names;
    for (const int i : left) names.emplace_back(nameOf(children[static_cast<std::size_t>(i)]));
    const std::string place = text + "/" + names.front();
    const std::size_t number = names.size();
    if (number > 4) names.resize(3);
    const std::string listed =
        number > 4 ? fmt::format("{} and {} more", quotedList(names, "and"), number - 3) : quotedList(names, "and");
    warn("hardware.disconnected",
         fmt::format("the links of `{}` do not reach {} of its {} parts: {}", nameOf(component), number,
                     number + joined.front().size(), listed),
         "link them to the others, or remove the links if all are joined anyway", place);
}

void NetworkChecker::checkTopology(const ComponentPath& path) {
    const auto spec = topologySpec(root_, path);
    if (spec) return;
    Diagnostic wrong = spec.error();
    // Something is still to be drawn or said; nothing contradicts itself.
    if (wrong.code == "hardware.topology-empty" || wrong.code == "hardware.missing-attribute") {
        wrong.severity = Severity::Warning;
    }
    out_.push_back(std::move(wrong));
}

void NetworkChecker::visit(const Component& component, ComponentPath& path, const CheckPlace& text,
                           const Component* parent) {
    if (component.kind == Topology && parent && parent->kind != Topology) checkTopology(path);
    if (component.kind == Switch && parent) {
        const auto linked = switchLinks_.find(&component);
        checkSwitch(component, *parent, text, linked == switchLinks_.end() ? 0 : linked->second);
    }
    static const Web none;
    const auto web = webs_.find(&component);
    if (component.kind != Topology) checkReach(component, text, web == webs_.end() ? none : web->second);
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        const Component& child = component.children[i];
        path.push_back(static_cast<int>(i));
        visit(child, path, {&text, &child}, &component);
        path.pop_back();
    }
}

}  // namespace

void checkNetworks(const Component& root, Diagnostics& out) {
    NetworkChecker(root, out).run();
}

std::vector<std::vector<int>> joinedParts(const Component& root, const ComponentPath& parent) {
    Diagnostics none;
    return NetworkChecker(root, none).groupsIn(parent);
}

}  // namespace orrery
