#include "store/runs/sqlite.h"

#include <fmt/format.h>

namespace orrery::store {

Unexpected databaseError(sqlite3* database, std::string_view doing, const std::string& file) {
    const int code = database != nullptr ? sqlite3_errcode(database) & 0xff : SQLITE_NOMEM;
    const std::string reason = database != nullptr ? sqlite3_errmsg(database) : "out of memory";
    std::string hint, expected;
    switch (code) {
        case SQLITE_NOTADB:
            expected = "a run database of Orrery";
            hint = "give another file: this one is left as it is";
            break;
        case SQLITE_CORRUPT:
            expected = "a sound run database";
            hint = "move it aside and run the study again; `sqlite3 FILE .recover` saves what can be saved";
            break;
        case SQLITE_CANTOPEN:
            hint = "check the spelling of the path, that its folder exists, and its permissions";
            break;
        case SQLITE_READONLY:
        case SQLITE_PERM:
            hint = "the file or its folder cannot be written: choose another folder";
            break;
        case SQLITE_FULL:
            hint = "free some space; what was stored before is safe";
            break;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            hint = "another program is writing to it: try again when that is done";
            break;
        default:
            break;
    }
    return fail("store.database", fmt::format("cannot {}: {}", doing, reason), std::move(expected), std::move(hint),
                {file});
}

Statement::Statement(sqlite3* database, std::string_view sql) {
    sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
}

Statement& Statement::bind(std::string_view text) {
    sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(std::int64_t number) {
    sqlite3_bind_int64(statement_, next_++, number);
    return *this;
}

Statement& Statement::bind(double number) {
    sqlite3_bind_double(statement_, next_++, number);
    return *this;
}

Statement& Statement::bindBytes(std::string_view bytes) {
    sqlite3_bind_blob64(statement_, next_++, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
    return *this;
}

Statement& Statement::bindNull() {
    sqlite3_bind_null(statement_, next_++);
    return *this;
}

Statement::Step Statement::step() {
    if (statement_ == nullptr) return Step::Failed;
    switch (sqlite3_step(statement_)) {
        case SQLITE_ROW:
            return Step::Row;
        case SQLITE_DONE:
            return Step::Done;
        default:
            return Step::Failed;
    }
}

void Statement::reset() {
    sqlite3_reset(statement_);
    next_ = 1;
}

std::string Statement::text(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    if (bytes == nullptr) return {};
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool execute(sqlite3* database, const char* sql) {
    return sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace orrery::store
