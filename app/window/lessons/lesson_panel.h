#pragma once

// What is seen of lessons: their list, or the present step of one.

#include <QWidget>

#include <vector>

class QPushButton;
class QScrollArea;
class QStackedLayout;
class QTextBrowser;
class QToolButton;
class QVBoxLayout;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class LessonRun;
class Studio;
class TaskRow;

class LessonPanel : public QWidget {
    Q_OBJECT
public:
    LessonPanel(Studio& studio, LessonRun& run, QWidget* parent);

private:
    QWidget* buildList();
    QWidget* buildStep();
    void show();
    void showList();
    void showEnd();  ///< what the step's end leads to
    void makeRows();
    void saveHandOut();

    Studio& studio_;
    LessonRun& run_;
    const void* shown_ = nullptr;  ///< step whose rows stand here
    QStackedLayout* stack_ = nullptr;
    ui::Label *title_ = nullptr, *place_ = nullptr, *heading_ = nullptr, *text_ = nullptr, *praise_ = nullptr;
    QVBoxLayout* tasks_ = nullptr;
    QScrollArea* scroll_ = nullptr;
    std::vector<TaskRow*> rows_;
    std::vector<QPushButton*> lessons_;  ///< of the list, as the lessons ship
    QPushButton *back_ = nullptr, *next_ = nullptr, *paper_ = nullptr, *list_ = nullptr;
};

}  // namespace orrery::app
