#pragma once

// All that is wrong, in one list: files that were read, the design, the live answer. Lists it in the Problems dock,
// goes to the place of one and applies its quick fix.

#include "hardware/check/fixes.h"

#include <QObject>
#include <QPointer>

#include <optional>

namespace orrery::ui {
class ProblemsPanel;
}

namespace orrery::app {

class Studio;

/// One undo step under the fix's own title, on the design that is shown; complains where it no longer fits.
void applyFix(Studio& studio, const Fix& fix);

class Problems : public QObject {
    Q_OBJECT
public:
    explicit Problems(Studio& studio);
    void addDock();

    void setOfFile(Diagnostics found);  ///< of what was opened last; none: it was sound
    Diagnostics current() const;        ///< as listed

private:
    void refresh();
    void goTo(const Place& place);
    void fixRequested(const Diagnostic& problem, int fix);

    Studio& studio_;
    QPointer<ui::ProblemsPanel> panel_;  ///< null until its dock is seen
    Diagnostics ofFile_;
    std::optional<Diagnostic> live_;
};

}  // namespace orrery::app
