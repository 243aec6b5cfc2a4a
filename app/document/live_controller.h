#pragma once

// From edits to answers: each change of the document asks in the background; the newest answer reaches the views at
// most thirty times a second. Nothing here waits.

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
    /// Which answer's operators, timeline and breakdown are shown.
    void setPrimary(int answer);
    /// What learned methods answer with from now on; null: what ships.
    void setCalibrations(std::shared_ptr<const CalibrationSet> calibrations);
    /// Measured kernels to mark in the views; null: none.
    void setTruth(std::shared_ptr<const ReferenceIndex> truth);
    const std::shared_ptr<const CalibrationSet>& calibrations() const { return calibrations_; }
    const ui::SnapshotPtr& snapshot() const { return snapshot_; }
    const WorkloadPtr& workload() const { return workload_; }
    bool isBusy() const { return busy_; }
    bool upToDate() const;  ///< the last answer is to the document as it is now
    void ask();             ///< now, even if the live switch is off

signals:
    void snapshotReady(orrery::ui::SnapshotPtr snapshot);  ///< null: nothing to show
    void workloadReady(orrery::WorkloadPtr workload);      ///< null while none or failed
    void failed(const orrery::Diagnostic& why);
    void busyChanged(bool busy);

private:
    void request();
    void take(LiveAnswer answer);
    void setBusy(bool busy);

    Document& document_;
    ui::SnapshotPtr snapshot_;
    WorkloadPtr workload_;
    std::shared_ptr<WorkloadCache> cache_;
    std::shared_ptr<std::unique_ptr<Executor>> executor_;  ///< made with the first question, on its thread
    QTimer soon_;                                          ///< several changes in one event become one question
    quint64 generation_ = 1, askedGeneration_ = 0;
    quint64 asked_ = 0, shown_ = 0;
    int primary_ = -1;  ///< that was chosen, -1: the best
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::shared_ptr<const ReferenceIndex> truth_;
    bool enabled_ = true;
    bool busy_ = false;
    Background work_;  ///< last: stops before what it delivers to goes
};

}  // namespace orrery::app
