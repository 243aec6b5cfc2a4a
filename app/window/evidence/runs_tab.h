#pragma once

// The runs that the project's database keeps: what each answered, its report, and what changed since another.

#include "store/runs/run_store.h"

#include <QWidget>

#include <functional>
#include <vector>

class QComboBox;
class QPushButton;

namespace orrery::ui {
class CellsTable;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class RunsTab : public QWidget {
    Q_OBJECT
public:
    explicit RunsTab(QWidget* parent = nullptr);
    /// Names the database, which need not exist; asked whenever the tab is shown or refreshed.
    void setSource(std::function<QString()> file);
    /// The pinned run is what others are held against; it stays so for this database until another is pinned.
    void refresh();
    /// Writes the chosen run's report; the reason if that fails, else nothing.
    QString saveReport(const QString& file) const;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void showRun(int row);
    void showResults();
    void openReport();
    void pin(bool on);
    std::int64_t pinned() const;  ///< of this database; -1: none
    std::vector<StoredResult> resultsOf(std::int64_t run) const;

    std::function<QString()> source_;
    std::vector<StoredRun> runs_;  ///< newest first
    std::int64_t shown_ = -1;
    ui::CellsTable *list_, *results_;
    QComboBox* other_;
    QPushButton *report_, *pin_;
    ui::Label* state_;
};

}  // namespace orrery::app
