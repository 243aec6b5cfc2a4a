#include "hardware/network/topology.h"

#include "hardware/network/topology_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace orrery {
namespace {

struct ShapeNames {
    std::string_view text;
    std::string_view label;
};
constexpr std::array<ShapeNames, topologyShapeCount> names{{{"line", "Line"},
                                                            {"ring", "Ring"},
                                                            {"mesh", "Mesh"},
                                                            {"torus", "Torus"},
                                                            {"fully-connected", "Fully connected"},
                                                            {"star", "Star"},
                                                            {"bus", "Bus"},
                                                            {"switch", "Switch"},
                                                            {"fat-tree", "Fat tree"},
                                                            {"dragonfly", "Dragonfly"},
                                                            {"rail-optimised", "Rail-optimised"},
                                                            {"nvswitch", "NVSwitch"}}};

}  // namespace

std::string_view toText(TopologyShape shape) {
    return names[static_cast<std::size_t>(shape)].text;
}
std::string_view label(TopologyShape shape) {
    return names[static_cast<std::size_t>(shape)].label;
}

std::int64_t TopologySpec::endpoints() const {
    std::int64_t product = 1;
    for (const TopologyDimension& dimension : dimensions) product *= dimension.size;
    return product;
}

std::string toText(const TopologySpec& spec) {
    std::string out;
    for (const TopologyDimension& dimension : spec.dimensions) {
        std::string one = fmt::format("{} {}", toText(dimension.shape), fmt::join(topology::sidesOf(dimension), " × "));
        if (spec.dimensions.size() > 1) one = "[" + one + "]";
        out += (out.empty() ? "" : " × ") + one;
    }
    return out;
}

namespace topology {

const Shape& shapeOf(TopologyShape shape) {
    switch (shape) {
        case TopologyShape::FullyConnected:
            return fullyShape;
        case TopologyShape::Star:
        case TopologyShape::Bus:
        case TopologyShape::Switch:
        case TopologyShape::NvSwitch:
            return switchShape;
        case TopologyShape::FatTree:
            return fatTreeShape;
        case TopologyShape::Dragonfly:
            return dragonflyShape;
        case TopologyShape::RailOptimised:
            return railShape;
        default:
            return gridShape;
    }
}

std::int32_t OneNetwork::addSwitch(int tier, double x, double y) {
    ExpandedNetwork::Vertex made;
    made.isSwitch = true;
    made.tier = static_cast<std::int16_t>(tier);
    made.x = static_cast<float>(x);
    made.y = static_cast<float>(y);
    vertices.push_back(made);
    return static_cast<std::int32_t>(vertices.size() - 1);
}
void OneNetwork::link(std::int64_t a, std::int64_t b, std::int64_t parallel) {
    edges.push_back(
        {static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), static_cast<std::int32_t>(parallel), 0});
}
void OneNetwork::place(std::int64_t vertex, double x, double y) {
    vertices[static_cast<std::size_t>(vertex)].x = static_cast<float>(x);
    vertices[static_cast<std::size_t>(vertex)].y = static_cast<float>(y);
}

}  // namespace topology

}  // namespace orrery
