#pragma once

// Replicas at work at one moment: who waits, which prompts and which decoding sequences the iteration computes, how
// full the KV cache is. Played by a Replay; a sequence can be clicked.

#include "widgets/serving/replay.h"

#include <QWidget>

namespace orrery::ui {

class FleetPicture : public QWidget {
    Q_OBJECT
public:
    explicit FleetPicture(QWidget* parent = nullptr);
    std::size_t replayCount() const { return replays_.size(); }
    void setReplays(std::vector<const Replay*> replays);  ///< one, or two beside each other; kept by the caller
    void setTime(SimTime time);
    SimTime time() const { return time_; }
    void setCurrent(RequestIndex request);  ///< outlined wherever it is drawn; no_request: none
    /// The sequence drawn there, or no_request.
    RequestIndex requestAt(const QPointF& place) const;
    QSize sizeHint() const override { return {560, 320}; }
    QSize minimumSizeHint() const override;  ///< one row of cards with all their lanes

signals:
    void chosen(orrery::RequestIndex request);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Mark {
        QRectF area;
        RequestIndex request;
        QString text;
    };
    void paintReplica(QPainter& painter, const QRectF& card, const Replay& replay, std::size_t replica);
    void paintCompact(QPainter& painter, const QRectF& card, const Replay& replay, std::size_t replica);
    void paintKv(QPainter& painter, const QRectF& bar, const Replay::ReplicaAt& now) const;

    std::vector<const Replay*> replays_;
    SimTime time_ = 0;
    RequestIndex current_ = no_request;
    std::vector<Mark> marks_;  ///< of the last painting
};

}  // namespace orrery::ui
