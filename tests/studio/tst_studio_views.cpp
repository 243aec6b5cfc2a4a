// Is everything there, named, readable and kept: docks, layouts, themes, examples, reports, the command line?

#include "app/window/actions.h"
#include "app/window/bug_report.h"
#include "app/window/command_line.h"
#include "app/window/main_window.h"
#include "app/window/serving/serving_page.h"
#include "app/window/snapshot_feeder.h"
#include "app/window/studio.h"
#include "app/window/welcome/example_pictures.h"
#include "app/window/welcome/examples.h"
#include "support/studio_fixture.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"
#include "widgets/graph/graph_view.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

const QString output = QStringLiteral(ORRERY_TEST_OUTPUT "/studio");

bool settled(MainWindow& window) {
    return QTest::qWaitFor(
        [&] { return window.live().snapshot() && window.live().upToDate() && window.feeder().settled(); }, 20000);
}

bool isControl(const QWidget* widget) {
    if (widget->objectName().startsWith("qt_")) return false;
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
           qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget) ||
           qobject_cast<const QAbstractSlider*>(widget) || qobject_cast<const QAbstractItemView*>(widget) ||
           widget->focusPolicy() == Qt::StrongFocus;
}

/// Parts that Qt makes inside another control, which carries the name.
bool isInner(const QWidget* widget) {
    if (qobject_cast<const QScrollBar*>(widget) || qobject_cast<const QHeaderView*>(widget)) return true;
    for (const QWidget* up = widget->parentWidget(); up; up = up->parentWidget()) {
        if (qobject_cast<const QComboBox*>(up) || qobject_cast<const QAbstractSpinBox*>(up)) return true;
        if (qobject_cast<const QLineEdit*>(up) || qobject_cast<const QTabBar*>(up)) return true;
        if (QByteArray(up->metaObject()->className()) == "QMenuBar" || qobject_cast<const QToolBar*>(up)) {
            // The extension buttons of bars.
            if (widget->objectName().startsWith("qt_") || widget->objectName().isEmpty()) return true;
        }
    }
    const QByteArray name = widget->metaObject()->className();
    return name == "QMainWindowTabBar" || name == "QTableCornerButton";
}

}  // namespace

class TestStudioViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
        QDir().mkpath(output);
    }
    void init() {
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        QTRY_VERIFY(window_->isReady());
        ui::Theme::instance().setAnimated(false);
    }
    void cleanup() { window_.reset(); }

    void everyExampleAnswers_data();
    void everyExampleAnswers();
    void closingWhileTheGalleryIsPaintedDoesNotHang();
    void everyControlIsNamed();
    void everyActionTellsItsShortcut();
    void everyDockHasSomethingToShow();
    void layoutsAndThemes_data();
    void layoutsAndThemes();
    void aLayoutIsRemembered();
    void theReportFolderIsComplete();
    void aBugReportHoldsWhatIsAllowed();
    void onlyWhatShowsSomethingIsWritten();
    void theCommandLine_data();
    void theCommandLine();

private:
    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

void TestStudioViews::everyExampleAnswers_data() {
    QTest::addColumn<QString>("id");
    for (const Example& example : examples())
        if (!example.cases()) QTest::newRow(qPrintable(example.id)) << example.id;  // those: tst_studio_training
}

void TestStudioViews::everyExampleAnswers() {
    QFETCH(QString, id);
    const std::optional<Example> example = exampleById(id);
    QVERIFY(!example->title.isEmpty() && example->title != id);
    QVERIFY2(example->description.size() > 40, "the card says what is to be seen");
    window_->openExample(id);
    QVERIFY(settled(*window_));
    WorkloadCache cache;
    const auto sketch = sketchOf(example->file.toStdString(), cache);
    QVERIFY2(sketch, "the gallery has a real picture of it");
    for (const RooflineSketch::Point& point : sketch->points) {
        // The element-wise work beside a product (a bias, an activation, a softmax) counts as work and overlaps with
        // it.
        QVERIFY2(point.rate <= sketch->peak * 1.05, qPrintable(QString::number(point.rate / sketch->peak)));
        QVERIFY(point.rate <= point.intensity * sketch->bandwidth * (1 + 1e-9));
    }
    for (const ui::Answer& answer : window_->live().snapshot()->answers) {
        if (answer.notAsked()) continue;  // slow: a Run asks it
        QVERIFY2(answer.estimate, answer.failure ? orrery::toText(*answer.failure).c_str() : "no answer");
        QVERIFY(answer.estimate->latency.value > 0);
    }
    QVERIFY(!window_->document().isModified());
    QVERIFY2(window_->document().file().isEmpty(), "saving must not write into the presets");
    for (const ScenarioRef& scenario : window_->document().state()->scenarios) {
        QVERIFY(window_->document().state()->hardwareIndex(scenario.hardware) >= 0);
        QVERIFY(window_->document().state()->workloadIndex(scenario.workload) >= 0);
    }
}

void TestStudioViews::closingWhileTheGalleryIsPaintedDoesNotHang() {
    auto* pictures = window_->findChild<ExamplePictures*>();
    pictures->start();
    window_.reset();  // before a turn of the event loop
}

void TestStudioViews::everyControlIsNamed() {
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    for (Dock* dock : window_->docks().all()) dock->content();
    QStringList missing;
    for (QWidget* widget : window_->findChildren<QWidget*>()) {
        if (!isControl(widget) || isInner(widget)) continue;
        QStringList lacks;
        if (widget->objectName().isEmpty()) lacks << "objectName";
        if (widget->accessibleName().isEmpty()) lacks << "accessibleName";
        // The hover card of a plot or drawing would fight with a tooltip; the header above it has one.
        const bool plot = qobject_cast<const ui::ResultView*>(widget) || qobject_cast<const ui::GraphView*>(widget) ||
                          qobject_cast<const ui::CanvasView*>(widget);
        if (widget->toolTip().isEmpty() && !plot) lacks << "toolTip";
        if (lacks.isEmpty()) continue;
        QStringList path;
        for (QWidget* up = widget; up; up = up->parentWidget()) {
            path.prepend(QStringLiteral("%1(%2)").arg(up->metaObject()->className(), up->objectName()));
        }
        missing << lacks.join(", ") + ": " + path.mid(qMax<qsizetype>(0, path.size() - 4)).join(" / ");
    }
    for (const QString& one : missing) qWarning().noquote() << one;
    QVERIFY2(missing.isEmpty(), qPrintable(QStringLiteral("%1 controls lack something").arg(missing.size())));
}

void TestStudioViews::everyActionTellsItsShortcut() {
    // What GNOME, KDE, Xfce and openbox take before a window sees it.
    QSet<QString> taken;
    for (int f = 1; f <= 12; ++f) taken << QStringLiteral("Alt+F%1").arg(f) << QStringLiteral("Ctrl+Alt+F%1").arg(f);
    for (const char* key : {"Alt+Tab", "Alt+Shift+Tab", "Alt+Esc", "Alt+Space", "Ctrl+Esc", "Ctrl+Alt+Left",
                            "Ctrl+Alt+Right", "Ctrl+Alt+Up", "Ctrl+Alt+Down", "Ctrl+Alt+L", "Ctrl+Alt+T", "Ctrl+Alt+D",
                            "Ctrl+Alt+Del", "Ctrl+Alt+Backspace", "Ctrl+Alt+Tab", "Ctrl+Alt+Esc", "Print"})
        taken << QLatin1String(key);
    QSet<QString> keys;
    for (const Actions::Entry& entry : window_->actions().all()) {
        QVERIFY2(!entry.action->objectName().isEmpty(), qPrintable(entry.action->text()));
        QVERIFY2(!entry.action->toolTip().isEmpty(), qPrintable(entry.action->text()));
        for (const QKeySequence& key : entry.action->shortcuts()) {
            const QString text = key.toString(QKeySequence::NativeText);
            QVERIFY2(!keys.contains(text), qPrintable("two commands on " + text));
            QVERIFY2(!taken.contains(text) && !text.contains("Meta"), qPrintable(text + " is the window manager's"));
            keys.insert(text);
        }
        if (entry.action->shortcut().isEmpty()) continue;
        QVERIFY2(entry.action->toolTip().contains(entry.action->shortcut().toString(QKeySequence::NativeText)),
                 qPrintable(entry.action->text()));
    }
}

void TestStudioViews::everyDockHasSomethingToShow() {
    window_->setLayoutMode(Layout::Explore, true);
    for (Dock* dock : window_->docks().all()) {
        window_->docks().reveal(dock->objectName());
        QTRY_VERIFY2(dock->isMade(), qPrintable(dock->objectName()));
        // Empty, it says what it will show: something is painted besides one flat colour.
        const QImage picture = dock->grab().toImage();
        QSet<QRgb> colours;
        for (int y = 0; y < picture.height(); y += 2) {
            for (int x = 0; x < picture.width(); x += 2) colours.insert(picture.pixel(x, y));
        }
        QVERIFY2(colours.size() > 8, qPrintable(dock->objectName() + " is blank"));
    }
}

void TestStudioViews::layoutsAndThemes_data() {
    QTest::addColumn<QString>("layout");
    QTest::addColumn<bool>("dark");
    for (const bool dark : {false, true}) {
        for (const char* layout : {"welcome", "explore", "teach", "compare"}) {
            QTest::addRow("%s %s", layout, dark ? "dark" : "light") << QString(layout) << dark;
        }
    }
}

void TestStudioViews::layoutsAndThemes() {
    QFETCH(QString, layout);
    QFETCH(bool, dark);
    window_->setTheme(dark);
    if (layout != "welcome") {
        window_->openExample("first-light");
        window_->setLayoutMode(*layoutOf(layout), true);
        QVERIFY(settled(*window_));
    }
    QCOMPARE(ui::Theme::instance().mode() == ui::Mode::Dark, dark);
    QCOMPARE(ui::Theme::instance().presenter(), layout == "teach");
    QCoreApplication::processEvents();
    if (layout != "welcome") {
        auto* headline = window_->findChild<QWidget*>("headline");
        QVERIFY(headline->isVisible());
        QVERIFY2(headline->visibleRegion().boundingRect().height() >= headline->sizeHint().height(),
                 "the answer in one line is there in every layout");
    }
    const QImage picture = window_->grab().toImage();
    QVERIFY(picture.save(QStringLiteral("%1/%2-%3.png").arg(output, layout, dark ? "dark" : "light")));
    // Mostly background: light in light mode, dark in dark mode.
    qint64 light = 0, all = 0;
    for (int y = 0; y < picture.height(); y += 7) {
        for (int x = 0; x < picture.width(); x += 7) {
            light += qGray(picture.pixel(x, y)) > 128;
            ++all;
        }
    }
    QVERIFY2(dark ? light * 4 < all : light * 4 > all * 3, "the whole window follows the theme");
    window_->setTheme(false);
}

void TestStudioViews::aLayoutIsRemembered() {
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    window_->setLayoutMode(Layout::Explore, true);
    window_->docks().dock("library")->close();
    window_->setLayoutMode(Layout::Compare, true);
    QVERIFY(!window_->docks().dock("project")->isVisible());
    window_->setLayoutMode(Layout::Explore);
    QVERIFY(!window_->docks().dock("library")->isVisible());
    QVERIFY(window_->docks().dock("project")->isVisible());
    window_->actions().find("layoutReset")->trigger();
    QVERIFY(window_->docks().dock("library")->isVisible());
}

void TestStudioViews::theReportFolderIsComplete() {
    const QTemporaryDir folder;
    QVERIFY(!window_->exportReport(folder.path()));  // nothing to report yet, and it says so
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    const Expected<QStringList> written = window_->exportReport(folder.filePath("report"));
    QVERIFY2(written, written ? "" : orrery::toText(written.error()).c_str());
    for (const char* name :
         {"roofline.png", "timeline.png", "comparison.png", "breakdown.png", "memory.png", "report.html", "report.pdf",
          "report.json", "comparison.csv", "operators.csv", "timeline.json"}) {
        const QFileInfo file(folder.filePath(QStringLiteral("report/") + name));
        QVERIFY2(file.size() > 200, name);
    }
    // Also of views that stand behind others, whose docks leave them no room.
    for (const char* name : {"roofline", "breakdown", "memory", "operators", "why"}) {
        const QImage picture(folder.filePath(QStringLiteral("report/%1.png").arg(name)));
        QVERIFY2(picture.width() >= 600 && picture.height() >= 300, name);
    }
    QVERIFY(!window_->exportReport("/proc/nowhere"));
    QFile pdf(folder.filePath("report/report.pdf"));
    QVERIFY(pdf.open(QIODevice::ReadOnly) && pdf.read(4) == "%PDF");
    // Pictures have the size that was chosen, and the view its own again.
    ui::ResultView* view = window_->resultView("roofline");
    const QSize own = view->size();
    ui::setPictureSize(ui::pictureSizeOf("640x400"));
    QCOMPARE(view->exportTo(folder.filePath("small.png")), QString());
    ui::setPictureSize({});
    QCOMPARE(QImage(folder.filePath("small.png")).size(), QSize(1280, 800));
    QCOMPARE(view->size(), own);
    QVERIFY(!ui::pictureSizeOf("640").isValid() && !ui::pictureSizeOf("64000x400").isValid());
    // Print is light whatever the screen is, unless a person wants otherwise.
    ui::Theme& theme = ui::Theme::instance();
    const auto corner = [&](const char* name) {
        const QString file = folder.filePath(name);
        return view->exportTo(file).isEmpty() ? QImage(file).pixelColor(1, 1).lightness() : -1;
    };
    theme.setMode(ui::Mode::Dark);
    QVERIFY(corner("paper.png") > 200);
    QCOMPARE(theme.mode(), ui::Mode::Dark);
    ui::setPicturesOnPaper(false);
    QVERIFY(corner("screen.png") < 80);
    ui::setPicturesOnPaper(true);
    theme.setMode(ui::Mode::Light);
    QCOMPARE(view->exportTo(folder.filePath("points.tex")), QString());
    QFile tex(folder.filePath("points.tex"));
    QVERIFY(tex.open(QIODevice::ReadOnly) && tex.readAll().contains("\\toprule"));
}

void TestStudioViews::aBugReportHoldsWhatIsAllowed() {
    const QTemporaryDir folder;
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    window_->studio().messages.log(Severity::Warning, QDir::homePath() + "/secret is a folder");
    const auto names = [&](const QString& file) {
        QProcess tar;
        tar.start("tar", {"xzvf", file, "-C", folder.path()});
        [&] { QVERIFY(tar.waitForFinished()); }();
        return QString::fromUtf8(tar.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
    };
    const QString without = folder.filePath("a.tar.gz"), with = folder.filePath("b.tar.gz");
    QVERIFY(writeBugReport(without, {}).has_value());
    QCOMPARE(names(without), QStringList({"README.txt", "versions.txt", "orrery.log"}));
    QFile log(folder.filePath("orrery.log")), versions(folder.filePath("versions.txt"));
    QVERIFY(log.open(QIODevice::ReadOnly) && versions.open(QIODevice::ReadOnly));
    const QByteArray said = log.readAll();
    QVERIFY(said.contains("secret is a folder"));
    if (QDir::homePath().size() > 1) QVERIFY(!said.contains(QDir::homePath().toUtf8() + "/secret"));
    QVERIFY(versions.readAll().contains(qVersion()));
    QVERIFY(writeBugReport(with, {.project = window_->document().yaml(), .files = {without}}).has_value());
    QVERIFY(names(with).contains("project.yaml") && names(with).contains("files/a.tar.gz"));
    QVERIFY(!writeBugReport(with, {.project = {}, .files = {"/no/such/file"}}));
    QVERIFY(!writeBugReport("/proc/none/a.tar.gz", {}));
}

void TestStudioViews::onlyWhatShowsSomethingIsWritten() {
    const QTemporaryDir folder;
    const auto nothing = window_->exportPictures(folder.path());
    QVERIFY2(!nothing && nothing.error().code == "export.nothing", "no empty pictures");
    QVERIFY(QDir(folder.path()).isEmpty());
    // A fleet is answered on its page, where the live question has no workload.
    window_->openExample("vllm-against-sarathi");
    auto& page = window_->page<ServingPage>();
    QVERIFY(QTest::qWaitFor([&] { return !page.isBusy() && page.runs().size() == 2; }, 60000));
    if (!window_->live().snapshot()) QVERIFY(!window_->exportPictures(folder.path()));
    const Expected<QStringList> report = window_->exportReport(folder.filePath("fleet"));
    QVERIFY2(report, report ? "" : orrery::toText(report.error()).c_str());
    for (const char* name : {"serving.csv", "serving.tex", "serving.yaml", "serving-fleet.png", "serving-latency.svg",
                             "serving-timeline.json"})
        QVERIFY2(QFileInfo(folder.filePath(QStringLiteral("fleet/") + name)).size() > 200, name);
    // Views that are not seen are written whole, in the size of a picture.
    window_->openExample("first-light");
    QVERIFY(settled(*window_));
    const Expected<QStringList> pictures = window_->exportPictures(folder.path());
    QVERIFY2(pictures, pictures ? "" : orrery::toText(pictures.error()).c_str());
    QVERIFY(pictures->size() >= 3 * 6);
    for (const QString& file : *pictures) {
        QVERIFY2(QFileInfo(file).size() > (file.endsWith(".csv") || file.endsWith(".tex") ? 40 : 200),
                 qPrintable(file));
        if (file.endsWith(".png")) QVERIFY2(QImage(file).width() >= 600, qPrintable(file));
    }
}

void TestStudioViews::theCommandLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    QTest::newRow("nothing") << QStringList{} << -1;
    QTest::newRow("files") << QStringList{"a.onnx", "b.yaml"} << -1;
    QTest::newRow("screenshot") << QStringList{"--example", "x", "--screenshot", "s.png", "--size", "1600x1000"} << -1;
    QTest::newRow("help") << QStringList{"--help"} << 0;
    QTest::newRow("version") << QStringList{"--version"} << 0;
    QTest::newRow("bug report") << QStringList{"--bug-report", "a.tar.gz", "project.yaml"} << -1;
    QTest::newRow("unknown") << QStringList{"--sing"} << 2;
    QTest::newRow("layout") << QStringList{"--layout", "chaos"} << 2;
    QTest::newRow("theme") << QStringList{"--theme", "pink"} << 2;
    QTest::newRow("size") << QStringList{"--size", "big"} << 2;
}

void TestStudioViews::theCommandLine() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    const ParsedCommandLine parsed = parseCommandLine(QStringList{"orrery"} + arguments);
    QCOMPARE(parsed.status.value_or(-1), status);
    QVERIFY(status < 0 || !parsed.text.isEmpty());
}

QTEST_MAIN(TestStudioViews)
#include "tst_studio_views.moc"
