#include "app/window/preferences_dialog.h"

#include "app/window/form_parts.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStyle>
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
    pictures_ = named(new QComboBox(this), "preferencesPictures", tr("Size of exported plots"),
                      tr("Width × height in pixels, 96 per inch, such as 1600x1000. Drawings and graphs are always "
                         "exported completely, in their own size"));
    pictures_->setEditable(true);
    pictures_->setInsertPolicy(QComboBox::NoInsert);
    pictures_->lineEdit()->setPlaceholderText(tr("as on the screen"));
    pictures_->lineEdit()->setObjectName(QStringLiteral("preferencesPicturesText"));
    pictures_->lineEdit()->setAccessibleName(pictures_->accessibleName());
    pictures_->lineEdit()->setToolTip(pictures_->toolTip());
    for (const auto& [what, size] :
         std::initializer_list<std::pair<QString, QString>>{{tr("column of a paper"), QStringLiteral("320x220")},
                                                            {tr("page of a paper"), QStringLiteral("660x400")},
                                                            {tr("half a slide"), QStringLiteral("960x720")},
                                                            {tr("slide"), QStringLiteral("1920x1080")}}) {
        pictures_->addItem(size);
        pictures_->setItemData(pictures_->count() - 1, what, Qt::ToolTipRole);
    }
    form->addRow(tr("&Exported plots"), pictures_);
    onPaper_ = named(new QCheckBox(tr("Light colours for print, also in the dark theme"), this), "preferencesPaper",
                     tr("Colours of exported pictures"), tr("Switch off to export pictures in the screen's colours"));
    form->addRow(tr("&Pictures"), onPaper_);
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
    connect(pictures_, &QComboBox::currentTextChanged, this, &PreferencesDialog::tell);
    connect(onPaper_, &QCheckBox::toggled, this, &PreferencesDialog::tell);
}

void PreferencesDialog::show(const Preferences& preferences) {
    quiet_ = true;
    theme_->setCurrentIndex(preferences.dark ? 1 : 0);
    animated_->setChecked(preferences.animated);
    autosave_->setChecked(preferences.autosave);
    threads_->setValue(preferences.threads);
    pictures_->setCurrentText(preferences.pictureSize);
    onPaper_->setChecked(preferences.onPaper);
    quiet_ = false;
    QDialog::show();
    raise();
    activateWindow();
}

void PreferencesDialog::tell() {
    if (quiet_) return;
    // Half a size, or none, is not an error while it is typed: plots are then exported as they stand.
    const QString size = pictures_->currentText().trimmed();
    const bool usable = ui::pictureSizeOf(size).isValid();
    pictures_->lineEdit()->setProperty("invalid", !size.isEmpty() && !usable);
    pictures_->lineEdit()->style()->unpolish(pictures_->lineEdit());
    pictures_->lineEdit()->style()->polish(pictures_->lineEdit());
    emit preferencesChanged({theme_->currentIndex() == 1, animated_->isChecked(), autosave_->isChecked(),
                             threads_->value(), usable ? size : QString(), onPaper_->isChecked()});
}

}  // namespace orrery::app
