#pragma once

// Machine code as people paste it, and from a byte of it back to the place in the text.

#include <QString>

namespace orrery::app {

/// The same text, character for character, with what stands around the digits as blanks: `0x`, `\x`, commas, and all
/// behind `#`, `;` or `//` until the line's end. Offsets of a `0x80:` or `80:` at a line's beginning go too.
QString plainHex(const QString& text);
/// Where the digits of a byte begin in such a text; its length if it has fewer bytes.
qsizetype positionOfByte(const QString& plain, qsizetype byte);

}  // namespace orrery::app
