#pragma once

// What the page shows before there is a question: choose a model, a cluster and a batch, and see a first plan. Also
// where only a part is missing: what the project has is chosen already.

#include "app/document/commands/training_edits.h"
#include "app/window/training/training_question.h"

#include <QWidget>

class QComboBox;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class TrainingStartPage : public QWidget {
    Q_OBJECT
public:
    explicit TrainingStartPage(QWidget* parent = nullptr);
    void show(const ProjectState& state, const TrainingQuestion& question);

signals:
    void started(const orrery::app::TrainingStart& start);
    void refused(const orrery::Diagnostic& why);

private:
    void fill(const ProjectState& state, const TrainingQuestion& question);
    void clusterChosen();
    void start();

    void showDevices();
    void fitText();

    ui::Label *title_, *text_, *devices_;
    QComboBox *model_, *cluster_;
    QSpinBox *nodes_, *batch_, *sequence_;
    QPushButton* start_;
    ProjectState state_;
    QString device_;                  ///< of the chosen cluster: `h100 of 80 GB`; empty: it cannot be read
    std::int64_t perNode_ = 0;        ///< devices; 0: the drawing has no nodes, or several
    std::int64_t drawn_ = 0;          ///< devices of a drawing as it is
    std::vector<std::string> shown_;  ///< of the project, as the choosers were filled
};

/// A plan to begin with: tensor parallelism inside the node, as many stages as the weights with their states need,
/// copies on the rest, one sample a micro-batch. The planner finds better ones.
Plan firstPlan(const PlanRoom& room, std::int64_t perNode, double capacity, double parameters);

}  // namespace orrery::app
