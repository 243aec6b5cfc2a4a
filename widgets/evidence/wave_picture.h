#pragma once

// Blocks of a kernel in waves over a GPU's multiprocessors: full waves folded into one row with their number, and the
// last one with its idle places.

#include <QWidget>

namespace orrery::ui {

struct WaveFacts {
    double tileM = 0, tileN = 0, tileK = 0;
    double blocks = 0, blocksPerWave = 0;
    double fullWaves() const;
    double lastBlocks() const;  ///< of the last wave; 0 where it is full
};

class WavePicture : public QWidget {
    Q_OBJECT
public:
    explicit WavePicture(QWidget* parent = nullptr);
    void setFacts(const WaveFacts& facts);
    const WaveFacts& facts() const { return facts_; }
    QSize sizeHint() const override { return {320, 132}; }
    QSize minimumSizeHint() const override { return {160, 110}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    WaveFacts facts_;
};

}  // namespace orrery::ui
