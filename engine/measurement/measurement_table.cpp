#include "measurement/measure.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

std::string rowOf(const MeasuredKernel& row, Statistic statistic) {
    const Kernel& k = row.kernel;
    const AttentionShape& a = k.attention;
    const ConvolutionShape& c = k.convolution;
    const auto yes = [](bool is) { return is ? "yes" : "no"; };
    std::string cells;
    const auto add = [&](const auto& value) { cells += fmt::format("{},", value); };
    // A field that does not belong to the kind stays empty.
    const auto fields = [&](bool mine, std::initializer_list<std::int64_t> values) {
        for (const auto value : values) mine ? add(value) : add("");
    };
    const bool attends = k.kind == KernelKind::PrefillAttention || k.kind == KernelKind::DecodeAttention;
    const bool convolves = k.kind == KernelKind::Convolution;
    const bool gemm = k.kind == KernelKind::Gemm, vector = !attends && !convolves && !gemm;
    add(toText(k.kind));
    add(toText(k.type));
    gemm ? add(yes(k.transposedWeight)) : add("");
    vector ? add(k.function) : add("");
    fields(vector, {k.operands});
    fields(gemm || attends || convolves, {gemm ? std::max<std::int64_t>(1, k.batch) : attends ? a.batch : c.batch});
    fields(gemm || vector, {k.m, k.n});
    fields(gemm, {k.k});
    fields(attends, {a.queries, a.keys, a.heads, a.kvHeads, a.headDim});
    attends ? add(yes(a.causal)) : add("");
    fields(convolves, {c.inChannels, c.outChannels, c.height, c.width, c.kernelHeight, c.kernelWidth, c.outHeight,
                       c.outWidth, c.stride});
    const Timing& t = row.timing;
    cells +=
        fmt::format("{:.6g},{:.6g},{:.6g},{:.4g},{}\n", 1e6 * (statistic == Statistic::Median ? t.median : t.minimum),
                    1e6 * t.minimum, 1e6 * t.median, t.spread, t.repeats);
    return cells;
}

}  // namespace

std::string measurementTable(const Measurement& measurement, Statistic statistic, std::string_view device,
                             std::string_view date) {
    const bool attends = std::any_of(measurement.rows.begin(), measurement.rows.end(), [](const MeasuredKernel& row) {
        return row.kernel.kind == KernelKind::PrefillAttention || row.kernel.kind == KernelKind::DecodeAttention;
    });
    const std::string clock = measurement.clockBefore > 0 && measurement.clockAfter > 0
                                  ? fmt::format("The clock was {:.2f} GHz before and {:.2f} GHz after.",
                                                measurement.clockBefore / 1e9, measurement.clockAfter / 1e9)
                                  : std::string("The clock is not known.");
    std::string out = fmt::format(
        "orrery: references/1\n"
        "name: Kernels of {}\n"
        "source: orrery-cli measure, {}\n"
        "licence: your own\n"
        "software: {}\n"
        "kind: measured\n"
        "device: {}\n"
        "time: {{value: time_us, unit: us}}\n"
        "noise: {{value: spread}}\n"
        "note: >-\n"
        "  time_us is the {} of the repeats; weights come from memory, activations lie where the run before left "
        "them.\n"
        "  {}{}\n"
        "rows: |\n"
        "  kind,dtype,transposed_weight,function,operands,batch,m,n,k,queries,keys,heads,kv_heads,head_dim,causal,"
        "in_channels,out_channels,height,width,kernel_height,kernel_width,out_height,out_width,stride,"
        "time_us,minimum_us,median_us,spread,repeats\n",
        device, date, measurement.software(), device, statistic == Statistic::Median ? "median" : "minimum",
        attends ? "Attention is two products and a softmax. " : "", clock);
    for (const auto& row : measurement.rows) out += "  " + rowOf(row, statistic);
    return out;
}

}  // namespace orrery
