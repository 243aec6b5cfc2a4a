#pragma once

// The same requests under two policies: one point each, on the diagonal where nothing changed. Above it the second is
// slower.

#include "widgets/serving/serving_run.h"

#include <QPixmap>
#include <QWidget>

namespace orrery::ui {

enum class RequestFigure { Ttft, Tpot, EndToEnd };
QString nameOf(RequestFigure figure);
/// Seconds; negative where the request has none.
double valueOf(const ServingRun& run, RequestIndex request, RequestFigure figure);

class PairPlot : public QWidget {
    Q_OBJECT
public:
    explicit PairPlot(QWidget* parent = nullptr);
    void setRuns(ServingRunPtr first, ServingRunPtr second, RequestFigure figure);
    void setCurrent(RequestIndex request);
    RequestIndex requestAt(const QPointF& place) const;
    std::size_t points() const { return places_.size(); }
    QSize sizeHint() const override { return {360, 320}; }
    QSize minimumSizeHint() const override { return {200, 160}; }

signals:
    void chosen(orrery::RequestIndex request);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void place();

    ServingRunPtr first_, second_;
    RequestFigure figure_ = RequestFigure::EndToEnd;
    std::vector<RequestIndex> requests_;
    std::vector<double> x_, y_;
    std::vector<QPointF> places_;
    RequestIndex current_ = no_request;
};

}  // namespace orrery::ui
