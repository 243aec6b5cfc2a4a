// `orrery-cli study --resume`: nothing that was stored is lost or asked again, and the exports are those of one go.

#include "base/text/read_file.h"
#include "store/runs/run_store.h"
#include "support/cli_process.h"
#include "support/stored_rows.h"

#include <QDir>
#include <QtTest/QtTest>

#include <set>

using namespace orrery;
using namespace orrery::test;

class TestCliStudy : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString path(const QString& name) const { return folder_.filePath(name); }
    void write(const QString& name, const QByteArray& text) const {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) qFatal("cannot write");
    }
    Outcome study(const QString& file, const QString& out, const QStringList& more = {}) const {
        return cli(QStringList{"study", file, "--out", out} + more, folder_.path(), 60000);
    }
    QByteArray textOf(const QString& name) const {
        const auto text = readFile(path(name).toStdString());
        return text ? QByteArray::fromStdString(*text) : "absent: " + name.toUtf8();
    }
    QByteArray timeless(const QString& name) const { return withoutWallTimes(name, textOf(name)); }
    QStringList rows(const QString& out) const { return storedRows(path(out + "/runs.sqlite")); }
    static QByteArray sweep(int values, const char* methods = "roofline, hierarchical-roofline") {
        QByteArray list = "1";
        for (int i = 2; i <= values; ++i) list += ", " + QByteArray::number(i);
        return "orrery: study/1\nname: Cores\nhardware: [h100-sxm]\nworkloads: [resnet-50]\nmethods: [" +
               QByteArray(methods) + "]\nsweep: {sm.count: [" + list + "]}\n";
    }

private slots:
    // All that the exports say is read from the database, down to the wall times.
    void whatIsStoredExportsTheSameBytes() {
        write(
            "whole.yaml",
            "orrery: study/1\nname: Round\nhardware: [h100-sxm, eyeriss-like]\nworkloads: [{source: resnet-50, batch: "
            "1}, {source: llama-2-7b, phase: decode, batch: 8}]\nplans: [tp=1, tp=2]\ntasks: [pass, training-step]\n"
            "methods: [roofline, tile-hybrid, loop-nest, llm-inference, hierarchical-roofline]\ntimelines: true\n");
        const Outcome first = study("whole.yaml", "whole");
        QVERIFY2(first.exit == 0, first.text());
        std::map<QString, QByteArray> written;
        for (const QString& file : QDir(path("whole")).entryList({"*.csv", "*.json", "*.html"}, QDir::Files))
            written[file] = textOf("whole/" + file);
        QVERIFY(written.size() > 12);
        for (const auto& [file, text] : written) QFile::remove(path("whole/" + file));
        const Outcome again = study("whole.yaml", "whole", {"--resume"});
        QVERIFY2(again.exit == 0, again.text());
        QCOMPARE(again.out, first.out);
        for (const auto& [file, text] : written) QVERIFY2(textOf("whole/" + file) == text, qPrintable(file));
        QCOMPARE(rows("whole").size(), 80);
    }
    void killedAgainAndAgain() {
        write("long.yaml", sweep(150));
        const Outcome whole = study("long.yaml", "at-one-go");
        QVERIFY2(whole.exit == 0, whole.text());
        std::size_t before = 0;
        int killed = 0;
        for (int round = 0; round < 4; ++round) {
            QProcess process;
            process.setWorkingDirectory(folder_.path());
            process.start(ORRERY_CLI, {"study", "long.yaml", "--out", "killed", "--resume"});
            QVERIFY(process.waitForStarted());
            const auto stored = [&]() -> std::size_t {
                if (!QFile::exists(path("killed/runs.sqlite"))) return 0;
                auto store = RunStore::open(path("killed/runs.sqlite").toStdString());
                const auto runs = store ? (*store)->runs() : Unexpected(store.error());
                return runs && !runs->empty() ? runs->front().results : 0;
            };
            QTRY_VERIFY_WITH_TIMEOUT(stored() > before || process.state() == QProcess::NotRunning, 60000);
            const std::size_t acknowledged = stored();
            process.kill();
            process.waitForFinished();
            if (process.exitStatus() == QProcess::CrashExit) ++killed;
            QVERIFY(stored() >= acknowledged);
            before = stored();
        }
        QVERIFY2(killed > 0, "each was done before it could be killed");
        const Outcome rest = study("long.yaml", "killed", {"--resume"});
        QVERIFY2(rest.exit == 0, rest.text());
        QCOMPARE(rows("killed"), rows("at-one-go"));
        for (const char* name : {"run.json", "estimates.csv", "operators-1-roofline.csv"})
            QVERIFY2(timeless(QString("killed/") + name) == timeless(QString("at-one-go/") + name), name);
        auto store = RunStore::open(path("killed/runs.sqlite").toStdString());
        QCOMPARE((*store)->runs()->size(), std::size_t{1});
        QVERIFY((*store)->runs()->front().finished);
    }
    // A study with more in it asks for what is new alone; the others come over with their wall times.
    void aLargerStudyTakesOverWhatIsKnown() {
        write("some.yaml", sweep(3, "roofline"));
        QCOMPARE(study("some.yaml", "larger").exit, 0);
        write("more.yaml", sweep(5, "roofline, hierarchical-roofline"));
        QCOMPARE(study("more.yaml", "larger", {"--resume"}).exit, 0);
        auto store = RunStore::open(path("larger/runs.sqlite").toStdString());
        const auto runs = (*store)->runs();
        QCOMPARE(runs->size(), std::size_t{2});
        QCOMPARE(runs->at(1).results, std::size_t{10});
        const auto first = (*store)->results(1), second = (*store)->results(2);
        for (std::size_t i = 0; i < 3; ++i) QCOMPARE(second->at(2 * i).cost, first->at(i).cost);
        std::set<std::pair<std::size_t, std::string>> pairs;
        for (const StoredResult& each : *second) pairs.emplace(each.scenarioIndex, each.method);
        QCOMPARE(pairs.size(), std::size_t{10});
    }
    // Whatever decides an answer makes it another question.
    void anotherQuestionIsAskedAnew() {
        write("one.yaml", sweep(2, "tile-hybrid"));
        QCOMPARE(study("one.yaml", "anew").exit, 0);
        QCOMPARE(study("one.yaml", "anew", {"--resume"}).exit, 0);
        auto store = RunStore::open(path("anew/runs.sqlite").toStdString());
        QCOMPARE((*store)->runs()->size(), std::size_t{1});
        QList<QByteArray> others{sweep(2, "tile-hybrid(launch=eager)"),
                                 sweep(2, "tile-hybrid") + "seed: 3\n",
                                 sweep(2, "tile-hybrid") + "timelines: true\n",
                                 QByteArray(sweep(2, "tile-hybrid")).replace("h100-sxm", "h200-sxm"),
                                 QByteArray(sweep(2, "tile-hybrid")).replace("resnet-50", "vgg-16"),
                                 sweep(2, "tile-hybrid") + "tasks: [training-step]\n"};
        for (const QByteArray& other : others) {
            write("other.yaml", other);
            const std::size_t before = (*store)->runs()->size();
            QVERIFY2(study("other.yaml", "anew", {"--resume"}).exit == 0, other);
            QVERIFY2((*store)->runs()->size() == before + 1, other);
        }
        // Without the word it is a run of its own, as always.
        QCOMPARE(study("one.yaml", "anew").exit, 0);
        QCOMPARE((*store)->runs()->size(), std::size_t(2 + others.size()));
    }
    // The same question twice in one study is answered at both its places.
    void twinsAreKeptBoth() {
        write(
            "twins.yaml",
            "orrery: study/1\nhardware: [h100-sxm, h100-sxm]\nworkloads: [resnet-50]\nmethods: [roofline, roofline]\n");
        QCOMPARE(study("twins.yaml", "twins").exit, 0);
        const QStringList once = rows("twins");
        QCOMPARE(once.size(), 4);
        QCOMPARE(study("twins.yaml", "twins", {"--resume"}).exit, 0);
        QCOMPARE(rows("twins"), once);
    }
};

QTEST_GUILESS_MAIN(TestCliStudy)
#include "tst_cli_study.moc"
