#pragma once

// What the question of the window still lacks, and the way to it: pages and views that are empty offer the same.

#include <QString>

namespace orrery::app {

class Document;
class Studio;

enum class Lack { Everything, Device, Model, Methods };

Lack lackOf(const Document& document);
QString offerFor(Lack lack);             ///< what the button of an empty view says: `Choose a device`
void fillIn(Studio& studio, Lack lack);  ///< what it does: brings the gallery, the library or the list of methods

}  // namespace orrery::app
