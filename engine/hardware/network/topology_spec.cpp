#include "base/text/words.h"
#include "hardware/attributes.h"
#include "hardware/network/topology.h"
#include "hardware/network/topology_place.h"
#include "hardware/network/topology_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

using enum ComponentKind;

constexpr std::int64_t mostEndpoints = 1000000000;
constexpr double mostNumber = 1e6;

const Measure* measureOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}

bool isTopology(const Component* component) {
    return component && component->kind == Topology;
}

// A stack's innermost parts: the shapes that are multiplied.
void collectShapes(const Component& component, ComponentPath& path, std::vector<ComponentPath>& out) {
    bool stacked = false;
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        if (component.children[i].kind != Topology) continue;
        stacked = true;
        path.push_back(static_cast<int>(i));
        collectShapes(component.children[i], path, out);
        path.pop_back();
    }
    if (!stacked) out.push_back(path);
}

class Reader {
public:
    Reader(const Component& root, ComponentPath outer) : root_(root), outer_(std::move(outer)) {}

    Unexpected wrong(const ComponentPath& path, std::string_view attribute, std::string code, std::string message,
                     std::string expected, std::string hint) const {
        std::string place = pathText(root_, path);
        if (!attribute.empty()) place += "." + std::string(attribute);
        return fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                    {{}, 0, 0, std::move(place)});
    }

    // Looks further out, to the outermost topology of the stack: a bandwidth given there holds for all inside.
    double inherited(ComponentPath path, std::string_view attribute) const {
        for (;;) {
            if (const Measure* found = measureOf(*componentAt(root_, path), attribute)) {
                if (!found->perCycle) return found->si;
                double clock = 0;
                for (ComponentPath at = path;; at.pop_back()) {
                    const Measure* here = measureOf(*componentAt(root_, at), "clock");
                    if (here) clock = here->si;
                    if (here || at.empty()) break;
                }
                return clock > 0 && attribute == "latency" ? found->si / clock : found->si * clock;
            }
            if (path.size() <= outer_.size()) return 0;
            path.pop_back();
        }
    }

    Expected<std::int64_t> whole(const ComponentPath& path, std::string_view attribute, std::int64_t fallback) const {
        const Measure* found = measureOf(*componentAt(root_, path), attribute);
        if (!found) return fallback;
        if (std::isfinite(found->si) && found->si >= 1 && found->si <= mostNumber &&
            found->si == std::floor(found->si)) {
            return static_cast<std::int64_t>(found->si);
        }
        return wrong(path, attribute, "hardware.topology-size", fmt::format("`{}` is {}", attribute, found->spelling),
                     "a whole number from 1 to 1000000", {});
    }

    Expected<TopologyDimension> dimension(const ComponentPath& path) const;
    Expected<std::vector<std::int64_t>> sides(const ComponentPath& path) const;

private:
    const Component& root_;
    ComponentPath outer_;
};

Expected<std::vector<std::int64_t>> Reader::sides(const ComponentPath& path) const {
    std::vector<std::int64_t> out;
    const Attribute* found = componentAt(root_, path)->find("dims");
    const auto* words = found ? std::get_if<std::vector<std::string>>(&found->value) : nullptr;
    if (!words || words->empty()) {
        return wrong(path, "dims", "hardware.missing-attribute", "a mesh or torus needs its sides", "`dims`",
                     "set them, such as `[4, 4, 4]`");
    }
    std::int64_t product = 1;
    for (const std::string& word : *words) {
        const std::int64_t side = wholeIn(word).value_or(0);
        if (side < 1 || side > mostEndpoints / product) {
            return wrong(path, "dims", "hardware.topology-size", fmt::format("`{}` is not a side of a network", word),
                         "whole numbers from 1, such as `[4, 4, 4]`", {});
        }
        product *= side;
        out.push_back(side);
    }
    return out;
}

Expected<TopologyDimension> Reader::dimension(const ComponentPath& path) const {
    const Component& component = *componentAt(root_, path);
    const Attribute* shape = component.find("shape");
    const std::string* word = shape ? std::get_if<std::string>(&shape->value) : nullptr;
    if (!word) {
        return wrong(path, "shape", "hardware.missing-attribute",
                     fmt::format("`{}` does not say its shape", nameOf(component)), "`shape`",
                     "set it, such as `ring` or `fat-tree`");
    }
    TopologyDimension out;
    int index = 0;
    while (index < topologyShapeCount && toText(static_cast<TopologyShape>(index)) != *word) ++index;
    if (index == topologyShapeCount) {
        return wrong(path, "shape", "hardware.choice", fmt::format("`{}` is not a shape of a network", *word),
                     "a choice of `shape`", {});
    }
    out.shape = static_cast<TopologyShape>(index);
    const struct {
        std::string_view name;
        std::int64_t& value;
    } numbers[] = {{"size", out.size},     {"radix", out.radix},     {"planes", out.planes},
                   {"groups", out.groups}, {"routers", out.routers}, {"globals", out.globals}};
    for (const auto& number : numbers) {
        const auto value = whole(path, number.name, number.value);
        if (!value) return Unexpected(value.error());
        number.value = *value;
    }
    if (out.shape == TopologyShape::Mesh || out.shape == TopologyShape::Torus) {
        auto found = sides(path);
        if (!found) return Unexpected(found.error());
        out.sides = std::move(*found);
        std::int64_t product = 1;
        for (const std::int64_t side : out.sides) product *= side;
        if (out.size != 0 && out.size != product) {
            return wrong(path, "dims", "hardware.topology-size",
                         fmt::format("the sides give {} endpoints, `size` says {}", product, out.size),
                         "sides whose product is the size", "remove `size`, or change the sides");
        }
        out.size = product;
    }
    if (out.shape == TopologyShape::Dragonfly && out.groups == 0 && out.routers > 0) {
        out.groups = out.routers * out.globals + 1;
    }
    if (const Measure* over = measureOf(component, "oversubscription");
        over && std::isfinite(over->si) && over->si > 0) {
        out.oversubscription = over->si;
    }
    out.bandwidth = BytesPerSecond(inherited(path, "bandwidth"));
    out.latency = Seconds(inherited(path, "latency"));
    return out;
}

}  // namespace

std::int64_t topologyEndpoints(const Component& parent) {
    const auto count = [&parent](bool units) {
        std::int64_t sum = 0;
        for (const Component& child : parent.children) {
            const bool unit = child.kind == VectorUnit || child.kind == TensorUnit || child.kind == Mac;
            const bool part = child.kind <= Array;
            if (!(units ? unit : part)) continue;
            const std::int64_t copies = std::max<std::int64_t>(instancesIn(parent, child), 0);
            if (__builtin_add_overflow(sum, copies, &sum)) return mostEndpoints + 1;
        }
        return sum;
    };
    const std::int64_t parts = count(false);
    return parts > 0 ? parts : count(true);
}

bool isEndpoint(const Component& parent, const Component& child) {
    if (child.kind <= Array) return true;
    const bool unit = child.kind == VectorUnit || child.kind == TensorUnit || child.kind == Mac;
    return unit && std::none_of(parent.children.begin(), parent.children.end(),
                                [](const Component& other) { return other.kind <= Array; });
}

ComponentPath outermostTopology(const Component& root, ComponentPath path) {
    while (!path.empty()) {
        ComponentPath parent(path.begin(), path.end() - 1);
        if (!isTopology(componentAt(root, parent))) break;
        path = std::move(parent);
    }
    return path;
}

std::vector<ComponentPath> topologyShapes(const Component& root, const ComponentPath& topology) {
    std::vector<ComponentPath> shapes;
    ComponentPath at = topology;
    if (const Component* component = componentAt(root, topology)) collectShapes(*component, at, shapes);
    return shapes;
}

Expected<TopologySpec> topologySpec(const Component& root, const ComponentPath& topology) {
    const Component* component = componentAt(root, topology);
    if (!isTopology(component) || topology.empty()) {
        return fail("hardware.topology-empty", "there is no topology here", "a component of kind `topology`", {},
                    {{}, 0, 0, pathText(root, topology)});
    }
    const ComponentPath outer = outermostTopology(root, topology);
    const Component& parent = *componentAt(root, ComponentPath(outer.begin(), outer.end() - 1));
    const Reader reader(root, outer);
    const std::int64_t beside = topologyEndpoints(parent);
    if (beside == 0) {
        return reader.wrong(outer, {}, "hardware.topology-empty",
                            fmt::format("`{}` has nothing beside it to join", nameOf(*componentAt(root, outer))),
                            "nodes, packages, dies, cores or arrays with the same parent",
                            "place parts beside it, or move it to where they are");
    }
    if (beside > mostEndpoints) {
        return reader.wrong(outer, {}, "hardware.topology-size", "more than 10^9 parts are beside it",
                            "at most 10^9 endpoints", "check `count` and `mesh`");
    }
    const std::vector<ComponentPath> shapes = topologyShapes(root, outer);
    std::vector<TopologyDimension> dimensions;
    std::int64_t known = 1;
    std::ptrdiff_t open = -1;
    for (const ComponentPath& path : shapes) {
        auto dimension = reader.dimension(path);
        if (!dimension) return Unexpected(dimension.error());
        if (dimension->size == 0 && open >= 0) {
            return reader.wrong(path, "size", "hardware.missing-attribute",
                                "more than one dimension of the network leaves its size open", "`size`",
                                "set it, such as `8`");
        }
        if (dimension->size == 0) open = static_cast<std::ptrdiff_t>(dimensions.size());
        const std::int64_t size = std::max<std::int64_t>(dimension->size, 1);
        known = size > mostEndpoints / known ? mostEndpoints + 1 : known * size;
        dimensions.push_back(std::move(*dimension));
    }
    if (open >= 0 && beside % known == 0) {
        dimensions[static_cast<std::size_t>(open)].size = beside / known;
        known = beside;
    }
    if (known != beside) {
        const ComponentPath& path = shapes.size() == 1 ? shapes.front() : outer;
        const bool grid = shapes.size() == 1 && !dimensions.front().sides.empty();
        return reader.wrong(
            path,
            shapes.size() > 1 ? ""
            : grid            ? "dims"
                              : "size",
            "hardware.topology-size",
            fmt::format("`{}` connects {} endpoints, but {} are beside it", nameOf(*componentAt(root, outer)),
                        open >= 0 ? fmt::format("a multiple of {}", known) : fmt::to_string(known), beside),
            "the number of endpoints beside it, copies counted",
            grid ? "change the sides, or the copies beside it" : "change the sizes, or the copies beside it");
    }
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const auto misfit = topology::shapeOf(dimensions[i].shape).misfit(dimensions[i]);
        if (misfit)
            return reader.wrong(shapes[i], misfit->attribute, misfit->code, misfit->message, misfit->expected,
                                misfit->hint);
    }
    TopologySpec spec;
    spec.name = std::string(nameOf(*component));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (std::equal(topology.begin(), topology.end(), shapes[i].begin())) {
            spec.dimensions.push_back(std::move(dimensions[i]));
        }
    }
    return spec;
}

}  // namespace orrery
