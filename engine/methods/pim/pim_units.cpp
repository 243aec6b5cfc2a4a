#include "methods/pim/pim_units.h"

#include "base/text/words.h"
#include "base/unit.h"
#include "simulation/dram/standard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

double bytesOf(DType type) {
    return bits(type) / 8.0;
}

std::int64_t pimCeil(double a, double b) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(a / b)));
}

// By its id, or the first of the family that the drawing names.
const DramStandard* standardOf(std::string_view timing) {
    const std::string name = lower(timing);
    for (const DramStandard& one : dramStandards())
        if (one.id == name) return &one;
    for (const DramStandard& one : dramStandards())
        if (!name.empty() && lower(one.family) == name) return &one;
    return nullptr;
}

// Commands and rows as the standard has them, the organisation as drawn.
pim::HbmPim stackOf(const DramStandard& standard, const PimView& view) {
    const auto drawn = [](std::int64_t value, int usual) { return value > 0 ? static_cast<int>(value) : usual; };
    const DramOrganisation& o = standard.organisation;
    const DramTiming& t = standard.timing;
    pim::HbmPim stack;
    stack.channels = drawn(view.channels, 1);
    stack.pseudoChannels = drawn(view.pseudoChannels, 1);
    stack.ranks = drawn(view.ranks, 1) * drawn(view.chips, 1);
    stack.bankGroups = drawn(view.bankGroups, 1);
    stack.banks = std::max(1, drawn(view.banks, o.banksPerRank()) / stack.bankGroups);
    stack.columnBytes = o.burstBytes();
    stack.columnsPerRow = o.burstsPerRow();
    stack.clockNanoseconds = t.clockPicoseconds * 1e-3;
    stack.multiplyInterval = t.ccdL, stack.bufferInterval = t.ccdS;
    stack.rcd = t.rcdRead, stack.rp = t.rp, stack.ras = t.ras, stack.rtp = t.rtp;
    stack.refreshTime = t.rfc, stack.refreshInterval = t.refi;
    stack.moveInterval = t.ccdS, stack.moveIntervalSameGroup = t.ccdL;
    return stack;
}

// Of the keys that it sees; the query heads that share a cache each pass over it.
struct DecodeShape {
    std::int64_t heads = 0, keys = 0;
    double exchanged = 0;  ///< elements of queries, new keys and values, and results
};
DecodeShape decodeShape(const Kernel& kernel) {
    const AttentionShape& a = kernel.attention;
    DecodeShape shape;
    shape.heads = a.batch * a.heads * std::max<std::int64_t>(1, a.queries);
    shape.keys = kernel.window > 0 ? std::min(a.keys, kernel.window) : a.keys;
    const double queries = double(a.batch) * double(std::max<std::int64_t>(1, a.queries));
    shape.exchanged = queries * (double(a.heads) * double(a.headDim + a.valueDim) +
                                 double(a.kvHeads) * double(a.headDim + a.valueDim));
    return shape;
}

}  // namespace

Expected<PimUnits> PimUnits::make(PimView view) {
    PimUnits units;
    units.view_ = std::move(view);
    const PimView& v = units.view_;
    if (v.processors) {
        units.dpu_.clockHertz = v.clock.value;
        units.dpu_.tasklets = std::max(1, static_cast<int>(v.threads));
        return units;
    }
    const DramStandard* standard = standardOf(v.timing);
    if (!standard) {
        std::string ids;
        for (const DramStandard& one : dramStandards()) ids += (ids.empty() ? "" : ", ") + std::string(one.id);
        return fail("pim.timing",
                    v.timing.empty() ? fmt::format("`{}` names no timing standard", v.name)
                                     : fmt::format("there is no timing standard `{}`", v.timing),
                    "one of " + ids, "set `timing` of the memory: its units work at the pace of its banks",
                    {{}, 0, 0, v.path + ".timing"});
    }
    units.standard_ = standard->id;
    units.stack_ = stackOf(*standard, v);
    units.place_ = v.at == PimView::At::Bank        ? pim::UnitPlace::Bank
                   : v.at == PimView::At::BankGroup ? pim::UnitPlace::BankGroup
                                                    : pim::UnitPlace::Buffer;
    return units;
}

std::optional<pim::HbmPim> PimUnits::stackFor(DType type) const {
    const double rate = view_.macs[static_cast<std::size_t>(type)];
    if (rate <= 0) return std::nullopt;
    pim::HbmPim stack = stack_;
    const double elements = stack.columnBytes / bytesOf(type), cycle = stack.clockNanoseconds * 1e-9;
    // Units at banks and groups take a column each per command; one on the buffer die serves all of its channel.
    const double shared = place_ == pim::UnitPlace::Buffer ? stack.pseudoChannels : 1;
    double least = elements * shared / rate / cycle;
    if (view_.powerCap.value > 0 && view_.energy.value > 0)
        least = std::max(least,
                         view_.unitsPerMemory * stack.columnBytes * view_.energy.value / view_.powerCap.value / cycle);
    // A clock is rounded to picoseconds: a hundredth more is no cycle more.
    const int interval = static_cast<int>(std::ceil(std::min(least, 1e6) * 0.99));
    stack.multiplyInterval = std::max(stack.multiplyInterval, interval);
    stack.bufferInterval = std::max(stack.bufferInterval, interval);
    return stack;
}

std::optional<PimTime> PimUnits::atBanks(const Kernel& kernel) const {
    const bool attention = kernel.kind == KernelKind::DecodeAttention;
    const DType type = attention ? kernel.kvType : kernel.weightType;
    const auto stack = stackFor(type);
    if (!stack || bits(type) % 8 != 0) return std::nullopt;
    const int bytes = static_cast<int>(bytesOf(type));
    PimTime time;
    double operations = 0, first = 1;
    if (attention) {
        const DecodeShape shape = decodeShape(kernel);
        const std::int64_t heads = pimCeil(double(shape.heads), view_.memories);
        const auto answer =
            pim::attentionOn(*stack, place_, false,
                             {shape.keys, heads, std::max(kernel.attention.headDim, kernel.attention.valueDim), bytes});
        if (!answer) return std::nullopt;
        time.units = answer->seconds;
        time.busBytes = shape.exchanged * bytes;
        operations = 4 * double(shape.heads) * double(shape.keys) * double(kernel.attention.headDim);
        // Heads follow one another: the first one's operands are waited for, the others' hide behind its work.
        first = 1.0 / double(std::max<std::int64_t>(1, kernel.attention.heads));
    } else {
        const auto answer = pim::productOn(*stack, place_, false,
                                           {pimCeil(double(kernel.n), view_.memories), kernel.k, kernel.m, bytes});
        if (!answer) return std::nullopt;
        time.units = answer->seconds;
        time.busBytes = double(kernel.m) * (double(kernel.k) + double(kernel.n)) * bytes;
        operations = 2 * double(kernel.m) * double(kernel.n) * double(kernel.k);
    }
    const double crossing = view_.link.value > 0 ? time.busBytes / view_.link.value : 0;
    time.handedOver = crossing > time.units ? crossing - time.units * (1 - first) : crossing * first;
    time.seconds = time.units + time.handedOver;
    if (view_.energy.value > 0) time.joules = operations * view_.energy.value * bytesOf(type) / 2;
    return time;
}

std::optional<PimTime> PimUnits::onProcessors(const Kernel& kernel) const {
    const bool attention = kernel.kind == KernelKind::DecodeAttention;
    const DType type = attention ? kernel.kvType : kernel.weightType;
    const double rate = view_.macs[static_cast<std::size_t>(type)];
    if (rate <= 0) return std::nullopt;
    const double dpus = std::max(1.0, view_.unitsPerMemory * view_.memories);
    const double bytes = bytesOf(type);
    // A loop of one multiply-accumulate: as many instructions as its rate says, its element read from the bank.
    const std::vector<pim::DpuLoop> loop{{view_.clock.value / rate, bytes, 0}};
    PimTime time;
    double elements = 0, transfers = 0, operations = 0, launches = 1;
    if (attention) {
        const DecodeShape shape = decodeShape(kernel);
        const double pairs = double(shape.heads) * double(shape.keys);
        elements = 2 * std::ceil(pairs / dpus) * double(kernel.attention.headDim);
        operations = 4 * pairs * double(kernel.attention.headDim);
        // Scores go to the host for the softmax and come back.
        const double scores = pairs * bytes / dpus, each = shape.exchanged * bytes / dpus;
        transfers = pim::toDpusMilliseconds(scores + each, dpus) + pim::fromDpusMilliseconds(scores + each, dpus);
        time.busBytes = 2 * pairs * bytes + shape.exchanged * bytes;
        launches = 2;
    } else {
        const double rows = std::ceil(double(kernel.n) / dpus);
        elements = rows * double(kernel.k) * double(kernel.m);
        operations = 2 * double(kernel.m) * double(kernel.n) * double(kernel.k);
        const double in = double(kernel.m) * double(kernel.k) * bytes, out = rows * double(kernel.m) * 4;
        transfers = pim::toDpusMilliseconds(in, dpus) + pim::fromDpusMilliseconds(out, dpus);
        time.busBytes = in * dpus + out * dpus;
    }
    time.units = pim::timeOf(loop, elements, dpu_).milliseconds * 1e-3 + launches * dpu_.launchMilliseconds * 1e-3;
    time.handedOver = transfers * 1e-3;
    time.seconds = time.units + time.handedOver;
    if (view_.energy.value > 0) time.joules = operations * view_.energy.value * bytesOf(type) / 2;
    return time;
}

std::optional<PimTime> PimUnits::price(const Kernel& kernel) const {
    const bool attention = kernel.kind == KernelKind::DecodeAttention;
    const bool product = kernel.kind == KernelKind::Gemm && kernel.batch <= 1 && kernel.m <= mostRows &&
                         kernel.scaleBlock == 0 && kernel.weightType == kernel.type;
    if (!attention && !product) return std::nullopt;
    return view_.processors ? onProcessors(kernel) : atBanks(kernel);
}

std::vector<std::string> PimUnits::assumptions() const {
    std::vector<std::string> said;
    if (view_.processors) {
        said.push_back(
            fmt::format("`{}` of {:.0f} `{}` stand at the banks of `{}`; host transfers follow what was "
                        "measured on 1 to 64 DPUs",
                        view_.unitName, view_.unitsPerMemory * view_.memories, view_.unitName, view_.name));
    } else {
        const auto stack = stackFor(DType::F16);
        said.push_back(fmt::format("{:g} `{}` with `{}` {}, timing of {}; a multiply every {} cycles{}", view_.memories,
                                   view_.name, view_.unitName,
                                   place_ == pim::UnitPlace::Bank        ? "at each bank"
                                   : place_ == pim::UnitPlace::BankGroup ? "at each bank group"
                                                                         : "on the buffer die",
                                   standard_,
                                   !stack                             ? 0
                                   : place_ == pim::UnitPlace::Buffer ? stack->bufferInterval
                                                                      : stack->multiplyInterval,
                                   view_.powerCap.value > 0 ? " under its power cap" : ""));
    }
    said.push_back(
        "Weights and caches stand in the banks as the units need them; query heads that share a cache each "
        "read it");
    said.insert(said.end(), view_.assumptions.begin(), view_.assumptions.end());
    return said;
}

}  // namespace orrery
