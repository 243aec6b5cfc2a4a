#include "app/window/explore/explore_command.h"

#include "app/window/form_parts.h"

#include <QLineEdit>

namespace orrery::app {

ExploreCommand::ExploreCommand(QWidget* parent) : QComboBox(parent) {
    const QString tip =
        tr("This machine, or a command that starts orrery-cli elsewhere. {orrery} is its path, {arguments} are its "
           "arguments. There is no shell. Other machines must see the same folders.");
    named(this, "explore.command", tr("Runs on"), tip);
    setEditable(true);
    setInsertPolicy(NoInsert);
    named(lineEdit(), "explore.command.text", tr("Runs on"), tip);
    addItem(tr("This machine"), QString());
    for (const char* each : {"mpirun -n 4 {orrery}", "srun -n 64 {orrery}", "ssh host orrery-cli {arguments}"})
        addItem(QLatin1String(each), QLatin1String(each));
    setSizeAdjustPolicy(AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(22);
    connect(this, &QComboBox::currentTextChanged, this, &ExploreCommand::changed);
}

QString ExploreCommand::command() const {
    const QString text = currentText().trimmed();
    return text == itemText(0) ? QString() : text;
}

void ExploreCommand::setCommand(const QString& command) {
    setCurrentText(command.trimmed().isEmpty() ? itemText(0) : command);
}

}  // namespace orrery::app
