#include "hardware/views/soc_view.h"

#include "base/unit.h"
#include "hardware/network/links.h"
#include "hardware/views/cluster_tier.h"
#include "hardware/views/device_parts.h"
#include "hardware/views/device_view.h"
#include "hardware/views/spatial_array_view.h"
#include "hardware/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {

namespace {

using detail::standsIn;

constexpr double usualLine = 64;
constexpr std::uint32_t allOperands = keepsInputs | keepsWeights | keepsOutputs;

struct Places {
    ComponentPath processor, accelerator, memory;
};

bool joins(const LinkEnds& link, const ComponentPath& a, auto&& isOther) {
    if (!link.from || !link.to) return false;
    return (standsIn(*link.from, a) && isOther(*link.to)) || (standsIn(*link.to, a) && isOther(*link.from));
}

// Links between two places add up; nothing where none states a bandwidth.
std::optional<SocWay> overLinks(const Component& root, const ComponentPath& accelerator, auto&& isOther) {
    SocWay way;
    std::vector<ComponentPath> links;
    for (const LinkEnds& link : linkEnds(root)) {
        if (!joins(link, accelerator, isOther)) continue;
        const Component& drawn = *componentAt(root, link.link);
        const double rate = detail::linkRate(root, link.link) * static_cast<double>(drawn.instances());
        if (rate <= 0) continue;
        if (links.empty()) way.name = std::string(nameOf(drawn));
        way.rate = BytesPerSecond(way.rate.value + rate);
        way.latency = Seconds(std::max(way.latency.value, detail::latencyOf(root, link.link)));
        if (const Measure* energy = detail::measureOf(drawn, "energy"))
            way.energy = JoulesPerByte(std::max(way.energy.value, energy->si));
        links.push_back(link.link);
    }
    if (links.empty()) return std::nullopt;
    way.used = detail::readOf(root, links);
    return way;
}

void readWays(const Component& root, const Places& at, SocView& view) {
    const auto isMemory = [&](const ComponentPath& end) { return standsIn(end, at.memory); };
    const auto isProcessor = [&](const ComponentPath& end) {
        return standsIn(end, at.processor) && !standsIn(end, at.memory);
    };
    view.coherent = overLinks(root, at.accelerator, isProcessor);
    view.direct = overLinks(root, at.accelerator, isMemory);
    if (!view.direct && view.shared) view.direct = SocWay{view.memoryName, view.memoryBandwidth, {}, {}, {}};
    if (!view.direct) view.direct = view.coherent;
    if (view.direct) view.direct->rate = std::min(view.direct->rate, view.memoryBandwidth);
}

// A part inside a device, and what it stands in.
PartsRead readInside(const ComponentPath& device, const ComponentPath& below, std::vector<std::string> attributes) {
    ComponentPath path = device;
    path.insert(path.end(), below.begin(), below.end());
    PartsRead read;
    for (std::size_t depth = 0; depth < path.size(); ++depth)
        read.parts.push_back({ComponentPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)), {}});
    read.parts.push_back({path, std::move(attributes)});
    return read;
}

// Of the caches inside the processor: all have one.
void readLine(const Component& root, const ComponentPath& processor, SocView& view) {
    walk(*componentAt(root, processor), [&](const Component& part, const ComponentPath& below) {
        const Measure* found = part.kind == ComponentKind::Cache ? detail::measureOf(part, "line") : nullptr;
        if (!found) return true;
        view.line = Bytes(found->si);
        view.used.add(readInside(processor, below, {"line"}));
        return true;
    });
    if (view.line.value > 0) return;
    view.line = Bytes(usualLine);
    view.assumptions.push_back(
        fmt::format("No cache of `{}` gives its line: {} are assumed.", view.processorName, format(view.line)));
}

// Per operand the outermost level on the chip that keeps it.
Expected<void> readBuffers(const SpatialArrayView& array, SocView& view) {
    constexpr std::array operands{std::pair{keepsInputs, "inputs"}, std::pair{keepsWeights, "weights"},
                                  std::pair{keepsOutputs, "outputs"}};
    for (const auto& [operand, name] : operands) {
        const auto level = std::ranges::find_if(array.levels, [&](const ArrayLevel& each) {
            return &each != array.levels.data() && !each.implied && each.capacity.value > 0 &&
                   (each.keeps == 0 || (each.keeps & operand));
        });
        if (level == array.levels.end())
            return fail("soc.no-scratchpad", fmt::format("nothing in `{}` keeps {}", view.acceleratorName, name),
                        "a `buffer` with a `capacity`, for all operands or with `keeps`",
                        fmt::format("draw the scratchpad that holds tiles of {}", name), Place{{}, 0, 0, array.path});
        const auto known = std::ranges::find(view.buffers, level->name, &SocBuffer::name);
        if (known != view.buffers.end()) continue;
        view.buffers.push_back({level->name, Bytes(level->capacity.value * static_cast<double>(level->instances)),
                                level->energy, level->keeps == 0 ? allOperands : level->keeps & allOperands});
    }
    return {};
}

void readVectors(const DeviceRef& accelerator, SocView& view) {
    walk(*accelerator.component(), [&](const Component& part, const ComponentPath& below) {
        if (part.kind != ComponentKind::VectorUnit) return true;
        view.vectors = true;
        view.used.add(readInside(accelerator.path, below, {"lanes", "flops"}));
        return true;
    });
}

// What devices of this kind hold beside one processor: all of the design over the copies of what contains both.
std::int64_t copiesBeside(const DeviceRef& processor, const DeviceRef& accelerator) {
    const ComponentPath parent = commonParent(processor.path, accelerator.path);
    const std::int64_t around = std::max<std::int64_t>(1, copiesOf({processor.design, parent}));
    return std::max<std::int64_t>(1, copiesOf(accelerator) / around);
}

}  // namespace

Expected<SocView> socView(const DeviceRef& processor) {
    auto cpu = deviceView(processor);
    if (!cpu) return Unexpected(std::move(cpu.error()));
    if (cpu->platform != "cpu")
        return fail("method.not-applicable", fmt::format("`{}` is not a CPU", cpu->name),
                    "a device with `platform: cpu` that feeds accelerators",
                    "choose a design with a CPU, or a method for this kind of device", Place{{}, 0, 0, cpu->path});
    const auto devices = devicesOf(processor.design);
    if (!devices) return Unexpected(devices.error());
    const Component& root = processor.design->root;
    SocView view;
    view.processor = processor;
    view.processorName = cpu->name;
    view.memoryName = cpu->main().name;
    view.memoryBandwidth = cpu->main().bandwidth;
    view.memoryEnergy = cpu->main().energy;
    view.operationEnergy = cpu->flopEnergy;
    if (cpu->levels.size() > 1 && cpu->levels[1].kind == ComponentKind::Cache) {
        view.cacheName = cpu->levels[1].name;
        view.cache = cpu->levels[1].capacity;
        view.cacheBandwidth = cpu->levels[1].bandwidth;
    }
    readLine(root, processor.path, view);

    std::optional<SpatialArrayView> array;
    std::uint64_t kind = 0;
    std::string unjoined;
    for (const DeviceRef& device : *devices) {
        if (device == processor || !detail::holdsArray(*device.component())) continue;
        const std::uint64_t own = detail::alikeHash(*device.component());
        if (array && own != kind) {
            view.assumptions.push_back(fmt::format("Work goes to accelerators like `{}` alone; `{}` differs.",
                                                   view.acceleratorName, pathText(device)));
            continue;
        }
        auto one = spatialArrayView(device);
        if (!one) return Unexpected(std::move(one.error()));
        const auto ownView = deviceView(device);
        if (!ownView) return Unexpected(ownView.error());
        SocView there = view;
        there.acceleratorName = ownView->name;
        there.shared = ownView->main().place == cpu->main().place;
        readWays(root, {processor.path, device.path, cpu->main().place}, there);
        if (!there.direct) {
            unjoined = pathText(device);
            continue;
        }
        const std::int64_t copies = copiesBeside(processor, device);
        if (array) {
            view.accelerators += copies;
            if (there.direct->name != view.direct->name)
                view.assumptions.push_back(fmt::format("`{}` shares `{}` with `{}`: its own way, `{}`, is not used.",
                                                       ownView->name, view.direct->name, view.acceleratorName,
                                                       there.direct->name));
            view.used.add(one->used);
            continue;
        }
        there.accelerator = device;
        there.accelerators = copies;
        there.inputLanes = one->rows * one->macsPerElement;
        there.outputLanes = one->columns * one->arrays;
        there.macEnergy = one->macEnergy;
        there.clock = one->clock;
        readVectors(device, there);
        kind = own;
        view = std::move(there);
        array = std::move(*one);
    }
    if (!array && !unjoined.empty())
        return fail("soc.no-way", fmt::format("nothing joins `{}` and `{}`", view.processorName, unjoined),
                    "a `dram` beside both, or a `link` with a bandwidth between the two",
                    fmt::format("draw a link from `{}` to `{}`, or to its memory", unjoined, view.processorName),
                    Place{{}, 0, 0, unjoined});
    if (!array)
        return fail("method.not-applicable", fmt::format("no device beside `{}` has an array", view.processorName),
                    "an accelerator with an `array` or a `tensor_unit` with a `dataflow`",
                    "draw an accelerator beside it, or choose a method for CPUs", Place{{}, 0, 0, cpu->path});
    if (auto read = readBuffers(*array, view); !read) return Unexpected(std::move(read.error()));
    view.used.add(cpu->used);
    view.used.add(array->used);
    return view;
}

Expected<SocView> socView(const Hardware& hardware) {
    const auto devices = devicesOf(borrowed(hardware));
    if (!devices) return Unexpected(devices.error());
    Expected<SocView> refused = fail("method.not-applicable", "the design has no CPU", "a device with `platform: cpu`");
    for (const DeviceRef& device : *devices) {
        auto view = socView(device);
        if (view || view.error().code != "method.not-applicable") return view;
        if (&device == devices->data()) refused = std::move(view);
    }
    return refused;
}

}  // namespace orrery
