#pragma once

#include "widgets/common/result_view.h"

#include <QElapsedTimer>
#include <QTimer>

class QBoxLayout;
class QTableView;

namespace orrery::ui {

class ComparisonModel;
class IntervalPlot;
class CostPlot;
class Label;
class MethodOptions;

/// What the answers are compared with.
struct ReferenceValue {
    Seconds latency;
    QString source;        ///< `MLPerf v4.1, 8×H100`
    bool measured = true;  ///< false: itself simulated, drawn hollow
};

/// The methods side by side: a table, their intervals on one time axis, and interval width (or error, where there is
/// a reference) against what the answer cost.
class ComparisonView : public ResultView {
    Q_OBJECT
public:
    explicit ComparisonView(Selection* selection, QWidget* parent = nullptr);
    /// Instead of the one that comes with the snapshot.
    void setReference(std::optional<ReferenceValue> reference);
    QString csv() const override;
    QTableView* table() const { return table_; }

signals:
    void primaryMethodChosen(int answer);
    /// A person changed an option: the method `before` is to be asked as `after` (empty `before`: beside the others).
    void methodChanged(const QString& before, const QString& after);

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void showNotes();
    void showNotesWhenCalm();
    void arrangeColumns();
    void arrangeRows();
    void fitRows();

    ComparisonModel* model_;
    QTableView* table_;
    IntervalPlot* intervals_;
    CostPlot* costs_;
    MethodOptions* options_;
    Label* notes_;
    QBoxLayout* plots_;
    std::optional<ReferenceValue> given_, reference_;  ///< set by hand; shown
    QString shape_;  ///< of the rows as they are arranged: answered, failed, with a reference
    QElapsedTimer sinceAnswer_;
    QTimer notesDue_;
};

}  // namespace orrery::ui
