#include "methods/among_all.h"

namespace orrery {

namespace {
constexpr double longestOfAll = 0.5;  // s of one kernel
}

bool standsAmongAll(const MethodCard& card) {
    return !asksForFile(card) && card.cost.perKernel < longestOfAll;
}

}  // namespace orrery
