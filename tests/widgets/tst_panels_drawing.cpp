// Pictures of the panels that one draws hardware with, for a person to look at: light, dark and as a projector shows
// them, narrow and wide. Nothing may force a panel wider than its dock, and every control says what it is.

#include "support/panels_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/library/component_palette.h"
#include "widgets/tree/component_tree.h"
#include "widgets/comparison/difference_list.h"
#include "widgets/messages/history_panel.h"
#include "widgets/inspector/inspector.h"
#include "widgets/library/library.h"
#include "widgets/messages/problems_panel.h"

#include <QtTest>
#include <QtWidgets>

using namespace orrery;
using namespace orrery::ui;

namespace {

struct Piece {
    QString name;
    std::unique_ptr<QWidget> widget;
    int height = 700;
};

Component part(ComponentKind kind, const char* name,
               std::initializer_list<std::pair<const char*, const char*>> given = {}) {
    Component component{.kind = kind, .name = name};
    for (const auto& [attribute, text] : given) (void)setAttribute(component, attribute, text);
    return component;
}

/// Two devices, a wire, a fat tree, and a stack of a switch and a ring.
HardwarePtr drawn() {
    Hardware design;
    design.name = "drawn";
    design.root = part(ComponentKind::System, "system");
    Component gpu = part(ComponentKind::Package, "gpu", {{"count", "16"}, {"power_cap", "700 W"}});
    Component stack = part(ComponentKind::Topology, "stack", {{"bandwidth", "450 GB/s"}});
    stack.children = {part(ComponentKind::Topology, "inner", {{"shape", "switch"}, {"size", "8"}}),
                      part(ComponentKind::Topology, "outer", {{"shape", "ring"}, {"size", "2"}})};
    design.root.children = {
        std::move(gpu), part(ComponentKind::Dram, "pool", {{"capacity", "1 TB"}}),
        part(ComponentKind::Link, "wire", {{"from", "gpu"}, {"to", "pool"}, {"bandwidth", "64 GB/s"}}),
        part(ComponentKind::Topology, "tree", {{"shape", "fat-tree"}, {"radix", "8"}, {"bandwidth", "50 GB/s"}}),
        std::move(stack)};
    return std::make_shared<const Hardware>(std::move(design));
}

}  // namespace

class TestPanelsDrawing : public QObject {
    Q_OBJECT

    QUndoStack undo_;

    std::vector<Piece> pieces() {
        const HardwarePtr hardware = fixture::hardware(), design = drawn();
        const auto path = [&](const char* names) { return *findComponent(hardware->root, names); };
        std::vector<Piece> made;
        const auto add = [&made](const char* name, auto widget, int height) {
            auto* raw = widget.get();
            made.push_back({QString::fromUtf8(name), std::move(widget), height});
            return raw;
        };
        add("many", std::make_unique<Inspector>(), 760)
            ->showComponents(hardware, {path("hbm3"), path("l2"), path("smem")});
        add("link", std::make_unique<Inspector>(), 520)->showComponent(design, {2});
        add("network", std::make_unique<Inspector>(), 760)->showComponent(design, {3});
        add("stack", std::make_unique<Inspector>(), 760)->showComponent(design, {4});
        auto* tree = add("tree", std::make_unique<ComponentTreeView>(), 420);
        tree->setHardware(hardware);
        tree->setProblems(fixture::problems());
        auto* problems = add("problems", std::make_unique<ProblemsPanel>(), 320);
        problems->setDiagnostics(fixture::problems());
        problems->model()->setFixProvider([](const Diagnostic& problem) -> std::vector<Fix> {
            if (problem.severity == Severity::Note) return {};
            return {{"Do what is obvious", [](Hardware same) -> Expected<Hardware> { return same; }}};
        });
        add("history", std::make_unique<HistoryPanel>(&undo_), 260);
        auto changed = withAttribute(*hardware, "hbm3.bandwidth", "4 TB/s");
        changed = withAttribute(*changed, "sm.count", "144");
        changed->root.children.front().children.push_back(part(ComponentKind::Buffer, "scratch"));
        add("differences", std::make_unique<DifferenceList>(), 260)
            ->setDesigns(hardware, std::make_shared<const Hardware>(*changed), "H100 SXM", "mine");
        add("differences-none", std::make_unique<DifferenceList>(), 200)
            ->setDesigns(hardware, hardware, "H100 SXM", "mine");
        add("parts", std::make_unique<ComponentPalette>(), 1000);
        add("library", std::make_unique<LibraryPanel>(), 560)->setHardware(hardwareCatalogue());
        return made;
    }

private slots:
    void initTestCase() {
        initialiseApplicationLook();
        Theme::instance().setAnimated(false);
        QVERIFY(QDir().mkpath(ORRERY_TEST_OUTPUT));
        for (const char* words :
             {"Add node", "Link gpu0 to gpu1", "Set hbm3 bandwidth to 4.8 TB/s", "Set sm count to 144"})
            undo_.push(new QUndoCommand(words));
        undo_.setIndex(1);
        undo_.setClean();
        undo_.setIndex(3);
    }
    void cleanup() {
        Theme::instance().setMode(Mode::Light);
        Theme::instance().setPresenter(false);
    }

    void pictures_data() {
        QTest::addColumn<int>("mode");
        QTest::addColumn<bool>("presenter");
        QTest::addColumn<int>("width");
        QTest::newRow("light-280") << int(Mode::Light) << false << 280;
        QTest::newRow("dark-280") << int(Mode::Dark) << false << 280;
        QTest::newRow("light-460") << int(Mode::Light) << false << 460;
        QTest::newRow("presenter-420") << int(Mode::Light) << true << 420;
    }
    void pictures() {
        QFETCH(int, mode);
        QFETCH(bool, presenter);
        QFETCH(int, width);
        Theme::instance().setMode(Mode(mode));
        Theme::instance().setPresenter(presenter);
        for (Piece& piece : pieces()) {
            piece.widget->resize(width, piece.height);
            piece.widget->show();
            QVERIFY(QTest::qWaitForWindowExposed(piece.widget.get()));
            QTest::qWait(piece.name == "library" ? 400 : 20);
            if (QWidget* focused = piece.widget->focusWidget()) focused->clearFocus();
            QCOMPARE(piece.widget->width(), width);
            const QImage image = piece.widget->grab().toImage();
            QSet<QRgb> colours;
            for (int y = 0; y < image.height(); y += 3)
                for (int x = 0; x < image.width(); x += 3) colours.insert(image.pixel(x, y));
            QVERIFY2(colours.size() > 3, qPrintable(piece.name));
            QVERIFY(image.save(QStringLiteral("%1/drawing-%2-%3.png")
                                   .arg(ORRERY_TEST_OUTPUT, piece.name, QString::fromUtf8(QTest::currentDataTag()))));
        }
    }

    void everyControlSaysWhatItIs() {
        QStringList missing;
        for (Piece& piece : pieces()) {
            piece.widget->show();
            for (const QWidget* control : piece.widget->findChildren<QWidget*>()) {
                const bool interactive = control->focusPolicy() != Qt::NoFocus && !control->inherits("QScrollArea");
                const bool internal = control->objectName().startsWith("qt_") || control->inherits("QHeaderView") ||
                                      qobject_cast<const QLineEdit*>(control->parentWidget()) ||
                                      control->inherits("QComboBoxListView") || control->inherits("QMenu") ||
                                      control->parentWidget()->inherits("QTabBar");
                if (!interactive || internal) continue;
                const QString who =
                    piece.name + ": " + control->metaObject()->className() + " " + control->objectName();
                if (control->objectName().isEmpty()) missing << who + " has no objectName";
                if (control->accessibleName().isEmpty()) missing << who + " has no accessibleName";
                if (control->toolTip().isEmpty()) missing << who + " has no toolTip";
            }
        }
        QVERIFY2(missing.isEmpty(), qPrintable("\n" + missing.join('\n')));
    }
};

QTEST_MAIN(TestPanelsDrawing)
#include "tst_panels_drawing.moc"
