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

void SnapshotFeeder::feed(ui::SnapshotPtr snapshot) {
    any_ = true;
    snapshot_ = std::move(snapshot);
    turn_.start();
}

void SnapshotFeeder::feedAll() {
    for (ui::ResultView* view : views_) {
        if (view->snapshot() != snapshot_) view->setSnapshot(snapshot_);
    }
}

bool SnapshotFeeder::settled() const {
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
    turn_.stop();
    emit fed();
}

}  // namespace orrery::app
