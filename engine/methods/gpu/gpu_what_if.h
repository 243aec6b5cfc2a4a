#pragma once

// Changes of a machine for "what if": one attribute at a time, the rest as drawn.

#include "simulation/gpu/machine.h"

#include <span>
#include <string_view>

namespace orrery {

struct MachineChange {
    std::string_view id;       ///< `l2-slices`
    std::string_view name;     ///< `L2 slices`
    std::string_view meaning;  ///< what stays as it is
    bool scales = true;        ///< by a factor; else it is a choice by itself
    void (*apply)(gpusim::Machine& machine, double factor) = nullptr;
    /// What it stands at, of those that scale.
    double (*value)(const gpusim::Machine& machine) = nullptr;
};

std::span<const MachineChange> machineChanges();
/// Null if there is none of this id.
const MachineChange* machineChange(std::string_view id);
/// Fails with `gpu.what-if` where the factor leaves the attribute as it is, such as half of one slice.
Expected<gpusim::Machine> changedMachine(const gpusim::Machine& machine, const MachineChange& change, double factor);

}  // namespace orrery
