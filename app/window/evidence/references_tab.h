#pragma once

// Browse references: which tables there are, where each comes from, what was left out and why, and their rows.

#include "app/window/evidence/reference_shelf.h"

#include <QAbstractTableModel>
#include <QWidget>

class QListWidget;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace orrery::ui {
class FactList;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class ColumnMapper;

/// One row per measured kernel.
class ReferenceRowsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        KernelColumn,
        KindColumn,
        VariantColumn,
        DeviceColumn,
        TimeColumn,
        NoiseColumn,
        LineColumn,
        ColumnCount
    };
    using QAbstractTableModel::QAbstractTableModel;
    /// `table` −1: none.
    void set(ReferenceTablesPtr tables, int table);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    ReferenceTablesPtr tables_;
    const ReferenceTable* table_ = nullptr;  ///< one of them
};

class ReferencesTab : public QWidget {
    Q_OBJECT
public:
    explicit ReferencesTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    ColumnMapper* mapper() const { return mapper_; }
    /// Shows the mapping page with this file; says why if it cannot be read.
    void mapColumns(const QString& file);

private:
    void showTables();
    void showTable(int at);
    void chooseFiles(bool toMap);

    ReferenceShelf* shelf_;
    QListWidget* list_;
    QPushButton *open_, *map_, *measure_, *remove_;
    QStackedWidget* pages_;
    ColumnMapper* mapper_;
    ui::Label *state_, *left_;
    ui::FactList* facts_;
    QTableView* rows_;
    ReferenceRowsModel* model_;
};

}  // namespace orrery::app
