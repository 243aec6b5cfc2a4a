#pragma once

// A loop nest as text: a line per loop, indented, with extent and mark; to read, select and copy.

#include "learning/schedules/schedule_nest.h"

#include <QPlainTextEdit>

namespace orrery::ui {

class NestCode : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit NestCode(QWidget* parent = nullptr);
    void setNest(const ScheduleNest& nest);
    /// Instead of a nest: what will stand here, or why there is none.
    void setSentence(const QString& text);
    void setCurrentLine(int line);  ///< of ScheduleNest::lines; −1: none

signals:
    void lineChosen(int line);  ///< by a person

private:
    void highlight();
    void recolour();

    ScheduleNest nest_;
    int before_ = 0;  ///< lines of text that stand above the first loop
    int current_ = -1;
    bool quiet_ = false;
};

}  // namespace orrery::ui
