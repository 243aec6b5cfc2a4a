#pragma once

#include "hardware/edit/difference.h"
#include "methods/method.h"

#include <QAbstractListModel>
#include <QWidget>

#include <optional>

class QListView;

namespace orrery::ui {

class Label;

/// What differs between two designs, in the order of differences().
class DifferenceModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { WhatRole = Qt::UserRole, KindRole, WhereRole };
    using QAbstractListModel::QAbstractListModel;
    void setDesigns(HardwarePtr before, HardwarePtr after);
    const std::vector<Difference>& differences() const { return rows_; }
    int count(Difference::What what) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    HardwarePtr before_, after_;
    std::vector<Difference> rows_;
};

/// The list with its summary; for deriving a design and for comparing two. Choosing a row asks to select the component
/// on both sides.
class DifferenceList : public QWidget {
    Q_OBJECT
public:
    explicit DifferenceList(QWidget* parent = nullptr);
    /// The names are for the summary: `H100 SXM → mine`. The same pointers again cost nothing.
    void setDesigns(HardwarePtr before, HardwarePtr after, const QString& beforeName, const QString& afterName);
    QListView* list() const { return list_; }
    DifferenceModel* model() const { return model_; }

signals:
    /// Nothing on the side where it does not exist.
    void differenceChosen(const std::optional<orrery::ComponentPath>& before,
                          const std::optional<orrery::ComponentPath>& after);

private:
    void choose(const QModelIndex& index);

    HardwarePtr before_, after_;
    DifferenceModel* model_;
    Label* summary_;
    QListView* list_;
    QWidget* empty_;
};

}  // namespace orrery::ui
