#include "widgets/exploration/parallel_raster.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

struct Density {
    std::vector<float> lines, colours;  ///< per pixel: how many, and the sum of their colours
};

// Looked at so often that a stop is felt at once.
constexpr std::size_t stride = 2048;

void addLines(Density& density, const RasterLines& lines, const RasterFrame& frame, std::uint8_t wanted,
              const std::stop_token& stop) {
    const int width = frame.size.width(), height = frame.size.height();
    const double span = frame.bottom - frame.top;
    for (std::size_t a = 0; a + 1 < frame.x.size(); ++a) {
        const int from = std::max(0, static_cast<int>(std::lround(frame.x[a])));
        const int to = std::min(width - 1, static_cast<int>(std::lround(frame.x[a + 1])));
        if (to <= from) continue;
        for (std::size_t i = 0; i < lines.count; ++i) {
            if (i % stride == 0 && stop.stop_requested()) return;
            if (lines.kept[i] != wanted) continue;
            const float left = lines.at[a][i], right = lines.at[a + 1][i];
            if (std::isnan(left) || std::isnan(right)) continue;
            double y = frame.bottom - static_cast<double>(left) * span;
            const double end = frame.bottom - static_cast<double>(right) * span;
            const double slope = (end - y) / (to - from);
            const float colour = lines.colour[i];
            // A steep line leaves no gaps: of each column all rows up to the next one's.
            for (int x = from; x < to; ++x, y += slope) {
                int low = static_cast<int>(y), high = static_cast<int>(y + slope);
                if (low > high) std::swap(low, high);
                if (high > low) --high;
                low = std::clamp(low, 0, height - 1);
                high = std::clamp(high, 0, height - 1);
                for (int row = low; row <= high; ++row) {
                    const auto at =
                        static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
                    density.lines[at] += 1;
                    density.colours[at] += colour;
                }
            }
        }
    }
}

}  // namespace

QImage rasterOf(const RasterLines& lines, const RasterFrame& frame, const std::stop_token& stop) {
    const int width = frame.size.width(), height = frame.size.height();
    if (width <= 0 || height <= 0) return {};
    const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    Density grey{std::vector<float>(pixels), std::vector<float>(pixels)};
    Density kept{std::vector<float>(pixels), std::vector<float>(pixels)};
    addLines(grey, lines, frame, 0, stop);
    addLines(kept, lines, frame, 1, stop);
    if (stop.stop_requested()) return {};
    std::size_t coloured = 0;
    for (std::size_t i = 0; i < lines.count; ++i) coloured += lines.kept[i];
    // The more lines, the fainter each: what many share stands out.
    const auto faint = [](std::size_t count) {
        return std::clamp(900.0 / (static_cast<double>(count) + 1), 0.02, 0.6);
    };
    const double one = std::log1p(-faint(coloured)), dim = std::log1p(-0.5 * faint(lines.count - coloured));
    QImage image(frame.size, QImage::Format_ARGB32_Premultiplied);
    for (int row = 0; row < height; ++row) {
        if (stop.stop_requested()) return {};
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(row));
        for (int x = 0; x < width; ++x) {
            const auto at =
                static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
            if (const float n = kept.lines[at]; n > 0) {
                const auto index = static_cast<std::size_t>(std::clamp(kept.colours[at] / n, 0.0F, 1.0F) *
                                                            static_cast<float>(frame.ramp.size() - 1));
                const QRgb colour = frame.ramp[index];
                const int alpha = static_cast<int>(255 * (1 - std::exp(one * n)));
                line[x] = qPremultiply(qRgba(qRed(colour), qGreen(colour), qBlue(colour), alpha));
            } else if (const float g = grey.lines[at]; g > 0) {
                const int alpha = static_cast<int>(110 * (1 - std::exp(dim * g)));
                line[x] = qPremultiply(qRgba(qRed(frame.grey), qGreen(frame.grey), qBlue(frame.grey), alpha));
            } else {
                line[x] = 0;
            }
        }
    }
    return image;
}

}  // namespace orrery::ui
