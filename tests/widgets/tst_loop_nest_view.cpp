// The loop nest under a real mouse: what is dragged, turned and clicked changes the mapping, every dimension stays
// covered, and what does not fit is said and not lost.

#include "mapping/nest_edit.h"
#include "widgets/common/theme.h"
#include "widgets/mapping/loop_nest_view.h"
#include "widgets/mapping/mapper_scatter.h"

#include <QApplication>
#include <QScrollBar>
#include <QSignalSpy>
#include <QWheelEvent>
#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::ui;

namespace {

// A product of matrices of 64 × 32 × 16 on 4 × 4 units with a buffer, weights kept beside the units.
NestProblem product() {
    NestProblem problem{"gemm", {"M", "N", "K"}, {64, 32, 16}, {}};
    const auto tensor = [](const char* name, std::uint8_t a, std::uint8_t b, bool written) {
        return NestTensor{name, {{"0", {{a, 1}}}, {"1", {{b, 1}}}}, written};
    };
    problem.tensors = {tensor("A", 0, 2, false), tensor("B", 1, 2, false), tensor("Z", 0, 1, true)};
    return problem;
}

NestHardware array(double bufferWords = 4096) {
    NestHardware hardware;
    hardware.name = "array";
    hardware.arithmetic = {"MAC", 16, 4, 16, 1e-12, 0, 0, 0};
    NestLevel buffer;
    buffer.name = "Buffer";
    buffer.capacityWords = bufferWords;
    NestLevel dram;
    dram.name = "DRAM";
    dram.dram = true;
    hardware.levels = {buffer, dram};
    return hardware;
}

NestMapping mapping() {
    NestMapping mapping;
    mapping.levels.resize(2);
    mapping.levels[0].loops = {{2, LoopKind::SpatialX, 4, 4},
                               {1, LoopKind::SpatialY, 4, 4},
                               {0, LoopKind::Temporal, 8, 8},
                               {2, LoopKind::Temporal, 4, 4}};
    mapping.levels[1].loops = {{0, LoopKind::Temporal, 8, 8}, {1, LoopKind::Temporal, 8, 8}};
    return mapping;
}

std::vector<std::int64_t> products(const NestMapping& mapping) {
    std::vector<std::int64_t> all(3, 1);
    for (const LevelMapping& level : mapping.levels) {
        for (const NestLoop& loop : level.loops) all[loop.dimension] *= loop.bound;
    }
    return all;
}

QPoint middleOf(const LoopNestView& view, LoopPlace place) {
    for (const LoopRow& row : view.places().loops) {
        if (row.place == place)
            return QPoint(row.box.left() + 20, row.box.center().y() - view.verticalScrollBar()->value());
    }
    return {};
}

}  // namespace

class TestLoopNestView : public QObject {
    Q_OBJECT
    std::unique_ptr<LoopNestView> view_;

    void send(const QPoint& at, int delta) {
        QWheelEvent wheel(at, view_->viewport()->mapToGlobal(at), {}, QPoint(0, delta), Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(view_->viewport(), &wheel);
    }

private slots:
    void initTestCase() { initialiseApplicationLook(); }
    void init() {
        view_ = std::make_unique<LoopNestView>();
        view_->resize(900, 600);
        view_->show();
        QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
        view_->setNest(product(), array(), mapping());
    }

    void itCountsWhatItShows() {
        QVERIFY(view_->counts());
        QCOMPARE(view_->counts()->cycles, 64.0 * 32 * 16 / 16);
        QCOMPARE(view_->places().loops.size(), std::size_t{6});
        QCOMPARE(view_->places().tensors.size(), std::size_t{6});
        // Outermost first, as in a program.
        QCOMPARE(view_->places().loops.front().place, (LoopPlace{1, 1}));
    }
    void nothingOverlaps() {
        const auto& places = view_->places();
        for (std::size_t i = 1; i < places.loops.size(); ++i)
            QVERIFY(!places.loops[i].box.intersects(places.loops[i - 1].box));
        for (const LoopRow& loop : places.loops) {
            for (const TensorRow& tensor : places.tensors) QVERIFY(!loop.box.intersects(tensor.box));
        }
    }
    void aDraggedLoopGoesWhereItIsDropped() {
        QSignalSpy edited(view_.get(), &LoopNestView::mappingEdited);
        const LoopPlace from{0, 3}, to{1, 1};  // K of 4 from the buffer to DRAM
        const QPoint start = middleOf(*view_, from), end = middleOf(*view_, to) + QPoint(0, 3);
        QTest::mousePress(view_->viewport(), Qt::LeftButton, {}, start);
        QTest::mouseMove(view_->viewport(), (start + end) / 2);
        QTest::mouseMove(view_->viewport(), end);
        QTest::mouseRelease(view_->viewport(), Qt::LeftButton, {}, end);
        QCOMPARE(edited.count(), 1);
        QCOMPARE(view_->mapping().levels[1].loops.size(), std::size_t{3});
        QCOMPARE(products(view_->mapping()), products(mapping()));
        QVERIFY(view_->counts());
    }
    void escapeEndsADragWithoutChange() {
        QSignalSpy edited(view_.get(), &LoopNestView::mappingEdited);
        const QPoint start = middleOf(*view_, {0, 2});
        view_->setFocus();
        QTest::mousePress(view_->viewport(), Qt::LeftButton, {}, start);
        QTest::mouseMove(view_->viewport(), start + QPoint(0, -60));
        QTest::keyClick(view_.get(), Qt::Key_Escape);
        QTest::mouseRelease(view_->viewport(), Qt::LeftButton, {}, start + QPoint(0, -60));
        QCOMPARE(edited.count(), 0);
        QCOMPARE(view_->mapping(), mapping());
    }
    void theWheelTurnsTheChosenBoundOnly() {
        const QPoint at = middleOf(*view_, {0, 2});
        send(at, 120);
        QCOMPARE(view_->mapping(), mapping());  // not chosen: scrolls
        QTest::mouseClick(view_->viewport(), Qt::LeftButton, {}, at);
        send(at, 120);
        QCOMPARE(view_->mapping().levels[0].loops[2].bound, 16);
        QCOMPARE(products(view_->mapping()), products(mapping()));
        send(at, -120);
        QCOMPARE(view_->mapping(), mapping());
    }
    void keysDoAllThatTheMouseDoes() {
        view_->setFocus();
        QTest::keyClick(view_.get(), Qt::Key_Down);
        QCOMPARE(view_->current(), (LoopPlace{1, 1}));
        QTest::keyClick(view_.get(), Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(view_->current(), (LoopPlace{1, 0}));
        QTest::keyClick(view_.get(), Qt::Key_X);
        QCOMPARE(view_->mapping().levels[1].loops[0].kind, LoopKind::SpatialX);
        QTest::keyClick(view_.get(), Qt::Key_T);
        QTest::keyClick(view_.get(), Qt::Key_Minus);
        QCOMPARE(products(view_->mapping()), products(mapping()));
        while (view_->canUndo()) QTest::keyClick(view_.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(view_->mapping(), mapping());
    }
    void whatDoesNotFitIsSaidAndKept() {
        view_->setNest(product(), array(200), mapping());
        QVERIFY(!view_->counts());
        QVERIFY(view_->problemOfMapping());
        QVERIFY2(!view_->problemOfMapping()->hint.empty(), view_->problemOfMapping()->message.c_str());
        QVERIFY(view_->accessibleDescription().contains(QString::fromStdString(view_->problemOfMapping()->message)));
        QCOMPARE(view_->mapping(), mapping());
    }
    void aClickLetsATensorPass() {
        for (const TensorRow& row : view_->places().tensors) {
            if (row.level != 0 || row.tensor != 0) continue;
            QTest::mouseClick(view_->viewport(), Qt::LeftButton, {}, row.keep.center());
            break;
        }
        QCOMPARE(view_->mapping().levels[0].keeps & 1u, 0u);
        QVERIFY(view_->counts());
        QVERIFY(!view_->counts()->levels[0].tensors[0].kept);
    }
    void emptySaysWhy() {
        view_->clear("Nothing fits");
        QVERIFY(!view_->counts());
        QVERIFY(view_->grab().toImage().size().isValid());
        QCOMPARE(view_->accessibleDescription(), QString("Nothing fits"));
    }

    void theScatterShowsEveryPoint() {
        MapperScatter scatter;
        scatter.resize(400, 480);
        scatter.setCurve({{
                              1,
                              0.1,
                              1e6,
                              2e-3,
                              2e3,
                          },
                          {50, 0.2, 5e5, 1e-3, 500}},
                         Hertz(1e9));
        scatter.grab();
        QCOMPARE(scatter.pointCount(), std::size_t{2});
        int hit = 0;
        for (int x = 0; x < 400; x += 4) {
            for (int y = 0; y < 480; y += 4) hit |= 1 << (scatter.pointAt(QPointF(x, y)) + 1);
        }
        QCOMPARE(hit, 7);
        QVERIFY(scatter.accessibleDescription().contains("ms") || scatter.accessibleDescription().contains("µs"));
    }
};

QTEST_MAIN(TestLoopNestView)
#include "tst_loop_nest_view.moc"
