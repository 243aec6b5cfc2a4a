#include "widgets/plots/span_paint.h"

#include "widgets/common/theme.h"

#include <algorithm>

namespace orrery::ui {

QColor workColour(std::int32_t work) {
    const Theme& theme = Theme::instance();
    switch (work) {
        case SpanForward:
            return theme.operatorColour(OperatorKind::MatMul);
        case SpanBackward:
            return theme.operatorColour(OperatorKind::Attention);
        case SpanUpdate:
            return theme.operatorColour(OperatorKind::Elementwise);
        case SpanExchange:
            return theme.boundColour({BoundKind::Network, -1});
        default:
            return theme.boundColour({BoundKind::Overhead, -1});
    }
}

QColor pieceFill(const TimelinePiece& piece, QColor colour) {
    constexpr double faintest = 0.3;
    if (piece.count < 2) return colour;
    const auto length = static_cast<double>(std::max<std::int64_t>(piece.end - piece.start, 1));
    const double filled = std::clamp(static_cast<double>(piece.busy) / length, 0.0, 1.0);
    colour.setAlphaF(static_cast<float>(faintest + (1 - faintest) * filled));
    return colour;
}

}  // namespace orrery::ui
