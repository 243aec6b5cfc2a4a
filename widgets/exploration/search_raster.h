#pragma once

// The points of a search as dots, and the front with its intervals: drawn by plain code on any thread.

#include "widgets/evidence/plot_frame.h"

#include <QColor>
#include <QImage>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

class QPainter;

namespace orrery::ui {

enum class PointPlace : std::uint8_t { Beaten, Possible, Front, Broken };  ///< Broken: a constraint is not kept

/// The numbers of points along one axis; not above 0 or no number: the point is not drawn.
struct SearchAxis {
    QString name;
    TickText ticks = TickText::Number;
    std::vector<double> value, low, high;
    std::optional<double> drawn;  ///< of the question as it stands
    bool unsure = false;          ///< no interval is known
    /// By readied(): of what is drawn, with the intervals of the front; 0: nothing is.
    double least = 0, most = 0;
};

struct SearchPlotData {
    SearchAxis x, y;
    std::vector<PointPlace> places;
    std::vector<int> front;  ///< by readied(): those that are drawn, by x
    bool isDrawn(std::size_t i) const;
};
/// With what a plot would else have to look for at every point. Takes as long as there are points: not on the window's
/// thread.
std::shared_ptr<const SearchPlotData> readied(SearchPlotData data);

/// How dots are painted.
struct SearchFrame {
    QSize size;  ///< of the widget
    double ratio = 1, scale = 1;
    PlotAxis x, y;
    std::array<QColor, 4> dots;  ///< by PointPlace
    QColor bar;                  ///< intervals of the front
};
/// More points than that are squares of pixels, of which the last one wins.
inline constexpr std::size_t mostRoundDots = 20'000;

void paintCloud(QPainter& painter, const SearchPlotData& data, const SearchFrame& frame,
                const std::stop_token& stop = {});
void paintFront(QPainter& painter, const SearchPlotData& data, const SearchFrame& frame,
                const std::stop_token& stop = {});
/// The cloud alone, transparent where nothing is.
QImage cloudOfMany(const SearchPlotData& data, const SearchFrame& frame, const std::stop_token& stop = {});
/// Cloud and front. Whatever, once the stop token is set.
QImage pictureOf(const SearchPlotData& data, const SearchFrame& frame, const std::stop_token& stop);

}  // namespace orrery::ui
