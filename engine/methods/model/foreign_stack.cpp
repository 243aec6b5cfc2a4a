#include "methods/model/foreign_stack.h"

#include "learning/section_price.h"
#include "learning/software_version.h"

#include <algorithm>

namespace orrery {

namespace {

/// `1` of `1.3.0rc20`. Within it kernels move by 5 to 17 % (MovedVersion), the software around them by less.
std::string_view majorOf(std::string_view version) {
    return version.substr(0, version.find('.'));
}

/// Of sections of that engine: the same major version. One that is not said is another.
bool sameVersion(const CalibrationSection& section, std::string_view engine) {
    bool said = false;
    for (const CalibrationSource& source : section.sources) {
        for (const SoftwareVersion& known : softwareParts(source.software)) {
            said = true;
            for (const SoftwareVersion& asked : softwareParts(engine)) {
                if (asked.name != known.name) continue;
                if (!asked.version.empty() && majorOf(asked.version) == majorOf(known.version)) return true;
            }
        }
    }
    return !said;
}

}  // namespace

ForeignStack::ForeignStack(std::string_view method, const CalibrationSet& calibrations, const GpuView& gpu,
                           std::string_view engine) {
    if (engine.empty()) return;
    asked_ = true;
    for (const auto& calibration : calibrations.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& section : calibration->sections) {
            const auto found = calibrations.find(method, section.kind, section.variant, gpu);
            if (!found.section) continue;
            if (!sameStack(*found.section, engine)) {
                foreign_.emplace_back(section.kind, section.variant);
                continue;
            }
            if (sameVersion(*found.section, engine)) own_.emplace_back(section.kind, section.variant);
            const bool known = std::any_of(moved_.begin(), moved_.end(), [&](const MovedVersion& each) {
                return each.kind == section.kind && each.variant == section.variant;
            });
            if (known) continue;
            const std::string device = found.section->device ? found.section->device->id : std::string();
            if (auto moved = movedSince(*found.section, engine, shippedMovedVersions(), device))
                moved_.push_back(std::move(*moved));
        }
    }
    std::sort(foreign_.begin(), foreign_.end());
    foreign_.erase(std::unique(foreign_.begin(), foreign_.end()), foreign_.end());
}

bool ForeignStack::own(const Kernel& kernel) const {
    if (!asked_ || (kernel.kind == KernelKind::Collective && kernel.library == CollectiveLibrary::Nccl)) return true;
    const VariantName variant = variantName(kernel);
    return std::any_of(own_.begin(), own_.end(),
                       [&](const auto& each) { return each.first == kernel.kind && each.second == variant.view(); });
}

bool ForeignStack::foreign(const Kernel& kernel) const {
    if (foreign_.empty()) return false;
    if (kernel.kind == KernelKind::Collective && kernel.library == CollectiveLibrary::Nccl) return false;
    const VariantName variant = variantName(kernel);
    return std::any_of(foreign_.begin(), foreign_.end(),
                       [&](const auto& each) { return each.first == kernel.kind && each.second == variant.view(); });
}

const MovedVersion* ForeignStack::moved(const Kernel& kernel) const {
    if (moved_.empty() || foreign(kernel)) return nullptr;
    const VariantName variant = variantName(kernel);
    const auto found = std::find_if(moved_.begin(), moved_.end(), [&](const MovedVersion& each) {
        return each.kind == kernel.kind && each.variant == variant.view();
    });
    return found == moved_.end() ? nullptr : &*found;
}

void ForeignStack::doubt(const Kernel& kernel, KernelPrice& price) const {
    if (empty() || !price.priced || !(price.low < price.high)) return;
    const MovedVersion* since = moved(kernel);
    if (!since && !foreign(kernel)) return;
    SectionPrice section{price.seconds, price.low, price.high, price.domain, price.domain};
    if (since) {
        changeVersion(section, 1 + since->changeHigh);
    } else {
        changeStack(section, kernel);
    }
    price.low = section.low, price.high = section.high;
    price.domain = section.domain;
}

}  // namespace orrery
