#include "hardware/views/spatial_array_view.h"

#include "base/dtype.h"
#include "hardware/views/device_collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

using detail::measureOf;
using detail::Part;

constexpr std::array<std::string_view, 4> dataflows{"weight-stationary", "output-stationary", "input-stationary",
                                                    "row-stationary"};

const std::string* textOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    return found ? std::get_if<std::string>(&found->value) : nullptr;
}

Unexpected missing(const Part& part, std::string_view attribute, std::string_view example, std::string_view why) {
    return fail("hardware.missing-attribute",
                fmt::format("`{}` has no {}, {}", nameOf(*part.component), attribute, why),
                fmt::format("`{}`, such as `{}`", attribute, example), "set it in the inspector or the file",
                {{}, 0, 0, fmt::format("{}.{}", part.path, attribute)});
}

std::uint32_t keepsOf(const Component& component) {
    const Attribute* found = component.find("keeps");
    const auto* list = found ? std::get_if<std::vector<std::string>>(&found->value) : nullptr;
    std::uint32_t keeps = 0;
    for (const std::string& operand : list ? *list : std::vector<std::string>{}) {
        if (operand == "inputs") keeps |= keepsInputs;
        if (operand == "weights") keeps |= keepsWeights;
        if (operand == "outputs") keeps |= keepsOutputs;
    }
    return keeps;
}

bool onlyInstructions(const Component& component) {
    return component.find("keeps") && keepsOf(component) == 0;
}

std::int64_t bitsOf(const Measure* data, std::int64_t otherwise) {
    return data && data->si > 0 ? std::max<std::int64_t>(std::llround(data->si * 8), 1) : otherwise;
}

Expected<void> readMesh(const Part& array, SpatialArrayView& view) {
    const Component& component = *array.component;
    if (!component.mesh.empty()) {
        view.columns = component.mesh.front();
        view.rows = 1;
        for (std::size_t i = 1; i < component.mesh.size(); ++i) view.rows *= component.mesh[i];
        view.arrays = array.instances / std::max<std::int64_t>(view.columns * view.rows, 1);
        return {};
    }
    if (component.kind == ComponentKind::Array)
        return missing(array, "mesh", "[16, 16]", "so its processing elements cannot be counted");
    const Attribute* table = component.find("macs");
    const auto* rows = table ? std::get_if<std::vector<TableRow>>(&table->value) : nullptr;
    if (!rows || rows->empty())
        return missing(array, "macs", "{bf16: 16384/cycle}", "so its processing elements cannot be counted");
    double most = 0;
    for (const TableRow& row : *rows) {
        if (!row.value.perCycle && view.clock.value <= 0) continue;
        const double perCycle = row.value.perCycle ? row.value.si : row.value.si / view.clock.value;
        if (perCycle <= most) continue;
        most = perCycle;
        if (const auto type = dtype(row.key)) view.macBits = bits(*type);
    }
    const auto count = static_cast<std::int64_t>(std::llround(std::min(std::max(most, 1.0), 1e9)));
    view.rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)));
    while (count % view.rows != 0) --view.rows;
    view.columns = count / view.rows;
    view.arrays = array.instances;
    view.assumptions.push_back(fmt::format("`{}` gives {} multiply-accumulates a cycle: taken as an array of {} x {}",
                                           nameOf(component), count, view.columns, view.rows));
    return {};
}

Expected<ArrayLevel> readLevel(const Part& part, SpatialArrayView& view) {
    const Component& component = *part.component;
    ArrayLevel level;
    level.name = std::string(nameOf(component));
    level.path = part.path;
    level.kind = component.kind;
    level.instances = part.instances;
    level.keeps = keepsOf(component);
    level.wordBits = bitsOf(measureOf(component, "word"), view.macBits);
    if (const Measure* block = measureOf(component, "block"))
        level.block = std::max<std::int64_t>(std::llround(std::min(block->si, 1e6)), 1);
    const Measure* capacity = measureOf(component, "capacity");
    if (capacity) level.capacity = Bytes(capacity->si);
    if (!capacity && component.kind != ComponentKind::Dram)
        return missing(part, "capacity", "128 KiB", "so it is not known which tiles fit");
    if (const Measure* bandwidth = measureOf(component, "bandwidth")) {
        const auto rate = detail::perSecond(part, "bandwidth", *bandwidth);
        if (!rate) return tl::unexpected(rate.error());
        level.bandwidth = BytesPerSecond(*rate);
    } else if (component.kind == ComponentKind::Dram) {
        return missing(part, "bandwidth", "34 GB/s", "so nothing limits the traffic to main memory");
    } else {
        view.assumptions.push_back(fmt::format("`{}` gives no bandwidth and limits nothing", level.name));
    }
    if (const Measure* energy = measureOf(component, "energy")) level.energy = JoulesPerByte(energy->si);
    if (const Measure* energy = measureOf(component, "relative_energy")) level.relativeEnergy = energy->si;
    return level;
}

/// How many steps above the array a part stands; nothing if it is not beside the way to it.
std::optional<int> heightOf(const Part& part, const std::vector<const Component*>& way) {
    for (std::size_t i = 0; i < way.size(); ++i) {
        if (part.parent == way[i]) return static_cast<int>(way.size() - i);
    }
    return std::nullopt;
}

/// Components from `from` down to `to`, both included.
bool wayTo(const Component& from, const Component* to, std::vector<const Component*>& way) {
    way.push_back(&from);
    if (&from == to) return true;
    for (const Component& child : from.children) {
        if (wayTo(child, to, way)) return true;
    }
    way.pop_back();
    return false;
}

void addImplied(SpatialArrayView& view, const Part& array) {
    ArrayLevel level;
    level.name = "element";
    level.path = view.path;
    level.kind = ComponentKind::RegisterFile;
    level.instances = array.component->mesh.empty() ? view.elements() : array.instances;
    level.wordBits = view.macBits;
    level.capacity = Bytes(static_cast<double>(view.macBits) / 8);
    level.keeps = *view.dataflow == Dataflow::OutputStationary  ? keepsOutputs
                  : *view.dataflow == Dataflow::InputStationary ? keepsInputs
                                                                : keepsWeights;
    level.implied = true;
    view.levels.push_back(level);
    view.assumptions.push_back(fmt::format("Each element of `{}` holds the one word that stays in a {} array",
                                           nameOf(*array.component), toText(*view.dataflow)));
}

Expected<void> readLevels(const std::vector<Part>& parts, const std::vector<const Component*>& around,
                          const Part& array, SpatialArrayView& view) {
    std::vector<const Component*> way;
    wayTo(*parts.front().component, array.component, way);
    struct Found {
        Part part;
        int height;
    };
    std::vector<Found> found;
    for (const Part& part : parts) {
        if (!detail::remembers(part.component->kind) || onlyInstructions(*part.component)) continue;
        if (const auto height = heightOf(part, way)) found.push_back({part, *height});
    }
    const auto isDram = [](const Found& f) { return f.part.component->kind == ComponentKind::Dram; };
    // Outside the device, up to the first place with a main memory.
    for (std::size_t i = around.size() - 1; i-- > 0 && std::none_of(found.begin(), found.end(), isDram);) {
        std::string path;
        for (std::size_t k = 0; k <= i; ++k) path += (k ? "/" : "") + std::string(nameOf(*around[k]));
        for (const Component& sibling : around[i]->children) {
            if (!detail::remembers(sibling.kind) || onlyInstructions(sibling)) continue;
            const Measure* own = measureOf(sibling, "clock");
            found.push_back({{&sibling, around[i], path + "/" + std::string(nameOf(sibling)), sibling.instances(),
                              own ? Hertz(own->si) : view.clock},
                             static_cast<int>(way.size() + around.size() - i)});
        }
    }
    // Main memory outermost, then from far to near; siblings in the order of the file.
    std::stable_sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
        if (isDram(a) != isDram(b)) return isDram(a);
        return a.height > b.height;
    });
    for (const Found& each : found) {
        auto level = readLevel(each.part, view);
        if (!level) return tl::unexpected(std::move(level.error()));
        view.levels.push_back(std::move(*level));
    }
    if (view.levels.empty())
        return fail("hardware.missing-component", fmt::format("`{}` reaches no memory", view.name),
                    "a DRAM or buffer in the device or beside it", "add a DRAM", {{}, 0, 0, view.path});
    const bool inside = !found.empty() && found.back().part.parent == array.component;
    if (inside) return {};
    if (!view.dataflow)
        return missing(array, "dataflow", "weight-stationary", "and holds no register file that would say what stays");
    if (*view.dataflow == Dataflow::RowStationary)
        return fail("hardware.missing-component",
                    fmt::format("`{}` is row-stationary and holds no register files", nameOf(*array.component)),
                    "register files inside it that keep inputs, weights and outputs",
                    "add them, or choose another dataflow", {{}, 0, 0, array.path});
    addImplied(view, array);
    return {};
}

}  // namespace

std::string_view toText(Dataflow dataflow) {
    return dataflows[static_cast<std::size_t>(dataflow)];
}

Expected<SpatialArrayView> spatialArrayView(const DeviceRef& device) {
    const auto place = detail::surroundingsOf(device);
    if (!place) return Unexpected(place.error());
    const auto& around = place->around;
    if (!detail::holdsArray(place->device()))
        return fail("hardware.no-array", fmt::format("`{}` holds no array of processing elements", place->path),
                    "an `array` with a mesh, or a `tensor_unit` with a dataflow",
                    "choose an accelerator, or add an array from the library", {{}, 0, 0, place->path});
    const auto parts = detail::partsOf(place->device(), place->path, place->clock);
    // An array that says how it works before one that does not.
    const auto best = [&](auto&& wanted) {
        return std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return wanted(*part.component); });
    };
    auto array = best([](const Component& c) { return c.kind == ComponentKind::Array; });
    if (array == parts.end()) array = best([](const Component& c) { return detail::isArray(c) && c.find("dataflow"); });
    if (array == parts.end()) array = best(detail::isArray);

    SpatialArrayView view;
    view.name = std::string(nameOf(*around.back()));
    view.path = array->path;
    view.clock = array->clock;
    if (view.clock.value <= 0)
        return fail("hardware.no-clock", fmt::format("`{}` has no clock", nameOf(*array->component)),
                    "`clock` on the array or a component that contains it", "add `clock`, such as `clock: 1 GHz`",
                    {{}, 0, 0, array->path + ".clock"});
    const Part* mac = nullptr;
    for (const Part& part : parts) {
        if (part.parent == array->component && part.component->kind == ComponentKind::Mac) mac = &part;
    }
    if (mac) {
        view.macBits = bitsOf(measureOf(*mac->component, "width"), view.macBits);
        view.macsPerElement = std::max<std::int64_t>(mac->component->instances(), 1);
    }
    if (auto read = readMesh(*array, view); !read) return tl::unexpected(std::move(read.error()));
    for (const Component* each : {mac ? mac->component : nullptr, array->component}) {
        const Measure* energy = each ? measureOf(*each, "energy") : nullptr;
        if (energy && view.macEnergy.value <= 0) view.macEnergy = Joules(2 * energy->si);
    }
    if (const std::string* text = textOf(*array->component, "dataflow")) {
        const auto at = std::find(dataflows.begin(), dataflows.end(), *text);
        if (at != dataflows.end()) view.dataflow = static_cast<Dataflow>(at - dataflows.begin());
    }
    if (const std::string* text = textOf(*array->component, "noc")) view.noc = *text;
    for (const Component* each : around) {
        if (const std::string* text = textOf(*each, "energy_table")) view.energyTable = *text;
    }
    if (auto read = readLevels(parts, around, *array, view); !read) return tl::unexpected(std::move(read.error()));
    if (view.arrays > 1)
        view.assumptions.push_back(fmt::format("The {} arrays stand side by side: {} columns of {} elements",
                                               view.arrays, view.arrays * view.columns, view.rows));
    return view;
}

Expected<SpatialArrayView> spatialArrayView(const Hardware& hardware) {
    const auto first = firstArrayDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return spatialArrayView(*first);
}

}  // namespace orrery
