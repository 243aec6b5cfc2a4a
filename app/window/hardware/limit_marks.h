#pragma once

// What ties the canvas to the answer: the load of each component, marks on what limits the selected operators, and the
// operators that a component limits.

#include "hardware/edit/tree_edit.h"
#include "widgets/common/snapshot.h"

#include <QObject>

namespace orrery::app {

class HardwarePage;
class Studio;

class LimitMarks : public QObject {
    Q_OBJECT
public:
    LimitMarks(Studio& studio, HardwarePage& page);
    void showLoads();
    bool selectLimited(const ComponentPath& component);  ///< false if it limits nothing
    /// From now on each part shows how much longer or shorter it limits than in `before`, which goes by `name`; null:
    /// what it limits, as ever.
    void holdAgainst(ui::SnapshotPtr before, const QString& name);

private:
    void showLimiters();

    Studio& studio_;
    HardwarePage& page_;
    ui::SnapshotPtr before_;
    QString beforeName_;
};

}  // namespace orrery::app
