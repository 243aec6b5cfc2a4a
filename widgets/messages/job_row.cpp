#include "widgets/messages/job_row.h"

#include "widgets/common/label.h"
#include "widgets/common/text.h"

#include <QGridLayout>
#include <QProgressBar>
#include <QToolButton>

namespace orrery::ui {

JobRow::JobRow(int id, const QString& title, const QString& unit, std::shared_ptr<const Progress> progress,
               QWidget* parent)
    : QWidget(parent), id_(id), unit_(unit), progress_(std::move(progress)) {
    setObjectName(QStringLiteral("jobs.row%1").arg(id));
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(12, 6, 8, 6);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(3);
    auto* name = new Label(title, FontRole::Body, Tone::Normal, this);
    name->setElided(true);
    text_ = new Label({}, FontRole::Small, Tone::Muted, this);
    text_->setElided(true);
    text_->setObjectName(QStringLiteral("jobs.row%1.text").arg(id));
    bar_ = new QProgressBar(this);
    bar_->setTextVisible(false);
    bar_->setFixedHeight(4);
    bar_->setRange(0, 1000);
    bar_->setAccessibleName(tr("Progress of %1").arg(title));
    const auto button = [this, id](const QString& what, const QString& words, const QString& tip) {
        auto* made = new QToolButton(this);
        made->setObjectName(QStringLiteral("jobs.row%1.%2").arg(id).arg(what));
        made->setAccessibleName(words);
        made->setToolTip(tip);
        made->setAutoRaise(true);
        made->setText(words);
        return made;
    };
    cancel_ = button(QStringLiteral("cancel"), tr("Cancel"), tr("Stop %1; finished results are kept").arg(title));
    open_ = button(QStringLiteral("open"), tr("Open"), tr("Show the results of %1").arg(title));
    open_->hide();
    connect(cancel_, &QToolButton::clicked, this, &JobRow::cancelClicked);
    connect(open_, &QToolButton::clicked, this, &JobRow::openClicked);
    grid->addWidget(name, 0, 0);
    grid->addWidget(bar_, 1, 0);
    grid->addWidget(text_, 2, 0);
    grid->addWidget(cancel_, 0, 1, 3, 1, Qt::AlignVCenter);
    grid->addWidget(open_, 0, 2, 3, 1, Qt::AlignVCenter);
    grid->setColumnStretch(0, 1);
}

void JobRow::setState(JobState state, const QString& message) {
    if (state == JobState::Running && state_ != JobState::Running) clock_.start();
    const double seconds = clock_.isValid() ? static_cast<double>(clock_.elapsed()) / 1000 : 0;
    state_ = state;
    const bool active = state == JobState::Running || state == JobState::Queued;
    cancel_->setVisible(active);
    open_->setVisible(state == JobState::Done);
    bar_->setVisible(active);
    text_->setTone(state == JobState::Failed ? Tone::Bad : state == JobState::Done ? Tone::Good : Tone::Muted);
    switch (state) {
        case JobState::Queued:
            return text_->setFullText(tr("waiting"));
        case JobState::Running:
            return refresh();
        case JobState::Done:
            return text_->setFullText(message.isEmpty() ? tr("done in %1").arg(durationText(seconds)) : message);
        case JobState::Cancelled:
            return text_->setFullText(message.isEmpty() ? tr("cancelled") : message);
        case JobState::Failed:
            text_->setToolTip(message);
            return text_->setFullText(message.isEmpty() ? tr("failed") : message);
    }
}

void JobRow::refresh() {
    const std::uint64_t done = progress_ ? progress_->done() : 0;
    const std::uint64_t total = progress_ ? progress_->total() : 0;
    if (total == 0)
        bar_->setRange(0, 0);
    else
        bar_->setRange(0, 1000);
    if (total > 0) bar_->setValue(static_cast<int>(1000.0 * static_cast<double>(done) / static_cast<double>(total)));
    text_->setFullText(jobText(done, total, static_cast<double>(clock_.elapsed()) / 1000, unit_));
}

}  // namespace orrery::ui
