#pragma once

// Which methods the word `all` stands for.

#include "methods/method.h"

namespace orrery {

/// They need no file, and by what their card states a kernel takes them less than half a second: slower ones (cycle by
/// cycle) are asked by name.
bool standsAmongAll(const MethodCard& card);
/// Of these, the ones that whole tables of references are put to unless methods are named: less than a hundredth of a
/// second a kernel.
bool isJudgedUnnamed(const MethodCard& card);

}  // namespace orrery
