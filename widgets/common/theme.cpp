#include "widgets/common/theme.h"

#include "widgets/common/theme_fonts.h"
#include "widgets/common/theme_sheet.h"
#include "widgets/common/theme_style.h"

#include <QApplication>
#include <QPalette>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

QPalette applicationPalette(const Palette& c) {
    QPalette p;
    p.setColor(QPalette::Window, c.window);
    p.setColor(QPalette::WindowText, c.text);
    p.setColor(QPalette::Base, c.surface);
    p.setColor(QPalette::AlternateBase, c.raised);
    p.setColor(QPalette::Text, c.text);
    p.setColor(QPalette::Button, c.raised);
    p.setColor(QPalette::ButtonText, c.text);
    p.setColor(QPalette::BrightText, c.bad);
    p.setColor(QPalette::Highlight, c.selection);
    p.setColor(QPalette::HighlightedText, c.text);
    p.setColor(QPalette::ToolTipBase, c.raised);
    p.setColor(QPalette::ToolTipText, c.text);
    p.setColor(QPalette::PlaceholderText, c.mutedText);
    p.setColor(QPalette::Link, c.accent);
    p.setColor(QPalette::LinkVisited, c.accent);
    p.setColor(QPalette::Light, c.surface);
    p.setColor(QPalette::Midlight, c.faintLine);
    p.setColor(QPalette::Mid, c.line);
    p.setColor(QPalette::Dark, c.line);
    p.setColor(QPalette::Shadow, c.line);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText}) {
        QColor faded = c.mutedText;
        faded.setAlpha(150);
        p.setColor(QPalette::Disabled, role, faded);
    }
    return p;
}

}  // namespace

Theme& Theme::instance() {
    static Theme theme;
    return theme;
}

// Setting a style sheet polishes every widget again, which takes longer than making them.
void Theme::setMode(Mode mode) {
    if (mode == mode_ && generation_ > 0) return;
    mode_ = mode;
    apply();
}

double presentingScale(const QSize& window) {
    const double halves = std::floor(2 * 1.5 * std::min(window.width() / 1920.0, window.height() / 1080.0));
    return std::clamp(halves / 2, 1.5, 4.0);
}

void Theme::setPresenter(bool large, const QSize& window) {
    const double scale = large ? presentingScale(window) : 1.0;
    if (large == presenter_ && scale == scale_ && generation_ > 0) return;
    presenter_ = large;
    scale_ = scale;
    apply();
}

namespace {

// Widgets that were never shown but have met a sheet take no font from their parents any more.
void inheritFont(QWidget& widget) {
    if (!widget.testAttribute(Qt::WA_SetFont)) widget.setFont({});
    for (QObject* child : widget.children())
        if (auto* inside = qobject_cast<QWidget*>(child); inside && !inside->isWindow()) inheritFont(*inside);
}

}  // namespace

void Theme::apply() {
    ++generation_;
    if (qApp) {
        QIcon::setThemeName(mode_ == Mode::Dark ? "breeze-dark" : "breeze");
        const QPalette palette = applicationPalette(colours());
        QApplication::setPalette(palette);
        QToolTip::setPalette(palette);
        // Qt updates a sheet that is there by polishing every widget once for each of its ancestors; taken off and
        // put on again, every widget is polished twice.
        qApp->setStyleSheet({});
        QApplication::setFont(font(FontRole::Body));
        QToolTip::setFont(font(FontRole::Body));
        for (QWidget* window : QApplication::topLevelWidgets()) inheritFont(*window);
        qApp->setStyleSheet(styleSheet(*this));
    }
    emit changed();
}

QFont Theme::font(FontRole role) const {
    static const FontFamilies families = loadFonts();
    QFont font(role == FontRole::Mono ? families.mono : families.text);
    const double pixels = role == FontRole::Small     ? 11
                          : role == FontRole::Title   ? 15
                          : role == FontRole::Display ? 24
                                                      : 13;
    font.setPixelSize(qRound(pixels * scale()));
    if (role == FontRole::Title || role == FontRole::Display) font.setWeight(QFont::DemiBold);
    if (role == FontRole::Mono) {
        font.setStyleHint(QFont::Monospace);
        font.setFixedPitch(true);
    }
    // Positions without hinting keep labels steady while the points glide.
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
}

void initialiseApplicationLook() {
    QStringList paths = QIcon::themeSearchPaths();
    for (const QString& path : {QStringLiteral("/usr/share/icons"), QStringLiteral("/usr/local/share/icons")}) {
        if (!paths.contains(path)) paths << path;
    }
    QIcon::setThemeSearchPaths(paths);
    QIcon::setFallbackThemeName("breeze");
    QApplication::setStyle(new ThemeStyle);
    QApplication::setEffectEnabled(Qt::UI_AnimateCombo, false);
    Theme::instance().setMode(Theme::instance().mode());
}

}  // namespace orrery::ui
