#pragma once

#include "widgets/common/result_view.h"

class QLineEdit;
class QTableView;

namespace orrery::ui {

class OperatorTableModel;
class Label;

/// Operators of the primary answer, one row each, with exact numbers. Selection and hover are the studio's.
class OperatorTableView : public ResultView {
    Q_OBJECT
public:
    explicit OperatorTableView(Selection* selection, QWidget* parent = nullptr);
    QString csv() const override;  ///< the rows that are shown, in their order, in SI units
    QTableView* table() const { return table_; }
    OperatorTableModel* model() const { return model_; }

signals:
    void operatorActivated(int op);  ///< double click or Enter

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void showSelection();
    void takeSelection();

    OperatorTableModel* model_;
    QLineEdit* search_;
    QTableView* table_;
    Label* count_;
    bool quiet_ = false;
    bool narrow_ = false;
};

}  // namespace orrery::ui
