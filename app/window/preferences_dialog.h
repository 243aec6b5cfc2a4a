#pragma once

#include "app/window/settings.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QSpinBox;

namespace orrery::app {

/// Preferences, not modal: each change counts at once.
class PreferencesDialog : public QDialog {
    Q_OBJECT
public:
    explicit PreferencesDialog(QWidget* parent = nullptr);
    void show(const Preferences& preferences);  ///< emits nothing

signals:
    void preferencesChanged(const orrery::app::Preferences& preferences);

private:
    void tell();

    QComboBox *theme_, *pictures_;
    QCheckBox *animated_, *autosave_, *onPaper_;
    QSpinBox* threads_;
    bool quiet_ = false;
};

}  // namespace orrery::app
