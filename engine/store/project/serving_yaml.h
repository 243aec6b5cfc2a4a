#pragma once

// The section of a serving question, shared by files of their own and by projects.

#include "serving/serving_study.h"
#include "store/project/yaml_reader.h"

namespace orrery::store {

/// `root` may have `orrery:`. Codes `serving.*` and `yaml.*`.
Expected<ServingStudy> readServingSection(const YamlNode& root, YamlContext& context, ServingPlaces& places);
/// Lines without indentation and without `orrery:`.
std::string writeServingSection(const ServingStudy& study);

}  // namespace orrery::store
