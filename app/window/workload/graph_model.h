#pragma once

#include "workload/workload.h"

#include <QAbstractTableModel>

namespace orrery::app {

/// The operators of a workload before anybody has priced them: what they are, how large, how often.
class GraphModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Type, Output, Repeat, Macs, Weights, Activations, ColumnCount };
    static constexpr int SortRole = Qt::UserRole;  ///< numbers as numbers

    using QAbstractTableModel::QAbstractTableModel;
    void setWorkload(WorkloadPtr workload);
    const WorkloadPtr& workload() const { return workload_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(std::size_t row, int column) const;
    double number(std::size_t row, int column) const;

    WorkloadPtr workload_;
};

}  // namespace orrery::app
