#include "app/window/state_line.h"

#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QRegularExpression>
#include <QVBoxLayout>

namespace orrery::app {

ui::Label* addStateLine(QWidget* tab, QWidget* controls, const char* id) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(tab);
    column->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    column->setSpacing(unit);
    column->addWidget(controls);
    auto* line = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, tab);
    line->setObjectName(QLatin1String(id));
    line->setWordWrap(true);
    column->addWidget(line);
    return line;
}

void sayRefusal(ui::Label& line, const Diagnostic& why) {
    line.setTone(ui::Tone::Bad);
    line.setFullText(ui::windowText(why.message) +
                     (why.hint.empty() ? QString() : QStringLiteral(". ") + ui::windowText(why.hint)));
    line.setToolTip(ui::windowText(toText(why)));
}

void askAndSave(QWidget* asker, const SaveQuestion& question, std::function<QString(const QString& file)> save,
                ui::Label& line) {
    static const QRegularExpression ending(QStringLiteral("\\*\\.([\\w.]+)"));
    auto* dialog = new QFileDialog(asker, question.title);
    dialog->setObjectName(QLatin1String(question.id));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(ending.match(question.filters.value(0)).captured(1));
    dialog->setNameFilters(question.filters);
    QObject::connect(dialog, &QFileDialog::fileSelected, asker, [save = std::move(save), &line](const QString& file) {
        const QString error = save(file);
        line.setTone(error.isEmpty() ? ui::Tone::Muted : ui::Tone::Bad);
        line.setFullText(error.isEmpty() ? QCoreApplication::translate("StateLine", "Saved as %1").arg(file) : error);
    });
    dialog->open();
}

}  // namespace orrery::app
