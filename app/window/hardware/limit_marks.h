#pragma once

// What ties the canvas to the answer: the load of each component, marks on what limits the selected operators, and the
// operators that a component limits.

#include "hardware/edit/tree_edit.h"

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

private:
    void showLimiters();

    Studio& studio_;
    HardwarePage& page_;
};

}  // namespace orrery::app
