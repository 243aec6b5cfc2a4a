#include "app/window/welcome/examples.h"

#include "hardware/files/catalogue.h"

#include <QDir>
#include <QFile>

#include <algorithm>

namespace orrery::app {

namespace {

Example readHead(const QFileInfo& info) {
    Example example{info.completeBaseName(), info.filePath(), info.completeBaseName(), {}, 100, {}};
    QFile file(info.filePath());
    if (!file.open(QIODevice::ReadOnly)) return example;
    const auto value = [](const QString& text) {
        QString found = text.section(QLatin1Char(':'), 1).trimmed();
        if (found.size() > 1 && found.startsWith(QLatin1Char('"'))) found = found.mid(1, found.size() - 2);
        return found;
    };
    // The head alone: the gallery is filled before anything is opened, and must not parse nine designs.
    for (int line = 0; line < 12; ++line) {
        const QString text = QString::fromUtf8(file.readLine()).trimmed();
        if (text.startsWith(QLatin1String("name:"))) example.title = value(text);
        if (text.startsWith(QLatin1String("description:"))) example.description = value(text);
        if (text.startsWith(QLatin1String("# order:"))) example.order = value(text).toInt();
        if (text.startsWith(QLatin1String("# opens:"))) example.opens = value(text);
        if (text.startsWith(QLatin1String("hardware:"))) break;
    }
    return example;
}

}  // namespace

std::vector<Example> examples() {
    std::vector<Example> found;
    for (const char* name : {"/examples", "/training"}) {
        const QDir folder(QString::fromStdString(presetsFolder()) + QLatin1String(name));
        for (const QFileInfo& info : folder.entryInfoList({QStringLiteral("*.yaml")}, QDir::Files, QDir::Name))
            found.push_back(readHead(info));
    }
    std::ranges::stable_sort(found, {}, &Example::order);
    return found;
}

std::optional<Example> exampleById(const QString& id) {
    for (Example& example : examples()) {
        if (example.id == id) return example;
    }
    return std::nullopt;
}

}  // namespace orrery::app
