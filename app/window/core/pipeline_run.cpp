#include "app/window/core/pipeline_run.h"

#include "hardware/views/core_view.h"
#include "simulation/cpu/core/view_machine.h"
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
    const auto nest = nestOf(answer.kernel, answer.machine);
    if (!nest) return Unexpected(nest.error());
    answer.length = nest->length();
    const std::uint64_t run = std::min(answer.length, longestRun);
    const auto rows = static_cast<std::uint64_t>(std::max(question.rows, 1));
    const std::uint64_t latest = run > rows ? run - rows : 0;
    const std::uint64_t begin =
        std::min(static_cast<std::uint64_t>(std::clamp(question.place, 0.0, 1.0) * static_cast<double>(run)), latest);
    progress.setTotal(run);

    const auto ops = boundOps(answer.machine, nest->ops);
    Pipeline core(answer.machine, ops);
    NestStream stream(*nest);
    OpChunk chunk;
    std::vector<Passage> passages;
    answer.picture.first = begin;
    for (const std::string& name : answer.machine.portNames) answer.picture.portNames.push_back(ui::qs(name));
    for (std::uint64_t at = 0; at < run && stream.next(chunk); at += chunk.size) {
        if (stop.stop_requested()) return fail("core.stopped", "the run was stopped");
        if (at + chunk.size <= begin || at >= begin + rows) {
            core.run(chunk);
        } else {
            passages.clear();
            core.run(chunk, passages);
            for (std::size_t i = 0; i < chunk.size; ++i) {
                if (at + i < begin || at + i >= begin + rows) continue;
                answer.picture.rows.push_back(
                    {operationText(nest->ops[chunk.op[i]], chunk.address[i]), passages[i], ops[chunk.op[i]].occupancy});
            }
        }
        progress.advance(chunk.size);
    }
    answer.counts = core.counters();
    return answer;
}

}  // namespace orrery::app
