#pragma once

// The physical parameters of a section, moved as far as measured rows ask for and no further: coordinate descent on the
// logarithms of all at once, from where the section has them, through the method's own prices.

#include "methods/kernel_method.h"

#include <map>
#include <span>
#include <stop_token>
#include <string>

namespace orrery {

/// Lowers the mean |ln(price ÷ measured)| of `chosen` rows (at most 200 of them, evenly taken) plus a prior: moving a
/// parameter by a third costs as a row that is off by 2 %. Those of `section` where the method cannot be bound.
std::map<std::string, double, std::less<>> searchParameters(const KernelMethod& method,
                                                            const CalibrationSection& section, const KernelRows& rows,
                                                            std::span<const std::size_t> chosen, std::stop_token stop);

}  // namespace orrery
