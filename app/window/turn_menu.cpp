#include "app/window/turn_menu.h"

#include "app/window/inspection.h"
#include "hardware/attributes.h"
#include "widgets/common/text.h"

#include <QMenu>

namespace orrery::app {

void fillTurnMenu(QMenu* menu, Inspection& inspection, const std::shared_ptr<const Hardware>& design,
                  const ComponentPath& path) {
    const Component* component = design ? componentAt(design->root, path) : nullptr;
    if (!component) return;
    auto* turn = new QMenu(QObject::tr("Turn in E&xplore"), menu);
    turn->setObjectName(QStringLiteral("turnMenu"));
    turn->setToolTipsVisible(true);
    const auto add = [&](const QString& attribute, const QString& value) {
        const QString words = value.isEmpty() ? attribute : QStringLiteral("%1\t%2").arg(attribute, value);
        QAction* action = turn->addAction(
            words, &inspection, [&inspection, path, attribute] { emit inspection.turnRequested(path, attribute); });
        action->setObjectName(QStringLiteral("turn.") + attribute);
        action->setToolTip(QObject::tr("Adds it as a knob to the search on the page Explore"));
    };
    for (const Attribute& attribute : component->attributes) {
        const AttributeSpec* spec = attributeSpec(component->kind, attribute.name);
        if (!spec) continue;
        const QString name = ui::qs(attribute.name);
        if (const auto* measure = std::get_if<Measure>(&attribute.value)) {
            if (measure->si > 0) add(name, ui::qs(measure->spelling));
        } else if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value)) {
            for (const TableRow& row : *rows)
                if (row.value.si > 0) add(name + QLatin1Char('.') + ui::qs(row.key), ui::qs(row.value.spelling));
        } else if (spec->form == AttributeForm::Choice) {
            add(name, ui::qs(toText(attribute.value)));
        }
    }
    if (!path.empty()) add(QStringLiteral("count"), QString::number(component->count));
    if (turn->isEmpty()) return delete turn;
    menu->addSeparator();
    menu->addMenu(turn);
}

}  // namespace orrery::app
