#pragma once

// Every colour, size and font of the studio, as tokens, in light and dark. No view names a colour of its own.

#include "base/dtype.h"
#include "hardware/component.h"
#include "methods/estimate.h"
#include "workload/graph.h"

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QObject>
#include <QSize>
#include <QString>

#include <algorithm>

namespace orrery::ui {

enum class Mode { Light, Dark };
enum class FontRole { Small, Body, Title, Display, Mono };  ///< 11, 13, 15 and 24 px; the monospace is body-sized

struct Palette {
    QColor window;              ///< behind panels
    QColor surface;             ///< canvases, plots, tables, line edits
    QColor raised;              ///< headers, hovered rows, cards, tool tips
    QColor line;                ///< borders
    QColor faintLine;           ///< grids, separators
    QColor text;                ///< on any of window, surface, raised, selection
    QColor mutedText;           ///< the same, for what is secondary
    QColor accent;              ///< focus, links, the primary button; readable as text
    QColor accentText;          ///< on accent
    QColor selection;           ///< background of what is selected
    QColor good, warning, bad;  ///< state only; readable as text
};

/// WCAG 2.1 contrast ratio of two opaque colours, 1…21.
double contrastRatio(const QColor& a, const QColor& b);

/// By how much a projector's type is larger than usual in a window of so many pixels: half as large again up to
/// 1920×1080, and in steps of a half more where the same picture has more pixels, so that the back row reads as much.
double presentingScale(const QSize& window);
/// How much wider a form is than in ordinary type, where it has room to spare: it grows from where that is used up.
inline double formGrowth(double scale) {
    return std::max(1.0, 0.84 * scale);
}

class Theme : public QObject {
    Q_OBJECT
public:
    static Theme& instance();

    Mode mode() const { return mode_; }
    void setMode(Mode mode);  ///< applies palette, style sheet and icon theme to the application; emits changed()
    bool presenter() const { return presenter_; }
    /// The Teach layout: larger type, same tokens. `window`: what is shown, in pixels; type keeps its share of it.
    void setPresenter(bool large, const QSize& window = {});
    bool animated() const { return animated_; }
    void setAnimated(bool on) { animated_ = on; }
    int glideMilliseconds() const { return animated_ ? 150 : 0; }  ///< how long things take to their new place

    /// Counts the changes of look: what is derived from fonts and colours may be kept while it stays the same.
    int generation() const { return generation_; }
    const Palette& colours() const;
    QFont font(FontRole role) const;  ///< Inter with tabular figures; the monospace for shapes and YAML
    int unit() const { return 8; }    ///< the grid
    double scale() const { return scale_; }  ///< by which type and marks grow for a projector

    QColor operatorColour(OperatorKind kind) const;  ///< Okabe–Ito, the same hue in every view
    QColor methodColour(int index) const;            ///< by order in the method set
    QColor levelColour(int level) const;             ///< memory levels, 0 the outermost
    QColor boundColour(Bound bound) const;           ///< what limits: compute, a memory level, overhead, network
    QColor kindColour(ComponentKind kind) const;     ///< hue of a component: memories warm, compute blue, networks purple
    QColor heat(double zeroToOne) const;             ///< cividis
    QColor divergingHeat(double minusOneToOne) const;  ///< blue, the surface's grey, vermilion: less, same, more
    QColor inkOn(const QColor& fill) const;          ///< black or white, whichever reads better on a fill
    /// Breeze, matching the mode: `document-open`. Where the theme lacks it, a plain glyph with the name's first
    /// letter.
    QIcon icon(const QString& name) const;

signals:
    void changed();

private:
    Theme() = default;
    void apply();

    Mode mode_ = Mode::Light;
    bool presenter_ = false;
    double scale_ = 1;
    bool animated_ = true;
    int generation_ = 0;
};

/// Fonts, Fusion style, Breeze icons; once, before the first window.
void initialiseApplicationLook();

}  // namespace orrery::ui
