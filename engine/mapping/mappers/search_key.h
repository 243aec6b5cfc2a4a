#pragma once

#include <string>

namespace orrery {

class Mapspace;
struct MapperOptions;

/// Every input of a search as text: equal keys, equal results.
std::string searchKey(const Mapspace& space, const MapperOptions& options);

}  // namespace orrery
