#include "app/document/commands/set_replication.h"

#include "app/document/commands/layout_edits.h"
#include "hardware/copies.h"

#include <QStringList>

#include <algorithm>

namespace orrery::app {

namespace {

QString printed(const std::vector<std::int64_t>& mesh) {
    QStringList parts;
    for (const std::int64_t extent : mesh) parts << QString::number(extent);
    return parts.isEmpty() ? QStringLiteral("none") : parts.join(QStringLiteral("×"));
}

}  // namespace

QString copiesPrinted(const Component& component) {
    const QString number = QString::number(component.count);
    if (component.kind == ComponentKind::Array || component.mesh.empty()) return number;
    const QString grid = printed(component.mesh);
    return component.count == 1 ? grid : number + QStringLiteral(" × ") + grid;
}

Expected<Edit> setCountEdit(const ProjectState& state, int hardware, const ComponentPath& path, qint64 count) {
    if (count < 1) {
        return fail("document.count", "a component cannot occur " + std::to_string(count) + " times",
                    "a whole number of at least 1", "remove the component if there is none");
    }
    Edit edit;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        Expected<Component*> component = componentOf(design, path);
        if (!component) return Unexpected(component.error());
        edit.subject = QObject::tr("%1 count").arg(QString::fromStdString((*component)->name));
        edit.from = copiesPrinted(**component);
        setCopies(**component, count);
        edit.to = copiesPrinted(**component);
        return {};
    });
    if (!after) return Unexpected(after.error());
    edit.after = std::move(*after);
    edit.target = QStringLiteral("count %1 %2").arg(hardware).arg(pathKey(path));
    return withRoom(state, hardware, {path}, std::move(edit));
}

Expected<Edit> setMeshEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                           const std::vector<std::int64_t>& mesh) {
    if (std::ranges::any_of(mesh, [](std::int64_t extent) { return extent < 1; })) {
        return fail("document.mesh", "a mesh extent is below 1", "whole numbers of at least 1, as in 14×12",
                    "leave the mesh empty for no grid");
    }
    Edit edit;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        Expected<Component*> component = componentOf(design, path);
        if (!component) return Unexpected(component.error());
        edit.subject = QObject::tr("%1 mesh").arg(QString::fromStdString((*component)->name));
        edit.from = printed((*component)->mesh);
        edit.to = printed(mesh);
        (*component)->mesh = mesh;
        return {};
    });
    if (!after) return Unexpected(after.error());
    edit.after = std::move(*after);
    edit.target = QStringLiteral("mesh %1 %2").arg(hardware).arg(pathKey(path));
    return withRoom(state, hardware, {path}, std::move(edit));
}

}  // namespace orrery::app
