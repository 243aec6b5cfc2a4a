#include "widgets/comparison/method_options.h"

#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QToolButton>

#include <algorithm>

namespace orrery::ui {

namespace {

bool isSwitch(const MethodOption& option) {
    return option.choices.size() == 2 && std::ranges::count(option.choices, "on") == 1 &&
           std::ranges::count(option.choices, "off") == 1;
}

QString valueOf(const MethodChoice& choice, const MethodOption& option) {
    const auto found = choice.options.find(option.key);
    return found == choice.options.end() ? qs(option.fallback) : QString::fromStdString(found->second);
}

}  // namespace

MethodOptions::MethodOptions(QWidget* parent) : QWidget(parent), controls_(new FlowLayout(8, this)) {
    setObjectName(QStringLiteral("methodOptions"));
    setAccessibleName(tr("Options of the method"));
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    hide();
}

void MethodOptions::setChoice(const QString& choice) {
    if (choice == shown_) return;
    shown_ = choice;
    auto read = methodChoice(choice.toStdString(), builtinMethods());
    choice_ = read ? std::move(*read) : MethodChoice{};
    rebuild();
}

void MethodOptions::rebuild() {
    controls_->clear();
    const Method* method = findMethod(choice_.id);
    setVisible(method && !method->card.options.empty());
    if (!method) return;
    for (const MethodOption& option : method->card.options) {
        // What older files say is shown only where it is said.
        if (!option.older || choice_.options.contains(option.key)) controls_->addWidget(controlOf(option));
    }
    auto* beside = new QToolButton(this);
    beside->setText(tr("Ask beside"));
    beside->setObjectName(QStringLiteral("methodOptions.beside"));
    beside->setAccessibleName(tr("Add the method again, with its default options"));
    beside->setToolTip(tr("Adds the same method with its default options, so that you can compare two settings"));
    beside->setEnabled(!choice_.options.empty());
    connect(beside, &QToolButton::clicked, this, [this] { emit besideRequested(QString::fromStdString(choice_.id)); });
    controls_->addWidget(beside);
}

QWidget* MethodOptions::controlOf(const MethodOption& option) {
    const QString name = QStringLiteral("methodOptions.") + qs(option.key);
    const QString value = valueOf(choice_, option);
    if (isSwitch(option)) {
        auto* box = new QCheckBox(qs(option.title), this);
        box->setObjectName(name);
        box->setAccessibleName(qs(option.title));
        box->setToolTip(windowText(option.meaning));
        box->setChecked(value == QStringLiteral("on"));
        connect(box, &QCheckBox::clicked, this,
                [this, key = option.key](bool on) { choose(key, on ? QStringLiteral("on") : QStringLiteral("off")); });
        return box;
    }
    auto* group = new QWidget(this);
    auto* line = new QHBoxLayout(group);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(4);
    line->addWidget(new Label(qs(option.title), FontRole::Body, Tone::Muted, group));
    if (option.choices.empty() && !option.slot) {
        addText(option, value, group);
        return group;
    }
    auto* list = new QComboBox(group);
    list->setObjectName(name);
    list->setAccessibleName(qs(option.title));
    list->setToolTip(windowText(option.meaning));
    for (const auto word : option.choices) list->addItem(qs(word));
    list->setCurrentText(value);
    connect(list, &QComboBox::textActivated, this,
            [this, key = option.key](const QString& word) { choose(key, word); });
    line->addWidget(list);
    return group;
}

// Any text, such as a file, which may be looked for.
void MethodOptions::addText(const MethodOption& option, const QString& value, QWidget* group) {
    auto* edit = new QLineEdit(value, group);
    edit->setObjectName(QStringLiteral("methodOptions.") + qs(option.key));
    edit->setAccessibleName(qs(option.title));
    edit->setToolTip(windowText(option.meaning));
    edit->setPlaceholderText(option.needed ? tr("needed") : tr("none"));
    edit->setMinimumWidth(fontMetrics().averageCharWidth() * 24);
    connect(edit, &QLineEdit::editingFinished, this, [this, option, edit] {
        const QString text = edit->text().trimmed();
        if (text != valueOf(choice_, option)) choose(option.key, text);
    });
    group->layout()->addWidget(edit);
    if (option.key == "limit") return;  // a time
    const bool folder = option.key == "recorded" || option.key == "keep";
    auto* find = new QToolButton(group);
    find->setText(tr("…"));
    find->setObjectName(edit->objectName() + QStringLiteral(".find"));
    find->setAccessibleName((folder ? tr("Choose a folder: %1") : tr("Choose a file: %1")).arg(qs(option.title)));
    find->setToolTip(folder ? tr("Choose a folder") : tr("Choose a file"));
    connect(find, &QToolButton::clicked, this, [this, key = option.key, edit, folder] {
        const QString file = folder ? QFileDialog::getExistingDirectory(window(), edit->accessibleName(), edit->text())
                                    : QFileDialog::getOpenFileName(window(), edit->accessibleName(), edit->text());
        if (!file.isEmpty()) choose(key, file);
    });
    group->layout()->addWidget(find);
}

void MethodOptions::choose(std::string_view key, const QString& value) {
    const QString before = shown_;
    choice_.options[std::string(key)] = value.toStdString();
    // The control stays until the document has answered: its own signal is still running.
    emit changed(before, choice());
}

}  // namespace orrery::ui
