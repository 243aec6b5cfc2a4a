#pragma once

// Every colour, size and font of the studio, as tokens, in light and dark. No view names a colour of its own.

#include "base/dtype.h"
#include "methods/estimate.h"
#include "workload/graph.h"

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QObject>
#include <QString>

namespace orrery::ui {

enum class Mode { Light, Dark };
enum class FontRole { Small, Body, Title, Display, Mono };  ///< four sizes in all, one monospace

struct Palette {
    QColor window, surface, raised, line, faintLine, text, mutedText, accent, accentText, selection, good, warning, bad;
};

class Theme : public QObject {
    Q_OBJECT
public:
    static Theme& instance();

    Mode mode() const { return mode_; }
    void setMode(Mode mode);  ///< applies palette, style sheet and icon theme to the application; emits changed()
    bool presenter() const { return presenter_; }
    void setPresenter(bool large);  ///< the Teach layout: larger type, same tokens
    bool animated() const { return animated_; }
    void setAnimated(bool on) { animated_ = on; }

    const Palette& colours() const;
    QFont font(FontRole role) const;  ///< Inter with tabular figures; the monospace for shapes and YAML
    int unit() const { return 8; }    ///< the grid

    QColor operatorColour(OperatorKind kind) const;  ///< Okabe–Ito, the same hue in every view
    QColor methodColour(int index) const;            ///< by order in the method set
    QColor levelColour(int level) const;
    QColor heat(double zeroToOne) const;    ///< cividis
    QIcon icon(const QString& name) const;  ///< Breeze, matching the mode; `document-open`

signals:
    void changed();

private:
    Theme() = default;
    Mode mode_ = Mode::Light;
    bool presenter_ = false;
    bool animated_ = true;
};

/// Fonts, Fusion style, Breeze icons; once, before the first window.
void initialiseApplicationLook();

}  // namespace orrery::ui
