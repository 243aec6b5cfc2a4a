#pragma once

// Methods that answer the same question, cheap to dear, for agents that ask several of them.

#include "study/exploration/search.h"

#include <vector>

namespace orrery {

/// The problem's ladder, or without one a cheap and a middling method of those that answer its question: the dearest of
/// at most a tenth of the cost, and the cheapest where it costs less than a third of that. Cheapest first; empty where
/// no method is cheaper, where options of the method are knobs, and where points are not answered by a method. Fails
/// with `search.ladder` on what the problem names and cannot be asked.
Expected<std::vector<Rung>> ladderOf(const SearchProblem& problem);

}  // namespace orrery
