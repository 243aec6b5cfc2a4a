#include "hardware/views/spatial_array_view.h"

#include "base/dtype.h"
#include "hardware/attributes.h"
#include "hardware/views/device_parts.h"
#include "hardware/views/interconnect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

using detail::DeviceParts;
using detail::Part;

Unexpected missing(const Part& part, std::string_view attribute, std::string_view example, std::string_view why) {
    return fail("hardware.missing-attribute",
                fmt::format("`{}` has no {}, {}", nameOf(*part.component), attribute, why),
                fmt::format("`{}`, such as `{}`", attribute, example), "set it in the inspector or the file",
                {{}, 0, 0, fmt::format("{}.{}", part.path, attribute)});
}

std::uint32_t keepsOf(DeviceParts& parts, const Part& part) {
    const auto* list = parts.list(part, "keeps");
    std::uint32_t keeps = 0;
    for (const std::string& operand : list ? *list : std::vector<std::string>{}) {
        if (operand == "inputs") keeps |= keepsInputs;
        if (operand == "weights") keeps |= keepsWeights;
        if (operand == "outputs") keeps |= keepsOutputs;
    }
    return keeps;
}

bool holdsOperands(DeviceParts& parts, const Part& part) {
    if (!detail::remembers(part.component->kind)) return false;
    return !part.component->find("keeps") || keepsOf(parts, part) != 0;
}

std::int64_t bitsOf(const Measure* data, std::int64_t otherwise) {
    return data && data->si > 0 ? std::max<std::int64_t>(std::llround(data->si * 8), 1) : otherwise;
}

Expected<void> readMesh(DeviceParts& parts, const Part& array, SpatialArrayView& view) {
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
    const auto* rows = parts.table(array, "macs");
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

Expected<ArrayLevel> readLevel(DeviceParts& parts, const Part& part, SpatialArrayView& view) {
    const Component& component = *part.component;
    ArrayLevel level;
    level.name = std::string(nameOf(component));
    level.path = part.path;
    level.kind = component.kind;
    level.instances = part.instances;
    level.keeps = keepsOf(parts, part);
    level.wordBits = bitsOf(parts.measure(part, "word"), view.macBits);
    if (const Measure* block = parts.measure(part, "block"))
        level.block = std::max<std::int64_t>(std::llround(std::min(block->si, 1e6)), 1);
    const Measure* capacity = parts.measure(part, "capacity");
    if (capacity) level.capacity = Bytes(capacity->si);
    if (!capacity && component.kind != ComponentKind::Dram)
        return missing(part, "capacity", "128 KiB", "so it is not known which tiles fit");
    if (const Measure* bandwidth = parts.measure(part, "bandwidth")) {
        const auto rate = parts.perSecond(part, "bandwidth", *bandwidth);
        if (!rate) return tl::unexpected(rate.error());
        level.bandwidth = BytesPerSecond(*rate);
    } else if (component.kind == ComponentKind::Dram) {
        return missing(part, "bandwidth", "34 GB/s", "so nothing limits the traffic to main memory");
    } else {
        view.assumptions.push_back(fmt::format("`{}` gives no bandwidth and limits nothing", level.name));
    }
    if (const Measure* energy = parts.measure(part, "energy")) level.energy = JoulesPerByte(energy->si);
    if (const Measure* energy = parts.measure(part, "relative_energy")) level.relativeEnergy = energy->si;
    return level;
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

// Memories beside the way from the device to the array and, where no main memory is among them, around the device.
std::vector<const Part*> memoriesOnTheWay(DeviceParts& parts, int array, SpatialArrayView& view) {
    const auto stands = [&](const Part& part) {
        const Part* holder = parts.parentOf(part);
        return holder && holdsOperands(parts, part) && parts.contains(*holder, parts.at(array));
    };
    const auto isDram = [](const Part* part) { return part->component->kind == ComponentKind::Dram; };
    bool dram = false;
    for (const Part& part : parts.inside()) dram = dram || (isDram(&part) && &part != &parts.device() && stands(part));
    if (!dram) parts.outside(view.clock, parts.at(array).clockFrom);
    std::vector<const Part*> found;
    for (const Part& part : parts.inside()) {
        if (&part != &parts.device() && stands(part)) found.push_back(&part);
    }
    for (const Part& part : parts.outside()) {
        if (holdsOperands(parts, part)) found.push_back(&part);
    }
    // Main memory outermost, then from far to near; siblings that keep different operands in the order of the file,
    // else the larger further out.
    const auto bytes = [&](const Part* part) {
        return part->component->find("keeps") ? 0 : parts.measureOr(*part, "capacity", 0);
    };
    std::ranges::stable_sort(found, [&](const Part* a, const Part* b) {
        if (isDram(a) != isDram(b)) return isDram(a);
        if (a->parent != b->parent) return parts.contains(parts.at(a->parent), parts.at(b->parent));
        return bytes(a) > bytes(b);
    });
    return found;
}

Expected<void> readLevels(DeviceParts& parts, int arrayIndex, SpatialArrayView& view) {
    const auto found = memoriesOnTheWay(parts, arrayIndex, view);
    const Part& array = parts.at(arrayIndex);
    for (const Part* each : found) {
        auto level = readLevel(parts, *each, view);
        if (!level) return tl::unexpected(std::move(level.error()));
        view.levels.push_back(std::move(*level));
    }
    if (view.levels.empty())
        return fail("hardware.missing-component", fmt::format("`{}` reaches no memory", view.name),
                    "a DRAM or buffer in the device or beside it", "add a DRAM", {{}, 0, 0, view.path});
    const bool inside = !found.empty() && found.back()->parent == arrayIndex;
    if (inside) return {};
    if (!view.dataflow)
        return missing(array, "dataflow", toText(Dataflow::WeightStationary),
                       "and holds no register file that would say what stays");
    if (*view.dataflow == Dataflow::RowStationary)
        return fail("hardware.missing-component",
                    fmt::format("`{}` is row-stationary and holds no register files", nameOf(*array.component)),
                    "register files inside it that keep inputs, weights and outputs",
                    "add them, or choose another dataflow", {{}, 0, 0, array.path});
    addImplied(view, array);
    return {};
}

void boundMainMemory(DeviceParts& parts, const DeviceRef& device, SpatialArrayView& view) {
    const auto way = detail::interconnectOf(parts, device);
    ArrayLevel& main = view.levels.front();
    const auto instances = static_cast<double>(std::max<std::int64_t>(main.instances, 1));
    if (!way || way->bandwidth.value <= 0 || way->bandwidth >= main.bandwidth * instances) return;
    view.assumptions.push_back(fmt::format("`{}` lets {} of {} of `{}` pass, whose bytes are spread evenly", way->name,
                                           format(way->bandwidth), format(main.bandwidth * instances), main.name));
    main.bandwidth = way->bandwidth / instances;
}

}  // namespace

Expected<SpatialArrayView> spatialArrayView(const DeviceRef& device) {
    auto taken = DeviceParts::of(device);
    if (!taken) return Unexpected(std::move(taken.error()));
    DeviceParts& parts = *taken;
    // An array that says how it works before one that does not; of several, what there is most of.
    int chosen = -1, rank = 0;
    for (const Part& part : parts.inside()) {
        const Component& component = *part.component;
        const int own = component.kind == ComponentKind::Array ? 2 : detail::isArray(component) ? 1 : 0;
        if (own == 0 || own < rank) continue;
        if (own == rank && !parts.isMore(part, parts.at(chosen))) continue;
        rank = own;
        chosen = parts.indexOf(part);
    }
    if (chosen < 0)
        return fail("hardware.no-array", fmt::format("`{}` holds no array of processing elements", parts.device().path),
                    "an `array` with a mesh, or a `tensor_unit` with a dataflow",
                    "choose an accelerator, or add an array from the library", {{}, 0, 0, parts.device().path});
    const Part& array = parts.at(chosen);
    parts.count(array);

    SpatialArrayView view;
    view.name = std::string(nameOf(*parts.device().component));
    view.path = array.path;
    view.clock = parts.clockOf(array);
    if (view.clock.value <= 0)
        return fail("hardware.no-clock", fmt::format("`{}` has no clock", nameOf(*array.component)),
                    "`clock` on the array or a component that contains it", "add `clock`, such as `clock: 1 GHz`",
                    {{}, 0, 0, array.path + ".clock"});
    const Part* mac = nullptr;
    for (const Part& part : parts.inside()) {
        if (part.parent == chosen && part.component->kind == ComponentKind::Mac) mac = &part;
    }
    if (mac) {
        parts.count(*mac);
        view.macBits = bitsOf(parts.measure(*mac, "width"), view.macBits);
        view.macsPerElement = std::max<std::int64_t>(mac->instances / std::max<std::int64_t>(array.instances, 1), 1);
    }
    if (auto read = readMesh(parts, array, view); !read) return tl::unexpected(std::move(read.error()));
    for (const Part* each : {mac, &array}) {
        const Measure* energy = each ? parts.measure(*each, "energy") : nullptr;
        if (energy && view.macEnergy.value <= 0) view.macEnergy = Joules(2 * energy->si);
    }
    if (const std::string* text = parts.text(array, "dataflow")) view.dataflow = dataflow(*text);
    if (const std::string* text = parts.text(array, "noc")) view.noc = *text;
    if (const Attribute* table = parts.stated("energy_table")) view.energyTable = toText(table->value);
    if (const Attribute* named = parts.stated("process")) view.process = toText(named->value);
    if (auto read = readLevels(parts, chosen, view); !read) return tl::unexpected(std::move(read.error()));
    boundMainMemory(parts, device, view);
    if (view.arrays > 1)
        view.assumptions.push_back(fmt::format("The {} arrays are side by side: {} columns of {} elements", view.arrays,
                                               view.arrays * view.columns, view.rows));
    view.used = parts.used();
    return view;
}

Expected<SpatialArrayView> spatialArrayView(const Hardware& hardware) {
    const auto first = firstArrayDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return spatialArrayView(*first);
}

}  // namespace orrery
