#pragma once

// `surrogate(file=…)`: what a finished search or study has taught (learning/surrogate.h), asked about any question that
// differs from the one that was searched in its knobs alone. Another question is refused with what differs; values
// beyond those that were seen are answered a tenth of their range further, with a wider interval, and then refused.
//
// Its interval holds two errors, taken as independent: what rows left out of the fit miss, and how far the interval of
// the method that was learned reaches, which is learned beside the value.

#include "methods/method.h"

namespace orrery {

Method surrogateMethod();

}  // namespace orrery
