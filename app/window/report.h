#pragma once

// The report folder: pictures of the views and the engine's tables, for reading without the studio.

#include "base/diagnostic.h"
#include "study/study.h"
#include "widgets/common/snapshot.h"

#include <QList>
#include <QSize>
#include <QString>
#include <QStringList>

namespace orrery::ui {
class ResultView;
}

namespace orrery::app {

/// The snapshot's scenario and answers as a study, for the engine's exports.
struct SnapshotStudy {
    Study study;
    std::vector<StudyResult> results;
};
SnapshotStudy studyOf(const ui::Snapshot& snapshot);

/// Writes `<view>.png` for each view, report.html and the same as report.pdf, comparison.csv, operators.csv,
/// report.json and timeline.json into the folder, which is made. Returns the files written, or the first that could not
/// be.
Expected<QStringList> writeReport(const QString& folder, const ui::Snapshot& snapshot,
                                  const QList<ui::ResultView*>& views);

}  // namespace orrery::app
