#pragma once

#include "widgets/comparison/comparison_view.h"

#include <QAbstractTableModel>

namespace orrery::ui {

/// One row per answer.
class ComparisonModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        MethodName,
        Prediction,
        IntervalBar,
        Reference,
        Error,
        Energy,
        Memory,
        Warnings,
        Cost,
        Approach,
        ColumnCount
    };
    enum Role {
        LowRole = Qt::UserRole,
        HighRole,
        ValueRole,
        ColourRole,
        FailureRole,
        PrimaryRole,
        AxisLowRole,
        AxisHighRole
    };

    using QAbstractTableModel::QAbstractTableModel;
    void set(SnapshotPtr snapshot, std::optional<ReferenceValue> reference);
    const SnapshotPtr& snapshot() const { return snapshot_; }
    QString csv() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const Answer& answer, int column) const;
    QString tip(const Answer& answer, int column) const;
    double error(const Answer& answer) const;  ///< relative, NaN without a reference

    SnapshotPtr snapshot_;
    std::optional<ReferenceValue> reference_;
    double low_ = 0, high_ = 0;  ///< of all intervals
};

}  // namespace orrery::ui
