#pragma once

#include "widgets/common/snapshot.h"

#include <QAbstractTableModel>

#include <vector>

namespace orrery::ui {

/// Rows of the operator table: sorts and filters its own order of operators, so that ten thousand rows stay quick.
class OperatorTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Number,
        Name,
        Type,
        Kind,
        Repeat,
        Time,
        Share,
        Work,
        Data,
        Intensity,
        Attained,
        BoundBy,
        ColumnCount
    };
    enum Role { ShareRole = Qt::UserRole, ColourRole, OperatorRole };

    using QAbstractTableModel::QAbstractTableModel;
    /// Numbers of the same graph are replaced in place; another graph resets the rows.
    void setSnapshot(SnapshotPtr snapshot);
    void setFilter(const QString& words);  ///< all words must occur in name, type or kind
    int operatorAt(int row) const { return order_[static_cast<std::size_t>(row)]; }
    int rowOf(int op) const;  ///< -1 if filtered away
    int total() const;        ///< operators of the graph, filtered or not
    QString csv() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    const Workload* workload() const;
    double number(int op, int column) const;  ///< NaN where there is none
    QString text(int op, int column) const;
    void refilter();
    void reorder();
    QString tip(int op, int column) const;

    SnapshotPtr snapshot_;
    std::vector<int> order_;  ///< operator of each row
    std::vector<int> rows_;   ///< row of each operator, -1 hidden
    QString filter_;
    int sorted_ = Number;
    Qt::SortOrder direction_ = Qt::AscendingOrder;
    double all_ = 0;      ///< seconds of all operators
    double largest_ = 0;  ///< largest share, scales the bars
};

}  // namespace orrery::ui
