// Schedules of a product on a processor: a nest of loops for each (scheduled_product.h), whose busiest core the
// simulated pipeline runs.

#include "learning/schedules/nest_maker.h"
#include "methods/cpu/core_share.h"
#include "methods/cpu/core_windows.h"
#include "methods/cpu/cpu_view.h"
#include "methods/model/kernel_bound.h"
#include "methods/schedule/schedule_price.h"
#include "methods/schedule/schedule_space.h"
#include "simulation/cpu/core/kernels/scheduled_product.h"
#include "simulation/cpu/core/sampling.h"
#include "simulation/cpu/core/view_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using pipeline::Machine;
using pipeline::ProductSchedule;
using pipeline::TileLoop;

enum Axis : std::size_t { RowTasks, ColumnTasks, TileRows, TileColumns, Depth, Unroll, Order, Set, Packed };

constexpr std::array<std::array<TileLoop, 3>, 6> orders{{{TileLoop::Rows, TileLoop::Columns, TileLoop::Reduction},
                                                         {TileLoop::Rows, TileLoop::Reduction, TileLoop::Columns},
                                                         {TileLoop::Columns, TileLoop::Rows, TileLoop::Reduction},
                                                         {TileLoop::Columns, TileLoop::Reduction, TileLoop::Rows},
                                                         {TileLoop::Reduction, TileLoop::Rows, TileLoop::Columns},
                                                         {TileLoop::Reduction, TileLoop::Columns, TileLoop::Rows}}};
constexpr std::array<std::string_view, 3> loopWords{"rows", "columns", "reduction"};
constexpr double mostMultiplies = 0x1p40;
constexpr std::uint64_t units = 100;  // that `core-cycle` simulates, as usual

// As a core has them.
struct CoreSort {
    CoreView view;
    Machine machine;
};

class CoreSpace final : public ScheduleSpace {
public:
    static Expected<ScheduleSpacePtr> make(const HardwarePtr& hardware, const Kernel& kernel, std::string_view target) {
        auto space = std::shared_ptr<CoreSpace>(new CoreSpace());
        const auto device = firstDevice(hardware);
        if (!device) return Unexpected(device.error());
        auto cpu = cpuView(*device);
        if (!cpu) return Unexpected(cpu.error());
        auto cores = coreViews(*device);
        if (!cores) return Unexpected(cores.error());
        for (CoreView& core : *cores) {
            auto machine = pipeline::machineOf(core);
            if (!machine) return Unexpected(machine.error());
            space->sorts_.push_back({std::move(core), std::move(*machine)});
        }
        space->price_.view = std::move(*cpu);
        space->kernel_ = kernel;
        space->device_ = hardware->name;
        space->target_ = target.empty() ? "core-windows" : target;
        space->cycles_ = space->target_ == "core-cycle";
        if (!space->cycles_) {
            if (space->target_ != "core-windows")
                return fail("schedules.target", fmt::format("`{}` prices no schedule of a processor", target),
                            "core-windows or core-cycle");
            auto model = loadWindowModel();
            if (!model) return Unexpected(model.error());
            space->model_ = std::move(*model);
        }
        if (auto made = space->lay(); !made) return Unexpected(made.error());
        return ScheduleSpacePtr(space);
    }

    const std::vector<std::string>& featureNames() const override { return names_; }

    void features(SchedulePoint point, std::span<double> out) const override {
        const ProductSchedule s = scheduleOf(point);
        const Machine& machine = sorts_.front().machine;
        const double vectors = static_cast<double>(s.vectors(machine)), rows = static_cast<double>(s.rows);
        const double lanes = pipeline::registerBytes(machine, s.instructionSet) / 4.0;
        const double taskRows = static_cast<double>(s.m / s.rowTasks),
                     taskColumns = static_cast<double>(s.n / s.columnTasks);
        const double tasks = static_cast<double>(s.batch * s.rowTasks * s.columnTasks);
        const double rounds = std::ceil(tasks / cores_), k = static_cast<double>(s.k),
                     depth = static_cast<double>(s.depth);
        const double columns = static_cast<double>(s.columns);
        std::size_t at = 0;
        const auto log = [&](double number) { out[at++] = std::log2(std::max(number, 1e-9)); };
        for (const std::size_t axis : {RowTasks, ColumnTasks, TileRows, TileColumns, Depth, Unroll})
            log(value(point, axis));
        log(lanes), log(vectors), out[at++] = columns / (lanes * vectors);
        log(rows * vectors), log((rows + vectors) / (rows * vectors)),
            log(static_cast<double>(s.unroll) * rows * vectors);
        for (std::size_t i = 0; i < 3; ++i)
            out[at++] = static_cast<double>(std::find(s.order.begin(), s.order.end(), static_cast<TileLoop>(i)) -
                                            s.order.begin());
        out[at++] = s.packed, out[at++] = s.depth < s.k;
        log(tasks), log(rounds), out[at++] = tasks / (rounds * cores_);
        log(taskRows), log(taskColumns), log(taskRows * taskColumns / ((taskRows + taskColumns)));
        // Bytes that a step, a panel of either operand and a task touch, over each cache.
        const double strip = 4 * columns * depth, panelA = 4 * taskRows * depth, panelB = 4 * taskColumns * depth,
                     all = 4 * k * (taskRows + taskColumns);
        for (const double bytes : {strip + 4 * rows * depth, panelA, panelB, all}) log(bytes);
        for (std::size_t i = 0; i < 3; ++i) {
            const double cache = i < machine.caches.size() ? machine.caches[i].bytes : 0;
            for (const double bytes : {strip, panelA, panelB, all})
                out[at++] = cache > 0 ? std::min(4.0, bytes / cache) : 0;
        }
        const TileLoop inner = innermost(s);
        out[at++] = static_cast<double>(inner);
    }

    double cheapSeconds(SchedulePoint point) const override {
        const auto price = priceSchedule(rowOf(point), price_);
        return price ? price->seconds : 0;
    }

    Expected<double> seconds(SchedulePoint point, const std::stop_token& stop) const override {
        ProductSchedule s = scheduleOf(point);
        const double tasks = static_cast<double>(s.batch * s.rowTasks * s.columnTasks);
        double longest = 0;
        for (const CoreSort& sort : sorts_) {
            s.tasks = static_cast<std::int64_t>(std::ceil(tasks / cores_));
            const double active = std::min(cores_, std::ceil(tasks / static_cast<double>(s.tasks)));
            const Machine machine = machineAmong(sort.machine, sort.view, price_.view.device.main().bandwidth.value,
                                                 active, readersOf(s, active));
            const pipeline::LoopNest nest = nestOf(s, machine);
            double cycles = 0;
            if (cycles_) {
                pipeline::SampleOptions options;
                options.kind = pipeline::SampleKind::Loops;
                options.units = units;
                options.confidence = 0.9;
                options.stop = stop;
                const auto result = sampled(nest, machine, options);
                cycles = result.cpi * static_cast<double>(result.operations);
            } else {
                pipeline::WindowOptions options;
                options.bounds = model_.regressor != nullptr;
                cycles = estimateCore(nest, machine, model_, options).cycles;
            }
            if (stop.stop_requested()) return fail("study.cancelled", "the search was stopped");
            longest = std::max(longest, cycles / machine.clock);
        }
        return price_.view.device.launchOverhead.value + std::max(longest, leastSeconds(price_.view.device, kernel_));
    }

    ScheduleNest nest(SchedulePoint point) const override {
        const ProductSchedule s = scheduleOf(point);
        LoopWriter out(workOfProduct());
        const auto loop = [&](NestDimension dimension, std::size_t part, std::int64_t trips, LoopMark mark) {
            MadeLoop made;
            made.name = loopName(dimension, part);
            made.extents[static_cast<std::size_t>(dimension)] = static_cast<double>(trips);
            made.mark = mark;
            out.loop(made);
        };
        loop(NestDimension::Batch, 0, s.batch, LoopMark::Parallel);
        loop(NestDimension::Rows, 0, s.rowTasks, LoopMark::Parallel);
        loop(NestDimension::Outputs, 0, s.columnTasks, LoopMark::Parallel);
        for (const TileLoop each : s.order) {
            if (each == TileLoop::Rows) loop(NestDimension::Rows, 1, s.m / s.rowTasks / s.rows, LoopMark::Serial);
            if (each == TileLoop::Columns)
                loop(NestDimension::Outputs, 1, s.n / s.columnTasks / s.columns, LoopMark::Serial);
            if (each == TileLoop::Reduction) loop(NestDimension::Inputs, 0, s.k / s.depth, LoopMark::Serial);
        }
        loop(NestDimension::Inputs, 1, s.depth / s.unroll, LoopMark::Serial);
        loop(NestDimension::Inputs, 2, s.unroll, LoopMark::Unrolled);
        loop(NestDimension::Rows, 2, s.rows, LoopMark::Unrolled);
        const bool vector = s.instructionSet != "scalar";
        loop(NestDimension::Outputs, 2, s.columns, vector ? LoopMark::Vectorized : LoopMark::Unrolled);
        out.multiplyAdd();
        ScheduleNest nest;
        nest.lines = out.take();
        nest.basis = fmt::format("The loops as `{}` runs them, in {}{}", target_, s.instructionSet,
                                 s.packed ? "; weights lie in strips as wide as a tile" : "");
        return nest;
    }

private:
    CoreSpace() = default;

    Expected<void> lay() {
        const Kernel& g = kernel_;
        if (g.type != DType::F32 || g.weightType != DType::F32)
            return fail("schedules.workload", fmt::format("{} is not of fp32", toText(g)),
                        "a product of fp32 on a processor");
        const double batch = static_cast<double>(std::max<std::int64_t>(1, g.batch));
        if (!(batch * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) < mostMultiplies))
            return fail("schedules.workload", fmt::format("{} is too long", toText(g)), "up to 2⁴⁰ multiply-adds");
        cores_ = static_cast<double>(sorts_.front().view.cores);
        const auto tasks = static_cast<std::int64_t>(4 * cores_);
        const auto numbers = [&](std::string name, std::string meaning, std::vector<double> values) {
            axes_.push_back({std::move(name), std::move(meaning), std::move(values), {}});
        };
        numbers("row tasks", "parts of the rows that cores take one by one", someDivisors(g.m, 6, tasks));
        numbers("column tasks", "parts of the columns", someDivisors(g.n, 6, tasks));
        numbers("tile rows", "of the results that stay in registers", someDivisors(g.m, 8, 30));
        numbers("tile columns", "of them", someDivisors(g.n, 8, 128));
        numbers("depth", "of the reduction between load and store of a tile",
                someDivisors(g.k, 8, std::int64_t{1} << 40));
        std::erase_if(axes_.back().values,
                      [&](double depth) { return depth < std::min<double>(16, static_cast<double>(g.k)); });
        axes_.push_back({"unroll", "steps of the reduction that are written out", {1, 2, 4, 8}, {}});
        ScheduleAxis order{"order", "of the loops over tiles, outermost first", {}, {}};
        for (std::size_t i = 0; i < orders.size(); ++i) {
            order.values.push_back(static_cast<double>(i));
            std::string words;
            for (const TileLoop each : orders[i])
                words += fmt::format("{}{}", words.empty() ? "" : ">", loopWords[static_cast<std::size_t>(each)]);
            order.words.push_back(words);
        }
        axes_.push_back(std::move(order));
        ScheduleAxis set{"vectors", "which instructions", {}, {}};
        for (const std::string_view each : {"scalar", "neon", "sve", "avx2", "avx512"}) {
            const bool all =
                std::all_of(sorts_.begin(), sorts_.end(), [&](const CoreSort& sort) { return sort.machine.has(each); });
            if (!all) continue;
            sets_.emplace_back(each);
            set.values.push_back(static_cast<double>(set.values.size()));
            set.words.emplace_back(each);
        }
        axes_.push_back(std::move(set));
        ScheduleAxis packed{"weights", "as they stand, or beforehand in strips as wide as a tile", {0}, {"as stored"}};
        if (batch <= 1) packed.values.push_back(1), packed.words.emplace_back("packed");
        axes_.push_back(std::move(packed));
        names_ = {"row tasks",
                  "column tasks",
                  "tile rows",
                  "tile columns",
                  "depth",
                  "unroll",
                  "lanes",
                  "vectors",
                  "share of lanes",
                  "sums",
                  "loads per multiply-add",
                  "unrolled body",
                  "place of rows",
                  "place of columns",
                  "place of reduction",
                  "packed",
                  "reduction cut",
                  "tasks",
                  "rounds",
                  "share of cores",
                  "rows of a task",
                  "columns of a task",
                  "reuse of a task",
                  "bytes of a step",
                  "bytes of rows",
                  "bytes of columns",
                  "bytes of a task"};
        for (int cache = 1; cache <= 3; ++cache) {
            for (const char* what : {"strip", "rows", "columns", "task"})
                names_.push_back(fmt::format("{} over cache {}", what, cache));
        }
        names_.emplace_back("innermost loop");
        return keep([&](SchedulePoint point) {
            const ProductSchedule s = scheduleOf(point);
            const auto fits = [&](const CoreSort& sort) { return s.fitsRegisters(sort.machine); };
            return s.divides() && std::ranges::all_of(sorts_, fits) && isFirstOfItsName(s);
        });
    }

    ProductSchedule scheduleOf(SchedulePoint point) const {
        const auto at = [&](Axis axis) { return static_cast<std::int64_t>(value(point, axis)); };
        ProductSchedule s;
        s.batch = std::max<std::int64_t>(1, kernel_.batch), s.m = kernel_.m, s.n = kernel_.n, s.k = kernel_.k;
        s.rowTasks = at(RowTasks), s.columnTasks = at(ColumnTasks), s.rows = at(TileRows), s.columns = at(TileColumns);
        s.depth = at(Depth), s.unroll = at(Unroll), s.order = orders[static_cast<std::size_t>(at(Order))];
        s.instructionSet = sets_[static_cast<std::size_t>(at(Set))];
        s.packed = at(Packed) != 0;
        return s;
    }

    static std::int64_t turnsOf(const ProductSchedule& s, TileLoop loop) {
        return loop == TileLoop::Rows      ? s.m / s.rowTasks / s.rows
               : loop == TileLoop::Columns ? s.n / s.columnTasks / s.columns
                                           : s.k / s.depth;
    }
    // Of schedules that make the same nest one alone is in the space: where a loop has one turn its place says nothing,
    // and a single strip is the matrix itself.
    static bool isFirstOfItsName(const ProductSchedule& s) {
        if (s.packed && s.columns == s.n) return false;
        const auto written = [&](const std::array<TileLoop, 3>& order) {
            std::vector<TileLoop> loops;
            for (const TileLoop each : order)
                if (turnsOf(s, each) > 1) loops.push_back(each);
            return loops;
        };
        const auto own = written(s.order);
        const auto first = std::find_if(orders.begin(), orders.end(), [&](const auto& o) { return written(o) == own; });
        return *first == s.order;
    }
    // The innermost loop over tiles that has more than one turn.
    static TileLoop innermost(const ProductSchedule& s) {
        for (std::size_t i = 3; i-- > 0;)
            if (turnsOf(s, s.order[i]) > 1) return s.order[i];
        return s.order[2];
    }

    // Cores that read a byte of the operands, on average: of a batch's product, tasks beside each other share rows of
    // the first operand, tasks below each other columns of the second.
    static double readersOf(const ProductSchedule& s, double active) {
        const double tasks = static_cast<double>(s.rowTasks * s.columnTasks);
        const double inOne = std::min(active, std::max(1.0, std::floor(tasks / static_cast<double>(s.tasks))));
        const double across = std::min(inOne, static_cast<double>(s.columnTasks)), down = std::max(1.0, inOne / across);
        const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
        const double a = m * k, b = k * n, c = m * n;
        return std::max(1.0, (a * across + b * down + c) / (a + b + c));
    }

    TensorWork workOfProduct() const {
        TensorWork work;
        work.product = true;
        work.batch = static_cast<double>(std::max<std::int64_t>(1, kernel_.batch));
        work.rows = work.inputRows = static_cast<double>(kernel_.m);
        work.inputs = static_cast<double>(kernel_.k), work.outputs = static_cast<double>(kernel_.n);
        return work;
    }

    // As AutoTVM would state it, of a template whose vectors run along the outputs.
    TunedRow rowOf(SchedulePoint point) const {
        const ProductSchedule s = scheduleOf(point);
        const auto number = [](std::int64_t value) { return static_cast<double>(value); };
        TunedRow row;
        row.task = "dense_pack.x86", row.device = device_, row.work = workOfProduct(), row.cores = cores_;
        row.knobs = {
            {"tile_y", {number(s.rowTasks), number(s.m / s.rowTasks / s.rows), number(s.rows)}, {}},
            {"tile_x", {number(s.columnTasks), number(s.n / s.columnTasks / s.columns), number(s.columns)}, {}},
            {"tile_k", {number(s.k / s.depth), number(s.depth)}, {}}};
        return row;
    }

    std::vector<CoreSort> sorts_;
    ScheduleDevice price_;
    WindowModel model_;
    std::vector<std::string> names_, sets_;
    double cores_ = 1;
    bool cycles_ = false;
};

}  // namespace

Expected<ScheduleSpacePtr> coreScheduleSpace(const HardwarePtr& hardware, const Kernel& kernel,
                                             std::string_view target) {
    return CoreSpace::make(hardware, kernel, target);
}

}  // namespace orrery
