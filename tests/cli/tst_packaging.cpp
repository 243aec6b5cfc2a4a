// Is what packages carry right: manual pages with every command, a desktop file and metadata that their checkers take,
// a version that dpkg understands?

#include "support/cli_process.h"

#include <QtTest/QtTest>

class TestPackaging : public QObject {
    Q_OBJECT
private slots:
    void theManualHasEveryCommand() {
        const QString page = output("bash", {source("packaging/man.sh"), ORRERY_CLI, "asks models"});
        QVERIFY(page.startsWith(".TH ORRERY-CLI 1"));
        const QString help = output(ORRERY_CLI, {"--help"});
        static const QRegularExpression line(QStringLiteral("^  ([a-z][a-z-]*)  +"),
                                             QRegularExpression::MultilineOption);
        int found = 0;
        for (auto at = line.globalMatch(help); at.hasNext(); ++found) {
            const QString command = at.next().captured(1);
            QVERIFY2(page.contains(".SS " + command + "\n"), qPrintable(command));
        }
        QVERIFY(found > 25);
    }
    void theDesktopFileIsValid() {
        const QString program = QStandardPaths::findExecutable("desktop-file-validate");
        if (program.isEmpty()) QSKIP("desktop-file-utils is not installed");
        QVERIFY2(!output(program, {source("packaging/desktop/orrery.desktop")}).contains("error"), "");
    }
    void theMetadataIsValid() {
        const QString program = QStandardPaths::findExecutable("appstreamcli");
        if (program.isEmpty()) QSKIP("appstream is not installed");
        output(program, {"validate", "--no-net", source("packaging/desktop/io.github.orrery.Orrery.metainfo.xml")});
    }
    void theProgramsSayTheVersionOfTheTree() {
        const QString version =
            output("bash", {"-c", "cd '" ORRERY_SOURCE "' && . packaging/version.sh && orrery_version"}).trimmed();
        // What was built before the last commit may be some commits behind: the release is the same.
        static const QRegularExpression release(QStringLiteral("^[0-9.]+"));
        const QString built = output(ORRERY_CLI, {"--version"}).section(' ', 1).trimmed();
        QCOMPARE(release.match(built).captured(), release.match(version).captured());
        QCOMPARE(output("bash", {"-c", "cd '" ORRERY_SOURCE
                                       "' && . packaging/version.sh && ORRERY_TREE_VERSION=7.8.9 orrery_version"})
                     .trimmed(),
                 QString("7.8.9"));
    }
    void theVersionIsOne() {
        const QString version =
            output("bash", {"-c", "cd '" ORRERY_SOURCE "' && . packaging/version.sh && orrery_version"}).trimmed();
        QVERIFY2(QRegularExpression("^\\d+\\.\\d+[0-9a-z.+~]*$").match(version).hasMatch(), qPrintable(version));
    }

private:
    static QString source(const char* file) { return QStringLiteral(ORRERY_SOURCE "/") + file; }
    static QString output(const QString& program, const QStringList& arguments) {
        QProcess process;
        process.start(program, arguments);
        constexpr int milliseconds = 60000;
        if (!process.waitForFinished(milliseconds) || process.exitCode() != 0)
            QTest::qFail(qPrintable(program + ": " + process.readAllStandardError()), __FILE__, __LINE__);
        return QString::fromUtf8(process.readAllStandardOutput());
    }
};

QTEST_GUILESS_MAIN(TestPackaging)
#include "tst_packaging.moc"
