#include "app/cli/gpu_sample.h"

#include "app/cli/output.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;
using gpusim::SampledList;
using gpusim::SampledResult;
using gpusim::SampleOptions;

// Warp instructions of the whole to those simulated cycle by cycle; a kernel without instructions was run whole.
double speedUp(double instructions, double simulated) {
    return simulated > 0 ? instructions / simulated : 1;
}

std::string range(bool whole, double low, double high, double confidence) {
    return whole ? std::string("all of it was simulated")
                 : fmt::format("{} … {} cycles ({:.0f} %)", count(std::round(low)), count(std::round(high)),
                               100 * confidence);
}

}  // namespace

Expected<std::optional<SampleOptions>> askedSample(const Arguments& arguments) {
    const auto kind = arguments.value("sample");
    if (!kind) {
        if (arguments.has("units"))
            return fail("usage.together", "`--units` means nothing without `--sample`", "--sample NAME",
                        "leave it out");
        return std::nullopt;
    }
    SampleOptions out;
    const auto known = gpusim::sampleKindOf(*kind);
    if (!known) return fail("usage.value", fmt::format("there is no sampling `{}`", *kind), "smarts, simpoint");
    out.kind = *known;
    for (const char* other : {"snapshot", "resume", "until-kernel"}) {
        if (arguments.has(other))
            return fail("usage.together", fmt::format("`--{}` means nothing with --sample", other),
                        "--units, --seed, --threads, --cycles", "leave it out");
    }
    if (arguments.value("method").value_or("cycle") != "cycle")
        return fail("usage.together", "samples are of the cycle simulation", "--method cycle");
    const auto whole = [&](const char* name, std::int64_t least) -> Expected<std::optional<std::int64_t>> {
        const auto text = arguments.value(name);
        if (!text) return std::nullopt;
        const auto number = wholeIn(*text);
        if (number && *number >= least) return number;
        return fail("usage.number", fmt::format("`--{} {}`", name, *text),
                    fmt::format("a whole number from {}", least));
    };
    const auto units = whole("units", 1), seed = whole("seed", 0);
    if (!units) return tl::unexpected(units.error());
    if (!seed) return tl::unexpected(seed.error());
    out.units = units->value_or(out.units);
    out.seed = static_cast<std::uint64_t>(seed->value_or(1));
    return out;
}

Json sampleJson(const SampledResult& k) {
    Json out{{"estimate", k.estimate},
             {"low", k.low},
             {"high", k.high},
             {"share", k.share()},
             {"speed_up", k.stoodFor() ? Json() : Json(speedUp(k.instructions, k.simulated))},
             {"waves", k.waves},
             {"simulated_waves", k.simulatedWaves},
             {"measured_waves", k.measuredWaves}};
    if (k.clusters > 0) out["clusters"] = k.clusters;
    return out;
}

Json sampleJson(const SampledList& all, const SampleOptions& options) {
    Json out{{"kind", gpusim::toText(options.kind)},
             {"units", options.units},
             {"seed", options.seed},
             {"confidence", options.confidence},
             {"estimate", all.estimate},
             {"low", all.low},
             {"high", all.high},
             {"share", speedUp(all.simulated, all.instructions)},
             {"speed_up", speedUp(all.instructions, all.simulated)},
             {"kernels", all.kernels.size()},
             {"simulated_kernels", all.simulatedKernels}};
    if (all.clusters > 0) out["clusters"] = all.clusters;
    return out;
}

std::string sampleText(const SampledList& all, const SampleOptions& options) {
    std::string out;
    for (const SampledResult& k : all.kernels) {
        out += fmt::format("{}: {}", k.name, range(k.whole(), k.low, k.high, options.confidence));
        if (k.stoodFor())
            out += ", from kernels alike";
        else if (!k.whole())
            out += fmt::format(", {} of {} waves measured, {:.1f} % of warp instructions simulated", k.measuredWaves,
                               k.waves, 100 * k.share());
        out += "\n";
    }
    if (all.kernels.size() > 1)
        out += fmt::format("all: {} cycles, {}, {} of {} kernels and {:.1f} % of warp instructions simulated\n",
                           count(std::round(all.estimate)),
                           range(all.simulated == all.instructions, all.low, all.high, options.confidence),
                           all.simulatedKernels, all.kernels.size(), 100 * speedUp(all.simulated, all.instructions));
    return out;
}

SampledList listOf(SampledResult kernel) {
    SampledList out;
    out.estimate = kernel.estimate, out.low = kernel.low, out.high = kernel.high;
    out.instructions = kernel.instructions, out.simulated = kernel.simulated, out.simulatedKernels = 1;
    out.kernels.push_back(std::move(kernel));
    return out;
}

}  // namespace orrery::cli
