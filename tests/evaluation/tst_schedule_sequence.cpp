#include "base/random.h"
#include "evaluation/schedules/judge_schedules.h"
#include "learning/schedules/schedule_tokens.h"
#include "support/tuning_rows.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::test;

namespace {

std::vector<TunedRow> fourProducts() {
    std::vector<TunedRow> rows;
    for (const auto& [m, n] : {std::pair{64, 64}, {64, 128}, {128, 128}, {128, 256}})
        for (const TunedRow& each : trials(m, n)) rows.push_back(each);
    return rows;
}

std::vector<float> token(std::span<const float> rows, std::size_t at) {
    const auto one = rows.subspan(at * tokenWidth, tokenWidth);
    return {one.begin(), one.end()};
}

}  // namespace

// Schedules as the steps that made them: what a token says, and whether a network over them puts schedules in order.
class TestScheduleSequence : public QObject {
    Q_OBJECT

private slots:
    // Three splits of a knob list behind the operator: parts as log₂(1 + n) ÷ 3, what remains of an extent worked out.
    void knobsAreTokens() {
        TunedRow row = trials(64, 128).front();
        row.knobs = readKnobs("tile_y=-1,16;tile_x=-1,7;tile_k=-1,4;auto_unroll_max_step=63");
        std::vector<float> rows;
        QCOMPARE(appendTokens(row, rows), std::size_t{5});
        QCOMPARE(rows.size(), 5 * tokenWidth);
        QVERIFY(std::all_of(rows.begin(), rows.end(), [](float each) { return std::isfinite(each); }));
        const auto has = [&](std::size_t at, double number) {
            const auto one = token(rows, at);
            const float wanted = float(std::log2(1 + number) / 3);
            return std::any_of(one.begin(), one.end(), [&](float each) { return std::abs(each - wanted) < 1e-6f; });
        };
        QVERIFY(has(0, 64) && has(0, 128) && has(0, 256));  // rows, outputs and reduction
        QVERIFY(has(1, 16) && has(1, 4) && !has(1, 256));   // 64 ÷ 16 = 4
        QVERIFY(has(2, 7) && has(2, 19));                   // ⌈128 ÷ 7⌉
        QVERIFY(has(4, 63));
        TunedRow other = row;
        other.task = "dense_pack.x86";
        std::vector<float> others;
        appendTokens(other, others);
        QVERIFY(token(rows, 0) != token(others, 0));  // another template means other loops by the same names
        QVERIFY(token(rows, 1) == token(others, 1));
    }
    void stepsOfAProgramAreTokensInTheirOrder() {
        TunedRow row = trials(64, 128).front();
        const auto step = [](const char* kind, std::vector<double> all) {
            return TuningStep{kind, {}, {}, {}, std::move(all)};
        };
        row.steps = {step("SP", {2, 0, 128, 2, 16}), step("AN", {4, 0, 5}), step("AN", {4, 0, 6}),
                     step("PR", {4, 0, 512})};
        std::vector<float> rows, again;
        QCOMPARE(appendTokens(row, rows), std::size_t{5});
        QVERIFY(token(rows, 2) != token(rows, 3));  // bound to blocks, bound to threads
        std::swap(row.steps[1], row.steps[3]);
        appendTokens(row, again);
        QVERIFY(again != rows);
        row.steps.assign(500, step("RE", std::vector<double>(40, 3)));
        rows.clear();
        QCOMPARE(appendTokens(row, rows), mostTokens);
    }
    // Each annotation of TVM's `IteratorAnnotation` (0, none, to 11, tensorised) is a token of its own: threads are not
    // blocks, whichever their axis.
    void annotationsAreToldApart() {
        TunedRow row = trials(64, 128).front();
        for (int kind = 0; kind <= 11; ++kind) row.steps.push_back({"AN", {}, {}, {}, {4, 0, double(kind)}});
        std::vector<float> rows;
        QCOMPARE(appendTokens(row, rows), std::size_t{13});
        std::set<std::vector<float>> seen;
        for (std::size_t i = 0; i < 12; ++i) {
            auto one = token(rows, 1 + i);
            for (float& each : one) each = each == 1 ? 1.0f : 0.0f;  // which word, which annotation: not the place
            seen.insert(one);
        }
        QCOMPARE(seen.size(), std::size_t{12});
    }
    // Tiles nearer to 8 × 8 are better, and those over 256 fail: of products that were left out too.
    void anUnseenOperatorIsRanked() {
        const auto rows = fourProducts();
        JudgeScheduleOptions options;
        options.training.ranks = RankModel::Sequence;
        options.training.threads = 1;
        const auto judged = judgeLeftOut(rows, options);
        QVERIFY2(judged, judged ? "" : judged.error().message.c_str());
        QCOMPARE(judged->operators.size(), std::size_t{4});
        for (const RankedOperator& one : judged->operators) {
            QVERIFY2(one.spearman > 0.7, qPrintable(QString::number(one.spearman)));
            QVERIFY2(one.top10 > one.chance10, qPrintable(QString::number(one.top10)));
            QVERIFY(!one.analytic);  // nobody drew a device named `cpu`
        }
        for (const double said : judged->said) QVERIFY(said >= 0 && said <= 1);
    }
    // The same bits at any number of threads, other ones from another seed.
    void seedsAloneDecide() {
        const auto rows = trials(64, 128);
        ScheduleTraining training;
        training.ranks = RankModel::Sequence;
        const auto shares = [&](int threads, std::uint64_t seed) {
            training.threads = threads;
            training.seed = seed;
            const auto fitted = ScheduleRanks::fit(rows, training);
            std::vector<double> out;
            for (const TunedRow& row : rows) out.push_back(fitted->share(row));
            return out;
        };
        const auto once = shares(1, 1);
        QVERIFY(shares(2, 1) == once);
        QVERIFY(shares(1, 2) != once);
    }
    // Shares of `both` lie between those of the two, whose mean they are (of rates, before they are held to 0 and 1).
    void bothIsTheirMean() {
        const auto rows = fourProducts();
        ScheduleTraining training;
        training.threads = 1;
        const auto shares = [&](RankModel model) {
            training.ranks = model;
            const auto fitted = ScheduleRanks::fit(rows, training);
            std::vector<double> out;
            for (const TunedRow& row : rows) out.push_back(fitted->share(row));
            return out;
        };
        const auto trees = shares(RankModel::Trees), sequence = shares(RankModel::Sequence),
                   both = shares(RankModel::Both);
        std::size_t inside = 0, middle = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (trees[i] <= 0 || trees[i] >= 1 || sequence[i] <= 0 || sequence[i] >= 1) continue;
            ++inside;
            middle += std::abs(both[i] - 0.5 * (trees[i] + sequence[i])) < 1e-9;
        }
        QVERIFY(inside > rows.size() / 4);
        QCOMPARE(middle, inside);
    }
    // Where one device alone is asked for, its model is the one that it has anyway.
    void oneDeviceIsLearnedAsAmongAll() {
        auto rows = fourProducts();
        for (const TunedRow& each : trials(256, 256)) {
            rows.push_back(each);
            rows.back().device = "other";
        }
        ScheduleTraining training;
        training.threads = 1;
        const auto all = ScheduleRanks::fit(rows, training);
        training.device = "cpu";
        const auto one = ScheduleRanks::fit(rows, training);
        training.device = "third";
        const auto none = ScheduleRanks::fit(rows, training);
        QVERIFY(all && one && none);
        TunedRow third = rows[5];
        third.device = "third";
        for (const std::size_t i : {0u, 33u, 97u}) QCOMPARE(one->share(rows[i]), all->share(rows[i]));
        QCOMPARE(none->share(third), all->share(third));
    }
    // A log may leave its device's cell empty, among others that have one: a row of neither is answered all the same.
    void aLogWithoutADevicesNameIsRanked() {
        auto rows = fourProducts();
        for (std::size_t i = 0; i < rows.size() / 2; ++i) rows[i].device.clear();
        ScheduleTraining training;
        training.threads = 1;
        const auto fitted = ScheduleRanks::fit(rows, training);
        QVERIFY(fitted);
        TunedRow other = rows.front();
        other.device = "new";
        for (const TunedRow& row : {rows.front(), rows.back(), other}) {
            const double share = fitted->share(row);
            QVERIFY2(share >= 0 && share <= 1, row.device.c_str());
        }
    }
    void stoppedWhileItLearns() {
        std::stop_source stop;
        stop.request_stop();
        ScheduleTraining training;
        training.ranks = RankModel::Sequence;
        training.stop = stop.get_token();
        const auto fitted = ScheduleRanks::fit(fourProducts(), training);
        QVERIFY(!fitted);
        QCOMPARE(fitted.error().code, std::string("study.cancelled"));
    }
    // A log's device that somebody draws: its own prices rank beside the model, and names that are wrong are refused.
    void drawnDevicesRankBesideTheModel() {
        auto rows = fourProducts();
        for (TunedRow& row : rows) row.device = "some xeon";
        JudgeScheduleOptions options;
        options.training.threads = 1;
        options.drawn = {{"some xeon", "core-i9-10940x"}};
        const auto judged = judgeLeftOut(rows, options);
        QVERIFY2(judged, judged ? "" : judged.error().message.c_str());
        for (const RankedOperator& one : judged->operators) {
            QVERIFY(one.analytic);
            QCOMPARE(one.drawn, std::string("core-i9-10940x"));
            QVERIFY(one.analytic->top10 >= one.analytic->top1 && std::abs(one.analytic->spearman) <= 1);
        }
        for (const double seconds : judged->analytic) QVERIFY(seconds > 0);
        options.drawn = {{"some xenon", "core-i9-10940x"}};
        QCOMPARE(judgeLeftOut(rows, options).error().code, std::string("schedules.device"));
        options.drawn = {{"some xeon", "no-such-device"}};
        QVERIFY(!judgeLeftOut(rows, options));
        options.drawn = {{"some xeon", "tpu-v4"}};
        QCOMPARE(judgeLeftOut(rows, options).error().code, std::string("method.not-applicable"));
    }
};

QTEST_GUILESS_MAIN(TestScheduleSequence)
#include "tst_schedule_sequence.moc"
