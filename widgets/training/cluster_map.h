#pragma once

// The devices of a plan where they stand: a box for each node, a cell for each device, coloured by what it works on.
// Hovering reads a device's place in every dimension; a click marks its partners.

#include "mapping/plan.h"

#include <QString>
#include <QWidget>

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::ui {

/// A rank's place in every dimension of a plan. Tensor parallelism counts fastest, then context, then data, then the
/// stages (mapping/placement.h).
struct RankPlace {
    std::int64_t tensor = 0, context = 0, data = 0, stage = 0;
    bool operator==(const RankPlace&) const = default;
};
RankPlace placeOf(const Plan& plan, std::int64_t rank);
std::int64_t rankOf(const Plan& plan, const RankPlace& place);

enum class RankRelation : std::uint8_t { Itself, Tensor, Context, Data, Pipeline, None };
/// What two ranks of a plan have to do with each other: they differ in that dimension alone.
RankRelation relationOf(const Plan& plan, std::int64_t a, std::int64_t b);

/// Members of the group that a rank exchanges with in that dimension, itself among them, in the order of the ring.
std::vector<std::int64_t> groupOf(const Plan& plan, std::int64_t rank, RankRelation relation);

/// One moment of a ring all-reduce of n devices: n − 1 steps of reduce-scatter, then as many of all-gather. In each
/// every device sends a part of 1/n to the next.
struct RingMoment {
    RankRelation group = RankRelation::None;  ///< who exchanges; None: nobody
    int step = 0;                             ///< from 0 to 2 (n − 1) − 1
    double progress = 0;                      ///< of the step, 0 to 1
};

struct ClusterLink {
    QString name;    ///< of the tier: `infiniband`
    double use = 0;  ///< share of the step in which a device's links are busy, 0 to 1
    QString tip;
    bool outside = false;  ///< leaves the node
};

/// Nodes of one kind of device, of a plan on several.
struct ClusterKind {
    QString device, node;
    std::int64_t firstNode = 0;
};

struct ClusterMapData {
    Plan plan;
    std::int64_t drawn = 0;  ///< devices
    std::int64_t perNode = 1;
    std::int64_t perGroup = 0;       ///< devices behind one switch above the nodes; 0: all
    QString device, node;            ///< `h100`, `dgx`
    std::vector<ClusterLink> links;  ///< innermost first
    /// Of a plan on several kinds: these, so many nodes in all, and by rank, idle ones last, the place at which it sits
    /// (node × perNode + device). Empty: ranks sit in their order.
    std::vector<ClusterKind> kinds;
    std::int64_t nodes = 0;
    std::vector<std::int64_t> seats;

    std::int64_t seatOf(std::int64_t rank) const {
        return seats.empty() ? rank : seats[static_cast<std::size_t>(rank)];
    }
    std::int64_t rankAtSeat(std::int64_t seat) const;  ///< −1: nobody
    const ClusterKind* kindOfNode(std::int64_t node) const;
};

class ClusterMap : public QWidget {
    Q_OBJECT
public:
    enum class Colouring { Stage, Tensor, Data, Context };
    explicit ClusterMap(QWidget* parent = nullptr);
    void setData(ClusterMapData data);
    const ClusterMapData& data() const { return data_; }
    void setColouring(Colouring colouring);
    Colouring colouring() const { return colouring_; }
    void setCurrent(std::int64_t rank);  ///< −1: none
    std::int64_t current() const { return current_; }
    /// Of the group of the chosen device.
    void setExchange(const RingMoment& moment);
    const RingMoment& exchange() const { return exchange_; }
    std::int64_t rankAt(const QPointF& place) const;  ///< −1: none
    QRectF cellOf(std::int64_t rank) const;
    /// `device 17 in node 2: stage 0 of 4, tensor 1 of 8, …`
    QString textOf(std::int64_t rank) const;
    QSize sizeHint() const override { return {560, 320}; }
    QSize minimumSizeHint() const override { return {240, 160}; }

signals:
    void chosen(qint64 rank);  ///< −1: none

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Grid {
        QRectF area;
        std::int64_t nodes = 1;
        int across = 1, cellsAcross = 1;
        double pitch = 10, cell = 8, nodeWide = 10, nodeHigh = 10, stepX = 12, stepY = 12;
    };
    void layOut();
    QRectF nodeRect(std::int64_t node) const;
    QColor colourOf(std::int64_t rank) const;
    void paintLegend(QPainter& painter) const;
    void paintNodes(QPainter& painter) const;
    void paintCells(QPainter& painter) const;
    void paintPartners(QPainter& painter) const;
    void paintExchange(QPainter& painter) const;

    ClusterMapData data_;
    Colouring colouring_ = Colouring::Stage;
    std::int64_t current_ = -1;
    RingMoment exchange_;
    Grid grid_;
};

}  // namespace orrery::ui
