#include "hardware/views/even_share.h"

#include "hardware/views/device_parts.h"

#include <algorithm>

namespace orrery {

double evenShare(const DeviceRef& device) {
    auto parts = detail::DeviceParts::of(device);
    if (!parts) return 1;
    double cores = 0, sum = 0, slowest = 0;
    for (const detail::Part& core : parts->inside()) {
        if (core.component->kind != ComponentKind::Core) continue;
        double rate = 0;
        for (const detail::Part& unit : parts->inside()) {
            if (unit.component->kind != ComponentKind::VectorUnit || !parts->contains(core, unit)) continue;
            const auto* rows = parts->table(unit, "flops");
            const auto row = rows ? std::ranges::find(*rows, std::string_view("fp32"), &TableRow::key)
                                  : std::vector<TableRow>::const_iterator{};
            if (!rows || row == rows->end()) continue;
            const double each = row->value.perCycle ? row->value.si * unit.clock.value : row->value.si;
            rate += each * parts->measureOr(unit, "lanes", 1) * static_cast<double>(unit.instances);
        }
        if (rate <= 0) continue;
        const auto count = static_cast<double>(core.instances);
        cores += count, sum += rate;
        slowest = slowest > 0 ? std::min(slowest, rate / count) : rate / count;
    }
    return sum > 0 ? cores * slowest / sum : 1;
}

}  // namespace orrery
