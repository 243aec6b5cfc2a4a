#include "app/window/file_kind.h"

#include "workload/importers.h"

#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

namespace orrery::app {
namespace {

QStringList endingsOf(const Importer& importer) {
    QStringList endings;
    const auto words = QString::fromUtf8(importer.extensions.data(), qsizetype(importer.extensions.size()));
    for (const QString& word : words.split(QLatin1Char(' '), Qt::SkipEmptyParts)) endings << QLatin1Char('.') + word;
    return endings;
}

QStringList readableEndings() {
    QStringList endings{QStringLiteral(".yaml"), QStringLiteral(".yml")};
    for (const Importer& importer : importers()) endings += endingsOf(importer);
    endings.removeDuplicates();
    return endings;
}

QString patterns(const QStringList& endings) {
    return QLatin1String("(*") + endings.join(QLatin1String(" *")) + QLatin1Char(')');
}

}  // namespace

QString openFileFilter() {
    QStringList filters{QObject::tr("All that Orrery reads %1").arg(patterns(readableEndings())),
                        QObject::tr("Projects, hardware, serving %1").arg(patterns({".yaml", ".yml"}))};
    for (const Importer& importer : importers()) {
        const auto name = QString::fromUtf8(importer.name.data(), qsizetype(importer.name.size()));
        filters << name + QLatin1Char(' ') + patterns(endingsOf(importer));
    }
    return filters.join(QLatin1String(";;"));
}

Expected<FileKind> fileKind(const QString& path) {
    const QFileInfo info(path);
    const Place place{path.toStdString(), 0, 0, {}};
    if (!info.exists()) {
        return fail("file.missing", "there is no such file", "a file that exists", "was it moved or renamed?", place);
    }
    if (info.isDir()) {
        return fail("file.folder", "this is a folder", "a file", "open the config.json or model file in it", place);
    }
    const QString ending = info.suffix().toLower();
    if (ending != QLatin1String("yaml") && ending != QLatin1String("yml")) {
        for (const Importer& importer : importers()) {
            if (importer.accepts(path.toStdString())) return FileKind::Workload;
        }
        return fail("file.kind", "Orrery does not read files of this kind", readableEndings().join(", ").toStdString(),
                    "models from other frameworks: export them to ONNX first", place);
    }
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        return fail("file.unreadable", "the file cannot be read: " + file.errorString().toStdString(), {},
                    "check its permissions", place);
    }
    static const QRegularExpression line(QStringLiteral("^orrery\\s*:\\s*[\"']?([a-z]+)/"),
                                         QRegularExpression::MultilineOption);
    const QString head = QString::fromUtf8(file.read(64 * 1024));
    const QString kind = line.match(head).captured(1);
    if (kind == QLatin1String("hardware")) return FileKind::Hardware;
    if (kind == QLatin1String("workload")) return FileKind::Workload;
    if (kind == QLatin1String("project")) return FileKind::Project;
    if (kind == QLatin1String("serving")) return FileKind::Serving;
    return fail("file.kind", "the YAML file does not say what it is",
                "a line such as `orrery: project/1`, `orrery: hardware/1`, `orrery: workload/1` or `orrery: serving/1`",
                "is it a file of another program?", place);
}

}  // namespace orrery::app
