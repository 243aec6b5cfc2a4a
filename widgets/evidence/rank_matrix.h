#pragma once

// Confusion of ranks: a square of cells, one order's parts down, the other's across, the number of networks in each.

#include <QWidget>

#include <vector>

namespace orrery::ui {

class RankMatrix : public QWidget {
    Q_OBJECT
public:
    explicit RankMatrix(QWidget* parent = nullptr);
    /// parts × parts counts, rows of `down`; empty: the sentence is shown instead.
    void setCells(std::vector<double> cells, const QString& down, const QString& across, const QString& sentence);
    const std::vector<double>& cells() const { return cells_; }
    QSize sizeHint() const override { return {420, 260}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<double> cells_;
    QString down_, across_, sentence_;
};

}  // namespace orrery::ui
