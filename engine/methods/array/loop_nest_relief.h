#pragma once

// What a mapped operator saves whose input or output stays in the largest level on the chip: it then crosses main
// memory neither on its way out nor on its way in.

#include "methods/array/loop_nest.h"

namespace orrery {

struct ReliefOfNest {
    double cycles = 0;      ///< of one execution
    double energy = 0;      ///< joules
    double savedBytes = 0;  ///< that no longer cross main memory
};

/// Cycles are those of the slowest level with main memory relieved; computing is never faster. With neither: those of
/// the operator. Of two nests the first reads the operator's input, the last writes its output.
ReliefOfNest relieve(const MappedOperator& op, bool inputStays, bool outputStays);

/// Words that an operator's tiles take in one instance of a level, at most.
double tileWords(const MappedOperator& op, std::size_t level);

}  // namespace orrery
