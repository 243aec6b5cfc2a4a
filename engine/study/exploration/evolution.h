#pragma once

// Agents that learn from what they have seen. For agents.cpp.

#include "base/random.h"
#include "study/exploration/search.h"

namespace orrery {

/// After 16 points spread evenly, steps of one knob, long ones first, from the best point seen for random weights of the objectives; the first that is
/// better is taken.
void hillClimb(Search& search, RandomStream random);
/// Deb, Pratap, Agarwal, Meyarivan 2002, with constrained domination. Knobs of numbers move by steps near their value,
/// knobs of words are drawn anew.
void nsga2(Search& search, RandomStream random);

}  // namespace orrery
