// Whole machines, as a stranger draws them from "Draw your own": palette, library, canvas and inspector on the real
// window. Each is valid, survives saving and reading, and is answered by every live method.

#include "app/document/commands/edit.h"
#include "app/document/commands/project_edits.h"
#include "app/window/evidence/measure_dialog.h"
#include "app/window/scenario_bar.h"
#include "app/window/studio.h"
#include "hardware/check/validate.h"
#include "hardware/network/links.h"
#include "support/studio_window.h"
#include "widgets/library/library.h"
#include "widgets/messages/problems_model.h"
#include "widgets/messages/problems_panel.h"

#include <cmath>
#include <map>
#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioStranger : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { startDrawing(); }
    void cleanup() { window.reset(); }

    void twoNodesOfEightOverAFatTree();
    void devicesKeepTheirSources();
    void anArrayLikeEyeriss();
    void eightLinkedAsInADgx1();
    void aDeviceGoesToTheNearestThatMayHoldIt();
    void aMemoryAsksForWhatItNeeds();
    void rowsAndColumnsAreACount();
    void withoutADesignOneTextStands();
    void theEmptySheetLeadsToADesign();
    void anEmptyViewOffersWhatIsMissing();
    void anEmptyPageOffersWhatIsMissing();
    void anExamplesInstructionStaysInSight();
    void theSoftwareIsSaid();
    void aRunLeavesThePageItsRoom();
    void aMissingDriverIsSaid();

private:
    /// Types into the library's search and chooses by Enter.
    void choose(int tab, const QString& id, const QString& search) {
        window->docks().reveal("library");
        auto* library = window->findChild<ui::LibraryPanel*>();
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
        if (!QTest::qWaitFor([this] { return window->live().snapshot() && window->live().upToDate(); }, 20000))
            return found;
        for (const ui::Answer& answer : window->live().snapshot()->answers) {
            if (answer.failure && answer.failure->code != "method.not-applicable")
                qWarning("%s: %s", qPrintable(answer.method), toText(*answer.failure).c_str());
            if (answer.estimate) found[answer.method.toStdString()] = answer.estimate->latency.value;
        }
        return found;
    }
    void isAnsweredByAll() {
        const auto found = latencies();
        QVERIFY(found.size() >= 4);
        for (const std::string& id : window->document().state()->methods) {
            const Method& method = *findMethod(id);
            const auto& platforms = method.card.platforms;
            if (std::ranges::find(platforms, "GPU") == platforms.end()) continue;  // made for devices of another kind
            QVERIFY2(found.contains(std::string(method.card.id)), std::string(method.card.id).c_str());
            const double latency = found.at(std::string(method.card.id));
            QVERIFY(std::isfinite(latency) && latency > 0);
            qInfo("%s: %.4g ms", std::string(method.card.id).c_str(), latency * 1e3);
        }
    }
    void isValid() {
        for (const Diagnostic& problem : validate(*window->document().hardware())) {
            qInfo("%s", toText(problem).c_str());
            QVERIFY2(problem.severity != Severity::Error, toText(problem).c_str());
        }
    }
    /// Every short name of a source that the parts give is explained in the design.
    void citesWhatItHas(const Component& part) {
        const auto& sources = window->document().hardware()->sources;
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
};

void TestStudioStranger::twoNodesOfEightOverAFatTree() {
    STEP(placeIn("node", {}));
    STEP(dropDevice("h100-sxm", {0}, roomIn({0})));
    // Larger than what the view showed, it is seen whole all the same.
    QVERIFY(canvas()->visibleArea().contains(canvas()->scene().nodes()[canvas()->scene().find({0, 0})].box));
    STEP(type({{0, 0}}, "count", "8"));
    STEP(placeIn("topology.switch", {0}));
    STEP(type({{0, 1}}, "bandwidth", "450 GB/s"));
    STEP(type({{0}}, "count", "2"));
    STEP(placeIn("topology.fat-tree", {}, {0.5, 0.96}));
    STEP(type({{1}}, "bandwidth", "400 GB/s"));
    QCOMPARE(at({0}).count, 2);
    QCOMPARE(at({0, 0}).count, 8);
    QCOMPARE(at({0, 0}).kind, ComponentKind::Die);
    STEP(isValid());
    STEP(citesWhatItHas(root()));
    STEP(choose(1, "llama-2-7b", "llama-2 7b"));
    STEP(isAnsweredByAll());
    STEP(savesAndReads());
    STEP(pictureOfDrawing("stranger-fat-tree"));
}

// Both files say `sheet` and `whitepaper`, and mean different ones.
void TestStudioStranger::devicesKeepTheirSources() {
    STEP(placeIn("node", {}));
    STEP(dropDevice("h100-sxm", {0}, roomIn({0})));
    STEP(dropDevice("v100", {0}, roomIn({0})));
    STEP(citesWhatItHas(root()));
    for (const auto& [child, maker] : {std::pair(0, "H100"), std::pair(1, "V100")}) {
        const auto* key = std::get_if<std::string>(&at({0, child}).find("source")->value);
        const auto& sources = window->document().hardware()->sources;
        const auto found = std::ranges::find(sources, *key, &Source::key);
        QVERIFY(found != sources.end());
        QVERIFY2(found->text.find(maker) != std::string::npos, found->text.c_str());
    }
    canvas()->setFocus();
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(window->document().hardware()->sources.empty());
}

void TestStudioStranger::anArrayLikeEyeriss() {
    const ComponentPath dram{0}, chip{1}, global{1, 0}, pe{1, 1}, ifmap{1, 1, 0}, filter{1, 1, 1}, psum{1, 1, 2},
        mac{1, 1, 3};
    STEP(placeIn("dram", {}, {0.2, 0.5}));
    STEP(placeIn("die", {}, {0.95, 0.5}));
    STEP(placeIn("buffer", chip));
    STEP(placeIn("array", chip));
    for (int file = 0; file < 3; ++file) STEP(placeIn("register_file", pe));
    STEP(placeIn("mac", pe));
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
    QVERIFY(!latencies().empty());  // fp16 on a machine of int16: it answers in its own type
    WorkloadOptions options = window->document().workload()->recipe.options;
    options.weights = options.activations = DType::I16;
    QVERIFY_DONE(window->document().apply(setWorkloadOptionsEdit(*window->document().state(), 0, options)));
    const auto drawn = latencies();
    STEP(savesAndReads());
    STEP(pictureOfDrawing("stranger-eyeriss"));
    STEP(choose(0, "eyeriss-like", "eyeriss"));
    QCOMPARE(window->document().hardware()->name, std::string("Eyeriss-like array"));
    const auto preset = latencies();
    QVERIFY(drawn.size() >= 2);
    QCOMPARE(preset.size(), drawn.size());
    for (const auto& [method, latency] : preset) {
        qInfo("%s: drawn %.6g ms, preset %.6g ms", method.c_str(), drawn.at(method) * 1e3, latency * 1e3);
        QVERIFY2(std::abs(drawn.at(method) - latency) <= 1e-9 * latency, method.c_str());
    }
}

// NVLink's hybrid cube mesh, with two links between some pairs: as the preset has it from NVIDIA's figure and NCCL's
// reading, drawn here from dot to dot.
void TestStudioStranger::eightLinkedAsInADgx1() {
    STEP(placeIn("node", {}));
    for (int gpu = 0; gpu < 8; ++gpu) {
        // At the right border of the node for the upper row, at its lower border for the lower one: there is no room
        // yet, the node makes it.
        QPoint where = roomIn({0});
        if (gpu > 0) {
            const QRectF node = boxOf({0}), above = boxOf({0, gpu < 4 ? 0 : gpu - 4});
            where = gpu < 4 ? QPointF(node.right() - 5, above.center().y()).toPoint()
                            : QPointF(above.center().x(), node.bottom() - 5).toPoint();
        }
        STEP(dropDevice("v100", {0}, where));
        STEP(type({{0, gpu}}, "name", QStringLiteral("gpu%1").arg(gpu)));
    }
    for (int gpu = 0; gpu < 8; ++gpu) {
        for (int other = 0; other < gpu; ++other)
            QVERIFY2(!boxOf({0, gpu}).intersects(boxOf({0, other})), "nothing is placed over another");
    }
    canvas()->fitAll();
    struct Wire {
        int from, to, links;
    };
    const Wire mesh[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
                         {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
    int drawn = 8;
    for (const Wire& wire : mesh) {
        const QRectF a = boxOf({0, wire.from}), b = boxOf({0, wire.to});
        const bool down = wire.to == wire.from + 4, next = wire.to == wire.from + 1;
        const bool upper = wire.from < 4;
        // To the neighbour from side to side, to the other row from below to above, else over the others' heads.
        const auto dot = [&](const QRectF& box, bool first) -> QPointF {
            if (down) return {box.center().x(), first ? box.bottom() : box.top()};
            if (next) return {first ? box.right() : box.left(), box.center().y()};
            return {box.center().x(), upper ? box.top() : box.bottom()};
        };
        STEP(drawLink(dot(a, true).toPoint(), dot(b, false).toPoint()));
        const std::vector<LinkEnds> ends = linkEnds(root());
        const auto made = std::ranges::find(ends, ComponentPath{0, drawn}, &LinkEnds::link);
        QVERIFY(made != ends.end() && !made->broken);
        QCOMPARE(*made->from, (ComponentPath{0, wire.from}));
        QCOMPARE(*made->to, (ComponentPath{0, wire.to}));
        QCOMPARE(made->fromPort, std::string(down ? "bottom" : next ? "right" : upper ? "top" : "bottom"));
        QCOMPARE(made->toPort, std::string(down ? "top" : next ? "left" : upper ? "top" : "bottom"));
        STEP(type({{0, drawn}}, "bandwidth", "25 GB/s"));
        if (wire.links > 1) STEP(type({{0, drawn}}, "count", QString::number(wire.links)));
        ++drawn;
    }
    STEP(isValid());
    for (const Diagnostic& problem : validate(*window->document().hardware()))
        QVERIFY2(problem.code != "hardware.disconnected", toText(problem).c_str());
    const auto pairs = [](const Component& node) {
        std::map<std::set<std::string>, std::int64_t> found;
        for (const LinkEnds& ends : linkEnds(node)) {
            if (!ends.from || !ends.to || ends.from->size() != 1) continue;
            const std::string a(nameOf(*componentAt(node, *ends.from))), b(nameOf(*componentAt(node, *ends.to)));
            if (a.starts_with("gpu") && b.starts_with("gpu")) found[{a, b}] += componentAt(node, ends.link)->count;
        }
        return found;
    };
    const auto preset = loadHardware("dgx-1-v100");
    QVERIFY(preset);
    QCOMPARE(pairs(at({0})), pairs(preset->hardware.root.children.front()));
    STEP(citesWhatItHas(root()));
    STEP(choose(1, "llama-2-7b", "llama-2 7b"));
    STEP(isAnsweredByAll());
    STEP(savesAndReads());
    STEP(pictureOfDrawing("stranger-dgx-1"));
}

// Dropped on a part that may not hold it, or on a wire, it goes to what is around.
void TestStudioStranger::aDeviceGoesToTheNearestThatMayHoldIt() {
    STEP(placeIn("node", {}));
    STEP(dropDevice("v100", {0}, roomIn({0})));
    STEP(dropDevice("v100", {0}, boxOf({0, 0}).center().toPoint()));
    STEP(
        drawLink(boxOf({0, 0}).topLeft().toPoint() + QPoint(20, 6), boxOf({0, 1}).topLeft().toPoint() + QPoint(20, 6)));
    QCOMPARE(at({0}).children.size(), std::size_t(3));
    const auto& link = canvas()->scene().links().back();
    const QPointF middle = canvas()->toView((link.line.first() + link.line.at(1)) / 2);
    STEP(dropDevice("v100", {0}, middle.toPoint()));
    QCOMPARE(at({0}).children.size(), std::size_t(4));
    QVERIFY(at({0}).children[0].name != at({0}).children[1].name);
    for (const int a : {0, 1, 3}) {
        for (const int b : {0, 1, 3}) QVERIFY(a == b || !boxOf({0, a}).intersects(boxOf({0, b})));
    }
}

// What a part is of little use without stands first, and a problem leads to its field, once for all methods.
// The page says what to do; the canvas under it must not say it again in other words.
void TestStudioStranger::withoutADesignOneTextStands() {
    STEP(start());
    window->studio().router.show(QStringLiteral("hardware"));
    QTRY_VERIFY(canvas()->isVisible());
    QVERIFY(!window->document().hardware());
    QImage picture(canvas()->size(), QImage::Format_RGB32);
    canvas()->render(&picture, {}, {}, QWidget::DrawWindowBackground);
    std::set<QRgb> inks;
    const QRect middle(picture.rect().center() - QPoint(200, 40), QSize(400, 80));
    for (int y = middle.top(); y <= middle.bottom(); ++y)
        for (int x = middle.left(); x <= middle.right(); ++x) inks.insert(picture.pixel(x, y));
    QCOMPARE(inks.size(), std::size_t(1));
}

// An architect types 12x11 where 132 would stand: a grid of copies, as one step.
void TestStudioStranger::rowsAndColumnsAreACount() {
    STEP(choose(0, "h100-sxm", "h100 sxm"));
    const ComponentPath sm = findComponent(root(), "sm").value();
    const Component before = at(sm);
    QCOMPARE(before.count, std::int64_t{132});
    STEP(type({sm}, "count", "12x11"));
    QCOMPARE(at(sm).count, std::int64_t{1});
    QCOMPARE(at(sm).mesh, (std::vector<std::int64_t>{12, 11}));
    QVERIFY2(window->document().undoStack()->undoText().contains("12×11"),
             qPrintable(window->document().undoStack()->undoText()));
    window->document().undoStack()->undo();
    QCOMPARE(at(sm).count, std::int64_t{132});
    QVERIFY(at(sm).mesh.empty());
    // Half of it is refused, and says what is wanted.
    const int steps = window->document().undoStack()->index();
    QLineEdit* line = nullptr;
    for (auto* one : window->findChildren<QLineEdit*>("inspector.count"))
        if (one->isVisible()) line = one;
    QVERIFY(line);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, "12x");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(window->document().undoStack()->index(), steps);
    QCOMPARE(at(sm).count, std::int64_t{132});
    // As people type it; another grid, and a number, stand in its place.
    STEP(type({sm}, "count", "12X11"));
    QCOMPARE(at(sm).mesh, (std::vector<std::int64_t>{12, 11}));
    STEP(type({sm}, "count", QString::fromUtf8("6×22")));
    QCOMPARE(at(sm).mesh, (std::vector<std::int64_t>{6, 22}));
    QCOMPARE(at(sm).instances(), std::int64_t{132});
    STEP(type({sm}, "count", "132"));
    QCOMPARE(at(sm).count, std::int64_t{132});
    QVERIFY(at(sm).mesh.empty());
}

// What the empty sheet names can be clicked there: first the library, then a design of one's own.
void TestStudioStranger::theEmptySheetLeadsToADesign() {
    STEP(start());
    window->resize(1280, 720);
    window->studio().router.show(QStringLiteral("hardware"));
    auto* text = window->findChild<QLabel*>("canvas.empty");
    QTRY_VERIFY(text && text->isVisible());
    window->docks().reveal("parts");
    bool library = false;
    for (int y = 4; y < text->height() && !window->document().hardware(); y += 8)
        for (int x = 4; x < text->width() && !window->document().hardware(); x += 12) {
            QTest::mouseClick(text, Qt::LeftButton, {}, QPoint(x, y));
            const auto* devices = window->findChild<ui::LibraryPanel*>();
            library |= devices && devices->isVisible();
        }
    QVERIFY2(library, "Choose a device");
    QVERIFY2(window->document().hardware() != nullptr, "draw your own");
    QVERIFY(text->testAttribute(Qt::WA_TransparentForMouseEvents));
}

void TestStudioStranger::anEmptyPageOffersWhatIsMissing() {
    STEP(start());
    Router& router = window->studio().router;
    const auto button = [&](const char* id) {
        router.show(QLatin1String(id));
        return router.page(QLatin1String(id))->findChild<QPushButton*>("emptyStateButton");
    };
    for (const auto& [id, says] : {std::pair{"gpu", "Choose a device"}, {"explore", "Open an example"}}) {
        QTRY_VERIFY2(button(id) && button(id)->isVisible(), id);
        QCOMPARE(button(id)->text(), QString(says));
    }
    QTRY_VERIFY(button("compare") && button("compare")->isVisible());
    QTest::mouseClick(button("compare"), Qt::LeftButton);
    QCOMPARE(router.front(), router.pages().front());
}

// With a design and no model, "Open an example" would lead away from the design.
void TestStudioStranger::anEmptyViewOffersWhatIsMissing() {
    STEP(placeIn("node", {}));
    STEP(dropDevice("h100-sxm", {0}, roomIn({0})));
    for (const char* id : {"roofline", "comparison", "timeline"}) {
        window->docks().reveal(QLatin1String(id));
        auto* button = window->findChild<QPushButton*>(QLatin1String(id) + QLatin1String("-empty-action"));
        QTRY_VERIFY2(button && button->isVisible(), id);
        QCOMPARE(button->text(), QString("Choose a model"));
        QWidget* view = button->parentWidget()->parentWidget();
        const QPoint middle = button->mapTo(view, button->rect().center());
        QVERIFY2(view->childAt(middle) == button, id);  // and not under what the view shows otherwise
        window->docks().reveal("parts");
        QTest::mouseClick(button, Qt::LeftButton);
        auto* library = window->findChild<ui::LibraryPanel*>();
        QTRY_VERIFY2(library && library->isVisible(), id);
        QCOMPARE(library->findChild<QTabBar*>("library.tabs")->currentIndex(), 1);
    }
    STEP(choose(1, "resnet-50", "resnet-50"));
    QTRY_VERIFY_WITH_TIMEOUT(!latencies().empty(), 20000);
    auto* button = window->findChild<QPushButton*>("roofline-empty-action");
    QTRY_VERIFY(!button->isVisible());
}

void TestStudioStranger::aMemoryAsksForWhatItNeeds() {
    const auto visible = [this](const QString& name) -> QWidget* {
        for (QWidget* one : window->findChildren<QWidget*>(name))
            if (one->isVisible()) return one;
        return nullptr;
    };
    STEP(placeIn("die", {}));
    STEP(placeIn("tensor_unit", {0}));
    STEP(placeIn("dram", {0}));
    STEP(type({{0}}, "clock", "1 GHz"));
    window->components().select({{0, 0}});
    QTRY_VERIFY(visible("inspector.macs.add"));
    QStringList types;
    for (const QAction* each : qobject_cast<QToolButton*>(visible("inspector.macs.add"))->menu()->actions())
        types << each->text();
    QVERIFY(types.contains("bf16") && types.contains("int8"));
    QVERIFY2(!types.contains("string") && !types.contains("bool"), qPrintable(types.join(' ')));
    qobject_cast<QToolButton*>(visible("inspector.macs.add"))->menu()->actions().at(types.indexOf("bf16"))->trigger();
    // The next keys are the number of the type that was chosen, and go nowhere else.
    QTRY_VERIFY(visible("inspector.macs.bf16") && window->focusWidget() == visible("inspector.macs.bf16"));
    QCOMPARE(qobject_cast<QLineEdit*>(visible("inspector.macs.bf16"))->selectedText(), QString("1/cycle"));
    STEP(type({{0, 0}}, "macs.bf16", "4096/cycle"));

    window->components().select({{0, 1}});
    for (const char* needed : {"inspector.capacity", "inspector.bandwidth"}) {
        QTRY_VERIFY2(visible(needed), needed);
        const auto* field = qobject_cast<QLineEdit*>(visible(needed));
        QVERIFY(field && field->text().isEmpty() && field->placeholderText().startsWith("e.g. "));
    }
    // One of it, as nobody said otherwise: that waits behind the button.
    if (auto* more = qobject_cast<QToolButton*>(visible("inspector.more")); more && more->isChecked())
        QTest::mouseClick(more, Qt::LeftButton);
    QVERIFY(visible("inspector.more") && !visible("inspector.ranks"));

    STEP(choose(1, "llama-2-7b", "llama-2 7b"));
    QTRY_VERIFY_WITH_TIMEOUT(window->live().snapshot() && window->live().upToDate(), 20000);
    QVERIFY(!window->live().snapshot()->primaryEstimate());
    window->docks().reveal("problems");
    auto* panel = window->findChild<ui::ProblemsPanel*>();
    QVERIFY(panel);
    const QAbstractItemModel* listed = panel->list()->model();
    QModelIndex problem;
    for (int row = 0; row < listed->rowCount(); ++row) {
        const QModelIndex index = listed->index(row, 0);
        for (const int role : {int(Qt::DisplayRole), int(ui::ProblemsModel::HintRole), int(Qt::ToolTipRole)})
            QVERIFY2(!index.data(role).toString().contains('`'), qPrintable(index.data(role).toString()));
        if (!index.data(ui::ProblemsModel::PlaceRole).toString().contains("dram.bandwidth")) continue;
        QVERIFY2(!problem.isValid(), "one problem is listed once");
        problem = index;
    }
    QVERIFY(problem.isValid());
    QVERIFY(problem.data(ui::ProblemsModel::HintRole).toString().contains("methods say so"));
    for (const QLabel* label : window->findChildren<QLabel*>())
        QVERIFY2(!label->isVisible() || !label->text().contains('`'), qPrintable(label->text()));

    panel->list()->scrollTo(problem);
    QTest::mouseClick(panel->list()->viewport(), Qt::LeftButton, {}, panel->list()->visualRect(problem).center());
    QTRY_VERIFY(window->focusWidget() && window->focusWidget()->objectName() == "inspector.bandwidth");
    QTest::keyClicks(window->focusWidget(), "100 GB/s");
    QTest::keyClick(window->focusWidget(), Qt::Key_Return);
    STEP(type({{0, 1}}, "capacity", "64 GB"));
    STEP(isValid());
    QTRY_VERIFY_WITH_TIMEOUT(window->live().upToDate() && window->live().snapshot()->primaryEstimate(), 20000);
}

// It says what to do while one does it; put away it comes back with the next project.
void TestStudioStranger::anExamplesInstructionStaysInSight() {
    auto* note = window->findChild<QWidget*>("projectNote");
    QVERIFY(note && !note->isVisible());
    const auto words = [&] { return note->findChild<QLabel*>("projectNote.words")->text(); };
    QVERIFY_DONE(window->document().load(ORRERY_SOURCE "/presets/examples/first-light.yaml"));
    QVERIFY(note->isVisible());
    QVERIFY2(words().contains("Drag the bandwidth"), qPrintable(words()));
    STEP(type({{0, 0}}, "bandwidth", "4 TB/s"));
    QVERIFY(note->isVisible());
    QTest::mouseClick(note->findChild<QAbstractButton*>("projectNote.close"), Qt::LeftButton);
    QVERIFY(!note->isVisible());
    QVERIFY(!window->actions().find("viewNote")->isChecked());
    QVERIFY_DONE(window->document().load(ORRERY_SOURCE "/presets/examples/prefill-and-decode.yaml"));
    QVERIFY(note->isVisible());
    QVERIFY(window->actions().find("viewNote")->isChecked());
    QVERIFY_DONE(window->document().load(ORRERY_SOURCE "/presets/examples/which-training-plan.yaml"));
    QVERIFY2(words().contains("orrery-cli plan") && !words().contains('`'), qPrintable(words()));
    // Its words are read in a window that turns dark before it is first shown, too.
    window = std::make_unique<MainWindow>();
    window->setTheme(true);
    QVERIFY_DONE(window->document().load(ORRERY_SOURCE "/presets/examples/prefill-and-decode.yaml"));
    window->show();
    QTRY_VERIFY(window->isReady());
    note = window->findChild<QWidget*>("projectNote");
    QVERIFY(note->isVisible());
    QCoreApplication::processEvents();
    const QImage picture = note->grab().toImage();
    int brightest = 0;
    const int end = picture.width() * 3 / 4;  // the close button is bright by itself
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 8; x < end; ++x) brightest = std::max(brightest, qGray(picture.pixel(x, y)));
    window->setTheme(false);
    QVERIFY2(brightest > 180, qPrintable(QString::number(brightest)));
}

// Whose kernels they are: chosen beside the task, undone like any edit, and the answer doubts what it was not fitted
// to.
void TestStudioStranger::theSoftwareIsSaid() {
    QVERIFY_DONE(window->document().load(ORRERY_SOURCE "/presets/examples/prefill-and-decode.yaml"));
    auto* chooser = window->findChild<Chooser*>("taskChooser");
    QVERIFY(chooser);
    const auto choice = [&](const QString& name) -> QAction* {
        emit chooser->choices()->aboutToShow();
        const auto menus = chooser->choices()->findChildren<QMenu*>("softwareMenu");
        if (menus.size() != 1) return nullptr;  // those of before are gone
        return menus.front()->findChild<QAction*>(name);
    };
    QVERIFY(choice("software-") && choice("software-")->isChecked());
    const auto software = [this] { return window->document().state()->scenarios.front().software; };
    QAction* eager = choice("software.eager");
    QVERIFY(eager);
    eager->trigger();
    QVERIFY(software().graphs == false);
    QVERIFY(choice("software.eager")->isChecked());
    QVERIFY_DONE(window->document().apply(setSoftwareEdit(*window->document().state(), "vLLM 0.24.0(graphs=off)")));
    QAction* named = choice("software-vLLM 0.24.0(graphs=off)");
    QVERIFY(named && named->isChecked());
    QVERIFY(!setSoftwareEdit(*window->document().state(), "7up"));
    choice("software-")->trigger();
    QVERIFY(software().empty());
    window->document().undoStack()->undo();
    QCOMPARE(software().engine, std::string("vLLM 0.24.0"));
}

// On a page that has the window to itself, a run shows its progress without taking most of it.
void TestStudioStranger::aRunLeavesThePageItsRoom() {
    QVERIFY_DONE(window->document().load(ORRERY_SOURCE "/presets/examples/first-light.yaml"));
    window->studio().router.show(QStringLiteral("gpu"));
    auto* jobs = window->docks().dock("jobs");
    QVERIFY(!jobs->isVisible());
    QTest::keyClick(window.get(), Qt::Key_F5);
    QTRY_VERIFY(jobs->isVisible());
    QTRY_VERIFY2(jobs->height() < window->height() * 3 / 10, qPrintable(QString::number(jobs->height())));
}

// The words of a refusal come whole, and press nothing above them together.
void TestStudioStranger::aMissingDriverIsSaid() {
    MeasureDialog dialog;
    dialog.show();
    QVERIFY(QTest::qWaitForWindowExposed(&dialog));
    dialog.findChild<QComboBox*>("measure.machine")->setCurrentIndex(1);
    for (const auto* box : dialog.findChildren<QCheckBox*>())
        if (box->objectName() == "measure.softmax") QVERIFY(!box->isEnabled());
    QTest::mouseClick(dialog.findChild<QPushButton*>("measure.start"), Qt::LeftButton);
    const auto said = [&] {
        QString all;
        for (const auto* label : dialog.findChildren<QLabel*>()) all += label->text();
        return all;
    };
    if (!QTest::qWaitFor([&] { return said().contains("libcuda.so.1 is not here"); }, 3000)) {
        QTest::mouseClick(dialog.findChild<QPushButton*>("measure.stop"), Qt::LeftButton);
        QSKIP("this machine has NVIDIA's driver");
    }
    QVERIFY2(!said().contains("[measure."), qPrintable(said()));
    for (const auto* box : dialog.findChildren<QCheckBox*>())
        QVERIFY2(box->height() >= box->minimumSizeHint().height(), qPrintable(box->text()));
}

QTEST_MAIN(TestStudioStranger)
#include "tst_studio_stranger.moc"
