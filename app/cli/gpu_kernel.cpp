#include "app/cli/gpu_kernel.h"

#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "methods/gpu/gpu_choice.h"
#include "simulation/gpu/templates/loops.h"
#include "simulation/gpu/templates/vector.h"
#include "workload/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

namespace {

Unexpected badWord(std::string_view word, std::string expected) {
    return fail("gpu.kernel", fmt::format("`{}` says nothing of a kernel", word), std::move(expected),
                "for instance --kernel 'gemm m=1024 n=1024 k=1024 fp16'");
}

// `fir n=65536 taps=16`: sizes of a loop.
Expected<gpusim::LoopSpec> loopIn(std::string_view text, gpusim::LoopSpec::Kind kind, int version) {
    gpusim::LoopSpec spec;
    spec.kind = kind, spec.binaryVersion = version;
    for (const auto word : splitTrimmed(text, ' ')) {
        if (word.empty() || word == gpusim::wordOf(kind) || word == "fp32") continue;
        const auto equal = word.find('=');
        const auto key = word.substr(0, equal);
        const auto value = equal == std::string_view::npos ? std::nullopt : wholeIn(word.substr(equal + 1));
        if (!value || *value < 1 || *value > (std::int64_t{1} << 40))
            return badWord(word, "n=, taps=, step=: whole numbers from 1");
        if (key == "n")
            spec.n = *value;
        else if (key == "taps")
            spec.taps = static_cast<int>(std::min<std::int64_t>(*value, 1 << 20));
        else if (key == "step")
            spec.step = *value;
        else
            return badWord(word, "n=, taps= or step=");
    }
    return spec;
}

}  // namespace

Expected<DrawnKernel> drawnKernel(const std::string& text, const std::string& hardware) {
    const auto loaded = loadHardware(hardware);
    if (!loaded) return tl::unexpected(loaded.error());
    const auto gpu = gpuView(loaded->hardware);
    if (!gpu) return tl::unexpected(gpu.error());
    auto drawn = machineOf(*gpu);
    if (!drawn) return tl::unexpected(drawn.error());
    DrawnKernel out;
    out.machine = drawn->machine;
    out.machine.launchLatency = static_cast<int>(std::lround(gpu->device.launchOverhead.value * gpu->clock));
    if (text.starts_with("reduce ")) {
        gpusim::ReduceSpec spec;
        const auto count = text.find("elements=");
        const auto number =
            count == std::string::npos ? std::nullopt : wholeIn(trimmed(std::string_view(text).substr(count + 9)));
        if (!number || *number < 1 || *number > (std::int64_t{1} << 40))
            return badWord(text, "reduce elements=N, of fp32");
        spec.elements = *number, spec.binaryVersion = drawn->generation.computeCapability;
        out.kernel = gpusim::reduceTemplate(spec);
        out.loop.build = [kernel = out.kernel](std::int64_t) { return kernel; };
        out.program = fmt::format("{} elements", spec.elements);
        return out;
    }
    if (const auto kind = gpusim::loopKindOf(std::string_view(text).substr(0, text.find(' ')))) {
        const auto spec = loopIn(text, *kind, drawn->generation.computeCapability);
        if (!spec) return tl::unexpected(spec.error());
        auto loop = gpusim::loopTemplate(*spec);
        if (!loop) return tl::unexpected(loop.error());
        out.kernel = *loop;
        out.loop.build = [kernel = out.kernel](std::int64_t) { return kernel; };
        out.program = text;
        return out;
    }
    auto kernel = kernelFromSource(text);
    if (!kernel) return tl::unexpected(kernel.error());
    const auto program = chosenProgram(*kernel, *gpu, *drawn);
    if (!program) return tl::unexpected(program.error());
    out.kernel = program->build(0);
    out.loop = *program;
    out.program = fmt::format("{}: {}", toText(*kernel), toText(*program));
    return out;
}

}  // namespace orrery::cli
