#include "methods/model/foreign_stack.h"

#include "learning/section_price.h"

#include <algorithm>

namespace orrery {

ForeignStack::ForeignStack(std::string_view method, const CalibrationSet& calibrations, const GpuView& gpu,
                           std::string_view engine) {
    if (engine.empty()) return;
    for (const auto& calibration : calibrations.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& section : calibration->sections) {
            const auto found = calibrations.find(method, section.kind, section.variant, gpu);
            if (!found.section || sameStack(*found.section, engine)) continue;
            foreign_.emplace_back(section.kind, section.variant);
        }
    }
    std::sort(foreign_.begin(), foreign_.end());
    foreign_.erase(std::unique(foreign_.begin(), foreign_.end()), foreign_.end());
}

bool ForeignStack::foreign(const Kernel& kernel) const {
    if (foreign_.empty()) return false;
    if (kernel.kind == KernelKind::Collective && kernel.library == CollectiveLibrary::Nccl) return false;
    const VariantName variant = variantName(kernel);
    return std::any_of(foreign_.begin(), foreign_.end(),
                       [&](const auto& each) { return each.first == kernel.kind && each.second == variant.view(); });
}

void ForeignStack::doubt(const Kernel& kernel, KernelPrice& price) const {
    if (!foreign(kernel) || !price.priced || !(price.low < price.high)) return;
    SectionPrice section{price.seconds, price.low, price.high, price.domain, price.domain};
    changeStack(section, kernel);
    price.low = section.low, price.high = section.high;
    price.domain = section.domain;
}

}  // namespace orrery
