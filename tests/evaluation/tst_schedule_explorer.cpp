#include "base/random.h"
#include "evaluation/schedules/explore_schedules.h"
#include "learning/schedules/schedule_features.h"
#include "learning/tree_contributions.h"
#include "support/tuning_rows.h"

#include <QtTest/QtTest>

#include <bit>
#include <cmath>
#include <numeric>
#include <set>

using namespace orrery;
using namespace orrery::test;

// The schedule explorer's answers: who was asked about what, in which order, and why.
class TestScheduleExplorer : public QObject {
    Q_OBJECT

    static std::vector<TunedRow> fourProducts() {
        std::vector<TunedRow> rows;
        for (const auto& [m, n] : {std::pair{128, 256}, {256, 256}, {512, 128}, {64, 512}})
            for (const TunedRow& each : trials(m, n)) rows.push_back(each);
        return rows;
    }
    static TreeNodes drawnTree(RandomStream& random, int depth, int inputs) {
        TreeNodes tree;
        const auto grow = [&](auto&& self, int left) -> std::int32_t {
            const auto at = static_cast<std::int32_t>(tree.size());
            const bool leaf = left == 0 || random.below(5) == 0;
            tree.left.push_back(-1), tree.right.push_back(-1);
            tree.feature.push_back(leaf ? 0
                                        : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(inputs))));
            tree.value.push_back(static_cast<float>(random.uniform() * (leaf ? 2 : 1)));
            tree.missing.push_back(0);
            if (leaf) return at;
            const std::int32_t l = self(self, left - 1), r = self(self, left - 1);
            tree.left[static_cast<std::size_t>(at)] = l, tree.right[static_cast<std::size_t>(at)] = r;
            return at;
        };
        grow(grow, depth);
        return tree;
    }

private slots:
    // Shapley's formula over all subsets of six features, against the walk through the trees.
    void contributionsAreShapleys() {
        constexpr std::size_t inputs = 6, others = 4;
        RandomStream random(11);
        for (int trial = 0; trial < 20; ++trial) {
            std::vector<TreeNodes> nodes;
            for (int i = 0; i < 5; ++i) nodes.push_back(drawnTree(random, 5, inputs));
            const Trees trees(inputs, 0.3, nodes);
            std::vector<double> row(inputs), all(inputs * others);
            for (auto* each : {&row, &all})
                for (double& value : *each) value = random.uniform();
            all[0] = row[0];
            // v(S): the mean of what is said with the features of S from the row, the rest from another.
            std::vector<double> worth(1u << inputs, 0);
            for (std::uint32_t set = 0; set < worth.size(); ++set) {
                for (std::size_t o = 0; o < others; ++o) {
                    std::vector<double> mixed(inputs);
                    for (std::size_t f = 0; f < inputs; ++f) mixed[f] = set >> f & 1u ? row[f] : all[o * inputs + f];
                    worth[set] += trees.predict(mixed) / others;
                }
            }
            const auto told = contributionsOf(trees, row, all);
            QCOMPARE(told.size(), inputs);
            for (std::size_t f = 0; f < inputs; ++f) {
                double expected = 0;
                for (std::uint32_t set = 0; set < worth.size(); ++set) {
                    if (set >> f & 1u) continue;
                    const int size = std::popcount(set);
                    const double share = std::tgamma(size + 1) * std::tgamma(static_cast<double>(inputs) - size) /
                                         std::tgamma(static_cast<double>(inputs) + 1);
                    expected += share * (worth[set | 1u << f] - worth[set]);
                }
                QVERIFY2(std::abs(told[f] - expected) < 1e-6, qPrintable(QString("%1 %2").arg(told[f]).arg(expected)));
            }
        }
    }

    // The window says of an operator what `orrery-cli schedules` says of it.
    void anOperatorIsRankedByAModelThatHasNotSeenIt() {
        const auto rows = fourProducts();
        const auto groups = groupsOf(rows);
        QCOMPARE(groups.size(), std::size_t{4});
        const auto left = judgeLeftOut(rows, {});
        QVERIFY(left);
        Progress progress;
        ScheduleTraining training;
        training.progress = &progress;
        const auto explored = exploreOperator(rows, groups[1], training);
        QVERIFY(explored);
        QCOMPARE(explored->operators, std::size_t{3});
        QCOMPARE(explored->learnedFrom, std::size_t{3 * 98});
        QCOMPARE(progress.fraction(), 1.0);
        for (std::size_t i = 0; i < explored->told.size(); ++i)
            QCOMPARE(explored->told[i], left->said[explored->group.rows[i]]);
        QVERIFY(explored->judged.spearman > 0.9);
        QCOMPARE(explored->judged.spearman, left->operators[1].spearman);
        QCOMPARE(explored->judged.failed, groups[1].failed);
        // Places are the order of the shares, each once.
        const std::set<std::size_t> once(explored->toldRank.begin(), explored->toldRank.end());
        QCOMPARE(once.size(), explored->told.size());
        QCOMPARE(*once.rbegin(), explored->told.size());
        for (std::size_t i = 0; i < explored->told.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (explored->share[i] > explored->share[j]) QVERIFY(explored->rank[i] < explored->rank[j]);
    }

    // Time follows the two tiles and not the reduction's: so does what the model looks at.
    void theModelLooksAtWhatDecides() {
        const auto rows = fourProducts();
        const auto explored = exploreOperator(rows, groupsOf(rows)[0], {});
        QVERIFY(explored);
        const auto names = scheduleFeatureNames();
        const auto lookAt = [&](std::string_view name) {
            return explored
                ->looksAt[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
        };
        const double all = std::accumulate(explored->looksAt.begin(), explored->looksAt.end(), 0.0);
        QVERIFY(all > 0.1);
        QVERIFY2(lookAt("reduction split 3") < 0.05 * all, qPrintable(QString::number(lookAt("reduction split 3"))));
        // What is added makes up the difference to the others, and what does not vary adds nothing.
        for (const std::size_t place : {std::size_t{0}, std::size_t{40}, std::size_t{97}}) {
            const ScheduleReasons reasons = reasonsOf(rows, *explored, place);
            const double sum = std::accumulate(reasons.features.begin(), reasons.features.end(), 0.0);
            QVERIFY(std::abs(reasons.mean + sum - reasons.rate) < 1e-5);
            QCOMPARE(reasons.places, 1.0);
            QVERIFY(std::abs(std::clamp(reasons.rate, 0.0, 1.0) - explored->told[place]) < 1e-12);
            QCOMPARE(
                reasons
                    .features[static_cast<std::size_t>(std::find(names.begin(), names.end(), "GPU") - names.begin())],
                0.0);
        }
    }

    // One operator alone: five models, each asked about what it has not seen.
    void anOperatorAloneIsRankedInFifths() {
        const auto rows = trials(256, 256);
        const auto explored = exploreOperator(rows, groupsOf(rows).front(), {});
        QVERIFY(explored);
        QCOMPARE(explored->operators, std::size_t{0});
        QCOMPARE(explored->models.size(), std::size_t{5});
        QVERIFY(explored->learnedFrom < rows.size());
        QVERIFY(explored->judged.spearman > 0.8);
        for (std::size_t i = 0; i < rows.size(); ++i)
            QCOMPARE(explored->told[i], explored->models[explored->modelOf[i]]->share(rows[i]));
    }

    // An operator whose schedules all failed teaches nothing: the answer is that of the log without it.
    void failedOperatorsTeachNothing() {
        const auto rows = trials(256, 256);
        auto with = rows;
        auto failed = trials(64, 128);
        failed.resize(10);
        for (TunedRow& row : failed) {
            row.seconds = 0;
            with.push_back(row);
        }
        const auto groups = groupsOf(with);
        QCOMPARE(groups.size(), std::size_t{2});
        const auto alone = exploreOperator(rows, groupsOf(rows).front(), {});
        const auto explored = exploreOperator(with, groups.front(), {});
        QVERIFY(alone && explored);
        QCOMPARE(explored->operators, std::size_t{0});
        QCOMPARE(explored->models.size(), std::size_t{5});
        QCOMPARE(explored->told, alone->told);
        // Beside operators that ran it is not counted.
        auto more = fourProducts();
        more.insert(more.end(), failed.begin(), failed.end());
        const auto others = exploreOperator(more, groupsOf(more).front(), {});
        QVERIFY(others);
        QCOMPARE(others->operators, std::size_t{3});
        QCOMPARE(others->learnedFrom, std::size_t{3 * 98});
        // Of itself there is nothing to rank, with others and without.
        for (const auto* log : {&with, &more, &failed}) {
            const auto nothing = exploreOperator(*log, groupsOf(*log).back(), {});
            QVERIFY(!nothing);
            QCOMPARE(nothing.error().code, std::string("schedules.few"));
            QVERIFY2(nothing.error().message.find("every schedule of this operator failed") == 0,
                     nothing.error().message.c_str());
        }
        // Judged, the operator that ran has nobody to learn from, which is said; the other is ranked by it.
        const auto judged = judgeLeftOut(with, {});
        QVERIFY2(judged, judged ? "" : judged.error().message.c_str());
        QCOMPARE(judged->operators.size(), std::size_t{1});
        QCOMPARE(judged->operators.front().schedules, failed.size());
        QCOMPARE(judged->notes.size(), std::size_t{2});  // and nobody says how far the model is off
        for (const Diagnostic& each : judged->notes) QCOMPARE(each.code, std::string("schedules.few"));
        QVERIFY(!judgeLeftOut(rows, {}));
        // One that ran: the model that is to say it has learned from none.
        auto lone = rows;
        for (std::size_t i = 0; i < lone.size(); ++i)
            if (i != 7) lone[i].seconds = 0;
        const auto one = exploreOperator(lone, groupsOf(lone).front(), {});
        QVERIFY(!one);
        QCOMPARE(one.error().code, std::string("schedules.few"));
        QVERIFY2(one.error().message.find("too few schedules of this one ran") != std::string::npos,
                 one.error().message.c_str());
    }

    void whatCannotBeRankedSaysSo() {
        auto rows = trials(256, 256);
        rows.resize(15);
        const auto few = exploreOperator(rows, groupsOf(rows).front(), {});
        QVERIFY(!few);
        QCOMPARE(few.error().code, std::string("schedules.few"));
        QVERIFY(!few.error().hint.empty());
        const auto best = tuned("gpu", 1);
        const auto mixed = groupsOf(best);
        QCOMPARE(mixed.size(), std::size_t{1});
        QVERIFY(mixed.front().mixed);
        QCOMPARE(mixed.front().rows.size(), best.size());
        const auto none = exploreOperator(best, mixed.front(), {});
        QVERIFY(!none);
        QCOMPARE(none.error().code, std::string("schedules.few"));
        std::stop_source stop;
        stop.request_stop();
        ScheduleTraining training;
        training.stop = stop.get_token();
        const auto all = fourProducts();
        const auto stopped = exploreOperator(all, groupsOf(all).front(), training);
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().code, std::string("study.cancelled"));
    }

    // Operators with one schedule: what judgeLeftOut() says of them, whatever else the log holds.
    void timesAreThoseOfTheJudgement() {
        const std::vector<TunedRow> best = tuned("gpu", 1);
        const auto judged = judgeLeftOut(best, {});
        QVERIFY(judged);
        std::vector<TunedRow> all = trials(64, 64);
        const std::size_t before = all.size();
        all.insert(all.end(), best.begin(), best.end());
        Progress progress;
        ScheduleTraining training;
        training.progress = &progress;
        const auto times = exploreTimes(all, training);
        QVERIFY(times);
        QCOMPARE(progress.fraction(), 1.0);
        QCOMPARE(times->said.size(), all.size());
        for (std::size_t i = 0; i < before; ++i) QVERIFY(std::isnan(times->said[i]));
        for (std::size_t i = 0; i < best.size(); ++i) {
            QCOMPARE(times->said[before + i], judged->said[i]);
            QCOMPARE(times->high[before + i], judged->high[i]);
        }
        QCOMPARE(times->devices.size(), std::size_t{1});
        QCOMPARE(times->devices.front().mape, judged->devices.front().mape);
        const auto few = exploreTimes(trials(64, 64), {});
        QVERIFY(!few);
        QCOMPARE(few.error().code, std::string("schedules.few"));
    }

    void theTableHasEverySchedule() {
        const auto rows = trials(128, 256);
        const auto explored = exploreOperator(rows, groupsOf(rows).front(), {});
        QVERIFY(explored);
        const auto lines = QString::fromStdString(exploredCsv(rows, *explored)).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), static_cast<qsizetype>(rows.size() + 1));
        const qsizetype columns = lines.front().count(',');
        for (const QString& line : lines) {
            QString plain = line;
            plain.remove(QRegularExpression("\"[^\"]*\""));
            QCOMPARE(plain.count(','), columns);
        }
        const std::string knobs = "tile_x=-1,4;ann_reduce=none,unroll;unroll=0";
        TunedRow row;
        row.knobs = readKnobs(knobs);
        QCOMPARE(knobsText(row), knobs);
    }
};

QTEST_GUILESS_MAIN(TestScheduleExplorer)
#include "tst_schedule_explorer.moc"
