// Pictures of every panel, light and dark, narrow and wide, for a person to look at, and what every control of every
// panel must have: an object name, an accessible name, a tooltip.

#include "support/panels_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/welcome/command_palette.h"
#include "widgets/comparison/comparison_view.h"
#include "widgets/library/component_palette.h"
#include "widgets/tree/component_tree.h"
#include "widgets/comparison/difference_list.h"
#include "widgets/messages/history_panel.h"
#include "widgets/inspector/inspector.h"
#include "widgets/messages/jobs_panel.h"
#include "widgets/library/library.h"
#include "widgets/messages/log_panel.h"
#include "widgets/comparison/method_hover_card.h"
#include "widgets/messages/notification_bar.h"
#include "widgets/comparison/operator_table.h"
#include "widgets/messages/problems_panel.h"
#include "widgets/welcome/welcome_page.h"

#include <QtTest>
#include <QtWidgets>

using namespace orrery;
using namespace orrery::ui;

namespace {

std::vector<ExampleCard> examples() {
    return {
        {"first-light",
         "First light",
         "Llama-2 7B decoding on an H100: why one token takes as long as it does.",
         {},
         {}},
        {"resnet", "ResNet-50 on a T4", "A convolutional network on an inference card, layer by layer.", {}, {}},
        {"moe", "Mixture of experts", "Mixtral 8×7B: half of the weights are never read for one token.", {}, {}},
        {"edge", "On the edge", "MobileNetV2 on a phone-class chip, where launches cost more than the work.", {}, {}},
        {"systolic", "A systolic array", "The first TPU, rebuilt from its paper.", {}, {}},
        {"compare", "Methods side by side", "One question to every method: how far apart are the answers?", {}, {}}};
}

struct Piece {
    QString name;
    std::unique_ptr<QWidget> widget;
    QList<QSize> sizes;
};

}  // namespace

class TestPanelsLook : public QObject {
    Q_OBJECT

    Selection selection_;
    QUndoStack undo_;
    std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();

    std::vector<Piece> pieces() {
        const HardwarePtr hardware = fixture::hardware();
        const WorkloadPtr workload = fixture::workload();
        auto snapshot = fixture::ask(hardware, workload);
        snapshot->answers.push_back(fixture::failed());
        const auto path = [&](const char* names) {
            return findComponent(hardware->root, names).value_or(ComponentPath{});
        };
        std::vector<Piece> made;
        const auto add = [&made](QString name, auto widget, QList<QSize> sizes) {
            auto* raw = widget.get();
            made.push_back({std::move(name), std::move(widget), std::move(sizes)});
            return raw;
        };
        const QList<QSize> side{{260, 720}, {460, 720}};
        auto* memory = add("inspector-memory", std::make_unique<Inspector>(), side);
        Hardware edited = *hardware;
        (void)setAttribute(*componentAt(edited.root, path("hbm3")), "bandwidth", "4.8 TB/s");
        memory->setPreset(hardware);
        memory->showComponent(std::make_shared<const Hardware>(edited), path("hbm3"),
                              std::make_shared<const DeviceView>(deviceView(edited).value_or(DeviceView{})));
        memory->setProblems(fixture::problems());
        auto* tensor = add("inspector-tensor", std::make_unique<Inspector>(), side);
        tensor->showComponent(hardware, path("tensor"));
        auto* die = add("inspector-die", std::make_unique<Inspector>(), side);
        die->showComponent(hardware, path("h100"), snapshot->device);
        auto* model = add("inspector-workload", std::make_unique<Inspector>(), side);
        model->showWorkload(workload->recipe, builtinWorkload("llama-2-7b"), workload);
        auto* op = add("inspector-operator", std::make_unique<Inspector>(), side);
        op->showOperator(workload, 2, snapshot->primaryEstimate());
        add("inspector-empty", std::make_unique<Inspector>(), {{260, 400}});
        add("tree", std::make_unique<ComponentTreeView>(), {{260, 420}, {460, 420}})->setHardware(hardware);
        for (int tab = 0; tab < 3; ++tab) {
            auto* library =
                add(QStringLiteral("library%1").arg(tab), std::make_unique<LibraryPanel>(), {{260, 560}, {400, 560}});
            library->setHardware(hardwareCatalogue());
            library->setWorkloads(builtinWorkloads());
            library->setMethods(builtinMethods());
            library->setMethodSet({"roofline", "llm-inference"});
            library->findChild<QTabBar*>()->setCurrentIndex(tab);
        }
        auto* table = add("operators", std::make_unique<OperatorTableView>(&selection_), {{420, 400}, {1240, 480}});
        table->setSnapshot(snapshot);
        selection_.select({2});
        auto* comparison = add("comparison", std::make_unique<ComparisonView>(&selection_), {{420, 800}, {1120, 720}});
        comparison->setSnapshot(snapshot);
        auto* referenced = add("comparison-reference", std::make_unique<ComparisonView>(&selection_), {{1120, 720}});
        referenced->setSnapshot(snapshot);
        referenced->setReference(
            ReferenceValue{snapshot->primaryEstimate()->latency * 1.13, "example of a reference", true});
        add("comparison-empty", std::make_unique<ComparisonView>(&selection_), {{420, 300}})->setSnapshot(nullptr);
        auto* welcome = add("welcome", std::make_unique<WelcomePage>(), {{420, 900}, {1000, 720}, {1440, 900}});
        welcome->setExamples(examples());
        welcome->setRecent({{"/home/ada/projects/decode-study.orrery", {}, "H100 SXM · Llama-2 7B"},
                            {"/home/ada/projects/edge.orrery", "Edge camera", {}},
                            {"/home/ada/old/gone.orrery", {}, {}, false}});
        add("component-palette", std::make_unique<ComponentPalette>(), {{260, 1600}, {280, 900}});
        add("problems", std::make_unique<ProblemsPanel>(), {{260, 240}, {900, 240}})
            ->setDiagnostics(fixture::problems());
        auto* jobs = add("jobs", std::make_unique<JobsPanel>(), {{260, 260}, {900, 260}});
        progress_->setTotal(4000);
        progress_->advance(1200);
        jobs->setState(jobs->addJob("12 devices × 4 models", "results", progress_), JobState::Done);
        jobs->setState(jobs->addJob("Learned model", "epochs", progress_), JobState::Failed,
                       "The training set is empty");
        jobs->addJob("Sweep of batch and bandwidth", "results", progress_);
        auto* log = add("log", std::make_unique<LogPanel>(), {{600, 200}});
        const QDateTime noon(QDate(2026, 11, 20), QTime(12, 0));
        log->append(Severity::Note, "Read h100-sxm: 9 components", noon);
        log->append(Severity::Warning, "l2.bandwidth is unverified", noon.addMSecs(12));
        log->append(Severity::Error, "models/broken.onnx: the file ends in the middle of a tensor", noon.addMSecs(340));
        add("history", std::make_unique<HistoryPanel>(&undo_), {{260, 200}});
        auto* bar = add("notifications", std::make_unique<NotificationBar>(), {{420, 200}, {900, 200}});
        bar->notify(fixture::problems()[1]);
        bar->notify({Severity::Error,
                     "edge.orrery could not be saved: the disk is full",
                     "Free some space, then save again",
                     {{"Save as…", {}}},
                     {},
                     -1});
        bar->notify({Severity::Note, "Saved", {}, {}, {}, -1});
        auto* host = add("palette", std::make_unique<QWidget>(), {{420, 480}, {900, 480}});
        auto* palette = new CommandPalette(host);
        QList<QAction*> actions;
        for (const auto& [text, keys] : {std::pair{"Open…", "Ctrl+O"},
                                         {"Run the study", "Ctrl+R"},
                                         {"Show roofline", "Ctrl+1"},
                                         {"Dark mode", ""},
                                         {"Export picture…", "Ctrl+E"}}) {
            actions << new QAction(QString::fromUtf8(text), host);
            actions.back()->setShortcut(QKeySequence(QString::fromUtf8(keys)));
        }
        palette->setActions(actions);
        palette->setProvider([] {
            std::vector<PaletteEntry> entries;
            for (const CatalogueEntry& entry : hardwareCatalogue())
                entries.push_back(
                    {QString::fromStdString(entry.name), "Device", QString::fromStdString(entry.description), {}, {}});
            return entries;
        });
        return made;
    }

private slots:
    void initTestCase() {
        initialiseApplicationLook();
        Theme::instance().setAnimated(false);
        QVERIFY(QDir().mkpath(ORRERY_TEST_OUTPUT));
        undo_.push(new QUndoCommand("Set hbm3 bandwidth to 4.8 TB/s"));
        undo_.push(new QUndoCommand("Set sm count to 144"));
    }
    void cleanupTestCase() { Theme::instance().setMode(Mode::Light); }

    void pictures_data() {
        QTest::addColumn<int>("mode");
        QTest::newRow("light") << int(Mode::Light);
        QTest::newRow("dark") << int(Mode::Dark);
    }
    void pictures() {
        QFETCH(int, mode);
        Theme::instance().setMode(Mode(mode));
        for (Piece& piece : pieces()) {
            for (const QSize& size : piece.sizes) {
                piece.widget->resize(size);
                piece.widget->show();
                QVERIFY(QTest::qWaitForWindowExposed(piece.widget.get()));
                if (QWidget* focused = piece.widget->focusWidget()) focused->clearFocus();
                if (auto* palette = piece.widget->findChild<CommandPalette*>()) {
                    palette->open();
                    if (size.width() > 500) QTest::keyClicks(palette->line(), "nv h1");
                }
                QCoreApplication::processEvents();
                QCOMPARE(piece.widget->width(), size.width());  // nothing forces a panel wider than its dock
                const QImage image = piece.widget->grab().toImage();
                QSet<QRgb> colours;
                for (int y = 0; y < image.height(); y += 3)
                    for (int x = 0; x < image.width(); x += 3) colours.insert(image.pixel(x, y));
                QVERIFY2(colours.size() > 3, qPrintable(piece.name));
                QVERIFY(image.save(
                    QStringLiteral("%1/panels-%2-%3-%4.png")
                        .arg(ORRERY_TEST_OUTPUT, piece.name, QString::number(size.width()), QTest::currentDataTag())));
            }
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
                                      control->inherits("QComboBoxListView") ||
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

QTEST_MAIN(TestPanelsLook)
#include "tst_panels_look.moc"
