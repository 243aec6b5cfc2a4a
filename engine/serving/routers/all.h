#pragma once

// One function per policy; the list is in routers.cpp.

#include "serving/routers/router.h"

namespace orrery {

RouterCard roundRobin();
RouterCard randomReplica();
RouterCard leastOutstanding();
RouterCard shortestQueue();
RouterCard powerOfTwo();
RouterCard prefixAffinity();
RouterCard predictedLatency();
RouterCard mooncakeConductor();
RouterCard splitwisePools();

}  // namespace orrery
