#pragma once

// From edits to answers: each change of the document asks the worker; its newest answer reaches the views at most
// sixty times a second. Nothing here waits.

#include "app/document/live_worker.h"

#include <QElapsedTimer>
#include <QMutex>
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
    bool upToDate() const;  ///< the last answer is to the document as it is now
    void ask();             ///< now, even if the live switch is off

signals:
    void snapshotReady(orrery::ui::SnapshotPtr snapshot);  ///< null: nothing to show
    void workloadReady(orrery::WorkloadPtr workload);      ///< null while none or failed
    void failed(const orrery::Diagnostic& why);
    void busyChanged(bool busy);

private:
    void request();
    void take();
    void setBusy(bool busy);

    Document& document_;
    ui::SnapshotPtr snapshot_;
    WorkloadPtr workload_;
    QMutex mutex_;
    std::optional<LiveAnswer> arrived_;  ///< newest answer not yet shown, under mutex_
    QTimer due_;
    QElapsedTimer sinceShown_;
    QTimer soon_;  ///< several changes in one event become one question
    quint64 generation_ = 1;
    quint64 asked_ = 0, shown_ = 0;
    int primary_ = 0;
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::shared_ptr<const ReferenceIndex> truth_;
    bool enabled_ = true;
    bool busy_ = false;
    std::unique_ptr<LiveWorker> worker_;  ///< last: stops before what it delivers to goes
};

}  // namespace orrery::app
