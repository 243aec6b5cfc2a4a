#include "store/export/search_exports.h"
#include "store/runs/run_store.h"
#include "store/runs/search_store.h"
#include "support/search_fixture.h"
#include "support/store_fixture.h"

#include <QtTest/QtTest>

#include <sqlite3.h>

using namespace orrery;
using namespace orrery::test;

class TestSearchStore : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

private slots:
    void pointsComeBackAsTheyWere() {
        const auto loaded = readSearch(searchYaml("objectives: [time, energy]\nconstraints: [fits]\n"));
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const SearchProblem& problem = loaded->problem;
        const AgentInfo& agent = **searchAgent("random");
        auto store = SearchStore::open(path("a.sqlite"));
        QVERIFY2(store, store ? "" : toText(store.error()).c_str());
        const std::string text = searchProblemText(problem, agent);
        QCOMPARE(*(*store)->find(text), std::int64_t{0});
        const std::int64_t id = *(*store)->begin("Small", text);
        SearchOptions options{.evaluations = 70};
        options.onBatch = [&](const PointAnswers& seen, std::size_t first) {
            return (*store)->add(id, seen, first).has_value();
        };
        const PointAnswers seen = runSearch(problem, agent, options);
        QCOMPARE(*(*store)->find(text), id);
        QVERIFY(!(*store)->searches()->front().finished);
        QVERIFY((*store)->finish(id));
        QVERIFY((*store)->searches()->front().finished);
        QCOMPARE((*store)->searches()->front().points, seen.size());
        store = SearchStore::open(path("a.sqlite"));
        const auto back = (*store)->points(id, problem.objectives.size());
        QVERIFY(back);
        const auto json = [&](const PointAnswers& answers) {
            return searchJson({.name = "Small",
                               .problem = &problem,
                               .agent = &agent,
                               .evaluations = answers,
                               .base = evaluateBase(problem, {})});
        };
        QCOMPARE(json(*back), json(seen));
        // Runs and searches stand in one file.
        QVERIFY(RunStore::open(path("a.sqlite")));
    }
    // A batch is there as a whole or not at all.
    void aBatchThatCannotBeStoredIsNot() {
        auto store = SearchStore::open(path("b.sqlite"));
        const std::int64_t id = *(*store)->begin("b", "b");
        PointAnswers answers;
        for (std::uint64_t point = 0; point < 3; ++point) answers.add({point, {{1, 1, 1}}, 0, ""});
        QVERIFY((*store)->add(id, answers, 0));
        answers.add({3, {{1, 1, 1}}, 0, ""});
        QVERIFY(!(*store)->add(id, answers, 2));  // the third stands there already
        QCOMPARE((*store)->points(id, 1)->size(), std::size_t{3});
        QVERIFY((*store)->add(id, answers, 3));
    }
    void anythingThatChangesNumbersIsAnotherSearch() {
        const auto textOf = [](const std::string& yaml, const char* agent = "grid", std::uint64_t seed = 0) {
            auto loaded = readSearch(yaml);
            loaded->problem.seed = seed;
            return searchProblemText(loaded->problem, **searchAgent(agent));
        };
        const std::string base = textOf(searchYaml());
        QCOMPARE(textOf(searchYaml()), base);
        QVERIFY(textOf(searchYaml(), "random") != base);
        QVERIFY(textOf(searchYaml(), "grid", 3) != base);
        QVERIFY(textOf(searchYaml("objectives: [time]\n")) != base);
        QVERIFY(textOf(searchYaml("objectives: [time, energy]\nconstraints: [fits]\n")) != base);
        QVERIFY(textOf(searchYaml("objectives: [time, energy]\n", "tile-hybrid")) != base);
        std::string other = searchYaml();
        other.replace(other.find("66, 132"), 7, "67, 132");
        QVERIFY(textOf(other) != base);
    }
    // Another agent asks the same of a point; another seed, method or constraint does not.
    void whatOneAgentHasAnsweredAnotherTakes() {
        const auto problemOf = [](const std::string& rest, const char* method = "roofline") {
            return readSearch(searchYaml("objectives: [time]\n" + rest, method))->problem;
        };
        const SearchProblem problem = problemOf("");
        auto store = SearchStore::open(path("e.sqlite"));
        const auto textOf = [&](const SearchProblem& asked, const char* agent) {
            return searchProblemText(asked, **searchAgent(agent));
        };
        const auto keep = [&](const std::string& text, std::uint64_t from, std::uint64_t to, double value) {
            PointAnswers answers;
            for (std::uint64_t point = from; point < to; ++point) answers.add({point, {{value, value, value}}, 0, ""});
            QVERIFY((*store)->add(*(*store)->begin("e", text), answers, 0));
        };
        keep(textOf(problem, "random"), 0, 3, 1);
        keep(textOf(problem, "nsga2"), 2, 5, 2);
        const auto known = (*store)->answered(textOf(problem, "hill"), 1);
        QVERIFY(known);
        QCOMPARE(known->size(), std::size_t{5});
        QCOMPARE(known->value[2], 1.0);
        SearchProblem other = problem;
        other.seed = 9;
        QCOMPARE((*store)->answered(textOf(other, "random"), 1)->size(), std::size_t{0});
        QCOMPARE((*store)->answered(textOf(problemOf("constraints: [fits]\n"), "random"), 1)->size(), std::size_t{0});
        SearchProblem laddered = problem;
        laddered.ladder = {"roofline"};
        QCOMPARE((*store)->answered(textOf(laddered, "multi-fidelity"), 1)->size(), std::size_t{5});
    }
    // Answers of a cheaper method stand beside their search, are no search that is listed, and serve one that asks it.
    void cheapAnswersAreKept() {
        SearchProblem problem = readSearch(searchYaml("objectives: [time]\n", "tile-hybrid"))->problem, cheap = problem;
        cheap.method = "roofline";
        auto store = SearchStore::open(path("f.sqlite"));
        const std::int64_t id = *(*store)->begin("f", searchProblemText(problem, **searchAgent("multi-fidelity")));
        PointAnswers answers;
        for (std::uint64_t point = 0; point < 4; ++point) answers.add({point, {{1, 1, 1}}, 0, ""});
        const std::int64_t beside = *(*store)->begin("f by roofline", cheapProblemText(cheap, id));
        QVERIFY((*store)->add(beside, answers, 0));
        QCOMPARE((*store)->searches()->size(), std::size_t{1});
        QCOMPARE(*(*store)->find(cheapProblemText(cheap, id)), beside);
        QCOMPARE(*(*store)->find(cheapProblemText(cheap, id + 7)), std::int64_t{0});
        QCOMPARE((*store)->answered(cheapProblemText(cheap, id + 7), 1)->size(), std::size_t{4});
        QCOMPARE((*store)->answered(searchProblemText(cheap, **searchAgent("grid")), 1)->size(), std::size_t{4});
        QCOMPARE((*store)->answered(searchProblemText(problem, **searchAgent("grid")), 1)->size(), std::size_t{0});
    }
    void olderDatabasesAreBroughtUpToDate() {
        {
            auto store = RunStore::open(path("c.sqlite"));
            QVERIFY((*store)->beginRun(awkwardStudy()));
        }
        sqlite3* database = nullptr;
        QCOMPARE(sqlite3_open(path("c.sqlite").c_str(), &database), SQLITE_OK);
        QCOMPARE(sqlite3_exec(database, "drop table search_points; drop table searches; pragma user_version = 1",
                              nullptr, nullptr, nullptr),
                 SQLITE_OK);
        sqlite3_close(database);
        auto store = SearchStore::open(path("c.sqlite"));
        QVERIFY2(store, store ? "" : toText(store.error()).c_str());
        QVERIFY((*store)->begin("c", "c"));
        QCOMPARE((*RunStore::open(path("c.sqlite")))->runs()->size(), std::size_t{1});
    }
    void damagedPointsAreNamed() {
        auto store = SearchStore::open(path("d.sqlite"));
        const std::int64_t id = *(*store)->begin("d", "d");
        PointAnswers answers;
        answers.add({0, {{1, 1, 1}}, 0, ""});
        QVERIFY((*store)->add(id, answers, 0));
        QCOMPARE((*store)->points(id, 2).error().code, std::string("store.damaged"));
    }
};

QTEST_GUILESS_MAIN(TestSearchStore)
#include "tst_search_store.moc"
