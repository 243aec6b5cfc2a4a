// The systolic animation under a real mouse and keyboard.

#include "simulation/systolic/snapshot.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/mapping/systolic_animation.h"
#include "widgets/mapping/systolic_picture.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QSignalSpy>
#include <QSlider>
#include <QtTest/QtTest>

#include <set>

using namespace orrery;
using namespace orrery::ui;

class TestSystolicAnimation : public QObject {
    Q_OBJECT
    std::unique_ptr<SystolicAnimation> view_;

    template <class T>
    T* part(const char* name) {
        auto* found = view_->findChild<T*>(QStringLiteral("mapping.systolic.") + QLatin1String(name));
        if (!found) qFatal("no part %s", name);
        return found;
    }
    void click(const char* button) { QTest::mouseClick(part<QAbstractButton>(button), Qt::LeftButton); }
    void key(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) { QTest::keyClick(view_.get(), key, with); }

private slots:
    void initTestCase() { initialiseApplicationLook(); }
    void init() {
        view_ = std::make_unique<SystolicAnimation>();
        view_->resize(520, 620);
        view_->setProduct(4, 5, Dataflow::OutputStationary, 10, 12, 6);
        view_->show();
        QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
        view_->setFocus();
    }
    void cleanup() { view_.reset(); }

    void aConvolutionRunsRowStationary() {
        systolic::Layer layer;
        layer.ifmapHeight = layer.ifmapWidth = 7;
        layer.filterHeight = layer.filterWidth = 3;
        layer.channels = 2;
        view_->setConvolution(7, 4, layer);
        QVERIFY(view_->rowPlan() && !view_->plan());
        QVERIFY(!part<QComboBox>("dataflow")->isVisible());
        // By hand: 5 × 5 outputs on 4 columns in two strips; both channels stand above each other; 5 · 3 + 2 cycles
        // each.
        QCOMPARE(view_->cycles(), std::int64_t{2 * 17});
        key(Qt::Key_PageDown);
        QCOMPARE(view_->cycle(), std::int64_t{17});
        QVERIFY(part<QLabel>("where")->text().contains("pass 2 of 2"));
        key(Qt::Key_Home);
        key(Qt::Key_Right);
        key(Qt::Key_Right);
        const auto& pe = part<SystolicPicture>("array")->shot().at(0, 3);  // of the top row: begins two cycles later
        QVERIFY(pe.activity == systolic::PeActivity::Active);
        QVERIFY(pe.a == (systolic::Element{3, 0}) && pe.b == (systolic::Element{0, 0}));
        QVERIFY(pe.z == (systolic::Element{3, 0}));
        layer.filterHeight = 8;
        layer.ifmapHeight = 12;
        view_->setConvolution(7, 4, layer);
        QVERIFY(!view_->rowPlan());
        QVERIFY(view_->accessibleDescription().contains("8 rows"));
        view_->setProduct(4, 5, Dataflow::WeightStationary, 10, 12, 6);
        QVERIFY(view_->plan() && part<QComboBox>("dataflow")->isVisible());
    }

    // A legend of what never happens explains nothing, and what happens unexplained puzzles: every cycle is looked at.
    void theLegendIsOfWhatHappens_data() {
        QTest::addColumn<Dataflow>("dataflow");
        QTest::addColumn<QList<int>>("size");  // rows and columns of the array, M, N, K; or channels and filter rows
        for (const auto& [name, dataflow] : {std::pair{"output", Dataflow::OutputStationary},
                                             {"weight", Dataflow::WeightStationary},
                                             {"input", Dataflow::InputStationary}})
            for (const QList<int>& size : {QList<int>{4, 5, 10, 12, 6},
                                           {4, 4, 8, 8, 8},
                                           {1, 1, 3, 3, 3},
                                           {4, 4, 1, 1, 5},
                                           {4, 1, 4, 3, 8},
                                           {1, 4, 3, 8, 2}})
                QTest::addRow("%s %dx%d %d %d %d", name, size[0], size[1], size[2], size[3], size[4])
                    << dataflow << size;
        for (const QList<int>& size : {QList<int>{7, 4, 2, 3}, {6, 5, 2, 3}, {6, 5, 3, 3}, {4, 5, 4, 1}, {1, 1, 1, 1}})
            QTest::addRow("rows %dx%d %d %d", size[0], size[1], size[2], size[3]) << Dataflow::RowStationary << size;
    }
    void theLegendIsOfWhatHappens() {
        QFETCH(Dataflow, dataflow);
        QFETCH(QList<int>, size);
        if (dataflow == Dataflow::RowStationary) {
            systolic::Layer layer;
            layer.filterHeight = layer.filterWidth = size[3];
            layer.ifmapHeight = layer.ifmapWidth = 4 + size[3];  // five rows of outputs
            layer.channels = size[2];
            view_->setConvolution(size[0], size[1], layer);
        } else {
            view_->setProduct(size[0], size[1], dataflow, size[2], size[3], size[4]);
        }
        QVERIFY(view_->cycles() > 0);
        std::set<systolic::PeActivity> seen;
        for (std::int64_t cycle = 0; cycle < view_->cycles(); ++cycle) {
            const auto shot = view_->plan() ? systolic::snapshot(*view_->plan(), cycle)
                                            : systolic::snapshot(*view_->rowPlan(), cycle);
            for (const auto& pe : shot.pes) seen.insert(pe.activity);
        }
        const auto& legend = part<SystolicPicture>("array")->legend();
        QCOMPARE(std::set(legend.begin(), legend.end()), seen);
        QCOMPARE(legend.size(), seen.size());
    }

    void emptyViewSaysWhatItWillShow() {
        SystolicAnimation empty;
        QVERIFY(!empty.plan());
        QVERIFY(!empty.accessibleDescription().isEmpty());
        empty.run();
        QVERIFY(!empty.running());
        QTest::keyClick(&empty, Qt::Key_Right);
        QCOMPARE(empty.cycle(), std::int64_t{0});
    }
    void whatCannotBeAnimatedIsSaid() {
        view_->setProduct(4, 4, Dataflow::RowStationary, 8, 8, 8);
        QVERIFY(!view_->plan());
        QVERIFY(view_->accessibleDescription().contains("row-stationary"));
        view_->setProduct(4, 4, Dataflow::OutputStationary, 8, 0, 8);
        QVERIFY(!view_->plan());
        view_->setProduct(100000, 4, Dataflow::OutputStationary, 8, 8, 8);
        QVERIFY(!view_->plan());
        view_->setProduct(4, 4, Dataflow::WeightStationary, 8, 8, 8);
        QVERIFY(view_->plan());
    }

    void buttonsStepAndJump() {
        const std::int64_t last = view_->plan()->cycles() - 1;
        QCOMPARE(last + 1, std::int64_t{9 * (6 + 4 + 5 - 2)});
        click("forward");
        click("forward");
        QCOMPARE(view_->cycle(), std::int64_t{2});
        click("back");
        QCOMPARE(view_->cycle(), std::int64_t{1});
        click("last");
        QCOMPARE(view_->cycle(), last);
        click("forward");
        QCOMPARE(view_->cycle(), last);
        click("first");
        QCOMPARE(view_->cycle(), std::int64_t{0});
        click("back");
        QCOMPARE(view_->cycle(), std::int64_t{0});
    }
    void keysDoTheSame() {
        const std::int64_t fold = view_->plan()->foldCycles;
        key(Qt::Key_Right);
        key(Qt::Key_Right);
        key(Qt::Key_Left);
        QCOMPARE(view_->cycle(), std::int64_t{1});
        key(Qt::Key_PageDown);
        QCOMPARE(view_->cycle(), fold);
        key(Qt::Key_PageDown);
        key(Qt::Key_Right);
        key(Qt::Key_PageUp);
        QCOMPARE(view_->cycle(), 2 * fold);
        key(Qt::Key_PageUp);
        QCOMPARE(view_->cycle(), fold);
        key(Qt::Key_End);
        QCOMPARE(view_->cycle(), view_->plan()->cycles() - 1);
        key(Qt::Key_Home);
        QCOMPARE(view_->cycle(), std::int64_t{0});
    }
    void spaceRunsToTheEndAndPauses() {
        part<QComboBox>("speed")->setCurrentIndex(2);
        QSignalSpy moved(view_.get(), &SystolicAnimation::cycleChanged);
        key(Qt::Key_Space);
        QVERIFY(view_->running());
        QTRY_VERIFY(moved.count() >= 3);
        key(Qt::Key_Space);
        QVERIFY(!view_->running());
        const std::int64_t here = view_->cycle();
        QTest::qWait(100);
        QCOMPARE(view_->cycle(), here);
        view_->setCycle(view_->plan()->cycles() - 3);
        click("run");
        QTRY_COMPARE(view_->cycle(), view_->plan()->cycles() - 1);
        QVERIFY(!view_->running());
        click("run");  // from the beginning again
        QVERIFY(view_->running());
        QTRY_VERIFY(view_->cycle() < view_->plan()->cycles() - 1);
        click("pause");
        QVERIFY(!view_->running());
    }
    void hidingStopsARun() {
        view_->run();
        view_->hide();
        QVERIFY(!view_->running());
    }
    void sliderAndStripLeadToAnyCycle() {
        part<QSlider>("cycle")->setValue(20);
        QCOMPARE(view_->cycle(), std::int64_t{20});
        auto* strip = part<UtilizationStrip>("utilization");
        QTest::mouseClick(strip, Qt::LeftButton, {}, QPoint(strip->width() / 2, strip->height() / 2));
        const double share = static_cast<double>(view_->cycle()) / static_cast<double>(view_->plan()->cycles());
        QVERIFY2(std::abs(share - 0.5) < 0.02, qPrintable(QString::number(share)));
        QCOMPARE(part<QSlider>("cycle")->value(), static_cast<int>(view_->cycle()));
        // Runs longer than the slider has steps: its end is still the run's end.
        view_->setProduct(8, 8, Dataflow::WeightStationary, 100000, 64, 64);
        part<QSlider>("cycle")->setValue(part<QSlider>("cycle")->maximum());
        QCOMPARE(view_->cycle(), view_->plan()->cycles() - 1);
    }

    void pointingAtAnElementNamesItsIndices() {
        view_->setCycle(5);
        auto* picture = part<SystolicPicture>("array");
        QTest::mouseMove(picture, picture->box(1, 2).center().toPoint());
        QTRY_VERIFY(picture->current());
        QCOMPARE(*picture->current(), QPoint(2, 1));
        // Row 1, column 2, cycle 5 of output stationary: step 5 - 1 - 2.
        const QString words = part<Label>("element")->toolTip() + part<Label>("element")->text();
        QVERIFY2(elementText(picture->shot(), 1, 2).contains("A[1, 2] by B[2, 2] into Z[1, 2]"), qPrintable(words));
        QVERIFY(!picture->elementAt(QPointF(1, 1)));
    }
    void keysChooseAnElement() {
        auto* picture = part<SystolicPicture>("array");
        key(Qt::Key_Right, Qt::ControlModifier);
        QCOMPARE(*picture->current(), QPoint(0, 0));
        key(Qt::Key_Right, Qt::ControlModifier);
        key(Qt::Key_Down, Qt::ControlModifier);
        QCOMPARE(*picture->current(), QPoint(1, 1));
        for (int i = 0; i < 20; ++i) key(Qt::Key_Down, Qt::ControlModifier);
        QCOMPARE(*picture->current(), QPoint(1, 3));
    }
    void otherDataflowsShowTheSameProduct() {
        auto* box = part<QComboBox>("dataflow");
        for (int i = 0; i < 3; ++i) {
            box->setCurrentIndex(i);
            QVERIFY(static_cast<int>(view_->plan()->dataflow) == i);
            double work = 0;
            for (std::int64_t cycle = 0; cycle < view_->plan()->cycles(); ++cycle) {
                view_->setCycle(cycle);
                work += static_cast<double>(part<SystolicPicture>("array")->shot().activePes);
            }
            QCOMPARE(work, 10.0 * 12 * 6);
        }
    }

    void picturesChangeWithTheCycleAndTheTheme() {
        auto* picture = part<SystolicPicture>("array");
        const QImage first = picture->grab().toImage();
        view_->setCycle(6);
        const QImage sixth = picture->grab().toImage();
        QVERIFY(first != sixth);
        Theme::instance().setMode(Mode::Dark);
        QVERIFY(picture->grab().toImage() != sixth);
        Theme::instance().setMode(Mode::Light);
        view_->setProduct(256, 256, Dataflow::WeightStationary, 1024, 1024, 1024);
        view_->setCycle(700);
        QVERIFY(!view_->grab().isNull());
    }
    void everyControlHasItsNames() {
        for (QWidget* widget : view_->findChildren<QWidget*>()) {
            if (!qobject_cast<QAbstractButton*>(widget) && !qobject_cast<QComboBox*>(widget) &&
                !qobject_cast<QSlider*>(widget))
                continue;
            if (!widget->isVisibleTo(view_.get())) continue;
            QVERIFY2(widget->objectName().startsWith("mapping.systolic."), qPrintable(widget->objectName()));
            QVERIFY2(!widget->accessibleName().isEmpty(), qPrintable(widget->objectName()));
            QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(widget->objectName()));
        }
    }
};

QTEST_MAIN(TestSystolicAnimation)
#include "tst_systolic_animation.moc"
