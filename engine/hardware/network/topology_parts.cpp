#include "hardware/network/links.h"
#include "hardware/network/topology.h"
#include "hardware/network/topology_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {
namespace {

using enum ComponentKind;

constexpr std::int64_t mostParts = 4096;

class Writer {
public:
    Writer(Hardware design, ComponentPath topology)
        : design_(std::move(design)), topology_(std::move(topology)), parent_(topology_.begin(), topology_.end() - 1) {}
    Expected<Hardware> run();

private:
    std::string freeName(std::string_view wanted) {
        std::string name(wanted);
        for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}-{}", wanted, i);
        return name;
    }
    const Component& parent() const { return *componentAt(design_.root, parent_); }
    void nameCopies();
    void multiplyLinks();
    std::string rewritten(const std::string& text, const ComponentPath& linkParent, int sibling,
                          std::size_t copy) const;
    const Attribute* attributeOf(std::size_t dimension, std::string_view name) const;
    void addNetwork(const TopologySpec& spec, const ExpandedNetwork& network, std::vector<Component>& out);

    Hardware design_;
    ComponentPath topology_, parent_;
    std::vector<ComponentPath> shapes_;
    std::set<std::string> taken_;
    std::map<int, std::vector<std::string>> copies_;  // by index of the sibling: names of its copies
    std::vector<std::string> endpoints_;              // names in the order of the network's vertices
};

void Writer::nameCopies() {
    for (const Component& child : parent().children) taken_.insert(std::string(nameOf(child)));
    for (std::size_t i = 0; i < parent().children.size(); ++i) {
        const Component& child = parent().children[i];
        if (!isEndpoint(parent(), child)) continue;
        const std::int64_t copies = instancesIn(parent(), child);
        auto& names = copies_[static_cast<int>(i)];
        if (copies == 1) {
            names.emplace_back(nameOf(child));
        } else {
            for (std::int64_t c = 0; c < copies; ++c) names.push_back(freeName(fmt::format("{}{}", nameOf(child), c)));
        }
        endpoints_.insert(endpoints_.end(), names.begin(), names.end());
    }
}

// The end's name of the sibling becomes that of its copy.
std::string Writer::rewritten(const std::string& text, const ComponentPath& linkParent, int sibling,
                              std::size_t copy) const {
    std::size_t from = 0;
    for (std::size_t skip = parent_.size() - linkParent.size(); skip > 0; --skip) from = text.find('/', from) + 1;
    const auto to = text.find('/', from);
    const auto& names = copies_.at(sibling);
    return text.substr(0, from) + names[copy % names.size()] + (to == std::string::npos ? "" : text.substr(to));
}

// A link that ended at a sibling with copies becomes one link for each copy. Back to front, so that the places of
// links not yet treated stay as they are.
void Writer::multiplyLinks() {
    auto links = linkEnds(design_.root);
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
        const ComponentPath at(link->link.begin(), link->link.end() - 1);
        const auto sibling = [&](const std::optional<ComponentPath>& end) {
            if (!end || end->size() <= parent_.size() || at.size() > parent_.size()) return -1;
            if (!std::equal(parent_.begin(), parent_.end(), end->begin())) return -1;
            const auto found = copies_.find((*end)[parent_.size()]);
            return found != copies_.end() && found->second.size() > 1 ? found->first : -1;
        };
        const int from = sibling(link->from), to = sibling(link->to);
        if (from < 0 && to < 0) continue;
        const std::size_t number = std::max(from < 0 ? 1 : copies_[from].size(), to < 0 ? 1 : copies_[to].size());
        Component& holder = *componentAt(design_.root, at);
        const Component old = holder.children[static_cast<std::size_t>(link->link.back())];
        std::set<std::string> used;
        for (const Component& child : holder.children) used.insert(std::string(nameOf(child)));
        std::vector<Component> made;
        for (std::size_t c = 0; c < number; ++c) {
            Component one = old;
            one.name = fmt::format("{}{}", nameOf(old), c);
            while (!used.insert(one.name).second || (at == parent_ && !taken_.insert(one.name).second))
                one.name += "-2";
            for (const auto& [which, index] : {std::pair{"from", from}, {"to", to}}) {
                if (index < 0) continue;
                auto& text = std::get<std::string>(one.find(which)->value);
                text = rewritten(text, at, index, c);
            }
            made.push_back(std::move(one));
        }
        // Only the first stands where the link stood; the others at the end, so that paths to siblings hold.
        holder.children[static_cast<std::size_t>(link->link.back())] = std::move(made.front());
        for (std::size_t c = 1; c < made.size(); ++c) holder.children.push_back(std::move(made[c]));
    }
}

const Attribute* Writer::attributeOf(std::size_t dimension, std::string_view name) const {
    ComponentPath path = shapes_[dimension];
    for (;;) {
        if (const Attribute* found = componentAt(design_.root, path)->find(name)) return found;
        if (path.size() <= topology_.size()) return nullptr;
        path.pop_back();
    }
}

void Writer::addNetwork(const TopologySpec& spec, const ExpandedNetwork& network, std::vector<Component>& out) {
    const std::string base(nameOf(*componentAt(design_.root, topology_)));
    std::vector<std::int64_t> degree(network.vertices.size());
    for (const auto& edge : network.edges) {
        degree[static_cast<std::size_t>(edge.a)] += edge.parallel;
        degree[static_cast<std::size_t>(edge.b)] += edge.parallel;
    }
    std::vector<std::string> names = endpoints_;
    for (std::size_t v = names.size(); v < network.vertices.size(); ++v) {
        const auto d = static_cast<std::size_t>(network.vertices[v].dimension);
        Component made{Switch, freeName(fmt::format("{}-s{}", base, v - endpoints_.size()))};
        const std::int64_t ports = spec.dimensions[d].radix > 0 ? spec.dimensions[d].radix : degree[v];
        made.attributes.push_back({"ports", Measure{static_cast<double>(ports), false, fmt::to_string(ports)}, {}, {}});
        if (const Attribute* rate = attributeOf(d, "bandwidth")) made.attributes.push_back(*rate);
        names.push_back(made.name);
        out.push_back(std::move(made));
    }
    for (const auto& edge : network.edges) {
        const std::string& a = names[static_cast<std::size_t>(edge.a)];
        const std::string& b = names[static_cast<std::size_t>(edge.b)];
        Component made{Link, freeName(a + "-" + b), edge.parallel};
        made.attributes = {{"from", a, {}, {}}, {"to", b, {}, {}}};
        for (const std::string_view copied : {"bandwidth", "latency", "energy"}) {
            const Attribute* found = attributeOf(static_cast<std::size_t>(edge.dimension), copied);
            if (found) made.attributes.push_back(*found);
        }
        out.push_back(std::move(made));
    }
}

Expected<Hardware> Writer::run() {
    const auto spec = topologySpec(design_.root, topology_);
    if (!spec) return Unexpected(spec.error());
    const std::int64_t before = static_cast<std::int64_t>(parent().children.size());
    const auto network = expandTopology(*spec, mostParts - std::min(before, mostParts));
    if (!network) return Unexpected(network.error());
    shapes_ = topologyShapes(design_.root, topology_);
    nameCopies();
    multiplyLinks();
    std::vector<Component> added;
    addNetwork(*spec, *network, added);

    Component& holder = *componentAt(design_.root, parent_);
    std::vector<Component> children;
    for (std::size_t i = 0; i < holder.children.size(); ++i) {
        Component& child = holder.children[i];
        const auto copies = copies_.find(static_cast<int>(i));
        if (static_cast<int>(i) == topology_.back()) {
            for (Component& one : child.children) {  // links and switches kept inside the object stay
                if (one.kind != Topology) children.push_back(std::move(one));
            }
            std::move(added.begin(), added.end(), std::back_inserter(children));
        } else if (copies != copies_.end() && copies->second.size() > 1) {
            child.count = 1;
            child.mesh.clear();
            for (const std::string& name : copies->second) {
                child.name = name;
                children.push_back(child);
                child.comment.clear();
            }
        } else {
            children.push_back(std::move(child));
        }
    }
    holder.children = std::move(children);
    return std::move(design_);
}

}  // namespace

Expected<Hardware> replaceByParts(Hardware design, const ComponentPath& topology) {
    ComponentPath outer = outermostTopology(design.root, topology);
    if (outer.empty())
        return fail("hardware.topology-empty", "there is no topology here", "a component of kind `topology`");
    return Writer(std::move(design), std::move(outer)).run();
}

}  // namespace orrery
