#include "evaluation/row_pricer.h"

#include "evaluation/answer_clock.h"
#include "learning/section_price.h"
#include "methods/model/foreign_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace orrery {

namespace {

constexpr std::size_t modelsPerStep = 4;

}  // namespace

void RowAnswer::guess() {
    if (low < high) return;
    low = seconds / unmeasuredFactor, high = seconds * unmeasuredFactor;
}

void RowAnswer::doubt(const ForeignStack& stack, const Kernel& kernel) {
    KernelPrice price;
    price.seconds = seconds, price.low = low, price.high = high, price.domain = domain, price.priced = true;
    stack.doubt(kernel, price);
    low = price.low, high = price.high, domain = price.domain;
}

RowPricer::RowPricer(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                     const EvaluateOptions& options, Diagnostics& warnings)
    : tables_(tables), rows_(rows), options_(options), warnings_(warnings), answers_(rows.size()) {}

const ModelRow* RowPricer::model(std::size_t number) const {
    const ReferenceTable& table = tableOf(number);
    return table.models.empty() ? nullptr : &table.models[static_cast<std::size_t>(rows_[number].row)];
}

Expected<PricedRows> RowPricer::run(const Binding& bind, std::size_t step, const ModelPricing& models) {
    if (rows_.empty()) {
        return fail("reference.no-rows", "there are no rows to evaluate", "at least one row",
                    "let --where accept some, or name other references");
    }
    std::optional<Diagnostic> refusal;
    for (const DeviceRows& device : devices()) {
        auto pricing = bind(device.id);
        if (!pricing) {
            auto note = pricing.error();
            note.severity = Severity::Warning;
            note.message += fmt::format("; {} rows on {} are left out", device.numbers.size(), device.id);
            warnings_.push_back(std::move(note));
            if (!refusal) refusal = std::move(pricing.error());
            if (options_.progress) options_.progress->advance(device.numbers.size());
            continue;
        }
        bound_ += device.numbers.size();
        std::vector<std::size_t> kernels, whole;
        for (const std::size_t number : device.numbers) (model(number) ? whole : kernels).push_back(number);
        price(*pricing, kernels, step);
        if (!whole.empty()) price(models(device.id), whole, modelsPerStep);
        if (options_.stop.stop_requested()) return fail("study.cancelled", "the evaluation was stopped");
    }
    if (bound_ == 0) {
        if (refusal) return tl::unexpected(std::move(*refusal));
        return fail("reference.unknown-device", "no row's device is in the hardware catalogue",
                    "a device of the catalogue", "give its id with --device, or add a preset");
    }
    return collect();
}

std::vector<RowPricer::DeviceRows> RowPricer::devices() {
    std::map<std::string, std::vector<std::size_t>> byDevice;
    std::map<std::string, std::size_t> unknown;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto& device = tableOf(i).devices[static_cast<std::size_t>(rowOf(i).device)];
        if (device.catalogue.empty()) {
            ++unknown[device.name];
        } else {
            byDevice[device.catalogue].push_back(i);
        }
    }
    for (const auto& [name, count] : unknown) {
        warnings_.push_back(
            warning("reference.unknown-device",
                    fmt::format("the library has no device '{}'; its {} rows are not used", name, count),
                    "give its id with --device, or add a preset"));
        if (options_.progress) options_.progress->advance(count);
    }
    std::vector<DeviceRows> all;
    for (auto& [id, numbers] : byDevice) all.push_back({id, std::move(numbers)});
    return all;
}

void RowPricer::price(const Asking& asking, const std::vector<std::size_t>& numbers, std::size_t step) {
    const std::size_t steps = (numbers.size() + step - 1) / step;
    const std::size_t stride = (numbers.size() + clockedRows - 1) / clockedRows;
    options_.executor->forEach(steps, [&](std::size_t s) {
        const std::size_t begin = s * step, end = std::min(begin + step, numbers.size());
        const auto ask = [&](std::size_t from, std::size_t to) {
            if (from < to) asking.price(std::span(numbers).subspan(from, to - from), answers_);
        };
        if (options_.stop.stop_requested()) return;
        std::size_t asked = begin;
        for (std::size_t i = begin; asking.fresh && i < end; ++i) {
            if (i % stride != 0) continue;
            ask(asked, i);
            asked = i + 1;
            const double spent = clocked([&] { ask(i, i + 1); });
            answers_[numbers[i]].cost = spent;
        }
        ask(asked, end);
        if (options_.progress) options_.progress->advance(end - begin);
    });
    if (asking.fresh && !options_.stop.stop_requested()) clockKernels(asking, numbers);
}

PricedRows RowPricer::collect() const {
    PricedRows priced;
    priced.seconds = costs();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const RowAnswer& answer = answers_[i];
        if (!answer.given()) continue;
        ++kept;
        const ReferenceRow& row = rowOf(i);
        priced.rows.predicted.push_back(answer.seconds);
        priced.rows.low.push_back(answer.low);
        priced.rows.high.push_back(answer.high);
        priced.rows.measured.push_back(row.seconds);
        priced.rows.flops.push_back(model(i) ? answer.flops : row.kernel.flops);
        priced.rows.bytes.push_back(model(i) ? answer.bytes : row.kernel.bytes());
        priced.rows.domain.push_back(answer.domain);
        priced.rows.ref.push_back(rows_[i]);
    }
    priced.notCovered = bound_ - kept;
    return priced;
}

}  // namespace orrery
