#include "app/document/commands/set_attribute.h"

#include <QStringList>

namespace orrery::app {

namespace {

QString printed(const Component& component, const std::string& attribute) {
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
    const std::string name = attribute.toStdString();
    const std::string text = value.trimmed().toStdString();
    Edit edit;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        Expected<Component*> component = componentOf(design, path);
        if (!component) return Unexpected(component.error());
        edit.from = printed(**component, name);
        if (text.empty()) {
            remove(**component, name);
        } else if (Expected<void> set = orrery::setAttribute(**component, name, text); !set) {
            Diagnostic problem = set.error();
            if (problem.place.path.empty()) problem.place.path = pathText(design.root, path) + "." + name;
            return Unexpected(problem);
        }
        edit.to = printed(**component, name);
        QString readable = attribute;
        readable.replace(QLatin1Char('_'), QLatin1Char(' '));
        edit.subject = QString::fromStdString((*component)->name) + QLatin1Char(' ') + readable;
        return {};
    });
    if (!after) return Unexpected(after.error());
    edit.after = std::move(*after);
    edit.target = QStringLiteral("attribute %1 %2 %3").arg(hardware).arg(pathKey(path), attribute);
    return edit;
}

}  // namespace orrery::app
