#pragma once

// The plan of a training step as controls: every number as stops and as a field, what is shared and computed again, the
// batch. Shows the document's question and tells what a person wants; keeps nothing.

#include "app/window/training/training_question.h"
#include "widgets/common/edit_phase.h"

#include <QScrollArea>

#include <array>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class Label;
class ValueStrip;
}  // namespace orrery::ui

namespace orrery::app {

class PlanForm : public QScrollArea {
    Q_OBJECT
public:
    explicit PlanForm(QWidget* parent = nullptr);
    void setQuestion(const TrainingQuestion& question);

    bool fills() const;  ///< copies follow the other numbers
    void setFills(bool fills);
    ui::ValueStrip* strip(PlanNumber number) const { return rows_[static_cast<std::size_t>(number)].strip; }

signals:
    void planEdited(const orrery::Plan& plan, orrery::ui::EditPhase phase);
    void stepEdited(const orrery::TrainingStep& step);
    void optionsEdited(const orrery::WorkloadOptions& options);
    void nodesEdited(qint64 nodes);
    void priceEdited(double dollars);
    void otherPriceEdited(double dollars);  ///< of the second kind of device
    void pinRequested(bool pin);

private:
    struct Row {
        QLabel* name = nullptr;
        ui::ValueStrip* strip = nullptr;
        QSpinBox* field = nullptr;
        std::vector<PlanValue> values;
    };
    void buildPlan(QGridLayout* grid, QWidget* parent);
    void buildKinds(QGridLayout* grid, QWidget* parent);
    void buildMemory(QGridLayout* grid, QWidget* parent);
    void buildStep(QGridLayout* grid, QWidget* parent);
    int header(QGridLayout* grid, const QString& text);
    QLabel* addField(QGridLayout* grid, const QString& name, QWidget* control);
    void showRow(PlanNumber number);
    void showSchedule();
    void showShards();
    void showKinds();
    void standOn(const std::string& placement);
    void layersTyped();
    void edit(PlanNumber number, qint64 value, ui::EditPhase phase);
    void typed(PlanNumber number, int value);
    void change(const std::function<void(Plan&)>& change);
    void changeStep(const std::function<void(TrainingStep&)>& change);
    void changeOptions(const std::function<void(WorkloadOptions&)>& change);

    TrainingQuestion question_;
    std::array<Row, planNumberCount> rows_;
    bool filling_ = false;  ///< controls are set by setQuestion()
    ui::Label *devices_ = nullptr, *refusal_ = nullptr;
    QCheckBox *fill_ = nullptr, *sequenceParallel_ = nullptr;
    QComboBox *schedule_ = nullptr, *zero_ = nullptr, *shard_ = nullptr, *offload_ = nullptr, *recompute_ = nullptr,
              *optimizer_ = nullptr;
    QSpinBox *batch_ = nullptr, *sequence_ = nullptr, *nodes_ = nullptr, *lora_ = nullptr;
    QLabel* nodesName_ = nullptr;
    QDoubleSpinBox *price_ = nullptr, *otherPrice_ = nullptr, *imbalance_ = nullptr;
    QComboBox* on_ = nullptr;
    QLineEdit* layers_ = nullptr;
    QLabel *onName_ = nullptr, *layersName_ = nullptr, *priceName_ = nullptr, *otherPriceName_ = nullptr;
};

/// The component whose copies are the nodes of a cluster: the innermost `node` around its devices. Empty path and
/// nothing where there is none.
std::optional<ComponentPath> nodeComponent(const TrainingQuestion& question);

}  // namespace orrery::app
