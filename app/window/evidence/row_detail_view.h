#pragma once

// One row of the references under two methods: what each makes its time of, the first term that differs, and the steps
// from one time to the other and to the truth.

#include "app/window/evidence/reference_shelf.h"
#include "study/comparison/row_detail.h"

#include <QWidget>

#include <memory>
#include <optional>

class QComboBox;
class QPushButton;
class QSplitter;

namespace orrery {
class CalibrationSet;
}
namespace orrery::ui {
class CellsTable;
class Label;
class WaterfallPlot;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

/// Which row, by whom, as it was judged.
struct RowQuestion {
    ReferenceTablesPtr tables;
    std::shared_ptr<const ReferenceIndex> truths;
    std::shared_ptr<const CalibrationSet> calibrations;  ///< null: what ships
    RowRef row;
    QString method;
    bool asMeasured = true;
    bool leaveDeviceOut = false;  ///< without what calibrations learned of the row's device
};

class RowDetailView : public QWidget {
    Q_OBJECT
public:
    explicit RowDetailView(QWidget* parent = nullptr);
    /// Who may be set against the method: ids or choices, with titles.
    void setOthers(const QStringList& methods, const QStringList& titles);
    void ask(RowQuestion question);
    void clear();
    const std::optional<RowDetail>& detail() const { return detail_; }
    const std::optional<RowQuestion>& question() const { return question_; }
    /// Whom the method is set against.
    QString other() const;

signals:
    void answered();
    /// The row as the window's question, under both methods.
    void drawingRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void start();
    void fitTerms();
    void show(const Expected<RowDetail>& answer);

    QComboBox* other_;
    QPushButton* draw_;
    QSplitter* split_;
    ui::Label* first_;
    ui::CellsTable* terms_;
    ui::WaterfallPlot* steps_;
    std::optional<RowQuestion> question_;
    std::optional<RowDetail> detail_;
    Background* work_;
};

}  // namespace orrery::app
