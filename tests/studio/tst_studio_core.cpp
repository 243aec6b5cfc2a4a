// The core page with mouse and keys: a block typed is answered, marked where it is wrong; a kernel stands in the
// pipeline as the command line counts it; a stream of DRAM says which timing binds.

#include "app/window/core/block_tab.h"
#include "app/window/core/block_text.h"
#include "app/window/core/core_page.h"
#include "app/window/core/core_traces.h"
#include "app/window/core/memory_tab.h"
#include "app/window/core/pipeline_tab.h"
#include "app/window/router.h"
#include "learning/blocks/fit_block_correction.h"
#include "support/page_window.h"
#include "widgets/common/label.h"
#include "widgets/common/veil.h"
#include "widgets/core/block_listing.h"
#include "widgets/core/pipeline_view.h"
#include "widgets/memory/command_timeline.h"
#include "widgets/plots/bar_list.h"

#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QTabBar>
#include <QTabWidget>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioCore : public PageTest<CorePage> {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() {
        open();
        window_->actions().find("core.block")->trigger();
        QTRY_VERIFY(page_->isVisible());
    }
    void cleanup() { close(); }

    void aBlockIsAnsweredAsItIsTyped() {
        BlockTab* tab = page_->block();
        QVERIFY(tab->listing()->isEmpty());
        tab->editor()->setFocus();
        QTest::keyClicks(tab->editor(), "48 01 d8");
        QTRY_VERIFY(tab->answer() && tab->isUpToDate());
        QCOMPARE(tab->answer()->lines, std::vector<std::string>{"add rax, rbx"});
        QVERIFY(qFuzzyCompare(tab->answer()->prediction.cycles, 1.0));  // a sum that waits for itself
        QTest::keyClick(tab->editor(), Qt::Key_Return);
        QTest::keyClicks(tab->editor(), "48 29 d8  # and a difference");
        QTRY_VERIFY(tab->answer() && tab->answer()->lines.size() == 2);
        QVERIFY(qFuzzyCompare(tab->answer()->prediction.cycles, 2.0));
        // The bar that is marked is the bound that decides, and no other is longer.
        int marked = 0;
        for (const ui::Bar& bar : tab->bounds()->bars()) {
            marked += bar.marked;
            QVERIFY(bar.value <= 2.0 + 1e-9);
            if (bar.marked) QCOMPARE(bar.name, QString("Dependence"));
        }
        QCOMPARE(marked, 1);
        QVERIFY(tab->command().endsWith("--core skl --hex 4801d84829d8"));
    }
    // A correction learned from blocks that take a half longer than their bounds; it says so, goes with its command, is
    // kept, refused by another core, and taken off again.
    void aCorrectionStandsBesideTheBounds() {
        const auto core = block::loadCore("skl").value();
        block::Analyser analyser(core);
        std::vector<block::MeasuredBlock> blocks;
        const std::vector<std::vector<std::uint8_t>> parts{
            {0x48, 0x01, 0xd8}, {0x48, 0x29, 0xd8}, {0x48, 0x8b, 0x03}, {0x48, 0x0f, 0xaf, 0xc3}, {0x4c, 0x01, 0xc1}};
        for (std::size_t i = 1; i < 3000; i += 3) {
            block::MeasuredBlock one;
            for (std::size_t rest = i; rest > 0; rest /= 5)
                one.bytes.insert(one.bytes.end(), parts[rest % 5].begin(), parts[rest % 5].end());
            block::Code code;
            block::Prediction bounds;
            QVERIFY(block::decode(one.bytes, code));
            analyser.predict(code, bounds);
            one.cycles = 1.5 * bounds.cycles;
            blocks.push_back(std::move(one));
        }
        const auto fit = block::fitBlockCorrection(core, blocks, {});
        QVERIFY2(fit, fit ? "" : fit.error().message.c_str());
        QTemporaryDir folder;
        const QString path = folder.filePath("of skl.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(writeBlockCorrection(fit->correction)));
        file.close();

        BlockTab* tab = page_->block();
        QTest::keyClicks(tab->editor(), "48 01 d8 48 29 d8 48 0f af c3");
        QTRY_VERIFY(tab->answer() && tab->isUpToDate() && tab->answer()->lines.size() == 3);
        const double bounds = tab->answer()->prediction.cycles;
        tab->setCorrection(path);
        auto* choice = page_->findChild<QComboBox*>("core.block.correction");
        QCOMPARE(choice->currentText(), QString("of skl.json"));
        emit choice->activated(choice->currentIndex());
        QTRY_VERIFY(tab->isUpToDate() && tab->answer() && tab->answer()->verdict);
        QCOMPARE(tab->answer()->verdict->bounds, bounds);
        QVERIFY(qAbs(tab->answer()->prediction.cycles / bounds - 1.5) < 0.02);
        for (const ui::Bar& bar : tab->bounds()->bars()) QVERIFY(bar.value <= bounds + 1e-9);
        QVERIFY(tab->command().endsWith("--correct '" + path + "'"));
        QCOMPARE(tab->view().value("block/correction").toString(), path);
        auto* cores = page_->findChild<QComboBox*>("core.block.core");
        const int haswell = cores->findData("hsw"), skylake = cores->findData("skl");
        cores->setCurrentIndex(haswell);
        emit cores->activated(haswell);
        QTRY_VERIFY_WITH_TIMEOUT(tab->refusal() && tab->refusal()->code == "block.correction-core", 20000);
        QVERIFY(page_->findChild<ui::Label*>("core.block.problem")->text().contains("skl"));
        QCOMPARE(tab->editor()->extraSelections().size(), 0);
        cores->setCurrentIndex(skylake);
        emit cores->activated(skylake);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && tab->answer()->verdict, 20000);
        // Fitted anew under its name, to blocks that it helps no more.
        block::BlockCorrection anew = block::readBlockCorrection(path.toStdString()).value();
        for (auto& its : anew.classes) its.helps = false;
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write(QByteArray::fromStdString(writeBlockCorrection(anew)));
        file.close();
        QTest::keyClicks(tab->editor(), " ");
        QTRY_VERIFY(tab->isUpToDate() && tab->answer() && tab->answer()->verdict &&
                    tab->answer()->verdict->weight == 0.0);
        QCOMPARE(tab->answer()->prediction.cycles, bounds);
        choice->setFocus();
        QTest::keyClick(choice, Qt::Key_Home);
        QTRY_VERIFY(tab->isUpToDate() && tab->answer() && !tab->answer()->verdict);
        QCOMPARE(tab->answer()->prediction.cycles, bounds);
        QVERIFY(!tab->command().contains("--correct"));
    }
    void everyPortsHeatSumsToThePort() {
        BlockTab* tab = page_->block();
        click("core.block.example");
        QTRY_VERIFY(tab->answer() && tab->isUpToDate());
        const ui::BlockPicture& picture = tab->listing()->picture();
        QCOMPARE(picture.lines.size(), std::size_t{5});
        double all = 0;
        for (std::size_t p = 0; p < picture.portNames.size(); ++p) {
            double sum = 0;
            for (const ui::BlockLine& line : picture.lines) sum += line.ports[p];
            QVERIFY(qAbs(sum - picture.portCycles[p]) < 1e-6);
            all += sum;
        }
        QVERIFY(all >= 5 - 1e-6);  // two loads, a product, two sums and a comparison need a port each at least
        // The sum of the products is what the next iteration waits for.
        QCOMPARE(picture.chain.size(), std::size_t{1});
        QCOMPARE(picture.chain.front().instruction, 2);
        QVERIFY(tab->listing()->textAt(tab->listing()->cellOf(2, 0).center()).contains("port"));
    }
    void anotherCoreAnswersTheSameBlock() {
        BlockTab* tab = page_->block();
        click("core.block.example");
        QTRY_VERIFY(tab->answer() && tab->isUpToDate());
        auto* core = page_->findChild<QComboBox*>("core.block.core");
        const int haswell = core->findData("hsw");
        QVERIFY(haswell >= 0);
        core->setFocus();
        core->setCurrentIndex(haswell);
        emit core->activated(haswell);
        QTRY_COMPARE_WITH_TIMEOUT(tab->answer() ? tab->answer()->core->rules.id : std::string(), std::string("hsw"),
                                  20000);
        // A core that has mixes and no ports cannot be chosen.
        QTRY_VERIFY_WITH_TIMEOUT(
            !(core->model()->flags(core->model()->index(core->findData("a72"), 0)) & Qt::ItemIsEnabled), 60000);
    }
    void whatIsWrongIsMarkedWhereItStands() {
        BlockTab* tab = page_->block();
        tab->editor()->setFocus();
        QTest::keyClicks(tab->editor(), "48 01 d8");
        QTRY_VERIFY(tab->answer());
        QTest::keyClick(tab->editor(), Qt::Key_Return);
        QTest::keyClicks(tab->editor(), "48 zz");
        QTRY_VERIFY(tab->refusal() && tab->isUpToDate());
        auto* problem = page_->findChild<ui::Label*>("core.block.problem");
        QVERIFY(problem->isVisible());
        QVERIFY2(problem->text().startsWith("line 2, column 4:"), qPrintable(problem->text()));
        QCOMPARE(tab->editor()->extraSelections().size(), 1);
        QCOMPARE(tab->editor()->extraSelections().front().cursor.selectedText(), QString("z"));
        QVERIFY(tab->editor()->textCursor().blockNumber() == 1);
        // Bytes that are no instruction: 06 was PUSH ES, which 64-bit code has not.
        tab->editor()->selectAll();
        QTest::keyClicks(tab->editor(), "48 01 d8 06 90");
        QTRY_VERIFY(tab->refusal() && tab->isUpToDate() &&
                    tab->refusal()->code == std::string("block.unknown-instruction"));
        QVERIFY2(problem->text().startsWith("line 1, column 10:"), qPrintable(problem->text()));
        // The block before is still there, dimmed.
        QVERIFY(!tab->listing()->isEmpty());
        QVERIFY(tab->findChild<ui::Veil*>()->isDown());
        tab->editor()->selectAll();
        QTest::keyClick(tab->editor(), Qt::Key_Delete);
        QTRY_VERIFY(!problem->isVisible() && tab->listing()->isEmpty());
    }
    void whatPeoplePasteIsRead_data() {
        QTest::addColumn<QString>("text");
        QTest::newRow("C array") << "0x48, 0x01, 0xd8,\n0x48, 0x29, 0xd8";
        QTest::newRow("C string") << "\"\\x48\\x01\\xd8\\x48\\x29\\xd8\"";
        QTest::newRow("offsets") << "0: 48 01 d8 ; add\n3: 48 29 d8 ; sub";
        QTest::newRow("comments") << "4801d8 // add rax, rbx\n4829d8 # sub rax, rbx";
    }
    void whatPeoplePasteIsRead() {
        QFETCH(QString, text);
        QCOMPARE(plainHex(text).size(), text.size());
        BlockDesk desk;
        const auto answer = desk.ask({"skl", text, {}});
        QVERIFY_DONE(answer);
        QCOMPARE(answer->lines, (std::vector<std::string>{"add rax, rbx", "sub rax, rbx"}));
    }
    void assemblyIsTheSameBlock() {
        if (!Assembler::isInstalled()) QSKIP("as and objcopy are not installed");
        BlockTab* tab = page_->block();
        tab->setInput(BlockTab::Input::Intel);
        tab->editor()->setFocus();
        QTest::keyClicks(tab->editor(), "add rax, rbx");
        QTest::keyClick(tab->editor(), Qt::Key_Return);
        QTest::keyClicks(tab->editor(), "sub rax, rbx");
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && tab->isUpToDate(), 20000);
        QVERIFY(tab->command().endsWith("4801d84829d8"));
        tab->setInput(BlockTab::Input::Att);
        tab->editor()->setPlainText("add %rbx, %rax\nsub %rbx, %rax\nfoo %rax");
        QTRY_VERIFY_WITH_TIMEOUT(tab->refusal() && tab->isUpToDate(), 20000);
        QCOMPARE(tab->refusal()->place.line, 3);
        tab->editor()->setPlainText("add %rbx, %rax\nx: .incbin \"/etc/hostname\"");
        QTRY_VERIFY_WITH_TIMEOUT(tab->refusal() && tab->refusal()->code == std::string("assembly.directive"), 20000);
        QCOMPARE(tab->refusal()->place.line, 2);
    }
    void theListingIsExported() {
        click("core.block.example");
        BlockTab* tab = page_->block();
        QTRY_VERIFY(tab->answer() && tab->isUpToDate());
        QTemporaryDir folder;
        for (const char* name : {"a.svg", "a.pdf", "a.png", "a.csv"}) {
            const QString file = folder.filePath(name);
            QCOMPARE(tab->listing()->exportTo(file), QString());
            QVERIFY2(QFileInfo(file).size() > 200, name);
        }
        QCOMPARE(tab->listing()->csv().count('\n'), 6);
        QVERIFY(!tab->listing()->exportTo(QStringLiteral("/no/such/folder/a.svg")).isEmpty());
    }

    void aKernelStandsInThePipeline() {
        PipelineTab* tab = pipeline("gemm m=32 n=32 k=32 avx2");
        const pipeline::Counters& counts = tab->answer()->counts;
        QVERIFY(counts.cycles > 0);
        const auto& rows = tab->view()->picture().rows;
        QCOMPARE(rows.size(), std::size_t{400});
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto& at = rows[i].passage;
            QVERIFY(at.fetch < at.dispatch && at.dispatch <= at.issue && at.issue <= at.complete &&
                    at.complete <= at.retire);
            if (i > 0) QVERIFY(rows[i - 1].passage.retire <= at.retire);  // in order
        }
        // The bars are the run, and sum to it.
        double sum = 0;
        for (const ui::Bar& bar : tab->causes()->bars()) sum += bar.value;
        QVERIFY(qAbs(sum - static_cast<double>(counts.cycles)) < 1e-6 * static_cast<double>(counts.cycles));
        QCOMPARE(tab->ports()->bars().size(), tab->answer()->machine.portNames.size());
        for (const ui::Bar& bar : tab->ports()->bars()) QVERIFY(bar.value <= 1 + 1e-9);
    }
    void cyclesAreSteppedAndPlayed() {
        PipelineTab* tab = pipeline("softmax rows=2 columns=64 avx2");
        ui::PipelineView* view = tab->view();
        const std::uint64_t begin = view->cycle();
        QTest::mouseClick(page_->findChild<QAbstractButton*>("core.pipeline.step"), Qt::LeftButton);
        QCOMPARE(view->cycle(), begin + 1);
        view->setFocus();
        QTest::keyClick(view, Qt::Key_Right);
        QTest::keyClick(view, Qt::Key_Left);
        QTest::keyClick(view, Qt::Key_Left);
        QCOMPARE(view->cycle(), begin);
        QTest::mouseClick(page_->findChild<QAbstractButton*>("core.pipeline.play"), Qt::LeftButton);
        QTRY_VERIFY(view->cycle() > begin + 2);
        QTest::mouseClick(page_->findChild<QAbstractButton*>("core.pipeline.play"), Qt::LeftButton);
        // A click marks the cycle that is there.
        int seen = -1;
        for (int row = 0; row < static_cast<int>(view->picture().rows.size()) && seen < 0; ++row) {
            const QRectF box = view->boxOf(row);
            if (box.left() > 400 && box.right() < view->width() - 20 && box.bottom() < view->height() * 0.5) seen = row;
        }
        QVERIFY(seen >= 0);
        QTest::mouseClick(view, Qt::LeftButton, {}, (view->boxOf(seen).topLeft() + QPointF(1.5, 3)).toPoint());
        QCOMPARE(view->cycle(), view->picture().rows[static_cast<std::size_t>(seen)].passage.issue);
        QVERIFY(view->cycleText().contains("execute"));
        // The wheel with Ctrl zooms.
        const double before = view->cycleWidth();
        const QPoint middle = view->rect().center();
        QWheelEvent wheel(middle, view->mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, Qt::ControlModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(view, &wheel);
        QVERIFY(view->cycleWidth() > before);
        QTest::mouseClick(page_->findChild<QAbstractButton*>("core.pipeline.fit"), Qt::LeftButton);
        QVERIFY(view->boxOf(static_cast<int>(view->picture().rows.size()) - 1).bottom() <= view->height());
    }
    // The trace has every operation from fetch to retirement, and no two on one lane at a time.
    void operationsAreWrittenAsATrace() {
        PipelineTab* tab = pipeline("softmax rows=2 columns=64 avx2");
        const ui::PipelinePicture& picture = tab->view()->picture();
        const LaneTrace trace = pipelineLanes(picture);
        std::vector<std::int64_t> ended(trace.lanes.size(), 0);
        std::size_t operations = 0;
        std::int64_t lasted = 0, expected = 0;
        for (const TraceStretch& each : trace.stretches) {
            if (each.category != "operation") continue;
            ++operations;
            lasted += each.to - each.from;
            QVERIFY(each.from >= ended[static_cast<std::size_t>(each.lane)]);
            ended[static_cast<std::size_t>(each.lane)] = each.to;
        }
        for (const ui::PipelineRow& row : picture.rows)
            expected += static_cast<std::int64_t>(row.passage.retire - row.passage.fetch);
        QCOMPARE(operations, picture.rows.size());
        QCOMPARE(lasted, expected);
        const auto events = QJsonDocument::fromJson(QByteArray::fromStdString(laneTrace(trace))).object();
        QVERIFY(events["traceEvents"].toArray().size() > static_cast<qsizetype>(trace.stretches.size()));
    }
    // Cores and currents are chosen by the names that their answers bear, not by ids.
    void listsNameWhatTheyOffer() {
        PipelineTab* tab = pipeline("add n=1024 avx2");
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->isRunning(), 20000);
        const auto* core = page_->findChild<QComboBox*>("core.pipeline.core");
        QCOMPARE(core->currentText(), QString::fromStdString(tab->answer()->machine.title));
        const auto* currents = page_->findChild<QComboBox*>("core.memory.currents");
        for (const auto* box : {core, currents}) {
            for (int i = 1; i + 1 < box->count(); ++i)
                QVERIFY2(box->itemText(i) != box->itemData(i).toString(), qPrintable(box->itemText(i)));
        }
    }
    // Several cores of the drawn CPU: a bar for each, causes that sum to the run, and the command that asks the same.
    void coresOfTheDrawingShareAKernel() {
        PipelineTab* tab = pipeline("add n=20000 avx2");
        auto* core = page_->findChild<QComboBox*>("core.pipeline.core");
        auto* number = page_->findChild<QSpinBox*>("core.pipeline.cores");
        QVERIFY(!number->isVisible());  // a pipeline that ships says nothing of other cores
        tab->setDesign(std::make_shared<const Hardware>(loadHardware("epyc-9654").value().hardware));
        core->setCurrentIndex(0);
        emit core->activated(0);
        QVERIFY(number->isVisible() && !page_->findChild<QComboBox*>("core.pipeline.pages")->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->isRunning(), 20000);
        QVERIFY(!tab->cores()->isVisible());
        number->setValue(5);
        // One memory: pages have no choice of where to lie.
        QVERIFY(page_->findChild<QComboBox*>("core.pipeline.bind")->isVisible());
        QVERIFY(!page_->findChild<QComboBox*>("core.pipeline.pages")->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && tab->answer()->several && !tab->isRunning(), 20000);
        const PipelineAnswer& answer = *tab->answer();
        QVERIFY(tab->cores()->isVisible());
        QCOMPARE(tab->cores()->bars().size(), std::size_t{5});
        QVERIFY(tab->cores()->bars().front().words.contains("l3"));
        QCOMPARE(answer.operations, answer.length);
        double sum = 0;
        const auto cycles = static_cast<double>(answer.several->run.cycles());
        for (const ui::Bar& bar : tab->causes()->bars()) sum += bar.value;
        QVERIFY(qAbs(sum - cycles) < 1e-6 * cycles);
        QCOMPARE(tab->view()->picture().rows.size(), std::size_t{400});
        QVERIFY(tab->command().contains("--cores 5 --bind close"));
        // More than there are: all run, and the command asks for so many.
        number->setValue(number->maximum());
        QTRY_VERIFY_WITH_TIMEOUT(
            tab->answer()->several && tab->answer()->several->run.cores.size() > 5 && !tab->isRunning(), 20000);
        const int there = tab->answer()->several->chip.cores;
        QVERIFY2(tab->command().contains(QStringLiteral("--cores %1 ").arg(qMin(there, number->maximum()))),
                 qPrintable(tab->command()));
        // Where threads and pages are is kept with their number.
        auto* pages = page_->findChild<QComboBox*>("core.pipeline.pages");
        pages->setCurrentIndex(2);
        const QVariantMap kept = tab->kept();
        pages->setCurrentIndex(0);
        tab->setKept(kept);
        QCOMPARE(pages->currentIndex(), 2);
        pages->setCurrentIndex(0);
        number->setValue(5);
        tab->setDesign(std::make_shared<const Hardware>(loadHardware("epyc-9654-x2").value().hardware));
        QVERIFY(pages->isVisible());
        number->setValue(1);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->answer()->several && !tab->isRunning(), 20000);
        QVERIFY(!tab->cores()->isVisible());
    }
    void aCoreWithoutTheInstructionsSaysSo() {
        PipelineTab* tab = pipeline("add n=1024 avx2");
        // A drawn device that is no CPU.
        auto* core = page_->findChild<QComboBox*>("core.pipeline.core");
        tab->setDesign(std::make_shared<const Hardware>(loadHardware("t4").value().hardware));
        core->setCurrentIndex(0);
        emit core->activated(0);
        QTRY_VERIFY_WITH_TIMEOUT(tab->refusal() && !tab->isRunning(), 20000);
        QVERIFY(page_->findChild<ui::Label*>("core.pipeline.problem")->isVisible());
        tab->setDesign(std::make_shared<const Hardware>(loadHardware("epyc-9654").value().hardware));
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->isRunning(), 20000);
        QVERIFY(!page_->findChild<ui::Label*>("core.pipeline.problem")->isVisible());
    }

    void aStreamStaysInOneBankGroup() {
        window_->actions().find("core.memory")->trigger();
        MemoryTab* tab = page_->memory();
        MemoryQuestion question = tab->question();
        question.standard = "ddr4-3200aa";
        question.refresh = false;
        tab->setQuestion(question);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->isRunning(), 20000);
        // A row's bursts side by side: tCCD_S / tCCD_L of the peak inside a group, more where two rows meet.
        const double half = tab->answer()->result.bytesPerSecond / tab->answer()->rules.peakBandwidth();
        QVERIFY2(half > 0.45 && half < 0.75, qPrintable(QString::number(half)));
        const auto marked =
            std::ranges::find_if(tab->bindings()->bars(), [](const ui::Bar& bar) { return bar.marked; });
        QVERIFY(marked != tab->bindings()->bars().end());
        QCOMPARE(marked->name, QString("nCCDL"));
        QVERIFY(marked->words.contains("bank group"));
        double sum = 0;
        for (const ui::Bar& bar : tab->bindings()->bars()) sum += bar.value;
        QVERIFY(qAbs(sum - 1) < 1e-9);
        // What no order beats stands beside it, the largest first and in words; the energy by parts that sum to it.
        const auto& bounds = tab->bounds()->bars();
        QVERIFY(!bounds.empty() && bounds.front().marked && !bounds.front().words.isEmpty());
        QVERIFY(bounds.front().value > 0.5 && bounds.front().value <= 1);
        double energy = 0;
        for (const ui::Bar& bar : tab->energy()->bars()) energy += bar.value;
        QCOMPARE(tab->energy()->bars().size(), DramEnergyParts::names.size());
        QVERIFY(qAbs(energy - 1) < 1e-9);
        // Every read stands in the picture once.
        const auto reads = std::ranges::count_if(tab->timeline()->picture().issued, [](const RuledIssued& one) {
            return one.command == RuledCommand::Read;
        });
        QCOMPARE(reads, 2000);
        // The other mapping gives the rest back.
        auto* mapping = page_->findChild<QComboBox*>("core.memory.mapping");
        mapping->setCurrentIndex(1);
        emit mapping->activated(1);
        QTRY_VERIFY_WITH_TIMEOUT(!tab->isRunning() && tab->answer() && tab->question().mapping == "MOP4CLXOR", 20000);
        QVERIFY(tab->answer()->result.bytesPerSecond > 1.3 * half * tab->answer()->rules.peakBandwidth());
    }
    // Late requests of rows of their own: a closed page saves each the precharge. A memory whose currents nobody has
    // published has no energy, and says so.
    void closedPagesAndUnknownCurrents() {
        window_->actions().find("core.memory")->trigger();
        MemoryTab* tab = page_->memory();
        MemoryQuestion question;
        question.standard = "ddr4-3200aa";
        question.pattern = RequestPattern::Random;
        question.injection = "chain";
        question.requests = 200;
        question.refresh = false;
        tab->setQuestion(question);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->isRunning() && tab->answer()->result.reads == 200, 20000);
        const double open = tab->answer()->result.meanLatency;
        auto* page = page_->findChild<QComboBox*>("core.memory.page");
        page->setCurrentIndex(1);
        emit page->activated(1);
        QCOMPARE(tab->question().page, std::string("closed"));
        QTRY_VERIFY_WITH_TIMEOUT(!tab->isRunning() && tab->answer()->result.meanLatency < open - 10, 20000);
        QVERIFY(std::ranges::any_of(tab->timeline()->picture().issued,
                                    [](const RuledIssued& one) { return one.command == RuledCommand::ReadPrecharge; }));
        question = tab->question();
        question.standard = "gddr6-14000";
        tab->setQuestion(question);
        QTRY_VERIFY_WITH_TIMEOUT(!tab->isRunning() && tab->answer() && !tab->answer()->energy, 20000);
        QVERIFY(tab->energy()->isEmpty());
        QVERIFY(tab->answer()->energy.error().message.find("GDDR6") != std::string::npos);
        question.page = "open";
        tab->setQuestion(question);
    }
    // Currents of another device count where they are chosen, and are called so; a file that holds none is refused.
    void currentsAreChosen() {
        window_->actions().find("core.memory")->trigger();
        MemoryTab* tab = page_->memory();
        MemoryQuestion question;
        question.standard = "ddr4-3200aa";
        question.requests = 200;
        tab->setQuestion(question);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->isRunning() && tab->answer()->energy, 20000);
        const double own = tab->answer()->energy->parts.total();
        const std::string ofItself = tab->answer()->energy->currents.id;
        QVERIFY(tab->answer()->unlike.empty());
        auto* choice = page_->findChild<QComboBox*>("core.memory.currents");
        const int other = choice->findData("hbm2-8gb-x128-2000");
        QVERIFY(other > 0);
        choice->setFocus();
        while (choice->currentIndex() < other) QTest::keyClick(choice, Qt::Key_Down);
        QCOMPARE(tab->question().currents, std::string("hbm2-8gb-x128-2000"));
        QTRY_VERIFY_WITH_TIMEOUT(!tab->isRunning() && tab->answer() && tab->answer()->energy &&
                                     tab->answer()->energy->currents.id != ofItself,
                                 20000);
        QVERIFY(!tab->answer()->unlike.empty() && tab->answer()->energy->parts.total() != own);
        auto* told = page_->findChild<ui::Label*>("core.memory.unlike");
        QVERIFY(told->isVisible() && told->text().contains("HBM2"));
        QTemporaryDir folder;
        QFile file(folder.filePath("none.yaml"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("orrery: core/1\n");
        file.close();
        question.currents = file.fileName().toStdString();
        tab->setQuestion(question);
        QCOMPARE(choice->currentText(), QString("none.yaml"));
        QTRY_VERIFY_WITH_TIMEOUT(!tab->isRunning() && tab->refusal(), 20000);
        QCOMPARE(tab->refusal()->code, std::string("dram.currents"));
        question.currents.clear();
        tab->setQuestion(question);
        QTRY_VERIFY_WITH_TIMEOUT(!tab->isRunning() && tab->answer() && tab->answer()->energy, 20000);
        QCOMPARE(tab->answer()->energy->parts.total(), own);
        QVERIFY(!told->isVisible());
    }
    void rowsAreOpenBetweenActivateAndPrecharge() {
        window_->actions().find("core.memory")->trigger();
        MemoryTab* tab = page_->memory();
        MemoryQuestion question = tab->question();
        question.pattern = RequestPattern::Random;
        question.writes = 30;
        tab->setQuestion(question);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && !tab->isRunning(), 20000);
        QCOMPARE(tab->answer()->result.writes, 600);
        ui::CommandTimeline* timeline = tab->timeline();
        const auto spans = ui::openSpans(timeline->picture(), timeline->end());
        for (const RuledIssued& one : timeline->picture().issued) {
            if (one.command != RuledCommand::Read && one.command != RuledCommand::Write) continue;
            const auto& open = spans[static_cast<std::size_t>(one.bank)];
            QVERIFY(std::ranges::any_of(
                open, [&](const ui::OpenSpan& span) { return span.from < one.cycle && one.cycle < span.to; }));
        }
        QTemporaryDir folder;
        QCOMPARE(timeline->exportTo(folder.filePath("m.csv")), QString());
        QCOMPARE(timeline->exportTo(folder.filePath("m.svg")), QString());
        QCOMPARE(timeline->exportTo(folder.filePath("m.tex")), QString());
        QFile table(folder.filePath("m.tex"));
        QVERIFY(table.open(QIODevice::ReadOnly) && table.readAll().contains("\\toprule"));
        // As a trace: every command once, and the data bus busy for as long as the picture says.
        const LaneTrace trace = commandLanes(timeline->picture());
        std::int64_t commands = 0, data = 0;
        for (const TraceStretch& each : trace.stretches) {
            commands += each.category == "command";
            if (each.category == "data") data += each.to - each.from;
        }
        QCOMPARE(commands, static_cast<std::int64_t>(timeline->picture().issued.size()));
        QCOMPARE(static_cast<double>(data),
                 timeline->busShare() * static_cast<double>(timeline->end()) * std::max(timeline->picture().buses, 1));
        QVERIFY(QJsonDocument::fromJson(QByteArray::fromStdString(laneTrace(trace))).isObject());
        QVERIFY(!timeline->textAt(QPointF(10, timeline->laneOf(3).center().y())).isEmpty());
    }
    void aFileThatIsNoneIsRefusedWithItsPlace() {
        window_->actions().find("core.memory")->trigger();
        MemoryTab* tab = page_->memory();
        const QString file = home_.filePath("wrong.trace");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write("R 0x40\nX 0x80\n") > 0);
        out.close();
        MemoryQuestion question = tab->question();
        question.pattern = RequestPattern::Trace;
        question.trace = file.toStdString();
        tab->setQuestion(question);
        QTRY_VERIFY_WITH_TIMEOUT(tab->refusal() && !tab->isRunning(), 20000);
        QCOMPARE(tab->refusal()->place.line, 2);
        QVERIFY(page_->findChild<ui::Label*>("core.memory.problem")->text().contains("wrong.trace:2"));
    }

    void whatWasAskedIsThereAgain() {
        page_->block()->editor()->setPlainText("48 01 d8");
        QSettings settings(home_.filePath("kept.ini"), QSettings::IniFormat);
        page_->saveView(settings);
        page_->block()->editor()->clear();
        page_->restoreView(settings);
        QCOMPARE(page_->block()->editor()->toPlainText(), QString("48 01 d8"));
    }
    void picturesInLightAndDark() {
        QDir().mkpath(ORRERY_TEST_OUTPUT "/studio");
        click("core.block.example");
        QTRY_VERIFY(page_->block()->answer() && page_->block()->isUpToDate());
        (void)pipeline("gemm m=32 n=32 k=32 avx2");
        window_->actions().find("core.memory")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(page_->memory()->answer() && !page_->memory()->isRunning(), 20000);
        for (const bool dark : {false, true}) {
            window_->setTheme(dark);
            for (int tab = 0; tab < page_->tabs()->count(); ++tab) {
                QTabBar* bar = page_->tabs()->tabBar();
                QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(tab).center());
                QCOMPARE(page_->tabs()->currentIndex(), tab);
                QTest::qWait(60);
                QVERIFY(window_->grab().save(
                    QStringLiteral(ORRERY_TEST_OUTPUT "/studio/core-%1-%2.png").arg(tab).arg(dark ? "dark" : "light")));
            }
        }
        window_->setTheme(false);
    }

private:
    PipelineTab* pipeline(const char* kernel) {
        window_->actions().find("core.pipeline")->trigger();
        PipelineTab* tab = page_->pipeline();
        (void)tab->setKernel(kernel);
        (void)QTest::qWaitFor([&] { return tab->answer() && !tab->isRunning(); }, 30000);
        if (!tab->answer())
            qFatal("the kernel does not run: %s", tab->refusal() ? toText(*tab->refusal()).c_str() : "no answer yet");
        return tab;
    }
};

QTEST_MAIN(TestStudioCore)
#include "tst_studio_core.moc"
