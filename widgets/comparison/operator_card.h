#pragma once

#include "methods/method.h"

#include <QScrollArea>

namespace orrery::ui {

class FactList;
class Label;
class SectionHeader;

/// The inspector's page of one operator: shapes, exact costs, what the primary answer says of it. Read only.
class OperatorCard : public QScrollArea {
    Q_OBJECT
public:
    explicit OperatorCard(QWidget* parent = nullptr);
    void show(WorkloadPtr workload, int op, const Estimate* estimate);

private:
    void showTensors(const Graph& graph, const Operator& op);
    void showCosts(const Workload& workload, std::size_t row);
    void showPlace(const Workload& workload, std::size_t row);
    static double parameters(const Graph& graph, const Operator& op);
    void showEstimate(const Estimate* estimate, std::size_t row);

    Label* title_;
    Label* subtitle_;
    SectionHeader* answerHeader_;
    FactList* answer_;
    FactList* costs_;
    SectionHeader* tensorsHeader_;
    FactList* tensors_;
    SectionHeader* placeHeader_;
    FactList* place_;
    SectionHeader* attributesHeader_;
    FactList* attributes_;
};

}  // namespace orrery::ui
