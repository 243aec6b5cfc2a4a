// Loop nests of AutoTVM's templates: the order of their loops and what each is bound to, from TVM's topi schedules.

#include "learning/schedules/schedule_nest.h"

#include "learning/schedules/nest_maker.h"
#include "learning/schedules/schedule_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery {

namespace {

// Templates whose order of loops and marks are written down here.
bool isKnownTemplate(std::string_view task) {
    for (const std::string_view each :
         {"dense_nopack.x86", "dense_pack.x86", "batch_matmul.x86", "conv2d_NCHWc.x86", "depthwise_conv2d_NCHWc.x86",
          "conv2d_nchw_spatial_pack.arm_cpu", "conv2d_nchw.cuda", "depthwise_conv2d_nchw.cuda", "batch_matmul.cuda",
          "dense_large_batch.cuda", "dense_large_batch.gpu", "dense_small_batch.cuda", "dense_small_batch.gpu"})
        if (task == each) return true;
    return false;
}

std::string basisOf(const TunedRow& row) {
    if (!row.steps.empty())
        return "Sizes from the record; order and marks are the usual ones, its steps could not be followed";
    if (!isKnownTemplate(row.task))
        return "Sizes from the log; order and marks are the usual ones, this template's are not known here";
    return "Sizes from the log, order and marks from TVM's template";
}

class TemplateNest {
    using Dim = NestDimension;

public:
    explicit TemplateNest(const TunedRow& row) : row_(row), loops_(loopsOf(row)), out_(row.work) {
        const TensorWork& w = row.work;
        of(Dim::Batch) = {w.batch};
        of(Dim::Rows) = partsOf(loops_.splits[Rows], w.rows);
        of(Dim::Columns) = partsOf(loops_.splits[Columns], w.columns);
        of(Dim::Outputs) = partsOf(loops_.splits[Outputs], w.outputs);
        const double inputs = w.inputs / w.groups;
        of(Dim::Inputs) = w.depthwise ? std::vector<double>{1} : partsOf(loops_.splits[Reduction], inputs);
        of(Dim::KernelRows) = kernelParts("tile_ry", w.kernelRows);
        of(Dim::KernelColumns) = kernelParts("tile_rx", w.kernelColumns);
    }

    ScheduleNest made() {
        ScheduleNest nest;
        nest.basis = basisOf(row_);
        if (loops_.gpu) {
            gpu();
        } else if (row_.task.find("spatial_pack") != row_.task.npos) {
            spatialPack();
        } else if (row_.task.find("dense_pack") != row_.task.npos) {
            densePack();
        } else if (row_.work.product) {
            product();
        } else {
            blockedConvolution();
        }
        nest.lines = out_.take();
        nest.unroll = loops_.unroll;
        return nest;
    }

private:
    using Part = std::pair<Dim, std::size_t>;

    std::vector<double>& of(Dim dimension) { return parts_[static_cast<std::size_t>(dimension)]; }
    // A knob that states the inner part alone leaves the rest to an outer loop.
    static std::vector<double> partsOf(const LoopSplit& split, double extent) {
        std::vector<double> parts(
            split.parts.end() - static_cast<std::ptrdiff_t>(std::max<std::size_t>(split.count, 1)), split.parts.end());
        if (parts.size() == 1 && parts[0] < extent) parts.insert(parts.begin(), std::ceil(extent / parts[0]));
        return parts;
    }
    std::vector<double> kernelParts(std::string_view knob, double extent) const {
        for (const ScheduleKnob& each : row_.knobs) {
            if (each.name != knob || each.parts.size() < 2) continue;
            double rest = extent;
            for (const double part : each.parts) rest /= part > 0 ? part : 1;
            std::vector<double> parts = each.parts;
            for (double& part : parts)
                if (part <= 0) part = std::max(1.0, std::ceil(rest));
            return parts;
        }
        return {extent};
    }
    // Fused where there are several. Parts that a dimension does not have are left out.
    void loop(std::initializer_list<Part> parts, LoopMark mark = LoopMark::Serial, std::string axis = {}) {
        MadeLoop made;
        made.mark = mark, made.axis = std::move(axis);
        for (const auto& [dimension, part] : parts) {
            const auto& all = of(dimension);
            if (part >= all.size()) continue;
            made.extents[static_cast<std::size_t>(dimension)] *= all[part];
            if (all[part] == 1) continue;
            made.name += made.name.empty() ? "" : "·";
            made.name += loopName(dimension, all.size() > 1 ? std::optional(part) : std::nullopt);
        }
        out_.loop(made);
    }
    std::size_t last(Dim dimension) { return of(dimension).size() - 1; }
    std::string_view wordOf(std::string_view knob) const {
        for (const ScheduleKnob& each : row_.knobs)
            if (each.name == knob) return each.word;
        return {};
    }

    // schedule_dense_nopack, and batch_matmul, which computes partial sums over the reduction's inner part likewise:
    // that part is the vector.
    void product() {
        loop({{Dim::Batch, 0}, {Dim::Rows, 0}, {Dim::Outputs, 0}}, LoopMark::Parallel);
        loop({{Dim::Inputs, 0}});
        loop({{Dim::Rows, 1}, {Dim::Outputs, 1}}, LoopMark::Unrolled);
        if (of(Dim::Inputs).size() > 1) loop({{Dim::Inputs, last(Dim::Inputs)}}, LoopMark::Vectorized);
        out_.multiplyAdd();
    }
    // schedule_dense_pack: weights lie packed by the outputs' inner part, which is the vector.
    void densePack() {
        loop({{Dim::Outputs, 0}, {Dim::Rows, 0}}, LoopMark::Parallel);
        if (of(Dim::Rows).size() > 2) loop({{Dim::Rows, 1}, {Dim::Outputs, 1}});
        loop({{Dim::Inputs, 0}});
        if (of(Dim::Inputs).size() > 1) loop({{Dim::Inputs, 1}}, LoopMark::Unrolled);
        if (of(Dim::Rows).size() > 1) loop({{Dim::Rows, last(Dim::Rows)}}, LoopMark::Unrolled);
        if (of(Dim::Outputs).size() > 1) loop({{Dim::Outputs, last(Dim::Outputs)}}, LoopMark::Vectorized);
        out_.multiplyAdd();
    }
    // schedule_conv_NCHWc_cpu_common: a vector of outputs, a register row of columns.
    void blockedConvolution() {
        const bool unrolled = wordOf("unroll_kw") == "True";
        loop({{Dim::Batch, 0}, {Dim::Outputs, 0}, {Dim::Rows, 0}}, LoopMark::Parallel);
        if (of(Dim::Columns).size() > 1) loop({{Dim::Columns, 0}});
        loop({{Dim::Inputs, 0}});
        loop({{Dim::KernelRows, 0}});
        if (!unrolled) loop({{Dim::KernelColumns, 0}});
        loop({{Dim::Inputs, 1}});
        if (unrolled) loop({{Dim::KernelColumns, 0}}, LoopMark::Unrolled);
        loop({{Dim::Rows, 1}});
        loop({{Dim::Columns, last(Dim::Columns)}}, LoopMark::Unrolled);
        if (of(Dim::Outputs).size() > 1) loop({{Dim::Outputs, last(Dim::Outputs)}}, LoopMark::Vectorized);
        out_.multiplyAdd();
    }
    // conv2d_spatial_pack_nchw: the log states the order and what is done with the inner loops.
    void spatialPack() {
        const std::array<Part, 10> axes{{{Dim::Batch, 0},
                                         {Dim::Outputs, 0},
                                         {Dim::Rows, 0},
                                         {Dim::Columns, 0},
                                         {Dim::Inputs, 0},
                                         {Dim::KernelRows, 0},
                                         {Dim::KernelColumns, 0},
                                         {Dim::Rows, 1},
                                         {Dim::Columns, 1},
                                         {Dim::Outputs, 1}}};
        std::array<std::size_t, 10> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        std::array<std::string, 10> marks;
        for (const ScheduleKnob& each : row_.knobs) {
            if (each.name == "reorder_0" && each.parts.size() == axes.size()) {
                std::array<std::size_t, 10> told{};
                for (std::size_t i = 0; i < axes.size(); ++i)
                    told[i] = static_cast<std::size_t>(std::clamp(each.parts[i], 0.0, 9.0));
                if (std::is_permutation(told.begin(), told.end(), order.begin())) order = told;
            }
            // Of the kernel's rows and columns; of the inner rows, columns and outputs.
            const std::size_t first = each.name == "ann_reduce" ? 5 : each.name == "ann_spatial" ? 7 : axes.size();
            std::size_t at = first, from = 0;
            while (at < axes.size() && from <= each.word.size() && (first == 7 || at < 7)) {
                const std::size_t comma = std::min(each.word.find(',', from), each.word.size());
                marks[at++] = each.word.substr(from, comma - from);
                from = comma + 1;
            }
        }
        for (const std::size_t i : order) {
            const LoopMark mark = i == 1                 ? LoopMark::Parallel
                                  : marks[i] == "unroll" ? LoopMark::Unrolled
                                  : marks[i] == "vec"    ? LoopMark::Vectorized
                                                         : LoopMark::Serial;
            loop({axes[i]}, mark);
        }
        out_.multiplyAdd();
    }
    // Blocks, virtual threads where a loop has four parts, threads; the reduction; then what one thread computes.
    void gpu() {
        if (row_.task.find("small_batch") != row_.task.npos) return smallBatch();
        const bool product = row_.work.product, large = row_.task.find("large_batch") != row_.task.npos;
        // Axes by TVM's habit: x walks what lies side by side in memory, but for the large product, where it walks
        // rows.
        const Dim x = product ? (large ? Dim::Rows : Dim::Outputs) : Dim::Columns;
        const Dim y = product ? (large ? Dim::Outputs : Dim::Rows) : Dim::Rows;
        const auto bound = [&](std::size_t fromInside, LoopMark mark, const char* axis) {
            const auto place = [&](Dim dimension) {
                const std::size_t parts = of(dimension).size();
                return parts > fromInside + 1 ? parts - 1 - fromInside : parts;  // parts: there is none
            };
            const auto name = [&](char letter) {
                return mark == LoopMark::VirtualThread ? std::string(axis) : fmt::format("{}.{}", axis, letter);
            };
            if (!product) loop({{Dim::Outputs, place(Dim::Outputs)}}, mark, name('z'));
            loop({{y, place(y)}}, mark, name('y'));
            loop({{x, place(x)}}, mark, name('x'));
        };
        const auto outermost = [&](Dim dimension, const char* axis) { loop({{dimension, 0}}, LoopMark::Block, axis); };
        if (product) {
            loop({{Dim::Batch, 0}}, LoopMark::Block, "blockIdx.z");
        } else {
            loop({{Dim::Batch, 0}, {Dim::Outputs, 0}}, LoopMark::Block, "blockIdx.z");
        }
        outermost(y, "blockIdx.y"), outermost(x, "blockIdx.x");
        const std::size_t most = std::max({of(x).size(), of(y).size(), product ? 0 : of(Dim::Outputs).size()});
        if (most >= 4) bound(2, LoopMark::VirtualThread, "vthread");
        if (most >= 3) bound(1, LoopMark::Thread, "threadIdx");
        const auto reduction = [&](std::size_t part) {
            for (const Dim each : {Dim::Inputs, Dim::KernelRows, Dim::KernelColumns})
                if (part < of(each).size()) loop({{each, part}});
        };
        reduction(0);
        if (row_.task.find(".cuda") != row_.task.npos && of(Dim::Inputs).size() > 1)
            out_.statement("shared ← tiles of in and weights");
        reduction(1), reduction(2);
        const auto inner = [&](Dim dimension) {
            if (of(dimension).size() > 1) loop({{dimension, last(dimension)}});
        };
        if (!product) inner(Dim::Outputs);
        inner(y), inner(x);
        out_.multiplyAdd();
    }
    // schedule_dense_small_batch: a block per result, whose threads share the reduction.
    void smallBatch() {
        loop({{Dim::Rows, 0}}, LoopMark::Block, "blockIdx.y");
        loop({{Dim::Outputs, 0}}, LoopMark::Block, "blockIdx.x");
        if (of(Dim::Inputs).size() > 1) loop({{Dim::Inputs, last(Dim::Inputs)}}, LoopMark::Thread, "threadIdx.x");
        loop({{Dim::Inputs, 0}});
        out_.multiplyAdd();
    }

    const TunedRow& row_;
    ScheduleLoops loops_;
    LoopWriter out_;
    std::array<std::vector<double>, nestDimensions> parts_;
};

}  // namespace

Expected<ScheduleNest> scheduleNestOf(const TunedRow& row) {
    if (row.work.winograd) {
        return fail("schedules.nest", "a Winograd schedule has no nest over rows, columns and channels",
                    "a direct convolution or a product", "its loops go over transformed tiles");
    }
    if (row.task.ends_with(".vta") && row.task.find("packed") != row.task.npos) {
        return fail("schedules.nest", "the loops of this schedule go over blocks of VTA's matrix unit",
                    "a schedule of a CPU or GPU", "the log does not state the blocks");
    }
    if (!row.steps.empty()) {
        if (auto nest = ansorNest(row)) return std::move(*nest);
    }
    return TemplateNest(row).made();
}

}  // namespace orrery
