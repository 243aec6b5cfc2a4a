#pragma once

#include "widgets/common/label.h"

#include <vector>

namespace orrery::ui {

struct Fact {
    QString label, value, tip;
    Tone tone = Tone::Normal;
    bool operator==(const Fact&) const = default;
};

/// Read-only facts in two columns, values on the right in tabular figures; whole text on hover. Long values may use
/// the monospace (shapes).
class FactList : public QWidget {
    Q_OBJECT
public:
    explicit FactList(QWidget* parent = nullptr, FontRole valueFont = FontRole::Body);
    void setFacts(std::vector<Fact> facts);
    const std::vector<Fact>& facts() const { return facts_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {80, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    int rowHeight() const;

    std::vector<Fact> facts_;
    FontRole valueFont_;
};

}  // namespace orrery::ui
