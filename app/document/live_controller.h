#pragma once

// From edits to answers: each change of the document asks in the background; the newest answer reaches the views at
// most thirty times a second. Nothing here waits. An answer to another question than the document's is said to be late,
// so that views can dim it; one of another project is not kept at all.

#include "app/document/background.h"
#include "app/document/live_worker.h"

#include <QObject>
#include <QTimer>

#include <memory>

namespace orrery::app {

class Document;

class LiveController : public QObject {
    Q_OBJECT
public:
    LiveController(Document& document, std::shared_ptr<WorkloadCache> cache, QObject* parent = nullptr);
    ~LiveController() override;

    void setEnabled(bool enabled);  ///< the live switch of the toolbar
    bool isEnabled() const { return enabled_; }
    /// Which answer's operators, timeline and breakdown are shown: its method's, as long as it answers.
    void setPrimary(int answer);
    const QString& chosenMethod() const { return chosen_; }  ///< id; empty: the best answer's is shown
    /// What learned methods answer with from now on; null: what ships.
    void setCalibrations(std::shared_ptr<const CalibrationSet> calibrations);
    /// Measured kernels to mark in the views; null: none.
    void setTruth(std::shared_ptr<const ReferenceIndex> truth);
    const std::shared_ptr<const CalibrationSet>& calibrations() const { return calibrations_; }
    const ui::SnapshotPtr& snapshot() const { return snapshot_; }
    const WorkloadPtr& workload() const { return workload_; }
    bool isBusy() const { return busy_; }
    bool upToDate() const;                         ///< the last answer is to the question as the document asks it now
    void ask();                                    ///< now, even if the live switch is off
    const QString& late() const { return late_; }  ///< why what is shown is of an earlier question; empty: it is not

signals:
    void snapshotReady(orrery::ui::SnapshotPtr snapshot);  ///< null: nothing to show
    void workloadReady(orrery::WorkloadPtr workload);      ///< null while none or failed
    void failed(const orrery::Diagnostic& why);
    void busyChanged(bool busy);
    void lateChanged(const QString& why);

private:
    void request();
    void take(LiveAnswer answer);
    void setBusy(bool busy);
    void setLate(const QString& why);
    void choosePrimary(ui::SnapshotPtr& snapshot) const;
    void forget();

    Document& document_;
    ui::SnapshotPtr snapshot_;
    WorkloadPtr workload_;
    std::shared_ptr<WorkloadCache> cache_;
    std::shared_ptr<std::unique_ptr<Executor>> executor_;  ///< made with the first question, on its thread
    QTimer soon_;                                          ///< several changes in one event become one question
    quint64 generation_ = 1, askedGeneration_ = 0;
    quint64 asked_ = 0, shown_ = 0;
    QString chosen_, late_;
    QTimer patience_;  ///< with an answer that does not come
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::shared_ptr<const ReferenceIndex> truth_;
    bool enabled_ = true;
    bool busy_ = false;
    bool changed_ = false;  ///< the question is another one than when it was last asked
    Background work_;       ///< last: stops before what it delivers to goes
};

}  // namespace orrery::app
