#pragma once

// Which methods the word `all` stands for.

#include "methods/method.h"

namespace orrery {

/// They need no file, and by what their card states a kernel takes them less than half a second: slower ones (cycle by
/// cycle) are asked by name.
bool standsAmongAll(const MethodCard& card);

}  // namespace orrery
