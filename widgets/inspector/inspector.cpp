#include "widgets/inspector/inspector.h"

#include "widgets/common/label.h"
#include "widgets/comparison/operator_card.h"
#include "widgets/inspector/component_form.h"
#include "widgets/inspector/workload_form.h"

#include <QStackedWidget>
#include <QVBoxLayout>

namespace orrery::ui {

Inspector::Inspector(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("inspector"));
    setMinimumWidth(220);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    pages_ = new QStackedWidget(this);
    layout->addWidget(pages_);
    empty_ = new EmptyPage(tr("Nothing is selected"),
                           tr("Select a component, a workload or an operator to see its numbers and change them."), {},
                           pages_);
    component_ = new ComponentForm(pages_);
    workload_ = new WorkloadForm(pages_);
    operator_ = new OperatorCard(pages_);
    for (QWidget* page : {empty_, static_cast<QWidget*>(component_), static_cast<QWidget*>(workload_),
                          static_cast<QWidget*>(operator_)})
        pages_->addWidget(page);
    connect(component_, &ComponentForm::edited, this,
            [this](const ComponentPaths& paths, const QString& attribute, const QString& text, EditPhase phase) {
                emit attributesEdited(paths, attribute, text, phase);
                if (paths.size() == 1) emit attributeEdited(paths.front(), attribute, text, phase);
            });
    connect(component_, &ComponentForm::removed, this, [this](const ComponentPaths& paths, const QString& attribute) {
        emit attributesRemoved(paths, attribute);
        if (paths.size() == 1) emit attributeRemoved(paths.front(), attribute);
    });
    connect(component_, &ComponentForm::addRequested, this, &Inspector::addRequested);
    connect(component_, &ComponentForm::removeRequested, this, &Inspector::removeRequested);
    connect(component_, &ComponentForm::moveRequested, this, &Inspector::moveRequested);
    connect(component_, &ComponentForm::turnRequested, this, &Inspector::turnRequested);
    connect(component_, &ComponentForm::selectRequested, this, &Inspector::selectRequested);
    connect(workload_, &WorkloadForm::edited, this, &Inspector::workloadEdited);
    connect(workload_, &WorkloadForm::typeRequested, this, &Inspector::typeRequested);
    connect(workload_, &WorkloadForm::knobRequested, this, &Inspector::knobRequested);
    connect(workload_, &WorkloadForm::whatIfsEdited, this, &Inspector::whatIfsEdited);
}

void Inspector::showComponent(HardwarePtr hardware, const ComponentPath& path, DeviceViewPtr device) {
    showComponents(std::move(hardware), {path}, std::move(device));
}

void Inspector::showComponents(HardwarePtr hardware, ComponentPaths paths, DeviceViewPtr device) {
    if (hardware) std::erase_if(paths, [&](const ComponentPath& path) { return !componentAt(hardware->root, path); });
    if (!hardware || paths.empty()) return clear();
    component_->show(std::move(hardware), std::move(paths), std::move(device));
    pages_->setCurrentWidget(component_);
}

void Inspector::showWorkload(const WorkloadRecipe& recipe, const WorkloadInfo* info, WorkloadPtr workload,
                             DeviceViewPtr device) {
    workload_->show(recipe, info, std::move(workload), std::move(device));
    pages_->setCurrentWidget(workload_);
}

void Inspector::showOperator(WorkloadPtr workload, int op, const Estimate* estimate) {
    if (!workload || op < 0 || static_cast<std::size_t>(op) >= workload->graph.operators.size()) return clear();
    operator_->show(std::move(workload), op, estimate);
    pages_->setCurrentWidget(operator_);
}

void Inspector::clear() {
    pages_->setCurrentWidget(empty_);
}

void Inspector::setPreset(HardwarePtr preset) {
    component_->setPreset(std::move(preset));
}

void Inspector::setProblems(const Diagnostics& problems) {
    component_->setProblems(problems);
}

void Inspector::editAttribute(const QString& id) {
    if (pages_->currentWidget() == component_) component_->editAttribute(id);
}

ComponentPath Inspector::componentPath() const {
    return component_->paths().empty() ? ComponentPath() : component_->paths().back();
}

const ComponentPaths& Inspector::componentPaths() const {
    return component_->paths();
}

}  // namespace orrery::ui
