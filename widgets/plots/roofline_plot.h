#pragma once

#include "widgets/common/result_view.h"
#include "widgets/plots/roofline_painter.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QVariantAnimation>

class QCustomPlot;
class QCPLayer;
class QToolButton;

namespace orrery::ui {

class HoverCard;

/// Attained FLOP/s over arithmetic intensity, both logarithmic: a roof per precision and memory level, a point per
/// operator with its area by share of the time. Wheel zooms at the cursor (over an axis, that axis alone), drag pans,
/// Shift+drag selects a rectangle, a click selects, Ctrl+click adds, double-click or F fits, P pins what is shown.
class RooflinePlot : public ResultView {
    Q_OBJECT
public:
    explicit RooflinePlot(Selection* selection, QWidget* parent = nullptr);
    ~RooflinePlot() override;

    void fit();
    void pinBaseline();  ///< keeps roofs and points as they are now, named after their hardware, behind the live ones
    void clearBaselines();
    std::size_t baselineCount() const { return scene_.baselines.size(); }

    QString csv() const override;

    /// For tests and linked views: what is drawn at this moment, and where.
    const RooflineScene& scene() const { return scene_; }
    LogAxes axes() const;
    RooflineLabels labels() const;
    RooflineNote note() const;
    QWidget* canvas() const;  ///< takes the mouse
    const HoverCard* card() const { return card_; }

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
    void paintPicture(QPainter& painter, const QRect& target) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum class Drag { None, Pressed, Pan, Select };

    void buildPlot();
    QRectF keyStrip() const;
    void buildButtons();
    void applyTheme();
    void glideTo(const RooflineModel& next, const RooflineRanges& ranges);
    void setRanges(const RooflineRanges& ranges);
    void replot();
    void replotOverlay();
    void zoomAt(const QPointF& pixel, double factor);
    void stepSelection(int by);
    void mousePressed(const QPointF& pixel, Qt::KeyboardModifiers modifiers);
    void mouseMoved(const QPointF& pixel, Qt::MouseButtons buttons);
    void mouseReleased(const QPointF& pixel, Qt::KeyboardModifiers modifiers);
    void hoverAt(const QPointF& pixel);
    void leave();

    QCustomPlot* plot_ = nullptr;
    QCPLayer* overlay_ = nullptr;
    HoverCard* card_ = nullptr;
    QToolButton* fitButton_ = nullptr;
    QToolButton* pinButton_ = nullptr;
    RooflineScene scene_;
    RooflineModel from_, target_;
    RooflineRanges ranges_, rangesFrom_, rangesTarget_;
    bool fitted_ = true;  ///< the person has not moved the axes
    QTimer calm_;         ///< since the last change: the axes follow when a gesture is over
    QVariantAnimation glide_;
    QElapsedTimer sinceChange_;
    Drag drag_ = Drag::None;
    QPointF pressed_, mouse_;
    RooflineRanges pressedRanges_;
    bool mouseInside_ = false;
};

}  // namespace orrery::ui
