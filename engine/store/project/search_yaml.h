#pragma once

// The settings of a search in YAML: the keys of a search file, and the section `search` of a project. For sources of
// this folder only.

#include "store/project/yaml_reader.h"
#include "study/exploration/search_settings.h"

#include <map>
#include <string>

namespace orrery::store {

struct PlacedSettings {
    SearchSettings settings;
    std::map<std::string, Place, std::less<>> places;  ///< by `knobs.hbm3.bandwidth`, `objectives`, …
};
/// Takes the keys that are its own. Of columns of a table, knobs may also be a list of names: all their values.
Expected<PlacedSettings> readSearchSettings(MapReader& map, YamlContext& context, bool columns = false);
/// What stands at its default is left out.
std::string writeSearchSettings(const SearchSettings& settings);

}  // namespace orrery::store
