#include "app/document/commands/set_attribute.h"

#include "app/document/commands/component_edits.h"
#include "app/document/commands/layout_edits.h"
#include "app/document/commands/set_replication.h"

#include <QStringList>

namespace orrery::app {

namespace {

QString printed(const Component& component, const std::string& attribute) {
    if (attribute == "count") return copiesPrinted(component);
    if (attribute == "mesh") {
        QStringList sides;
        for (const std::int64_t side : component.mesh) sides << QString::number(side);
        return sides.join(QStringLiteral("×"));
    }
    const auto dot = attribute.find('.');
    const Attribute* found = component.find(std::string_view(attribute).substr(0, dot));
    if (!found) return {};
    if (const auto* measure = std::get_if<Measure>(&found->value)) return QString::fromStdString(measure->spelling);
    if (const auto* text = std::get_if<std::string>(&found->value)) return QString::fromStdString(*text);
    if (const auto* list = std::get_if<std::vector<std::string>>(&found->value)) {
        QStringList items;
        for (const std::string& item : *list) items << QString::fromStdString(item);
        return items.join(QStringLiteral(", "));
    }
    const auto& rows = std::get<std::vector<TableRow>>(found->value);
    for (const TableRow& row : rows) {
        if (dot != std::string::npos && row.key == attribute.substr(dot + 1)) {
            return QString::fromStdString(row.value.spelling);
        }
    }
    return {};
}

void remove(Component& component, const std::string& attribute) {
    if (attribute == "mesh") return component.mesh.clear();
    const auto dot = attribute.find('.');
    const std::string name = attribute.substr(0, dot);
    if (dot == std::string::npos) {
        std::erase_if(component.attributes, [&](const Attribute& item) { return item.name == name; });
    } else if (Attribute* table = component.find(name)) {
        if (auto* rows = std::get_if<std::vector<TableRow>>(&table->value)) {
            std::erase_if(*rows, [&](const TableRow& row) { return row.key == attribute.substr(dot + 1); });
        }
    }
}

}  // namespace

Expected<Edit> setAttributeEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                const QString& attribute, const QString& value) {
    return setAttributeEdit(state, hardware, ComponentPaths{path}, attribute, value);
}

Expected<Edit> setAttributeEdit(const ProjectState& state, int hardware, const ComponentPaths& paths,
                                const QString& attribute, const QString& value) {
    const std::string name = attribute.toStdString();
    const std::string text = value.trimmed().toStdString();
    if (name == "name") {
        if (paths.size() == 1) return renameComponentEdit(state, hardware, paths.front(), value);
        return fail("document.name", "several components cannot have one name", "one component");
    }
    if (paths.empty()) return fail("document.nothing", "nothing is selected", "one component or more");
    Edit edit;
    QStringList keys;
    QString subject;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        bool sameBefore = true;
        for (const ComponentPath& path : paths) {
            Expected<Component*> component = componentOf(design, path);
            if (!component) return Unexpected(component.error());
            const QString before = printed(**component, name);
            if (keys.isEmpty()) edit.from = before;
            sameBefore = sameBefore && before == edit.from;
            if (text.empty() && name != "count") {
                remove(**component, name);
            } else if (Expected<void> set = orrery::setAttribute(**component, name, text); !set) {
                Diagnostic problem = set.error();
                if (problem.place.path.empty()) problem.place.path = pathText(design.root, path) + "." + name;
                return Unexpected(problem);
            }
            edit.to = printed(**component, name);
            subject = QString::fromStdString(std::string(nameOf(**component)));
            keys << pathKey(path);
        }
        if (!sameBefore) edit.from.clear();
        return {};
    });
    if (!after) return Unexpected(after.error());
    edit.after = std::move(*after);
    QString readable = attribute;
    readable.replace(QLatin1Char('_'), QLatin1Char(' '));
    if (paths.size() > 1) subject = QObject::tr("%1 components").arg(paths.size());
    edit.subject = subject + QLatin1Char(' ') + readable;
    edit.target = QStringLiteral("attribute %1 %2 %3").arg(hardware).arg(keys.join(QLatin1Char(' ')), attribute);
    return withRoom(state, hardware, paths, std::move(edit));
}

}  // namespace orrery::app
