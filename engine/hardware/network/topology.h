#pragma once

// Networks as objects. A Topology component connects its siblings (nodes, packages, dies, cores, arrays, not links,
// switches, topologies and memories), each counted with its copies. It has one shape, or a stack of them: children of
// kind Topology, the innermost first, `[switch 8] × [fat-tree 32]`. It is stored as its parameters; expandTopology()
// gives the real switches and links for drawing, counting and, later, simulating.

#include "base/quantity.h"
#include "hardware/component.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class TopologyShape : std::uint8_t {
    Line,
    Ring,
    Mesh,   ///< any number of dimensions
    Torus,  ///< any number of dimensions; a side of 2 has one link, not two
    FullyConnected,
    Star,  ///< Switch by another name in older files
    Bus,
    Switch,         ///< every endpoint on one switch
    FatTree,        ///< k-ary folded Clos of switches of one radix, with oversubscription at the leaves
    Dragonfly,      ///< groups of routers: p endpoints, a routers, h global links each (Kim et al., ISCA 2008)
    RailOptimised,  ///< endpoint i of every node on rail switch i, rails joined by spines
    NvSwitch,       ///< every endpoint on each of several switch planes
};
inline constexpr int topologyShapeCount = 12;
std::string_view toText(TopologyShape shape);  ///< as the attribute `shape` spells it: `fat-tree`
std::string_view label(TopologyShape shape);   ///< for people: `Fat tree`

/// One dimension of a network.
struct TopologyDimension {
    TopologyShape shape = TopologyShape::Switch;
    std::int64_t size = 0;            ///< endpoints that it joins
    std::vector<std::int64_t> sides;  ///< of a mesh or torus; product = size
    std::int64_t radix = 0;           ///< ports of a switch; 0 where the shape has none
    double oversubscription = 1;
    std::int64_t planes = 1;                            ///< NvSwitch: switches; rails: spines
    std::int64_t groups = 0, routers = 0, globals = 0;  ///< Dragonfly: g, a, h; endpoints per router follow
    BytesPerSecond bandwidth;                           ///< of one link, one direction; 0 where not given
    Seconds latency;                                    ///< of one link; 0 where not given
};

struct TopologySpec {
    std::string name;
    std::vector<TopologyDimension> dimensions;  ///< innermost first; never empty
    std::int64_t endpoints() const;             ///< product of the sizes
};
std::string toText(const TopologySpec& spec);  ///< `torus 4 × 4 × 4`; a stack: `[nvswitch 8] × [fat-tree 32]`

/// Reads a Topology component in its place. The size of a single shape that gives none is the number of its siblings'
/// instances; of a stack, one dimension may leave it open. Inside a stack: the dimensions of that component alone.
/// Bandwidth and latency hold for the topologies inside too. Fails naming the attribute that is missing or does not fit
/// (`dims` whose product is not the size, a fat tree whose radix is odd, a stack whose product is not the number of
/// siblings).
Expected<TopologySpec> topologySpec(const Component& root, const ComponentPath& topology);

/// The real network. Vertices 0 … endpoints-1 are the endpoints, in the order of the siblings and their copies.
struct ExpandedNetwork {
    struct Vertex {
        bool isSwitch = false;
        std::int16_t dimension = -1;  ///< of a switch
        std::int16_t tier = 0;        ///< of a switch: 0 next to the endpoints
        float x = 0, y = 0;  ///< a place to draw it at, in 0…1; endpoints of rings on a circle, tiers in rows
    };
    struct Edge {
        std::int32_t a = 0, b = 0;
        std::int32_t parallel = 1;  ///< links side by side
        std::int16_t dimension = 0;
    };
    std::int64_t endpoints = 0;
    std::vector<Vertex> vertices;
    std::vector<Edge> edges;
};
/// Refuses more than `most` vertices plus edges, saying how many it would have.
Expected<ExpandedNetwork> expandTopology(const TopologySpec& spec, std::int64_t most = 200000);

/// Facts for the inspector and the drawing, from closed forms where the shape has one; equal to what counting the
/// expanded network gives (tested so).
struct TopologyFacts {
    std::int64_t endpoints = 0, switches = 0, links = 0;
    /// Hops are links crossed, those of the endpoints too, by shortest ways; in a dragonfly by minimal routing, which
    /// crosses one global link at most.
    std::int64_t diameter = 0;  ///< between the farthest endpoints
    double meanHops = 0;        ///< over ordered pairs of different endpoints
    /// Fewest links that part one half of the endpoints from the other: across the longest side of a grid, between
    /// groups of a dragonfly, else the first half; of a stack, across its outermost dimension. A bus counts as one.
    std::int64_t bisectionLinks = 0;
    BytesPerSecond bisection;  ///< one direction; 0 where a bandwidth is not given
};
Expected<TopologyFacts> topologyFacts(const TopologySpec& spec);

/// The same network as parts: Switch and Link components to stand beside the siblings in place of the topology object,
/// the siblings' copies written out as single components (`gpu0` … `gpu7`). At most 4,096 new components.
Expected<Hardware> replaceByParts(Hardware design, const ComponentPath& topology);

}  // namespace orrery
