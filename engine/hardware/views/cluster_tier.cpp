#include "hardware/views/cluster_tier.h"

#include "hardware/network/link_graph.h"
#include "hardware/network/links.h"
#include "hardware/network/topology_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery::detail {

namespace {

// All pairs of ways are walked: beyond this it would be felt while drawing.
constexpr std::int64_t most_graph_endpoints = 256;

ComponentPath childPath(ComponentPath path, std::size_t index) {
    path.push_back(static_cast<int>(index));
    return path;
}

std::vector<ComponentPath> childrenOfKind(const Component& root, const ComponentPath& parent, ComponentKind kind) {
    std::vector<ComponentPath> out;
    const Component& component = *componentAt(root, parent);
    for (std::size_t i = 0; i < component.children.size(); ++i)
        if (component.children[i].kind == kind) out.push_back(childPath(parent, i));
    return out;
}

const Measure* measureAt(const Component& root, const ComponentPath& path, std::string_view attribute) {
    const Attribute* found = componentAt(root, path)->find(attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}

// A value per second or in seconds, with the clock of the component or of what stands around it.
double valueAt(const Component& root, const ComponentPath& path, std::string_view attribute, bool rate) {
    const Measure* found = measureAt(root, path, attribute);
    if (!found) return 0;
    if (!found->perCycle) return found->si;
    for (ComponentPath at = path;; at.pop_back()) {
        if (const Measure* clock = measureAt(root, at, "clock"); clock && clock->si > 0)
            return rate ? found->si * clock->si : found->si / clock->si;
        if (at.empty()) return 0;
    }
}

double energyOf(const Component& root, const ComponentPath& path) {
    const Measure* found = measureAt(root, path, "energy");
    return found ? found->si : 0;
}

// Mean over these parts; 0 where one of them states none.
double meanEnergy(const Component& root, const std::vector<ComponentPath>& parts) {
    double sum = 0;
    for (const ComponentPath& part : parts) {
        const double one = energyOf(root, part);
        if (one <= 0) return 0;
        sum += one;
    }
    return parts.empty() ? 0 : sum / static_cast<double>(parts.size());
}

// Of one link of a shape: its own, or that of the topology around it.
double energyOfShape(const Component& root, const ComponentPath& topology, ComponentPath shape) {
    for (;; shape.pop_back()) {
        if (const double one = energyOf(root, shape); one > 0) return one;
        if (shape.size() <= topology.size()) return 0;
    }
}

std::vector<ComponentPath> topologyParts(const Component& root, const ComponentPath& topology) {
    std::vector<ComponentPath> parts{topology};
    for (ComponentPath& shape : topologyShapes(root, topology))
        if (shape != topology) parts.push_back(std::move(shape));
    return parts;
}

std::int64_t sizeOf(const Component& root, const Endpoints& ends, const ComponentPath& child) {
    return instancesIn(*componentAt(root, ends.parent), *componentAt(root, child));
}

bool leavesNodes(const Endpoints& ends, TopologyShape shape) {
    using enum TopologyShape;
    return ends.nodes || shape == FatTree || shape == Dragonfly || shape == RailOptimised;
}

// Of one dimension: what each endpoint sends to its neighbours, and to all, when all do.
Expected<void> setRates(const TopologyDimension& dimension, double linkEnergy, NetworkTier& tier) {
    using enum TopologyShape;
    const double link = dimension.bandwidth.value;
    const auto n = static_cast<double>(tier.size);
    const TopologySpec one{{}, {dimension}};
    const auto facts = topologyFacts(one);
    if (!facts) return Unexpected(facts.error());
    const auto sides = dimension.sides.empty() ? std::vector<std::int64_t>{dimension.size} : dimension.sides;
    double links = 1, hops = 2;
    switch (dimension.shape) {
        case Line:
        case Mesh:
        case Ring:
        case Torus:
            links = 0;
            for (const std::int64_t side : sides) {
                const bool closed = dimension.shape == Ring || dimension.shape == Torus;
                links += side < 2 ? 0 : closed && side > 2 ? 2 : 1;
            }
            hops = 1;
            break;
        case FullyConnected:
            links = n - 1;
            hops = 1;
            break;
        case Bus:
            links = 1 / n;  // one transfer at a time
            break;
        case NvSwitch:
            links = static_cast<double>(dimension.planes);
            break;
        case FatTree:
        case Dragonfly:
        case RailOptimised:
            hops = facts->meanHops;
            break;
        case Star:
        case Switch:
            break;
    }
    tier.bandwidth = BytesPerSecond(link * links);
    tier.latency = dimension.latency * hops;
    tier.energy = JoulesPerByte(linkEnergy * hops);
    // Half of the endpoints send what goes to the other half through the narrowest cut.
    const auto size = static_cast<double>(facts->endpoints), half = static_cast<double>(facts->endpoints / 2);
    const double cut = half > 0 ? facts->bisection.value * (size - 1) / (half * (size - half)) : 0;
    tier.allToAll = min(tier.bandwidth, BytesPerSecond(cut));
    return {};
}

Expected<std::vector<NetworkTier>> ofTopology(const Component& root, const Endpoints& ends, const ComponentPath& path,
                                              Diagnostics& warnings) {
    auto spec = topologySpec(root, path);
    if (!spec) return Unexpected(std::move(spec.error()));
    std::vector<NetworkTier> tiers;
    std::int64_t inner = ends.inner;
    const bool whole = spec->endpoints() == ends.count;
    const std::vector<ComponentPath> shapes = topologyShapes(root, path);
    for (std::size_t d = 0; d < spec->dimensions.size(); ++d) {
        const TopologyDimension& dimension = spec->dimensions[d];
        if (dimension.size < 2) continue;
        NetworkTier tier;
        tier.name = spec->name;
        tier.source = TierSource::Topology;
        tier.shape = dimension.shape;
        tier.size = dimension.size;
        tier.inner = inner;
        tier.sides = dimension.sides;
        tier.betweenNodes = leavesNodes(ends, dimension.shape);
        tier.path = pathText(root, path);
        tier.read = readOf(root, topologyParts(root, path));
        const double energy = energyOfShape(root, path, d < shapes.size() ? shapes[d] : path);
        if (auto set = setRates(dimension, energy, tier); !set) return Unexpected(std::move(set.error()));
        // In a stack each place of the inner dimensions has a network of its own in this one.
        const auto places = static_cast<double>(inner / ends.inner);
        tier.bandwidth *= places;
        tier.allToAll *= places;
        tier.stated = dimension;
        tier.stated->bandwidth *= places;
        inner *= tier.size;
        tiers.push_back(std::move(tier));
    }
    if (whole || tiers.empty()) return tiers;
    // Others are on it too: these are some of its endpoints, of which only the narrowest dimension is sure.
    const auto narrowest = std::min_element(tiers.begin(), tiers.end(), [](const NetworkTier& a, const NetworkTier& b) {
        return a.bandwidth < b.bandwidth;
    });
    NetworkTier tier = *narrowest;
    if (tiers.size() > 1 || !tier.sides.empty()) {
        warnings.push_back(warning("cluster.partly",
                                   fmt::format("{} of the {} endpoints of `{}` are devices of one kind; where they "
                                               "stand in it is not known",
                                               ends.count, spec->endpoints(), spec->name),
                                   "give each kind of device a topology of its own", {{}, 0, 0, pathText(root, path)}));
        tier.irregular = true;
    }
    tier.size = ends.count;
    tier.inner = ends.inner;
    tier.sides.clear();
    tier.stated.reset();
    return std::vector<NetworkTier>{tier};
}

// Vertices of a drawn graph: copies of the endpoints first, then whatever else links end at.
class GraphReader {
public:
    GraphReader(const Component& root, const Endpoints& ends) : root_(root), ends_(ends) {
        for (const ComponentPath& child : ends.children) {
            first_.push_back(graph.endpoints);
            graph.endpoints += static_cast<std::int32_t>(sizeOf(root, ends, child));
        }
        graph.vertices = graph.endpoints;
    }

    void read(const std::vector<LinkEnds>& links, bool direct) {
        for (const LinkEnds& link : links) {
            if (!link.from || !link.to || !standsIn(link.link, ends_.parent)) continue;
            if (!standsIn(*link.from, ends_.parent) || !standsIn(*link.to, ends_.parent)) continue;
            const int a = endpointOf(*link.from), b = endpointOf(*link.to);
            if (a >= 0 && a == b) continue;  // inside one endpoint
            if (direct && (a < 0 || b < 0)) continue;
            double rate = linkRate(root_, link.link);
            if (rate <= 0) continue;
            for (const ComponentPath& end : {*link.from, *link.to}) {  // each link takes a port of a switch
                if (componentAt(root_, end)->kind != ComponentKind::Switch) continue;
                if (const double port = linkRate(root_, end); port > 0) rate = std::min(rate, port);
            }
            add(link, a, b, rate * static_cast<double>(componentAt(root_, link.link)->instances()));
            parts.push_back(link.link);
            latency = std::max(latency, latencyOf(root_, link.link));
        }
    }

    LinkGraph graph;
    std::vector<std::string> paths;  ///< by edge
    std::vector<ComponentPath> parts;
    std::vector<ComponentPath> switches;
    double latency = 0;

private:
    int endpointOf(const ComponentPath& end) const {
        for (std::size_t i = 0; i < ends_.children.size(); ++i)
            if (standsIn(end, ends_.children[i])) return static_cast<int>(i);
        return -1;
    }
    std::pair<std::int32_t, std::int64_t> vertices(const ComponentPath& end, int endpoint) {
        if (endpoint >= 0) {
            const auto i = static_cast<std::size_t>(endpoint);
            return {first_[i], sizeOf(root_, ends_, ends_.children[i])};
        }
        const auto [found, added] = others_.emplace(end, graph.vertices);
        if (added) {
            ++graph.vertices;
            if (componentAt(root_, end)->kind == ComponentKind::Switch) switches.push_back(end);
        }
        return {found->second, 1};
    }
    // Each copy of an end has the link.
    void add(const LinkEnds& link, int a, int b, double rate) {
        const auto [firstA, countA] = vertices(*link.from, a);
        const auto [firstB, countB] = vertices(*link.to, b);
        const std::string path = pathText(root_, link.link);
        const double slow = latencyOf(root_, link.link);
        for (std::int64_t i = 0; i < countA; ++i)
            for (std::int64_t j = 0; j < countB; ++j) {
                const auto va = firstA + static_cast<std::int32_t>(i), vb = firstB + static_cast<std::int32_t>(j);
                const auto key = std::minmax(va, vb);
                const auto [found, added] = edges_.emplace(key, graph.edges.size());
                if (added) {
                    graph.edges.push_back({va, vb, 0, 0});
                    paths.push_back(path);
                }
                LinkGraph::Edge& edge = graph.edges[found->second];
                edge.bandwidth += rate;
                edge.latency = std::max(edge.latency, slow);
            }
    }
    const Component& root_;
    const Endpoints& ends_;
    std::vector<std::int32_t> first_;
    std::map<ComponentPath, std::int32_t> others_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> edges_;
};

bool allHaveOwnLinks(const Component& root, const Endpoints& ends) {
    return std::all_of(ends.down.begin(), ends.down.end(), [&](const std::vector<ComponentPath>& down) {
        std::vector<ComponentPath> parts;
        return std::any_of(down.begin(), down.end(),
                           [&](const ComponentPath& part) { return ownLinks(root, part, 0, parts) > 0; });
    });
}

std::optional<NetworkTier> ofLinks(const Component& root, const Endpoints& ends, Diagnostics& warnings) {
    const std::vector<LinkEnds> links = linkEnds(root);
    if (ends.count > most_graph_endpoints) {
        const bool any = std::any_of(links.begin(), links.end(), [&](const LinkEnds& link) {
            return link.from && link.to && standsIn(*link.from, ends.parent) && standsIn(*link.to, ends.parent);
        });
        if (any) {
            warnings.push_back(warning("cluster.too-large",
                                       fmt::format("{} parts are joined link by link, and networks of more than {} are "
                                                   "not read so",
                                                   ends.count, most_graph_endpoints),
                                       "draw a topology in place of the links",
                                       {{}, 0, 0, pathText(root, ends.parent)}));
        }
        return std::nullopt;
    }
    // Direct links alone where they reach everybody: no collective takes the host's bus beside them.
    for (const bool direct : {true, false}) {
        GraphReader reader(root, ends);
        reader.read(links, direct);
        const GraphBandwidth found = graphBandwidth(reader.graph);
        if (!found.connected) continue;
        // Nor where devices have links of their own beside the links to their host.
        const auto others = reader.graph.vertices - reader.graph.endpoints;
        if (!direct && others > static_cast<std::int32_t>(reader.switches.size()) && allHaveOwnLinks(root, ends))
            continue;
        NetworkTier tier;
        tier.source = TierSource::Links;
        tier.shape = found.complete ? TopologyShape::FullyConnected : TopologyShape::Switch;
        const bool oneHub = !direct && reader.graph.vertices == reader.graph.endpoints + 1;
        tier.irregular = !found.complete && !oneHub;
        tier.size = ends.count;
        tier.inner = ends.inner;
        tier.bandwidth = BytesPerSecond(found.neighbours);
        tier.allToAll = BytesPerSecond(std::min(found.allToAll, found.neighbours));
        tier.latency = Seconds(reader.latency * static_cast<double>(found.hops));
        if (const double link = meanEnergy(root, reader.parts); link > 0)
            tier.energy = JoulesPerByte(link * static_cast<double>(found.hops) + meanEnergy(root, reader.switches));
        tier.betweenNodes = ends.nodes;
        const ComponentPath& named = reader.switches.empty() ? reader.parts.front() : reader.switches.front();
        tier.name = std::string(nameOf(*componentAt(root, named)));
        tier.path = pathText(root, named);
        reader.parts.insert(reader.parts.end(), reader.switches.begin(), reader.switches.end());
        tier.read = readOf(root, reader.parts);
        tier.links = std::make_shared<const NetworkTier::Drawn>(
            NetworkTier::Drawn{std::move(reader.graph), std::move(reader.paths)});
        return tier;
    }
    return std::nullopt;
}

/// `silent`: a topology that joins them and states no bandwidth; empty: none.
std::optional<NetworkTier> ofOwnLinks(const Component& root, const Endpoints& ends, const std::string& silent,
                                      Diagnostics& warnings) {
    const auto switches = childrenOfKind(root, ends.parent, ComponentKind::Switch);
    double port = 0;
    for (const ComponentPath& one : switches) port = std::max(port, linkRate(root, one));
    double least = 0, latency = 0;
    std::vector<ComponentPath> parts;
    for (const auto& down : ends.down) {
        double rate = 0;
        for (const ComponentPath& part : down) {
            const std::size_t before = parts.size();
            if (rate = ownLinks(root, part, port, parts); rate <= 0) continue;
            // A node's devices may each have links of their own; those that leave the outermost part count.
            for (std::size_t i = before; i < parts.size(); ++i) latency = std::max(latency, latencyOf(root, parts[i]));
            break;
        }
        if (rate <= 0) return std::nullopt;
        least = least > 0 ? std::min(least, rate) : rate;
    }
    if (parts.empty()) return std::nullopt;
    NetworkTier tier;
    tier.source = TierSource::OwnLinks;
    tier.size = ends.count;
    tier.inner = ends.inner;
    tier.name = std::string(nameOf(*componentAt(root, parts.front())));
    tier.bandwidth = tier.allToAll = BytesPerSecond(least);
    tier.latency = Seconds(2 * latency);
    if (const double link = meanEnergy(root, parts); link > 0)
        tier.energy = JoulesPerByte(2 * link + meanEnergy(root, switches));
    tier.betweenNodes = ends.nodes;
    tier.path = pathText(root, parts.front());
    parts.insert(parts.end(), switches.begin(), switches.end());
    tier.read = readOf(root, parts);
    if (!silent.empty()) {
        warnings.push_back(warning("cluster.no-bandwidth",
                                   fmt::format("`{}` states no bandwidth: the links `{}` are taken to meet in switches "
                                               "of full bandwidth",
                                               silent, tier.name),
                                   "add `bandwidth` of one link, one direction", {{}, 0, 0, silent + ".bandwidth"}));
    } else if (switches.empty()) {
        warnings.push_back(warning(
            "cluster.ends-not-drawn",
            fmt::format("the links `{}` end nowhere: they are taken to meet in switches of full bandwidth", tier.name),
            fmt::format("draw a switch or a topology in `{}`", nameOf(*componentAt(root, ends.parent))),
            {{}, 0, 0, tier.path}));
    }
    return tier;
}

}  // namespace

PartsRead readOf(const Component& root, const std::vector<ComponentPath>& parts) {
    // Everything that the reading of links, switches and topologies looks at.
    constexpr std::string_view names[] = {"bandwidth", "dims",   "from",  "globals", "groups",
                                          "latency",   "planes", "radix", "energy",  "oversubscription",
                                          "routers",   "shape",  "size",  "to",      "clock"};
    PartsRead out;
    for (const ComponentPath& path : parts) {
        PartsRead one;
        for (std::size_t depth = 0; depth < path.size(); ++depth)
            one.parts.push_back({ComponentPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)), {}});
        PartRead part{path, {}};
        for (const std::string_view name : names)
            if (componentAt(root, path)->find(name)) part.attributes.emplace_back(name);
        std::sort(part.attributes.begin(), part.attributes.end());
        one.parts.push_back(std::move(part));
        out.add(one);
    }
    return out;
}

bool standsIn(const ComponentPath& path, const ComponentPath& outer) {
    return outer.size() <= path.size() && std::equal(outer.begin(), outer.end(), path.begin());
}

double linkRate(const Component& root, const ComponentPath& path) {
    return valueAt(root, path, "bandwidth", true);
}
double latencyOf(const Component& root, const ComponentPath& path) {
    return valueAt(root, path, "latency", false);
}

double ownLinks(const Component& root, const ComponentPath& part, double port, std::vector<ComponentPath>& parts) {
    double sum = 0;
    for (const ComponentPath& link : childrenOfKind(root, part, ComponentKind::Link)) {
        const Component& component = *componentAt(root, link);
        if (component.find("from") && component.find("to")) continue;
        const double rate = linkRate(root, link);
        if (rate <= 0) continue;
        sum += (port > 0 ? std::min(port, rate) : rate) * static_cast<double>(component.instances());
        parts.push_back(link);
    }
    return sum;
}

Expected<std::vector<NetworkTier>> tiersAmong(const Component& root, const Endpoints& ends, Diagnostics& warnings) {
    std::optional<std::vector<NetworkTier>> best;
    std::string silent;
    for (const ComponentPath& path : childrenOfKind(root, ends.parent, ComponentKind::Topology)) {
        auto tiers = ofTopology(root, ends, path, warnings);
        if (!tiers) return Unexpected(std::move(tiers.error()));
        if (tiers->empty()) continue;
        const bool drawn = std::all_of(tiers->begin(), tiers->end(), [](const NetworkTier& t) { return t.drawn(); });
        if (!drawn) silent = tiers->front().path;
        if (drawn && (!best || best->back().bandwidth < tiers->back().bandwidth)) best = std::move(*tiers);
    }
    if (best) return *best;
    if (silent.empty()) {
        if (auto tier = ofLinks(root, ends, warnings)) return std::vector{std::move(*tier)};
    }
    if (auto tier = ofOwnLinks(root, ends, silent, warnings)) return std::vector{std::move(*tier)};
    NetworkTier tier;
    tier.size = ends.count;
    tier.inner = ends.inner;
    tier.betweenNodes = ends.nodes;
    tier.source = silent.empty() ? TierSource::NotDrawn : TierSource::Topology;
    tier.name = silent.empty() ? "not drawn" : silent.substr(silent.rfind('/') + 1);
    tier.path = silent.empty() ? pathText(root, ends.parent) : silent;
    const std::string_view inside = nameOf(*componentAt(root, ends.parent));
    warnings.push_back(
        silent.empty() ? warning("cluster.no-network",
                                 fmt::format("no network is drawn between the {} × `{}` in `{}`", ends.count,
                                             nameOf(*componentAt(root, ends.children.front())), inside),
                                 fmt::format("add a topology with a bandwidth to `{}`, or links to its parts", inside),
                                 {{}, 0, 0, tier.path})
                       : warning("cluster.no-bandwidth",
                                 fmt::format("`{}` joins {} endpoints and states no bandwidth", silent, ends.count),
                                 "add `bandwidth` of one link, one direction", {{}, 0, 0, silent + ".bandwidth"}));
    return std::vector{std::move(tier)};
}

}  // namespace orrery::detail
