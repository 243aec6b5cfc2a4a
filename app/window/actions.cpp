#include "app/window/actions.h"

#include "widgets/common/theme.h"

#include <QWidget>

namespace orrery::app {

QAction* Actions::make(const Spec& spec) {
    auto* action = new QAction(spec.text, this);
    action->setObjectName(spec.id);
    action->setProperty("icon", spec.icon);
    action->setProperty("group", spec.group);  // `page core` finds the page Core
    if (!spec.icon.isEmpty()) action->setIcon(ui::Theme::instance().icon(spec.icon));
    if (!spec.shortcut.isEmpty()) action->setShortcut(spec.shortcut);
    QString tip = spec.meaning;
    if (!spec.shortcut.isEmpty()) {
        tip += QStringLiteral(" (%1)").arg(spec.shortcut.toString(QKeySequence::NativeText));
    }
    action->setToolTip(tip);
    action->setStatusTip(spec.meaning);
    entries_.push_back({spec.group, action});
    if (spec.within) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        spec.within->addAction(action);
    } else if (auto* window = qobject_cast<QWidget*>(parent())) {
        window->addAction(action);
    }
    return action;
}

QAction* Actions::add(const Spec& spec, std::function<void()> run) {
    QAction* action = make(spec);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    return action;
}

QAction* Actions::addToggle(const Spec& spec, bool on, std::function<void(bool)> run) {
    QAction* action = make(spec);
    action->setCheckable(true);
    action->setChecked(on);
    connect(action, &QAction::toggled, this, [run = std::move(run)](bool now) { run(now); });
    return action;
}

QAction* Actions::find(const QString& id) const {
    for (const Entry& entry : entries_) {
        if (entry.action->objectName() == id) return entry.action;
    }
    return nullptr;
}

QList<QAction*> Actions::list() const {
    QList<QAction*> actions;
    for (const Entry& entry : entries_) actions << entry.action;
    return actions;
}

void Actions::refreshIcons() {
    for (const Entry& entry : entries_) {
        const QString icon = entry.action->property("icon").toString();
        if (!icon.isEmpty()) entry.action->setIcon(ui::Theme::instance().icon(icon));
    }
}

}  // namespace orrery::app
