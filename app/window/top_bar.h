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

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void addButton(const char* id, QAction* before, bool withText = false);
    void fitRoom();
    void addLive();
    void addScenario();
    void showLive();

    Studio& studio_;
    LiveButton* live_ = nullptr;
};

}  // namespace orrery::app
