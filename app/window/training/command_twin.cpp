#include "app/window/training/command_twin.h"

#include "hardware/files/catalogue.h"

#include <QStringList>

#include <algorithm>

namespace orrery::app {

namespace {

/// A word of a shell: in quotes where it has to be.
QString shellWord(const std::string& word) {
    QString text = QString::fromStdString(word);
    const bool plain = !text.isEmpty() && std::ranges::all_of(text, [](QChar c) {
        return c.unicode() < 128 && (c.isLetterOrNumber() || QStringLiteral("-_./=,:+%").contains(c));
    });
    return plain ? text
                 : QLatin1Char('\'') + text.replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

std::string hardwareWord(const TrainingQuestion& question) {
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        if (entry.name != question.hardware->name) continue;
        const auto shipped = loadHardware(entry.id);
        if (shipped && shipped->hardware.root == question.hardware->root) return entry.id;
    }
    return question.hardware->name + ".yaml";
}

QStringList optionWords(const WorkloadOptions& options) {
    QStringList words;
    const WorkloadOptions usual;
    words << QStringLiteral("--batch %1").arg(options.batch);
    if (options.sequence > 0) words << QStringLiteral("--seq %1").arg(options.sequence);
    const auto type = [&](const char* name, const NumberFormat& is, const NumberFormat& was) {
        if (is == was) return;
        const std::string word = toText(is);
        words << QStringLiteral("--%1 %2").arg(QLatin1String(name),
                                               QString::fromUtf8(word.data(), qsizetype(word.size())));
    };
    type("weights", options.weightFormat(), usual.weightFormat());
    type("activations", options.activationFormat(), usual.activationFormat());
    return words;
}

}  // namespace

QString stepCommand(const TrainingQuestion& question, const std::vector<std::string>& methods) {
    QStringList words{QStringLiteral("orrery-cli run --hardware %1 --workload %2")
                          .arg(shellWord(hardwareWord(question)), shellWord(question.recipe.source))};
    words << optionWords(question.recipe.options) << QStringLiteral("--phase training-forward");
    words << QStringLiteral("--plan %1").arg(shellWord(toText(question.plan)));
    words << QStringLiteral("--task %1").arg(shellWord(toText(Task(question.step))));
    QStringList asked;
    for (const std::string& method : methods) asked << QString::fromStdString(method);
    if (!asked.isEmpty())
        words << QStringLiteral("--method %1").arg(shellWord(asked.join(QLatin1Char(',')).toStdString()));
    return words.join(QLatin1Char(' '));
}

QString planCommand(const TrainingQuestion& question, const QString& more) {
    QStringList words{QStringLiteral("orrery-cli plan %1 %2")
                          .arg(shellWord(question.recipe.source), shellWord(hardwareWord(question)))};
    words << optionWords(question.recipe.options);
    for (const auto& [kind, dollars] : question.prices)
        words << QStringLiteral("--price %1%2")
                     .arg(kind.empty() ? QString() : shellWord(kind) + QLatin1Char('='), QString::number(dollars));
    if (question.step.lora > 0) words << QStringLiteral("--lora %1").arg(question.step.lora);
    if (question.step.imbalance != 1) words << QStringLiteral("--imbalance %1").arg(question.step.imbalance);
    if (question.step.optimizer != TrainingStep().optimizer) {
        const std::string_view word = toText(question.step.optimizer);
        words << QStringLiteral("--optimizer %1").arg(QString::fromUtf8(word.data(), qsizetype(word.size())));
    }
    if (!more.isEmpty()) words << more;
    return words.join(QLatin1Char(' '));
}

}  // namespace orrery::app
