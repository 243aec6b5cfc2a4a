// Work on many ranks: every item once, whoever is slow, silent, wrong or back again.

#include "methods/method.h"
#include "store/export/exports.h"
#include "store/project/search_file.h"
#include "store/project/study_file.h"
#include "store/runs/result_codec.h"
#include "study/distributed/batches.h"
#include "study/distributed/launch.h"
#include "study/distributed/ranked_runs.h"
#include "study/exploration/agents.h"
#include "support/queue_transport.h"
#include "support/search_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <cstring>
#include <set>
#include <thread>

using namespace orrery;
using namespace orrery::test;

namespace {

std::string square(std::uint64_t number) {
    return std::to_string(number * number);
}

std::vector<std::uint64_t> numbersTo(std::size_t count) {
    std::vector<std::uint64_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = 3 * i;
    return numbers;
}

// Some ranks as threads, which answer until rank 0 lets them go.
class Crew {
public:
    Crew(int ranks, RankWork work, double timeout = 5)
        : Crew(
              ranks, [work](int) { return work; }, timeout) {}
    Crew(int ranks, const std::function<RankWork(int)>& workOf, double timeout = 5)
        : hub(std::make_shared<QueueHub>(ranks)), results(static_cast<std::size_t>(ranks)) {
        for (int rank = 1; rank < ranks; ++rank) {
            threads_.emplace_back([this, rank, work = workOf(rank), timeout] {
                Ranks own(std::make_unique<QueueTransport>(hub, rank), timeout);
                const auto served = own.serve(work, std::stop_source());
                if (!served) results[static_cast<std::size_t>(rank)] = served.error().code;
            });
        }
        first = std::make_unique<Ranks>(std::make_unique<QueueTransport>(hub, 0), timeout);
        first->begin(workOf(0));
    }
    ~Crew() {
        first->finish();
        for (auto& silent : hub->silent) silent = false;
    }
    std::shared_ptr<QueueHub> hub;
    std::vector<std::string> results;  ///< codes of failures
    std::unique_ptr<Ranks> first;

private:
    std::vector<std::jthread> threads_;
};

}  // namespace

class TestRanks : public QObject {
    Q_OBJECT
    // Places as they were taken, and whether each answer is right.
    static std::multiset<std::uint64_t> taken(Ranks& ranks, const std::vector<std::uint64_t>& numbers,
                                              const std::function<void(std::size_t)>& after = {}) {
        std::multiset<std::uint64_t> places;
        const bool whole = ranks.answer(numbers,
                                        [&](std::span<AnsweredItem> answers) {
                                            for (const AnsweredItem& each : answers) {
                                                if (each.bytes != square(numbers[each.item.place])) return false;
                                                places.insert(each.item.place);
                                            }
                                            if (after) after(places.size());
                                            return true;
                                        },
                                        {});
        return whole ? places : std::multiset<std::uint64_t>{};
    }
    static bool eachOnce(const std::multiset<std::uint64_t>& places, std::size_t count) {
        return places.size() == count && std::set<std::uint64_t>(places.begin(), places.end()).size() == count;
    }

private slots:
    void batchesShrinkAndEveryItemIsHandedOutOnce() {
        Batches batches(10'000, 3);
        for (const int rank : {0, 1, 2}) {
            batches.setThreads(rank, rank + 1);
            batches.setPace(rank, 1e9);
        }
        std::set<std::size_t> seen;
        std::size_t last = 0;
        for (int turn = 0; !batches.done(); ++turn) {
            const auto items = batches.next(2);
            QVERIFY(!items.empty());
            QVERIFY(turn == 0 || items.size() <= last);
            // Half of its share of what is open: three of six threads.
            if (turn == 0) QCOMPARE(items.size(), std::size_t{2500});
            last = items.size();
            for (const std::size_t item : items) {
                QVERIFY(seen.insert(item).second);
                QVERIFY(batches.answered(item));
                QVERIFY(!batches.answered(item));
            }
        }
        QCOMPARE(seen.size(), std::size_t{10'000});
        QCOMPARE(last, std::size_t{1});
    }
    void aSlowRankGetsLittle() {
        Batches batches(100'000, 2);
        batches.setThreads(0, 2);
        batches.setThreads(1, 2);
        QCOMPARE(batches.next(1).size(), std::size_t{8});  // a try
        QVERIFY(batches.next(1).empty());                  // has enough
        batches.setPace(0, 5.0);
        QCOMPARE(batches.next(0).size(), std::size_t{5});
    }
    void whatALostRankHadComesBackInFront() {
        Batches batches(100, 2);
        batches.setThreads(0, 1);
        batches.setThreads(1, 1);
        const auto lost = batches.next(1);
        batches.lose(1);
        QVERIFY(batches.next(1).empty());
        QCOMPARE(batches.next(0).front(), lost.front());
        // And its late answer counts, once.
        QVERIFY(batches.answered(lost.back()));
        QVERIFY(!batches.answered(lost.back()));
    }
    void everyRankTakesPart() {
        std::array<std::atomic<int>, 4> by{};
        Crew crew(4, [&](int rank) {
            return RankWork{"q", 2, [&by, rank](std::uint64_t number) {
                                ++by[static_cast<std::size_t>(rank)];
                                std::this_thread::sleep_for(std::chrono::microseconds(200));
                                return square(number);
                            }};
        });
        for (const std::size_t count : {std::size_t{2000}, std::size_t{1}, std::size_t{0}, std::size_t{333}})
            QVERIFY(eachOnce(taken(*crew.first, numbersTo(count)), count));
        for (const auto& each : by) QVERIFY(each > 0);
        const RanksReport report = crew.first->report();
        QCOMPARE(report.ranks, 4);
        QCOMPARE(report.threads, 8);
        QCOMPARE(report.items, std::size_t{2334});
        QVERIFY(report.batches > 4 && report.lost.empty());
        QVERIFY2(report.itemSeconds > 150e-6 && report.itemSeconds < 20e-3,
                 qPrintable(QString::number(report.itemSeconds)));
    }
    // A rank that is killed or whose machine is gone says nothing more; one that was only slow comes back.
    void aSilentRanksWorkIsDoneByOthers() {
        Crew crew(3,
                  {"q", 1,
                   [](std::uint64_t number) {
                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                       return square(number);
                   }},
                  0.4);
        const auto places = taken(*crew.first, numbersTo(600), [&](std::size_t count) {
            if (count > 40) crew.hub->silent[1] = true;
        });
        QVERIFY(eachOnce(places, 600));
        QCOMPARE(crew.first->report().lost.size(), std::size_t{1});
        QVERIFY(crew.first->report().lost.front().find("rank 1: no word for 0.4 s") != std::string::npos);
        crew.hub->silent[1] = false;
        QVERIFY(eachOnce(taken(*crew.first, numbersTo(2000)), 2000));
        QVERIFY(crew.first->report().lost.empty());
    }
    void aRankWithAnotherQuestionAnswersNothing() {
        Crew crew(3, [](int rank) {
            return RankWork{rank == 1 ? "other" : "q", 1,
                            [rank](std::uint64_t number) { return rank == 1 ? std::string("wrong") : square(number); }};
        });
        QVERIFY(eachOnce(taken(*crew.first, numbersTo(500)), 500));
        QTRY_VERIFY(eachOnce(taken(*crew.first, numbersTo(50)), 50) && crew.first->report().lost.size() == 1);
        crew.first->finish();
        QTRY_COMPARE(crew.results[1], std::string("ranks.question"));
    }
    void stoppedOnTheWay() {
        Crew crew(3, {"q", 1, [](std::uint64_t number) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          return square(number);
                      }});
        std::stop_source stop;
        std::size_t came = 0;
        QVERIFY(!crew.first->answer(
            numbersTo(5000),
            [&](std::span<AnsweredItem> answers) {
                came += answers.size();
                if (came > 20) stop.request_stop();
                return true;
            },
            stop.get_token()));
        QVERIFY(came < 2500);
        QVERIFY(!crew.first->answer(numbersTo(5000), [](std::span<AnsweredItem>) { return false; }, {}));
        // Answers to what was stopped do not count for what comes after.
        QVERIFY(eachOnce(taken(*crew.first, numbersTo(200)), 200));
    }
    void rankZeroAloneIsEnough() {
        Crew crew(1, {"q", 2, square});
        QVERIFY(eachOnce(taken(*crew.first, numbersTo(1000)), 1000));
    }
    void pointsComeBackAsTheyWere() {
        const double none = std::numeric_limits<double>::quiet_NaN();
        for (const PointAnswer& each :
             {PointAnswer{7, {{0.1 + 0.2, 1e-300, 5}}, 0.25, ""},
              PointAnswer{~0ULL >> 1, {{none, none, none}, {none, none, none}}, 0, "too dear"}}) {
            const auto back = readPointAnswer(written(each));
            QVERIFY(back && back->point == each.point && back->refusal == each.refusal &&
                    back->violation == each.violation && back->values.size() == each.values.size());
            QVERIFY(std::isnan(each.values[0].value) ? std::isnan(back->values[0].value)
                                                     : back->values[0].value == each.values[0].value);
        }
        QCOMPARE(readPointAnswer("short").error().code, std::string("ranks.damaged"));
    }
    // Each agent asks for the same points and gets the same numbers.
    void searchesAreThoseOfOneRank() {
        const auto loaded = readSearch(searchYaml("objectives: [time, energy]\n"));
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const SearchProblem& problem = loaded->problem;
        SearchOptions options{.evaluations = 60};
        Crew crew(3, {"q", 1, pointAnswers(problem, options)});
        for (const char* agent : {"grid", "random", "nsga2"}) {
            const AgentInfo& info = **searchAgent(agent);
            const PointAnswers one = runSearch(problem, info, options);
            // Half of it is known from before.
            PointAnswers known;
            for (std::size_t i = 0; i < one.size(); i += 2) known.add(one.at(i));
            SearchOptions many = options;
            many.known = &known;
            answerOn(*crew.first, many);
            QCOMPARE(many.batch, std::size_t{512} * static_cast<std::size_t>(3 * crew.first->threadsHere()));
            const PointAnswers three = runSearch(problem, info, many);
            QCOMPARE(three.points, one.points);
            // Where there is no interval its ends are no numbers: by their bytes.
            const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
                return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
            };
            QVERIFY(same(three.value, one.value) && same(three.low, one.low) && same(three.high, one.high));
        }
    }
    void studiesAreThoseOfOneRank() {
        const auto loaded = readStudy(
            "orrery: study/1\nhardware: [h100-sxm, eyeriss-like]\nworkloads: [resnet-50]\n"
            "methods: [roofline, llm-inference, tile-hybrid]\nsweep: {batch: [1, 2, 3]}\ntimelines: true\n");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const Study& study = loaded->study;
        const auto executor = makeSerialExecutor();
        StudyOptions options{.executor = executor.get()};
        const auto one = runStudy(study, options);
        const ResultCodec codec = resultCodec(study);
        Crew crew(3, {"q", 1, pairAnswers(study, options, codec)});
        StudyOptions many = options;
        std::size_t told = 0;
        many.onResults = [&](std::span<const StudyResult> results) { told += results.size(); };
        answerOn(*crew.first, many, codec);
        const auto three = runStudy(study, many);
        QCOMPARE(told, one.size());
        QCOMPARE(three.size(), one.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            QCOMPARE(three[i].scenario, one[i].scenario);
            QCOMPARE(three[i].method, one[i].method);
            QCOMPARE(three[i].estimate != nullptr, one[i].estimate != nullptr);
            if (!one[i].estimate) {
                QCOMPARE(three[i].failure->message, one[i].failure->message);
                continue;
            }
            Estimate a = *one[i].estimate, b = *three[i].estimate;
            a.cost = b.cost = Seconds(1);
            QCOMPARE(estimateJson(study.scenarios[one[i].scenario], b),
                     estimateJson(study.scenarios[one[i].scenario], a));
        }
    }
    void whoStartedIt() {
        const auto clear = [] {
            for (const char* each : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
                                     "PMIX_RANK", "ORRERY_MPI", "ORRERY_RANK_TIMEOUT"})
                qunsetenv(each);
        };
        clear();
        QVERIFY(!launch() && joinRanks() && !*joinRanks());
        qputenv("OMPI_COMM_WORLD_SIZE", "1");
        QVERIFY(!launch());
        qputenv("OMPI_COMM_WORLD_SIZE", "4");
        qputenv("OMPI_COMM_WORLD_RANK", "2");
        QCOMPARE(launch()->rank, 2);
        QCOMPARE(launch()->ranks, 4);
        qputenv("ORRERY_MPI", "/no/such/orrery-mpi.so");
        const auto none = joinRanks();
        QVERIFY2(!none && none.error().code == "ranks.no-mpi" && !none.error().hint.empty(),
                 none ? "" : toText(none.error()).c_str());
        QCOMPARE(*rankTimeout(), 30.0);
        for (const char* bad : {"soon", "0", "-3"}) {
            qputenv("ORRERY_RANK_TIMEOUT", bad);
            QCOMPARE(rankTimeout().error().code, std::string("usage.value"));
        }
        clear();
    }
};

QTEST_GUILESS_MAIN(TestRanks)
#include "tst_ranks.moc"
