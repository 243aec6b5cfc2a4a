// Grids: lines, rings, meshes, tori of any number of dimensions, and the complete graph.

#include "hardware/network/topology_shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace orrery::topology {
namespace {

bool wraps(const TopologyDimension& dimension) {
    return dimension.shape == TopologyShape::Ring || dimension.shape == TopologyShape::Torus;
}

// Links of one line of a grid. A ring of two has one link, since two between the same pair would be drawn as one.
std::int64_t linksAlong(std::int64_t side, bool wrap) {
    return side - 1 + (wrap && side > 2 ? 1 : 0);
}
// Mean distance over all ordered pairs of one line, each with itself included.
double meanAlong(std::int64_t side, bool wrap) {
    const double s = static_cast<double>(side);
    if (!wrap) return (s * s - 1) / (3 * s);
    return side % 2 == 0 ? s / 4 : (s * s - 1) / (4 * s);
}

std::optional<Misfit> fits(const TopologyDimension&) {
    return std::nullopt;
}

OneFacts gridFacts(const TopologyDimension& dimension) {
    const bool wrap = wraps(dimension);
    OneFacts facts;
    std::int64_t longest = 1;
    for (const std::int64_t side : sidesOf(dimension)) {
        facts.links += dimension.size / side * linksAlong(side, wrap);
        facts.diameter += wrap ? side / 2 : side - 1;
        facts.hops += meanAlong(side, wrap);
        longest = std::max(longest, side);
    }
    if (longest > 1) facts.bisection = dimension.size / longest * (wrap && longest > 2 ? 2 : 1);
    return facts;
}

// Further dimensions than two are drawn as grids beside each other, each a little lower than the one before.
void placeGrid(const std::vector<std::int64_t>& sides, OneNetwork& network, std::int64_t size) {
    const std::int64_t width = sides[0];
    const std::int64_t height = sides.size() > 1 ? sides[1] : 1;
    const std::int64_t layers = size / (width * height);
    const double cell = 1.0 / static_cast<double>(layers);
    for (std::int64_t v = 0; v < size; ++v) {
        const std::int64_t layer = v / (width * height);
        const double x = (static_cast<double>(v % width) + 0.5) / static_cast<double>(width);
        const double y = (static_cast<double>(v / width % height) + 0.5) / static_cast<double>(height);
        const double drop = layers > 1 ? 0.1 * static_cast<double>(layer) / static_cast<double>(layers - 1) : 0;
        network.place(v, (static_cast<double>(layer) + 0.05 + 0.9 * x) * cell, layers > 1 ? 0.9 * y + drop : y);
    }
}

void placeCircle(OneNetwork& network, std::int64_t size) {
    for (std::int64_t v = 0; v < size; ++v) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(v) / static_cast<double>(size);
        network.place(v, 0.5 + 0.46 * std::sin(angle), 0.5 - 0.46 * std::cos(angle));
    }
}

void expandGrid(const TopologyDimension& dimension, OneNetwork& network) {
    const auto sides = sidesOf(dimension);
    const bool wrap = wraps(dimension);
    std::int64_t stride = 1;
    for (const std::int64_t side : sides) {
        for (std::int64_t v = 0; v < dimension.size; ++v) {
            const std::int64_t at = v / stride % side;
            if (at + 1 < side) {
                network.link(v, v + stride);
            } else if (wrap && side > 2) {
                network.link(v, v - (side - 1) * stride);
            }
        }
        stride *= side;
    }
    if (dimension.shape == TopologyShape::Ring) {
        placeCircle(network, dimension.size);
    } else {
        placeGrid(sides, network, dimension.size);
    }
}

OneFacts fullyFacts(const TopologyDimension& dimension) {
    const std::int64_t n = dimension.size;
    OneFacts facts;
    facts.links = n * (n - 1) / 2;
    facts.diameter = n > 1 ? 1 : 0;
    facts.hops = static_cast<double>(n - 1) / static_cast<double>(n);
    facts.bisection = (n / 2) * (n - n / 2);
    return facts;
}

void expandFully(const TopologyDimension& dimension, OneNetwork& network) {
    for (std::int64_t a = 0; a < dimension.size; ++a) {
        for (std::int64_t b = a + 1; b < dimension.size; ++b) network.link(a, b);
    }
    placeCircle(network, dimension.size);
}

}  // namespace

std::vector<std::int64_t> sidesOf(const TopologyDimension& dimension) {
    const bool grid = dimension.shape == TopologyShape::Mesh || dimension.shape == TopologyShape::Torus;
    return grid && !dimension.sides.empty() ? dimension.sides : std::vector<std::int64_t>{dimension.size};
}

const Shape gridShape{fits, gridFacts, expandGrid};
const Shape fullyShape{fits, fullyFacts, expandFully};

}  // namespace orrery::topology
