#include "hardware/views/npu_view.h"

#include "base/unit.h"
#include "hardware/attributes.h"
#include "hardware/views/device_collect.h"
#include "hardware/views/device_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using detail::measureOf;
using detail::Part;

constexpr double usualMemoryLatency = 100e-9;

Unexpected missing(std::string code, std::string message, std::string expected, std::string hint, std::string path) {
    return fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                Place{{}, 0, 0, std::move(path)});
}

std::string textOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    return found ? toText(found->value) : std::string();
}

// The component that `path` names, walking names from the root.
const Component* atPath(const Component& root, std::string_view path) {
    const std::string own(nameOf(root));
    if (path == own) return &root;
    if (path.substr(0, own.size() + 1) != own + "/") return nullptr;
    for (const Component& child : root.children) {
        if (const Component* found = atPath(child, path.substr(own.size() + 1))) return found;
    }
    return nullptr;
}

bool keepsOnlyOutputs(const Component& buffer) {
    const Attribute* keeps = buffer.find("keeps");
    const auto* list = keeps ? std::get_if<std::vector<std::string>>(&keeps->value) : nullptr;
    return list && list->size() == 1 && list->front() == "outputs";
}

class Reader {
public:
    Reader(const DeviceRef& ref, const DeviceView& device) : ref_(ref), device_(device) {}

    Expected<NpuView> read() {
        view_.name = device_.name;
        view_.path = device_.path;
        parts_ = detail::partsOf(*ref_.component(), device_.path, device_.clock);
        if (auto ok = readArray(); !ok) return Unexpected(std::move(ok.error()));
        if (auto ok = readBuffers(); !ok) return Unexpected(std::move(ok.error()));
        if (auto ok = readVector(); !ok) return Unexpected(std::move(ok.error()));
        if (auto ok = readMemory(); !ok) return Unexpected(std::move(ok.error()));
        view_.launchOverhead = device_.launchOverhead;
        view_.assumptions.insert(view_.assumptions.end(), device_.assumptions.begin(), device_.assumptions.end());
        return view_;
    }

private:
    Expected<void> readArray() {
        const Part* unit = nullptr;
        for (const Part& part : parts_) {
            const auto kind = part.component->kind;
            if ((kind == ComponentKind::Array || kind == ComponentKind::TensorUnit) &&
                !textOf(*part.component, "dataflow").empty()) {
                unit = &part;
                break;
            }
        }
        if (!unit) {
            return missing("hardware.not-an-npu", fmt::format("`{}` has no systolic array", device_.name),
                           "an `array` or `tensor_unit` with a `dataflow`",
                           "choose a TPU or an accelerator, or set `dataflow` on the unit that is a systolic array",
                           device_.path);
        }
        const auto dataflow = textOf(*unit->component, "dataflow");
        if (dataflow != "weight-stationary" && dataflow != "output-stationary") {
            return missing("hardware.dataflow", fmt::format("`{}` is {}", nameOf(*unit->component), dataflow),
                           "weight-stationary or output-stationary",
                           "choose another method, or change the dataflow of the array", unit->path + ".dataflow");
        }
        view_.dataflow =
            dataflow == "weight-stationary" ? NpuDataflow::WeightStationary : NpuDataflow::OutputStationary;
        std::int64_t units = unit->instances;
        if (unit->component->kind == ComponentKind::Array) {
            const auto& mesh = unit->component->mesh;
            if (mesh.size() != 2 || mesh[0] < 1 || mesh[1] < 1) {
                return missing("hardware.missing-mesh", fmt::format("array `{}` has no two sides", unit->path),
                               "`mesh: [rows, columns]`", "add the mesh of its processing elements", unit->path);
            }
            view_.rows = mesh[0];
            view_.columns = mesh[1];
            units /= mesh[0] * mesh[1];
        } else if (auto ok = sidesFromRate(*unit); !ok) {
            return ok;
        }
        std::int64_t cores = 0;
        for (const Part& part : parts_) {
            if (part.component->kind == ComponentKind::Core && unit->path.rfind(part.path + "/", 0) == 0) {
                cores = std::max(cores, part.instances);
            }
        }
        view_.cores = std::max<std::int64_t>(cores, 1);
        view_.arrays = std::max<std::int64_t>(units / view_.cores, 1);
        view_.clock = unit->clock.value > 0 ? unit->clock : device_.clock;
        if (view_.clock.value <= 0) {
            return missing("hardware.no-clock", fmt::format("`{}` has no clock", unit->path),
                           "`clock` on it or on a component around it", "add `clock`, such as `clock: 1 GHz`",
                           unit->path + ".clock");
        }
        return {};
    }

    Expected<void> sidesFromRate(const Part& unit) {
        const Attribute* macs = unit.component->find("macs");
        const auto* rows = macs ? std::get_if<std::vector<TableRow>>(&macs->value) : nullptr;
        double most = 0;
        for (const TableRow& row : rows ? *rows : std::vector<TableRow>{}) {
            const double hertz = unit.clock.value > 0 ? unit.clock.value : device_.clock.value;
            most = std::max(most, row.value.perCycle ? row.value.si : hertz > 0 ? row.value.si / hertz : 0);
        }
        const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(std::fmax(most, 0.0))));
        if (side < 1 || std::fabs(static_cast<double>(side * side) - most) > 0.5) {
            return missing(
                "hardware.missing-mesh",
                fmt::format("`{}` does {:g} multiply-accumulates a cycle, which is no square", unit.path, most),
                "a square number, such as 16384/cycle for 128 x 128",
                "draw it as an `array` with a `mesh` if its sides differ", unit.path + ".macs");
        }
        view_.rows = view_.columns = side;
        view_.assumptions.push_back(
            fmt::format("`{}` is an array of {} x {}, from its rate.", nameOf(*unit.component), side, side));
        return {};
    }

    // The innermost buffer that may keep operands is the scratchpad; one that keeps results alone the accumulator.
    Expected<void> readBuffers() {
        const Part* spad = nullptr;
        const Part* accumulator = nullptr;
        for (const Part& part : parts_) {
            if (part.component->kind != ComponentKind::Buffer || !measureOf(*part.component, "capacity")) continue;
            (keepsOnlyOutputs(*part.component) ? accumulator : spad) = &part;
        }
        if (!spad) {
            return missing("hardware.no-scratchpad", fmt::format("`{}` has no scratchpad", device_.name),
                           "a `buffer` with a `capacity`", "add the buffer that feeds the arrays", device_.path);
        }
        const auto share = [this](const Part& part) {
            return Bytes(measureOf(*part.component, "capacity")->si * static_cast<double>(part.instances) /
                         static_cast<double>(view_.cores));
        };
        view_.scratchpadName = std::string(nameOf(*spad->component));
        view_.scratchpad = share(*spad);
        if (accumulator) view_.accumulator = share(*accumulator);
        return {};
    }

    Expected<void> readVector() {
        for (const Part& part : parts_) {
            if (part.component->kind != ComponentKind::VectorUnit) continue;
            const Measure* lanes = measureOf(*part.component, "lanes");
            const Attribute* flops = part.component->find("flops");
            const auto* rows = flops ? std::get_if<std::vector<TableRow>>(&flops->value) : nullptr;
            double most = 0;
            for (const TableRow& row : rows ? *rows : std::vector<TableRow>{}) {
                most = std::max(most, row.value.perCycle ? row.value.si * part.clock.value : row.value.si);
            }
            view_.vectorOps += (lanes ? lanes->si : 1) * most / view_.clock.value *
                               static_cast<double>(part.instances) / static_cast<double>(view_.cores);
        }
        if (view_.vectorOps <= 0) {
            return missing("hardware.no-vector-unit", fmt::format("`{}` has no vector unit with a rate", device_.name),
                           "a `vector_unit` with `lanes` and `flops`", "add the unit that does activations and softmax",
                           device_.path);
        }
        return {};
    }

    Expected<void> readMemory() {
        const MemoryLevel& main = device_.main();
        view_.memoryName = main.name;
        view_.memoryPath = main.path;
        view_.bandwidth = main.bandwidth;
        if (main.bandwidth.value <= 0) {
            return missing("hardware.missing-bandwidth", fmt::format("`{}` has no bandwidth", main.path),
                           "an attribute `bandwidth`, such as 450 GB/s", "set the bandwidth of " + main.path,
                           main.path + ".bandwidth");
        }
        view_.latency = main.latency;
        if (main.latency.value <= 0) {
            view_.latency = Seconds(usualMemoryLatency);
            view_.assumptions.push_back(
                fmt::format("`{}` gives no latency: {} is assumed.", main.name, format(view_.latency)));
        }
        const Component* memory = atPath(ref_.design->root, main.path);
        if (!memory) return {};
        view_.timing = textOf(*memory, "timing");
        const double copies = static_cast<double>(std::max<std::int64_t>(main.instances, 1));
        if (const Measure* channels = measureOf(*memory, "channels")) {
            view_.channels = std::llround(channels->si * copies);
        }
        if (const Measure* word = measureOf(*memory, "word")) view_.word = Bytes(std::fmax(word->si, 1.0));
        if (const Measure* lanes = measureOf(*memory, "layout_lanes")) {
            view_.layoutLanes = std::max<std::int64_t>(std::llround(lanes->si), 1);
        }
        for (const Part& part : parts_) {
            const Measure* noc = measureOf(*part.component, "noc_bandwidth");
            if (!noc || part.component->kind == ComponentKind::Array) continue;
            const double hertz = part.clock.value > 0 ? part.clock.value : view_.clock.value;
            view_.portBandwidth =
                BytesPerSecond((noc->perCycle ? noc->si * hertz : noc->si) / static_cast<double>(view_.cores));
        }
        return {};
    }

    const DeviceRef& ref_;
    const DeviceView& device_;
    std::vector<Part> parts_;
    NpuView view_;
};

}  // namespace

Expected<NpuView> npuView(const DeviceRef& ref) {
    auto device = deviceView(ref);
    if (!device) return Unexpected(std::move(device.error()));
    if (device->levels.empty()) {
        return missing("hardware.missing-bandwidth", fmt::format("`{}` has no main memory", device->name),
                       "a `dram` with a bandwidth", "add the memory that feeds it", device->path);
    }
    return Reader(ref, *device).read();
}

Expected<NpuView> npuView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return npuView(*first);
}

}  // namespace orrery
