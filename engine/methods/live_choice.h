#pragma once

// Which methods answer on every edit: those whose card says so, and slow ones that are asked for a first order.

#include "methods/method.h"

namespace orrery {

bool answersLive(const MethodCard& card, const OptionValues& options);

}  // namespace orrery
