// Intervals of ranked schedules: do they hold operators that nobody has seen, and do they know nothing of what they are
// judged on?

#include "base/random.h"
#include "evaluation/schedules/explore_schedules.h"
#include "learning/schedules/share_spread.h"
#include "support/tuning_rows.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

using namespace orrery;
using namespace orrery::test;

class TestScheduleIntervals : public QObject {
    Q_OBJECT

    // Schedules of one operator err alike: half of the spread is the operator's own.
    static UnseenOperator operatorOf(RandomStream& random, double spread, std::size_t schedules = 60) {
        UnseenOperator one;
        const double own = spread * (random.uniform() - 0.5);
        for (std::size_t i = 0; i < schedules; ++i) {
            const double share = random.uniform();
            one.share.push_back(share);
            one.told.push_back(std::clamp(share + own + spread * (random.uniform() - 0.5), 0.0, 1.0));
        }
        return one;
    }
    static std::vector<UnseenOperator> operatorsOf(RandomStream& random, std::size_t count, double spread) {
        std::vector<UnseenOperator> all;
        for (std::size_t i = 0; i < count; ++i) all.push_back(operatorOf(random, spread));
        return all;
    }
    static double inside(const ShareSpread& spread, const UnseenOperator& one) {
        double sum = 0;
        for (std::size_t i = 0; i < one.told.size(); ++i) {
            const ShareRange range = spread.of(one.told[i]);
            sum += one.share[i] >= range.low && one.share[i] <= range.high;
        }
        return sum / static_cast<double>(one.told.size());
    }
    static std::vector<TunedRow> products(const std::string& device,
                                          std::initializer_list<std::pair<int, int>> shapes) {
        std::vector<TunedRow> rows;
        for (const auto& [m, n] : shapes)
            for (TunedRow row : trials(m, n)) {
                row.device = device;
                rows.push_back(std::move(row));
            }
        return rows;
    }

private slots:
    // What is stated of operators that come later is kept, from few and from many, and of a large and a small error;
    // nine in ten where there are enough of them.
    void newOperatorsAreHeld_data() {
        QTest::addColumn<int>("operators");
        QTest::addColumn<double>("spread");
        for (const int operators : {2, 3, 5, 11, 30})
            for (const double spread : {0.1, 0.6})
                QTest::addRow("%d operators, %g", operators, spread) << operators << spread;
    }
    void newOperatorsAreHeld() {
        QFETCH(int, operators);
        QFETCH(double, spread);
        double sum = 0, stated = 0;
        int count = 0;
        constexpr int seeds = 40;
        for (int seed = 1; seed <= seeds; ++seed) {
            RandomStream random(static_cast<std::uint64_t>(seed));
            const ShareSpread known(operatorsOf(random, static_cast<std::size_t>(operators), spread), {});
            for (int i = 0; i < 10; ++i, ++count) sum += inside(known, operatorOf(random, spread));
            QVERIFY(known.chance() <= operators / (operators + 1.0) + 1e-12);  // the next may be outside
            stated += known.chance() / seeds;
        }
        const QString figures = QStringLiteral("%1 of %2").arg(sum / count).arg(stated);
        QVERIFY2(sum / count > stated - 0.03 && stated > 0.3, qPrintable(figures));
        if (operators == 30) QVERIFY2(stated >= ShareSpread::coverage && sum / count < 0.98, qPrintable(figures));
    }

    void whatIsPredictedLiesInsideAndLargerErrorsAreWider() {
        RandomStream random(3);
        const ShareSpread little(operatorsOf(random, 11, 0.1), {}), much(operatorsOf(random, 11, 0.8), {});
        double widths[2] = {0, 0};
        for (double told = 0; told <= 1; told += 0.01) {
            for (const ShareSpread* each : {&little, &much}) {
                const ShareRange range = each->of(told);
                QVERIFY(0 <= range.low && range.low <= told && told <= range.high && range.high <= 1);
                widths[each == &much] += range.high - range.low;
            }
        }
        QVERIFY(widths[0] < 0.5 * widths[1]);
    }

    // A long log: rows and operators are thinned, what it states is as of all, and it can be stopped.
    void longLogsAreBounded() {
        RandomStream random(11);
        std::vector<UnseenOperator> all;
        for (int i = 0; i < 200; ++i) all.push_back(operatorOf(random, 0.4, 500));
        QElapsedTimer clock;
        clock.start();
        const ShareSpread spread(all, {});
        QVERIFY2(clock.elapsed() < 60'000, qPrintable(QString::number(clock.elapsed())));
        QCOMPARE(spread.operators(), std::size_t{200});
        QVERIFY(spread.chance() >= ShareSpread::coverage);
        double sum = 0;
        for (int i = 0; i < 50; ++i) sum += inside(spread, operatorOf(random, 0.4)) / 50;
        QVERIFY2(sum > 0.86 && sum < 0.97, qPrintable(QString::number(sum)));
        std::stop_source stop;
        std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            stop.request_stop();
        });
        const ShareSpread stopped(all, {}, stop.get_token());
        QVERIFY(!stopped.isKnown());
        QCOMPARE(stopped.chance(), 0.0);
        QCOMPARE(stopped.first().chance, 0.0);
        // Of other devices some operators are enough: all together count as two.
        const ShareSpread foreign(operatorsOf(random, 4, 0.4), operatorsOf(random, 150, 0.4));
        QCOMPARE(foreign.operators(), 4 + ShareSpread::mostOthers);
        QVERIFY(foreign.chance() <= 6.0 / 7 + 1e-12);
    }

    // More operators than parts: those of one part share an interval's making, and each knows nothing of itself.
    void operatorsOfOnePartShareTheirSpread() {
        const auto rows = products("cpu", {{64, 64},
                                           {64, 128},
                                           {64, 256},
                                           {64, 512},
                                           {128, 128},
                                           {128, 256},
                                           {128, 512},
                                           {256, 256},
                                           {256, 512},
                                           {512, 128}});
        const auto judged = judgeLeftOut(rows, {});
        QVERIFY(judged);
        QCOMPARE(judged->operators.size(), std::size_t{10});
        // Eight parts: the first two have two operators, the others one.
        for (std::size_t o = 0; o < 10; ++o)
            QCOMPARE(judged->operators[o].stated->operators, std::size_t(o % 8 < 2 ? 8 : 9));
        QCOMPARE(judged->operators[8].stated->first.share, judged->operators[0].stated->first.share);
    }

    // One operator says nothing of others; none at all neither.
    void tooFewOperatorsSayNothing() {
        RandomStream random(5);
        for (const std::size_t count : {0, 1}) {
            const ShareSpread spread(operatorsOf(random, count, 0.2), {});
            QVERIFY(!spread.isKnown());
            QCOMPARE(spread.of(0.5).low, 0.0);
            QCOMPARE(spread.of(0.5).high, 1.0);
        }
        QVERIFY(ShareSpread(operatorsOf(random, 1, 0.2), operatorsOf(random, 1, 0.2)).isKnown());
    }

    // The next operator may be worse than all: of n the least holds n times in n + 1.
    void firstChoicesAreBoundedByOrder_data() {
        QTest::addColumn<int>("operators");
        QTest::addColumn<double>("share");
        QTest::addColumn<double>("chance");
        QTest::newRow("four: less than nine in ten") << 4 << 0.01 << 0.8;
        QTest::newRow("nine: the least") << 9 << 0.01 << 0.9;
        QTest::newRow("eighteen: the least still") << 18 << 0.01 << 18.0 / 19;
        QTest::newRow("nineteen: the second") << 19 << 0.02 << 0.9;
    }
    void firstChoicesAreBoundedByOrder() {
        QFETCH(int, operators);
        QFETCH(double, share);
        QFETCH(double, chance);
        std::vector<UnseenOperator> all;  // the first choice of the i-th reaches i %, its second twice that
        for (int i = operators; i >= 1; --i) all.push_back({{0.9, 0.8, 0.1}, {0.01 * i, 0.02 * i, 1}});
        const ShareSpread spread(all, {});
        QCOMPARE(spread.first().share, share);
        QVERIFY(std::abs(spread.first().chance - chance) < 1e-12);
        QCOMPARE(spread.ten().share, 1.0);
        // Other devices' operators count as two, however many.
        const ShareSpread more(all, std::vector<UnseenOperator>(10, {{0.9, 0.1}, {1, 1}}));
        if (operators < 17) QVERIFY(std::abs(more.first().chance - (operators + 2.0) / (operators + 3)) < 1e-12);
    }

    // Times of the judged operator change nothing of what is stated: neither share nor interval nor bound.
    void theJudgedOperatorIsNotLookedAt() {
        auto rows = products("cpu", {{128, 256}, {256, 256}, {512, 128}, {64, 512}});
        const auto other = products("board", {{128, 256}, {64, 64}, {96, 64}});
        rows.insert(rows.end(), other.begin(), other.end());
        const auto before = judgeLeftOut(rows, {});
        QVERIFY(before);
        QCOMPARE(before->operators.size(), std::size_t{7});
        RandomStream random(9);
        auto shuffled = rows;
        for (TunedRow& row : shuffled)
            if (row.device == "cpu" && row.workload == rows.front().workload)
                row.seconds = random.below(4) == 0 ? 0 : 1e-4 * (1 + random.uniform());
        const auto after = judgeLeftOut(shuffled, {});
        QVERIFY(after);
        bool othersMoved = false;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            QVERIFY(before->low[i] <= before->said[i] && before->said[i] <= before->high[i]);
            if (rows[i].device == "cpu" && rows[i].workload == rows.front().workload) {
                QCOMPARE(after->said[i], before->said[i]);
                QCOMPARE(after->low[i], before->low[i]);
                QCOMPARE(after->high[i], before->high[i]);
            } else {
                othersMoved = othersMoved || after->high[i] != before->high[i];
            }
        }
        QVERIFY(othersMoved);
        QCOMPARE(after->operators[0].stated->first.share, before->operators[0].stated->first.share);
        QCOMPARE(before->operators[0].stated->operators, std::size_t{3 + 3});
        QVERIFY(before->notes.empty());
    }

    // The window states what the command line states.
    void exploredIntervalsAreThoseOfTheJudgement() {
        const auto rows = products("cpu", {{128, 256}, {256, 256}, {512, 128}, {64, 512}});
        const auto judged = judgeLeftOut(rows, {});
        QVERIFY(judged);
        const auto groups = groupsOf(rows);
        auto explored = exploreOperator(rows, groups[2], {});
        QVERIFY(explored && explored->ranges.empty());
        Progress progress;
        ScheduleTraining training;
        training.progress = &progress;
        const auto wider = withIntervals(rows, *explored, training);
        QVERIFY(wider);
        QCOMPARE(progress.fraction(), 1.0);
        for (std::size_t i = 0; i < groups[2].rows.size(); ++i) {
            QCOMPARE(wider->ranges[i].low, judged->low[groups[2].rows[i]]);
            QCOMPARE(wider->ranges[i].high, judged->high[groups[2].rows[i]]);
        }
        QCOMPARE(wider->judged.stated->coverage, judged->operators[2].stated->coverage);
        std::stop_source stop;
        stop.request_stop();
        training.stop = stop.get_token();
        const auto stopped = withIntervals(rows, *explored, training);
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().code, std::string("study.cancelled"));
    }

    // An operator that is alone is told in fifths, and so are its intervals; two of a device say nothing of a third.
    void fewOperators() {
        const auto alone = products("cpu", {{256, 256}});
        const auto explored = exploreOperator(alone, groupsOf(alone).front(), {});
        QVERIFY(explored);
        const auto wider = withIntervals(alone, *explored, {});
        QVERIFY(wider);
        QCOMPARE(wider->ranges.size(), alone.size());
        QVERIFY(wider->judged.stated->coverage > 0.8);
        QCOMPARE(wider->judged.stated->operators, std::size_t{0});
        const auto two = products("cpu", {{256, 256}, {64, 128}});
        const auto judged = judgeLeftOut(two, {});
        QVERIFY(judged);
        for (const RankedOperator& each : judged->operators) QVERIFY(!each.stated);
        QVERIFY(std::isnan(judged->low.front()));
        QCOMPARE(judged->notes.size(), std::size_t{1});
        QCOMPARE(judged->notes.front().code, std::string("schedules.few"));
    }

    // Another log: intervals from the known one; none of a device that it did not know.
    void otherLogs() {
        const auto known = products("cpu", {{128, 256}, {256, 256}, {512, 128}, {64, 512}});
        auto asked = products("cpu", {{96, 256}});
        const auto strange = products("board", {{96, 256}});
        asked.insert(asked.end(), strange.begin(), strange.end());
        const auto judged = judgeOther(known, asked, {});
        QVERIFY(judged);
        QCOMPARE(judged->operators.size(), std::size_t{2});
        QVERIFY(judged->operators[0].stated && judged->operators[0].stated->operators == 4);
        QVERIFY(judged->operators[0].stated->coverage > 0.8);
        QVERIFY(!judged->operators[1].stated && std::isnan(judged->high.back()));
    }
};

QTEST_GUILESS_MAIN(TestScheduleIntervals)
#include "tst_schedule_intervals.moc"
