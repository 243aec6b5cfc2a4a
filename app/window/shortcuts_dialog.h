#pragma once

#include <QDialog>

namespace orrery::app {

class Actions;

/// All commands that have a shortcut, by group, and the keys of the views; with a search line. Not modal.
class ShortcutsDialog : public QDialog {
    Q_OBJECT
public:
    explicit ShortcutsDialog(const Actions& actions, QWidget* parent = nullptr);
};

}  // namespace orrery::app
