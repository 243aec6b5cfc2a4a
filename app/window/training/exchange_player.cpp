#include "app/window/training/exchange_player.h"

#include "app/window/form_parts.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"

#include <QHBoxLayout>
#include <QToolButton>

#include <algorithm>

namespace orrery::app {

namespace {

constexpr int frameMilliseconds = 33;
constexpr double secondsOfAStep = 1.0;

}  // namespace

ExchangePlayer::ExchangePlayer(ui::ClusterMap* map, QWidget* parent) : QWidget(parent), map_(map) {
    setObjectName(QStringLiteral("training.player"));
    setAccessibleName(tr("An exchange, step by step"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    group_ =
        namedChoice(this, "training.player.group", tr("Exchange"), tr("The all-reduce of the device that you clicked"));
    group_->addItem(tr("no exchange shown"), static_cast<int>(ui::RankRelation::None));
    group_->addItem(tr("all-reduce of a tensor group"), static_cast<int>(ui::RankRelation::Tensor));
    group_->addItem(tr("all-reduce of a context group"), static_cast<int>(ui::RankRelation::Context));
    group_->addItem(tr("all-reduce of the copies"), static_cast<int>(ui::RankRelation::Data));
    group_->setMinimumContentsLength(18);
    back_ = new ui::IconButton(QStringLiteral("media-seek-backward"), tr("Back to the previous step"),
                               QStringLiteral("training.player.back"), this);
    play_ = new ui::IconButton(QStringLiteral("media-playback-start"), tr("Play or pause"),
                               QStringLiteral("training.player.play"), this);
    play_->setCheckable(true);
    step_ = new ui::IconButton(QStringLiteral("media-seek-forward"), tr("On to the next step"),
                               QStringLiteral("training.player.step"), this);
    text_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    text_->setObjectName(QStringLiteral("training.player.text"));
    text_->setElided(true);
    row->addWidget(group_);
    row->addWidget(back_);
    row->addWidget(play_);
    row->addWidget(step_);
    row->addWidget(text_, 1);
    frame_.setInterval(frameMilliseconds);
    connect(&frame_, &QTimer::timeout, this, [this] { advance(frameMilliseconds / 1000.0 / secondsOfAStep); });
    connect(group_, &QComboBox::activated, this, &ExchangePlayer::choose);
    connect(play_, &QToolButton::toggled, this, &ExchangePlayer::play);
    connect(step_, &QToolButton::clicked, this, &ExchangePlayer::step);
    connect(back_, &QToolButton::clicked, this, &ExchangePlayer::stepBack);
    // Another device, another group; without one there is nothing to show.
    connect(map_, &ui::ClusterMap::chosen, this, [this](qint64 rank) {
        if (rank < 0) group_->setCurrentIndex(0);
        choose();
    });
    show({});
}

int ExchangePlayer::steps() const {
    const auto members =
        map_->current() < 0 ? std::size_t{1} : ui::groupOf(plan_, map_->current(), moment_.group).size();
    return static_cast<int>(2 * (members - 1));
}

void ExchangePlayer::setPlan(const Plan& plan) {
    if (plan == plan_) return;
    plan_ = plan;
    moment_.step = 0;
    moment_.progress = 0;
    show(moment_);
}

void ExchangePlayer::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    play_->setChecked(false);
}

void ExchangePlayer::choose() {
    moment_ = {static_cast<ui::RankRelation>(group_->currentData().toInt()), 0, 0};
    if (moment_.group != ui::RankRelation::None && map_->current() < 0) map_->setCurrent(0);
    show(moment_);
}

void ExchangePlayer::play(bool on) {
    on ? frame_.start() : frame_.stop();
}

void ExchangePlayer::step() {
    play_->setChecked(false);
    // To the end of the step under way, then to that of the next.
    advance(moment_.progress < 1 ? 1 - moment_.progress : 1);
}

// To the beginning of the step under way, then to that of the one before.
void ExchangePlayer::stepBack() {
    play_->setChecked(false);
    ui::RingMoment moment = moment_;
    if (moment.progress <= 0 && moment.step > 0) --moment.step;
    moment.progress = 0;
    show(moment);
}

void ExchangePlayer::advance(double by) {
    const int count = steps();
    if (count == 0) return show(moment_);
    if (moment_.progress >= 1) {
        moment_.progress = 0;
        moment_.step = (moment_.step + 1) % count;
    }
    moment_.progress = std::min(1.0, moment_.progress + by);
    show(moment_);
}

void ExchangePlayer::show(const ui::RingMoment& moment) {
    moment_ = moment;
    map_->setExchange(moment_);
    const int count = steps();
    play_->setEnabled(count > 0);
    step_->setEnabled(count > 0);
    back_->setEnabled(count > 0 && (moment_.step > 0 || moment_.progress > 0));
    if (count == 0) play_->setChecked(false);
    if (moment_.group == ui::RankRelation::None)
        return text_->setFullText(tr("Choose an exchange to see how a ring moves it over the devices"));
    if (count == 0) return text_->setFullText(tr("This plan has no such group: one device has everything"));
    const int members = count / 2 + 1;
    const bool first = moment_.step < members - 1;
    text_->setFullText(first ? tr("step %1 of %2, reduce-scatter: each sends 1/%3 to the next, which adds its own")
                                   .arg(moment_.step + 1)
                                   .arg(count)
                                   .arg(members)
                             : tr("step %1 of %2, all-gather: each hands a finished 1/%3 on to the next")
                                   .arg(moment_.step + 1)
                                   .arg(count)
                                   .arg(members));
}

}  // namespace orrery::app
