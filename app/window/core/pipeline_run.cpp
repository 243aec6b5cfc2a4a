#include "app/window/core/pipeline_run.h"

#include "hardware/views/core_view.h"
#include "simulation/cpu/core/view_machine.h"
#include "simulation/cpu/cores/view_chip.h"
#include "widgets/common/text.h"

#include <algorithm>

namespace orrery::app {

namespace {

using namespace pipeline;

QString registerText(std::uint8_t reg) {
    return reg < FirstVectorRegister ? QStringLiteral("r%1").arg(reg)
                                     : QStringLiteral("v%1").arg(reg - FirstVectorRegister);
}

Expected<Machine> machineFor(const PipelineQuestion& question, std::vector<std::string>& assumptions) {
    if (!question.core.empty()) return loadMachine(question.core);
    if (!question.drawn) return fail("core.no-design", "no design is drawn", "a core, or a design with a CPU");
    const auto view = coreView(*question.drawn);
    if (!view) return Unexpected(view.error());
    assumptions = view->assumptions;
    return machineOf(*view);
}

// Operations of a run that are shown: from where `place` says, as many as asked for.
struct Stretch {
    std::uint64_t begin = 0, end = 0;
};
Stretch stretchOf(const PipelineQuestion& question, std::uint64_t run) {
    const auto rows = static_cast<std::uint64_t>(std::max(question.rows, 1));
    const std::uint64_t latest = run > rows ? run - rows : 0;
    const std::uint64_t begin =
        std::min(static_cast<std::uint64_t>(std::clamp(question.place, 0.0, 1.0) * static_cast<double>(run)), latest);
    return {begin, begin + rows};
}

// What of a chunk that begins at operation `at` lies in the stretch.
void addRows(ui::PipelinePicture& picture, const Stretch& stretch, std::uint64_t at, const LoopNest& nest,
             const std::vector<BoundOp>& ops, const OpChunk& chunk, const std::vector<Passage>& passages) {
    for (std::size_t i = 0; i < chunk.size; ++i) {
        if (at + i < stretch.begin || at + i >= stretch.end) continue;
        picture.rows.push_back(
            {operationText(nest.ops[chunk.op[i]], chunk.address[i]), passages[i], ops[chunk.op[i]].occupancy});
    }
}

Expected<PipelineAnswer> runSeveral(const PipelineQuestion& question, PipelineAnswer answer,
                                    const std::stop_token& stop, Progress& progress) {
    const auto view = coreView(*question.drawn);
    if (!view) return Unexpected(view.error());
    auto chip = chipOf(*view, question.pages);
    if (!chip) return Unexpected(chip.error());
    answer.assumptions = assumptionsOf(*view, *chip);
    const int cores = std::min(question.cores, chip->cores);
    if (cores < question.cores)
        answer.assumptions.push_back("`" + view->name + "` has only " + std::to_string(cores) + " cores; all run.");
    const auto parts = partsOf(answer.kernel, chip->core, cores);
    if (static_cast<int>(parts.size()) < cores)
        answer.assumptions.push_back(fewerCores(answer.kernel, cores, static_cast<int>(parts.size())));
    const auto first = nestOf(parts.front().spec, chip->core);
    if (!first) return Unexpected(first.error());
    // Where all cores go on alike, the run is cut for the first where it is for all.
    const std::uint64_t own = std::min(first->length(), longestRun / static_cast<std::uint64_t>(parts.size()));
    const Stretch stretch = stretchOf(question, own);
    const auto ops = boundOps(chip->core, first->ops);
    // The stretch, or what ran last where the first core did not come so far.
    struct Ran {
        std::uint32_t op = 0;
        std::uint64_t address = 0;
        Passage passage;
    };
    std::vector<Ran> last(stretch.end - stretch.begin);
    std::uint64_t at = 0, before = 0;
    SplitOptions options;
    options.longest = longestRun;
    options.stop = stop;
    options.advanced = [&](std::uint64_t done, std::uint64_t all) {
        progress.setTotal(all);
        progress.advance(done - before);
        before = done;
    };
    options.watched = [&](const LoopNest&, const OpChunk& chunk, const std::vector<Passage>& passages) {
        for (std::size_t i = 0; i < chunk.size && at + i < stretch.end; ++i)
            last[(at + i) % last.size()] = {static_cast<std::uint32_t>(chunk.op[i]), chunk.address[i], passages[i]};
        at += chunk.size;
    };
    auto run = runSplit(answer.kernel, *chip, cores, question.binding, options);
    if (!run) return Unexpected(run.error());
    if (stop.stop_requested()) return fail("core.stopped", "the run was stopped");
    const std::uint64_t end = std::min(at, stretch.end);
    answer.picture.first = end - std::min<std::uint64_t>(end, last.size());
    for (std::uint64_t each = answer.picture.first; each < end; ++each) {
        const Ran& ran = last[each % last.size()];
        answer.picture.rows.push_back(
            {operationText(first->ops[ran.op], ran.address), ran.passage, ops[ran.op].occupancy});
    }
    answer.counts = run->cores.front().counters;
    answer.length = run->operations;
    for (const CoreResult& core : run->cores) answer.operations += core.counters.operations;
    answer.machine = chip->core;
    answer.several = CoresAnswer{std::move(*chip), std::move(*run)};
    return answer;
}

}  // namespace

QString operationText(const StaticOp& op, std::uint64_t address) {
    QString text = ui::qs(toText(op.kind)).replace(QLatin1Char('_'), QLatin1Char(' '));
    if (op.to != NoRegister) text += QLatin1Char(' ') + registerText(op.to);
    QStringList from;
    for (const std::uint8_t reg : op.from)
        if (reg != NoRegister) from << registerText(reg);
    if (!from.isEmpty()) text += QStringLiteral(" ← ") + from.join(QLatin1Char(' '));
    if (op.kind == OpKind::Load || op.kind == OpKind::Store)
        text += QStringLiteral(" [0x%1] %2 B").arg(address, 0, 16).arg(op.bytes);
    return text;
}

Expected<PipelineAnswer> runPipeline(const PipelineQuestion& question, const std::stop_token& stop,
                                     Progress& progress) {
    PipelineAnswer answer;
    auto machine = machineFor(question, answer.assumptions);
    if (!machine) return Unexpected(machine.error());
    answer.machine = std::move(*machine);
    auto kernel = readKernel(question.kernel);
    if (!kernel) return Unexpected(kernel.error());
    answer.kernel = std::move(*kernel);
    for (const std::string& name : answer.machine.portNames) answer.picture.portNames.push_back(ui::qs(name));
    if (question.cores > 1) {
        if (!question.core.empty())
            return fail("core.no-design", "shared caches and memory come from a drawn CPU",
                        "one core, or the drawn CPU");
        return runSeveral(question, std::move(answer), stop, progress);
    }
    const auto nest = nestOf(answer.kernel, answer.machine);
    if (!nest) return Unexpected(nest.error());
    answer.length = nest->length();
    const std::uint64_t run = std::min(answer.length, longestRun);
    const Stretch stretch = stretchOf(question, run);
    progress.setTotal(run);

    const auto ops = boundOps(answer.machine, nest->ops);
    Pipeline core(answer.machine, ops);
    NestStream stream(*nest);
    OpChunk chunk;
    std::vector<Passage> passages;
    answer.picture.first = stretch.begin;
    for (std::uint64_t at = 0; at < run && stream.next(chunk); at += chunk.size) {
        if (stop.stop_requested()) return fail("core.stopped", "the run was stopped");
        if (at + chunk.size <= stretch.begin || at >= stretch.end) {
            core.run(chunk);
        } else {
            passages.clear();
            core.run(chunk, passages);
            addRows(answer.picture, stretch, at, *nest, ops, chunk, passages);
        }
        progress.advance(chunk.size);
    }
    answer.counts = core.counters();
    answer.operations = answer.counts.operations;
    return answer;
}

}  // namespace orrery::app
