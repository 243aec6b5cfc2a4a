#pragma once

// A basic block, instruction by instruction: bytes, text, the cycles that each spends on each port as heat, and the
// dependence chain that carries one iteration into the next as arcs at the left.

#include "simulation/cpu/block/block.h"
#include "widgets/plots/figure_view.h"

#include <array>
#include <vector>

namespace orrery::ui {

struct BlockLine {
    int offset = 0;  ///< bytes
    QString bytes, text;
    QString form;  ///< row of the port table; empty: it has none, or needs none
    bool known = true;
    std::array<double, block::mostPorts> ports{};  ///< cycles per iteration
};

struct BlockPicture {
    std::vector<QString> portNames;
    std::vector<BlockLine> lines;
    std::vector<block::ChainLink> chain;
    std::array<double, block::mostPorts> portCycles{};
    double cycles = 0;        ///< per iteration
    bool chainBinds = false;  ///< the chain decides, and is drawn in the accent
};

class BlockListing : public FigureView {
    Q_OBJECT
public:
    explicit BlockListing(QWidget* parent = nullptr);
    void setPicture(BlockPicture picture);
    const BlockPicture& picture() const { return picture_; }
    int lineAt(const QPointF& place) const;  ///< -1: none
    int portAt(const QPointF& place) const;  ///< -1: none
    QRectF cellOf(int line, int port) const;

    bool isEmpty() const override { return picture_.lines.empty(); }
    QString textAt(const QPointF& place) const override;
    QByteArray csv() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void lineChosen(int line);

protected:
    void paintFigure(QPainter& painter) const override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    struct Columns {
        double chain = 0, offset = 0, bytes = 0, text = 0, ports = 0, port = 0;  ///< left edges; width of a port
    };
    Columns columns() const;
    double lineHeight() const;
    void paintChain(QPainter& painter, const Columns& at) const;
    void paintTotals(QPainter& painter, const Columns& at) const;

    BlockPicture picture_;
    int chosen_ = -1;
};

/// `rax`, `memory`: what a link of the chain goes through.
QString throughText(const block::ChainLink& link);

}  // namespace orrery::ui
