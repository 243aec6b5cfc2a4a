#pragma once

// A small sortable table whose cells are made as a whole: text to read, a number to sort by.

#include "widgets/common/label.h"

#include <QAbstractTableModel>
#include <QTableView>

#include <vector>

namespace orrery::ui {

struct Cell {
    QString text;
    double value = 0;  ///< sorted by; cells with equal values by their text
    QString tip;
    Tone tone = Tone::Normal;
    bool number = true;  ///< right-aligned
};

class CellsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role { SortRole = Qt::UserRole };
    using QAbstractTableModel::QAbstractTableModel;
    void set(QStringList heads, std::vector<std::vector<Cell>> rows);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QStringList heads_;
    std::vector<std::vector<Cell>> rows_;
};

/// A table over such cells; a click on a head sorts.
class CellsTable : public QTableView {
    Q_OBJECT
public:
    CellsTable(const QString& id, const QString& name, const QString& tip, QWidget* parent = nullptr);
    /// Keeps the order that a person chose and the row that was current.
    void setCells(QStringList heads, std::vector<std::vector<Cell>> rows);
    void setCurrentRow(int row);  ///< as in setCells
    int currentRow() const;
    CellsModel* cells() const { return model_; }
    void setEmptyText(const QString& text);  ///< stands in the middle while there are no rows

signals:
    void rowChosen(int row);  ///< as in setCells; by a person or setCurrentRow()

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    CellsModel* model_;
    QString emptyText_;
};

}  // namespace orrery::ui
