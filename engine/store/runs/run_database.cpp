#include "store/runs/run_database.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace orrery::store {

namespace {

constexpr std::int64_t schemaVersion = 3;
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

// Of version 2.
constexpr const char* searchSchema = R"(
create table searches(
    id integer primary key, name text not null, started text not null, finished integer not null default 0,
    problem text not null, hash text not null) strict;
create table search_points(
    search integer not null references searches(id), position integer not null, point integer not null,
    violation real not null, refusal text, numbers blob not null, primary key(search, position)) strict, without rowid;
)";

// Of version 3: which pairs of scenario and method a run asks, so that it can be gone on with, and where their results
// stand: at `first` and their position, whatever order they came in. Tables of their own: what stood before stays.
constexpr const char* pairSchema = R"(
create table if not exists asked_runs(
    run integer primary key references runs(id), hash text not null, first integer not null,
    pairs integer not null) strict;
create table if not exists pairs(
    key text not null, run integer not null references runs(id), result integer not null references results(id),
    primary key(key, run)) strict, without rowid;
)";

Expected<std::int64_t> pragma(sqlite3* db, const char* sql, const std::string& path) {
    Statement statement(db, sql);
    if (statement.step() != Statement::Step::Row) return databaseError(db, "read the run database", path);
    return statement.integer(0);
}

constexpr auto lockPause = std::chrono::milliseconds(10);
constexpr int lockTries = 500;  // as long as the busy timeout

Expected<void> prepare(sqlite3* db, const std::string& path) {
    sqlite3_busy_timeout(db, 5000);
    sqlite3_extended_result_codes(db, 0);
    // The file may come from anywhere: nothing in its schema may run functions or write beside it.
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    // Tables first: another program may set the file up at this moment, all at once, and what is read later is newer.
    const auto tables = pragma(db, "select count(*) from sqlite_schema", path);
    if (!tables) return tl::unexpected(tables.error());
    const auto version = pragma(db, "pragma user_version", path);
    const auto application = pragma(db, "pragma application_id", path);
    if (!version || !application) return databaseError(db, "read the run database", path);
    if (*tables > 0 && *application != applicationId) {
        return fail("store.kind", "this is a SQLite database of another program", "a run database of Orrery",
                    "give another file: this one is left as it is", {path});
    }
    if (*version > schemaVersion) {
        return fail("store.newer",
                    fmt::format("the run database was written by a newer Orrery (format {}; this one reads up to {})",
                                *version, schemaVersion),
                    fmt::format("format {}", schemaVersion),
                    "open it with a newer Orrery; this one leaves the file as it is", {path});
    }
    if (sqlite3_db_readonly(db, "main") == 1) return {};
    // WAL: a killed writer leaves whole transactions. FULL rather than NORMAL, which would survive a killed program but
    // could lose the last results to a power cut: add() promises that its result is on the disk.
    // The step to WAL does not wait for a lock as statements do (SQLite: the busy handler is not asked).
    const auto writable = [db] {
        return execute(db, "pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;");
    };
    bool ready = writable();
    for (int tries = 0; !ready && sqlite3_errcode(db) == SQLITE_BUSY && tries < lockTries; ++tries) {
        std::this_thread::sleep_for(lockPause);
        ready = writable();
    }
    if (!ready) return databaseError(db, "open the run database for writing", path);
    if (*version >= schemaVersion) return {};
    // Two programs may come to here: who waited for the lock looks again.
    if (!execute(db, "begin immediate;")) return databaseError(db, "set up the run database", path);
    const auto filled = pragma(db, "select count(*) from sqlite_schema", path);
    const auto now = pragma(db, "pragma user_version", path);
    std::string made;
    if (now && filled && *filled == 0) {
        made = fmt::format("{} {} {} pragma application_id = {}; pragma user_version = {};", schema, searchSchema,
                           pairSchema, applicationId, schemaVersion);
    } else if (now && *now < schemaVersion) {
        made = fmt::format("{} {} pragma user_version = {};", *now < 2 ? searchSchema : "", pairSchema, schemaVersion);
    }
    if (!now || !filled || !execute(db, (made + " commit;").c_str())) {
        auto failed = databaseError(db, "set up the run database", path);
        execute(db, "rollback;");
        return failed;
    }
    return {};
}

}  // namespace

std::string utcNow() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

Expected<Database> openRunDatabase(const std::string& path) {
    if (sqlite3_initialize() != SQLITE_OK) return fail("store.database", "SQLite cannot be started", "", "", {path});
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &raw,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
    Database database(raw);
    if (opened != SQLITE_OK) return databaseError(raw, "open the run database", path);
    if (auto ready = prepare(raw, path); !ready) return tl::unexpected(ready.error());
    return database;
}

}  // namespace orrery::store
