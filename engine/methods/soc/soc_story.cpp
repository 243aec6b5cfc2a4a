// What the prices of soc-offload say of themselves: names, notes, assumptions, and the story of one kernel.

#include "methods/soc/soc_pricer.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

std::array<std::string, 4> SocPricer::partNames() const {
    return {fmt::format("Computing on {}", view_.acceleratorName), "Transfers", "Data preparation",
            fmt::format("Operators on {}", view_.processorName)};
}

std::vector<std::string> SocPricer::rows() const {
    std::vector<std::string> rows{view_.processorName, "data preparation"};
    for (std::int64_t a = 0; a < view_.accelerators; ++a) {
        const std::string which =
            view_.accelerators > 1 ? fmt::format("{} {}", view_.acceleratorName, a) : view_.acceleratorName;
        rows.push_back(which + " transfers");
        rows.push_back(which);
    }
    return rows;
}

std::vector<KernelNote> SocPricer::notes() const {
    auto notes = host_->notes();
    // In the order of Stays.
    notes.push_back({fmt::format("on `{}`, tile by tile", view_.acceleratorName)});
    notes.push_back({fmt::format("not for `{}`", view_.acceleratorName)});
    notes.push_back(
        {fmt::format("no tile of them fits the scratchpads of `{}`, or its method has no price: they stay on `{}`",
                     view_.acceleratorName, view_.processorName),
         "soc.no-tile", "Draw larger scratchpads, or choose another method for the accelerator"});
    notes.push_back({fmt::format("take less on `{}`, and stay there", view_.processorName)});
    return notes;
}

std::vector<std::string> SocPricer::assumptions() const {
    std::vector<std::string> out;
    const SocWay& way = settings_.coherent ? *view_.coherent : *view_.direct;
    out.push_back(fmt::format("Tiles on `{}` ({} of them) are priced by `{}`, operands in the scratchpads",
                              view_.acceleratorName, view_.accelerators, acceleratorMethod_));
    out.push_back(
        settings_.coherent
            ? fmt::format("Transfers cross `{}`, one each way at a time and coherently; what `{}` holds of a kernel's "
                          "tensors comes from it, the rest from {}",
                          way.name, view_.cacheName, view_.memoryName)
            : fmt::format("Transfers cross `{}`, one each way at a time, past the caches: {} cycles for each line that "
                          "is written back before, {} for each that is thrown away after, as measured on a "
                          "Zynq (Shao et al., MICRO 2016)",
                          way.name, flushCycles, invalidateCycles));
    const bool units = std::ranges::any_of(settings_.vectorRates, [](double rate) { return rate > 0; });
    out.push_back(units
                      ? fmt::format("Bias and operators fused behind a product run on the vector units of `{}`, after "
                                    "its products; what they read on top crosses at the bandwidth of {}",
                                    view_.acceleratorName, view_.memoryName)
                      : fmt::format("`{}` has no vector unit: bias and operators fused behind a product are one more "
                                    "pass of `{}` over its results",
                                    view_.acceleratorName, view_.processorName));
    out.push_back(
        fmt::format("`{}` copies tiles by the loop of its own core, in registers of {} bytes as its "
                    "microarchitecture has them, on {} of {} cores; caches are cold, tensors lie with "
                    "channels innermost, and a tensor of one tile is not copied",
                    view_.processorName, copies_->machine().vectorBytes, settings_.threads, copies_->cores()));
    out.push_back(settings_.weightsAhead ? "Tiles of weights were made before the pass"
                                         : "Tiles of weights are made in every pass");
    out.push_back(settings_.buffers == TileBuffers::Two
                      ? "Two buffers, half a scratchpad each: preparing, carrying and computing overlap, where that "
                        "takes less than whole scratchpads one after another"
                      : "One buffer: all tiles of a kernel are prepared, then loaded, computed and stored one after "
                        "another, then gathered");
    out.push_back(settings_.hostLayout
                      ? fmt::format("Operators on `{}` keep channels outermost: images that cross are laid out anew",
                                    view_.processorName)
                      : "Operators of both keep channels innermost: images are laid out anew where they enter or leave "
                        "the model");
    if (view_.macEnergy.value > 0 && view_.memoryEnergy.value > 0)
        out.push_back(fmt::format("Energy counts arithmetic, bytes of {}, of the way and into the scratchpads",
                                  view_.memoryName));
    out.insert(out.end(), view_.assumptions.begin(), view_.assumptions.end());
    const auto more = host_->assumptions();
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

KernelStory SocPricer::explain(const Kernel& kernel) const {
    const auto serial = makeSerialExecutor();
    PriceContext context{*serial};
    const auto found = priceOnce(kernel, context);
    if (!found) return {};
    const KnownPtr& known = *found;
    KernelStory story = known->stays == Stays::Away ? KernelStory{} : host_->explain(kernel);
    if (!known->away) return story;
    const SocKernel& away = *known->away;
    const Tiling& t = away.tiling;
    const auto add = [&](std::string name, double value, Dimension dimension, std::string meaning) {
        story.terms.push_back({std::move(name), value, dimension, {}, std::move(meaning)});
    };
    add(fmt::format("on {}", view_.processorName), known->host.seconds, Dimension::Time,
        known->stays == Stays::Away ? "Not chosen." : "Chosen.");
    add(fmt::format("on {}", view_.acceleratorName), away.seconds(), Dimension::Time,
        fmt::format("{}: tiles of {} × {} results, {} channels in and {} out, {}.",
                    known->stays == Stays::Away ? "Chosen" : "Not chosen", t.tile.rows, t.tile.columns, t.tile.inputs,
                    t.tile.outputs, away.buffers == TileBuffers::Two ? "two buffers" : "one buffer"));
    add("invocations", t.invocations, Dimension::Number, "Tiles that the accelerators compute.");
    const auto copied = [](const TiledOperand& operand) {
        double runs = 0;
        for (const CopyRuns& each : operand.runs) runs += each.count;
        return runs;
    };
    const bool weights = !settings_.weightsAhead;
    add("runs copied", copied(t.input) + copied(t.output) + (weights ? copied(t.weights) : 0), Dimension::Number,
        fmt::format("{:.0f} of inputs, {:.0f} of weights, {:.0f} of results.", copied(t.input),
                    weights ? copied(t.weights) : 0, copied(t.output)));
    add("inputs in tiles", t.input.bytes, Dimension::Data,
        fmt::format("{:.0f} tiles, with what two of them share.", t.input.tiles));
    add("bytes carried", t.input.sent + t.weights.sent + t.output.sent, Dimension::Data,
        "Tiles that are loaded again count again; with one accelerator.");
    add("computing", away.computing, Dimension::Time, "Of all tiles, one after another.");
    add("carrying", away.carrying, Dimension::Time, "Of all transfers, one after another.");
    add("copying", away.copying, Dimension::Time, "Into tiles and out of them.");
    add("coherence", away.coherence, Dimension::Time, "Lines written back and thrown away.");
    if (away.finishing > 0)
        add("bias and fused operators", away.finishing, Dimension::Time,
            "On the vector units, after the products; in computing.");
    if (away.operands > 0)
        add("operands of fused operators", away.operands, Dimension::Time, "At the memory's bandwidth; in transfers.");
    if (away.finishingHost > 0)
        add(fmt::format("bias and fused operators on {}", view_.processorName), away.finishingHost, Dimension::Time,
            "No vector unit is drawn: one more pass over the results, behind the other parts.");
    add("computing, of the time", away.bill.compute, Dimension::Time, "While any accelerator computes.");
    add("transfers, of the time", away.bill.transfer, Dimension::Time, "While none computes and the way carries.");
    add("preparation, of the time", away.bill.preparation, Dimension::Time, "The rest; the three add up.");
    return story;
}

}  // namespace orrery
