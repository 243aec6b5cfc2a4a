// Whole machines, as a stranger draws them from "Draw your own": palette, library, canvas and inspector on the real
// window. Each is valid, survives saving and reading, and is answered by every live method.

#include "app/document/commands/edit.h"
#include "app/document/commands/project_edits.h"
#include "app/window/dock_set.h"
#include "app/window/hardware_page.h"
#include "app/window/main_window.h"
#include "hardware/validate.h"
#include "support/drag.h"
#include "support/studio_fixture.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/theme.h"
#include "widgets/panels/component_palette.h"
#include "widgets/panels/library.h"

#include <QtWidgets>

#include <cmath>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioStranger : public QObject {
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
        window_->activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        QTRY_VERIFY(window_->isReady());
        ui::Theme::instance().setAnimated(false);
        auto* draw = window_->findChild<QAbstractButton*>("welcome.new");
        QVERIFY(draw && draw->isVisible());
        QTest::mouseClick(draw, Qt::LeftButton);
        QTRY_VERIFY(canvas()->isVisible());
    }
    void cleanup() { window_.reset(); }

    void twoNodesOfEightOverAFatTree();
    void devicesKeepTheirSources();
    void anArrayLikeEyeriss();

private:
    ui::CanvasView* canvas() { return window_->hardwarePage().canvas(); }
    const Component& root() { return window_->document().hardware()->root; }
    const Component& at(const ComponentPath& path) { return *componentAt(root(), path); }
    QRectF boxOf(const ComponentPath& path) {
        const auto& node = canvas()->scene().nodes()[std::size_t(canvas()->scene().find(path))];
        return {canvas()->toView(node.box.topLeft()), canvas()->toView(node.box.bottomRight())};
    }
    /// A free place inside the component, near its lower right corner; of the sheet, `share` of the canvas.
    QPoint roomIn(const ComponentPath& parent, QPointF share) {
        if (parent.empty()) return {int(canvas()->width() * share.x()), int(canvas()->height() * share.y())};
        return (boxOf(parent).bottomRight() - QPointF(4, 4)).toPoint();
    }

    /// Chooses in the palette and clicks inside `parent`; the new part is its last child.
    void place(const QString& id, const ComponentPath& parent, QPointF share = {0.5, 0.5}) {
        window_->docks().reveal("parts");
        auto* palette = window_->findChild<ui::ComponentPalette*>();
        QVERIFY(palette);
        QTRY_VERIFY(palette->isVisible());
        const QModelIndex item = palette->indexOf(id);
        QVERIFY2(item.isValid(), qPrintable(id));
        palette->list()->scrollTo(item);
        QTest::mouseClick(palette->list()->viewport(), Qt::LeftButton, Qt::NoModifier,
                          palette->list()->visualRect(item).center());
        QCOMPARE(canvas()->tool(), ui::CanvasView::Tool::Place);
        const std::size_t before = at(parent).children.size();
        const QPoint where = roomIn(parent, share);
        QTest::mouseMove(canvas(), where);
        QTest::mouseClick(canvas(), Qt::LeftButton, Qt::NoModifier, where);
        QVERIFY2(at(parent).children.size() == before + 1, qPrintable(id));
        canvas()->fitAll();
    }
    /// Drags a device of the library into `parent`.
    void dropDevice(const char* id, const ComponentPath& parent) {
        QMimeData data;
        data.setData("application/x-orrery-hardware", id);
        const std::size_t before = at(parent).children.size();
        QVERIFY(ui::fixture::dropAt(canvas(), roomIn(parent, {0.5, 0.5}), &data, Qt::CopyAction));
        QVERIFY2(at(parent).children.size() > before, id);
        canvas()->fitAll();
    }
    /// Types a value into the inspector's row of the components.
    void type(const ComponentPaths& paths, const QString& attribute, const QString& text) {
        window_->components().select(paths);
        QCoreApplication::processEvents();
        QWidget* field = nullptr;
        const auto find = [&] {
            field = nullptr;
            for (QWidget* one : window_->findChildren<QWidget*>("inspector." + attribute))
                if (one->isVisible()) field = one;
            return field != nullptr;
        };
        if (!find()) {
            for (auto* more : window_->findChildren<QToolButton*>("inspector.more"))
                if (more->isVisible() && !more->isChecked()) QTest::mouseClick(more, Qt::LeftButton);
        }
        QTRY_VERIFY2(find(), qPrintable(attribute));
        field->setFocus();
        const int before = window_->document().undoStack()->index();
        if (auto* line = qobject_cast<QLineEdit*>(field)) {
            line->selectAll();
            QTest::keyClicks(line, text);
            QTest::keyClick(line, Qt::Key_Return);
        } else {
            QTest::keyClicks(field, text);
        }
        QCoreApplication::processEvents();
        QVERIFY2(window_->document().undoStack()->index() == before + 1,
                 qPrintable(attribute + " = " + text + " is taken"));
    }
    /// Types into the library's search and chooses by Enter.
    void choose(int tab, const QString& id, const QString& search) {
        window_->docks().reveal("library");
        auto* library = window_->findChild<ui::LibraryPanel*>();
        QVERIFY(library);
        library->findChild<QTabBar*>("library.tabs")->setCurrentIndex(tab);
        auto* line = library->findChild<QLineEdit*>("library.search");
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, search);
        QVERIFY2(library->list()->model()->rowCount() > 0, qPrintable(id));
        QTest::keyClick(line, Qt::Key_Return);
    }
    std::map<std::string, double> latencies() {
        std::map<std::string, double> found;
        if (!QTest::qWaitFor([this] { return window_->live().snapshot() && window_->live().upToDate(); }, 20000))
            return found;
        for (const ui::Answer& answer : window_->live().snapshot()->answers) {
            if (answer.failure) qWarning("%s: %s", qPrintable(answer.method), toText(*answer.failure).c_str());
            if (answer.estimate) found[answer.method.toStdString()] = answer.estimate->latency.value;
        }
        return found;
    }
    void isAnsweredByAll() {
        const auto found = latencies();
        for (const Method& method : builtinMethods()) {
            QVERIFY2(found.contains(std::string(method.card.id)), std::string(method.card.id).c_str());
            const double latency = found.at(std::string(method.card.id));
            QVERIFY(std::isfinite(latency) && latency > 0);
            qInfo("%s: %.4g ms", std::string(method.card.id).c_str(), latency * 1e3);
        }
    }
    void isValid() {
        for (const Diagnostic& problem : validate(*window_->document().hardware())) {
            qInfo("%s", toText(problem).c_str());
            QVERIFY2(problem.severity != Severity::Error, toText(problem).c_str());
        }
    }
    /// Every short name of a source that the parts give is explained in the design.
    void citesWhatItHas(const Component& part) {
        const auto& sources = window_->document().hardware()->sources;
        const auto known = [&](const std::string& key) {
            return key.empty() || key == "unverified" || key == "edited" ||
                   std::ranges::any_of(sources, [&](const auto& source) { return source.key == key; });
        };
        for (const Attribute& attribute : part.attributes) {
            QVERIFY2(known(attribute.source), attribute.source.c_str());
            if (attribute.name != "source") continue;
            QVERIFY2(known(std::get<std::string>(attribute.value)), std::get<std::string>(attribute.value).c_str());
        }
        for (const Component& child : part.children) citesWhatItHas(child);
    }
    void savesAndReads() {
        const QString file = home_.filePath("drawn.yaml");
        QVERIFY_DONE(window_->document().saveAs(file));
        const std::string saved = window_->document().yaml();
        QVERIFY_DONE(window_->document().load(file));
        QCOMPARE(window_->document().yaml(), saved);
    }
    void picture(const char* name) {
        auto* pages = window_->centralWidget()->findChild<QTabWidget*>();
        pages->setCurrentWidget(&window_->hardwarePage());
        QVERIFY(window_->hardwarePage().isVisible());
        canvas()->fitAll();
        QTest::qWait(50);
        QDir().mkpath(ORRERY_TEST_OUTPUT "/studio");
        QVERIFY(window_->grab().save(QStringLiteral(ORRERY_TEST_OUTPUT "/studio/%1.png").arg(name)));
    }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

// A helper's failed check must end its test.
#define STEP(call)                              \
    do {                                        \
        call;                                   \
        if (QTest::currentTestFailed()) return; \
    } while (false)

void TestStudioStranger::twoNodesOfEightOverAFatTree() {
    STEP(place("node", {}));
    STEP(dropDevice("h100-sxm", {0}));
    STEP(type({{0, 0}}, "count", "8"));
    STEP(place("topology.switch", {0}));
    STEP(type({{0, 1}}, "bandwidth", "450 GB/s"));
    STEP(type({{0}}, "count", "2"));
    STEP(place("topology.fat-tree", {}, {0.5, 0.96}));
    STEP(type({{1}}, "bandwidth", "400 GB/s"));
    QCOMPARE(at({0}).count, 2);
    QCOMPARE(at({0, 0}).count, 8);
    QCOMPARE(at({0, 0}).kind, ComponentKind::Die);
    STEP(isValid());
    STEP(citesWhatItHas(root()));
    STEP(choose(1, "llama-2-7b", "llama-2 7b"));
    STEP(isAnsweredByAll());
    STEP(savesAndReads());
    picture("stranger-fat-tree");
}

// Both files say `sheet` and `whitepaper`, and mean different ones.
void TestStudioStranger::devicesKeepTheirSources() {
    STEP(place("node", {}));
    STEP(dropDevice("h100-sxm", {0}));
    STEP(dropDevice("v100", {0}));
    STEP(citesWhatItHas(root()));
    for (const auto& [child, maker] : {std::pair(0, "H100"), std::pair(1, "V100")}) {
        const auto* key = std::get_if<std::string>(&at({0, child}).find("source")->value);
        const auto& sources = window_->document().hardware()->sources;
        const auto found = std::ranges::find(sources, *key, &Source::key);
        QVERIFY(found != sources.end());
        QVERIFY2(found->text.find(maker) != std::string::npos, found->text.c_str());
    }
    canvas()->setFocus();
    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(window_->document().hardware()->sources.empty());
}

void TestStudioStranger::anArrayLikeEyeriss() {
    const ComponentPath dram{0}, chip{1}, global{1, 0}, pe{1, 1}, ifmap{1, 1, 0}, filter{1, 1, 1}, psum{1, 1, 2},
        mac{1, 1, 3};
    STEP(place("dram", {}, {0.2, 0.5}));
    STEP(place("die", {}, {0.95, 0.5}));
    STEP(place("buffer", chip));
    STEP(place("array", chip));
    for (int file = 0; file < 3; ++file) STEP(place("register_file", pe));
    STEP(place("mac", pe));
    const std::tuple<ComponentPath, const char*, const char*> typed[] = {
        {dram, "clock", "60 MHz"},
        {dram, "capacity", "1 GB"},
        {dram, "bandwidth", "8 B/cycle"},
        {dram, "word", "16 bit"},
        {dram, "relative_energy", "200"},
        {chip, "name", "chip"},
        {chip, "clock", "200 MHz"},
        {chip, "power_cap", "278 mW"},
        {chip, "process", "65 nm"},
        {chip, "platform", "array"},
        {chip, "energy_table", "ratio-65nm"},
        {chip, "launch_overhead", "100 us"},
        {global, "name", "global"},
        {global, "capacity", "108 KiB"},
        {global, "word", "16 bit"},
        {global, "block", "4"},
        {global, "keeps", "inputs, outputs"},
        {global, "relative_energy", "6"},
        {pe, "name", "pe"},
        {pe, "mesh", "14 x 12"},
        {pe, "dataflow", "row-stationary"},
        {pe, "noc", "row-column-multicast"},
        {ifmap, "name", "ifmap_spad"},
        {ifmap, "capacity", "24 B"},
        {ifmap, "bandwidth", "2 B/cycle"},
        {ifmap, "keeps", "inputs"},
        {filter, "name", "filter_spad"},
        {filter, "capacity", "448 B"},
        {filter, "bandwidth", "2 B/cycle"},
        {filter, "keeps", "weights"},
        {psum, "name", "psum_spad"},
        {psum, "capacity", "48 B"},
        {psum, "bandwidth", "4 B/cycle"},
        {psum, "keeps", "outputs"},
        {mac, "width", "16 bit"},
    };
    for (const auto& [path, attribute, text] : typed) STEP(type({path}, attribute, text));
    STEP(type({ifmap, filter, psum}, "word", "16 bit"));
    STEP(type({ifmap, filter, psum}, "relative_energy", "1"));
    QCOMPARE(at(pe).mesh, (std::vector<std::int64_t>{14, 12}));
    STEP(isValid());
    STEP(choose(1, "resnet-50", "resnet-50"));
    QVERIFY(latencies().empty());  // fp16 on a machine of int16, as the preset says too
    WorkloadOptions options = window_->document().workload()->recipe.options;
    options.weights = options.activations = DType::I16;
    QVERIFY_DONE(window_->document().apply(setWorkloadOptionsEdit(*window_->document().state(), 0, options)));
    const auto drawn = latencies();
    STEP(savesAndReads());
    picture("stranger-eyeriss");
    STEP(choose(0, "eyeriss-like", "eyeriss"));
    QCOMPARE(window_->document().hardware()->name, std::string("Eyeriss-like array"));
    const auto preset = latencies();
    QCOMPARE(drawn.size(), std::size_t(2));
    QCOMPARE(preset.size(), drawn.size());
    for (const auto& [method, latency] : preset) {
        qInfo("%s: drawn %.6g ms, preset %.6g ms", method.c_str(), drawn.at(method) * 1e3, latency * 1e3);
        QVERIFY2(std::abs(drawn.at(method) - latency) <= 1e-9 * latency, method.c_str());
    }
}

QTEST_MAIN(TestStudioStranger)
#include "tst_studio_stranger.moc"
