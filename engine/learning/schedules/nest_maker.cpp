#include "learning/schedules/nest_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace orrery {

std::string_view toText(LoopMark mark) {
    switch (mark) {
        case LoopMark::Serial:
            return "serial";
        case LoopMark::Parallel:
            return "parallel";
        case LoopMark::Vectorized:
            return "vectorize";
        case LoopMark::Unrolled:
            return "unroll";
        case LoopMark::Block:
            return "block";
        case LoopMark::VirtualThread:
            return "vthread";
        case LoopMark::Thread:
            return "thread";
    }
    return {};
}

std::string loopName(NestDimension dimension, std::optional<std::size_t> part) {
    static constexpr std::array<std::string_view, nestDimensions> names{"batch", "row",        "column",       "output",
                                                                        "input", "kernel_row", "kernel_column"};
    const std::string_view name = names[static_cast<std::size_t>(dimension)];
    return part ? fmt::format("{}_{}", name, *part) : std::string(name);
}

double touchedBytes(const TensorWork& w, const NestExtents& extents) {
    const auto of = [&](NestDimension dimension) { return extents[static_cast<std::size_t>(dimension)]; };
    const double batch = of(NestDimension::Batch), rows = of(NestDimension::Rows), columns = of(NestDimension::Columns),
                 outputs = of(NestDimension::Outputs), inputs = of(NestDimension::Inputs),
                 kernelRows = of(NestDimension::KernelRows), kernelColumns = of(NestDimension::KernelColumns);
    // Rows of the input under so many of the output, with its border where the kernel reaches over.
    const auto under = [&](double made, double kernel, double all) {
        if (w.product) return made;
        const double reach = w.transposed ? std::ceil((made + kernel - 1) / w.stride) : (made - 1) * w.stride + kernel;
        return std::min(all, reach);
    };
    // Channels that so many outputs read of groups.
    const double touchedGroups = std::max(1.0, outputs * w.groups / w.outputs);
    const double channels = w.depthwise ? outputs : inputs * touchedGroups;
    const double in = batch * under(rows, kernelRows, w.inputRows) * channels *
                      (w.product ? 1 : under(columns, kernelColumns, w.inputColumns));
    const double weights = outputs * (w.depthwise ? 1 : inputs) * kernelRows * kernelColumns * (w.product ? batch : 1);
    return w.elementBytes * (in + weights + batch * rows * columns * outputs);
}

int LoopWriter::depth() const {
    return static_cast<int>(
        std::count_if(open_.begin(), open_.end(), [](const Open& each) { return each.line.has_value(); }));
}

void LoopWriter::loop(const MadeLoop& loop) {
    NestLine line;
    line.depth = depth();
    line.loop = true;
    line.name = loop.name;
    line.extent = loop.known ? std::accumulate(loop.extents.begin(), loop.extents.end(), 1.0, std::multiplies<>()) : 0;
    line.mark = loop.mark;
    line.axis = loop.axis;
    for (const NestDimension each : {NestDimension::Inputs, NestDimension::KernelRows, NestDimension::KernelColumns})
        line.reduces |= loop.extents[static_cast<std::size_t>(each)] > 1;
    const bool written = line.extent != 1;
    open_.push_back({loop, written ? std::optional(lines_.size()) : std::nullopt});
    if (written) lines_.push_back(std::move(line));
}

void LoopWriter::statement(std::string text) {
    NestLine line;
    line.depth = depth();
    line.name = std::move(text);
    lines_.push_back(std::move(line));
}

void LoopWriter::multiplyAdd() {
    NestExtents inside = noExtents;
    bool known = true;
    for (std::size_t i = open_.size(); i-- > 0;) {
        known &= open_[i].loop.known;
        if (!known) break;
        double steps = 2;
        for (std::size_t d = 0; d < nestDimensions; ++d) steps *= inside[d] *= open_[i].loop.extents[d];
        if (!open_[i].line) continue;
        lines_[*open_[i].line].bytes = touchedBytes(work_, inside);
        lines_[*open_[i].line].flops = steps;
    }
    statement("out += in × weights");
}

void LoopWriter::closeTo(std::size_t open) {
    open_.resize(std::min(open, open_.size()));
}

std::vector<NestLine> LoopWriter::take() {
    return std::move(lines_);
}

std::string codeOf(const ScheduleNest& nest) {
    std::string code;
    if (nest.unroll > 0) code += fmt::format("# loops of up to {:.0f} steps are unrolled\n", nest.unroll);
    for (const NestLine& line : nest.lines) {
        code.append(2 * static_cast<std::size_t>(line.depth), ' ');
        if (!line.loop) {
            code += line.name + '\n';
            continue;
        }
        code += line.extent > 0 ? fmt::format("for {} in 0..{:.0f}:", line.name, line.extent)
                                : fmt::format("for {}:", line.name);
        if (line.mark != LoopMark::Serial)
            code += fmt::format("  # {}", line.axis.empty() ? toText(line.mark) : line.axis);
        code += '\n';
    }
    return code;
}

}  // namespace orrery
