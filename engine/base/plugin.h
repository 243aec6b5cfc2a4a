#pragma once

// A library of ours that stands beside the programs and is loaded by what needs it, because a program that is linked
// with it starts slower, or not at all where something is not installed.

#include <string>

namespace orrery {

/// By the variable if it is set, else beside this program, in `lib/orrery` of its installation or in `bin` of its
/// build; else the name alone, for the loader to search.
std::string pluginPath(const std::string& name, const char* variable);

}  // namespace orrery
