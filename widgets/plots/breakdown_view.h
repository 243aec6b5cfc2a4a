#pragma once

#include "widgets/common/result_view.h"
#include "widgets/plots/breakdown_model.h"

#include <QVariantAnimation>

class QToolButton;

namespace orrery::ui {

class HoverCard;

/// A stacked bar per method on one common scale, with its interval, and the numbers below: by operator kind, by block,
/// or by what bounds the operators. A click on a part selects its operators, Ctrl+click adds them.
class BreakdownView : public ResultView {
    Q_OBJECT
public:
    explicit BreakdownView(Selection* selection, QWidget* parent = nullptr);

    BreakdownBy by() const { return by_; }
    void setBy(BreakdownBy by);
    QString csv() const override;

    /// A part on the screen: a piece of a bar, or a line of the list (bar −1).
    struct Part {
        QRectF box;
        int category = 0, bar = -1;
        QString label;  ///< as drawn inside; empty if it does not fit
        QRectF labelBox;
    };
    std::vector<Part> parts() const;  ///< for tests and hit testing, in this widget's pixels
    const BreakdownModel& model() const { return now_; }
    const HoverCard* card() const { return card_; }

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
    void paintEvent(QPaintEvent* event) override;
    void paintPicture(QPainter& painter, const QRect& target) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct ListColumns {
        std::vector<std::size_t> bars;  // the methods that have a column, left to right
        double column, width;           // of one, and of the whole list
    };
    void rebuild(bool glide);
    ListColumns listColumns() const;
    QRectF barBox(std::size_t bar) const;  // its full width; the title stands above
    double listTop() const;
    double lineHeight() const;
    int linesShown() const;
    const Part* partAt(const std::vector<Part>& parts, const QPointF& pixel) const;
    bool isSelected(const BreakdownCategory& category) const;
    void paintAll(QPainter& painter);
    void paintBars(QPainter& painter, const std::vector<Part>& parts);
    void paintList(QPainter& painter, const std::vector<Part>& parts);

    BreakdownBy by_ = BreakdownBy::Kind;
    BreakdownModel from_, now_, target_;
    QVariantAnimation glide_;
    HoverCard* card_ = nullptr;
    std::vector<QToolButton*> modes_;
    int hovered_ = -1;
    int scroll_ = 0;  // first line of the list
};

}  // namespace orrery::ui
