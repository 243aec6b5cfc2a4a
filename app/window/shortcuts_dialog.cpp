#include "app/window/shortcuts_dialog.h"

#include "app/window/actions.h"
#include "app/window/view_keys.h"
#include "widgets/common/theme.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace orrery::app {

ShortcutsDialog::ShortcutsDialog(const Actions& actions, QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("shortcuts"));
    setWindowTitle(tr("Keyboard shortcuts"));
    setModal(false);
    const int unit = ui::Theme::instance().unit();
    resize(unit * 60, unit * 72);
    auto* column = new QVBoxLayout(this);
    auto* search = new QLineEdit(this);
    search->setObjectName(QStringLiteral("shortcutsSearch"));
    search->setAccessibleName(tr("Find a shortcut"));
    search->setToolTip(tr("Show the commands whose name or key contains this"));
    search->setPlaceholderText(tr("Find a shortcut"));
    search->setClearButtonEnabled(true);
    column->addWidget(search);
    auto* list = new QTreeWidget(this);
    list->setObjectName(QStringLiteral("shortcutsList"));
    list->setAccessibleName(tr("Keyboard shortcuts"));
    list->setToolTip(tr("Commands and their keys"));
    list->setHeaderLabels({tr("Command"), tr("Keys")});
    list->setRootIsDecorated(false);
    list->header()->setStretchLastSection(false);
    list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    list->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    column->addWidget(list);

    QTreeWidgetItem* group = nullptr;
    const auto under = [&](const QString& title) {
        const auto there = list->findItems(title, Qt::MatchExactly);
        if (!there.isEmpty()) {
            group = there.front();
            return;
        }
        group = new QTreeWidgetItem(list, {title});
        QFont font = list->font();
        font.setWeight(QFont::DemiBold);
        group->setFont(0, font);
        group->setExpanded(true);
    };
    for (const Actions::Entry& entry : actions.all()) {
        if (entry.action->shortcut().isEmpty()) continue;
        under(entry.group);
        QString name = entry.action->text().remove(QLatin1Char('&'));
        auto* item = new QTreeWidgetItem(
            group, {name.remove(QStringLiteral("…")), entry.action->shortcut().toString(QKeySequence::NativeText)});
        item->setToolTip(0, entry.action->statusTip());
    }
    for (const ViewKeys& view : viewKeys()) {
        under(view.view);
        for (const auto& [what, key] : view.keys) {
            auto* item = new QTreeWidgetItem(group, {what, key});
            item->setToolTip(0, what);
        }
    }
    list->expandAll();

    connect(search, &QLineEdit::textChanged, list, [list](const QString& wanted) {
        for (int at = 0; at < list->topLevelItemCount(); ++at) {
            QTreeWidgetItem* section = list->topLevelItem(at);
            int shown = 0;
            for (int row = 0; row < section->childCount(); ++row) {
                QTreeWidgetItem* item = section->child(row);
                const bool fits = item->text(0).contains(wanted, Qt::CaseInsensitive) ||
                                  item->text(1).contains(wanted, Qt::CaseInsensitive);
                item->setHidden(!fits);
                shown += fits;
            }
            section->setHidden(shown == 0);
        }
    });
}

}  // namespace orrery::app
