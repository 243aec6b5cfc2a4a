#pragma once

// Which serving question an answer is to, whatever it is called.

#include "serving/serving_study.h"

#include <string>

namespace orrery {

/// Of every field of the study, but for its name and description, which change no answer; files that it names count by
/// their paths. Studies that are equal otherwise have the same. 16 hexadecimal digits.
std::string servingHash(const ServingStudy& study);

}  // namespace orrery
