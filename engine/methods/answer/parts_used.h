#pragma once

// What an answer was made of, in the words of the drawing.

#include "hardware/views/parts_read.h"
#include "methods/estimate.h"

namespace orrery {

/// Fills `answer.parts`: what the views read (`read`, merged over all views that the method asked for) and what is
/// drawn beside it, by paths of names. A component that was not read at all stands in `ignored` without attributes,
/// once for all that is in it.
void addParts(Estimate& answer, const Hardware& design, const PartsRead& read);
/// Adds what was read beside it, such as the network that a plan crosses, to an answer that has its parts already.
/// Nothing for one that says nothing of its parts.
void addMoreParts(Estimate& answer, const Hardware& design, const PartsRead& read);

}  // namespace orrery
