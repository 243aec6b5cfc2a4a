#pragma once

#include "app/layout/protocol.h"

#include <optional>

namespace orrery::layout {

/// Lays out by Graphviz, which writes its stages to standard error. Nothing if it fails.
std::optional<Answer> layOut(const Request& request);

}  // namespace orrery::layout
