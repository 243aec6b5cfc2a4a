#include "app/window/preferences_dialog.h"

#include "app/window/form_parts.h"
#include "widgets/common/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace orrery::app {

PreferencesDialog::PreferencesDialog(QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("preferences"));
    setWindowTitle(tr("Preferences"));
    setModal(false);
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit * 2, unit * 2, unit * 2, unit * 2);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(unit * 2);
    form->setVerticalSpacing(unit);
    theme_ = named(new QComboBox(this), "preferencesTheme", tr("Theme"), tr("Light or dark (Ctrl+Shift+D switches)"));
    theme_->addItems({tr("Light"), tr("Dark")});
    form->addRow(tr("&Theme"), theme_);
    animated_ = named(new QCheckBox(tr("Points glide to their new place"), this), "preferencesAnimated", tr("Motion"),
                      tr("Switch off for no motion at all"));
    form->addRow(tr("&Motion"), animated_);
    autosave_ = named(new QCheckBox(tr("Each edit is kept within two seconds"), this), "preferencesAutosave",
                      tr("Autosave"), tr("Unsaved work is copied as you edit, and offered after a crash"));
    form->addRow(tr("&Autosave"), autosave_);
    threads_ = named(new QSpinBox(this), "preferencesThreads", tr("Threads"), tr("Threads that a run may use"));
    threads_->setRange(0, 256);
    threads_->setSpecialValueText(tr("one per core"));
    form->addRow(tr("T&hreads of a run"), threads_);
    column->addLayout(form);
    column->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    named(buttons->button(QDialogButtonBox::Close), "preferencesClose", tr("Close"), tr("Close preferences (Esc)"));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    column->addWidget(buttons);

    connect(theme_, &QComboBox::currentIndexChanged, this, &PreferencesDialog::tell);
    connect(animated_, &QCheckBox::toggled, this, &PreferencesDialog::tell);
    connect(autosave_, &QCheckBox::toggled, this, &PreferencesDialog::tell);
    connect(threads_, &QSpinBox::valueChanged, this, &PreferencesDialog::tell);
}

void PreferencesDialog::show(const Preferences& preferences) {
    quiet_ = true;
    theme_->setCurrentIndex(preferences.dark ? 1 : 0);
    animated_->setChecked(preferences.animated);
    autosave_->setChecked(preferences.autosave);
    threads_->setValue(preferences.threads);
    quiet_ = false;
    QDialog::show();
    raise();
    activateWindow();
}

void PreferencesDialog::tell() {
    if (quiet_) return;
    emit preferencesChanged(
        {theme_->currentIndex() == 1, animated_->isChecked(), autosave_->isChecked(), threads_->value()});
}

}  // namespace orrery::app
