#pragma once

#include "base/progress.h"

#include <QElapsedTimer>
#include <QWidget>

#include <memory>
#include <vector>

class QTimer;
class QToolButton;
class QVBoxLayout;

namespace orrery::ui {

enum class JobState { Queued, Running, Done, Cancelled, Failed };

class JobRow;

/// Jobs, newest first, with progress, rate, time left, cancel. Polls their Progress ten times a second while one runs.
class JobsPanel : public QWidget {
    Q_OBJECT
public:
    explicit JobsPanel(QWidget* parent = nullptr);
    /// `unit` is what the progress counts: `results`. Returns the job's number.
    int addJob(const QString& title, const QString& unit, std::shared_ptr<const Progress> progress);
    void setState(int job, JobState state, const QString& message = {});
    JobState state(int job) const;
    int running() const;
    void refresh();  ///< reads all progress now

signals:
    void cancelRequested(int job);
    void openRequested(int job);  ///< results of a finished job
    void runningChanged(int running);

private:
    std::vector<JobRow*> rows_;
    QVBoxLayout* list_;
    QTimer* timer_;
    QWidget* empty_;
    QToolButton* clear_;
    int next_ = 1;
    int running_ = 0;
};

/// What a row says under its title: `1,200 of 4,000 results · 850/s · 3.3 s left`. Plain, for tests.
QString jobText(std::uint64_t done, std::uint64_t total, double seconds, const QString& unit);

}  // namespace orrery::ui
