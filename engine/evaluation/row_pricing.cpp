#include "evaluation/row_pricing.h"

#include "evaluation/answer_clock.h"
#include "evaluation/model_row_pricing.h"
#include "evaluation/reference_checks.h"
#include "evaluation/row_pricer.h"
#include "hardware/views/device_ref.h"
#include "methods/model/foreign_stack.h"
#include "workload/costs.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace orrery {

namespace {

constexpr std::size_t kernelsPerStep = 1024;
constexpr std::size_t operatorsPerGraph = 256;

// What each software of the rows makes of the sections that speak for a device: another engine than they were learned
// from, or another version of it.
class Stacks {
public:
    Stacks(std::string_view method, const CalibrationSet& calibrations, const HardwarePtr& hardware)
        : method_(method), calibrations_(calibrations) {
        if (auto gpu = gpuView(*hardware)) gpu_ = std::move(*gpu);
    }
    const ForeignStack& of(std::string_view software) const {
        const std::scoped_lock lock(mutex_);
        auto known = stacks_.find(software);
        if (known == stacks_.end()) {
            ForeignStack made = gpu_ ? ForeignStack(method_, calibrations_, *gpu_, software) : ForeignStack();
            known = stacks_.emplace(software, std::move(made)).first;
        }
        return known->second;
    }

private:
    std::string_view method_;
    const CalibrationSet& calibrations_;
    std::optional<GpuView> gpu_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, ForeignStack, std::less<>> stacks_;
};

// A graph method's answers for some rows; rows that a graph cannot hold stay without one.
void priceThroughGraph(const Method& method, const StatedErrors* errors, const std::shared_ptr<const Hardware>& device,
                       const CalibrationSet& calibrations, const RowPricer& pricer,
                       std::span<const std::size_t> numbers, const EvaluateOptions& options,
                       std::vector<RowAnswer>& answers) {
    auto workload = std::make_shared<Workload>();
    workload->id = workload->name = "reference kernels";
    std::vector<std::size_t> held;
    for (const auto number : numbers) {
        if (pricer.kernel(number).kind == KernelKind::Collective) continue;
        addOperator(workload->graph, pricer.kernel(number), toText(pricer.kernel(number)));
        held.push_back(number);
    }
    if (held.empty() || workload->graph.operators.size() != held.size()) return;
    workload->costs = costTable(workload->graph);
    // Facts of no transformer in particular: they let the methods that answer for transformers price single kernels.
    workload->transformer = TransformerFacts{};
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial, options.stop};
    context.wantTimeline = false;
    context.options = options.options;
    context.calibrations = &calibrations;
    const Scenario scenario{device, workload};
    Expected<Estimate> estimated = fail("study.cancelled", "not asked");
    const double spent = clockedAnew([&] { estimated = estimate(method, scenario, context); });
    if (!estimated || estimated->operators.size() != held.size()) {
        // One operator that the method refuses must not take the others with it.
        if (held.size() == 1) return;
        const auto half = held.size() / 2;
        priceThroughGraph(method, errors, device, calibrations, pricer, std::span(held).first(half), options, answers);
        priceThroughGraph(method, errors, device, calibrations, pricer, std::span(held).subspan(half), options,
                          answers);
        return;
    }
    const bool bound = estimated->interval.kind == IntervalKind::Bound;
    const auto view = deviceView(*device);
    for (std::size_t i = 0; i < held.size(); ++i) {
        RowAnswer& answer = answers[held[i]];
        answer.seconds = answer.low = answer.high = estimated->operators.seconds[i];
        answer.cost = spent / static_cast<double>(held.size());
        if (estimated->operators.lowSeconds.size() == held.size() &&
            estimated->operators.highSeconds.size() == held.size()) {
            answer.low = estimated->operators.lowSeconds[i];
            answer.high = estimated->operators.highSeconds[i];
            continue;
        }
        if (!errors) {
            answer.guess();
            continue;
        }
        const auto bounds = moved(errorBounds(*errors, familyOf(workload->costs, i), answer.seconds), answer.seconds,
                                  view && !bound ? statedShift(*view, workload->costs, i) : 0);
        answer.low = bounds.low;
        answer.high = bounds.high;
    }
}

// On the first device of a design on which the method answers.
Expected<KernelPricerPtr> bindFirst(const KernelMethod& method, const HardwarePtr& design, const BindContext& context) {
    const auto places = devicesOf(design);
    if (!places) return tl::unexpected(places.error());
    Expected<KernelPricerPtr> bound = fail("hardware.no-device", "no device computes");
    for (const DeviceRef& place : *places) {
        bound = method.bind(place, context);
        if (bound) break;
    }
    return bound;
}

// One device's prices, as each table had its kernels measured.
class BoundAsMeasured {
public:
    static Expected<BoundAsMeasured> bind(const KernelMethod& method, const HardwarePtr& device,
                                          std::shared_ptr<const CalibrationSet> calibrations,
                                          std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                          const EvaluateOptions& options) {
        BoundAsMeasured out;
        out.calibrations_ = std::move(calibrations);
        out.byTable_.resize(tables.size());
        std::map<OptionValues, KernelPricerPtr> bound;
        for (const RowRef row : rows) {
            const auto at = static_cast<std::size_t>(row.table);
            if (out.byTable_[at]) continue;
            OptionValues asked = options.options;
            if (options.asMeasured) asked.merge(settingsOf(method.options, tables[at]));
            auto& known = bound[asked];
            if (!known) {
                auto made = bindFirst(method, device, {*out.calibrations_, asked, 0});
                if (!made) return tl::unexpected(std::move(made.error()));
                known = std::move(*made);
            }
            out.byTable_[at] = known;
        }
        return out;
    }
    const KernelPricer& of(std::size_t table) const { return *byTable_[table]; }

private:
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::vector<KernelPricerPtr> byTable_;
};

void priceBound(const BoundAsMeasured& bound, const Stacks& stacks, const RowPricer& pricer,
                std::span<const std::size_t> numbers, const EvaluateOptions& options, std::vector<RowAnswer>& answers) {
    const auto serial = makeSerialExecutor();
    PriceContext context{*serial, options.stop};
    for (const auto number : numbers) {
        const Kernel& kernel = pricer.kernel(number);
        const KernelPricer& prices = bound.of(pricer.table(number));
        const Expected<KernelPrice> price = pricer.hostTimed(number) ? prices.priceByHost(kernel)
                                            : prices.instant()       ? prices.price(kernel)
                                                                     : prices.price(kernel, context);
        if (options.stop.stop_requested()) return;
        if (!price || !price->priced) continue;
        RowAnswer& answer = answers[number];
        answer.seconds = price->seconds, answer.low = price->low, answer.high = price->high;
        answer.domain = price->domain;
        answer.guess();
        answer.doubt(stacks.of(pricer.software(number)), kernel);
    }
}

}  // namespace

OptionValues settingsOf(std::span<const MethodOption> options, const ReferenceTable& table) {
    OptionValues settings;
    if (table.weightCopies < 1) return settings;
    for (const MethodOption& option : options) {
        if (option.key == "copies") settings.emplace(option.key, std::to_string(table.weightCopies));
    }
    return settings;
}

Expected<PricedRows> priceKernels(const KernelMethod& method, std::span<const ReferenceTable> tables,
                                  std::span<const RowRef> rows, const EvaluateOptions& options, Diagnostics& warnings) {
    RowPricer pricer(tables, rows, options, warnings);
    return pricer.run(
        [&](const std::string& id) -> Expected<Asking> {
            const auto hardware = catalogueHardware(id);
            if (!hardware) return fail("hardware.unknown", fmt::format("the device '{}' cannot be loaded", id));
            const auto calibrations = std::make_shared<const CalibrationSet>(askedAbout(id, options));
            const auto stacks = std::make_shared<const Stacks>(method.id, *calibrations, hardware);
            const auto fresh = [&method, &pricer, &options, tables, rows, hardware, calibrations,
                                stacks]() -> Expected<Pricing> {
                auto bound = BoundAsMeasured::bind(method, hardware, calibrations, tables, rows, options);
                if (!bound) return tl::unexpected(std::move(bound.error()));
                return Pricing([&pricer, &options, stacks, bound = std::move(*bound)](
                                   std::span<const std::size_t> numbers, std::vector<RowAnswer>& answers) {
                    priceBound(bound, *stacks, pricer, numbers, options, answers);
                });
            };
            auto first = fresh();
            if (!first) return tl::unexpected(std::move(first.error()));
            return Asking{std::move(*first), fresh};
        },
        kernelsPerStep, modelPricing(findMethod(method.id), pricer, options));
}

Expected<PricedRows> priceRows(const Method& method, std::span<const ReferenceTable> tables,
                               std::span<const RowRef> rows, const EvaluateOptions& options, Diagnostics& warnings) {
    if (const KernelMethod* kernels = findKernelMethod(method.card.id)) {
        return priceKernels(*kernels, tables, rows, options, warnings);
    }
    RowPricer pricer(tables, rows, options, warnings);
    const StatedErrors* errors = statedErrors(method.card.id);
    return pricer.run(
        [&](const std::string& id) -> Expected<Asking> {
            const auto hardware = catalogueHardware(id);
            if (!hardware) return fail("hardware.unknown", fmt::format("the device '{}' cannot be loaded", id));
            const auto calibrations = std::make_shared<const CalibrationSet>(askedAbout(id, options));
            return Asking{
                [&, hardware, calibrations](std::span<const std::size_t> numbers, std::vector<RowAnswer>& answers) {
                    priceThroughGraph(method, errors, hardware, *calibrations, pricer, numbers, options, answers);
                }};
        },
        operatorsPerGraph, modelPricing(&method, pricer, options));
}

}  // namespace orrery
