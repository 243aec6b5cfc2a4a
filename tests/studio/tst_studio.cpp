#include <QAbstractButton>
#include <QDesktopServices>
// The first minute, as a person has it: does the real window, driven by mouse and keys, do what the design page says?

#include "app/document/live_controller.h"
#include "app/document/run_controller.h"
#include "app/window/actions.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "app/window/snapshot_feeder.h"
#include "support/studio_fixture.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/theme.h"
#include "widgets/inspector/inspector.h"
#include "widgets/messages/jobs_panel.h"
#include "widgets/messages/notification_bar.h"
#include "widgets/tree/component_tree.h"
#include "widgets/welcome/command_palette.h"

#include <QDesktopServices>
#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

bool settled(MainWindow& window) {
    return QTest::qWaitFor(
        [&] { return window.live().snapshot() && window.live().upToDate() && window.feeder().settled(); }, 20000);
}

QWidget* seen(QWidget& in, const QString& name) {
    for (QWidget* widget : in.findChildren<QWidget*>(name)) {
        if (widget->isVisible()) return widget;
    }
    return nullptr;
}

/// Drops a file on the window, as a file manager does.
void drop(QWidget& window, const QString& file) {
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(file)});
    const QPoint where = window.rect().center();
    QDragEnterEvent enter(where, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent event(where, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &event);
}

}  // namespace

/// Stands in for the desktop's browser.
class UrlCatcher : public QObject {
    Q_OBJECT
public:
    UrlCatcher() { QDesktopServices::setUrlHandler("file", this, "caught"); }
    ~UrlCatcher() override { QDesktopServices::unsetUrlHandler("file"); }
    QList<QUrl> urls;
public slots:
    void caught(const QUrl& url) { urls << url; }
};

class TestStudio : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        window_->activateWindow();  // shortcuts belong to the active window
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        QTRY_VERIFY(window_->isReady());
        ui::Theme::instance().setAnimated(false);
    }
    void cleanup() { window_.reset(); }

    void theFirstMinute();
    void aTypedNumberIsTakenOrRefused();
    void undoAndRedoByKeys();
    void clickingTheCanvasInspects();
    void anOnnxFileIsDropped();
    void aBadFileKeepsTheProject_data();
    void aBadFileKeepsTheProject();
    void thePaletteOpensAnExample();
    void aRunShowsAJob();
    void closingAsksAndKeepsWhatIsNotSaved();
    void recoveryIsOffered();
    void theSelectionIsShared();

private:
    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

void TestStudio::theFirstMinute() {
    // Click one: the example.
    QWidget* card = nullptr;
    for (QWidget* widget : window_->findChildren<QWidget*>()) {
        if (widget->isVisible() && widget->accessibleName().contains("First light")) card = widget;
    }
    QVERIFY2(card, "the gallery shows the first-light example");
    QTest::mouseClick(card, Qt::LeftButton);
    QVERIFY(settled(*window_));
    for (const QString& id : MainWindow::resultViewIds()) {
        ui::ResultView* view = window_->resultView(id);
        window_->docks().reveal(id);
        QTRY_VERIFY2(view->snapshot() == window_->live().snapshot(), qPrintable(id));
        QVERIFY2(!view->isEmpty(), qPrintable(id + " shows something"));
    }
    QVERIFY(window_->windowTitle().contains("First light"));
    const std::string before = window_->document().yaml();
    const double slow = window_->live().snapshot()->primaryEstimate()->latency.value;

    // The memory is what the inspector shows first; its slider is dragged.
    auto* slider =
        qobject_cast<ui::LogSlider*>(seen(*window_->findChild<ui::Inspector*>(), "inspector.bandwidth.slider"));
    QVERIFY2(slider && slider->isVisible(), "the bandwidth of the HBM has a slider");
    const QPoint from(slider->width() / 2, slider->height() / 2);
    QTest::mousePress(slider, Qt::LeftButton, Qt::NoModifier, from);
    for (int x = from.x(); x <= slider->width() * 3 / 4; x += 5) {
        QTest::mouseMove(slider, QPoint(x, from.y()));
        QCoreApplication::processEvents();
    }
    QTest::mouseRelease(slider, Qt::LeftButton, Qt::NoModifier, QPoint(slider->width() * 3 / 4, from.y()));
    QVERIFY(bandwidthOf(window_->document(), "hbm3") != 3.35e12);
    QCOMPARE(window_->document().undoStack()->count(), 1);
    QVERIFY(window_->isWindowModified());
    QVERIFY(settled(*window_));
    const auto& snapshot = window_->resultView("roofline")->snapshot();
    QCOMPARE(snapshot->scenario.hardware, window_->document().hardware());
    QVERIFY(snapshot->primaryEstimate()->latency.value != slow);

    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(window_->document().yaml(), before);
    QVERIFY(settled(*window_));
    QCOMPARE(window_->live().snapshot()->primaryEstimate()->latency.value, slow);
}

void TestStudio::aTypedNumberIsTakenOrRefused() {
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    auto* inspector = window_->findChild<ui::Inspector*>();
    emit inspector->attributesEdited({pathOf(window_->document(), "hbm3")}, "bandwidth", "4 TB/s",
                                     ui::EditPhase::Commit);
    QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 4e12);
    const int said = window_->findChild<ui::NotificationBar*>()->count();
    emit inspector->attributesEdited({pathOf(window_->document(), "hbm3")}, "bandwidth", "quick",
                                     ui::EditPhase::Commit);
    QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 4e12);
    QVERIFY(window_->findChild<ui::NotificationBar*>()->count() > said);
    emit inspector->attributesEdited({pathOf(window_->document(), "sm")}, "count", "144", ui::EditPhase::Commit);
    emit inspector->attributesEdited({pathOf(window_->document(), "sm")}, "mesh", "12 x 12", ui::EditPhase::Commit);
    const Component* sm = componentAt(window_->document().hardware()->root, pathOf(window_->document(), "sm"));
    QCOMPARE(sm->count, 144);
    QCOMPARE(sm->mesh, (std::vector<std::int64_t>{12, 12}));
}

void TestStudio::undoAndRedoByKeys() {
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    auto* inspector = window_->findChild<ui::Inspector*>();
    const ComponentPath hbm = pathOf(window_->document(), "hbm3");
    for (const char* value : {"4 TB/s", "5 TB/s", "6 TB/s"}) {
        emit inspector->attributesEdited({hbm}, "bandwidth", value, ui::EditPhase::Commit);
    }
    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 4e12);
    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 5e12);
    QVERIFY(window_->actions().find("editRedo")->text().contains("hbm3 bandwidth"));
}

void TestStudio::clickingTheCanvasInspects() {
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    auto* canvas = window_->page<HardwarePage>().canvas();
    QVERIFY(canvas->isVisible());
    const ComponentPath wanted = pathOf(window_->document(), "l2");
    canvas->ensureVisible(wanted);
    const int node = canvas->scene().find(wanted);
    const QRectF box = canvas->scene().nodes()[std::size_t(node)].box;
    // Near enough that level of detail shows it.
    canvas->setZoom(1, canvas->toView(box.center()));
    canvas->centreOn(box.center());
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, canvas->toView(box.center()).toPoint());
    QCOMPARE(window_->components().paths(), ComponentPaths{wanted});
    QCOMPARE(window_->findChild<ui::ComponentTreeView*>()->current(), wanted);
    QCOMPARE(window_->findChild<ui::Inspector*>()->componentPath(), wanted);
}

void TestStudio::anOnnxFileIsDropped() {
    QSignalSpy opened(window_.get(), &MainWindow::fileOpened);
    drop(*window_, QStringLiteral(ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx"));
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    QVERIFY(opened.front()[1].toBool());
    QVERIFY(settled(*window_));
    // A blank project got a device and methods too: the answer is there without another click.
    QVERIFY(window_->live().snapshot()->primaryEstimate());
    QCOMPARE(window_->document().undoStack()->count(), 1);
    const Workload& workload = *window_->live().workload();
    QCOMPARE(workload.totals.unresolved, 0.0);
    QVERIFY(workload.totals.parameters > 96'000 && workload.totals.parameters < 98'000);
    window_->document().undoStack()->undo();
    QVERIFY(window_->document().state()->workloads.empty());
}

void TestStudio::aBadFileKeepsTheProject_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("empty onnx") << "empty.onnx" << QByteArray();
    QTest::newRow("broken onnx") << "broken.onnx" << QByteArray("\x08\x07\x12\xff\xff\xff", 6);
    QTest::newRow("text onnx") << "text.onnx" << QByteArray("not a model at all");
    QTest::newRow("truncated onnx") << "cut.onnx" << QByteArray();  // filled from the real one
    QTest::newRow("json of nothing") << "config.json" << QByteArray("{}");
    QTest::newRow("broken json") << "config.json" << QByteArray("{\"model_type\": \"llama\",");
    QTest::newRow("yaml of another program") << "compose.yaml" << QByteArray("services: {}\n");
    QTest::newRow("broken hardware") << "hw.yaml" << QByteArray("orrery: hardware/1\nname: x\nsystem: 3\n");
    QTest::newRow("broken project") << "p.yaml" << QByteArray("orrery: project/1\nhardware: [1, 2]\n");
    QTest::newRow("newer project") << "p.yaml" << QByteArray("orrery: project/7\nname: x\n");
    QTest::newRow("a picture") << "cat.png" << QByteArray("\x89PNG");
}

void TestStudio::aBadFileKeepsTheProject() {
    QFETCH(QString, name);
    QFETCH(QByteArray, content);
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    const std::string before = window_->document().yaml();
    const QTemporaryDir folder;
    if (name == "cut.onnx") {
        QFile whole(QStringLiteral(ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx"));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        content = whole.readAll().left(20'000);
    }
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    auto* bar = window_->findChild<ui::NotificationBar*>();
    drop(*window_, file.fileName());
    const auto named = [&] {
        for (const Diagnostic& problem : window_->currentProblems()) {
            if (QString::fromStdString(problem.place.file).endsWith(name) && problem.severity == Severity::Error)
                return true;
        }
        return false;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(named(), "Problems names the file", 20000);
    QTRY_VERIFY(bar->count() > 0);
    QCOMPARE(window_->document().yaml(), before);
    QCOMPARE(window_->document().undoStack()->count(), 0);
    QVERIFY(window_->live().snapshot()->primaryEstimate());
}

void TestStudio::thePaletteOpensAnExample() {
    QTest::keyClick(window_.get(), Qt::Key_K, Qt::ControlModifier);
    auto* palette = window_->findChild<ui::CommandPalette*>();
    QTRY_VERIFY(palette->isVisible());
    QTest::keyClicks(palette->line(), "first light");
    QTest::keyClick(palette->line(), Qt::Key_Return);
    QVERIFY(settled(*window_));
    QVERIFY(!palette->isVisible());
    QVERIFY(window_->windowTitle().contains("First light"));
}

void TestStudio::aRunShowsAJob() {
    window_->openExample("prefill-and-decode");
    QVERIFY(settled(*window_));
    QSignalSpy ended(&window_->runs(), &RunController::finished);
    QTest::keyClick(window_.get(), Qt::Key_F5);
    QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 30000);
    QCOMPARE(ended.front()[1].value<RunState>(), RunState::Done);
    QVERIFY(window_->docks().dock("jobs")->isMade());
    const auto scenarios = window_->document().state()->scenarios.size();
    QCOMPARE(window_->runs().results(0).size(), scenarios * window_->document().state()->methods.size());
    // Its Open button writes the report of that run and hands it to the browser.
    UrlCatcher browser;
    const auto buttons =
        window_->findChild<ui::JobsPanel*>()->findChildren<QAbstractButton*>(QRegularExpression("open$"));
    QCOMPARE(buttons.size(), 1);
    buttons.front()->click();
    QCOMPARE(browser.urls.size(), 1);
    QFile report(browser.urls.front().toLocalFile());
    QVERIFY(report.open(QIODevice::ReadOnly));
    const QString page = QString::fromUtf8(report.readAll());
    for (const auto& scenario : window_->runs().study(0)->scenarios)
        QVERIFY(page.contains(QString::fromStdString(scenario.workload->name).toHtmlEscaped()));
}

void TestStudio::closingAsksAndKeepsWhatIsNotSaved() {
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    emit window_->findChild<ui::Inspector*>()->attributesEdited({pathOf(window_->document(), "hbm3")}, "bandwidth",
                                                                "4 TB/s", ui::EditPhase::Commit);
    const auto answer = [&](QMessageBox::StandardButton button) {
        QTimer::singleShot(0, window_.get(), [button] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            QVERIFY(box);
            QTest::mouseClick(box->button(button), Qt::LeftButton);
        });
    };
    answer(QMessageBox::Cancel);
    QVERIFY(!window_->close());
    QVERIFY(window_->isVisible());
    QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 4e12);
    answer(QMessageBox::Discard);
    QVERIFY(window_->close());
}

void TestStudio::recoveryIsOffered() {
    QDir().mkpath(home_.filePath("autosave"));
    QFile copy(home_.filePath("autosave/left.yaml"));
    QVERIFY(copy.open(QIODevice::WriteOnly));
    Document lost;
    lost.reset(smallProject());
    copy.write("# autosave of: /home/somebody/small.yaml\n" + QByteArray::fromStdString(lost.yaml()));
    copy.close();
    window_->offerRecovery();
    auto* bar = window_->findChild<ui::NotificationBar*>();
    QCOMPARE(bar->count(), 1);
    QAbstractButton* recover = nullptr;
    for (QAbstractButton* button : bar->findChildren<QAbstractButton*>()) {
        if (button->text().contains("Recover")) recover = button;
    }
    QVERIFY(recover);
    QTest::mouseClick(recover, Qt::LeftButton);
    QCOMPARE(window_->document().yaml(), lost.yaml());
    QCOMPARE(window_->document().file(), QStringLiteral("/home/somebody/small.yaml"));
    QVERIFY2(window_->isWindowModified(), "recovered work is not saved yet");
    QVERIFY(!QFile::exists(copy.fileName()));
}

void TestStudio::theSelectionIsShared() {
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    auto* tabs = window_->findChild<QTabWidget*>("documents");
    tabs->setCurrentIndex(2);
    auto* table = seen(*window_, "workloadTable");
    QVERIFY(table);
    auto* view = qobject_cast<QAbstractItemView*>(table);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, Qt::NoModifier,
                      view->visualRect(view->model()->index(2, 0)).center());
    QCOMPARE(window_->selection().operators().size(), 1);
    window_->docks().reveal("operators");
    auto* operators = window_->resultView("operators")->findChild<QAbstractItemView*>();
    QTRY_VERIFY(operators && operators->selectionModel()->hasSelection());
}

QTEST_MAIN(TestStudio)
#include "tst_studio.moc"
