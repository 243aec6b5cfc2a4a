#include "hardware/check/fixes_find.h"
#include "hardware/network/topology.h"
#include "hardware/network/topology_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace orrery::fixes {
namespace {

/// Sides as nearly equal as the number allows, the longest first.
std::vector<std::int64_t> evenSides(std::int64_t number, std::size_t sides) {
    std::vector<std::int64_t> out;
    for (std::size_t left = sides; left > 1; --left) {
        std::int64_t side = std::llround(std::pow(static_cast<double>(number), 1.0 / static_cast<double>(left)));
        while (side > 1 && number % side != 0) --side;
        out.push_back(std::max<std::int64_t>(side, 1));
        number /= out.back();
    }
    out.push_back(number);
    std::sort(out.rbegin(), out.rend());
    return out;
}

// Only what leaves the topology without a problem: its numbers hang together.
void keep(const Hardware& design, const ComponentPath& topology, Fix fix, Fixes& out) {
    const auto edited = fix.apply(design);
    if (edited && topologySpec(edited->root, topology)) out.push_back(std::move(fix));
}

}  // namespace

Fixes topologySize(const Hardware& design, const Found& found, const Diagnostic&) {
    const Component& component = *componentAt(design.root, found.path);
    if (component.kind != ComponentKind::Topology || found.path.empty()) return {};
    const ComponentPath outer = outermostTopology(design.root, found.path);
    const std::int64_t beside =
        topologyEndpoints(*componentAt(design.root, ComponentPath(outer.begin(), outer.end() - 1)));
    if (beside < 1 || beside > 1000000) return {};
    Fixes out;
    const Attribute* dims = component.find("dims");
    const auto* sides = dims ? std::get_if<std::vector<std::string>>(&dims->value) : nullptr;
    if (found.attribute == "dims") {
        const std::size_t number = sides && !sides->empty() ? std::min<std::size_t>(sides->size(), 6) : 2;
        const std::string text = fmt::format("[{}]", fmt::join(evenSides(beside, number), ", "));
        keep(design, outer,
             {fmt::format("Set `dims` to {}", text),
              [path = found.path, text](Hardware edited) -> Expected<Hardware> {
                  Component* topology = componentAt(edited.root, path);
                  if (!topology) return fail("hardware.no-component", "the topology is no longer there");
                  for (const auto& [name, value] : {std::pair{"dims", text}, {"size", std::string()}}) {
                      if (auto done = setAttribute(*topology, name, value); !done) return Unexpected(done.error());
                  }
                  return edited;
              }},
             out);
    }
    if (component.find("size")) {
        keep(design, outer,
             without(fmt::format("Remove `size`: use the number of parts beside it, {}", beside), found.path, "size"),
             out);
    }
    // Of a stack, the outermost dimension takes what the others leave.
    const auto shapes = topologyShapes(design.root, outer);
    if (found.path == outer && shapes.size() > 1 && componentAt(design.root, shapes.back())->find("size")) {
        keep(design, outer,
             without(fmt::format("Remove `size` of `{}`: it follows from the others",
                                 nameOf(*componentAt(design.root, shapes.back()))),
                     shapes.back(), "size"),
             out);
    }
    if (component.find("groups") && found.attribute == "groups") {
        keep(design, outer, without("Remove `groups`: as many as the global links reach", found.path, "groups"), out);
    }
    return out;
}

Fixes topologyRadix(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    const Component& component = *componentAt(design.root, found.path);
    const Attribute* radix = component.find("radix");
    const Measure* ports = radix ? std::get_if<Measure>(&radix->value) : nullptr;
    if (!ports || !(ports->si >= 1) || ports->si > 4096) return {};
    const ComponentPath outer = outermostTopology(design.root, found.path);
    // The next number of ports, and then the next power of two, with which it fits.
    Fixes out;
    const auto now = static_cast<std::int64_t>(ports->si);
    std::vector<std::int64_t> tries{now + 1};
    for (std::int64_t power = 2; power <= 65536; power *= 2) {
        if (power > now + 1) tries.push_back(power);
    }
    for (const std::int64_t number : tries) {
        keep(design, outer,
             set(fmt::format("Raise `radix` to {}", number), found.path, "radix", fmt::to_string(number)), out);
        if (!out.empty()) break;
    }
    return out;
}

Fixes missingAttribute(const Hardware& design, const Found& found, const Diagnostic& problem) {
    const Component& component = *componentAt(design.root, found.path);
    if (component.kind != ComponentKind::Topology) return missingNumber(design, found, problem);
    if (found.path.empty()) return {};
    const ComponentPath outer = outermostTopology(design.root, found.path);
    Fixes out;
    if (found.attribute == "shape") {
        // Those that need no more numbers than the copies beside it give.
        for (const char* shape : {"switch", "ring", "fully-connected", "line"}) {
            keep(design, outer, set(fmt::format("Make it a {}", shape), found.path, "shape", shape), out);
        }
        return out;
    }
    if (found.attribute == "radix") {
        // The smallest of the usual switches that need two tiers at most: k ports serve k²/2 endpoints.
        const auto beside =
            topologyEndpoints(*componentAt(design.root, ComponentPath(outer.begin(), outer.end() - 1)));
        for (std::int64_t ports = 4; ports <= 4096 && out.empty(); ports *= 2) {
            if (ports * ports / 2 < beside) continue;
            keep(design, outer,
                 set(fmt::format("Set `radix` to {}", ports), found.path, "radix", fmt::to_string(ports)), out);
        }
        return out;
    }
    return topologySize(design, found, problem);
}

Fixes topologyEmpty(const Hardware& design, const Found& found, const Diagnostic&) {
    if (found.path.empty()) return {};
    return {removeComponent(fmt::format("Remove `{}`", nameOf(*componentAt(design.root, found.path))), found.path)};
}

}  // namespace orrery::fixes
