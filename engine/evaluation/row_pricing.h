#pragma once

// Prices of reference rows, kernel by kernel or through graphs of one operator each.

#include "evaluation/evaluation.h"
#include "methods/answer/stated_errors.h"
#include "methods/kernel_method.h"

#include <array>
#include <span>

namespace orrery {

struct PricedRows {
    EvaluatedRows rows;  ///< those that are covered, in the order asked
    std::size_t notCovered = 0;
    std::array<double, 3> seconds{};  ///< of one answer on one thread, caches filled: quartiles over parts of the rows
};

/// Options of the method by which it answers as the row's software ran: what the row says and the method has.
OptionValues settingsOf(const MethodCard& card, const ModelRow& row);
/// Of kernels: options by which it finds in caches what the table's measuring loop left there.
OptionValues settingsOf(std::span<const MethodOption> options, const ReferenceTable& table);

/// See evaluate(). Rows of devices that are unknown or refused are counted in `warnings` and left out.
Expected<PricedRows> priceRows(const Method& method, std::span<const ReferenceTable> tables,
                               std::span<const RowRef> rows, const EvaluateOptions& options, Diagnostics& warnings);
/// The same of a kernel method that need not be among the built-in ones.
Expected<PricedRows> priceKernels(const KernelMethod& method, std::span<const ReferenceTable> tables,
                                  std::span<const RowRef> rows, const EvaluateOptions& options, Diagnostics& warnings);

}  // namespace orrery
