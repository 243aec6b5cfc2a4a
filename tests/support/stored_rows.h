#pragma once

// What a run database and its exports should have in common however a study was answered: all but wall times.

#include <QByteArray>
#include <QRegularExpression>
#include <QString>
#include <QStringList>

#include <sqlite3.h>

namespace orrery::test {

/// Of all runs, or of another question; a column of numbers (a blob) in hexadecimal digits.
inline QStringList storedRows(const QString& file,
                              const char* sql = "select id, run, scenario, method, latency_s, latency_low_s, "
                                                "latency_high_s, json_remove(estimate, '$.cost_s'), failure from results "
                                                "order by id") {
    sqlite3* database = nullptr;
    sqlite3_stmt* select = nullptr;
    QStringList found;
    if (sqlite3_open(qPrintable(file), &database) == SQLITE_OK &&
        sqlite3_prepare_v2(database, sql, -1, &select, nullptr) == SQLITE_OK) {
        while (sqlite3_step(select) == SQLITE_ROW) {
            QString row;
            for (int i = 0; i < sqlite3_column_count(select); ++i) {
                const QByteArray cell(static_cast<const char*>(sqlite3_column_blob(select, i)),
                                      sqlite3_column_bytes(select, i));
                row += (sqlite3_column_type(select, i) == SQLITE_BLOB ? QString::fromLatin1(cell.toHex())
                                                                      : QString::fromUtf8(cell)) +
                       "|";
            }
            found << row;
        }
    }
    sqlite3_finalize(select);
    sqlite3_close(database);
    return found;
}

/// Keys of JSON, and the column of estimates.csv.
inline QByteArray withoutWallTimes(const QString& name, const QByteArray& exported) {
    QString text = QString::fromUtf8(exported);
    text.remove(QRegularExpression(R"re("(cost_s|seconds)": [^,\n]*)re"));
    if (!name.contains("estimates")) return text.toUtf8();
    QStringList lines = text.split("\r\n");
    const auto column = lines.front().split(',').indexOf("cost_s");
    for (QString& line : lines) {
        QStringList cells = line.split(',');
        if (cells.size() > column) cells[column].clear();
        line = cells.join(',');
    }
    return lines.join('\n').toUtf8();
}

}  // namespace orrery::test
