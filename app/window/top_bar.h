#pragma once

#include <QToolBar>

namespace orrery::app {

class LiveButton;
class Studio;

/// The tool bar: files, undo, run, whether the answer is live, and the question.
class TopBar : public QToolBar {
    Q_OBJECT
public:
    TopBar(Studio& studio, QWidget* parent);

private:
    void addLive();
    void addScenario();
    void showLive();

    Studio& studio_;
    LiveButton* live_ = nullptr;
};

}  // namespace orrery::app
