#pragma once

// Hashes of a method's inputs. They stand in every estimate, so they are made for speed: what the file says, not its
// bytes, and columns four numbers at a time.

#include "hardware/component.h"
#include "workload/workload.h"

#include <string>

namespace orrery {

/// Of everything a method can read: names, counts, attributes as spelled. Canvas positions, descriptions and sources
/// do not count. 16 hexadecimal digits.
std::string hardwareHash(const Hardware& hardware);
/// Of the recipe and of every cost column, so that two graphs from one file name do not pass for the same.
std::string workloadHash(const Workload& workload);
// Of a serving study: serving/fields/study_hash.h.

}  // namespace orrery
