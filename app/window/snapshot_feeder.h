#pragma once

#include "widgets/common/result_view.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <vector>

namespace orrery::app {

/// Hands each snapshot to the views that are seen, one view per turn of the event loop, so that the loop never stands
/// still for longer than one view takes. A view that is hidden gets the newest snapshot when it is shown.
class SnapshotFeeder : public QObject {
    Q_OBJECT
public:
    explicit SnapshotFeeder(QObject* parent = nullptr);

    void add(ui::ResultView* view);
    /// What else shows the answer; its turn comes after the views'.
    void addFollower(std::function<void(const ui::SnapshotPtr&)> show);
    void feed(ui::SnapshotPtr snapshot);
    void feedAll();  ///< now, hidden ones too: for pictures without a screen
    bool settled() const;

signals:
    void fed();  ///< all views that are seen show the newest snapshot

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void step();

    struct Follower {
        std::function<void(const ui::SnapshotPtr&)> show;
        ui::SnapshotPtr shown;
    };
    std::vector<ui::ResultView*> views_;
    std::vector<Follower> followers_;
    ui::SnapshotPtr snapshot_;
    QTimer turn_;
    bool any_ = false;  ///< a snapshot, even a null one, has been fed
};

}  // namespace orrery::app
