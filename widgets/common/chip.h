#pragma once

#include "widgets/common/label.h"

namespace orrery::ui {

/// A small pill that says one word about a value: `datasheet`, `unverified`, `default`. Compact ones show only their
/// mark, whose shape says the tone without colour.
class Chip : public QWidget {
    Q_OBJECT
public:
    explicit Chip(QWidget* parent = nullptr);
    void set(const QString& text, Tone tone, const QString& tip);
    void setCompact(bool compact);
    const QString& text() const { return text_; }
    Tone tone() const { return tone_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString text_;
    Tone tone_ = Tone::Muted;
    bool compact_ = false;
};

}  // namespace orrery::ui
