#pragma once

#include <QString>

#include <string_view>

namespace orrery::ui {

/// The engine's words for a window: the marks that set names apart on a terminal are left out.
QString windowText(std::string_view text);

}  // namespace orrery::ui
