// Schedules of a product on a GPU: which tile a block computes and how; each a template of instructions that the GPU's
// simulator runs.

#include "learning/schedules/nest_maker.h"
#include "methods/gpu/gpu_kernels.h"
#include "methods/gpu/gpu_sample.h"
#include "methods/interval/interval_programs.h"
#include "methods/model/kernel_bound.h"
#include "methods/schedule/schedule_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using gpusim::MultiplyForm;

enum Axis : std::size_t { TileM, TileN, TileK, Warps, Splits, Stages };

class GpuSpace final : public ScheduleSpace {
public:
    static Expected<ScheduleSpacePtr> make(const HardwarePtr& hardware, const Kernel& kernel, std::string_view target) {
        auto space = std::shared_ptr<GpuSpace>(new GpuSpace());
        const auto device = firstDevice(hardware);
        if (!device) return Unexpected(device.error());
        auto gpu = gpuView(*device);
        if (!gpu) return Unexpected(gpu.error());
        auto drawn = machineOf(*gpu);
        if (!drawn) return Unexpected(drawn.error());
        space->gpu_ = std::move(*gpu), space->drawn_ = std::move(*drawn);
        space->kernel_ = kernel;
        space->device_ = hardware->name;
        space->target_ = target.empty() ? "gpu-interval" : target;
        if (space->target_ != "gpu-interval" && space->target_ != "gpu-cycle")
            return fail("schedules.target", fmt::format("`{}` prices no schedule of a GPU", target),
                        "gpu-interval or gpu-cycle");
        space->intervals_ = space->target_ == "gpu-interval";
        space->machine_ = intervalMachine(space->gpu_);
        space->product_ = intervalProductOf(kernel);
        if (auto made = space->lay(); !made) return Unexpected(made.error());
        return ScheduleSpacePtr(space);
    }

    const std::vector<std::string>& featureNames() const override { return names_; }

    void features(SchedulePoint point, std::span<double> out) const override {
        const ProductTile t = tileOf(point);
        const double m = t.m, n = t.n, k = t.k, warps = t.warps, splits = t.splits;
        const double blocks = product_.batch * std::ceil(product_.m / m) * std::ceil(product_.n / n) * splits;
        const double stage = (m * product_.aBytes + n * product_.bBytes) * k, shared = stage * std::max(1, t.stages);
        const double registers = m * n / (gpu_.warpSize * warps) + 64;
        double held = std::floor(gpu_.warpsPerSm / warps);
        if (gpu_.sharedBytes > 0) held = std::min(held, std::floor(gpu_.sharedBytes / shared));
        if (gpu_.registerBytes > 0)
            held = std::min(held, std::floor(gpu_.registerBytes / (4 * registers * gpu_.warpSize * warps)));
        held = std::max(1.0, held);
        const double wave = gpu_.sms * held, waves = std::ceil(blocks / wave);
        const double steps = std::ceil(std::ceil(product_.k / k) / splits);
        std::size_t at = 0;
        const auto log = [&](double number) { out[at++] = std::log2(std::max(number, 1e-9)); };
        for (const double each : {m, n, k, warps, splits}) log(each);
        out[at++] = t.stages;
        log(m * n), log(m / n), log(m * n / (m + n)), log(m * n / warps);
        log(blocks), out[at++] = std::log2(waves), out[at++] = blocks / (waves * wave);
        out[at++] = std::min(1.0, blocks / gpu_.sms);
        log(held), log(held * warps), log(registers), log(shared), log(stage), log(steps);
        out[at++] = std::min(8.0, steps / std::max(1, t.stages));
        out[at++] = product_.m / (std::ceil(product_.m / m) * m) * product_.n / (std::ceil(product_.n / n) * n);
        log(held * stage * std::max(0, t.stages - 1));  // bytes under way on a multiprocessor
    }

    double cheapSeconds(SchedulePoint point) const override {
        const ProductTile t = tileOf(point);
        const IntervalPlan plan = planProduct(machine_, product_,
                                              IntervalTile{double(t.m), double(t.n), double(t.warps), double(t.splits),
                                                           double(t.k), double(std::max(2, t.stages))});
        return gpu_.device.launchOverhead.value + plan.stack.total() / machine_.clock;
    }

    Expected<double> seconds(SchedulePoint point, const std::stop_token& stop) const override {
        const auto program = programOf(kernel_, gpu_, drawn_, tileOf(point));
        if (!program) return Unexpected(program.error());
        SampleOptions options;
        options.intervals = intervals_;
        options.instructions = 4.5e5;  // as many as the method's usual budget stands for
        options.stop = stop;
        const auto sample = sampleKernel(*program, drawn_.machine, options);
        if (!sample) return Unexpected(sample.error());
        const double cycles = sample->cycles / (drawn_.machine.coreMhz * 1e6);
        return gpu_.device.launchOverhead.value + std::max(cycles, leastSeconds(gpu_.device, kernel_));
    }

    ScheduleNest nest(SchedulePoint point) const override {
        const ProductTile t = tileOf(point);
        TensorWork work;
        work.product = true;
        work.batch = product_.batch, work.rows = work.inputRows = product_.m;
        work.inputs = product_.k, work.outputs = product_.n, work.elementBytes = product_.aBytes;
        LoopWriter out(work);
        const auto loop = [&](NestDimension dimension, std::size_t part, double trips, LoopMark mark,
                              std::string axis) {
            MadeLoop made;
            made.name = loopName(dimension, part);
            made.extents[static_cast<std::size_t>(dimension)] = trips;
            made.mark = mark, made.axis = std::move(axis);
            out.loop(made);
        };
        const double parts = t.splits, steps = std::ceil(std::ceil(product_.k / t.k) / parts);
        loop(NestDimension::Batch, 0, product_.batch, LoopMark::Block, "blockIdx.z");
        loop(NestDimension::Inputs, 0, parts, LoopMark::Block, "blockIdx.z");
        loop(NestDimension::Rows, 0, std::ceil(product_.m / t.m), LoopMark::Block, "blockIdx.y");
        loop(NestDimension::Outputs, 0, std::ceil(product_.n / t.n), LoopMark::Block, "blockIdx.x");
        loop(NestDimension::Inputs, 1, steps, LoopMark::Serial, {});
        loop(NestDimension::Inputs, 2, t.k, LoopMark::Unrolled, {});
        loop(NestDimension::Rows, 1, t.m, LoopMark::Thread, fmt::format("{} warps", t.warps));
        loop(NestDimension::Outputs, 1, t.n, LoopMark::Thread, fmt::format("{} warps", t.warps));
        out.multiplyAdd();
        ScheduleNest nest;
        nest.lines = out.take();
        nest.basis = fmt::format("The tile of a block as `{}` runs it, {} step{} of the reduction under way", target_,
                                 t.stages, t.stages == 1 ? "" : "s");
        return nest;
    }

private:
    GpuSpace() = default;

    Expected<void> lay() {
        const auto numbers = [&](std::string name, std::string meaning, std::vector<double> values) {
            axes_.push_back({std::move(name), std::move(meaning), std::move(values), {}});
        };
        const bool vector =
            multiplyForm(gpu_, drawn_.generation, kernel_.type, true).kind == MultiplyForm::Kind::Vector;
        numbers("tile rows", "of the results of a block", {16, 32, 64, 128, 256});
        numbers("tile columns", "of them", {16, 32, 64, 128, 256});
        numbers("depth", "of the reduction in one step",
                vector ? std::vector<double>{4, 8, 16, 32} : std::vector<double>{16, 32, 64, 128});
        numbers("warps", "of a block", {1, 2, 4, 8, 16});
        numbers("parts", "of the reduction, each a block", {1, 2, 4, 8, 16});
        const bool past = drawn_.generation.copiesPast && !vector;
        numbers("stages", "steps of the reduction that are under way at once",
                past ? std::vector<double>{2, 3, 4, 5, 6} : std::vector<double>{1});
        names_ = {"tile rows",
                  "tile columns",
                  "depth",
                  "warps",
                  "parts",
                  "stages",
                  "results of a block",
                  "rows over columns",
                  "reuse",
                  "results of a warp",
                  "blocks",
                  "waves",
                  "share of the waves filled",
                  "share of multiprocessors",
                  "blocks held",
                  "warps held",
                  "registers",
                  "shared bytes",
                  "bytes of a step",
                  "steps",
                  "steps by stages",
                  "share of the tiles inside",
                  "bytes under way"};
        return keep([&](SchedulePoint point) {
            const ProductTile t = tileOf(point);
            // Twice what is there does only more of the same.
            if ((t.m >= 2 * product_.m && t.m > 16) || (t.n >= 2 * product_.n && t.n > 16)) return false;
            return programOf(kernel_, gpu_, drawn_, t).has_value();
        });
    }

    ProductTile tileOf(SchedulePoint point) const {
        const auto at = [&](Axis axis) { return static_cast<int>(value(point, axis)); };
        return {at(TileM), at(TileN), at(TileK), at(Warps), at(Splits), at(Stages)};
    }

    GpuView gpu_;
    DrawnMachine drawn_;
    IntervalMachine machine_;
    IntervalProduct product_;
    std::vector<std::string> names_;
    bool intervals_ = true;
};

}  // namespace

Expected<ScheduleSpacePtr> gpuScheduleSpace(const HardwarePtr& hardware, const Kernel& kernel,
                                            std::string_view target) {
    return GpuSpace::make(hardware, kernel, target);
}

}  // namespace orrery
