// The comparison page: kept as a file, results of others, the survey, what transfers, the gallery's example.

#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/calibrate_tab.h"
#include "app/window/evidence/column_mapper.h"
#include "app/window/evidence/device_tab.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/reference_shelf.h"
#include "app/window/evidence/row_detail_view.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/evidence/survey_tab.h"
#include "app/window/evidence/transfer_tab.h"
#include "app/window/evidence/versions_tab.h"
#include "app/window/main_window.h"
#include "app/window/workload/workload_page.h"
#include "evaluation/column_mapping.h"
#include "hardware/files/catalogue.h"
#include "store/judging/judged_rows.h"
#include "store/judging/judging.h"
#include "store/project/project.h"
#include "store/project/study_file.h"
#include "store/runs/run_store.h"
#include "support/event_loop_watch.h"
#include "support/evidence_window.h"
#include "support/studio_fixture.h"
#include "widgets/common/label.h"
#include "widgets/evidence/accuracy_plot.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/drift_plot.h"
#include "widgets/evidence/growth_plot.h"
#include "widgets/evidence/method_matrix_view.h"
#include "widgets/evidence/rank_matrix.h"
#include "widgets/evidence/residual_plot.h"
#include "widgets/evidence/row_chips.h"
#include "widgets/evidence/sample_curve.h"
#include "widgets/evidence/story_view.h"
#include "widgets/evidence/survey_matrix.h"
#include "widgets/evidence/training_plot.h"
#include "widgets/evidence/why_view.h"
#include "widgets/graph/graph_view.h"

#include <QtWidgets>

#include <cmath>
#include <map>
#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioJudging : public EvidenceWindow {
    Q_OBJECT
private slots:
    void initTestCase() { begin(); }
    void init() { show(); }
    void cleanup() { window_.reset(); }

    // A table that a person mapped is in the file with its mapping, and figures that were judged without it are not
    // its.
    void aMappedTableGoesWithThePage() {
        QTemporaryDir folder;
        const QString table = folder.filePath("mine.csv"), file = folder.filePath("page.yaml");
        {
            QFile mine(table);
            QVERIFY(mine.open(QIODevice::WriteOnly));
            mine.write("rows_of_a,cols_of_b,inner,took\n512,512,512,12.5\n1024,1024,512,22.5\n");
        }
        page_->findChild<QLineEdit*>("accuracy.where")->setText("kind=gemm, device=h100-sxm, m=512..1024, n=512|1024");
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QVERIFY(judged.wait(120000));
        ColumnMapping mapping;
        QVERIFY(
            setMappedTerms(mapping, "kind=gemm, dtype=bf16, m=rows_of_a, n=cols_of_b, k=inner, time=took, unit=us"));
        mapping.device = "h100-sxm";
        auto description = describe(mapping);
        QVERIFY(description);
        const auto before = page_->shelf()->tables()->size();
        page_->shelf()->open({table}, {}, std::make_shared<const ImportDescription>(std::move(*description)));
        QTRY_COMPARE(page_->shelf()->tables()->size(), before + 1);
        QCOMPARE(page_->accuracy()->saveTo(file), QString());
        const auto question = readJudgingFile(file.toStdString());
        QVERIFY2(question, question ? "" : question.error().message.c_str());
        QCOMPARE(question->imports.size(), std::size_t{1});
        QVERIFY(question->saved.hash.empty());
        const auto tables = judgingTables(*question);
        QVERIFY2(tables, tables ? "" : tables.error().message.c_str());
        QCOMPARE((*tables)->back().rows.size(), std::size_t{2});
        page_->shelf()->remove(static_cast<int>(before));
        page_->accuracy()->ask(*question, file);
        QVERIFY(judged.wait(120000));
        QTRY_COMPARE(page_->shelf()->tables()->size(), before + 1);
    }

    // What the page saves, the engine answers to the same figures; it opens again as it was, and leaves a paper.
    void thePageIsAFile() {
        open();
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        QTest::keyClicks(where, "kind=gemm, software=made-up-1.0, m=64..");
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        QVERIFY(judged.wait(120000));
        AccuracyTab* tab = page_->accuracy();
        QTemporaryDir folder;
        const QString file = folder.filePath("page.yaml");
        QCOMPARE(tab->saveTo(file), QString());
        auto* state = page_->findChild<ui::Label*>("accuracy.state");
        QVERIFY2((state->toolTip() + state->text()).contains("orrery-cli evaluate"), qPrintable(state->text()));
        const auto question = readJudgingFile(file.toStdString());
        QVERIFY2(question, question ? "" : question.error().message.c_str());
        const auto executor = makeDefaultExecutor();
        JudgeOptions options;
        options.executor = executor.get();
        const auto answer = judge(*question, options);
        QVERIFY2(answer, answer ? "" : answer.error().message.c_str());
        QCOMPARE(answer->hash, question->saved.hash);
        QCOMPARE(answer->common.size(), tab->compared()->common.rows.size());
        std::size_t same = 0;
        QCOMPARE(tab->judgements().size(), answer->entries.size());  // the same methods are asked
        for (std::size_t i = 0; i < tab->judgements().size(); ++i) {
            const auto entry = std::ranges::find_if(answer->entries, [&](const JudgedEntry& each) {
                return each.asked == tab->judgements()[i].method.toStdString();
            });
            QVERIFY(entry != answer->entries.end());
            QCOMPARE(entry->compared, tab->compared()->isCompared(static_cast<int>(i)));
            QCOMPARE(entry->evaluation != nullptr, tab->judgements()[i].evaluation != nullptr);
            QCOMPARE(entry->facts.points(), tab->compared()->facts[i].points());
            if (!entry->compared) continue;
            ++same;
            QCOMPARE(entry->common.figures.errors.mape,
                     tab->compared()->figuresOf(static_cast<int>(i))->figures.errors.mape);
        }
        QVERIFY(same >= 3);
        // Everything is written, figures also as PDF.
        QSignalSpy written(tab, &AccuracyTab::pageWritten);
        tab->writePage(folder.path());
        QVERIFY(written.count() > 0 || written.wait(120000));
        QCOMPARE(written.front().at(1).toString(), QString());
        for (const char* name : {"report.html", "report.pdf", "plane.svg", "plane-column.pdf", "matrix.pdf", "rows.csv",
                                 "table.tex", "lineage.bib", "judging.yaml"})
            QVERIFY2(QFileInfo(folder.filePath(name)).size() > 100, name);
        // Opened, it asks the same again.
        where->clear();
        QSignalSpy again(tab, &AccuracyTab::judged);
        page_->open(file);
        QVERIFY(again.wait(120000));
        QCOMPARE(where->text(), QString("kind=gemm, software=made-up-1.0, m=64.."));
        QCOMPARE(tab->compared()->saved.hash, question->saved.hash);
        QCOMPARE(tab->compared()->saved.results, question->saved.results);
        QVERIFY2(tab->compared()->page->asSaved, "the same numbers are known to be the same");
        auto* from = page_->findChild<QToolButton*>("accuracy.from");
        QVERIFY(from->isVisible() && from->text().contains("page.yaml"));
    }

    // A file is asked as it says, of its references alone, and saved again as it was; left, the page is itself again.
    void aFileIsAskedAsItSaysAndLeftAgain() {
        open();
        const auto onShelf = page_->shelf()->tables()->size();
        QTemporaryDir folder;
        JudgingQuestion asked;
        asked.name = "One table";
        asked.meaning = "Nothing else";
        asked.references = {table_.toStdString()};
        asked.where = "m=64..";
        asked.methods = {"roofline", "tile-hybrid"};
        asked.seen = asked.leaveDeviceOut = true;
        asked.by = Facet::Kind;
        asked.most = 7;
        const QString file = folder.filePath("one.yaml");
        const auto write = [&](const JudgingQuestion& question) {
            QFile out(file);
            return out.open(QIODevice::WriteOnly) && out.write(writeJudging(question).c_str()) > 0;
        };
        QVERIFY(write(asked));
        AccuracyTab* tab = page_->accuracy();
        QSignalSpy judged(tab, &AccuracyTab::judged);
        page_->open(file);
        QVERIFY(judged.wait(120000));
        QCOMPARE(tab->tables()->size(), std::size_t{1});
        QCOMPARE(tab->judgements().size(), std::size_t{2});
        QCOMPARE(tab->asked().size(), std::size_t{7});
        QCOMPARE(writeJudging(tab->question()), writeJudging(asked));
        QCOMPARE(page_->findChild<QComboBox*>("accuracy.by")->currentText(), QString("by kind"));
        const auto executor = makeDefaultExecutor();
        JudgeOptions options;
        options.executor = executor.get();
        const auto answer = judge(asked, options);
        QVERIFY2(answer, answer ? "" : answer.error().message.c_str());
        QCOMPARE(resultsHash(*answer), tab->compared()->saved.results);
        // Without what was learned of the device a learned method says something else.
        JudgingQuestion learned = asked;
        learned.leaveDeviceOut = false;
        QVERIFY(resultsHash(*judge(learned, options)) != resultsHash(*answer));
        // Numbers that are not those of the file are said, and why.
        asked.saved = savedRows(*answer);
        asked.saved.results = "0123456789abcdef";
        QVERIFY(write(asked));
        page_->open(file);
        QVERIFY(judged.wait(120000));
        auto* state = page_->findChild<ui::Label*>("accuracy.state");
        QVERIFY2((state->text() + state->toolTip()).contains("predictions"), qPrintable(state->text()));
        QVERIFY(!tab->compared()->page->asSaved);
        // Left: all references, all methods.
        auto* from = page_->findChild<QToolButton*>("accuracy.from");
        QVERIFY(from->isVisible() && from->toolTip().contains("Each device as an unseen device"));
        QTest::mouseClick(from, Qt::LeftButton);
        QVERIFY(judged.wait(120000));
        QVERIFY(!from->isVisible());
        QCOMPARE(tab->tables()->size(), onShelf);
        QVERIFY(tab->judgements().size() > 15);
        QVERIFY(!tab->question().leaveDeviceOut && tab->question().references.front() == "shipped");
    }

    // Another tool's predictions come by a button, stand in the plane and in the saved file, and go again.
    void resultsOfAnotherToolAreImportedByMouse() {
        open();
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        QTest::keyClicks(where, "kind=gemm, software=made-up-1.0, m=64..");
        auto* button = page_->findChild<QPushButton*>("accuracy.import");
        AccuracyTab* tab = page_->accuracy();
        QVERIFY(!button->isEnabled());  // of which rows is not known yet
        QSignalSpy judged(tab, &AccuracyTab::judged);
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QVERIFY(judged.wait(120000));
        const std::size_t before = tab->judgements().size();
        QByteArray csv = "method,row,predicted_s,methodology\n";
        for (const RowRef ref : tab->compared()->rows) {
            const ReferenceRow& row =
                (*tab->tables())[static_cast<std::size_t>(ref.table)].rows[static_cast<std::size_t>(ref.row)];
            csv += "oracle," + QByteArray::fromStdString(rowId(*tab->tables(), ref)) + "," +
                   QByteArray::number(row.seconds, 'g', 17) + ",cycle-accurate\n";
        }
        const QString file = home_.filePath("theirs.csv");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write(csv) == csv.size());
        out.close();
        QTest::mouseClick(button, Qt::LeftButton);
        auto* dialog = page_->findChild<QFileDialog*>("accuracy.import.dialog");
        QVERIFY(dialog);
        emit dialog->fileSelected(file);
        dialog->close();
        QVERIFY(judged.wait(60000));
        QCOMPARE(tab->judgements().size(), before + 1);
        QVERIFY(tab->judgements().back().title.contains("oracle"));
        // It is right everywhere, so it is the first.
        QCOMPARE(tab->compared()->judgements[tab->compared()->common.ranking.front()], static_cast<int>(before));
        QCOMPARE(tab->question().results, std::vector<std::string>{file.toStdString()});
        // Twice the same changes nothing; a file that is none says why.
        tab->importResults(file);
        QCOMPARE(tab->judgements().size(), before + 1);
        const QString bad = home_.filePath("bad.csv");
        QFile wrong(bad);
        QVERIFY(wrong.open(QIODevice::WriteOnly) && wrong.write("method,row,predicted_s\nx,0,-1\n") > 0);
        wrong.close();
        tab->importResults(bad);
        QVERIFY(judged.wait(60000));
        auto* state = page_->findChild<ui::Label*>("accuracy.state");
        QVERIFY2((state->text() + state->toolTip()).contains("bad.csv"), qPrintable(state->text()));
        QCOMPARE(tab->judgements().size(), before + 1);
        tab->removeResults();
        QVERIFY(judged.wait(60000));
        QCOMPARE(tab->judgements().size(), before);
        QVERIFY(tab->question().results.empty());
    }

    // Programs that a project names are judged as well; what cannot answer is not asked.
    void whoIsJudgedFollowsTheProject() {
        const auto all = toBeJudged({});
        const auto has = [](const std::vector<Judgement>& judged, const char* method) {
            return std::ranges::count_if(judged,
                                         [&](const Judgement& each) { return each.method == QLatin1String(method); });
        };
        QCOMPARE(has(all, "roofline"), 1);
        QCOMPARE(has(all, "gpu-cycle"), 0);  // seconds for a kernel
        QCOMPARE(has(all, "recorded"), 0);   // needs a file
        const auto named = toBeJudged({"roofline", "timeloop", "gpu-cycle", "recorded", "tile-hybrid(launch=graph)"});
        QCOMPARE(named.size(), all.size() + 3);
        for (const char* method : {"roofline", "timeloop", "gpu-cycle", "tile-hybrid(launch=graph)"})
            QCOMPARE(has(named, method), 1);
        QCOMPARE(has(named, "recorded"), 0);
        QCOMPARE(toBeJudged({"timeloop"}, {"roofline"}).size(), std::size_t{1});
    }

    // The gallery's comparison from a clone alone. Seconds and stalls are this machine's and are told, not judged, but
    // for what no machine may take.
    void theGallerysComparisonFills() {
        AccuracyTab* tab = page_->accuracy();
        auto* plot = page_->findChild<ui::AccuracyPlot*>();
        QSignalSpy judged(tab, &AccuracyTab::judged);
        QElapsedTimer clock;
        clock.start();
        window_->openExample("compare-methods");  // whose project adds what was recorded
        QTest::qWait(1000);                       // until its drawing and its panels stand
        QVERIFY(judged.isEmpty());
        EventLoopWatch watch;
        QVERIFY(judged.wait(240'000));
        const double seconds = static_cast<double>(clock.elapsed()) / 1e3;
        waitTakingEvents([] { return false; }, 300);
        watch.stop();
        std::set<QString> methodologies;
        std::size_t measured = 0, apart = 0;
        for (const ui::AccuracyPoint& point : plot->points()) {
            methodologies.insert(point.methodology);
            measured += point.simulated ? 0 : 1;
            apart += point.apart ? 1 : 0;
        }
        std::set<std::string> platforms;
        for (const MatrixColumn& column : tab->compared()->matrix.columns)
            if (column.asked > 0) platforms.insert(column.word);
        qInfo(
            "%zu dots (%zu on rows of their own) of %zu methodologies, %zu platforms, %zu judged by measurements "
            "alone; "
            "%.1f s; at most %.1f ms without an event, %.1f ms of them the window's own work",
            plot->points().size(), apart, methodologies.size(), platforms.size(), measured, seconds, watch.longest(),
            watch.busiest());
        QVERIFY(plot->points().size() >= 15);
        QCOMPARE(methodologies.size(), std::size_t{5});
        QVERIFY(platforms.size() >= 4);
        QVERIFY(2 * measured >= plot->points().size());
        // Beside other work these tell nothing of the product.
        if (qEnvironmentVariableIsSet("ORRERY_STALL_ALL")) {
            QVERIFY(seconds <= 20);
            QVERIFY(watch.busiest() <= 16);
        }
        // Nobody stands apart in the ranking, and who does says so.
        // A front is of one group, and the groups are those that the page tells apart.
        std::set<int> groups;
        for (const auto& front : ui::paretoFronts(plot->points())) {
            for (const int point : front) {
                QVERIFY(!plot->points()[static_cast<std::size_t>(point)].apart);
                QCOMPARE(plot->points()[static_cast<std::size_t>(point)].group,
                         plot->points()[static_cast<std::size_t>(front.front())].group);
                groups.insert(plot->points()[static_cast<std::size_t>(point)].group);
            }
        }
        QCOMPARE(groups.size(), std::max<std::size_t>(1, tab->compared()->page->groups));
    }

    // How errors of kernels add up, for the method that is shown: between √N and N, and equal to both for one kernel.
    void theGrowthOfErrorsIsShown() {
        open();
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        QTest::keyClicks(where, "device=h100-sxm, kind=gemm");
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        page_->accuracy()->judge();
        QVERIFY(judged.wait(120'000));
        auto* against = page_->findChild<QComboBox*>("accuracy.against");
        auto* growth = page_->accuracy()->findChild<ui::GrowthPlot*>();
        auto* residuals = page_->accuracy()->findChild<ui::ResidualPlot*>();
        QVERIFY(against && growth && residuals && !growth->isVisible() && residuals->isVisible());
        against->setFocus();
        QTest::keyClick(against, Qt::Key_End);
        QTRY_VERIFY(growth->isVisible());
        QVERIFY(!residuals->isVisible());
        const auto& marks = growth->marks();
        QVERIFY(marks.size() > 2);
        QCOMPARE(marks.front().kernels, 1.0);
        QVERIFY(std::abs(marks.front().measured - marks.front().common) < 1e-12);
        QVERIFY(std::abs(marks.front().measured - marks.front().independent) < 1e-12);
        for (const ui::GrowthMark& mark : marks) {
            QVERIFY(mark.measured <= mark.common + 1e-12 && mark.independent <= mark.common + 1e-12);
            QVERIFY(mark.inside >= 0 && mark.inside <= 1);
        }
        QTest::keyClick(against, Qt::Key_Home);
        QTRY_VERIFY(residuals->isVisible());
    }

    // The survey by mouse: a dot lists its rows, its rows come to the first tab, the tables are written.
    void theSurveyIsClickedAndWritten() {
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        QTest::keyClicks(where, "device=h100-sxm|tpu-v3-core, kind=gemm");
        SurveyTab* tab = page_->survey();
        page_->tabs()->setCurrentWidget(tab);
        auto* matrix = tab->findChild<ui::SurveyMatrix*>();
        auto* rows = tab->findChild<ui::CellsTable*>("survey.rows");
        auto* show = tab->findChild<QPushButton*>("survey.open");
        auto* exporting = tab->findChild<QPushButton*>("survey.export");
        QVERIFY(matrix && rows && show && exporting && !show->isEnabled() && !exporting->isEnabled());
        QVERIFY(!tab->exportTo(home_.filePath("none.md")).isEmpty());
        page_->accuracy()->judge();
        QTRY_VERIFY_WITH_TIMEOUT(tab->survey().has_value(), 120'000);
        QVERIFY(exporting->isEnabled());
        // The first dot of the first cell that has one.
        const ui::SurveyPicture& picture = matrix->surveyModel()->picture();
        int line = -1, column = -1;
        for (int r = 0; line < 0 && r < static_cast<int>(picture.rows.size()); ++r) {
            const auto& cells = picture.rows[static_cast<std::size_t>(r)].cells;
            for (int c = 0; line < 0 && c < static_cast<int>(cells.size()); ++c)
                if (!cells[static_cast<std::size_t>(c)].marks.empty()) line = r, column = c;
        }
        QVERIFY(line >= 0);
        matrix->scrollTo(matrix->surveyModel()->index(line, column));
        QTest::mouseClick(matrix->viewport(), Qt::LeftButton, {}, matrix->placeOf(line, column, 0).toPoint());
        QVERIFY(rows->cells()->rowCount() > 0);
        QVERIFY(show->isEnabled());
        // Two methods at one place: the tip tells both, a click lists the rows of both.
        ui::SurveyMatrix alone;
        alone.resize(400, 200);
        ui::SurveyPicture two;
        two.columns << QStringLiteral("GPU");
        two.rows.push_back({QStringLiteral("hybrid"),
                            0,
                            {{{{3, 0.1, false, QStringLiteral("first")},
                               {7, 0.1, false, QStringLiteral("second")},
                               {9, 2.0, false, QStringLiteral("far")}},
                              {},
                              {}}}});
        alone.setPicture(two);
        alone.show();
        QVERIFY(QTest::qWaitForWindowExposed(&alone));
        QSignalSpy chosen(&alone, &ui::SurveyMatrix::chosen);
        const QPoint at = alone.placeOf(0, 0, 0).toPoint();
        QTest::mouseClick(alone.viewport(), Qt::LeftButton, {}, at);
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(chosen.back()[2].value<QList<int>>(), (QList<int>{3, 7}));
        QHelpEvent hover(QEvent::ToolTip, at, alone.viewport()->mapToGlobal(at));
        QCoreApplication::sendEvent(alone.viewport(), &hover);
        QVERIFY(QToolTip::text().contains("first") && QToolTip::text().contains("second"));
        QVERIFY(!QToolTip::text().contains("far"));
        QToolTip::hideText();
        // In the tab: every method within reach of a click stands in the list.
        const auto& marks = picture.rows[static_cast<std::size_t>(line)].cells[static_cast<std::size_t>(column)].marks;
        std::set<QString> expected, listed;
        for (const int mark :
             matrix->marksAt(matrix->surveyModel()->index(line, column), matrix->placeOf(line, column, 0)))
            expected.insert(page_->accuracy()
                                ->judgements()[static_cast<std::size_t>(marks[static_cast<std::size_t>(mark)].entry)]
                                .title);
        for (int r = 0; r < rows->cells()->rowCount(); ++r) listed.insert(rows->cells()->index(r, 0).data().toString());
        QVERIFY(!expected.empty());
        QVERIFY(listed == expected);
        for (const char* name : {"s.md", "s.csv", "s.methods.csv", "s.json", "s.svg", "s.pdf", "s.png"}) {
            QCOMPARE(tab->exportTo(home_.filePath(name)), QString());
            QVERIFY2(QFileInfo(home_.filePath(name)).size() > 200, name);
        }
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        const QString word =
            QString::fromStdString(tab->survey()->tables.front().columns[static_cast<std::size_t>(column)]);
        QTest::mouseClick(show, Qt::LeftButton);
        QCOMPARE(page_->tabs()->currentWidget(), page_->accuracy());
        QVERIFY(judged.wait(60'000));
        const auto off = page_->accuracy()->comparing().off;
        QVERIFY(off.contains(Facet::Platform) && !off.at(Facet::Platform).contains(word.toStdString()));
        for (const RowRef ref : page_->accuracy()->compared()->rows)
            QCOMPARE(facetOf(Facet::Platform, *page_->accuracy()->tables(), ref), word.toStdString());
    }

    // A low window shows who assumes alike; further columns keep the method's name beside them.
    void aLowWindowShowsWhoAssumesAlike() {
        page_->findChild<QLineEdit*>("accuracy.where")->setText("kind=gemm, device=h100-sxm, m=512..4096");
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QVERIFY(judged.wait(120000));
        auto* table = page_->findChild<ui::CellsTable*>("accuracy.methods");
        window_->resize(1280, 720);
        auto* below = page_->findChild<QTabWidget*>("accuracy.below");
        auto* by = page_->findChild<QComboBox*>("accuracy.by");
        QTest::mouseClick(below->tabBar(), Qt::LeftButton, {}, below->tabBar()->tabRect(0).center());
        QVERIFY(by->isVisible());
        QTest::mouseClick(below->tabBar(), Qt::LeftButton, {}, below->tabBar()->tabRect(1).center());
        QVERIFY2(!by->isVisible(), "it chooses the columns of the other view");
        const auto columnOf = [&](const QString& head) {
            for (int c = 0; c < table->model()->columnCount(); ++c)
                if (table->model()->headerData(c, Qt::Horizontal).toString() == head) return c;
            return -1;
        };
        QTRY_COMPARE(table->horizontalScrollBar()->value(), 0);
        for (const char* head : {"Mean error", "First in", "Rows", "Equals"}) {
            const int c = columnOf(head);
            QVERIFY2(c > 0 && table->columnViewportPosition(c) + table->columnWidth(c) <= table->viewport()->width(),
                     head);
        }
        auto* names = table->findChild<QTableView*>("accuracy.methods.first");
        QVERIFY(names && !names->isVisible());
        table->horizontalScrollBar()->setValue(table->horizontalScrollBar()->maximum());
        const int last = columnOf("Assumes");
        QVERIFY(table->columnViewportPosition(last) + table->columnWidth(last) <= table->viewport()->width());
        QVERIFY(names->isVisible() && names->visualRect(names->model()->index(1, 0)).isValid());
        QTest::mouseClick(names->viewport(), Qt::LeftButton, {},
                          names->visualRect(names->model()->index(1, 0)).center());
        QCOMPARE(table->currentIndex().row(), 1);
        table->horizontalScrollBar()->setValue(0);
        QVERIFY(!names->isVisible());
    }

    void whatOneDeviceTeachesIsJudgedOnOthersByMouse() {
        TransferTab* tab = page_->transfer();
        page_->tabs()->setCurrentWidget(tab);
        auto* where = tab->findChild<QLineEdit*>("transfer.where");
        auto* table = tab->findChild<ui::CellsTable*>("transfer.table");
        auto* run = tab->findChild<QPushButton*>("transfer.run");
        auto* exporting = tab->findChild<QPushButton*>("transfer.export");
        auto* state = tab->findChild<ui::Label*>("transfer.state");
        QVERIFY(where && table && run && exporting && state && !exporting->isEnabled());
        QTest::keyClicks(where, "kind=gemm");
        QTest::mouseClick(run, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(tab->result().has_value(), 60'000);
        // One line per place with rows enough, and one for nothing learned.
        QVERIFY(table->cells()->rowCount() >= 2);
        QCOMPARE(table->cells()->columnCount(), static_cast<int>(tab->result()->groups.size()) + 2);
        // What was learned of GPUs is nearer to GPUs than nothing at all.
        const auto gpu = static_cast<std::size_t>(
            std::ranges::find(tab->result()->groups, std::string("GPU"), &TransferGroup::name) -
            tab->result()->groups.begin());
        QVERIFY(gpu < tab->result()->groups.size());
        QVERIFY(tab->result()->cells[gpu][gpu].mape < tab->result()->untouched[gpu].mape);
        for (const char* name : {"t.csv", "t.json", "t.tex", "t.svg", "t.pdf", "t.png"}) {
            QCOMPARE(tab->exportTo(home_.filePath(name)), QString());
            QVERIFY2(QFileInfo(home_.filePath(name)).size() > 200, name);
        }
        QFile latex(home_.filePath("t.tex"));
        QVERIFY(latex.open(QIODevice::ReadOnly) && latex.readAll().contains("\\toprule"));
        QTest::keyClicks(where, ", m=1..");
        QVERIFY(!table->isEnabled() && state->text().contains("earlier question"));
        where->setText("device=no-such-device");
        QTest::keyClick(where, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(!tab->result().has_value(), 60'000);
        QVERIFY(!exporting->isEnabled() && !state->text().isEmpty());
    }

    // Cells of the matrix come with the methods that answer, not all at the end; who has not answered yet is blank and
    // says so. In the end they are those of the comparison.
    void theMatrixFillsAsMethodsAnswer() {
        open();
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        QTest::keyClicks(where, "kind=gemm, software=made-up-1.0");
        auto* matrix = page_->accuracy()->findChild<ui::MethodMatrixView*>();
        QVERIFY(matrix);
        const auto* model = static_cast<const ui::MethodMatrixModel*>(matrix->model());
        std::vector<int> filled;
        int waiting = 0;
        connect(model, &QAbstractItemModel::modelReset, this, [&] {
            int cells = 0;
            for (const auto& row : model->picture().rows) {
                for (const auto& cell : row.cells) {
                    cells += cell.state == ui::MatrixPicture::Cell::State::Judged ? 1 : 0;
                    waiting += cell.tip.contains("Not judged yet") ? 1 : 0;
                }
            }
            filled.push_back(cells);
        });
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(page_->accuracy()->soFar().has_value(), 120'000);
        QVERIFY(judged.isEmpty() && !page_->accuracy()->compared());
        QVERIFY(judged.wait(120'000));
        QVERIFY(!page_->accuracy()->soFar());
        QVERIFY(filled.size() >= 3);  // emptied, some, all
        QVERIFY(waiting > 0);
        QVERIFY(std::ranges::is_sorted(filled));
        QVERIFY(filled.front() == 0 && filled.back() > 0);
        for (const auto& row : model->picture().rows)
            for (const auto& cell : row.cells) QVERIFY(!cell.tip.contains("Not judged yet"));
        disconnect(model, nullptr, this, nullptr);
    }

    // While methods are judged: the longest time in which the window took no event. ORRERY_STALL_ALL judges all that
    // ships, as the gallery's comparison does.
    void theWindowIsNotHeldUp() {
        open();
        const bool all = qEnvironmentVariableIsSet("ORRERY_STALL_ALL");
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        if (!all) QTest::keyClicks(where, "kind=gemm, software=made-up-1.0");
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        EventLoopWatch watch;
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QVERIFY(judged.wait(120000));
        waitTakingEvents([] { return false; }, 300);
        watch.stop();
        qInfo("%zu methods: at most %.1f ms without an event, %.1f ms of them the window's own work",
              page_->accuracy()->judgements().size(), watch.longest(), watch.busiest());
        QVERIFY(watch.longest() < 2000);
    }

    // The shipped example: attention of SGLang on H100 moved, its products did not.
    void versionsAreComparedByMouse() {
        page_->tabs()->setCurrentWidget(page_->versions());
        auto* example = page_->findChild<QPushButton*>("versions.example");
        auto* exporting = page_->findChild<QPushButton*>("versions.export");
        auto* plot = page_->findChild<ui::DriftPlot*>("versions.plot");
        auto* families = page_->findChild<ui::CellsTable*>("versions.families");
        QVERIFY(example && exporting && plot && families && !exporting->isEnabled());
        // The example joins no references: judging counts the rows that it counted before.
        auto* shelf = page_->findChild<ReferenceShelf*>();
        QVERIFY(shelf && !shelf->isReading());
        const std::size_t loaded = shelf->tables()->size();
        QTest::mouseClick(example, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(page_->versions()->result().has_value(), 60'000);
        QCOMPARE(shelf->tables()->size(), loaded);
        QVERIFY(!shelf->isReading());
        const auto& drift = *page_->versions()->result();
        QCOMPARE(plot->rowCount(), static_cast<int>(drift.families.size()));
        QVERIFY(exporting->isEnabled());
        std::map<std::string, bool> moved;
        for (const FamilyDrift& f : drift.families) moved[f.family.kind + " " + f.family.variant] = f.moved();
        QVERIFY(moved.at("decode-attention bf16") && moved.at("prefill-attention bf16"));
        QVERIFY(!moved.at("gemm bf16"));
        // A line of the picture is a row of the table.
        QTest::mouseClick(plot, Qt::LeftButton, {}, plot->lineOf(2).center());
        QCOMPARE(families->currentRow(), 2);
        const QString svg = home_.filePath("versions.svg"), csv = home_.filePath("versions.csv");
        QCOMPARE(page_->versions()->exportTo(svg), QString());
        QCOMPARE(page_->versions()->exportTo(csv), QString());
        QFile rows(csv);
        QVERIFY(rows.open(QIODevice::ReadOnly));
        QCOMPARE(rows.readAll().count('\n'), 1 + static_cast<int>(drift.families.size()));
        QVERIFY(QFileInfo(svg).size() > 2000);
        // One version alone is no question, and says so.
        auto* where = page_->findChild<QLineEdit*>("versions.where");
        QTest::keyClicks(where, "k");
        QVERIFY(!plot->isEnabled() && !families->isEnabled());
        QVERIFY(page_->findChild<ui::Label*>("versions.state")->text().contains("earlier question"));
        where->setText("device=b200-sxm");
        QTest::keyClick(where, Qt::Key_Return);
        QTRY_VERIFY(!page_->versions()->result().has_value());
        QVERIFY(!exporting->isEnabled());
        QVERIFY(page_->findChild<ui::Label*>("versions.state")->text().contains("two versions"));
        // Without the example what is loaded counts again, which has no two versions of anything.
        where->clear();
        QTest::mouseClick(example, Qt::LeftButton);
        QVERIFY(!example->isChecked());
        QTest::mouseClick(page_->findChild<QPushButton*>("versions.run"), Qt::LeftButton);
        QTRY_COMPARE(page_->findChild<QPushButton*>("versions.run")->text(), QStringLiteral("Compare"));
        QVERIFY(!page_->versions()->result());
    }
};

QTEST_MAIN(TestStudioJudging)
#include "tst_studio_judging.moc"
