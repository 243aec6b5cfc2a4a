#pragma once

// Lessons as part of the window: their dock and their commands.

#include "app/window/lessons/lesson_run.h"

namespace orrery::app {

class Lessons : public QObject {
    Q_OBJECT
public:
    explicit Lessons(Studio& studio);
    void addDock();
    /// `helpLessons`, and once the window stands `lesson.NAME` for each.
    void addActions();
    LessonRun& run() { return run_; }

private:
    void show();
    void keepInView();  ///< of a lesson under way: in front, and with room to be read, in any layout

    Studio& studio_;
    LessonRun run_;
};

}  // namespace orrery::app
