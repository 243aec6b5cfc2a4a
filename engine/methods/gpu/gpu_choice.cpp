#include "methods/gpu/gpu_choice.h"

#include "methods/gpu/gpu_represented.h"
#include "methods/gpu/gpu_sample.h"

#include <fmt/format.h>

#include <limits>

namespace orrery {

Expected<KernelProgram> chosenProgram(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine,
                                      const ChoiceOptions& options) {
    auto programs = programsOf(kernel, gpu, machine);
    if (!programs) return tl::unexpected(programs.error());
    KernelProgram* best = &programs->front();
    if (programs->size() < 2 || !isRepresented(*best, machine.machine)) return std::move(*best);
    const double clock = machine.machine.coreMhz * 1e6;
    double least = std::numeric_limits<double>::infinity();
    for (KernelProgram& one : *programs) {
        // What keeps its units busy for longer than another takes needs no try.
        if (one.unitCycles / clock + one.afterSeconds >= least) continue;
        SampleOptions how;
        how.intervals = true, how.stop = options.stop, how.mostCycles = options.mostCycles;
        how.resident = residentOperands(*one.build(0), gpu.l2Bytes, options.copies);
        const auto run = representedKernel(one, machine.machine, how);
        if (!run && run.error().code == "study.cancelled") return tl::unexpected(run.error());
        if (!run) continue;
        const double seconds = run->cycles / clock + one.afterSeconds;
        if (seconds < least * (1 - 1e-9)) least = seconds, best = &one;
    }
    return std::move(*best);
}

std::string toText(const KernelProgram& program) {
    if (program.afterSeconds <= 0) return program.name;
    return fmt::format("{}; a second kernel adds them up in {:.1f} µs more", program.name, program.afterSeconds * 1e6);
}

}  // namespace orrery
