#pragma once

#include <QAction>
#include <QKeySequence>
#include <QObject>
#include <QString>

#include <functional>
#include <vector>

namespace orrery::app {

/// All commands of the window, made in one way: with an object name, an icon, a shortcut that the tooltip tells, and a
/// group for the shortcuts list. Menus, toolbar and palette show these same actions.
class Actions : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    struct Spec {
        QString id;     ///< object name: `fileOpen`
        QString group;  ///< `File`
        QString text;   ///< with & for the menu
        QString meaning;
        QString icon;  ///< of the Breeze theme; may be empty
        QKeySequence shortcut;
        QWidget* within = nullptr;  ///< the shortcut holds only while this has the focus; null: the whole window
    };
    QAction* add(const Spec& spec, std::function<void()> run);
    QAction* addToggle(const Spec& spec, bool on, std::function<void(bool)> run);
    QAction* find(const QString& id) const;

    struct Entry {
        QString group;
        QAction* action;
    };
    const std::vector<Entry>& all() const { return entries_; }
    QList<QAction*> list() const;
    /// Icons follow the theme; to be called when it changes.
    void refreshIcons();

private:
    QAction* make(const Spec& spec);

    std::vector<Entry> entries_;
};

}  // namespace orrery::app
