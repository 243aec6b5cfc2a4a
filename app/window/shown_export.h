#pragma once

// What a page shows, as a file: its view in front as a picture, its figures as a table, its timeline as a trace.

#include <QString>
#include <QWidget>

#include <functional>
#include <string>

namespace orrery::ui {
class CellsTable;
}

namespace orrery::app {

class Studio;

struct ShownExport {
    QString name;                        ///< of the file, without its ending: `serving-latency`
    QWidget* view = nullptr;             ///< drawn at the size chosen for pictures; the figures are of what it shows
    std::function<std::string()> csv;    ///< of the figures; none: no table
    std::function<std::string()> trace;  ///< Chrome/Perfetto events; none: no trace
};

/// By the ending: SVG, PDF, PNG; CSV, TEX; JSON (the trace). What went wrong; empty if nothing.
QString writeShown(const QString& file, const ShownExport& what);
/// Asks where; the type chosen in the dialog decides what is written.
void exportShown(Studio& studio, const ShownExport& what);
/// The table as it is ordered now, RFC 4180 with plain line ends.
std::string csvOf(const ui::CellsTable& table);

}  // namespace orrery::app
