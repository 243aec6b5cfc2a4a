#include "widgets/messages/jobs_panel.h"

#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/messages/job_row.h"

#include <QScrollArea>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {

JobsPanel::JobsPanel(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("jobs"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 4, 8, 4);
    top->addStretch(1);
    clear_ = new QToolButton(this);
    clear_->setObjectName(QStringLiteral("jobs.clear"));
    clear_->setText(tr("Clear finished"));
    clear_->setAccessibleName(tr("Clear finished jobs"));
    clear_->setToolTip(tr("Remove finished jobs from the list; their results stay"));
    clear_->setAutoRaise(true);
    clear_->hide();
    top->addWidget(clear_);
    column->addLayout(top);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* page = new QWidget(scroll);
    list_ = new QVBoxLayout(page);
    list_->setContentsMargins(0, 0, 0, 0);
    list_->setSpacing(0);
    empty_ = new EmptyPage(
        tr("No jobs"), tr("Runs of many scenarios or slow methods are listed here, with progress, rate and time left."),
        {}, page);
    list_->addWidget(empty_, 1);
    list_->addStretch(0);
    scroll->setWidget(page);
    column->addWidget(scroll, 1);
    timer_ = new QTimer(this);
    timer_->setInterval(100);
    connect(timer_, &QTimer::timeout, this, &JobsPanel::refresh);
    connect(clear_, &QToolButton::clicked, this, [this] {
        std::erase_if(rows_, [](JobRow* row) {
            if (row->state() == JobState::Running || row->state() == JobState::Queued) return false;
            row->deleteLater();
            return true;
        });
        clear_->hide();
        empty_->setVisible(rows_.empty());
    });
}

int JobsPanel::addJob(const QString& title, const QString& unit, std::shared_ptr<const Progress> progress) {
    const int id = next_++;
    auto* row = new JobRow(id, title, unit, std::move(progress), this);
    connect(row, &JobRow::cancelClicked, this, [this, id] { emit cancelRequested(id); });
    connect(row, &JobRow::openClicked, this, [this, id] { emit openRequested(id); });
    list_->insertWidget(0, row);
    rows_.push_back(row);
    empty_->hide();
    setState(id, JobState::Running);
    return id;
}

void JobsPanel::setState(int job, JobState state, const QString& message) {
    const int before = running_;
    for (JobRow* row : rows_)
        if (row->id() == job) row->setState(state, message);
    running_ = running();
    clear_->setVisible(running_ < static_cast<int>(rows_.size()));
    if (running_ > 0)
        timer_->start();
    else
        timer_->stop();
    if (running_ != before) emit runningChanged(running_);
}

JobState JobsPanel::state(int job) const {
    for (const JobRow* row : rows_)
        if (row->id() == job) return row->state();
    return JobState::Done;
}

int JobsPanel::running() const {
    return static_cast<int>(
        std::count_if(rows_.begin(), rows_.end(), [](const JobRow* row) { return row->state() == JobState::Running; }));
}

void JobsPanel::refresh() {
    for (JobRow* row : rows_)
        if (row->state() == JobState::Running) row->refresh();
}

QString jobText(std::uint64_t done, std::uint64_t total, double seconds, const QString& unit) {
    if (total == 0)
        return done == 0 ? JobsPanel::tr("starting …")
                         : JobsPanel::tr("%1 %2").arg(countText(static_cast<double>(done)), unit);
    QString text = JobsPanel::tr("%1 of %2 %3")
                       .arg(countText(static_cast<double>(done)), countText(static_cast<double>(total)), unit);
    if (done == 0 || seconds <= 0) return text;
    const double rate = static_cast<double>(done) / seconds;
    text += JobsPanel::tr(" · %1/s").arg(rate < 100 ? QString::number(rate, 'g', 2) : countText(rate));
    if (done < total) text += JobsPanel::tr(" · %1 left").arg(durationText(static_cast<double>(total - done) / rate));
    return text;
}

}  // namespace orrery::ui
