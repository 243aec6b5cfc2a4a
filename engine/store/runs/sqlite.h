#pragma once

// SQLite without its ceremony: statements that finalise themselves, errors as diagnostics. For sources of this folder
// only; sqlite3.h does not leave the engine.

#include "base/diagnostic.h"

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace orrery::store {

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

/// What SQLite says about the last call, with a hint for the usual causes.
Unexpected databaseError(sqlite3* database, std::string_view doing, const std::string& file);

class Statement {
public:
    /// Invalid if the SQL or the database is wrong: step() then fails.
    Statement(sqlite3* database, std::string_view sql);
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(std::string_view text);
    Statement& bind(std::int64_t number);
    Statement& bind(double number);
    Statement& bindBytes(std::string_view bytes);
    Statement& bindNull();

    enum class Step { Row, Done, Failed };
    Step step();
    /// Ready for the next row of values.
    void reset();

    std::string text(int column) const;  ///< or bytes
    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    double real(int column) const { return sqlite3_column_double(statement_, column); }

private:
    sqlite3_stmt* statement_ = nullptr;
    int next_ = 1;
};

/// Runs statements without results. Returns false if one fails.
bool execute(sqlite3* database, const char* sql);

}  // namespace orrery::store
