#include "store/runs/run_store.h"

#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/runs/sqlite.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <mutex>

namespace orrery {

namespace {

using store::Statement;
using Step = store::Statement::Step;

constexpr std::int64_t schemaVersion = 1;
constexpr std::int64_t applicationId = 0x4F727279;  // `Orry`, so that `file` and we can tell it from other databases

constexpr const char* schema = R"(
create table runs(
    id integer primary key, name text not null, started text not null, finished integer not null default 0,
    seed integer not null, methods text not null) strict;
create table scenarios(
    run integer not null references runs(id), position integer not null, name text not null, hardware text not null,
    workload text not null, json text not null, primary key(run, position)) strict, without rowid;
create table results(
    id integer primary key, run integer not null references runs(id), scenario integer not null, method text not null,
    latency_s real, latency_low_s real, latency_high_s real, cost_s real, estimate text, failure text) strict;
create index results_of_run on results(run);
)";

std::string utcNow() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

class SqliteRunStore : public RunStore {
public:
    SqliteRunStore(store::Database database, std::string path)
        : database_(std::move(database)), path_(std::move(path)) {}

    Expected<void> prepare();
    Expected<std::int64_t> beginRun(const Study& study) override;
    Expected<void> add(std::int64_t run, const Study& study, const StudyResult& result) override;
    Expected<void> finishRun(std::int64_t run) override;
    Expected<std::vector<StoredRun>> runs() override;
    Expected<std::vector<StoredResult>> results(std::int64_t run) override;
    Expected<Diagnostics> check() override;

private:
    Unexpected error(std::string_view doing) const { return store::databaseError(database_.get(), doing, path_); }
    Expected<std::int64_t> pragma(const char* sql);

    store::Database database_;
    std::string path_;
    std::mutex mutex_;
};

Expected<std::int64_t> SqliteRunStore::pragma(const char* sql) {
    Statement statement(database_.get(), sql);
    if (statement.step() != Step::Row) return error("read the run database");
    return statement.integer(0);
}

Expected<void> SqliteRunStore::prepare() {
    sqlite3* db = database_.get();
    sqlite3_busy_timeout(db, 5000);
    sqlite3_extended_result_codes(db, 0);
    // The file may come from anywhere: nothing in its schema may run functions or write beside it.
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    const auto version = pragma("pragma user_version");
    if (!version) return tl::unexpected(version.error());
    const auto application = pragma("pragma application_id");
    const auto tables = pragma("select count(*) from sqlite_schema");
    if (!application || !tables) return error("read the run database");
    if (*tables > 0 && *application != applicationId) {
        return fail("store.kind", "this is a SQLite database of another program", "a run database of Orrery",
                    "give another file: this one is left as it is", {path_});
    }
    if (*version > schemaVersion) {
        return fail("store.newer",
                    fmt::format("the run database was written by a newer Orrery (format {}; this one reads up to {})",
                                *version, schemaVersion),
                    fmt::format("format {}", schemaVersion),
                    "open it with a newer Orrery; this one leaves the file as it is", {path_});
    }
    if (sqlite3_db_readonly(db, "main") == 1) return {};
    // WAL: a killed writer leaves whole transactions. FULL rather than NORMAL, which would survive a killed program but
    // could lose the last results to a power cut: add() promises that its result is on the disk.
    if (!store::execute(db, "pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;")) {
        return error("open the run database for writing");
    }
    if (*version == 0 && *tables == 0) {
        const std::string setup =
            fmt::format("begin immediate; {} pragma application_id = {}; pragma user_version = {}; commit;", schema,
                        applicationId, schemaVersion);
        if (!store::execute(db, setup.c_str())) return error("set up the run database");
    }
    return {};
}

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
    run.bind(study.name).bind(utcNow()).bind(static_cast<std::int64_t>(study.seed));
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
    if (sqlite3_initialize() != SQLITE_OK) return fail("store.database", "SQLite cannot be started", "", "", {path});
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &raw,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
    store::Database database(raw);
    if (opened != SQLITE_OK) return store::databaseError(raw, "open the run database", path);
    auto runs = std::make_unique<SqliteRunStore>(std::move(database), path);
    if (auto ready = runs->prepare(); !ready) return tl::unexpected(ready.error());
    return runs;
}

}  // namespace orrery
