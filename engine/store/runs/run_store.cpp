#include "store/runs/run_store.h"

#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/runs/run_database.h"

#include <fmt/format.h>

#include <mutex>

namespace orrery {

namespace {

using store::Statement;
using Step = store::Statement::Step;

class SqliteRunStore : public RunStore {
public:
    SqliteRunStore(store::Database database, std::string path)
        : database_(std::move(database)), path_(std::move(path)) {}

    Expected<std::int64_t> beginRun(const Study& study) override;
    Expected<void> add(std::int64_t run, const Study& study, const StudyResult& result) override;
    Expected<void> finishRun(std::int64_t run) override;
    Expected<std::vector<StoredRun>> runs() override;
    Expected<std::vector<StoredResult>> results(std::int64_t run) override;
    Expected<Diagnostics> check() override;

private:
    Unexpected error(std::string_view doing) const { return store::databaseError(database_.get(), doing, path_); }

    store::Database database_;
    std::string path_;
    std::mutex mutex_;
};

Expected<std::int64_t> SqliteRunStore::beginRun(const Study& study) {
    const std::lock_guard lock(mutex_);
    sqlite3* db = database_.get();
    if (!store::execute(db, "begin immediate")) return error("begin a run");
    const auto giveUp = [&] {
        auto failure = error("store the run");
        store::execute(db, "rollback");
        return failure;
    };
    Statement run(db, "insert into runs(name, started, seed, methods) values(?, ?, ?, ?)");
    run.bind(study.name).bind(store::utcNow()).bind(static_cast<std::int64_t>(study.seed));
    run.bind(store::dumped(store::Json(study.methods), -1));
    if (run.step() != Step::Done) return giveUp();
    const std::int64_t id = sqlite3_last_insert_rowid(db);
    Statement scenario(db, "insert into scenarios(run, position, name, hardware, workload, json) values(?,?,?,?,?,?)");
    for (std::size_t i = 0; i < study.scenarios.size(); ++i) {
        const Scenario& each = study.scenarios[i];
        scenario.bind(id).bind(static_cast<std::int64_t>(i)).bind(each.name());
        scenario.bind(each.hardware ? each.hardware->name : std::string());
        scenario.bind(each.workload ? each.workload->name : std::string()).bind(scenarioJson(each));
        if (scenario.step() != Step::Done) return giveUp();
        scenario.reset();
    }
    if (!store::execute(db, "commit")) return giveUp();
    return id;
}

Expected<void> SqliteRunStore::add(std::int64_t run, const Study& study, const StudyResult& result) {
    if (result.scenario >= study.scenarios.size()) {
        return fail("store.scenario", "the result belongs to no scenario of the study", "", "", {path_});
    }
    std::string json;
    if (result.estimate) json = estimateJson(study.scenarios[result.scenario], *result.estimate);
    const std::lock_guard lock(mutex_);
    Statement insert(database_.get(),
                     "insert into results(run, scenario, method, latency_s, latency_low_s, latency_high_s, cost_s, "
                     "estimate, failure) values(?,?,?,?,?,?,?,?,?)");
    insert.bind(run).bind(static_cast<std::int64_t>(result.scenario)).bind(result.method);
    if (result.estimate) {
        const Estimate& estimate = *result.estimate;
        insert.bind(estimate.latency.value).bind(estimate.interval.low.value).bind(estimate.interval.high.value);
        insert.bind(estimate.cost.value).bind(json).bindNull();
    } else {
        const Diagnostic none{Severity::Error, "study.no-answer", "no answer", {}, {}, {}};
        insert.bindNull().bindNull().bindNull().bindNull().bindNull();
        insert.bind(store::dumped(store::diagnosticJson(result.failure.value_or(none)), -1));
    }
    if (insert.step() != Step::Done) return error("store a result");
    return {};
}

Expected<void> SqliteRunStore::finishRun(std::int64_t run) {
    const std::lock_guard lock(mutex_);
    Statement update(database_.get(), "update runs set finished = 1 where id = ?");
    if (update.bind(run).step() != Step::Done) return error("finish the run");
    return {};
}

Expected<std::vector<StoredRun>> SqliteRunStore::runs() {
    const std::lock_guard lock(mutex_);
    Statement select(
        database_.get(),
        "select id, name, started, finished, methods, seed, (select count(*) from results where run = runs.id and "
        "failure is null), (select count(*) from results where run = runs.id and failure is not null) from runs "
        "order by id");
    std::vector<StoredRun> runs;
    Step step;
    while ((step = select.step()) == Step::Row) {
        StoredRun run{select.integer(0),
                      select.text(1),
                      select.text(2),
                      select.integer(3) != 0,
                      static_cast<std::size_t>(select.integer(6)),
                      static_cast<std::size_t>(select.integer(7))};
        if (const auto methods = parseJson(select.text(4))) {
            for (const JsonNode& method : methods->items) {
                if (method.isText()) run.methods.push_back(method.text);
            }
        }
        run.seed = static_cast<std::uint64_t>(select.integer(5));
        runs.push_back(std::move(run));
    }
    if (step == Step::Failed) return error("read the runs");
    return runs;
}

Expected<std::vector<StoredResult>> SqliteRunStore::results(std::int64_t run) {
    const std::lock_guard lock(mutex_);
    Statement select(
        database_.get(),
        "select s.name, s.hardware, s.workload, r.method, r.estimate, r.failure, r.latency_s, "
        "r.latency_low_s, r.latency_high_s, r.cost_s, r.scenario, s.json from results r join scenarios s on "
        "s.run = r.run and s.position = r.scenario where r.run = ? order by r.scenario, r.id");
    select.bind(run);
    std::vector<StoredResult> results;
    Step step;
    while ((step = select.step()) == Step::Row) {
        StoredResult result{select.text(0), select.text(1), select.text(2), select.text(3), select.text(4)};
        result.failureJson = select.text(5);
        result.latency = select.real(6);
        result.low = select.real(7);
        result.high = select.real(8);
        result.cost = select.real(9);
        result.scenarioIndex = static_cast<std::size_t>(select.integer(10));
        result.scenarioJson = select.text(11);
        if (!result.failureJson.empty()) {
            const auto json = store::parseStored(result.failureJson);
            std::optional<Diagnostic> problem;
            result.failure =
                json && json->isObject() ? store::diagnosticFrom({*json, problem}).message : result.failureJson;
        }
        results.push_back(std::move(result));
    }
    if (step == Step::Failed) return error("read the results");
    return results;
}

Expected<Diagnostics> SqliteRunStore::check() {
    const std::lock_guard lock(mutex_);
    Statement statement(database_.get(), "pragma integrity_check");
    Diagnostics findings;
    Step step;
    while ((step = statement.step()) == Step::Row) {
        if (const std::string text = statement.text(0); text != "ok") {
            findings.push_back(Diagnostic{Severity::Error, "store.damaged", text, "a sound database", "", {path_}});
        }
    }
    if (step == Step::Failed) return error("check the run database");
    return findings;
}

}  // namespace

Expected<std::unique_ptr<RunStore>> RunStore::open(const std::string& path) {
    auto database = store::openRunDatabase(path);
    if (!database) return tl::unexpected(database.error());
    return std::make_unique<SqliteRunStore>(std::move(*database), path);
}

}  // namespace orrery
