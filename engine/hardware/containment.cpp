#include "hardware/check/validate.h"

#include <array>

namespace orrery {
namespace {

using enum ComponentKind;

template <class... Kinds>
constexpr std::uint32_t of(Kinds... kinds) {
    return (0u | ... | (1u << static_cast<int>(kinds)));
}

constexpr std::uint32_t fabric = of(Link, Switch, Topology);
constexpr std::uint32_t units = of(VectorUnit, TensorUnit, Mac);
constexpr std::uint32_t onChip = of(Buffer, Cache, RegisterFile);
constexpr std::uint32_t compute = of(Cluster, Core, Array) | units;

// What may stand in each kind, in the order of ComponentKind.
constexpr std::array<std::uint32_t, componentKindCount> inside{{
    /* System */ of(Node, Package, Die, Dram) | compute | onChip | fabric,
    /* Node */ of(Node, Package, Die, Dram) | compute | onChip | fabric,
    /* Package */ of(Die, Dram) | compute | onChip | fabric,
    /* Die */ of(Dram) | compute | onChip | fabric,
    /* Cluster */ compute | onChip | fabric,
    /* Core */ of(Cluster, Array) | units | onChip | fabric,
    /* Array */ of(Core, Array) | units | onChip | fabric,
    /* VectorUnit */ of(Mac, Buffer, RegisterFile),
    /* TensorUnit */ of(Mac, Array, Buffer, RegisterFile),
    /* Mac */ of(RegisterFile),
    /* Buffer */ 0,
    /* Cache */ 0,
    /* RegisterFile */ 0,
    /* Dram */ compute | of(Buffer, Cache, Link),
    /* Link */ 0,
    /* Switch */ of(Link, Buffer),
    /* Topology */ fabric,
}};

}  // namespace

bool mayContain(ComponentKind parent, ComponentKind child) {
    return (inside[static_cast<std::size_t>(parent)] >> static_cast<int>(child)) & 1u;
}

}  // namespace orrery
