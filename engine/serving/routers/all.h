#pragma once

// One function per policy; the list is in routers.cpp.

#include "serving/router.h"

namespace orrery {

RouterCard roundRobin();
RouterCard randomReplica();
RouterCard leastOutstanding();

}  // namespace orrery
