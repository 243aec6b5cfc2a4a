#pragma once

// What a stream of requests looks like before anything serves it: arrivals over time, lengths of prompts and outputs.

#include "serving/traffic/request_stream.h"

#include <QWidget>

#include <memory>

namespace orrery::ui {

class TrafficPicture : public QWidget {
    Q_OBJECT
public:
    explicit TrafficPicture(QWidget* parent = nullptr);
    void setStream(std::shared_ptr<const RequestStream> stream);
    /// `400 requests in 68 s, 5.9/s; prompts 64–819, outputs 16–205 tokens`
    QString summary() const { return summary_; }
    QSize sizeHint() const override { return {260, 150}; }
    QSize minimumSizeHint() const override { return {160, 110}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintBars(QPainter& painter, const QRectF& area, const std::vector<double>& bars, const QColor& colour,
                   const QString& title, const QString& high) const;

    std::vector<double> arrivals_, prompts_, outputs_;
    double seconds_ = 0, longestPrompt_ = 0, longestOutput_ = 0;
    QString summary_;
    bool any_ = false;
};

}  // namespace orrery::ui
