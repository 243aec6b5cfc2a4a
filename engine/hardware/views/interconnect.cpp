#include "hardware/views/interconnect.h"

#include "base/unit.h"
#include "hardware/network/topology.h"
#include "hardware/network/topology_place.h"
#include "hardware/views/flow.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::detail {
namespace {

constexpr std::size_t mostVertices = 1024;
constexpr std::size_t mostSteps = 200000;  // sources × edges: a millisecond

const std::string* endOf(const Component& link, std::string_view end) {
    const Attribute* found = link.find(end);
    const auto* text = found ? std::get_if<std::string>(&found->value) : nullptr;
    return text && !text->empty() ? text : nullptr;
}

// Cores and arrays in one of it, and units outside of these.
double workersIn(const Component& component) {
    const ComponentKind kind = component.kind;
    if (kind == ComponentKind::Core || kind == ComponentKind::Array || computes(kind)) return 1;
    double sum = 0;
    for (const Component& child : component.children) {
        const auto copies = child.kind == ComponentKind::Array ? child.count : instancesIn(component, child);
        sum += static_cast<double>(copies) * workersIn(child);
    }
    return sum;
}

double dramBytesIn(const Component& component) {
    double sum = 0;
    if (component.kind == ComponentKind::Dram) {
        const Attribute* capacity = component.find("capacity");
        const auto* bytes = capacity ? std::get_if<Measure>(&capacity->value) : nullptr;
        sum = bytes ? bytes->si : 1;
    }
    for (const Component& child : component.children) {
        sum += static_cast<double>(instancesIn(component, child)) * dramBytesIn(child);
    }
    return sum;
}

/// The network among the children of one component of the device.
class Network {
public:
    Network(DeviceParts& parts, const Part& holder) : parts_(parts), holder_(holder), parent_(*holder.component) {
        for (const Component& child : parent_.children) {
            first_.push_back(vertices_);
            const bool wire = child.kind == ComponentKind::Link || child.kind == ComponentKind::Topology;
            const bool array = child.kind == ComponentKind::Array;
            copies_.push_back(wire ? 0 : array ? child.count : instancesIn(parent_, child));
            vertices_ += static_cast<std::size_t>(std::max<std::int64_t>(copies_.back(), 0));
        }
    }

    /// More parts than are worth routing on every edit: their network is not read.
    bool fits() const { return vertices_ <= mostVertices; }

    void addLinks() {
        const ComponentPath& inside = holder_.members.front().place;
        for (const Part& part : parts_.inside()) {
            if (part.component->kind != ComponentKind::Link || parts_.parentOf(part) != &holder_) continue;
            if (!staysInside(parts_, part)) continue;
            for (const Part::Member& link : part.members) {
                if (std::equal(inside.begin(), inside.end(), link.place.begin())) addLink(part, link);
            }
        }
    }
    void addTopologies(const DeviceRef& ref) {
        for (const Part& part : parts_.inside()) {
            if (part.component->kind == ComponentKind::Topology && parts_.parentOf(part) == &holder_) {
                addTopology(part, ref);
            }
        }
    }

    /// Share of all traffic that is asked for in one of the holder; `workers` of the whole device.
    std::optional<Interconnect> price(double workers) {
        if (network_.edges.empty()) return std::nullopt;
        const double here = workersIn(parent_);
        if (here <= 0 || workers <= 0) return std::nullopt;
        weigh(here);
        const auto sources =
            static_cast<std::size_t>(std::ranges::count_if(network_.sends, [](double s) { return s > 0; }));
        if (sources * network_.edges.size() > mostSteps) return std::nullopt;
        const Flow flow = flowOf(network_);
        if (flow.crossing <= 0) return std::nullopt;
        const auto label = labels_[static_cast<std::size_t>(std::max(flow.fullEdge, 0))];
        const Part& wire = parts_.at(label.part);
        Interconnect found;
        found.name = std::string(nameOf(*wire.members[label.member].component));
        found.place = wire.members[label.member].place;
        found.path = wire.path;
        found.bandwidth = BytesPerSecond(flow.rate * workers / here);
        found.crossing = flow.crossing;
        found.latency = Seconds(2 * flow.latency);
        found.energy = JoulesPerByte(flow.energy);
        return found;
    }

private:
    struct Label {
        int part;
        std::size_t member;
    };

    void addEdge(int a, int b, double rate, const Part& wire, std::size_t member) {
        FlowEdge edge{a, b, rate, 0, parts_.measureOr(wire, "energy", 0)};
        if (const Measure* latency = parts_.measure(wire, "latency"); latency && !latency->perCycle)
            edge.latency = latency->si;
        network_.edges.push_back(edge);
        labels_.push_back({parts_.indexOf(wire), member});
    }
    // 0 where none is given, or per cycle without a clock: no limit.
    double rateOf(const Part& wire) {
        const Measure* bandwidth = parts_.measure(wire, "bandwidth");
        if (!bandwidth) return 0;
        const auto rate = parts_.perSecond(wire, "bandwidth", *bandwidth);
        return rate ? *rate : 0;
    }
    int childNamed(std::string_view names) const {
        const std::string_view name = names.substr(0, names.find('/'));
        for (std::size_t i = 0; i < parent_.children.size(); ++i) {
            if (copies_[i] > 0 && nameOf(parent_.children[i]) == name) return static_cast<int>(i);
        }
        return -1;
    }
    // One link for each copy of its ends, as topologies are written out.
    void addLink(const Part& part, const Part::Member& link) {
        const int from = childNamed(*endOf(*link.component, "from")), to = childNamed(*endOf(*link.component, "to"));
        if (from < 0 || to < 0 || from == to) return;
        const double rate = rateOf(part) * static_cast<double>(link.component->instances());
        const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
        const std::int64_t wires = std::max(copies_[f], copies_[t]);
        for (std::int64_t c = 0; c < wires; ++c) {
            addEdge(static_cast<int>(first_[f]) + static_cast<int>(c % copies_[f]),
                    static_cast<int>(first_[t]) + static_cast<int>(c % copies_[t]), rate, part,
                    static_cast<std::size_t>(&link - part.members.data()));
        }
    }
    void addTopology(const Part& part, const DeviceRef& ref) {
        const auto spec = topologySpec(ref.design->root, part.members.front().place);
        if (!spec) return;
        std::vector<int> ends;
        for (std::size_t i = 0; i < parent_.children.size(); ++i) {
            if (copies_[i] <= 0 || !isEndpoint(parent_, parent_.children[i])) continue;
            for (std::int64_t c = 0; c < copies_[i]; ++c)
                ends.push_back(static_cast<int>(first_[i]) + static_cast<int>(c));
        }
        if (spec->endpoints() != static_cast<std::int64_t>(ends.size()) || ends.size() > mostVertices) return;
        const auto network = expandTopology(*spec, static_cast<std::int64_t>(16 * mostVertices));
        if (!network) return;
        for (std::size_t v = ends.size(); v < network->vertices.size(); ++v)
            ends.push_back(static_cast<int>(vertices_++));
        for (const Attribute& each : part.component->attributes) parts_.find(part, each.name);
        for (const Part& inner : parts_.inside()) {
            if (!parts_.contains(part, inner)) continue;
            for (const Attribute& each : inner.component->attributes) parts_.find(inner, each.name);
        }
        for (const auto& edge : network->edges) {
            const auto& dimension = spec->dimensions[static_cast<std::size_t>(edge.dimension)];
            addEdge(ends[static_cast<std::size_t>(edge.a)], ends[static_cast<std::size_t>(edge.b)],
                    dimension.bandwidth.value * edge.parallel, part, 0);
            network_.edges.back().latency = dimension.latency.value;
        }
    }
    // Memory on the network sends what lies in it; memory beside it, or outside, is reached by all that compute alike.
    void weigh(double workers) {
        network_.sends.assign(vertices_, 0);
        network_.takes.assign(vertices_, 0);
        std::vector<bool> joined(vertices_);
        for (const FlowEdge& edge : network_.edges) {
            joined[static_cast<std::size_t>(edge.a)] = joined[static_cast<std::size_t>(edge.b)] = true;
        }
        const double bytes = dramBytesIn(parent_);
        double placed = 0;
        for (std::size_t i = 0; i < parent_.children.size(); ++i) {
            const double own = bytes > 0 ? dramBytesIn(parent_.children[i]) / bytes : 0;
            const double work = workersIn(parent_.children[i]) / workers;
            for (std::size_t v = first_[i]; v < first_[i] + static_cast<std::size_t>(copies_[i]); ++v) {
                network_.takes[v] = work;
                if (!joined[v] && work <= 0) continue;
                network_.sends[v] = own;
                placed += own;
            }
        }
        for (std::size_t v = 0; v < vertices_; ++v) network_.sends[v] += (1 - placed) * network_.takes[v];
    }

    DeviceParts& parts_;
    const Part& holder_;
    const Component& parent_;
    std::vector<std::size_t> first_;    // vertex of the first copy of each child
    std::vector<std::int64_t> copies_;  // 0: no vertex
    std::size_t vertices_ = 0;
    FlowNetwork network_;
    std::vector<Label> labels_;  // of the edges
};

bool holdsWires(const Component& component) {
    return std::ranges::any_of(component.children, [](const Component& child) {
        if (child.kind == ComponentKind::Topology) return true;
        return child.kind == ComponentKind::Link && endOf(child, "from") && endOf(child, "to");
    });
}

}  // namespace

bool staysInside(DeviceParts& parts, const Part& link) {
    const bool inside = endOf(*link.component, "from") && endOf(*link.component, "to");
    if (inside) {
        parts.find(link, "from");
        parts.find(link, "to");
    }
    return inside;
}

std::optional<Interconnect> interconnectOf(DeviceParts& parts, const DeviceRef& ref) {
    std::optional<Interconnect> tightest;
    const double workers = workersIn(*parts.device().component);
    for (const Part& holder : parts.inside()) {
        if (!holdsWires(*holder.component)) continue;
        Network network(parts, holder);
        if (!network.fits()) continue;
        network.addLinks();
        network.addTopologies(ref);
        auto found = network.price(workers);
        if (!found) continue;
        const auto limit = [](const Interconnect& each) {
            return each.bandwidth.value > 0 ? each.bandwidth.value : 1e300;
        };
        if (!tightest || limit(*found) < limit(*tightest)) {
            if (tightest) found->latency += tightest->latency, found->energy += tightest->energy;
            tightest = std::move(found);
        } else {
            tightest->latency += found->latency;
            tightest->energy += found->energy;
        }
    }
    return tightest;
}

namespace {

std::string linkAfterName(const Interconnect& way) {
    return " over " + way.name;
}

}  // namespace

std::string ownName(const DeviceView& view) {
    const MemoryLevel& main = view.main();
    if (!view.interconnect || main.bandwidth != view.interconnect->bandwidth) return main.name;
    const std::string added = linkAfterName(*view.interconnect);
    return main.name.ends_with(added) ? main.name.substr(0, main.name.size() - added.size()) : main.name;
}

std::string pagesInTurn(const Interconnect& way, const std::string& memory) {
    return fmt::format(
        "{} of the bytes of `{}` cross from the part where they lie to another, as they are spread evenly",
        formatMeasure(way.crossing, Dimension::Fraction), memory);
}

void boundMainMemory(DeviceView& view) {
    if (!view.interconnect) return;
    const Interconnect& way = *view.interconnect;
    MemoryLevel& main = view.levels.front();
    if (main.latency.value > 0) main.latency += way.latency;
    const bool limits = way.bandwidth.value > 0 && way.bandwidth < main.bandwidth;
    view.assumptions.push_back(fmt::format(
        "{} (pages interleaved, as in MCM-GPU, Arunkumar et al., ISCA 2017): {}.", pagesInTurn(way, main.name),
        limits ? fmt::format("`{}` lets {} of {} pass", way.name, format(way.bandwidth), format(main.bandwidth))
               : fmt::format("`{}` does not limit them", way.name)));
    if (!limits) return;
    main.bandwidth = way.bandwidth;
    main.name += linkAfterName(way);
}

}  // namespace orrery::detail
