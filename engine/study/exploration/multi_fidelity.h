#pragma once

// Several methods, cheap to dear. For agents.cpp.

#include "base/random.h"
#include "study/exploration/search.h"

namespace orrery {

/// Learns what each dearer method adds to the one below it (belief.h) and asks next whatever promises most per second:
/// the expected gain of a point, for a cheaper method times the correlation that its answer would have with the
/// search's own (Huang, Allen, Notz, Miller 2006), over what the answer costs by the methods' cards. Only answers of
/// the search's own method make the front, and the budget counts in these: a cheap answer takes its share. Without a
/// cheaper method it is Bayesian optimisation.
void multiFidelity(Search& search, RandomStream random);

}  // namespace orrery
