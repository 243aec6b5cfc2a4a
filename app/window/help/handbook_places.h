#pragma once

// Which page of the handbook is about which part of the window.

#include <QString>

class QWidget;

namespace orrery::app {

/// Folder of the pages: beside the presets, as installed or in the source tree.
QString handbookFolder();
/// `serving.md#a-file` of a page of the window or of a panel, by its id; empty for one that is not known.
QString handbookOf(const QString& id);
/// Of what stands around the widget: its panel, else its page; empty where nothing does.
QString handbookOf(const QWidget* widget);

}  // namespace orrery::app
