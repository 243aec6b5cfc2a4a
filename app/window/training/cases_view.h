#pragma once

// A file of training cases as a table: what another tool says of each run, what Orrery says in the same rules and in
// its own. Runs when it is opened, and again by a button.

#include "app/document/background.h"
#include "methods/system/cases/training_cases.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QPushButton;

namespace orrery::ui {
class CellsTable;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class CasesView : public QWidget {
    Q_OBJECT
public:
    explicit CasesView(QWidget* parent = nullptr);
    void setCases(TrainingCases cases);  ///< and runs them
    bool isBusy() const { return work_.isRunning(); }
    /// Of each run, in ASTRA-sim's rules and in Orrery's; nothing: not yet, or refused.
    struct Answers {
        std::optional<TrainingCaseAnswer> same, own;
        QString refusal;
    };
    const std::vector<Answers>& answers() const { return answers_; }

signals:
    void closed();

private:
    void run();
    void showTable();

    std::shared_ptr<const TrainingCases> cases_;
    std::vector<Answers> answers_;
    double seconds_ = 0;  ///< that all runs took

    ui::Label *title_, *text_, *state_, *source_;
    QPushButton *again_, *close_;
    ui::CellsTable* table_;
    Background work_;  ///< last
};

}  // namespace orrery::app
