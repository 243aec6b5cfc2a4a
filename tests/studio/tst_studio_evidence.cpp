// Evidence with real mouse and keys: references opened, methods judged, the worst row found, a method fitted and used.

#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/calibrate_tab.h"
#include "app/window/evidence/column_mapper.h"
#include "app/window/evidence/device_tab.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/fit_words.h"
#include "app/window/evidence/reference_shelf.h"
#include "app/window/evidence/row_detail_view.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/evidence/survey_tab.h"
#include "app/window/evidence/transfer_tab.h"
#include "app/window/main_window.h"
#include "app/window/workload/workload_page.h"
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
#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioEvidence : public EvidenceWindow {
    Q_OBJECT
private slots:
    void initTestCase() { begin(); }
    void init() { show(); }
    void cleanup() { window_.reset(); }

    void aDeviceIsBroughtAndToldBetterWithSamples() {
        page_->tabs()->setCurrentWidget(page_->device());
        DeviceTab* tab = page_->device();
        auto* curve = page_->findChild<ui::SampleCurve*>("device.curve");
        auto* results = page_->findChild<QPlainTextEdit*>("device.results");
        auto* next = page_->findChild<ui::CellsTable*>("device.next");
        auto* state = page_->findChild<ui::Label*>("device.state");
        QVERIFY(curve && results && next && state);
        QVERIFY(curve->marks().empty());
        QVERIFY(!tab->exportList(home_.filePath("none.csv")).isEmpty());  // there is no list yet
        const QString file = home_.filePath("phones.csv");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write("network,cpu_a,cpu_b,cpu_c,npu_a,npu_b\n");
        for (int n = 1; n <= 20; ++n) {
            const double a = n * (1 + 0.1 * (n % 3)), b = n * (1 + 0.4 * (n % 4));
            out.write(QStringLiteral("net%1,%2,%3,%4,%5,%6\n")
                          .arg(n)
                          .arg(9 * a)
                          .arg(7 * a)
                          .arg(4 * a)
                          .arg(b)
                          .arg(2 * b)
                          .toUtf8());
        }
        out.close();
        tab->openTable(file);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && tab->answer()->next.size() == 8, 20'000);
        QCOMPARE(tab->answer()->knownDevices, std::size_t{5});
        QCOMPARE(next->cells()->rowCount(), 8);
        QCOMPARE(curve->marks().size(), std::size_t{8});
        QVERIFY(curve->marks().back().planned && curve->marks().back().said < curve->marks().front().said);
        QVERIFY(tab->exportList(home_.filePath("list.csv")).isEmpty());
        QFile list(home_.filePath("list.csv"));
        QVERIFY(list.open(QIODevice::ReadOnly) && list.readAll().startsWith("network,latency_ms\nnet"));
        for (const char* name : {"told.told.csv", "told.tex", "told.svg", "told.pdf", "told.png"}) {
            QVERIFY2(tab->exportList(home_.filePath(name)).isEmpty(), name);
            QVERIFY2(QFileInfo(home_.filePath(name)).size() > 20, name);
        }
        // A phone twice as slow as the first: its results, pasted.
        QString pasted = QStringLiteral("network,latency_ms\n");
        for (const int n : {3, 8, 12, 17, 20})
            pasted += QStringLiteral("net%1,%2\n").arg(n).arg(18.0 * n * (1 + 0.1 * (n % 3)));
        results->setPlainText(pasted);
        QTRY_VERIFY_WITH_TIMEOUT(!tab->answer()->told.empty(), 20'000);
        QCOMPARE(curve->marks().front().samples, 1);
        QVERIFY(!curve->marks().front().planned);
        for (const EdgePrediction& each : tab->answer()->told) {
            if (each.network == "net10") QVERIFY(std::abs(each.predicted.mean / (18 * 10 * 1.1) - 1) < 0.15);
        }
        // Its order against a phone's (the same) and an NPU's (not).
        auto* ranks = page_->findChild<ui::RankMatrix*>("device.ranks");
        QVERIFY(ranks && ranks->cells().empty());
        tab->compareWith(QStringLiteral("cpu_b"));
        QCOMPARE(ranks->cells().size(), std::size_t{25});
        double diagonal = 0, npu = 0;
        for (std::size_t i = 0; i < 5; ++i) diagonal += ranks->cells()[i * 6];
        QVERIFY(diagonal >= 18);
        tab->compareWith(QStringLiteral("npu_a"));
        for (std::size_t i = 0; i < 5; ++i) npu += ranks->cells()[i * 6];
        QVERIFY(npu < diagonal);
        // The interval and the order are curves too.
        auto* figure = page_->findChild<QComboBox*>("device.figure");
        QVERIFY(figure);
        figure->setCurrentIndex(1);
        QVERIFY(curve->figure() == ui::SampleCurve::Figure::Interval);
        QVERIFY(curve->marks().front().width > 1);
        results->setPlainText(QStringLiteral("net3,fast"));
        QTRY_VERIFY_WITH_TIMEOUT(state->text().contains("fast"), 20'000);
    }

    // A network of no table is predicted on the device by a graph network, and the device is kept as a file.
    void anImportedNetworkIsPredictedOnTheDevice() {
        page_->tabs()->setCurrentWidget(page_->device());
        DeviceTab* tab = page_->device();
        auto* model = page_->findChild<QComboBox*>("device.model");
        auto* told = page_->findChild<ui::CellsTable*>("device.told");
        auto* also = page_->findChild<QPushButton*>("device.also");
        auto* topologies = page_->findChild<QPushButton*>("device.topologies");
        auto* results = page_->findChild<QPlainTextEdit*>("device.results");
        QVERIFY(model && told && also && topologies && results && !also->isEnabled());
        const QString file = home_.filePath("blocks.csv");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write("arch,first,second,third\n");
        QByteArray measured;
        for (int r = 0; r < 40; ++r) {
            QByteArray code;
            int blocks = 0;
            for (int place = 0; place < 22; ++place) {
                const int id = (r * 7 + place * place * (r % 5 + 1) + place * (r / 9)) % 9;
                code += (place ? " " : "") + QByteArray::number(id);
                blocks += id < 8 ? 1 + id % 4 : 0;
            }
            out.write(code + "," + QByteArray::number(10 + blocks) + "," + QByteArray::number(30 + 2 * blocks) + "," +
                      QByteArray::number(5 + 3 * blocks) + "\n");
            if (r % 8 == 0) measured += code + "," + QByteArray::number(20 + 2 * blocks) + "\n";
        }
        out.close();
        tab->openTable(file);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer() && tab->answer()->told.size() == 40, 20'000);
        QVERIFY(also->isEnabled() && model->isEnabled() && !topologies->isEnabled());
        results->setPlainText(QString::fromUtf8(measured));
        tab->predictAlso(QStringLiteral("mobilenet-v2"));
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer()->others.size() == 1, 60'000);
        QCOMPARE(model->currentIndex(), 1);
        QCOMPARE(told->cells()->rowCount(), 41);
        QVERIFY(told->cells()->index(0, 0).data().toString().startsWith("mobilenet-v2"));
        QTRY_VERIFY_WITH_TIMEOUT(tab->exportList(home_.filePath("board.json")).isEmpty(), 60'000);
        const auto device = readDeviceFile(home_.filePath("board.json").toStdString());
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        const auto again = device->tell("mobilenet-v2");
        QVERIFY(again && std::abs(again->mean / tab->answer()->others.front().predicted.mean - 1) < 1e-3);
        // One that cannot be read is refused, and the answer stays.
        auto* state = page_->findChild<ui::Label*>("device.state");
        const QString broken = home_.filePath("broken.onnx");
        QFile nothing(broken);
        QVERIFY(nothing.open(QIODevice::WriteOnly) && nothing.write("no model") > 0);
        nothing.close();
        tab->predictAlso(broken);
        QTRY_VERIFY_WITH_TIMEOUT(!tab->isWorking() && state->toolTip().contains("broken.onnx"), 20'000);
        QCOMPARE(told->cells()->rowCount(), 41);
        // Counts cannot predict it: they predict the table's, and say so. It can be left out again.
        model->setCurrentIndex(0);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer()->others.empty() && told->cells()->rowCount() == 40, 20'000);
        QVERIFY(state->text().contains("Only the graph network"));
        auto* forget = page_->findChild<QPushButton*>("device.forget");
        QVERIFY(forget && !forget->isHidden());
        QTest::mouseClick(forget, Qt::LeftButton);
        QVERIFY(forget->isHidden());
        model->setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(tab->answer()->graph() && tab->answer()->others.empty(), 60'000);
    }

    void aTableThatIsOpenedIsListedWithItsRows() {
        const auto before = page_->shelf()->tables()->size();
        open();
        QCOMPARE(page_->shelf()->tables()->size(), before + 1);
        showTab("References");
        auto* list = page_->findChild<QListWidget*>("references.tables");
        QCOMPARE(list->count(), static_cast<int>(before) + 1);
        list->setCurrentRow(list->count() - 1);
        auto* rows = page_->findChild<QTableView*>("references.rows");
        QCOMPARE(rows->model()->rowCount(), 160);
        QVERIFY(rows->model()->index(0, 0).data().toString().contains("1×512×256"));
        // Opened again it replaces itself.
        open();
        QCOMPARE(page_->shelf()->tables()->size(), before + 1);
        QTest::mouseClick(page_->findChild<QPushButton*>("references.remove"), Qt::LeftButton);
        QCOMPARE(page_->shelf()->tables()->size(), before);
    }

    void aBrokenTableIsRefusedAndNothingIsLost() {
        open();
        const auto before = page_->shelf()->tables();
        const QString broken = home_.path() + QStringLiteral("/h100_sxm__x__gemm.csv");
        QFile out(broken);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write("gemm_dtype,m,n\nbfloat16,1,2\n");
        out.close();
        QSignalSpy refused(page_->shelf(), &ReferenceShelf::refused);
        page_->shelf()->open({broken});
        QTRY_COMPARE(refused.size(), 1);
        QCOMPARE(page_->shelf()->tables(), before);
    }

    void aTableThatNothingKnowsIsMappedTriedSavedAndImported() {
        const QString file = home_.path() + QStringLiteral("/bench.csv");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(
            "GPU,Precision,M,N,K,Result\nH100 SXM,half,1024,4096,4096,45.3\nH100 SXM,single,512,4096,4096,400\n"
            "H100 SXM,half,0,4096,4096,45.3\n");
        out.close();
        showTab("References");
        const auto before = page_->shelf()->tables()->size();
        auto* mapper = page_->findChild<ColumnMapper*>();
        QVERIFY(mapper && !mapper->isVisible());
        page_->shelf()->open({file});
        QTRY_VERIFY(mapper->isVisible());  // refused, so it is asked what its columns are
        auto* import = page_->findChild<QPushButton*>("mapping.import");
        auto* save = page_->findChild<QPushButton*>("mapping.save");
        QVERIFY(!import->isEnabled() && !save->isEnabled());  // nothing says which column is the time
        enter("mapping.time", "Duration");
        QTRY_VERIFY(page_->findChild<QWidget*>("mapping.time.wrong"));
        enter("mapping.time", "Result");
        enter("mapping.unit", "us");
        QTRY_VERIFY(mapper->preview() && mapper->preview()->rows.size() == 1);
        enter("mapping.dtype.word1", "fp32");
        QTRY_VERIFY(mapper->preview() && mapper->preview()->rows.size() == 2);
        QVERIFY(!page_->findChild<QWidget*>("mapping.time.wrong"));
        // The row without an extent is named with its line, and a click shows it.
        auto* problems = page_->findChild<QListWidget*>("mapping.problems");
        QCOMPARE(problems->count(), 1);
        QVERIFY(problems->item(0)->text().contains("4"));
        const QRect place = problems->visualItemRect(problems->item(0));
        QTest::mouseClick(problems->viewport(), Qt::LeftButton, {}, place.center());
        QCOMPARE(page_->findChild<ui::CellsTable*>("mapping.rows")->currentRow(), 2);
        const QString kept = home_.path() + QStringLiteral("/bench.yaml");
        QCOMPARE(mapper->save(kept), QString());
        QVERIFY(readImportFile(kept.toStdString()));
        QVERIFY(!mapper->save(QStringLiteral("/nowhere/at/all.yaml")).isEmpty());
        QTest::mouseClick(import, Qt::LeftButton);
        QTRY_COMPARE(page_->shelf()->tables()->size(), before + 1);
        QVERIFY(!mapper->isVisible());
        QCOMPARE(page_->shelf()->tables()->back().rows.size(), 2U);
        auto* list = page_->findChild<QListWidget*>("references.tables");
        QTRY_COMPARE(list->currentRow(), list->count() - 1);
    }

    void leavingTheMappingChangesNothing() {
        const QString file = home_.path() + QStringLiteral("/leave.csv");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write("a,b\n1,2\n");
        out.close();
        showTab("References");
        const auto before = page_->shelf()->tables();
        page_->shelf()->open({file});
        auto* mapper = page_->findChild<ColumnMapper*>();
        QTRY_VERIFY(mapper->isVisible());
        QTest::mouseClick(page_->findChild<QPushButton*>("mapping.close"), Qt::LeftButton);
        QVERIFY(!mapper->isVisible());
        QCOMPARE(page_->shelf()->tables(), before);
    }

    void methodsAreJudgedAndTheWorstRowIsFound() {
        open();
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        QTest::keyClicks(where, "kind=gemm, software=made-up-1.0");
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        QVERIFY(judged.wait(120000));
        const auto& all = page_->accuracy()->judgements();
        const auto roofline =
            std::ranges::find_if(all, [](const Judgement& j) { return j.method == QStringLiteral("roofline"); });
        QVERIFY(roofline != all.end());
        QVERIFY(roofline->evaluation);
        // What stands on the side that some shipped calibration was fitted to (a fifth of the rows for most, half for
        // one) is not judged.
        const std::size_t rowsJudged = roofline->evaluation->rows.size();
        QVERIFY2(rowsJudged > 40 && rowsJudged < 150, qPrintable(QString::number(rowsJudged)));
        // A roofline is below what was made up from 60 % of it.
        QVERIFY(roofline->evaluation->figures.errors.bias < 0);

        auto* plot = page_->findChild<ui::AccuracyPlot*>();
        plot->grab();
        auto* table = page_->findChild<ui::CellsTable*>("accuracy.methods");
        QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(0).toPoint());
        QVERIFY(table->currentRow() >= 0);
        auto* residuals = page_->accuracy()->findChild<ui::ResidualPlot*>("evidence.residuals");
        QCOMPARE(residuals->rowCount(), rowsJudged);
        auto* worst = page_->findChild<ui::CellsTable*>("accuracy.worst");
        QVERIFY(worst->cells()->rowCount() > 0);
        QVERIFY(worst->cells()->index(0, 3).data().toString().contains(".csv:"));
        // Sorting by a click on a head keeps every row.
        page_->findChild<QTabWidget*>("accuracy.below")->setCurrentWidget(table);
        const int rows = table->model()->rowCount();
        const QHeaderView* head = table->horizontalHeader();
        QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                          {head->sectionViewportPosition(1) + 10, head->height() / 2});
        QCOMPARE(table->model()->rowCount(), rows);
        table->grab();
    }

    // Means of different rows are not put side by side unless somebody asks for it.
    void methodsAreComparedOnCommonRows() {
        open();
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        QTest::keyClicks(where, "kind=gemm, software=made-up-1.0");
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        QVERIFY(judged.wait(120000));
        const auto& compared = page_->accuracy()->compared();
        QVERIFY(compared && compared->judgements.size() >= 3);
        const std::size_t common = compared->common.rows.size(), methods = compared->judgements.size();
        QVERIFY(common > 20);
        for (const CommonFigures& each : compared->common.figures) QCOMPARE(each.figures.errors.rows, common);
        auto* state = page_->findChild<ui::Label*>("accuracy.state");
        QVERIFY2(state->toolTip().contains(QString::number(common)) || state->text().contains(QString::number(common)),
                 qPrintable(state->text()));
        auto* table = page_->findChild<ui::CellsTable*>("accuracy.methods");
        const auto firstIn = [&] {
            int stated = 0;
            for (int row = 0; row < table->cells()->rowCount(); ++row)
                stated += table->cells()->index(row, 2).data().toString().endsWith('%');
            return stated;
        };
        QCOMPARE(firstIn(), static_cast<int>(methods));
        // The count beside a figure is of the rows that the figure is of: of all who are compared the common ones.
        for (int row = 0; row < table->cells()->rowCount(); ++row) {
            if (!table->cells()->index(row, 2).data().toString().endsWith('%')) continue;
            QCOMPARE(table->cells()->index(row, 3).data(ui::CellsModel::SortRole).toDouble(),
                     static_cast<double>(common));
        }
        QCOMPARE(table->cells()->headerData(3, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("Rows"));
        auto* check = page_->findChild<QCheckBox*>("accuracy.common");
        QTest::mouseClick(check, Qt::LeftButton, {}, {8, check->height() / 2});
        QVERIFY(!check->isChecked());
        QTRY_COMPARE(firstIn(), 0);
        QTest::mouseClick(check, Qt::LeftButton, {}, {8, check->height() / 2});
        QTRY_COMPARE(firstIn(), static_cast<int>(methods));
        // As files: the picture, the rows, the figures, a table for a paper.
        QTemporaryDir folder;
        for (const char* name : {"a.svg", "a.pdf", "a.png", "a.csv", "a.json", "a.tex", "a.matrix.csv"}) {
            const QString file = folder.filePath(name);
            QCOMPARE(page_->accuracy()->exportTo(file), QString());
            QVERIFY2(QFileInfo(file).size() > 200, name);
        }
        QFile tex(folder.filePath("a.tex"));
        QVERIFY(tex.open(QIODevice::ReadOnly));
        const QByteArray table2 = tex.readAll();
        QVERIFY(table2.count("\\\\\n") >= static_cast<qsizetype>(methods) + 2);
        QCOMPARE(table2.count("\\begin{tabular}"), qsizetype(2));  // the figures, and methods by scenario
        QVERIFY(!page_->accuracy()->exportTo("/proc/none/a.svg").isEmpty());
        // A report of the project holds the comparison's own, in a folder.
        const auto report = page_->report(folder.path());
        QVERIFY(report && report->contains(folder.filePath("comparison/report.html")));
        for (const QString& each : *report) QVERIFY2(QFileInfo(each).size() > 20, qPrintable(each));
        // One method less: it stands there as not compared, and the others have at least as many rows in common.
        auto* menu = page_->findChild<QToolButton*>("accuracy.compared")->menu();
        QAction* one = nullptr;
        for (QAction* action : menu->actions())
            if (action->isChecked()) one = action;
        QVERIFY(one);
        QSignalSpy again(page_->accuracy(), &AccuracyTab::judged);
        one->trigger();
        QVERIFY(again.wait(60000));
        QCOMPARE(page_->accuracy()->compared()->judgements.size(), methods - 1);
        QVERIFY(page_->accuracy()->compared()->common.rows.size() >= common);
        QCOMPARE(firstIn(), static_cast<int>(methods) - 1);
    }

    // Chips choose rows, a cell of the matrix chooses a scenario, a row says where two methods part.
    void chipsCellsAndRowsFilterEachOther() {
        auto* where = page_->findChild<QLineEdit*>("accuracy.where");
        where->clear();
        QTest::keyClicks(where, "device=h100-sxm|tpu-v3-core, kind=gemm");
        QSignalSpy judged(page_->accuracy(), &AccuracyTab::judged);
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.run"), Qt::LeftButton);
        QVERIFY(judged.wait(120000));
        AccuracyTab* tab = page_->accuracy();
        auto* chips = page_->findChild<ui::RowChips*>("evidence.chips");
        auto* tpu = chips->chip("platform", "TPU");
        QVERIFY(tpu && tpu->isChecked() && tpu->text().contains("4"));
        const auto platforms = [&] {
            std::set<std::string> found;
            for (const RowRef row : tab->compared()->rows) found.insert(facetOf(Facet::Platform, *tab->tables(), row));
            return found;
        };
        QCOMPARE(platforms(), (std::set<std::string>{"GPU", "TPU"}));
        QTest::mouseClick(tpu, Qt::LeftButton);
        QTRY_COMPARE(platforms(), (std::set<std::string>{"GPU"}));
        QTest::mouseClick(tpu, Qt::LeftButton);
        QTRY_COMPARE(platforms(), (std::set<std::string>{"GPU", "TPU"}));

        auto* matrix = page_->findChild<ui::MethodMatrixView*>("evidence.matrix");
        const ui::MatrixPicture& picture = matrix->matrixModel()->picture();
        const auto place = [&](const QString& title, const QString& column) {
            for (std::size_t row = 0; row < picture.rows.size(); ++row) {
                for (qsizetype c = 0; c < picture.columns.size(); ++c) {
                    if (picture.rows[row].title == title && picture.columns[c].startsWith(column))
                        return matrix->model()->index(static_cast<int>(row), static_cast<int>(c) + 1);
                }
            }
            return QModelIndex();
        };
        // Tiles in waves are of GPUs: grey, with the reason.
        const QModelIndex grey = place("Tiles and waves", "TPU");
        QVERIFY(grey.isValid());
        QVERIFY(grey.data(Qt::ToolTipRole).toString().contains("not a GPU"));
        // A click on it says the reason where rows would stand.
        auto* residuals = page_->accuracy()->findChild<ui::ResidualPlot*>("evidence.residuals");
        const auto click = [&](const QModelIndex& at) {
            matrix->scrollTo(at);
            QTest::mouseClick(matrix->viewport(), Qt::LeftButton, {}, matrix->visualRect(at).center());
        };
        click(grey);
        QTRY_COMPARE(platforms(), (std::set<std::string>{"TPU"}));
        QTRY_VERIFY2(residuals->accessibleDescription().contains("not a GPU"),
                     qPrintable(residuals->accessibleDescription()));
        QCOMPARE(residuals->rowCount(), std::size_t{0});
        // Another method without rows there gives its own name and reason, and one with rows gives none.
        const MethodMatrix& whole = tab->compared()->matrix;
        const auto tpuColumn = static_cast<std::size_t>(
            std::ranges::find(whole.columns, std::string("TPU"), &MatrixColumn::word) - whole.columns.begin());
        QVERIFY(tpuColumn < whole.columns.size());
        int unfit = -1, answering = -1;
        for (std::size_t i = 0; i < whole.cells.size(); ++i) {
            const Judgement& each = tab->judgements()[i];
            if (!each.evaluation || each.title == "Tiles and waves") continue;
            const auto state = whole.cells[i][tpuColumn].state;
            if (state == MatrixCell::State::NotApplicable) unfit = static_cast<int>(i);
            if (state == MatrixCell::State::Judged) answering = static_cast<int>(i);
        }
        QVERIFY(unfit >= 0 && answering >= 0);
        auto* figures = page_->findChild<ui::CellsTable*>("accuracy.methods");
        QVERIFY(figures);
        emit figures->rowChosen(unfit);
        const QString title = tab->judgements()[static_cast<std::size_t>(unfit)].title;
        QVERIFY2(residuals->accessibleDescription().contains(title + " is not applicable"),
                 qPrintable(residuals->accessibleDescription()));
        emit figures->rowChosen(answering);
        QVERIFY2(residuals->rowCount() > 0 && !residuals->accessibleDescription().contains("not applicable"),
                 qPrintable(residuals->accessibleDescription()));
        click(place("Tiles and waves", "TPU"));
        QTRY_COMPARE(platforms(), (std::set<std::string>{"GPU", "TPU"}));
        QTRY_VERIFY(residuals->rowCount() > 0 && !residuals->accessibleDescription().contains("not a GPU"));
        const QModelIndex cell = place("NPU tiles", "TPU");
        QVERIFY(cell.isValid() && cell.data().toString().endsWith(" 4"));
        click(cell);
        QTRY_COMPARE(platforms(), (std::set<std::string>{"TPU"}));
        QVERIFY(!chips->chip("platform", "GPU")->isChecked());
        auto* worst = page_->findChild<ui::CellsTable*>("accuracy.worst");
        QTRY_COMPARE(worst->cells()->rowCount(), 4);
        for (int row = 0; row < 4; ++row)
            QVERIFY(worst->cells()->index(row, 3).data().toString().contains("tpu-v3-core"));
        auto* detail = page_->findChild<RowDetailView*>("accuracy.row");
        QSignalSpy answered(detail, &RowDetailView::answered);
        QTest::mouseClick(worst->viewport(), Qt::LeftButton, {},
                          {20, worst->rowViewportPosition(0) + worst->rowHeight(0) / 2});
        QVERIFY(answered.wait(60000));
        QVERIFY2(detail->detail(), qPrintable(page_->findChild<ui::Label*>("accuracy.row.first")->text()));
        QCOMPARE(detail->detail()->methodA, std::string("npu-tile"));
        QVERIFY(detail->detail()->measured > 0 && !detail->detail()->first.empty());
        // Families are of the rows that are shown, not of all that were judged.
        auto* families = page_->findChild<ui::CellsTable*>("accuracy.families");
        double listed = 0;
        for (int row = 0; row < families->cells()->rowCount(); ++row) {
            QCOMPARE(families->cells()->index(row, 0).data().toString(), QString("tpu-v3-core"));
            listed += families->cells()->index(row, 7).data(ui::CellsModel::SortRole).toDouble();
        }
        QCOMPARE(listed, 4.0);
        // All columns are in sight, and what is said of the row stands in full.
        auto* frame = page_->findChild<QScrollArea*>("accuracy.row.frame");
        page_->findChild<QTabWidget*>("accuracy.lists")->setCurrentWidget(frame);
        // In a low window it scrolls in its own frame: the page, and the tabs above it, stay where they are.
        window_->resize(1280, 720);
        QTRY_COMPARE(window_->height(), 720);
        QCoreApplication::processEvents();
        auto* pageFrame = qobject_cast<QScrollArea*>(page_->parentWidget()->parentWidget());
        QVERIFY(pageFrame);
        QTRY_COMPARE(pageFrame->verticalScrollBar()->maximum(), 0);
        QVERIFY(frame->widget()->height() > frame->viewport()->height());
        auto* terms = page_->findChild<ui::CellsTable*>("accuracy.row.terms");
        auto* first = page_->findChild<ui::Label*>("accuracy.row.first");
        QCOMPARE(terms->horizontalHeader()->count(), 4);
        for (const int wide : {1280, 1600}) {
            window_->resize(wide, 1000);
            QTRY_COMPARE(window_->width(), wide);
            QTRY_VERIFY(terms->columnViewportPosition(3) + terms->columnWidth(3) <= terms->viewport()->width());
            for (int c = 1; c < 4; ++c) QVERIFY(terms->columnWidth(c) > 40);
            QTRY_VERIFY(first->isVisible() && first->height() >= first->heightForWidth(first->width()));
            QVERIFY(first->text().contains(QString::fromStdString(detail->detail()->row)));
        }
        // The row becomes the window's question under both methods, as one step of undo.
        auto& document = window_->studio().document;
        const auto before = document.state();
        const QString other = detail->other();
        QTest::mouseClick(page_->findChild<QPushButton*>("accuracy.row.draw"), Qt::LeftButton);
        const auto state = document.state();
        QCOMPARE(state->methods, (std::vector<std::string>{other.toStdString(), "npu-tile"}));
        QCOMPARE(state->scenarios.front().hardware, std::string("Google TPU v3, one core"));
        auto* graph = window_->findChild<WorkloadPage*>();
        QTRY_VERIFY(graph->graph()->shownMetric());
        QTRY_COMPARE(graph->graph()->shownMetric()->id, "ratio/" + other + "/npu-tile");
        document.undoStack()->undo();
        QCOMPARE(document.state()->methods, before->methods);
        QVERIFY(sameContent(*document.state(), *before));
        auto* documents = window_->findChild<QTabWidget*>("documents");
        documents->setCurrentWidget(page_->parentWidget()->parentWidget());
        // The same cell again: all rows.
        click(place("NPU tiles", "TPU"));
        QTRY_COMPARE(platforms(), (std::set<std::string>{"GPU", "TPU"}));
    }

    void aWrongFilterSaysSo() {
        QTest::keyClicks(page_->findChild<QLineEdit*>("accuracy.where"), "nonsense");
        QTest::keyClick(page_->findChild<QLineEdit*>("accuracy.where"), Qt::Key_Return);
        auto* state = page_->findChild<ui::Label*>("accuracy.state");
        QVERIFY(!state->text().isEmpty());
        QVERIFY(page_->accuracy()->judgements().empty());
    }

    // The command line says `kept: as it was`; so does the window.
    void aFitThatChangesNothingSaysSo() {
        CalibrateResult result;
        result.trainingRows = 10;
        SectionOutcome one{"a100-80-sxm", "gemm", "bf16", 10, "a100-80-sxm", "as it was", 0.06, 0.06};
        result.sections = {one};
        QVERIFY2(fitText(result).contains("Not changed") && !fitText(result).contains("Fitted"),
                 qPrintable(fitText(result)));
        one.kept = "a factor";
        one.after = 0.03;
        result.sections.push_back(one);
        const QString both = fitText(result);
        QVERIFY2(both.startsWith("Fitted on 10 rows") && both.contains("kept: as it was") &&
                     both.contains("a factor") && both.contains("6.0 %") && both.contains("3.0 %"),
                 qPrintable(both));
        result.sections.clear();  // nothing was started from
        QCOMPARE(fitText(result), QString("Fitted on 10 rows"));
    }

    void aMethodIsFittedWatchedSavedAndUsed() {
        open();
        showTab("Calibrate");
        auto* method = page_->findChild<QComboBox*>("calibrate.method");
        QVERIFY(method->count() > 0);
        auto* holdout = page_->findChild<QLineEdit*>("calibrate.holdout");
        holdout->selectAll();
        QTest::keyClicks(holdout, "fraction=0.5");
        QTest::keyClicks(page_->findChild<QLineEdit*>("calibrate.where"), "kind=gemm, software=made-up-1.0");
        auto* run = page_->findChild<QPushButton*>("calibrate.run");
        const QString idle = run->text();
        QTest::mouseClick(run, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(run->text(), idle, 240000);
        const auto& result = page_->calibrate()->result();
        QVERIFY2(result, qPrintable(page_->findChild<ui::Label*>("calibrate.state")->text()));
        QVERIFY(result->heldOut);
        QCOMPARE(page_->findChild<ui::Label*>("calibrate.state")->text(), fitText(*result));
        QCOMPARE(result->trainingRows + result->heldOut->rows.size(), 160U);

        const QString file = home_.path() + QStringLiteral("/mine.json");
        QCOMPARE(page_->calibrate()->save(file), QString());
        const auto read = readCalibration(file.toStdString());
        QVERIFY(read);
        QCOMPARE(read->method, result->calibration.method);
        QSignalSpy chosen(page_, &EvidencePage::calibrationChosen);
        QTest::mouseClick(page_->findChild<QPushButton*>("calibrate.use"), Qt::LeftButton);
        QCOMPARE(chosen.size(), 1);
        QVERIFY(window_->live().calibrations());
        QCOMPARE(page_->calibrate()->save(QStringLiteral("/nowhere/at/all.json")).isEmpty(), false);
    }

    void runsOfBeforeAreListedComparedAndReported() {
        const QString file = home_.path() + QStringLiteral("/runs.sqlite");
        auto asked = studyOfProject(readProjectFile(presetsFolder() + "/examples/resnet-50-two-gpus.yaml")->project);
        QVERIFY(asked && asked->study.scenarios.size() == 2);
        Study study = std::move(asked->study);
        study.methods = {"roofline"};
        const auto stored = [&file](const Study& question) -> std::int64_t {
            auto store = RunStore::open(file.toStdString());
            const auto id = store ? (*store)->beginRun(question) : tl::unexpected(store.error());
            if (!id) return -1;
            const auto serial = makeSerialExecutor();
            StudyOptions options;
            options.executor = serial.get();
            bool sound = true;
            for (const StudyResult& result : runStudy(question, options))
                sound = (*store)->add(*id, question, result).has_value() && sound;
            return sound && (*store)->finishRun(*id) ? *id : -1;
        };
        QCOMPARE(stored(study), std::int64_t{1});
        QCOMPARE(stored(study), std::int64_t{2});
        RunsTab* tab = page_->runs();
        tab->setSource([file] { return file; });
        page_->tabs()->setCurrentWidget(tab);
        auto* list = page_->findChild<ui::CellsTable*>("runs.list");
        auto* results = page_->findChild<ui::CellsTable*>("runs.results");
        QCOMPARE(list->cells()->rowCount(), 2);
        QCOMPARE(results->cells()->rowCount(), 2);
        QCOMPARE(results->cells()->columnCount(), 5);
        auto* other = page_->findChild<QComboBox*>("runs.other");
        other->setCurrentIndex(2);  // the older run
        emit other->activated(2);
        QCOMPARE(results->cells()->columnCount(), 8);
        QCOMPARE(results->cells()->index(0, 6).data().toString(), QStringLiteral("0 %"));
        QCOMPARE(results->cells()->index(0, 7).data().toString(), QString());  // the same answer
        // A pinned run is what others are held against, also when the page is made anew.
        list->setCurrentRow(1);
        auto* pin = page_->findChild<QPushButton*>("runs.pin");
        QTest::mouseClick(pin, Qt::LeftButton);
        QVERIFY(pin->isChecked());
        QCOMPARE(list->cells()->index(1, 5).data().toString(), QStringLiteral("baseline"));
        {
            RunsTab later;
            later.setSource([file] { return file; });
            auto* against = later.findChild<QComboBox*>("runs.other");
            QVERIFY2(against->currentText().contains("baseline"), qPrintable(against->currentText()));
            auto* shown = later.findChild<ui::CellsTable*>("runs.results");
            auto* runs = later.findChild<ui::CellsTable*>("runs.list");
            QCOMPARE(shown->cells()->columnCount(), 8);
            // A run that ends meanwhile is shown, marked, and held against the baseline: what changed, and why.
            Study faster = study;
            auto drawn = withAttribute(*faster.scenarios[0].hardware, "hbm2.bandwidth", "9 TB/s");
            QVERIFY(drawn);
            faster.scenarios[0].hardware = std::make_shared<const Hardware>(std::move(*drawn));
            QCOMPARE(stored(faster), std::int64_t{3});
            later.refresh();
            QCOMPARE(runs->currentRow(), 0);
            QCOMPARE(runs->cells()->index(0, 0).data().toString(), QString("3"));
            QVERIFY(shown->cells()->index(0, 6).data().toString() != QStringLiteral("0 %"));
            QCOMPARE(shown->cells()->index(0, 7).data().toString(), QStringLiteral("hardware"));
            // Who looks at an older run goes on with it.
            runs->setCurrentRow(1);
            later.refresh();
            QCOMPARE(runs->currentRow(), 1);
            QCOMPARE(shown->cells()->columnCount(), 8);
        }
        QTest::mouseClick(pin, Qt::LeftButton);
        QCOMPARE(list->cells()->index(2, 5).data().toString(), QStringLiteral("finished"));  // one has come meanwhile
        const QString report = home_.path() + QStringLiteral("/run.html");
        QCOMPARE(tab->saveReport(report), QString());
        QFile written(report);
        QVERIFY(written.open(QIODevice::ReadOnly) && written.readAll().contains("<html"));
        QVERIFY(!tab->saveReport(QStringLiteral("/nowhere/at/all.html")).isEmpty());
        // A file that is no database says so and shows nothing.
        const QString bad = home_.path() + QStringLiteral("/bad.sqlite");
        QFile out(bad);
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write("no database, but long enough to be taken for one") > 0);
        out.close();
        tab->setSource([bad] { return bad; });
        QCOMPARE(list->cells()->rowCount(), 0);
        QVERIFY(!page_->findChild<ui::Label*>("runs.state")->text().isEmpty());
        QVERIFY(!page_->findChild<QPushButton*>("runs.report")->isEnabled());
    }

    void tabsAreFoundByTheirWords() {
        for (const auto& [words, tab] : {std::pair{"Runs of this project", "Runs"}, {"Survey of methods", "Survey"}}) {
            const auto all = page_->findable();
            const auto found = std::ranges::find(all, QString(words), &ui::PaletteEntry::title);
            QVERIFY2(found != all.end(), words);
            found->run();
            QCOMPARE(page_->tabs()->tabText(page_->tabs()->currentIndex()), QString(tab));
        }
    }

    void anEmptySplitIsRefused() {
        open();
        showTab("Calibrate");
        auto* holdout = page_->findChild<QLineEdit*>("calibrate.holdout");
        holdout->selectAll();
        QTest::keyClicks(holdout, "device=no-such-device");
        QTest::mouseClick(page_->findChild<QPushButton*>("calibrate.run"), Qt::LeftButton);
        auto* run = page_->findChild<QPushButton*>("calibrate.run");
        QTRY_VERIFY_WITH_TIMEOUT(run->text() == QStringLiteral("Fit"), 20000);
        QVERIFY(!page_->calibrate()->result());
        QVERIFY(!page_->findChild<ui::Label*>("calibrate.state")->text().isEmpty());
    }
};

QTEST_MAIN(TestStudioEvidence)
#include "tst_studio_evidence.moc"
