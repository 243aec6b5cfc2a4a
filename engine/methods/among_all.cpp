#include "methods/among_all.h"

namespace orrery {

namespace {
// s of one kernel
constexpr double longestOfAll = 0.5, longestJudged = 0.01;
}

bool standsAmongAll(const MethodCard& card) {
    return !asksForFile(card) && card.cost.perKernel < longestOfAll;
}

bool isJudgedUnnamed(const MethodCard& card) {
    return standsAmongAll(card) && card.cost.perKernel < longestJudged;
}

}  // namespace orrery
