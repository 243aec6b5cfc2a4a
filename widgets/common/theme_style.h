#pragma once

#include <QProxyStyle>

namespace orrery::ui {

/// Fusion, with check boxes, radio buttons, combo and spin boxes, tree arrows and focus rings painted flat.
class ThemeStyle : public QProxyStyle {
    Q_OBJECT
public:
    ThemeStyle();
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    /// Texts of combo boxes that have no room end in an ellipsis; Fusion cuts them.
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* data) const override;
    QIcon standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const override;
};

}  // namespace orrery::ui
