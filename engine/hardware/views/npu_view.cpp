#include "hardware/views/npu_view.h"

#include "base/unit.h"
#include "hardware/attributes.h"
#include "hardware/views/device_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using detail::Part;

constexpr double usualMemoryLatency = 100e-9;

Unexpected missing(std::string code, std::string message, std::string expected, std::string hint, std::string path) {
    return fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                Place{{}, 0, 0, std::move(path)});
}

class Reader {
public:
    Reader(detail::DeviceParts& parts, const DeviceView& device) : parts_(parts), device_(device) {}

    Expected<NpuView> read() {
        view_.name = device_.name;
        view_.path = device_.path;
        if (auto ok = readArray(); !ok) return Unexpected(std::move(ok.error()));
        if (auto ok = readBuffers(); !ok) return Unexpected(std::move(ok.error()));
        if (auto ok = readVector(); !ok) return Unexpected(std::move(ok.error()));
        if (auto ok = readMemory(); !ok) return Unexpected(std::move(ok.error()));
        view_.launchOverhead = device_.launchOverhead;
        for (const DType type : {DType::F32, DType::TF32, DType::BF16, DType::F16, DType::FP8}) {
            view_.floats |= device_.peak(true, type).value > 0;
        }
        view_.assumptions.insert(view_.assumptions.end(), device_.assumptions.begin(), device_.assumptions.end());
        view_.used = parts_.used();
        return view_;
    }

private:
    std::string textOf(const Part& part, std::string_view attribute) {
        const std::string* text = parts_.text(part, attribute);
        return text ? *text : std::string();
    }
    bool keepsOnlyOutputs(const Part& buffer) {
        const auto* list = parts_.list(buffer, "keeps");
        return list && list->size() == 1 && list->front() == "outputs";
    }
    std::size_t depthOf(const Part& part) const {
        std::size_t depth = 0;
        for (const Part* each = &part; each; each = parts_.parentOf(*each)) ++depth;
        return depth;
    }

    Expected<void> readArray() {
        const Part* unit = nullptr;
        for (const Part& part : parts_.inside()) {
            if (!detail::isArray(*part.component) || !part.component->find("dataflow")) continue;
            if (!unit || parts_.isMore(part, *unit)) unit = &part;
        }
        if (!unit) {
            return missing("hardware.not-an-npu", fmt::format("`{}` has no systolic array", device_.name),
                           "an `array` or `tensor_unit` with a `dataflow`",
                           "choose a TPU or an accelerator, or set `dataflow` on the unit that is a systolic array",
                           device_.path);
        }
        const auto text = textOf(*unit, "dataflow");
        const auto known = dataflow(text);
        if (known != Dataflow::WeightStationary && known != Dataflow::OutputStationary) {
            return missing("hardware.dataflow", fmt::format("`{}` is {}", nameOf(*unit->component), text),
                           "weight-stationary or output-stationary",
                           "choose another method, or change the dataflow of the array", unit->path + ".dataflow");
        }
        unit_ = unit;
        view_.dataflow = *known;
        std::int64_t units = unit->instances;
        if (unit->component->kind == ComponentKind::Array) {
            const auto& mesh = unit->component->mesh;
            if (mesh.size() != 2 || mesh[0] < 1 || mesh[1] < 1) {
                return missing("hardware.missing-mesh", fmt::format("array `{}` has no two sides", unit->path),
                               "`mesh: [columns, rows]`", "add the mesh of its processing elements", unit->path);
            }
            view_.columns = mesh[0];
            view_.rows = mesh[1];
            units /= mesh[0] * mesh[1];
        } else if (auto ok = sidesFromRate(*unit); !ok) {
            return ok;
        }
        std::int64_t cores = 0;
        for (const Part& part : parts_.inside()) {
            if (part.component->kind == ComponentKind::Core && parts_.contains(part, *unit)) {
                cores = std::max(cores, part.instances);
            }
        }
        view_.cores = std::max<std::int64_t>(cores, 1);
        view_.arrays = std::max<std::int64_t>(units / view_.cores, 1);
        view_.clock = unit->clock.value > 0 ? parts_.clockOf(*unit) : device_.clock;
        if (view_.clock.value <= 0) {
            return missing("hardware.no-clock", fmt::format("`{}` has no clock", unit->path),
                           "`clock` on it or on a component around it", "add `clock`, such as `clock: 1 GHz`",
                           unit->path + ".clock");
        }
        return {};
    }

    Expected<void> sidesFromRate(const Part& unit) {
        const auto* rows = parts_.table(unit, "macs");
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

    // The innermost buffer on the way to the array that may keep operands is the scratchpad (of several, the smallest);
    // one that keeps results alone the accumulator.
    Expected<void> readBuffers() {
        const Part* spad = nullptr;
        const Part* accumulator = nullptr;
        const auto isInner = [this](const Part& a, const Part& b) {
            if (depthOf(a) != depthOf(b)) return depthOf(a) > depthOf(b);
            return parts_.measure(a, "capacity")->si <= parts_.measure(b, "capacity")->si;
        };
        const auto feeds = [this](const Part& part) { return parts_.contains(*parts_.parentOf(part), *unit_); };
        const bool beside = std::ranges::any_of(parts_.inside(), [&](const Part& part) {
            return part.component->kind == ComponentKind::Buffer && part.parent >= 0 && feeds(part);
        });
        for (const Part& part : parts_.inside()) {
            if (part.component->kind != ComponentKind::Buffer || !parts_.measure(part, "capacity")) continue;
            if (part.parent < 0 || (beside && !feeds(part))) continue;
            const Part*& chosen = keepsOnlyOutputs(part) ? accumulator : spad;
            if (!chosen || isInner(part, *chosen)) chosen = &part;
        }
        if (!spad) {
            return missing("hardware.no-scratchpad", fmt::format("`{}` has no scratchpad", device_.name),
                           "a `buffer` with a `capacity`", "add the buffer that feeds the arrays", device_.path);
        }
        const auto share = [this](const Part& part) {
            return Bytes(parts_.measure(part, "capacity")->si * static_cast<double>(part.instances) /
                         static_cast<double>(view_.cores));
        };
        view_.scratchpadName = std::string(nameOf(*spad->component));
        view_.scratchpad = share(*spad);
        if (accumulator) view_.accumulator = share(*accumulator);
        return {};
    }

    Expected<void> readVector() {
        for (const Part& part : parts_.inside()) {
            if (part.component->kind != ComponentKind::VectorUnit) continue;
            const auto* rows = parts_.table(part, "flops");
            double most = 0;
            for (const TableRow& row : rows ? *rows : std::vector<TableRow>{}) {
                most = std::max(most, row.value.perCycle ? row.value.si * parts_.clockOf(part).value : row.value.si);
            }
            view_.vectorOps += parts_.measureOr(part, "lanes", 1) * most / view_.clock.value *
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
        if (const Part* memory = partAt(main.place)) {
            view_.timing = textOf(*memory, "timing");
            const double copies = static_cast<double>(std::max<std::int64_t>(main.instances, 1));
            if (const Measure* channels = parts_.measure(*memory, "channels")) {
                view_.channels = std::llround(channels->si * copies);
            }
            if (const Measure* word = parts_.measure(*memory, "word")) view_.word = Bytes(std::fmax(word->si, 1.0));
            if (const Measure* lanes = parts_.measure(*memory, "layout_lanes")) {
                view_.layoutLanes = std::max<std::int64_t>(std::llround(lanes->si), 1);
            }
        }
        for (const Part& part : parts_.inside()) {
            if (part.component->kind == ComponentKind::Array) continue;
            const Measure* noc = parts_.measure(part, "noc_bandwidth");
            if (!noc) continue;
            const double hertz = part.clock.value > 0 ? part.clock.value : view_.clock.value;
            view_.portBandwidth =
                BytesPerSecond((noc->perCycle ? noc->si * hertz : noc->si) / static_cast<double>(view_.cores));
        }
        return {};
    }

    const Part* partAt(const ComponentPath& place) const {
        for (const auto parts : {parts_.inside(), parts_.outside()}) {
            for (const Part& part : parts) {
                if (part.members.front().place == place) return &part;
            }
        }
        return nullptr;
    }

    detail::DeviceParts& parts_;
    const DeviceView& device_;
    const Part* unit_ = nullptr;  // the array
    NpuView view_;
};

}  // namespace

Expected<NpuView> npuView(const DeviceRef& ref) {
    auto parts = detail::DeviceParts::of(ref);
    if (!parts) return Unexpected(std::move(parts.error()));
    auto device = detail::viewOf(*parts, ref);
    if (!device) return Unexpected(std::move(device.error()));
    if (device->levels.empty()) {
        return missing("hardware.missing-bandwidth", fmt::format("`{}` has no main memory", device->name),
                       "a `dram` with a bandwidth", "add the memory that feeds it", device->path);
    }
    return Reader(*parts, *device).read();
}

Expected<NpuView> npuView(const Hardware& hardware) {
    const auto first = firstDevice(borrowed(hardware));
    if (!first) return Unexpected(first.error());
    return npuView(*first);
}

}  // namespace orrery
