#include "hardware/network/topology.h"
#include "hardware/network/topology_shapes.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

// Where the dimensions inside one place of a dimension are drawn: a square that its neighbours do not reach.
double cellOf(const topology::OneNetwork& network, std::int64_t endpoints) {
    double nearest = 1;
    for (std::int64_t v = 1; v < endpoints; ++v) {
        const auto& a = network.vertices[static_cast<std::size_t>(v - 1)];
        const auto& b = network.vertices[static_cast<std::size_t>(v)];
        nearest = std::min(nearest, static_cast<double>(std::max(std::abs(a.x - b.x), std::abs(a.y - b.y))));
    }
    return std::max(0.8 * nearest, 1e-4);
}

// Squares at the rim of the outermost picture may reach beyond it: all of it is made to fit.
void fitPicture(std::vector<ExpandedNetwork::Vertex>& vertices) {
    for (const auto side : {&ExpandedNetwork::Vertex::x, &ExpandedNetwork::Vertex::y}) {
        float low = 0, high = 1;
        for (const auto& vertex : vertices) {
            low = std::min(low, vertex.*side);
            high = std::max(high, vertex.*side);
        }
        if (low == 0 && high == 1) continue;
        for (auto& vertex : vertices) vertex.*side = std::clamp((vertex.*side - low) / (high - low), 0.0F, 1.0F);
    }
}

}  // namespace

Expected<ExpandedNetwork> expandTopology(const TopologySpec& spec, std::int64_t most) {
    const auto facts = topologyFacts(spec);
    if (!facts) return Unexpected(facts.error());
    const std::int64_t parts = facts->endpoints + facts->switches + facts->links;
    if (parts > most) {
        return fail("hardware.topology-large",
                    fmt::format("`{}` has {} endpoints, {} switches and {} links", spec.name, facts->endpoints,
                                facts->switches, facts->links),
                    fmt::format("at most {} of them together", most), "it can still be used as one object");
    }
    ExpandedNetwork out;
    out.endpoints = facts->endpoints;
    out.vertices.resize(static_cast<std::size_t>(facts->endpoints));
    out.edges.reserve(static_cast<std::size_t>(facts->links));

    std::vector<topology::OneNetwork> ones;
    for (const TopologyDimension& dimension : spec.dimensions) {
        auto& one = ones.emplace_back(dimension.size);
        topology::shapeOf(dimension.shape).expand(dimension, one);
    }
    // scale[d]: of the pictures of dimension d, all that are further out taken off.
    std::vector<double> scale(ones.size(), 1);
    for (std::size_t d = ones.size() - 1; d-- > 0;) {
        scale[d] = scale[d + 1] * cellOf(ones[d + 1], spec.dimensions[d + 1].size);
    }
    // The middle of the square in which dimensions below `upTo` are drawn for an endpoint.
    const auto middle = [&](std::int64_t endpoint, std::size_t from) {
        double x = 0.5, y = 0.5;
        for (std::size_t d = 0; d < ones.size(); ++d) {
            const std::int64_t at = endpoint % spec.dimensions[d].size;
            endpoint /= spec.dimensions[d].size;
            if (d < from) continue;
            x += scale[d] * (ones[d].vertices[static_cast<std::size_t>(at)].x - 0.5);
            y += scale[d] * (ones[d].vertices[static_cast<std::size_t>(at)].y - 0.5);
        }
        return std::pair(x, y);
    };
    for (std::int64_t v = 0; v < out.endpoints; ++v) {
        const auto [x, y] = middle(v, 0);
        out.vertices[static_cast<std::size_t>(v)].x = static_cast<float>(x);
        out.vertices[static_cast<std::size_t>(v)].y = static_cast<float>(y);
    }
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < ones.size(); ++d) {
        const std::int64_t size = spec.dimensions[d].size;
        for (std::int64_t copy = 0; copy < out.endpoints / size; ++copy) {
            const std::int64_t inner = copy % stride;
            const std::int64_t first = inner + copy / stride * stride * size;
            const auto firstSwitch = static_cast<std::int64_t>(out.vertices.size());
            const auto [x, y] = middle(first, d + 1);
            // The switches of copies that share a picture stand beside each other.
            const double shift = stride > 1 ? 0.6 * scale[d] / static_cast<double>(size) *
                                                  (static_cast<double>(inner) / static_cast<double>(stride - 1) - 0.5)
                                            : 0;
            for (std::size_t v = static_cast<std::size_t>(size); v < ones[d].vertices.size(); ++v) {
                auto made = ones[d].vertices[v];
                made.dimension = static_cast<std::int16_t>(d);
                made.x = static_cast<float>(x + scale[d] * (made.x - 0.5) + shift);
                made.y = static_cast<float>(y + scale[d] * (made.y - 0.5));
                out.vertices.push_back(made);
            }
            const auto vertex = [&](std::int32_t v) {
                return static_cast<std::int32_t>(v < size ? first + v * stride : firstSwitch + v - size);
            };
            for (const auto& edge : ones[d].edges) {
                out.edges.push_back({vertex(edge.a), vertex(edge.b), edge.parallel, static_cast<std::int16_t>(d)});
            }
        }
        stride *= size;
    }
    fitPicture(out.vertices);
    return out;
}

}  // namespace orrery
