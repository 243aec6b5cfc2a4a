#pragma once

#include <QWidget>

class QLineEdit;
class QPushButton;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class LessonRun;

/// One task of the present step.
class TaskRow : public QWidget {
    Q_OBJECT
public:
    TaskRow(LessonRun& run, int task, QWidget* parent);
    void refresh();  ///< tick and controls follow the run

signals:
    void told(QWidget* words);  ///< a hint, or what is wrong with an answer

private:
    void hint();
    void check();

    LessonRun& run_;
    int task_;
    ui::Label *tick_, *text_, *word_;
    QLineEdit* line_ = nullptr;
    QPushButton *check_ = nullptr, *hint_, *show_;
};

}  // namespace orrery::app
