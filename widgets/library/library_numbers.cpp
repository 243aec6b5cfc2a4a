#include "widgets/library/library_numbers.h"

#include "hardware/views/device_view.h"
#include "widgets/common/text.h"

#include <algorithm>
#include <array>

namespace orrery::ui {
namespace {

struct Peak {
    double value = 0;
    DType type = DType::F32;
};

/// The first of these that matrix units take; else the best of the vector units.
Peak knownFor(const DeviceView& device) {
    constexpr std::array order{DType::BF16, DType::F16, DType::I8, DType::FP8, DType::F32, DType::I16};
    for (const UnitKind unit : {UnitKind::Tensor, UnitKind::Vector}) {
        const auto& peaks = device.peaks[static_cast<std::size_t>(unit)];
        for (const DType type : order)
            if (const double value = peaks[static_cast<std::size_t>(type)].value; value > 0) return {value, type};
    }
    return {};
}

}  // namespace

QString deviceNumbers(const Hardware& hardware) {
    const auto views = deviceViews(hardware);
    if (!views || views->empty()) return {};
    const auto fastest = std::ranges::max_element(
        *views, {}, [](const DeviceView& view) { return knownFor(view).value * static_cast<double>(view.copies); });
    QStringList parts;
    if (const Peak peak = knownFor(*fastest); peak.value > 0)
        parts << QStringLiteral("%1 %2").arg(qs(formatMeasure(peak.value, Dimension::OperationRate)),
                                             qs(toText(peak.type)));
    const MemoryLevel& memory = fastest->main();
    if (memory.capacity.value > 0) parts << qs(format(memory.capacity));
    if (memory.bandwidth.value > 0) parts << qs(format(memory.bandwidth));
    QString text = parts.join(QStringLiteral(" · "));
    if (fastest->copies > 1) text.prepend(QStringLiteral("%1 × ").arg(fastest->copies));
    return text;
}

}  // namespace orrery::ui
