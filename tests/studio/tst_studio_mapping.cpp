// The mapping page: the least that must move beside the mapping found, and the operators that run together.

#include "app/window/mapping/mapping_bound.h"
#include "app/window/mapping/mapping_fusion.h"
#include "app/window/mapping/mapping_page.h"
#include "app/window/mapping/mapping_search.h"
#include "hardware/files/catalogue.h"
#include "widgets/common/theme.h"
#include "widgets/mapping/bound_plot.h"
#include "widgets/mapping/fused_list.h"
#include "widgets/mapping/loop_nest_view.h"
#include "widgets/mapping/mapper_scatter.h"

#include <QtTest/QtTest>
#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;

class TestStudioMapping : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        hardware_ = std::make_shared<const Hardware>(loadHardware("tpu-v1-like").value().hardware);
        WorkloadOptions options;
        options.sequence = 64;
        auto workload = loadWorkload({"bert-base", options});
        QVERIFY(workload.has_value());
        workload_ = *workload;
    }
    void init() {
        selection_ = std::make_unique<ui::Selection>();
        page_ = std::make_unique<MappingPage>(selection_.get());
        page_->resize(1200, 800);
        page_->show();
        page_->setScenario(hardware_, workload_);
        page_->findChild<QComboBox*>("mapping.mapper")->setCurrentIndex(2);
    }
    void cleanup() { page_.reset(); }

    void theMappingFoundStandsOnOrAboveTheCurve() {
        tabs()->setCurrentIndex(2);
        ui::BoundPlot* plot = page_->bound()->plot();
        QVERIFY(QTest::qWaitFor(
            [&] { return plot->bound() && plot->bound()->mapping && !page_->search()->isRunning(); }, 60000));
        const DrawnBound& drawn = *plot->bound();
        QVERIFY(drawn.mapping->moved >= drawn.curve.at(drawn.mapping->words)->moved);
        QCOMPARE(boundMarks(drawn.hardware).size(), drawn.hardware.levels.size() - 1);
        QVERIFY(
            plot->textAt(plot->placeOf(drawn.mapping->words, drawn.mapping->moved)).contains("the minimum for tiles"));
        const BoundPoint& corner = drawn.curve.points[drawn.curve.points.size() / 2];
        QVERIFY(plot->textAt(plot->placeOf(corner.words, corner.moved) + QPointF(0.01, -40)).contains("tiles"));
        QVERIFY(page_->findChild<QWidget*>("mapping.bound.export")->isEnabled());
        // Another operator, another curve.
        const double before = drawn.curve.operations;
        auto* chooser = page_->findChild<QComboBox*>("mapping.operator");
        chooser->setCurrentIndex(chooser->count() - 1);
        emit chooser->activated(chooser->count() - 1);
        QVERIFY(QTest::qWaitFor([&] { return plot->bound() && plot->bound()->curve.operations != before; }, 60000));
    }
    // Neither the time nor the curve of the mapping before stands beside a search that finds none.
    void nothingOfTheSearchBeforeStaysOnTheScreen() {
        auto* state = page_->findChild<QLabel*>("mapping.state");
        auto* scatter = page_->findChild<ui::MapperScatter*>();
        QVERIFY(QTest::qWaitFor([&] { return state->text().contains("of the array busy"); }, 60000));
        QVERIFY(scatter->pointCount() > 0);
        auto small = withAttribute(*hardware_, "unified_buffer.capacity", "1 B");
        QVERIFY(small);
        const QSignalSpy refused(page_.get(), &MappingPage::refused);
        page_->setScenario(std::make_shared<const Hardware>(*small), workload_);
        QVERIFY(QTest::qWaitFor([&] { return refused.size() > 0; }, 60000));
        QVERIFY2(!state->text().contains("cycles"), qPrintable(state->text()));
        QCOMPARE(scatter->pointCount(), std::size_t{0});
    }
    void theCurveIsExported() {
        tabs()->setCurrentIndex(2);
        ui::BoundPlot* plot = page_->bound()->plot();
        QVERIFY(QTest::qWaitFor([&] { return plot->bound().has_value(); }, 60000));
        QTemporaryDir folder;
        for (const char* name : {"a.svg", "a.pdf", "a.png", "a.csv"}) {
            const QString file = folder.filePath(name);
            QCOMPARE(plot->exportTo(file), QString());
            QVERIFY2(QFileInfo(file).size() > 500, name);
        }
        QVERIFY(!plot->exportTo(QStringLiteral("/no/such/folder/a.svg")).isEmpty());
        QVERIFY(!plot->exportTo(QStringLiteral("/no/such/folder/a.csv")).isEmpty());
    }
    void operatorsThatRunTogetherHaveABand() {
        tabs()->setCurrentIndex(3);
        auto* objective = page_->findChild<QComboBox*>("mapping.objective");
        objective->setCurrentIndex(1);
        emit objective->activated(1);
        QTest::mouseClick(page_->findChild<QPushButton*>("mapping.fused.run"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return page_->fusion()->result().has_value(); }, 120000));
        const FusionResult& result = *page_->fusion()->result();
        QVERIFY(result.fused.cycles < result.unfused.cycles);
        QCOMPARE(page_->fusion()->list()->topLevelItemCount(), static_cast<int>(result.fused.operators.size()));
        bool together = false;
        for (const FusedGroup& group : result.fused.groups) {
            if (group.last == group.first) continue;
            together = true;
            const auto* first = page_->fusion()->list()->topLevelItem(static_cast<int>(group.first));
            QVERIFY(!first->text(1).isEmpty());
            QCOMPARE(first->data(0, Qt::UserRole),
                     page_->fusion()->list()->topLevelItem(static_cast<int>(group.last))->data(0, Qt::UserRole));
        }
        QVERIFY(together);
        // A click on a row chooses its operator.
        auto* list = page_->fusion()->list();
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->topLevelItem(1)).center());
        QCOMPARE(selection_->operators().size(), std::size_t{1});
        const auto chosen = static_cast<std::size_t>(*selection_->operators().begin());
        QCOMPARE(workload_->graph.operators[chosen].name, std::string("layers.attention"));
        // Another design: the answer is gone.
        page_->setScenario(std::make_shared<const Hardware>(loadHardware("eyeriss-like").value().hardware), workload_);
        QVERIFY(!page_->fusion()->result());
        QCOMPARE(page_->fusion()->list()->topLevelItemCount(), 0);
    }
    void everyControlIsNamed() {
        for (QWidget* widget : page_->findChildren<QWidget*>()) {
            if (!qobject_cast<QAbstractButton*>(widget) && !qobject_cast<QComboBox*>(widget)) continue;
            if (widget->objectName().startsWith("qt_") || !widget->objectName().startsWith("mapping.")) continue;
            QVERIFY2(!widget->accessibleName().isEmpty() && !widget->toolTip().isEmpty(),
                     qPrintable(widget->objectName()));
        }
    }

private:
    QTabWidget* tabs() { return page_->findChild<QTabWidget*>("mapping.side"); }
    HardwarePtr hardware_;
    WorkloadPtr workload_;
    std::unique_ptr<ui::Selection> selection_;
    std::unique_ptr<MappingPage> page_;
};

QTEST_MAIN(TestStudioMapping)
#include "tst_studio_mapping.moc"
