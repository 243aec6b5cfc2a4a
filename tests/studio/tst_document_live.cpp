// Does every edit get its newest answer, without the event loop waiting; and does unsaved work survive a kill?

#include "app/document/autosave.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/live_controller.h"
#include "app/document/run_controller.h"
#include "app/document/workload_cache.h"
#include "support/studio_fixture.h"

#include <QProcess>

#include <csignal>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestDocumentLive : public QObject {
    Q_OBJECT
private slots:
    void anEditIsAnswered();
    void theLastOfManyEditsIsAnswered();
    void answersOfAnotherProjectAreDropped();
    void aWorkloadThatCannotBeLoadedIsSaid();
    void aMethodThatCannotAnswerSaysWhy();
    void aChosenMethodGivesWayWhereItCannotAnswer();
    void whatIsOfAnEarlierQuestionIsSaid();
    void anotherProjectBeginsEmpty();
    void switchedOffItStaysQuietAndCatchesUp();
    void aRunStoresItsResultsAndCanBeCancelled();
    void unsavedWorkSurvivesAKill();
    void childThatIsKilled();
};

namespace {

struct Live {
    Document document;
    std::shared_ptr<WorkloadCache> cache = std::make_shared<WorkloadCache>();
    LiveController live{document, cache};
    QSignalSpy answers{&live, &LiveController::snapshotReady};
};

double latency(const LiveController& live) {
    return live.snapshot()->primaryEstimate()->latency.value;
}

}  // namespace

void TestDocumentLive::anEditIsAnswered() {
    Live studio;
    studio.document.reset(smallProject());
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    QCOMPARE(studio.live.snapshot()->answers.size(), 2u);
    QVERIFY(studio.live.snapshot()->device);
    // A bound never leads while something else answers; what is chosen stays through edits.
    QVERIFY(studio.live.snapshot()->best == 1 && studio.live.snapshot()->primary == 1);
    QVERIFY(!studio.live.snapshot()->bestReason.isEmpty() && studio.live.snapshot()->bound);
    studio.live.setPrimary(0);
    const double before = latency(studio.live);
    const ComponentPath hbm = pathOf(studio.document, "hbm3");
    QVERIFY_DONE(studio.document.apply(setAttributeEdit(*studio.document.state(), 0, hbm, "bandwidth", "6.7 TB/s")));
    QTRY_VERIFY(studio.live.upToDate());
    // Decoding one token is bound by memory: twice the bandwidth, half the time, but for the caches' share.
    QVERIFY(latency(studio.live) < 0.6 * before);
    studio.document.undoStack()->undo();
    QTRY_VERIFY(studio.live.upToDate());
    QCOMPARE(latency(studio.live), before);
}

void TestDocumentLive::theLastOfManyEditsIsAnswered() {
    Live studio;
    studio.document.reset(smallProject());
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    const ComponentPath hbm = pathOf(studio.document, "hbm3");
    for (int step = 0; step < 200; ++step) {
        const QString value = QStringLiteral("%1 TB/s").arg(3.4 + step * 0.01);
        QVERIFY_DONE(studio.document.apply(setAttributeEdit(*studio.document.state(), 0, hbm, "bandwidth", value)));
        if (step % 10 == 0) QCoreApplication::processEvents();
    }
    QTRY_VERIFY(studio.live.upToDate());
    QCOMPARE(studio.live.snapshot()->scenario.hardware, studio.document.hardware());
    QVERIFY2(studio.answers.count() < 100, "edits that come faster than answers are taken together");
    quint64 last = 0;
    for (const QList<QVariant>& answer : studio.answers) {
        const auto snapshot = answer.front().value<ui::SnapshotPtr>();
        if (!snapshot) continue;
        QVERIFY2(snapshot->revision >= last, "answers never go back");
        last = snapshot->revision;
    }
}

void TestDocumentLive::answersOfAnotherProjectAreDropped() {
    Live studio;
    studio.document.reset(smallProject());
    QCoreApplication::processEvents();  // the question is asked, and not waited for
    Project other = smallProject();
    other.scenarios.front() = {other.hardware[1].name, "ResNet", {}};
    studio.document.reset(other);
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    for (const QList<QVariant>& answer : studio.answers) {
        const auto snapshot = answer.front().value<ui::SnapshotPtr>();
        if (snapshot) QCOMPARE(snapshot->scenario.hardware->name, other.hardware[1].name);
    }
}

void TestDocumentLive::aWorkloadThatCannotBeLoadedIsSaid() {
    Live studio;
    QSignalSpy failed(&studio.live, &LiveController::failed);
    Project project = smallProject();
    project.workloads.front().recipe.source = "/nowhere/model.onnx";
    studio.document.reset(project);
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(!studio.live.snapshot());
    QVERIFY(!failed.front().front().value<Diagnostic>().message.empty());
}

void TestDocumentLive::aMethodThatCannotAnswerSaysWhy() {
    Live studio;
    studio.document.reset(smallProject());
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    const ComponentPath hbm = pathOf(studio.document, "hbm3");
    QVERIFY_DONE(studio.document.apply(setAttributeEdit(*studio.document.state(), 0, hbm, "bandwidth", "")));
    QTRY_VERIFY(studio.live.upToDate());
    QVERIFY(studio.live.snapshot());
    for (const ui::Answer& answer : studio.live.snapshot()->answers) {
        QVERIFY(!answer.estimate);
        QVERIFY(answer.failure);
        const QString text = QString::fromStdString(orrery::toText(*answer.failure));
        QVERIFY2(text.contains("bandwidth") && text.contains("hbm3"), qPrintable(text));
    }
}

void TestDocumentLive::aChosenMethodGivesWayWhereItCannotAnswer() {
    Live studio;
    Project project = smallProject();
    project.hardware.push_back(loadHardware("gemmini-like").value().hardware);
    project.methods = {"systolic-closed-form", "roofline", "hierarchical-roofline"};
    project.scenarios.front() = {project.hardware[2].name, "ResNet", {}};
    studio.document.reset(project);
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    studio.live.setPrimary(0);
    const auto shown = [&] { return studio.live.snapshot()->answers[std::size_t(studio.live.snapshot()->primary)]; };
    QCOMPARE(shown().method, QStringLiteral("systolic-closed-form"));
    QVERIFY2(shown().estimate, "the array's own method answers for the array");
    // Another design: the array's method cannot answer, others can, and one of them is shown.
    QVERIFY_DONE(
        studio.document.apply(chooseScenarioEdit(*studio.document.state(), {project.hardware[0].name, "ResNet", {}})));
    QTRY_VERIFY(studio.live.upToDate());
    QVERIFY(!studio.live.snapshot()->answers[0].estimate);
    QVERIFY2(studio.live.snapshot()->primaryEstimate(), "methods that answer are shown");
    QCOMPARE(studio.live.chosenMethod(), QStringLiteral("systolic-closed-form"));
    studio.document.undoStack()->undo();
    QTRY_VERIFY(studio.live.upToDate());
    QCOMPARE(shown().method, QStringLiteral("systolic-closed-form"));
}

void TestDocumentLive::whatIsOfAnEarlierQuestionIsSaid() {
    Live studio;
    studio.document.reset(smallProject());
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    QVERIFY(studio.live.late().isEmpty());
    studio.live.setEnabled(false);
    QVERIFY2(studio.live.late().isEmpty(), "nothing has been asked since");
    const QSignalSpy said(&studio.live, &LiveController::lateChanged);
    const ComponentPath hbm = pathOf(studio.document, "hbm3");
    QVERIFY_DONE(studio.document.apply(setAttributeEdit(*studio.document.state(), 0, hbm, "bandwidth", "5 TB/s")));
    QVERIFY(studio.live.late().contains("Live evaluation is off"));
    QCOMPARE(said.count(), 1);
    studio.live.setEnabled(true);
    QTRY_VERIFY(studio.live.upToDate());
    QVERIFY(studio.live.late().isEmpty());
}

void TestDocumentLive::anotherProjectBeginsEmpty() {
    Live studio;
    studio.document.reset(smallProject());
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    studio.live.setEnabled(false);
    studio.document.reset(smallProject());
    QVERIFY2(!studio.live.snapshot() && !studio.live.workload(), "no answer of the project before");
}

void TestDocumentLive::switchedOffItStaysQuietAndCatchesUp() {
    Live studio;
    studio.document.reset(smallProject());
    QTRY_VERIFY(studio.live.snapshot() && studio.live.upToDate());
    studio.live.setEnabled(false);
    const auto count = studio.answers.count();
    const ComponentPath hbm = pathOf(studio.document, "hbm3");
    QVERIFY_DONE(studio.document.apply(setAttributeEdit(*studio.document.state(), 0, hbm, "bandwidth", "5 TB/s")));
    for (int turn = 0; turn < 20; ++turn) QCoreApplication::processEvents();
    QCOMPARE(studio.answers.count(), count);
    QVERIFY(!studio.live.upToDate());
    studio.live.setEnabled(true);
    QTRY_VERIFY(studio.live.upToDate());
}

void TestDocumentLive::aRunStoresItsResultsAndCanBeCancelled() {
    const QTemporaryDir folder;
    Document document;
    auto cache = std::make_shared<WorkloadCache>();
    RunController runs(document, cache, folder.path());
    QSignalSpy ended(&runs, &RunController::finished);
    QSignalSpy failed(&runs, &RunController::failed);
    QCOMPARE(runs.start(), -1);  // nothing to run: said, not done
    QCOMPARE(failed.count(), 1);
    document.reset(smallProject());
    QVERIFY_DONE(
        document.apply(chooseScenarioEdit(*document.state(), {document.state()->hardware[1]->name, "ResNet", {}})));
    const int run = runs.start();
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20000);
    QCOMPARE(ended.front()[1].value<RunState>(), RunState::Done);
    QCOMPARE(runs.results(run).size(), 4u);
    QCOMPARE(runs.progress(run)->done(), 4u);
    auto store = RunStore::open(runs.storeFile().toStdString());
    QVERIFY(store);
    QCOMPARE((*store)->runs()->size(), 1u);
    QCOMPARE((*store)->results((*store)->runs()->front().id)->size(), 4u);
    runs.cancel(runs.start());
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 2, 20000);
    QCOMPARE(ended[1][1].value<RunState>(), RunState::Cancelled);
}

void TestDocumentLive::childThatIsKilled() {
    const QString folder = qEnvironmentVariable("ORRERY_TEST_CHILD");
    if (folder.isEmpty()) return;  // is started by unsavedWorkSurvivesAKill
    Document document;
    Autosave autosave(document, folder);
    document.reset(smallProject(), "/somewhere/small.yaml");
    const ComponentPath hbm = pathOf(document, "hbm3");
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", "4.2 TB/s")));
    autosave.writeNow();
    autosave.waitForWrite();
    QFile(folder + "/written").open(QIODevice::WriteOnly);
    QTest::qWait(60'000);  // until it is killed
}

void TestDocumentLive::unsavedWorkSurvivesAKill() {
    const QTemporaryDir folder;
    QProcess child;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("ORRERY_TEST_CHILD", folder.path());
    child.setProcessEnvironment(environment);
    child.start(QCoreApplication::applicationFilePath(), {"tst_document_live", "childThatIsKilled"});
    QVERIFY(child.waitForStarted());
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(folder.filePath("written")), 20000);
    QVERIFY2(Autosave::abandoned(folder.path()).empty(), "a living studio's work is not offered to another");
    ::kill(static_cast<pid_t>(child.processId()), SIGKILL);
    QVERIFY(child.waitForFinished());
    const std::vector<Recovery> found = Autosave::abandoned(folder.path());
    QCOMPARE(found.size(), 1u);
    QCOMPARE(found.front().original, QStringLiteral("/somewhere/small.yaml"));
    Document document;
    QVERIFY_DONE(document.load(found.front().copy));
    QCOMPARE(bandwidthOf(document, "hbm3"), 4.2e12);
    Autosave::discard(found.front());
    QVERIFY(Autosave::abandoned(folder.path()).empty());
}

QTEST_MAIN(TestDocumentLive)
#include "tst_document_live.moc"
