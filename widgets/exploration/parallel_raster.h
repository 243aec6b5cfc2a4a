#pragma once

// Many lines across parallel axes as one picture: how many lead through a pixel, and the mean of their colours. Plain
// code for any thread.

#include <QImage>
#include <QSize>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace orrery::ui {

struct RasterLines {
    std::size_t count = 0;
    std::vector<const float*> at;        ///< per axis: of each line 0 (bottom) to 1 (top); no number: not drawn
    const float* colour = nullptr;       ///< of each line 0 to 1
    const std::uint8_t* kept = nullptr;  ///< of each line: 0 grey, 1 in colour
};
struct RasterFrame {
    QSize size;             ///< pixels
    std::vector<double> x;  ///< of the axes, pixels
    double top = 0, bottom = 0;
    std::vector<QRgb> ramp;  ///< colours from 0 to 1
    QRgb grey = 0;
};
/// Transparent where no line is. A null image once the stop token is set.
QImage rasterOf(const RasterLines& lines, const RasterFrame& frame, const std::stop_token& stop);

}  // namespace orrery::ui
