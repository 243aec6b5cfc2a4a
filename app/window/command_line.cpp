#include "app/window/command_line.h"

#include "base/version.h"
#include "widgets/common/text.h"

#include <QCommandLineParser>
#include <QRegularExpression>

namespace orrery::app {

ParsedCommandLine parseCommandLine(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(QObject::tr(
        "Orrery: a studio for performance modelling of machine-learning workloads.\n\n"
        "Examples:\n"
        "  orrery --example first-light\n"
        "  orrery model.onnx\n"
        "  orrery --example first-light --report report/\n"
        "  orrery --bug-report bug.tar.gz project.yaml\n"
        "  orrery --example first-light --screenshot explore.png --layout explore --theme dark --size 1600x1000"));
    const QCommandLineOption help({"h", "help"}, QObject::tr("Print this and exit."));
    const QCommandLineOption version({"v", "version"}, QObject::tr("Print the version and exit."));
    const QCommandLineOption example("example", QObject::tr("Open the example ID of presets/examples."), "ID");
    const QCommandLineOption report(
        "report", QObject::tr("Write pictures, HTML, CSV and JSON to DIR and exit; needs no display."), "DIR");
    const QCommandLineOption screenshot("screenshot", QObject::tr("Write a picture of the window to FILE and exit."),
                                        "FILE");
    const QCommandLineOption paper(
        "paper",
        QObject::tr("Write the figures and the report of DIR, a folder made by orrery-cli study, as PDF and exit."),
        "DIR");
    const QCommandLineOption layout("layout", QObject::tr("explore, teach, compare or draw."), "LAYOUT");
    const QCommandLineOption theme("theme", QObject::tr("light or dark."), "THEME");
    const QCommandLineOption size("size", QObject::tr("Size of the window, as in 1600x1000."), "WxH");
    const QCommandLineOption startup("startup-report", QObject::tr("Print how long the start took and exit."));
    const QCommandLineOption bug(
        "bug-report", QObject::tr("Pack log, versions, and FILEs if there are any, into a .tar.gz and exit."), "OUT");
    parser.addOptions({help, version, example, report, screenshot, paper, layout, theme, size, startup, bug});
    parser.addPositionalArgument("FILE", QObject::tr("Projects, hardware files, .onnx models or config.json to open."),
                                 "[FILE…]");

    ParsedCommandLine parsed;
    const auto refuse = [&](const QString& why) {
        parsed.status = 2;
        parsed.text = QStringLiteral("orrery: %1\n%2\n").arg(why, QObject::tr("orrery --help lists the options."));
        return parsed;
    };
    if (!parser.parse(arguments)) return refuse(parser.errorText());
    if (parser.isSet(help)) {
        parsed.status = 0;
        parsed.text = parser.helpText();
        return parsed;
    }
    if (parser.isSet(version)) {
        parsed.status = 0;
        parsed.text = QStringLiteral("orrery %1\n").arg(ui::qs(buildVersion()));
        return parsed;
    }
    CommandLine& line = parsed.line;
    line.files = parser.positionalArguments();
    line.example = parser.value(example);
    line.reportFolder = parser.value(report);
    line.screenshot = parser.value(screenshot);
    line.paperFolder = parser.value(paper);
    line.startupReport = parser.isSet(startup);
    line.bugReport = parser.value(bug);
    if (parser.isSet(layout)) {
        line.layout = layoutOf(parser.value(layout));
        if (!line.layout)
            return refuse(
                QObject::tr("there is no layout %1: explore, teach, compare or draw").arg(parser.value(layout)));
    }
    if (parser.isSet(theme)) {
        const QString wanted = parser.value(theme);
        if (wanted != QLatin1String("light") && wanted != QLatin1String("dark")) {
            return refuse(QObject::tr("there is no theme %1: light or dark").arg(wanted));
        }
        line.dark = wanted == QLatin1String("dark");
    }
    if (parser.isSet(size)) {
        static const QRegularExpression shape(QStringLiteral("^(\\d{3,4})x(\\d{3,4})$"));
        const auto match = shape.match(parser.value(size));
        if (!match.hasMatch())
            return refuse(QObject::tr("%1 is no size: write it as 1600x1000").arg(parser.value(size)));
        line.size = QSize(match.captured(1).toInt(), match.captured(2).toInt());
    }
    return parsed;
}

}  // namespace orrery::app
