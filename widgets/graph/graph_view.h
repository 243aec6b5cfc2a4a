#pragma once

// The operator graph of a workload: folded groups, heat by any metric, one selection with all other views.

#include "widgets/graph/graph_scene.h"
#include "widgets/graph/heat.h"

#include <QWidget>

#include <memory>
#include <vector>

namespace orrery::ui {

/// Drag pans, Shift+drag selects an area, the wheel zooms at the cursor. Arrows walk along edges, P and C go to the
/// producer and consumer, Enter unfolds or activates, Backspace folds, F fits the selection, Home everything, F3 finds
/// the next. Drawings are made in a worker thread: what folds or loads shows a moment later.
class GraphView : public QWidget {
    Q_OBJECT
public:
    explicit GraphView(Selection* selection, QWidget* parent = nullptr);
    ~GraphView() override;

    void setWorkload(WorkloadPtr workload);
    void setSnapshot(SnapshotPtr snapshot);
    void setMeasured(std::vector<double> seconds);      ///< per operator, all repeats; NaN: none
    void setStored(std::vector<StoredAnswers> stored);  ///< of a run of before; gone with the workload

    void setMetric(const QString& id);  ///< empty: colours by kind
    QString metric() const;
    void setThreshold(double share);  ///< dims operators below this share of the metric's range, 0…1
    void setFolded(int group, bool folded);
    bool isFolded(int group) const;
    void foldAll();
    void unfoldAll();  ///< as far as a readable number of nodes allows
    void setLeftToRight(bool on);
    bool isLeftToRight() const;
    void find(const QString& text);  ///< marks what matches; findNext goes through them
    void findNext(bool backwards = false);
    int matches() const;
    int currentMatch() const;  ///< 1-based; 0: none yet
    void fitAll();
    void fitSelection();
    void zoomBy(double factor);
    void revealOperator(int op);  ///< unfolds what hides it and centres on it
    void walk(bool forwards);     ///< to a consumer or producer of the current node
    void refineLayout();          ///< Graphviz in the background
    void cancelLayout();
    QString exportTo(const QString& file);  ///< SVG, PNG, PDF of the whole graph, CSV of the metric; error or empty
    void copyPicture();
    QString csv() const;  ///< one row per operator with every metric

    const std::vector<HeatMetric>& metrics() const;
    const HeatMetric* shownMetric() const;  ///< null: colours by kind
    const VisibleGraph& visible() const;
    const GraphHierarchy& hierarchy() const;
    const GraphScene& scene() const;
    bool isSettled() const;  ///< the drawing is the one last asked for, and nothing glides
    QPointF toView(const QPointF& scene) const;
    QPointF toScene(const QPointF& view) const;
    double zoom() const;
    int currentNode() const;  ///< where the keyboard is; -1: nowhere
    QSize sizeHint() const override { return {640, 480}; }

signals:
    void metricsChanged();  ///< another list: the chooser fills itself from metrics()
    void layoutRunning(bool running, const QString& stage);
    void layoutRefused(const QString& why);
    void operatorActivated(int op);
    void menuRequested(const QPoint& global);
    void firstPicture();  ///< the workload's first layout is painted
    void pictureChanged();
    void matchesChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct State;
    std::unique_ptr<State> state_;
    Selection* selection_;
};

}  // namespace orrery::ui
