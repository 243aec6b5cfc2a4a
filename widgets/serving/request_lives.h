#pragma once

// Lives of requests as bars, in the order of arrival: waiting, prompt, decoding. One is chosen by a click; the cursor
// stands at the moment that is replayed. Only what is in sight is drawn, and the time axis covers just that until a
// person zooms.

#include "widgets/serving/serving_run.h"

#include <QAbstractScrollArea>

namespace orrery::ui {

class RequestLives : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit RequestLives(QWidget* parent = nullptr);
    void setRun(ServingRunPtr run);
    /// Moves the cursor and scrolls to the requests that have just arrived.
    void setTime(SimTime time);
    void setCurrent(RequestIndex request);  ///< scrolls to it
    RequestIndex current() const { return current_; }
    RequestIndex requestAt(const QPointF& place) const;
    /// Shown part of the run's time, 0…1.
    double zoomFrom() const { return from_; }
    double zoomTo() const { return to_; }
    bool isZoomed() const { return zoomed_; }
    QSize sizeHint() const override { return {560, 220}; }

signals:
    void chosen(orrery::RequestIndex request);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    int rowHeight() const;
    int headHeight() const;
    double position(SimTime time) const;
    void updateBar();
    void fitTime();  ///< to the rows in sight

    ServingRunPtr run_;
    std::vector<RequestIndex> order_;  ///< by arrival
    std::vector<std::uint32_t> row_;   ///< of a request
    SimTime time_ = 0;
    RequestIndex current_ = no_request;
    double from_ = 0, to_ = 1;
    bool zoomed_ = false;  ///< by a person
};

/// `queued 12 ms, prompt 45 ms, 211 tokens in 3.2 s on H100 × 4`: what happened to one request.
std::vector<std::pair<QString, QString>> lifeOf(const ServingRun& run, RequestIndex request);

}  // namespace orrery::ui
