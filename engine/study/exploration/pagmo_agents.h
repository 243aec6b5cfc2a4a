#pragma once

// Agents whose algorithms are pagmo's (Biscani and Izzo 2020), which stands in a plugin: box_walk.h. For agents.cpp.
//
// pagmo moves through a box of numbers: of each knob 0 to 1, cut evenly into its levels; words by their place in the
// list. Costs are CostScale's. The first points are spread evenly (latinPoints()). A walk that finds nothing new begins anew from the best that all have found.

#include "base/random.h"
#include "study/exploration/search.h"

namespace orrery {

/// Fails with `search.agent` where pagmo's plugin cannot be loaded; to be asked before one of these runs.
Expected<void> pagmoIsThere();

/// MOEA/D with differential evolution (Li and Zhang 2009), Tchebycheff weights spread by a low-discrepancy sequence.
void moead(Search& search, RandomStream random);
/// CMA-ES (Hansen 2006) from the best point seen for weights of its own, four walks side by side.
void cmaEs(Search& search, RandomStream random);
/// Corana's simulated annealing (Corana, Marchesi, Martini, Ridella 1987), the same way.
void annealing(Search& search, RandomStream random);
/// Ant colonies: Schlueter, Egea, Banga 2009 extended for one objective (gaco), hypervolume-free MACO for several.
void antColony(Search& search, RandomStream random);

}  // namespace orrery
