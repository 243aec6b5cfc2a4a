#include "app/window/snapshot_feeder.h"

#include <QEvent>

#include <algorithm>

namespace orrery::app {

SnapshotFeeder::SnapshotFeeder(QObject* parent) : QObject(parent) {
    turn_.setInterval(0);
    connect(&turn_, &QTimer::timeout, this, &SnapshotFeeder::step);
}

void SnapshotFeeder::add(ui::ResultView* view) {
    views_.push_back(view);
    view->installEventFilter(this);
    connect(view, &QObject::destroyed, this, [this, view] { std::erase(views_, view); });
    if (any_) turn_.start();
}

void SnapshotFeeder::addFollower(std::function<void(const ui::SnapshotPtr&)> show) {
    followers_.push_back({std::move(show), nullptr});
    if (any_) turn_.start();
}

void SnapshotFeeder::feed(ui::SnapshotPtr snapshot) {
    any_ = true;
    snapshot_ = std::move(snapshot);
    turn_.start();
}

void SnapshotFeeder::feedAll() {
    for (ui::ResultView* view : views_) {
        if (view->snapshot() != snapshot_) view->setSnapshot(snapshot_);
    }
    for (Follower& follower : followers_) {
        if (follower.shown != snapshot_) follower.show(follower.shown = snapshot_);
    }
}

bool SnapshotFeeder::settled() const {
    if (!std::ranges::all_of(followers_, [this](const Follower& f) { return f.shown == snapshot_; })) return false;
    return std::ranges::all_of(
        views_, [this](const ui::ResultView* view) { return !view->isVisible() || view->snapshot() == snapshot_; });
}

bool SnapshotFeeder::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Show && any_) turn_.start();
    return QObject::eventFilter(watched, event);
}

void SnapshotFeeder::step() {
    for (ui::ResultView* view : views_) {
        if (!view->isVisible() || view->snapshot() == snapshot_) continue;
        view->setSnapshot(snapshot_);
        return;
    }
    for (Follower& follower : followers_) {
        if (follower.shown == snapshot_) continue;
        return follower.show(follower.shown = snapshot_);
    }
    turn_.stop();
    emit fed();
}

}  // namespace orrery::app
