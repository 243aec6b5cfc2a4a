#pragma once

// Rows that somebody measured, by family (a device, kind and variant), and how far prices are off them.

#include "methods/kernel_method.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Rows of one family on one device.
struct RowFamily {
    KernelKind kind = KernelKind::Other;
    std::string variant;
    KernelRows rows;
};
std::vector<RowFamily> familiesOf(std::span<const KernelRows> all);

/// Seconds of each row; empty where one is not priced.
std::vector<double> pricesOf(const KernelPricer& pricer, const KernelRows& rows);

/// |predicted ÷ measured − 1| of each row.
std::vector<double> absoluteErrors(const std::vector<double>& prices, const std::vector<double>& measured);
/// The same of ln(measured ÷ predicted).
std::vector<double> absoluteErrors(const std::vector<double>& residuals);
/// -1 of none.
double meanError(const std::vector<double>& errors);
/// Whether rows are off less by `now` than by `then`, by more than a standard error.
bool surelyLess(const std::vector<double>& now, const std::vector<double>& then);

/// Standard errors by which a mean is to be less before it is believed.
inline constexpr double surelyBetter = 1;

}  // namespace orrery
