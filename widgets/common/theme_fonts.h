#pragma once

#include <QByteArray>
#include <QString>

namespace orrery::ui {

struct FontFamilies {
    QString text;  ///< Inter with tabular figures; the system's family if Inter is not installed
    QString mono;
};

/// Registers the fonts with the application. Needs a QGuiApplication.
FontFamilies loadFonts();

/// A copy of an OpenType font in which tabular figures (`tnum`) are on by default, under another family name of the
/// same length; empty if the font has none. Qt before 6.7 cannot ask for a font feature, but its shaper always applies
/// `rclt`, so the feature is renamed.
QByteArray withTabularFigures(const QByteArray& font, const QString& family, const QString& newFamily);

}  // namespace orrery::ui
