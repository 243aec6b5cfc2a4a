#include "widgets/evidence/wave_picture.h"

#include "widgets/common/plot_axis.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

double WaveFacts::fullWaves() const {
    return blocksPerWave > 0 ? std::floor(blocks / blocksPerWave + 1e-9) : 0;
}

double WaveFacts::lastBlocks() const {
    return blocksPerWave > 0 ? std::max(0.0, blocks - fullWaves() * blocksPerWave) : 0;
}

WavePicture::WavePicture(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("why.waves"));
    setAccessibleName(tr("Blocks in waves"));
    setToolTip(tr("Each place is for one block of threads; empty places of the last wave wait for the others"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void WavePicture::setFacts(const WaveFacts& facts) {
    facts_ = facts;
    setVisible(facts.blocks > 0 && facts.blocksPerWave > 0);
    setAccessibleDescription(tr("%1 full waves of %2 blocks, %3 blocks in the last")
                                 .arg(facts.fullWaves())
                                 .arg(facts.blocksPerWave)
                                 .arg(facts.lastBlocks()));
    update();
}

void WavePicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    QString title = tr("%1 blocks").arg(countText(facts_.blocks));
    if (facts_.tileM > 0 && facts_.tileN > 0) {
        title += tr(" of tiles %1×%2").arg(facts_.tileM).arg(facts_.tileN);
        if (facts_.tileK > 0) title += QStringLiteral("×%1").arg(facts_.tileK);
    }
    paintPlotTitle(painter, title, width());
    if (!(facts_.blocksPerWave > 0)) return;
    painter.setFont(theme.font(FontRole::Small));
    const int line = painter.fontMetrics().height();
    const auto wave = [&](double top, double filled, const QString& words) {
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(0, top, width(), line), Qt::AlignLeft, words);
        // As many cells as can be told apart; each stands for the same share of the wave.
        const double places = std::min(facts_.blocksPerWave, std::floor(width() / 4.0));
        const double wide = width() / places;
        for (int i = 0; i < static_cast<int>(places); ++i) {
            const QRectF cell(i * wide, top + line + 3, std::max(wide - 1, 1.0), 16);
            const double share = (i + 0.5) / places * facts_.blocksPerWave;
            painter.fillRect(cell, share <= filled ? theme.methodColour(0) : colours.faintLine);
        }
    };
    double top = plotTitleHeight;
    if (facts_.fullWaves() > 0) {
        wave(top, facts_.blocksPerWave,
             tr("%1 full wave(s) of %2").arg(countText(facts_.fullWaves()), countText(facts_.blocksPerWave)));
        top += line + 28;
    }
    if (facts_.lastBlocks() > 0) {
        wave(top, facts_.lastBlocks(),
             tr("last wave: %1 of %2 places, %3 idle")
                 .arg(countText(facts_.lastBlocks()), countText(facts_.blocksPerWave),
                      percentText(1 - facts_.lastBlocks() / facts_.blocksPerWave)));
    }
}

}  // namespace orrery::ui
