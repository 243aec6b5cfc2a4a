#pragma once

// How busy the drawn links are, as colours on the canvas: the legend with its moment below it. Stands where a plan's
// step is asked for; where no method follows the messages it says how to get it.

#include <QWidget>

class QPushButton;
class QSlider;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class HardwarePage;
class Studio;

class LinkHeat : public QWidget {
    Q_OBJECT
public:
    LinkHeat(Studio& studio, HardwarePage& page);
    void showAnswer();

private:
    void follow();  ///< makes a method follow its messages, or the one that does no longer
    void showHeat();
    std::string methodThatFollows() const;  ///< empty: none
    std::string methodThatCould() const;    ///< the first that answers; empty: none

    Studio& studio_;
    HardwarePage& page_;
    QWidget* scale_;
    QSlider* moment_;
    ui::Label *name_, *end_, *text_;
    QPushButton* follow_;
};

}  // namespace orrery::app
