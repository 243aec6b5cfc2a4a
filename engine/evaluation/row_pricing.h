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
    /// Of a processor, of one answer: quartiles over answered rows, of kernels if any was answered, else of models; 0
    /// where none was timed. Refused rows do not count. Warm: what all answers share is filled, but no kernel was asked
    /// before. Each is timed at its first asking, up to 256 of a device, equal kernels once; those that are too short
    /// for a clock are timed together, by pricers bound anew, after one that is not counted. Answers through a graph
    /// and of whole models, whose method is bound by each question, are repeated if they take less than 5 ms.
    std::array<double, 3> seconds{};
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
