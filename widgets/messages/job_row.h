#pragma once

#include "widgets/messages/jobs_panel.h"

#include <QElapsedTimer>

class QProgressBar;
class QToolButton;

namespace orrery::ui {

class Label;

/// One job: title, thin bar, what is done, rate and time left; cancel while it runs, open when it is done.
class JobRow : public QWidget {
    Q_OBJECT
public:
    JobRow(int id, const QString& title, const QString& unit, std::shared_ptr<const Progress> progress,
           QWidget* parent);
    int id() const { return id_; }
    JobState state() const { return state_; }
    void setState(JobState state, const QString& message);
    void refresh();

signals:
    void cancelClicked();
    void openClicked();

private:
    int id_;
    QString unit_;
    std::shared_ptr<const Progress> progress_;
    JobState state_ = JobState::Queued;
    QElapsedTimer clock_;
    QProgressBar* bar_;
    Label* text_;
    QToolButton* cancel_;
    QToolButton* open_;
};

}  // namespace orrery::ui
