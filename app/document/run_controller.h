#pragma once

// Study runs: the chosen methods on all of the project's scenarios, on their own executor, with results stored as they
// come. Several may run beside each other, each in a Background of its own.

#include "base/progress.h"
#include "learning/calibration.h"
#include "store/runs/run_store.h"
#include "study/study.h"

#include <QObject>

#include <memory>
#include <vector>

namespace orrery::app {

class Document;
class WorkloadCache;

enum class RunState { Running, Done, Cancelled, Failed };

class RunController : public QObject {
    Q_OBJECT
public:
    RunController(Document& document, std::shared_ptr<WorkloadCache> cache, QString storeFolder,
                  QObject* parent = nullptr);
    ~RunController() override;

    /// What learned methods of later runs answer with; null: what ships.
    void setCalibrations(std::shared_ptr<const CalibrationSet> all) { calibrations_ = std::move(all); }
    void setThreads(int threads) { threads_ = threads; }  ///< of later runs; 0: one per core
    /// Starts a run of everything in the project; returns its number, or -1 with a diagnostic in `failed`.
    int start();
    void cancel(int run);
    void cancelAll();
    int running() const;
    std::shared_ptr<const Progress> progress(int run) const;
    QString name(int run) const;
    /// What has come so far; complete once the run has ended.
    std::shared_ptr<const Study> study(int run) const;
    std::vector<StudyResult> results(int run) const;
    /// What its learned methods answer with; null: what ships.
    std::shared_ptr<const CalibrationSet> calibrations(int run) const;
    /// Database that the runs of this document go to: beside its file, else in the store folder.
    QString storeFile() const;

signals:
    void started(int run);
    void resultsArrived(int run, int count);
    void finished(int run, orrery::app::RunState state, const QString& message);
    void failed(const orrery::Diagnostic& why);

private:
    struct Job;
    void tell(Job& job);
    void end(Job& job);

    Document& document_;
    std::shared_ptr<WorkloadCache> cache_;
    QString storeFolder_;
    int threads_ = 0;
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::vector<std::unique_ptr<Job>> jobs_;
};

}  // namespace orrery::app
