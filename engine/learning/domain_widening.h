#pragma once

// Domains that own rows move, and one that holds nothing back.

#include "learning/domain.h"

namespace orrery {

/// The domain of before and of more rows as well. What is constant among these and was never seen is of their device:
/// there the domain moves to it.
Domain widenDomain(const Domain& known, std::span<const double> rows);
/// Without borders, for asking what a section says without being held back.
Domain unboundedDomain(std::size_t columns);

}  // namespace orrery
