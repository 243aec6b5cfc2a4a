#pragma once

// A difference as bars that begin where the one above ends: from one total to the other, nothing left out. Blue is
// less, vermilion more, as everywhere. A click chooses a row.

#include <QWidget>

#include <vector>

class QPainter;

namespace orrery::ui {

struct WaterfallRow {
    QString label, values, delta;  ///< `layers.0.o_proj`; `1.2 → 0.8 ms`; `−0.4 ms`
    double change = 0;             ///< of the sum; of a total: nothing
    QString tip;
};

struct WaterfallData {
    QString title;  ///< `Time by operator: A → B`
    QString fromName, fromText, toName, toText;
    double from = 0, to = 0;
    std::vector<WaterfallRow> rows;
    QString note;  ///< below the bars; may be empty
};

class WaterfallPlot : public QWidget {
    Q_OBJECT
public:
    explicit WaterfallPlot(QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    void setData(WaterfallData data);
    const WaterfallData& data() const { return data_; }
    void setCurrent(int row);  ///< −1: none
    int current() const { return current_; }
    QRectF rowRect(int row) const;  ///< of data().rows; the totals stand above and below
    /// From where to where the bar of a row goes, in the unit of the totals.
    std::pair<double, double> span(int row) const;
    /// PNG, SVG, PDF by the ending. What went wrong; empty if nothing.
    QString exportTo(const QString& file);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {320, 120}; }

signals:
    void chosen(int row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    double rowHeight() const;
    void paint(QPainter& painter) const;

    WaterfallData data_;
    QString emptySentence_;
    int current_ = -1;
};

}  // namespace orrery::ui
