#pragma once

// An all-reduce of the chosen device's group, slowly or step by step: for showing how a ring moves its parts. A picture
// of the algorithm on the drawn devices; what an exchange takes is the answer's.

#include "mapping/plan.h"
#include "widgets/training/cluster_map.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QToolButton;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class ExchangePlayer : public QWidget {
    Q_OBJECT
public:
    explicit ExchangePlayer(ui::ClusterMap* map, QWidget* parent = nullptr);
    void setPlan(const Plan& plan);
    bool isPlaying() const { return frame_.isActive(); }
    int steps() const;  ///< of the chosen group's ring

protected:
    void hideEvent(QHideEvent* event) override;

private:
    void choose();
    void play(bool on);
    void step();
    void stepBack();
    void advance(double by);
    void show(const ui::RingMoment& moment);

    ui::ClusterMap* map_;
    Plan plan_;
    ui::RingMoment moment_;
    QComboBox* group_;
    QToolButton *back_, *play_, *step_;
    ui::Label* text_;
    QTimer frame_;
};

}  // namespace orrery::app
