// A search over the schedules of a drawn device with real mouse: the curve while it runs, the loops of what was found,
// a stop, words that are no product, files that are written.

#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/schedule_search_tab.h"
#include "app/window/studio.h"
#include "support/event_loop_watch.h"
#include "support/evidence_window.h"
#include "widgets/common/label.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/schedules/nest_code.h"
#include "widgets/schedules/nest_picture.h"
#include "widgets/serving/line_plot.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioScheduleSearch : public EvidenceWindow {
    Q_OBJECT

    template <class Widget>
    Widget* found(const char* name) const {
        auto* widget = page_->findChild<Widget*>(QStringLiteral("search.schedules.") + QLatin1String(name));
        if (!widget) qFatal("no %s", name);
        return widget;
    }
    void search(const char* device, const char* workload, ScheduleGuide guide, int trials) {
        auto* devices = found<QComboBox>("device");
        devices->setCurrentIndex(devices->findData(QString::fromLatin1(device)));
        found<QLineEdit>("workload")->setText(QString::fromLatin1(workload));
        auto* guides = found<QComboBox>("guide");
        guides->setCurrentIndex(guides->findData(static_cast<int>(guide)));
        found<QSpinBox>("trials")->setValue(trials);
        QTest::mouseClick(found<QPushButton>("start"), Qt::LeftButton);
    }

private slots:
    void initTestCase() { begin(); }
    void init() {
        show();
        page_->tabs()->setCurrentWidget(page_->scheduleKinds());
        tab_ = page_->scheduleSearch();
        page_->scheduleKinds()->setCurrentWidget(tab_);
    }
    void cleanup() { window_.reset(); }

    void guidesAreLinesOfOnePlot() {
        QVERIFY(!tab_->exportTo(home_.filePath("none.csv")).isEmpty());
        EventLoopWatch watch;
        QElapsedTimer took;
        took.start();
        search("a100-80-sxm", "gemm m=128 n=256 k=256", ScheduleGuide::Trees, 40);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 120'000);
        watch.stop();
        // The search is not the window's: it would work at one stretch as long as the search takes.
        QVERIFY2(watch.busiest() < std::max(150.0, 0.5 * static_cast<double>(took.elapsed())),
                 qPrintable(QString::number(watch.busiest())));
        auto* plot = found<ui::LinePlot>("plot");
        QCOMPARE(plot->data().lines.size(), std::size_t{1});
        QCOMPARE(plot->data().lines[0].y.size(), std::size_t{40});
        search("a100-80-sxm", "gemm m=128 n=256 k=256", ScheduleGuide::Random, 60);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 120'000);
        QCOMPARE(plot->data().lines.size(), std::size_t{2});
        auto* list = found<ui::CellsTable>("list");
        QCOMPARE(list->cells()->rowCount(), 100);
        // The first row is the fastest of both, and its loops stand beside it.
        double best = 1e9;
        for (const ScheduleSearch& each : tab_->searches()) best = std::min(best, each.best());
        QCOMPARE(list->cells()->data(list->cells()->index(0, 0), ui::CellsModel::SortRole).toDouble(), best);
        QVERIFY(found<ui::NestCode>("code")->toPlainText().contains("for row_"));
        QVERIFY(!found<ui::NestPicture>("picture")->isEmpty());
        const QString file = home_.filePath("trials.csv");
        QCOMPARE(tab_->exportTo(file), QString());
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        QCOMPARE(written.readAll().count('\n'), 101);
        QCOMPARE(tab_->exportTo(home_.filePath("its.nest.svg")), QString());
        // The ending says what is written.
        const auto read = [&](const char* name) {
            const QString error = tab_->exportTo(home_.filePath(name));
            QFile out(home_.filePath(name));
            return error.isEmpty() && out.open(QIODevice::ReadOnly) ? out.readAll() : QByteArray();
        };
        QVERIFY(read("loops.svg").contains("<svg"));
        QVERIFY(read("loops.pdf").startsWith("%PDF"));
        QVERIFY(read("loops.nest.csv").contains("row_") && !read("loops.nest.csv").contains("best_us"));
        QVERIFY(!tab_->exportTo(home_.filePath("loops.txt")).isEmpty() && !QFile::exists(home_.filePath("loops.txt")));
        // What is shown says what it is of, and that it is old once another product stands there.
        QVERIFY(plot->data().title.contains("gemm m=128 n=256 k=256"));
        auto* veil = page_->findChild<ui::Veil*>("search.schedules.veil");
        QVERIFY(veil && !veil->isDown());
        found<QLineEdit>("workload")->setText("gemm m=64 n=256 k=256");
        QVERIFY(veil->isDown());
        QVERIFY(!tab_->exportTo(home_.filePath("old.csv")).isEmpty() && !QFile::exists(home_.filePath("old.csv")));
        found<QLineEdit>("workload")->setText("gemm m=128 n=256 k=256");
        QVERIFY(!veil->isDown());
        // Another product begins anew.
        search("a100-80-sxm", "gemm m=64 n=256 k=256", ScheduleGuide::Random, 16);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 120'000);
        QCOMPARE(plot->data().lines.size(), std::size_t{1});
    }

    // Loops of an earlier product do not stand beside a new search, and trials are written with their schedules from
    // the first round on.
    void aNewQuestionForgetsTheLoops() {
        search("a100-80-sxm", "gemm m=64 n=128 k=128", ScheduleGuide::Random, 8);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 60'000);
        QVERIFY(!found<ui::NestPicture>("picture")->isEmpty());
        search("core-i9-10940x", "gemm m=128 n=768 k=768", ScheduleGuide::Random, 5000);
        QVERIFY(tab_->isWorking());
        QVERIFY(found<ui::NestPicture>("picture")->isEmpty());
        QVERIFY(found<ui::NestCode>("code")->toPlainText().isEmpty());
        QVERIFY(!tab_->exportTo(home_.filePath("earlier.nest.svg")).isEmpty());
        auto* exporting = found<QPushButton>("export");
        QVERIFY(!exporting->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(exporting->isEnabled(), 60'000);
        QVERIFY(tab_->isWorking());
        const QString file = home_.filePath("so-far.csv");
        QCOMPARE(tab_->exportTo(file), QString());
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = written.readAll().trimmed().split('\n');
        QVERIFY(lines.size() > 8);
        for (const QByteArray& line : lines) QVERIFY2(!line.endsWith(','), line.constData());
        QTest::mouseClick(found<QPushButton>("start"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 30'000);
    }

    // Of the design that is drawn a further guide draws its line beside, until another design is drawn.
    void aDrawnDesignKeepsItsLines() {
        window_->document().reset(smallProject());
        window_->studio().router.show(page_);
        QTRY_VERIFY(tab_->isVisible());
        search("", "gemm m=64 n=128 k=128", ScheduleGuide::Random, 8);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 60'000);
        search("", "gemm m=64 n=128 k=128", ScheduleGuide::Trees, 8);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 60'000);
        QCOMPARE(tab_->searches().size(), std::size_t{2});
        auto* veil = page_->findChild<ui::Veil*>("search.schedules.veil");
        QVERIFY(veil && !veil->isDown());
        Project other = smallProject();
        other.hardware = {loadHardware("t4").value().hardware};
        other.scenarios.front().hardware = other.hardware.front().name;
        window_->document().reset(std::move(other));
        window_->studio().router.show(page_);
        QTRY_VERIFY(tab_->isVisible());
        QEnterEvent enter({}, {}, {});
        QCoreApplication::sendEvent(tab_, &enter);
        QVERIFY(veil->isDown());
        search("", "gemm m=64 n=128 k=128", ScheduleGuide::Random, 8);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 60'000);
        QCOMPARE(tab_->searches().size(), std::size_t{1});
        QVERIFY(!veil->isDown());
    }

    void theCurveGrowsWhileItRunsAndStops() {
        search("core-i9-10940x", "gemm m=128 n=768 k=768", ScheduleGuide::Random, 5000);
        auto* plot = found<ui::LinePlot>("plot");
        QTRY_VERIFY_WITH_TIMEOUT(!plot->data().lines.empty() && plot->data().lines[0].y.size() >= 16, 60'000);
        QVERIFY(tab_->isWorking());
        auto* start = found<QPushButton>("start");
        QCOMPARE(start->text(), QString("Stop"));
        QTest::mouseClick(start, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 30'000);
        QCOMPARE(start->text(), QString("Search"));
        QVERIFY(tab_->searches().size() == 1 && tab_->searches()[0].trials.size() < 5000);
        QVERIFY(found<ui::CellsTable>("list")->cells()->rowCount() > 0);
    }

    void whatIsNoProductIsRefused() {
        auto* state = found<ui::Label>("state");
        for (const char* words : {"softmax m=4 n=4", "gemm m=x", ""}) {
            search("core-i9-10940x", words, ScheduleGuide::Trees, 8);
            QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 30'000);
            QVERIFY(tab_->searches().empty());
            QVERIFY(!state->text().isEmpty() && !state->text().contains("Laying"));
        }
    }

private:
    ScheduleSearchTab* tab_ = nullptr;
};

QTEST_MAIN(TestStudioScheduleSearch)
#include "tst_studio_schedule_search.moc"
