#include "app/document/commands/edit.h"

#include <QStringList>

namespace orrery::app {

QString Edit::text() const {
    if (from.isEmpty() && to.isEmpty()) return subject;
    if (from.isEmpty()) return QStringLiteral("%1 → %2").arg(subject, to);
    const auto fromUnit = from.indexOf(QLatin1Char(' '));
    const auto toUnit = to.indexOf(QLatin1Char(' '));
    const bool shared = fromUnit > 0 && toUnit > 0 && from.mid(fromUnit) == to.mid(toUnit);
    return QStringLiteral("%1 %2 → %3")
        .arg(subject, shared ? from.left(fromUnit) : from, to.isEmpty() ? QStringLiteral("–") : to);
}

Expected<Component*> componentOf(Hardware& design, const ComponentPath& path) {
    if (Component* component = componentAt(design.root, path)) return component;
    return fail("document.no-component", "the component is no longer in the design", "a component of " + design.name,
                "select it again in the tree");
}

QString pathKey(const ComponentPath& path) {
    QStringList parts;
    for (const int index : path) parts << QString::number(index);
    return parts.join(QLatin1Char('/'));
}

}  // namespace orrery::app
