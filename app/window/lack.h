#pragma once

// What the question of the window still lacks, and the way to it: pages and views that are empty offer the same.

#include <QString>

namespace orrery::app {

class Document;
class Studio;

/// Numbers: methods are chosen, and the drawing has parts without the numbers that they need.
enum class Lack { Everything, Device, Model, Methods, Numbers };

Lack lackOf(const Document& document);
QString offerFor(Lack lack);             ///< what the button of an empty view says: `Choose a device`
/// What it does: brings the gallery, the library or the list of methods, or gives the drawing usual numbers.
void fillIn(Studio& studio, Lack lack);

}  // namespace orrery::app
