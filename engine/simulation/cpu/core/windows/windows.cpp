#include "simulation/cpu/core/windows/windows.h"

#include "simulation/cpu/block/block.h"
#include "simulation/cpu/core/windows/window_flow.h"
#include "simulation/cpu/core/windows/window_run.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace orrery::pipeline {

namespace {

// Rarer classes are told by the others.
constexpr double leastShare = 1e-3;
// A branch that ends a loop after more outcomes than any history holds.
constexpr std::uint64_t longestHistory = 160;

struct Class {
    WindowPlace place;
    double operations = 0;  ///< of the kernel
    double exits = 0;       ///< wrong guesses per operation that fall out of the window
};

class Classes {
public:
    Classes(const LoopNest& nest, const WindowOptions& options) : nest_(nest), options_(options) {
        of.assign(nest.ops.size(), -1);
        visit(0, 0, 1, {});
    }
    std::vector<Class> all;
    std::vector<int> of;  ///< per static operation

private:
    void mark(int at, int number) {
        const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
        for (std::uint32_t op = node.firstOp; op < node.firstOp + node.ops; ++op) of[op] = number;
        for (const int child : node.inside) mark(child, number);
    }
    // `around`: the place of one that comes again in a loop around it.
    void visit(int at, std::uint64_t begin, double times, WindowPlace around) {
        const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
        const std::uint64_t turn = node.length / std::max<std::uint64_t>(1, node.trips);
        if (turn <= options_.length) {
            const std::uint64_t turns =
                std::clamp<std::uint64_t>(options_.length / std::max<std::uint64_t>(1, turn), 1, node.trips);
            const int number = static_cast<int>(all.size());
            const std::uint64_t first = (node.trips - turns) / 2;
            WindowPlace place = around;
            place.begin = begin + first * turn;
            place.length = turns * turn;
            place.turn = turn;
            place.reach = (node.trips - first) * turn;
            Class one{place, times * static_cast<double>(node.length), 0};
            if (turns < node.trips && node.trips > longestHistory && at != 0)
                one.exits = 1 / static_cast<double>(node.length);
            all.push_back(one);
            mark(at, number);
            return;
        }
        const std::uint64_t here = begin + node.trips / 2 * turn;
        const double inside = times * static_cast<double>(node.trips);
        if (node.trips > 1) around.shift = turn, around.shifts = node.trips / 2;
        std::uint64_t at0 = here, segment = 0;
        int number = -1;
        const auto extend = [&](std::uint64_t ops) {
            if (number < 0) {
                number = static_cast<int>(all.size());
                all.push_back({around, 0, 0});
                all.back().place.begin = at0;
                segment = 0;
            }
            segment += ops;
            WindowPlace& place = all[static_cast<std::size_t>(number)].place;
            place.length = place.turn = place.reach = segment;
            all[static_cast<std::size_t>(number)].operations = inside * static_cast<double>(segment);
        };
        for (const int child : node.inside) {
            const auto& one = nest_.nodes[static_cast<std::size_t>(child)];
            if (one.length <= options_.length) {
                if (number >= 0 && segment + one.length > options_.length) number = -1;
                extend(one.length);
                mark(child, number);
            } else {
                number = -1;
                visit(child, at0, inside, around);
            }
            at0 += one.length;
        }
        if (node.ops > 0) {
            extend(node.ops);
            for (std::uint32_t op = node.firstOp; op < node.firstOp + node.ops; ++op) of[op] = number;
        }
    }
    const LoopNest& nest_;
    const WindowOptions& options_;
};

}  // namespace

std::string_view toText(Resource resource) {
    static constexpr std::array<std::string_view, resourceCount> names{
        "fetch",  "width",  "ports",        "dependence", "window",          "branches",
        "stores", "misses", "miss_entries", "cache_ways", "memory_bandwidth"};
    return names[static_cast<std::size_t>(resource)];
}

std::string_view meaning(Resource resource) {
    static constexpr std::array<std::string_view, resourceCount> texts{"slots that are fetched, up to a taken branch",
                                                                       "slots that are dispatched and retired",
                                                                       "the ports that operations need",
                                                                       "chains of operations that wait for each other",
                                                                       "the reorder buffer, queues and registers",
                                                                       "wrong guesses of branches",
                                                                       "stores that leave",
                                                                       "latency of caches and memory",
                                                                       "entries for misses in flight",
                                                                       "bandwidth between caches",
                                                                       "bandwidth of memory"};
    return texts[static_cast<std::size_t>(resource)];
}

KernelWindows windowsOf(const LoopNest& nest, const Machine& machine, const std::vector<BoundOp>& ops,
                        const WindowOptions& options) {
    KernelWindows out;
    Classes classes(nest, options);
    const NestReuse reuse = reuseOf(nest, machine, options.start);
    std::vector<int> nodeOf(nest.ops.size(), -1);
    for (std::size_t i = 0; i < nest.nodes.size(); ++i) {
        const auto& node = nest.nodes[i];
        for (std::uint32_t op = node.firstOp; op < node.firstOp + node.ops; ++op) nodeOf[op] = static_cast<int>(i);
    }
    const auto total = static_cast<double>(nest.length());
    out.operations = total;
    std::vector<int> kept(classes.all.size(), -1);
    WindowFlow flow(machine, ops);
    WindowLevels levels(nest, reuse, nodeOf, ops, machine);
    const bool flows = options.pass == WindowPass::Flow;
    std::optional<WindowRun> run;
    if (!flows) run.emplace(nest, reuse, nodeOf, ops, machine);
    std::vector<WindowRun::Result> whole;
    if (run && nest.length() <= options.whole) whole = run->whole(classes.of, classes.all.size(), options.start);
    Window window;
    OpChunk chunk;
    std::vector<block::PortUse> uses;
    double known = 0;
    for (std::size_t c = 0; c < classes.all.size(); ++c) {
        const Class& one = classes.all[c];
        if (one.operations < leastShare * total) continue;
        window.clear();
        NestStream stream(nest);
        stream.seek(one.place.begin);
        while (window.size() < one.place.length && stream.next(chunk, one.place.length - window.size())) {
            for (std::size_t i = 0; i < chunk.size; ++i) {
                window.op.push_back(chunk.op[i]);
                window.address.push_back(chunk.address[i]);
                window.taken.push_back(chunk.taken[i]);
            }
        }
        if (window.size() == 0) continue;
        levels.look(window);
        levels.set(window, 0);
        WindowBounds bounds;
        const auto n = static_cast<double>(window.size());
        bounds.operations = one.operations;
        double ended = 0;
        uses.clear();
        for (std::size_t i = 0; i < window.size(); ++i) {
            const BoundOp& op = ops[window.op[i]];
            bounds.slotsTaken += op.slotCount;
            bounds.instructions += op.instruction;
            bounds.loads += op.kind == OpKind::Load;
            bounds.stores += op.kind == OpKind::Store;
            bounds.branches += op.kind == OpKind::Branch;
            ended += op.kind == OpKind::Branch && window.taken[i];
            const auto use = [&](std::uint16_t ports) {
                if (!ports) return;
                for (auto& each : uses)
                    if (each.ports == ports) {
                        each.uops += op.occupancy;
                        return;
                    }
                uses.push_back({ports, static_cast<double>(op.occupancy)});
            };
            use(op.ports);
            use(op.dataPorts);
        }
        const auto set = [&](Resource resource, double cycles) {
            bounds.cycles[static_cast<std::size_t>(resource)] = cycles / n;
        };
        const auto timed = flows           ? WindowRun::Result{}
                           : whole.empty() ? run->run(one.place, options.history)
                                           : whole[c];
        const double exits = whole.empty() ? one.exits : 0;
        bounds.mispredicted = timed.mispredicted + exits;
        // A group that a taken branch ends is half empty on average, but for one slot.
        set(Resource::Fetch,
            bounds.slotsTaken / machine.fetchWidth + ended * 0.5 * (machine.fetchWidth - 1) / machine.fetchWidth);
        set(Resource::Width, bounds.slotsTaken / std::min(machine.issueWidth, machine.retireWidth));
        set(Resource::Ports, block::portBound(uses));
        set(Resource::Branches, n * bounds.mispredicted * (machine.frontDepth + 3));
        set(Resource::Stores, bounds.stores / machine.storesPerCycle);
        if (options.bounds) {
            bounds.cycles[static_cast<std::size_t>(Resource::Dependence)] = flow.cycles(window, {});
            bounds.cycles[static_cast<std::size_t>(Resource::Window)] = flow.cycles(window, {.queues = true});
        }
        double flowing = 0;
        for (std::size_t phase = 0; phase < levels.phases().size(); ++phase) {
            const double part = levels.phases()[phase];
            levels.set(window, phase);
            const auto add = [&](Resource resource, double cycles) {
                bounds.cycles[static_cast<std::size_t>(resource)] += part * cycles;
            };
            double ways = 0, entries = 0;
            for (std::size_t cache = 0; cache < machine.caches.size(); ++cache) {
                if (cache > 0)
                    ways = std::max(ways, window.lines[cache - 1] * 64 / machine.caches[cache].bytesPerCycle);
                entries = std::max(entries, window.waits[cache] / machine.caches[cache].misses);
            }
            const double outer =
                machine.caches.empty() ? (bounds.loads + bounds.stores) : window.lines[machine.caches.size() - 1];
            add(Resource::CacheWays, ways / n);
            add(Resource::MissEntries, entries / n);
            const double channel = (outer + window.written) * 64 * machine.clock / machine.memoryBandwidth / n;
            add(Resource::MemoryBandwidth, channel);
            if (options.bounds || flows) {
                const double misses = flow.cycles(window, {.queues = true, .caches = true});
                add(Resource::Misses, misses);
                flowing += part * std::max({misses, channel, ways / n, entries / n});
            }
            for (std::size_t cache = 0; cache < mostCaches; ++cache)
                bounds.missing[cache] += part * window.lines[cache] / n;
        }
        const auto alone = [&](Resource resource) { return bounds.cycles[static_cast<std::size_t>(resource)]; };
        if (flows)
            flowing = std::max({flowing, alone(Resource::Fetch), alone(Resource::Width), alone(Resource::Ports),
                                alone(Resource::Stores)});
        bounds.together = (flows ? flowing : timed.cycles) + exits * (machine.frontDepth + 3);
        if (whole.empty())
            bounds.together =
                std::max(bounds.together, bounds.cycles[static_cast<std::size_t>(Resource::MemoryBandwidth)]);
        for (double* each : {&bounds.slotsTaken, &bounds.instructions, &bounds.loads, &bounds.stores, &bounds.branches})
            *each /= n;
        kept[c] = static_cast<int>(out.classes.size());
        known += bounds.operations;
        out.instructions += bounds.instructions * bounds.operations;
        out.classes.push_back(bounds);
    }
    // What has no window goes by the average of those that have one.
    for (auto& each : out.classes) {
        each.operations *= total / known;
        each.share = each.operations / total;
    }
    out.instructions *= total / known;
    out.classOf.assign(nest.ops.size(), -1);
    for (std::size_t i = 0; i < nest.ops.size(); ++i)
        if (classes.of[i] >= 0) out.classOf[i] = kept[static_cast<std::size_t>(classes.of[i])];
    return out;
}

}  // namespace orrery::pipeline
