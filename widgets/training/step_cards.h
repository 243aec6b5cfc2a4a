#pragma once

// The figures of a training step as a row of cards that wraps: name, value, and below it what another way of answering
// or a pinned plan says.

#include "widgets/common/label.h"

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct StepCard {
    QString title, value;
    QString note;        ///< `12.8 – 14.9 s`, `closed form 13.1 s`
    QString difference;  ///< against the pinned plan: `−12 %`
    Tone tone = Tone::Normal, noteTone = Tone::Muted, differenceTone = Tone::Muted;
    QString tip;
    bool operator==(const StepCard&) const = default;
};

class StepCards : public QWidget {
    Q_OBJECT
public:
    explicit StepCards(QWidget* parent = nullptr);
    void setCards(std::vector<StepCard> cards);
    const std::vector<StepCard>& cards() const { return cards_; }
    QRectF rectOf(int card) const;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    int columns(int width) const;
    int cardHeight() const;

    std::vector<StepCard> cards_;
};

}  // namespace orrery::ui
