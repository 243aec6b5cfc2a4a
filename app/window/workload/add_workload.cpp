#include "app/window/workload/add_workload.h"

#include "app/document/commands/project_edits.h"
#include "app/window/hardware/add_hardware.h"
#include "app/window/studio.h"
#include "app/window/workload/code_dialog.h"

#include <QCoreApplication>
#include <QUndoStack>

namespace orrery::app {

void addWorkload(Studio& studio, ProjectWorkload workload) {
    QUndoStack* stack = studio.document.undoStack();
    stack->beginMacro(QCoreApplication::translate("Workload", "Add %1").arg(QString::fromStdString(workload.name)));
    const bool added = studio.apply(addWorkloadEdit(*studio.document.state(), std::move(workload)));
    if (added) makeAnswerable(studio);
    stack->endMacro();
    if (!added) return;
    studio.layouts.showProject();
    studio.router.show(QStringLiteral("workload"));
    studio.inspection.showWorkload();
}

void addBuiltinWorkload(Studio& studio, const QString& id) {
    const WorkloadInfo* info = builtinWorkload(id.toStdString());
    if (!info) {
        return studio.messages.complain({Severity::Error,
                                         "workload.unknown",
                                         "there is no model " + id.toStdString(),
                                         {},
                                         "choose one of the library",
                                         {}});
    }
    addWorkload(studio, {info->name, {info->id, info->usual}, {}});
}

void addSpelledWorkload(Studio& studio, QWidget* parent) {
    CodeDialog dialog(parent);
    if (dialog.exec() != QDialog::Accepted) return;
    if (auto spelled = dialog.workload()) addWorkload(studio, std::move(*spelled));
}

}  // namespace orrery::app
