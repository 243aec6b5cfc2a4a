#pragma once

// What each family of shapes says about one dimension: whether its numbers fit, its facts in closed form, and its real
// switches and links. One small source for each family; topology_expand.cpp and topology_facts.cpp stack them.

#include "hardware/network/topology.h"

#include <optional>

namespace orrery::topology {

struct OneFacts {
    std::int64_t switches = 0, links = 0, diameter = 0;
    double hops = 0;  ///< mean over all ordered pairs, an endpoint with itself (0 hops) included
    std::int64_t bisection = 0;
};

/// One dimension by itself: vertices 0 … size-1 are endpoints.
struct OneNetwork {
    std::vector<ExpandedNetwork::Vertex> vertices;
    std::vector<ExpandedNetwork::Edge> edges;

    explicit OneNetwork(std::int64_t endpoints) : vertices(static_cast<std::size_t>(endpoints)) {}
    std::int32_t addSwitch(int tier, double x, double y);
    void link(std::int64_t a, std::int64_t b, std::int64_t parallel = 1);
    void place(std::int64_t vertex, double x, double y);
};

/// What is wrong with a dimension: the attribute it is about, and words. Nothing if it fits.
struct Misfit {
    std::string attribute, code, message, expected, hint;
};

struct Shape {
    std::optional<Misfit> (*misfit)(const TopologyDimension&);
    OneFacts (*facts)(const TopologyDimension&);
    void (*expand)(const TopologyDimension&, OneNetwork&);
};
/// By shape; the dimension given to facts and expand must have no misfit.
const Shape& shapeOf(TopologyShape shape);

extern const Shape gridShape;       ///< Line, Ring, Mesh, Torus; topology_grid.cpp
extern const Shape fullyShape;      ///< FullyConnected; topology_grid.cpp
extern const Shape switchShape;     ///< Star, Switch, Bus, NvSwitch; topology_switch.cpp
extern const Shape railShape;       ///< RailOptimised; topology_switch.cpp
extern const Shape fatTreeShape;    ///< topology_fat_tree.cpp
extern const Shape dragonflyShape;  ///< topology_dragonfly.cpp

/// Sides of a grid: those given, or one side as long as the size.
std::vector<std::int64_t> sidesOf(const TopologyDimension& dimension);

}  // namespace orrery::topology
