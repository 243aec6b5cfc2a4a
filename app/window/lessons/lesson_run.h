#pragma once

// A lesson that is under way: its project stands in the document, and every answer is looked at for tasks that are
// done. A task once done stays done.

#include "app/document/project_state.h"
#include "store/lessons/lesson.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace orrery::app {

class Studio;

class LessonRun : public QObject {
    Q_OBJECT
public:
    explicit LessonRun(Studio& studio, QObject* parent = nullptr);

    /// Puts the lesson's project in place of the open one; says why if it cannot be read. Asks before, unless what is
    /// open is a lesson's project with nothing but that lesson's exercises in it.
    void open(const QString& file);
    void leave();  ///< the project stays
    const Lesson* lesson() const { return lesson_ ? &*lesson_ : nullptr; }
    int step() const { return step_; }
    void goTo(int step);
    const LessonStep& current() const { return lesson_->steps[static_cast<std::size_t>(step_)]; }
    /// Of the present step; false until the first answer has come.
    bool done(int step, int task) const;
    bool stepDone(int step) const;
    bool finished() const;  ///< each step is done
    /// Ids of lessons that were finished, in this session or an earlier one.
    static QStringList finishedLessons();
    const LessonState& state() const { return state_; }
    bool hasAnswers() const { return begun_; }
    /// A person's number for a question of the present step. Nothing where the answer is not known yet.
    std::optional<bool> answer(int task, double given);
    void showMe(int task);  ///< makes the task's changes, one entry of the undo list each

signals:
    void opened();   ///< its first step is shown
    void changed();  ///< another lesson, step, tick or number

private:
    void inspectWhatChanges();
    void look();
    LessonFacts facts() const;
    bool servingIsCurrent() const;
    void tick(int task);
    bool holdsExerciseAlone() const;  ///< the document does: a lesson's project that nobody saved or worked on after it

    Studio& studio_;
    std::optional<Lesson> lesson_;
    ProjectStatePtr left_;  ///< the document when its lesson was left
    LessonState state_;
    std::vector<std::vector<bool>> done_;
    int step_ = 0;
    bool begun_ = false;      ///< the lesson's first answer has come
    bool stepBegun_ = false;  ///< the step's has
};

}  // namespace orrery::app
