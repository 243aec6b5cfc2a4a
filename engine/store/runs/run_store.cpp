#include "store/runs/run_store.h"

#include "base/hash.h"
#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/runs/run_database.h"
#include "store/runs/stored_result.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <unordered_map>

namespace orrery {

namespace {

using store::Statement;
using Step = store::Statement::Step;

// Of a run that this program began or goes on with.
struct OpenRun {
    std::vector<std::string> keys;
    std::vector<bool> stored;
    std::int64_t first = 0;  // id of the first pair's result
};

class SqliteRunStore : public RunStore {
public:
    SqliteRunStore(store::Database database, std::string path)
        : database_(std::move(database)), path_(std::move(path)) {}

    Expected<std::int64_t> beginRun(const Study& study, std::span<const std::string> keys) override;
    Expected<ContinuedRun> continueRun(const Study& study, std::span<const std::string> keys) override;
    Expected<void> add(std::int64_t run, const Study& study, std::span<const StudyResult> results) override;
    Expected<void> finishRun(std::int64_t run) override;
    Expected<std::vector<StoredRun>> runs() override;
    Expected<std::vector<StoredResult>> results(std::int64_t run) override;
    Expected<Diagnostics> check() override;

private:
    Unexpected error(std::string_view doing) const { return store::databaseError(database_.get(), doing, path_); }
    template <class Body>
    bool whole(Body body);  // in one transaction; false: nothing of it
    std::optional<std::int64_t> begun(const Study& study, std::span<const std::string> keys);
    bool adopt(OpenRun& open, std::int64_t run, std::size_t pair, std::size_t perScenario);

    store::Database database_;
    std::string path_;
    std::mutex mutex_;
    std::unordered_map<std::int64_t, OpenRun> open_;
};

template <class Body>
bool SqliteRunStore::whole(Body body) {
    return store::execute(database_.get(), "begin immediate") && body() && store::execute(database_.get(), "commit");
}

std::string hashOf(std::span<const std::string> keys) {
    Hash hash;
    for (const std::string& key : keys) hash.add(key);
    return hash.hex();
}

std::optional<std::int64_t> SqliteRunStore::begun(const Study& study, std::span<const std::string> keys) {
    sqlite3* db = database_.get();
    Statement run(db, "insert into runs(name, started, seed, methods) values(?, ?, ?, ?)");
    run.bind(study.name).bind(store::utcNow()).bind(static_cast<std::int64_t>(study.seed));
    run.bind(store::dumped(store::Json(study.methods), -1));
    if (run.step() != Step::Done) return std::nullopt;
    const std::int64_t id = sqlite3_last_insert_rowid(db);
    Statement scenario(db, "insert into scenarios(run, position, name, hardware, workload, json) values(?,?,?,?,?,?)");
    for (std::size_t i = 0; i < study.scenarios.size(); ++i) {
        const Scenario& each = study.scenarios[i];
        scenario.bind(id).bind(static_cast<std::int64_t>(i)).bind(each.name());
        scenario.bind(each.hardware ? each.hardware->name : std::string());
        scenario.bind(each.workload ? each.workload->name : std::string()).bind(scenarioJson(each));
        if (scenario.step() != Step::Done) return std::nullopt;
        scenario.reset();
    }
    if (keys.empty()) return id;
    Statement asked(db,
                    "insert into asked_runs(run, hash, first, pairs) values(?, ?, 1 + max((select "
                    "coalesce(max(id), 0) from results), (select coalesce(max(first + pairs), 0) from asked_runs)), ?) "
                    "returning first");
    asked.bind(id).bind(hashOf(keys)).bind(static_cast<std::int64_t>(keys.size()));
    if (asked.step() != Step::Row) return std::nullopt;
    OpenRun open{{keys.begin(), keys.end()}, std::vector<bool>(keys.size()), asked.integer(0)};
    if (asked.step() != Step::Done) return std::nullopt;
    open_[id] = std::move(open);
    return id;
}

Expected<std::int64_t> SqliteRunStore::beginRun(const Study& study, std::span<const std::string> keys) {
    const std::lock_guard lock(mutex_);
    std::optional<std::int64_t> id;
    if (!whole([&] { return (id = begun(study, keys)).has_value(); })) {
        auto failure = error("store the run");
        store::execute(database_.get(), "rollback");
        return failure;
    }
    return *id;
}

// What another run has of a pair becomes this run's.
bool SqliteRunStore::adopt(OpenRun& open, std::int64_t run, std::size_t pair, std::size_t perScenario) {
    sqlite3* db = database_.get();
    Statement known(db, "select result from pairs where key = ? order by run desc limit 1");
    const Step found = known.bind(open.keys[pair]).step();
    if (found != Step::Row) return found == Step::Done;
    const std::int64_t id = open.first + static_cast<std::int64_t>(pair);
    Statement copy(db,
                   "insert into results(id, run, scenario, method, latency_s, latency_low_s, latency_high_s, cost_s, "
                   "estimate, failure) select ?, ?, ?, method, latency_s, latency_low_s, latency_high_s, cost_s, "
                   "estimate, failure from results where id = ?");
    copy.bind(id).bind(run).bind(static_cast<std::int64_t>(pair / perScenario)).bind(known.integer(0));
    Statement mark(db, "insert into pairs(key, run, result) values(?, ?, ?)");
    if (copy.step() != Step::Done || mark.bind(open.keys[pair]).bind(run).bind(id).step() != Step::Done) return false;
    open.stored[pair] = true;
    return true;
}

Expected<ContinuedRun> SqliteRunStore::continueRun(const Study& study, std::span<const std::string> keys) {
    const std::lock_guard lock(mutex_);
    sqlite3* db = database_.get();
    ContinuedRun run;
    const std::size_t perScenario = study.methods.size();
    const bool begunOrFound = whole([&] {
        Statement newest(db, "select run, first from asked_runs where hash = ? order by run desc limit 1");
        if (newest.bind(hashOf(keys)).step() == Step::Row) {
            run.id = newest.integer(0);
            OpenRun open{{keys.begin(), keys.end()}, std::vector<bool>(keys.size()), newest.integer(1)};
            Statement stored(db, "select result from pairs where run = ? and key = ?");
            for (std::size_t pair = 0; pair < keys.size(); ++pair) {
                stored.bind(run.id).bind(keys[pair]);
                open.stored[pair] = stored.step() == Step::Row;
                stored.reset();
            }
            open_[run.id] = std::move(open);
        } else if (const auto id = begun(study, keys)) {
            run.id = *id;
        } else {
            return false;
        }
        OpenRun& open = open_[run.id];
        for (std::size_t pair = 0; pair < keys.size(); ++pair)
            if (!open.stored[pair] && !adopt(open, run.id, pair, perScenario)) return false;
        return true;
    });
    if (!begunOrFound) {
        auto failure = error("go on with the run");
        store::execute(db, "rollback");
        return failure;
    }
    const OpenRun& open = open_[run.id];
    Statement select(db,
                     "select r.estimate, r.failure from results r join pairs p on p.result = r.id where p.run = ? and "
                     "p.key = ?");
    for (std::size_t pair = 0; pair < keys.size(); ++pair) {
        if (!open.stored[pair]) continue;
        select.bind(run.id).bind(keys[pair]);
        if (select.step() != Step::Row) return error("read the results");
        auto result =
            store::resultFrom(pair / perScenario, study.methods[pair % perScenario], select.text(0), select.text(1));
        if (!result) return tl::unexpected(result.error());
        run.known.push_back(std::move(*result));
        select.reset();
    }
    return run;
}

Expected<void> SqliteRunStore::add(std::int64_t run, const Study& study, std::span<const StudyResult> results) {
    std::vector<std::string> texts;
    for (const StudyResult& result : results) {
        if (result.scenario >= study.scenarios.size()) {
            return fail("store.scenario", "the result belongs to no scenario of the study", "", "", {path_});
        }
        texts.push_back(result.estimate ? estimateJson(study.scenarios[result.scenario], *result.estimate)
                                        : std::string());
    }
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(run);
    OpenRun* open = found == open_.end() ? nullptr : &found->second;
    sqlite3* db = database_.get();
    Statement insert(db,
                     "insert into results(id, run, scenario, method, latency_s, latency_low_s, latency_high_s, cost_s, "
                     "estimate, failure) values(?,?,?,?,?,?,?,?,?,?)");
    Statement mark(db, "insert into pairs(key, run, result) values(?, ?, ?)");
    std::vector<std::size_t> added;
    const auto addOne = [&](const StudyResult& result, const std::string& json) {
        std::size_t pair = 0;
        if (open) {
            // A method that stands in the list twice has two pairs of one name.
            const std::size_t begin = result.scenario * study.methods.size(), end = begin + study.methods.size();
            pair = begin;
            while (pair < end && (open->stored[pair] || study.methods[pair - begin] != result.method)) ++pair;
            if (pair == end) return true;
            insert.bind(open->first + static_cast<std::int64_t>(pair));
        } else {
            insert.bindNull();
        }
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
        if (insert.step() != Step::Done) return false;
        insert.reset();
        if (!open) return true;
        open->stored[pair] = true;
        added.push_back(pair);
        mark.bind(open->keys[pair]).bind(run).bind(open->first + static_cast<std::int64_t>(pair));
        const bool marked = mark.step() == Step::Done;
        mark.reset();
        return marked;
    };
    const bool stored = whole([&] {
        for (std::size_t i = 0; i < results.size(); ++i)
            if (!addOne(results[i], texts[i])) return false;
        return true;
    });
    if (stored) return {};
    auto failure = error(results.size() == 1 ? "store a result" : "store results");
    store::execute(db, "rollback");
    for (const std::size_t pair : added) open->stored[pair] = false;
    return failure;
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
