#pragma once

// The rows that a method is asked about, device by device: who is asked what, on which thread, and what it cost.

#include "evaluation/evaluation.h"
#include "evaluation/row_pricing.h"

#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class ForeignStack;

/// What one row got; seconds 0 where it is not priced.
struct RowAnswer {
    double seconds = 0, low = 0, high = 0;  ///< s
    DomainVerdict domain = DomainVerdict::Inside;
    double flops = 0, bytes = 0;  ///< of a whole model
    double cost = 0;              ///< s of a processor, caches filled; 0: not timed
    bool given() const { return seconds > 0 && std::isfinite(seconds); }
    /// Where no error is known, the same factor either way as in an answer about a whole model.
    void guess();
    /// Wider where the row's software is another than that which prices were learned from.
    void doubt(const ForeignStack& stack, const Kernel& kernel);
};

/// Prices numbers[begin, end) of one device into `answers` (one per row asked). Called from any thread.
using Pricing = std::function<void(std::span<const std::size_t>, std::vector<RowAnswer>&)>;
/// The pricing of one device. `fresh` makes one that remembers no kernel; null: the pricing clocks its answers itself.
struct Asking {
    Pricing price;
    std::function<Expected<Pricing>()> fresh = {};
};
/// Makes the pricing of one device, or says why there is none.
using Binding = std::function<Expected<Asking>(const std::string& id)>;
/// Makes the pricing of one device's whole models.
using ModelPricing = std::function<Asking(const std::string& id)>;

/// Rows of known devices, each asked once; the answers in the order of the rows.
class RowPricer {
public:
    /// All of it must outlive the pricer; `warnings` is told of devices that are unknown or refused.
    RowPricer(std::span<const ReferenceTable> tables, std::span<const RowRef> rows, const EvaluateOptions& options,
              Diagnostics& warnings);

    const Kernel& kernel(std::size_t number) const { return rowOf(number).kernel; }
    bool hostTimed(std::size_t number) const { return tableOf(number).hostTimed; }
    std::string_view software(std::size_t number) const { return tableOf(number).software; }
    std::size_t table(std::size_t number) const { return static_cast<std::size_t>(rows_[number].table); }
    /// Null where the row is a kernel.
    const ModelRow* model(std::size_t number) const;

    /// `step` rows of a device at a time; `models` prices the rows that are whole models. Fails where no device of the
    /// rows is known, with the first refusal where the method answers on none, and when it is stopped.
    Expected<PricedRows> run(const Binding& bind, std::size_t step, const ModelPricing& models);

private:
    struct DeviceRows {
        std::string id;                    // of the catalogue
        std::vector<std::size_t> numbers;  // into the rows asked
    };
    const ReferenceTable& tableOf(std::size_t number) const {
        return tables_[static_cast<std::size_t>(rows_[number].table)];
    }
    const ReferenceRow& rowOf(std::size_t number) const {
        return tableOf(number).rows[static_cast<std::size_t>(rows_[number].row)];
    }
    std::vector<DeviceRows> devices();
    void price(const Asking& asking, const std::vector<std::size_t>& numbers, std::size_t step);
    void clockKernels(const Asking& asking, const std::vector<std::size_t>& numbers);
    void clockTogether(const Asking& asking, std::span<const std::size_t> brief);
    std::array<double, 3> costs() const;
    PricedRows collect() const;

    std::span<const ReferenceTable> tables_;
    std::span<const RowRef> rows_;
    const EvaluateOptions& options_;
    Diagnostics& warnings_;
    std::vector<RowAnswer> answers_;
    std::size_t bound_ = 0;
};

/// Of one device, at most; the median of a device's kernels is well known by so many.
inline constexpr std::size_t clockedRows = 256;

}  // namespace orrery
