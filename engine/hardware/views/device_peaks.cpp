#include "hardware/views/device_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace orrery {
namespace detail {
namespace {

double& peakOf(DeviceView& view, UnitKind unit, DType type) {
    return view.peaks[static_cast<std::size_t>(unit)][static_cast<std::size_t>(type)].value;
}

Expected<void> addTable(DeviceParts& parts, const Part& part, std::string_view attribute, double factor, UnitKind unit,
                        DeviceView& view) {
    const auto* rows = parts.table(part, attribute);
    if (!rows) return {};
    for (const TableRow& row : *rows) {
        const auto type = dtype(row.key);
        if (!type) continue;
        const auto rate = parts.perSecond(part, attribute, row.value);
        if (!rate) return Unexpected(rate.error());
        peakOf(view, unit, *type) += *rate * factor * static_cast<double>(part.instances);
    }
    return {};
}

std::optional<DType> integerOfWidth(double bytes) {
    for (const DType type : {DType::I1, DType::I4, DType::I8, DType::I16, DType::I32, DType::I64}) {
        if (bits(type) == static_cast<int>(bytes * 8 + 0.5)) return type;
    }
    return std::nullopt;
}

// A MAC without a table does one multiply-accumulate a cycle on integers of its width.
Expected<void> addMac(DeviceParts& parts, const Part& part, DeviceView& view) {
    if (parts.table(part, "macs")) return addTable(parts, part, "macs", 2, UnitKind::Tensor, view);
    const Measure* width = parts.measure(part, "width");
    const auto type = width ? integerOfWidth(width->si) : std::nullopt;
    if (!type) {
        return fail("hardware.missing-attribute", "the MAC says neither `macs` nor a `width` of 1 to 64 bit",
                    "`macs: {int8: 1/cycle}` or `width: 8 bit`", "give one of them", {{}, 0, 0, part.path + ".macs"});
    }
    const auto rate = parts.perSecond(part, "macs", Measure{1, true, {}});
    if (!rate) return Unexpected(rate.error());
    peakOf(view, UnitKind::Tensor, *type) += 2 * *rate * static_cast<double>(part.instances);
    return {};
}

bool isInner(const DeviceParts& parts, const Part& core) {
    for (const Part* outer = parts.parentOf(core); outer; outer = parts.parentOf(*outer)) {
        if (outer->component->kind == core.component->kind) return true;
    }
    return false;
}

}  // namespace

Expected<void> fillPeaks(DeviceParts& parts, DeviceView& view) {
    std::int64_t cores = 0, arrays = 0, units = 0;
    double energy = 0;
    for (const Part& part : parts.inside()) {
        const Component& component = *part.component;
        Expected<void> added;
        if (component.kind == ComponentKind::TensorUnit) {
            added = addTable(parts, part, "macs", 2, UnitKind::Tensor, view);
        } else if (component.kind == ComponentKind::Mac) {
            // A tensor unit's own table already counts the MACs drawn inside it.
            const Part* holder = parts.parentOf(part);
            const bool counted =
                holder && holder->component->kind == ComponentKind::TensorUnit && parts.table(*holder, "macs");
            if (!counted) added = addMac(parts, part, view);
        } else if (component.kind == ComponentKind::VectorUnit) {
            added = addTable(parts, part, "flops", parts.measureOr(part, "lanes", 1), UnitKind::Vector, view);
        }
        if (!added) return added;
        if (computes(component.kind)) {
            if (const Measure* one = parts.measure(part, "energy")) energy = std::max(energy, one->si);
        }
        if (component.kind == ComponentKind::Core && !isInner(parts, part)) {
            parts.count(part);
            cores += part.instances;
        }
        // A mesh of processing elements is one array.
        if (component.kind == ComponentKind::Array) {
            parts.count(part);
            arrays += part.instances / std::max<std::int64_t>(component.instances() / component.count, 1);
        }
        if (computes(component.kind)) units += part.instances;
    }
    view.cores = cores > 0 ? cores : arrays > 0 ? arrays : std::max<std::int64_t>(units, 1);
    view.flopEnergy = JoulesPerFlop(energy);

    const auto& vector = view.peaks[0];
    const auto& tensor = view.peaks[1];
    const auto any = [](const auto& row) {
        return std::any_of(row.begin(), row.end(), [](FlopsPerSecond p) { return p.value > 0; });
    };
    if (!any(vector) && any(tensor)) {
        for (std::size_t i = 0; i < tensor.size(); ++i) view.peaks[0][i] = tensor[i] / 2;
        view.assumptions.push_back(
            "There is no vector unit: element-wise work takes one operation per multiply-accumulator and cycle.");
    }
    if (!any(vector) && !any(tensor)) {
        return fail("hardware.missing-attribute", fmt::format("`{}` has no unit with a rate", view.name),
                    "a vector unit with `flops`, or a tensor unit or MAC with `macs`",
                    "add such a unit, or the table to the one that is there", {{}, 0, 0, view.path});
    }
    return {};
}

}  // namespace detail

namespace {

// The types that a type may run as without losing a value, narrowest first. Among equals the faster one is taken.
std::span<const std::initializer_list<DType>> widerThan(DType type) {
    using enum DType;
    static const std::vector<std::initializer_list<DType>> none{};
    static const std::initializer_list<DType> f6{FP6}, f8{FP8}, f16{F16, BF16}, tf32{TF32}, f32{F32}, f64{F64}, i4{I4},
        i8{I8}, any16{I16, F16, BF16}, any32{I32, F32}, any64{I64, F64};
    static const std::vector<std::initializer_list<DType>> floats{f6, f8, f16, tf32, f32, f64};
    static const std::vector<std::initializer_list<DType>> integers{i4, i8, any16, any32, any64};
    const std::span<const std::initializer_list<DType>> f(floats), i(integers);
    switch (type) {
        case FP4:
            return f;
        case FP6:
            return f.subspan(1);
        case FP8:
            return f.subspan(2);
        case F16:
        case BF16:
            return f.subspan(3);
        case TF32:
            return f.subspan(4);
        case F32:
            return f.subspan(5);
        case I1:
            return i;
        case I4:
        case Bool:
            return i.subspan(1);
        case I8:
            return i.subspan(2);
        case I16:
            return i.subspan(3);
        case I32:
            return i.subspan(4);
        default:
            return none;
    }
}

}  // namespace

UnitPeak DeviceView::peakUnit(bool matrix, DType type) const {
    const auto of = [this](UnitKind unit, DType t) {
        return UnitPeak{peaks[static_cast<std::size_t>(unit)][static_cast<std::size_t>(t)], unit, t};
    };
    const auto suitable = [&](DType t) {
        const UnitPeak tensor = matrix ? of(UnitKind::Tensor, t) : UnitPeak();
        return tensor.rate.value > 0 ? tensor : of(UnitKind::Vector, t);
    };
    if (const auto own = suitable(type); own.rate.value > 0) return own;
    for (const auto& group : widerThan(type)) {
        UnitPeak best;
        for (const DType t : group) {
            if (const auto other = suitable(t); other.rate.value > best.rate.value) best = other;
        }
        if (best.rate.value > 0) return best;
    }
    // 64-bit integers are worked on as two halves.
    if (type != DType::I64) return {};
    UnitPeak halves = suitable(DType::I32);
    halves.rate = halves.rate / 2;
    return halves;
}

}  // namespace orrery
