// Does the inspector say exactly what the mouse and the keys did? A small document stands in for the studio: it takes
// the edits and shows the new snapshot at once, as the studio does.

#include "support/panels_fixture.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"
#include "widgets/inspector/attribute_row.h"
#include "widgets/inspector/inspector.h"

#include <QtTest>
#include <QtWidgets>

using namespace orrery;
using namespace orrery::ui;

namespace {

struct Edit {
    QString attribute, text;
    EditPhase phase;
};

/// Takes edits as the studio's document does.
struct Desk {
    Inspector inspector;
    HardwarePtr hardware = fixture::hardware();
    ComponentPath path;
    std::vector<Edit> edits;
    QStringList removed;

    explicit Desk(const char* component) {
        path = *findComponent(hardware->root, component);
        QObject::connect(
            &inspector, &Inspector::attributeEdited, &inspector,
            [this](const ComponentPath& at, const QString& attribute, const QString& text, EditPhase phase) {
                edits.push_back({attribute, text, phase});
                Hardware next = *hardware;
                if (setAttribute(*componentAt(next.root, at), attribute.toStdString(), text.toStdString())) show(next);
            });
        QObject::connect(&inspector, &Inspector::attributeRemoved, &inspector,
                         [this](const ComponentPath& at, const QString& attribute) {
                             removed << attribute;
                             Hardware next = *hardware;
                             if (setAttribute(*componentAt(next.root, at), attribute.toStdString(), "")) show(next);
                         });
        inspector.resize(300, 700);
        show(*hardware);
        inspector.show();
        inspector.activateWindow();
        (void)QTest::qWaitForWindowActive(&inspector);
    }
    void show(Hardware next) {
        hardware = std::make_shared<const Hardware>(std::move(next));
        inspector.showComponent(hardware, path);
    }
    template <class T>
    T* find(const char* name) {
        return inspector.findChild<T*>(QString::fromLatin1(name));
    }
    double bandwidth() const {
        return std::get<Measure>(componentAt(hardware->root, path)->find("bandwidth")->value).si;
    }
};

void retype(ValueEdit* line, const QString& text) {
    QTest::mouseClick(line, Qt::LeftButton);
    line->selectAll();
    QTest::keyClicks(line, text);
}

}  // namespace

class TestPanelsInspector : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void showsTheSpellingOfTheFile() {
        Desk desk("hbm3");
        QCOMPARE(desk.find<ValueEdit>("inspector.bandwidth")->text(), "3.35 TB/s");
        QCOMPARE(desk.find<ValueEdit>("inspector.capacity")->text(), "80 GB");
    }

    void enterCommitsOnceWithTheTextAsTyped() {
        Desk desk("hbm3");
        auto* line = desk.find<ValueEdit>("inspector.capacity");
        retype(line, "96GiB");
        QVERIFY(desk.edits.empty());  // typing alone edits nothing
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.edits.size(), 1u);
        QCOMPARE(desk.edits[0].attribute, "capacity");
        QCOMPARE(desk.edits[0].text, "96GiB");
        QCOMPARE(desk.edits[0].phase, EditPhase::Commit);
        QCOMPARE(line->text(), "96GiB");  // and it is not spelt anew
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.edits.size(), 1u);
    }

    // 96 typed over 80 GB is no 96 bytes.
    void aBareNumberKeepsItsUnit() {
        Desk desk("hbm3");
        auto* line = desk.find<ValueEdit>("inspector.capacity");
        retype(line, "96");
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.edits.back().text, "96 GB");
        QCOMPARE(line->text(), "96 GB");
        retype(line, "1e3");
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.edits.back().text, "1e3 GB");

        Desk other("h100");
        auto* overhead = other.find<ValueEdit>("inspector.launch_overhead");
        QCOMPARE(overhead->placeholderText(), "3 µs");
        retype(overhead, "5");
        QTest::keyClick(overhead, Qt::Key_Return);
        QCOMPARE(other.edits.back().text, "5 µs");

        const auto typedOver = [](const QString& stored, Dimension dimension, const QString& typed) {
            ValueEdit edit;
            edit.setMeasure(dimension);
            edit.setFallback("none, e.g. 500 ms");
            edit.setStored(stored);
            QString text = "refused";
            QObject::connect(&edit, &ValueEdit::committed, &edit, [&](const QString& said) { text = said; });
            edit.setText(typed);
            edit.setModified(true);
            QTest::keyClick(&edit, Qt::Key_Return);
            return text;
        };
        QCOMPARE(typedOver("500 ms", Dimension::Time, "200"), "200 ms");
        QCOMPARE(typedOver("", Dimension::Time, "200"), "200 ms");
        QCOMPARE(typedOver("3.333 min", Dimension::Time, "2"), "2 min");
        QCOMPARE(typedOver("500 ms", Dimension::Time, "0.2 s"), "0.2 s");
        QCOMPARE(typedOver("128 B/cycle", Dimension::DataRate, "256"), "256 B/cycle");
        // A number without a unit beside it, and a count's thousands, are as typed.
        QCOMPARE(typedOver("0.5", Dimension::Time, "2"), "2");
        QCOMPARE(typedOver("10 k", Dimension::Number, "200"), "200");
        // Shares are written both ways.
        QCOMPARE(typedOver("90 %", Dimension::Fraction, "85"), "85 %");
        QCOMPARE(typedOver("90 %", Dimension::Fraction, "0.85"), "0.85");
        QCOMPARE(typedOver("0.2 %", Dimension::Fraction, "0.5"), "0.5 %");
    }

    void leavingCommitsToo() {
        Desk desk("hbm3");
        retype(desk.find<ValueEdit>("inspector.capacity"), "96 GB");
        QTest::mouseClick(desk.find<ValueEdit>("inspector.bandwidth"), Qt::LeftButton);
        QCOMPARE(desk.edits.size(), 1u);
        QCOMPARE(desk.edits[0].text, "96 GB");
    }

    void wrongTextIsKeptAndExplainedAndEscRestores() {
        Desk desk("hbm3");
        auto* line = desk.find<ValueEdit>("inspector.bandwidth");
        auto* error = desk.find<QLabel>("inspector.bandwidth.error");
        retype(line, "3.35 GBps");
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(desk.edits.empty());
        QCOMPARE(line->text(), "3.35 GBps");
        QVERIFY(!error->isHidden());
        QVERIFY2(error->text().contains("GB/s"), qPrintable(error->text()));  // names the likely unit
        // A snapshot that comes meanwhile (another person's undo, a live answer) must not wipe the text.
        desk.show(*desk.hardware);
        QCOMPARE(line->text(), "3.35 GBps");
        QTest::mouseClick(desk.find<ValueEdit>("inspector.capacity"), Qt::LeftButton);
        QCOMPARE(line->text(), "3.35 GBps");
        QTest::mouseClick(line, Qt::LeftButton);
        QTest::keyClick(line, Qt::Key_Escape);
        QCOMPARE(line->text(), "3.35 TB/s");
        QVERIFY(error->isHidden());
        QVERIFY(desk.edits.empty());
    }

    void upAndDownStepByFivePercent() {
        Desk desk("hbm3");
        auto* line = desk.find<ValueEdit>("inspector.bandwidth");
        QTest::mouseClick(line, Qt::LeftButton);
        QTest::keyClick(line, Qt::Key_Up);
        QCOMPARE(desk.edits.size(), 1u);
        QVERIFY(std::abs(desk.bandwidth() / 3.35e12 - 1.05) < 0.002);
        QTest::keyClick(line, Qt::Key_Down);
        QVERIFY(std::abs(desk.bandwidth() / 3.35e12 - 1) < 0.004);
    }

    void steppingKeepsCyclesAndBinaryPrefixes() {
        Desk desk("smem");
        auto* bandwidth = desk.find<ValueEdit>("inspector.bandwidth");  // 128 B/cycle
        QTest::mouseClick(bandwidth, Qt::LeftButton);
        QTest::keyClick(bandwidth, Qt::Key_Up);
        QCOMPARE(desk.edits.back().text, "134.4 B/cycle");
        auto* capacity = desk.find<ValueEdit>("inspector.capacity");  // 228 KiB
        QTest::mouseClick(capacity, Qt::LeftButton);
        QTest::keyClick(capacity, Qt::Key_Down);
        QVERIFY2(desk.edits.back().text.endsWith("KiB"), qPrintable(desk.edits.back().text));
    }

    void dragIsBeginThenMovesThenOneCommit() {
        Desk desk("hbm3");
        auto* slider = desk.find<LogSlider>("inspector.bandwidth.slider");
        auto* line = desk.find<ValueEdit>("inspector.bandwidth");
        const int y = slider->height() / 2;
        const int x = slider->positionOf(desk.bandwidth());
        QTest::mousePress(slider, Qt::LeftButton, {}, {x, y});
        for (int step = 1; step <= 10; ++step) QTest::mouseMove(slider, {x + 4 * step, y});
        QVERIFY(desk.bandwidth() > 3.35e12);  // live, before the release
        QTest::mouseRelease(slider, Qt::LeftButton, {}, {x + 40, y});
        QVERIFY(desk.edits.size() >= 4);
        QCOMPARE(desk.edits.front().phase, EditPhase::Begin);
        QCOMPARE(desk.edits.front().text, "3.35 TB/s");
        QCOMPARE(desk.edits.back().phase, EditPhase::Commit);
        for (std::size_t i = 1; i + 1 < desk.edits.size(); ++i) QCOMPARE(desk.edits[i].phase, EditPhase::Drag);
        QCOMPARE(desk.edits[desk.edits.size() - 2].text, desk.edits.back().text);
        QCOMPARE(line->text(), desk.edits.back().text);  // the line follows
        QVERIFY(std::abs(slider->value() / desk.bandwidth() - 1) < 1e-9);
    }

    void escPutsADragBack() {
        Desk desk("hbm3");
        auto* slider = desk.find<LogSlider>("inspector.bandwidth.slider");
        const int y = slider->height() / 2;
        const int x = slider->positionOf(desk.bandwidth());
        QTest::mousePress(slider, Qt::LeftButton, {}, {x, y});
        QTest::mouseMove(slider, {x + 60, y});
        QVERIFY(desk.bandwidth() > 4e12);
        QTest::keyClick(slider, Qt::Key_Escape);
        QCOMPARE(desk.bandwidth(), 3.35e12);
        QCOMPARE(desk.edits.back().phase, EditPhase::Commit);
        const auto before = desk.edits.size();
        QTest::mouseMove(slider, {x + 90, y});
        QTest::mouseRelease(slider, Qt::LeftButton, {}, {x + 90, y});
        QCOMPARE(desk.edits.size(), before);
    }

    void snapshotsDoNotDisturbAnEditInProgress() {
        Desk desk("hbm3");
        auto* line = desk.find<ValueEdit>("inspector.capacity");
        auto* other = desk.find<ValueEdit>("inspector.bandwidth");
        retype(line, "12");
        for (int i = 0; i < 100; ++i) {  // a hundred edits from elsewhere
            Hardware next = *desk.hardware;
            (void)setAttribute(*componentAt(next.root, desk.path), "bandwidth", std::to_string(1000 + i) + " GB/s");
            desk.show(next);
        }
        QCOMPARE(desk.find<ValueEdit>("inspector.capacity"), line);  // the same row still
        QCOMPARE(other->text(), "1099 GB/s");
        QVERIFY(line->hasFocus());
        QTest::keyClicks(line, "0 GB");
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.edits.back().text, "120 GB");
    }

    void defaultsAreGreyedAndClearingGoesBackToThem() {
        Desk desk("h100");
        auto* line = desk.find<ValueEdit>("inspector.launch_overhead");
        QVERIFY(line->text().isEmpty());
        QCOMPARE(line->placeholderText(), "3 µs");
        retype(line, "5 us");
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.edits.back().text, "5 us");
        line->selectAll();
        QTest::keyClick(line, Qt::Key_Delete);
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.removed, QStringList{"launch_overhead"});
        QVERIFY(line->text().isEmpty());
    }

    void resetGoesBackToThePreset() {
        Desk desk("hbm3");
        auto* reset = desk.find<QToolButton>("inspector.bandwidth.reset");
        desk.inspector.setPreset(desk.hardware);
        QVERIFY(reset->isHidden());
        auto* line = desk.find<ValueEdit>("inspector.bandwidth");
        retype(line, "9 TB/s");
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(!reset->isHidden());
        QTest::mouseClick(reset, Qt::LeftButton);
        QCOMPARE(desk.edits.back().text, "3.35 TB/s");
        QVERIFY(reset->isHidden());
    }

    // As narrow as the studio makes it: the name gives way, the number stands whole.
    void aNumberIsNeverCut() {
        Desk desk("hbm3");
        desk.inspector.resize(desk.inspector.minimumWidth(), 700);
        auto* line = desk.find<ValueEdit>("inspector.bandwidth");
        for (const char* value : {"3.35 TB/s", "460.8 GB/s", "1638.4 GB/s", "1749.524 GB/s", "123456.789 GB/s"}) {
            Hardware next = *desk.hardware;
            QVERIFY(setAttribute(*componentAt(next.root, desk.path), "bandwidth", value));
            desk.show(next);
            QCoreApplication::processEvents();
            QStyleOptionFrame option;
            option.initFrom(line);
            const QRect inside = line->style()->subElementRect(QStyle::SE_LineEditContents, &option, line);
            QCOMPARE(line->text(), QString(value));
            constexpr int margins = 4;  // of QLineEdit, to both sides
            QVERIFY2(inside.width() >= line->fontMetrics().horizontalAdvance(line->text()) + margins, value);
            const auto* row = qobject_cast<AttributeRow*>(line->parentWidget());
            QVERIFY2(row && row->rect().contains(line->geometry()), value);
        }
    }

    void aChoiceIsNeverCut() {
        RowSpec spec;
        spec.id = "stack", spec.label = "Software of training", spec.chooser = true;
        AttributeRow row(spec);
        row.setWide(false, 104);
        row.resize(276, row.height());
        const QStringList choices{"eager", "training-frameworks-of-2023"};
        row.setChoices(choices, "none");
        row.QWidget::show();
        for (const QString& text : choices) {
            row.show(RowValue{.text = text});
            QCOMPARE(row.choice()->currentText(), text);
            QStyleOptionComboBox option;
            option.initFrom(row.choice());
            const QRect inside = row.choice()->style()->subControlRect(QStyle::CC_ComboBox, &option,
                                                                       QStyle::SC_ComboBoxEditField, row.choice());
            QVERIFY2(inside.width() >= row.choice()->fontMetrics().horizontalAdvance(text), qPrintable(text));
            QVERIFY(row.rect().contains(row.choice()->geometry()));
        }
    }

    void chipsTellSourceUnverifiedUnusual() {
        Desk l2("l2");
        const auto chip = [](Desk& desk, const char* row) {
            return desk.inspector.findChild<AttributeRow*>(QString::fromLatin1(row))->chip();
        };
        QCOMPARE(chip(l2, "inspector.latency.row")->text(), "unverified");
        QCOMPARE(chip(l2, "inspector.latency.row")->tone(), Tone::Warning);
        QCOMPARE(chip(l2, "inspector.capacity.row")->text(), "whitepaper");
        QVERIFY(chip(l2, "inspector.capacity.row")->toolTip().contains("White Paper", Qt::CaseInsensitive));
        auto* line = l2.find<ValueEdit>("inspector.capacity");
        retype(line, "900 EB");
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(chip(l2, "inspector.capacity.row")->text(), "unusual");
    }

    void rowsOfTablesAreEditable() {
        Desk desk("tensor");
        auto* line = desk.find<ValueEdit>("inspector.macs.bf16");
        QVERIFY(line);
        QCOMPARE(line->text(), "512/cycle");
        retype(line, "1024/cycle");
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.edits.back().attribute, "macs.bf16");
        auto* add = desk.find<QToolButton>("inspector.macs.add");
        for (QAction* action : add->menu()->actions())
            if (action->text() == "fp4") action->trigger();
        QTRY_VERIFY(desk.find<ValueEdit>("inspector.macs.fp4"));
    }

    void typedTextBelongsToTheComponentThatItWasTypedAt() {
        Desk desk("hbm3");
        QSignalSpy spy(&desk.inspector, &Inspector::attributeEdited);
        retype(desk.find<ValueEdit>("inspector.capacity"), "141 GB");
        const ComponentPath memory = desk.path;
        desk.path = *findComponent(desk.hardware->root, "l2");
        desk.inspector.showComponent(desk.hardware, desk.path);
        QTRY_COMPARE(spy.size(), 1);
        QCOMPARE(spy[0][0].value<ComponentPath>(), memory);
        QCOMPARE(spy[0][2].toString(), "141 GB");
    }

    void nameCountAndMesh() {
        Desk desk("sm");
        retype(desk.find<ValueEdit>("inspector.count"), "144");
        QTest::keyClick(desk.find<ValueEdit>("inspector.count"), Qt::Key_Return);
        QCOMPARE(desk.edits.back().attribute, "count");
        QCOMPARE(componentAt(desk.hardware->root, desk.path)->count, 144);
        auto* name = desk.find<ValueEdit>("inspector.name");
        retype(name, "a/b");
        QTest::keyClick(name, Qt::Key_Return);
        QCOMPARE(desk.edits.size(), 1u);
        retype(name, "gpc_sm");
        QTest::keyClick(name, Qt::Key_Return);
        QCOMPARE(componentAt(desk.hardware->root, desk.path)->name, "gpc_sm");
    }

    void problemsOfThisComponentOnly() {
        Desk desk("hbm3");
        desk.inspector.setProblems(fixture::problems());
        const auto shows = [&desk](const QString& text) {
            for (const QLabel* label : desk.inspector.findChildren<QLabel*>())
                if (label->isVisible() && label->text() == text) return true;
            return false;
        };
        QTRY_VERIFY(shows("The bandwidth of hbm3 is outside the usual range"));
        QVERIFY(!shows("A buffer without a capacity"));
    }

    void workloadOptions() {
        Inspector inspector;
        inspector.resize(300, 700);
        WorkloadRecipe recipe = fixture::recipe();
        const WorkloadPtr workload = fixture::workload();
        QVERIFY(workload);
        std::vector<std::pair<WorkloadOptions, EditPhase>> edits;
        connect(&inspector, &Inspector::workloadEdited, &inspector,
                [&](const WorkloadOptions& options, EditPhase phase) {
                    edits.push_back({options, phase});
                    recipe.options = options;
                    inspector.showWorkload(recipe, builtinWorkload("llama-2-7b"), nullptr);  // as while it loads again
                });
        inspector.showWorkload(recipe, builtinWorkload("llama-2-7b"), workload);
        inspector.show();
        inspector.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&inspector));
        auto* slider = inspector.findChild<LogSlider*>("inspector.batch.slider");
        const int y = slider->height() / 2;
        QTest::mousePress(slider, Qt::LeftButton, {}, {slider->positionOf(1), y});
        QTest::mouseMove(slider, {slider->positionOf(8), y});
        QTest::mouseRelease(slider, Qt::LeftButton, {}, {slider->positionOf(8), y});
        QCOMPARE(edits.size(), 3u);
        QCOMPARE(edits[0].second, EditPhase::Begin);
        QCOMPARE(edits[2].second, EditPhase::Commit);
        QCOMPARE(edits[2].first.batch, 8);
        auto* sequence = inspector.findChild<ValueEdit*>("inspector.sequence");
        retype(sequence, "3000");
        QTest::keyClick(sequence, Qt::Key_Return);
        QCOMPARE(edits.back().first.sequence, 3000);
        QCOMPARE(edits.back().first.batch, 8);
        QTest::mouseClick(inspector.findChild<QCheckBox*>("inspector.flash"), Qt::LeftButton);
        QCOMPARE(edits.back().first.flashAttention, false);
        auto* phase = inspector.findChild<QComboBox*>("inspector.phase");
        phase->setFocus();
        QTest::keyClick(phase, Qt::Key_Home);
        QTest::keyClicks(phase, "prefill");
        QCOMPARE(edits.back().first.phase, Phase::Prefill);
    }

    void onlyOptionsThatTheModelHas() {
        Inspector inspector;
        const WorkloadPtr workload = fixture::workload("resnet-50");
        QVERIFY(workload);
        inspector.showWorkload(workload->recipe, builtinWorkload("resnet-50"), workload);
        QVERIFY(inspector.findChild<QWidget*>("inspector.image"));
        QVERIFY(!inspector.findChild<QWidget*>("inspector.sequence"));
        QVERIFY(!inspector.findChild<QWidget*>("inspector.phase"));
        QVERIFY(!inspector.findChild<QWidget*>("inspector.kv"));
    }
};

QTEST_MAIN(TestPanelsInspector)
#include "tst_panels_inspector.moc"
