#pragma once

// What each further sample of a device buys: the error that is said and the one that samples taken later showed, how
// wide intervals are, how far the order is from the right one.

#include <QPointF>
#include <QWidget>

#include <vector>

namespace orrery::ui {

struct SampleMark {
    int samples = 0;
    double said = 0;       ///< share: 0.1 is 10 %
    double found = 0;      ///< of samples taken later; NaN where there are too few
    bool planned = false;  ///< not measured yet
    double width = 0;      ///< middle of high ÷ low of the intervals; NaN where nothing is said of it
    double rank = 0;       ///< Spearman's ρ of samples taken later; NaN where there are too few
};

class SampleCurve : public QWidget {
    Q_OBJECT
public:
    enum class Figure { Error, Interval, Order };
    explicit SampleCurve(QWidget* parent = nullptr);
    void setFigure(Figure figure);
    Figure figure() const { return figure_; }
    void setMarks(std::vector<SampleMark> marks);
    const std::vector<SampleMark>& marks() const { return marks_; }
    QSize sizeHint() const override { return {420, 260}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Line {
        QString name;
        int colour = 0;
        Qt::PenStyle style = Qt::SolidLine;
        bool filled = true;
        std::vector<QPointF> points;  ///< samples, value
    };
    std::vector<Line> lines() const;
    std::vector<SampleMark> marks_;
    Figure figure_ = Figure::Error;
};

}  // namespace orrery::ui
