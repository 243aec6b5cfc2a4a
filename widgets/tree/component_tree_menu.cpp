// The tree's context menu and keys: what the canvas can do, for those who work in the tree.

#include "hardware/check/validate.h"
#include "hardware/walk.h"
#include "widgets/common/glyphs.h"
#include "widgets/common/text.h"
#include "widgets/tree/component_tree.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>

#include <algorithm>

namespace orrery::ui {
namespace {

using Action = ComponentTreeView::Action;

struct Key {
    Action action;
    QKeyCombination keys;
};
constexpr Key keyTable[] = {
    {Action::Cut, Qt::CTRL | Qt::Key_X},
    {Action::Copy, Qt::CTRL | Qt::Key_C},
    {Action::Paste, Qt::CTRL | Qt::Key_V},
    {Action::Duplicate, Qt::CTRL | Qt::Key_D},
    {Action::Ungroup, Qt::CTRL | Qt::SHIFT | Qt::Key_G},
    {Action::MoveUp, Qt::ALT | Qt::Key_Up},
    {Action::MoveDown, Qt::ALT | Qt::Key_Down},
    {Action::Delete, QKeyCombination(Qt::Key_Delete)},
};

QKeySequence keysOf(Action action) {
    for (const Key& key : keyTable)
        if (key.action == action) return QKeySequence(key.keys);
    return {};
}

bool areSiblings(const ComponentPaths& paths) {
    return std::all_of(paths.begin(), paths.end(), [&](const ComponentPath& path) {
        return !path.empty() && path.size() == paths.front().size() &&
               std::equal(path.begin(), path.end() - 1, paths.front().begin());
    });
}

}  // namespace

bool ComponentTreeView::canDo(Action action, const ComponentPaths& paths) const {
    const HardwarePtr& hardware = model_->hardware();
    if (!hardware || paths.empty()) return false;
    const bool root = std::ranges::find(paths, ComponentPath{}) != paths.end();
    const Component* one = paths.size() == 1 ? componentAt(hardware->root, paths.front()) : nullptr;
    switch (action) {
        case Action::Copy:
            return true;
        case Action::Paste:
            return one != nullptr;
        case Action::Cut:
        case Action::Duplicate:
        case Action::Delete:
            return !root;
        case Action::Ungroup:
            return !root && one && !partsIn(*one).empty();
        case Action::Link:
            return !root && paths.size() == 2;
        case Action::ReplaceByParts:
            return one && one->kind == ComponentKind::Topology;
        case Action::MoveUp:
        case Action::MoveDown: {
            if (root || !areSiblings(paths)) return false;
            const Component* parent =
                componentAt(hardware->root, ComponentPath(paths.front().begin(), paths.front().end() - 1));
            return std::ranges::none_of(paths, [&](const ComponentPath& path) {
                return action == Action::MoveUp ? path.back() == 0
                                                : path.back() + 1 == static_cast<int>(partsIn(*parent).size());
            });
        }
    }
    return false;
}

void ComponentTreeView::request(Action action, const ComponentPaths& paths) {
    if (!canDo(action, paths)) return;
    emit actionRequested(action, paths);
    if (paths.size() != 1) return;
    if (action == Action::Duplicate) emit duplicateRequested(paths.front());
    if (action == Action::Delete) emit deleteRequested(paths.front());
    if (action == Action::Copy) emit copyRequested(paths.front());
    if (action == Action::Paste) emit pasteRequested(paths.front());
}

void ComponentTreeView::addContainers(QMenu* menu, const ComponentPaths& paths) {
    const HardwarePtr& hardware = model_->hardware();
    if (!hardware || paths.empty() || !areSiblings(paths)) return;
    const Component* parent =
        componentAt(hardware->root, ComponentPath(paths.front().begin(), paths.front().end() - 1));
    for (int kind = 0; kind < componentKindCount; ++kind) {
        const auto container = static_cast<ComponentKind>(kind);
        const bool fits =
            mayContain(parent->kind, container) && std::ranges::all_of(paths, [&](const ComponentPath& path) {
                return mayContain(container, componentAt(hardware->root, path)->kind);
            });
        if (fits)
            menu->addAction(glyph(container), qs(label(container)), this,
                            [this, paths, container] { emit groupRequested(paths, container); });
    }
}

void ComponentTreeView::showMenu(const QPoint& at) {
    const QModelIndex under = tree_->indexAt(at);
    if (!under.isValid()) return;
    if (!tree_->selectionModel()->isSelected(under)) tree_->setCurrentIndex(under);
    const ComponentPaths paths = selectedPaths();
    if (paths.empty()) return;
    const bool one = paths.size() == 1;
    const ComponentPath path = paths.back();
    const Component* component = componentAt(model_->hardware()->root, path);
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("componentTree.menu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    const auto offer = [&](Action action, const QString& text, const QString& tip) {
        QAction* item = menu->addAction(text, this, [this, action, paths] { request(action, paths); });
        item->setObjectName(QStringLiteral("componentTree.action.%1").arg(static_cast<int>(action)));
        item->setShortcut(keysOf(action));
        item->setToolTip(tip);
        item->setEnabled(canDo(action, paths));
    };
    QMenu* add = menu->addMenu(tr("Add inside"));
    for (int kind = 0; one && kind < componentKindCount; ++kind) {
        const auto child = static_cast<ComponentKind>(kind);
        if (mayContain(component->kind, child))
            add->addAction(glyph(child), qs(label(child)), this,
                           [this, path, child] { emit addRequested(path, child); });
    }
    add->setEnabled(!add->isEmpty());
    menu->addSeparator();
    QAction* rename = menu->addAction(tr("Rename"), this, [this, path] { editName(path); });
    rename->setShortcut(QKeySequence(Qt::Key_F2));
    rename->setToolTip(one ? tr("Type another name in place") : tr("Siblings need names of their own"));
    rename->setEnabled(one);
    menu->addSeparator();
    offer(Action::Cut, tr("Cut"), tr("To the clipboard, as YAML"));
    offer(Action::Copy, tr("Copy as YAML"), tr("To the clipboard; also for a file or a message"));
    offer(Action::Paste, tr("Paste inside"), tr("What is on the clipboard, into this component"));
    offer(Action::Duplicate, tr("Duplicate"), tr("Copies beside, links among them too"));
    menu->addSeparator();
    QMenu* group = menu->addMenu(tr("Group into"));
    addContainers(group, paths);
    group->setEnabled(!group->isEmpty());
    offer(Action::Ungroup, tr("Ungroup"), tr("The contents take the container’s place"));
    offer(Action::Link, tr("Link the two"), tr("A link between the two selected components"));
    if (one && component->kind == ComponentKind::Topology)
        offer(Action::ReplaceByParts, tr("Replace by switches and links"), tr("The network written out as parts"));
    menu->addSeparator();
    offer(Action::MoveUp, tr("Move up"), tr("Before the sibling above"));
    offer(Action::MoveDown, tr("Move down"), tr("After the sibling below"));
    menu->addSeparator();
    offer(Action::Delete, tr("Delete"), tr("With its contents and its links"));
    if (one) emit menuFilling(menu, path);
    menu->popup(tree_->viewport()->mapToGlobal(at));
}

/// Whether the tree has something to do for these keys; does it if `act`.
bool ComponentTreeView::pressed(QKeyEvent* event, bool act) {
    const ComponentPaths paths = selectedPaths();
    for (const Key& key : keyTable) {
        if (key.keys != QKeyCombination(event->modifiers() & ~Qt::KeypadModifier, Qt::Key(event->key()))) continue;
        if (!canDo(key.action, paths)) return false;
        if (act) request(key.action, paths);
        return true;
    }
    return false;
}

bool ComponentTreeView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == tree_ && event->type() == QEvent::ShortcutOverride &&
        pressed(static_cast<QKeyEvent*>(event), false)) {
        event->accept();  // while the tree has the focus, its keys come before the window's
        return true;
    }
    if (watched == tree_ && event->type() == QEvent::KeyPress && pressed(static_cast<QKeyEvent*>(event), true))
        return true;
    return QWidget::eventFilter(watched, event);
}

}  // namespace orrery::ui
