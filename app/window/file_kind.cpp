#include "app/window/file_kind.h"

#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

namespace orrery::app {
namespace {

const QStringList yamlEndings{QStringLiteral(".yaml"), QStringLiteral(".yml")};

bool isYaml(const QString& path) {
    return yamlEndings.contains(QLatin1Char('.') + QFileInfo(path).suffix().toLower());
}

QStringList readableEndings(const std::vector<FileFilter>& filters) {
    QStringList endings = yamlEndings;
    for (const FileFilter& filter : filters) endings += filter.endings;
    endings.removeDuplicates();
    return endings;
}

// Files of Orrery that no page opens.
struct OtherKind {
    const char *kind, *what, *opens, *hint;
};
constexpr OtherKind otherKinds[] = {
    {"benchmark", "a benchmark: several comparisons of methods, judged one after another", "`orrery-cli study FILE`",
     "add `--out DIR` for its report; the page Evidence opens one comparison, a file of `orrery: judging/1`"},
    {"references", "a table of measured kernels", "the tab References of the page Evidence", "choose it there"},
    {"model-references", "a table of measured models", "the tab References of the page Evidence", "choose it there"},
    {"import", "a description of the columns of a table", "`orrery-cli evaluate --import FILE`",
     "the table itself is opened on the tab References of the page Evidence"},
};

QString patterns(const QStringList& endings) {
    return QLatin1String("(*") + endings.join(QLatin1String(" *")) + QLatin1Char(')');
}

}  // namespace

QString openFileFilter(const std::vector<FileFilter>& filters) {
    QStringList lines{QObject::tr("All that Orrery reads %1").arg(patterns(readableEndings(filters))),
                      QObject::tr("Projects, hardware, serving %1").arg(patterns(yamlEndings))};
    for (const FileFilter& filter : filters) lines << filter.name + QLatin1Char(' ') + patterns(filter.endings);
    return lines.join(QLatin1String(";;"));
}

Expected<OpenFile> openFile(const QString& path) {
    const QFileInfo info(path);
    const Place place{path.toStdString(), 0, 0, {}};
    if (!info.exists()) {
        return fail("file.missing", "there is no such file", "a file that exists", "was it moved or renamed?", place);
    }
    if (info.isDir()) {
        return fail("file.folder", "this is a folder", "a file", "open the config.json or model file in it", place);
    }
    if (!isYaml(path)) return OpenFile{path, {}};
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        return fail("file.unreadable", "the file cannot be read: " + file.errorString().toStdString(), {},
                    "check its permissions", place);
    }
    static const QRegularExpression line(QStringLiteral("^orrery\\s*:\\s*[\"']?([a-z-]+)/"),
                                         QRegularExpression::MultilineOption);
    return OpenFile{path, line.match(QString::fromUtf8(file.read(64 * 1024))).captured(1)};
}

Diagnostic notOpened(const OpenFile& file, const std::vector<FileFilter>& filters) {
    const Place place{file.path.toStdString(), 0, 0, {}};
    for (const OtherKind& each : otherKinds) {
        if (file.kind == QLatin1String(each.kind))
            return {Severity::Error, "file.kind", std::string("this is ") + each.what, each.opens, each.hint, place};
    }
    if (file.path.endsWith(QLatin1String(".sqlite"), Qt::CaseInsensitive)) {
        return {Severity::Error,
                "file.kind",
                "this is a database of runs, which belongs to a project or to the folder of a study",
                "`orrery-cli export FILE --list`, and with `--out DIR` its report",
                "open the project: its runs are on the tab Runs of the page Evidence",
                place};
    }
    if (isYaml(file.path) && !file.kind.isEmpty()) {
        return {Severity::Error,
                "file.kind",
                "the file says that it is `orrery: " + file.kind.toStdString() + "`, which no page opens",
                "a project, hardware, a workload, serving, a study or a file that a page saved",
                "is the word right?",
                place};
    }
    if (isYaml(file.path)) {
        return {Severity::Error,
                "file.kind",
                "the YAML file does not state its kind",
                "a line such as `orrery: project/1`, `orrery: hardware/1`, `orrery: workload/1` or `orrery: serving/1`",
                "is it a file of another program?",
                place};
    }
    return {Severity::Error,
            "file.kind",
            "Orrery does not read files of this kind",
            readableEndings(filters).join(", ").toStdString(),
            "models from other frameworks: export them to ONNX first",
            place};
}

}  // namespace orrery::app
