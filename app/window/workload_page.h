#pragma once

#include "widgets/common/snapshot.h"
#include "workload/workload.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QStackedLayout;
class QTableView;

namespace orrery::app {

class GraphModel;

/// The workload document: what the model amounts to, and its operators. Shares the studio's selection.
class WorkloadPage : public QWidget {
    Q_OBJECT
public:
    explicit WorkloadPage(ui::Selection* selection, QWidget* parent = nullptr);
    void setWorkload(WorkloadPtr workload);
    QTableView* table() const { return table_; }

signals:
    void workloadClicked();  ///< the head of the page: show the workload's options

private:
    void showTotals();
    void selectRows();
    void takeRows();

    ui::Selection* selection_;
    GraphModel* model_;
    QSortFilterProxyModel* filter_;
    QLabel *title_, *totals_, *empty_;
    QLineEdit* search_;
    QTableView* table_;
    QStackedLayout* stack_;
    bool quiet_ = false;
};

}  // namespace orrery::app
