#pragma once

// Pictures, data and reports of what is shown, as files. Names are asked for in dialogs; what went wrong is said.

#include "base/diagnostic.h"
#include "widgets/common/result_view.h"

#include <QStringList>

#include <functional>

namespace orrery::app {

class ResultDocks;
class Studio;

void addExportActions(Studio& studio, const ResultDocks& results);
/// Says why, and returns true, where what `shown` shows answers another question than the one asked now.
bool refusesLate(Studio& studio, const QWidget& shown);
void exportView(Studio& studio, ui::ResultView* view);
void copyView(Studio& studio, ui::ResultView* view);
/// Every result view that shows something, as PNG, SVG, PDF, CSV and LaTeX; fails where none does.
Expected<QStringList> exportPictures(Studio& studio, const ResultDocks& results, const QString& folder);
/// The report folder, from what is shown now: pictures, numbers, and what each page adds.
Expected<QStringList> exportReport(Studio& studio, const ResultDocks& results, const QString& folder);
/// Asks where, lets `write` do it (what went wrong; empty if nothing), and says what came of it. What is written is of
/// what `shown` shows: nothing is asked while that is late.
void exportWith(Studio& studio, const QWidget& shown, const QString& title, const QString& name, const QString& filter,
                const std::function<QString(const QString& file)>& write);
/// `file` cannot be written because of `problem`.
Diagnostic exportFailed(const QString& file, const QString& problem);

}  // namespace orrery::app
