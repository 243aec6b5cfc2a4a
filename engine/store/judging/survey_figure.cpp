#include "store/judging/survey_figure.h"

#include "evaluation/survey/survey_export.h"
#include "store/judging/svg_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using store::SvgPage;

constexpr double letters = 8.5;                     // pixels
constexpr double leastShown = 0.01, mostShown = 3;  // mean errors at the ends of a cell
constexpr double nameWide = 82, narrowest = 76, headHigh = 28, lineHigh = 26, footHigh = 26;

double placeOf(double error, double from, double wide) {
    const double share =
        std::log(std::clamp(error, leastShown, mostShown) / leastShown) / std::log(mostShown / leastShown);
    return from + 9 + share * (wide - 18);
}

/// A word over a column: cut where it is wider.
std::string fitted(std::string word, double wide, double size) {
    if (store::textWidth(word, size) <= wide) return word;
    while (word.size() > 1 && store::textWidth(word + "…", size) > wide) {
        do {
            word.pop_back();
        } while (!word.empty() && (static_cast<unsigned char>(word.back()) & 0xC0) == 0x80);
    }
    return word + "…";
}

void cell(SvgPage& page, const SurveyCell& cell, std::string_view colour, std::span<const MatrixEntry> entries,
          std::string_view where, double x, double y, double wide) {
    const double middle = y + lineHigh / 2;
    if (cell.marks.empty()) {
        page.tip(fmt::format("{}: {}", where, cell.missing));
        page.box(x + 1, y + 1, wide - 2, lineHigh - 2, store::faintColour, 0.5);
        return page.text(x + wide / 2, middle + 3, "–", letters, store::mutedColour, "middle");
    }
    page.line(x + 5, middle, x + wide - 5, middle, store::lineColour, 1);
    for (const double tick : {0.01, 0.1, 1.0}) {
        const double at = placeOf(tick, x, wide);
        page.line(at, middle - 3.5, at, middle + 3.5, store::lineColour, 1);
    }
    // The best on top.
    for (auto mark = cell.marks.rbegin(); mark != cell.marks.rend(); ++mark) {
        page.tip(fmt::format("{}, {}: mean error {}, {} rows{}", entries[mark->entry].asked, where,
                             surveyPercent(mark->mape), mark->which.size(), mark->simulated ? " of a simulation" : ""));
        page.circle(placeOf(mark->mape, x, wide), middle, 3.4, mark->simulated ? "#ffffff" : colour,
                    mark->simulated ? colour : "#ffffff", mark->simulated ? 1.4 : 0.9);
    }
}

}  // namespace

std::string surveySvg(const SurveyTable& table, std::span<const MatrixEntry> entries, double width) {
    const std::size_t columns = table.columns.size();
    const auto across = std::clamp<std::size_t>(static_cast<std::size_t>((width - nameWide) / narrowest), 1,
                                                std::max<std::size_t>(columns, 1));
    const std::size_t bands = std::max<std::size_t>(1, (columns + across - 1) / across);
    // Bands of like width.
    const std::size_t each = (columns + bands - 1) / bands;
    const double wide = (width - nameWide - 4) / static_cast<double>(std::max<std::size_t>(each, 1));
    const double bandHigh = headHigh + lineHigh * static_cast<double>(surveyed().size()) + 6;
    const double height = bandHigh * static_cast<double>(bands) + footHigh;
    SvgPage page(width, height, fmt::format("Survey: methodologies by {}", toText(table.by)));
    for (std::size_t band = 0; band < bands; ++band) {
        const double top = bandHigh * static_cast<double>(band);
        for (std::size_t c = band * each; c < std::min(columns, (band + 1) * each); ++c) {
            const double x = nameWide + wide * static_cast<double>(c - band * each);
            page.tip(table.columns[c]);
            page.box(x, top, wide, headHigh, "#ffffff", 0);
            page.text(x + wide / 2, top + 11, fitted(table.columns[c], wide - 4, letters), letters, store::inkColour,
                      "middle", true);
            page.text(x + wide / 2, top + 22, fmt::format("{} rows", table.rows[c]), letters - 1, store::mutedColour,
                      "middle");
            for (std::size_t line = 0; line < table.cells.size(); ++line) {
                const Methodology methodology = surveyed()[line];
                cell(page, table.cells[line][c], store::methodologyColour(static_cast<int>(methodology)), entries,
                     fmt::format("{}, {}", toText(methodology), table.columns[c]), x,
                     top + headHigh + lineHigh * static_cast<double>(line), wide);
            }
        }
        for (std::size_t line = 0; line < table.cells.size(); ++line) {
            const double y = top + headHigh + lineHigh * static_cast<double>(line);
            page.line(2, y, width - 2, y, store::faintColour, 1);
            page.box(2, y + lineHigh / 2 - 3.5, 7, 7, store::methodologyColour(static_cast<int>(surveyed()[line])));
            page.text(13, y + lineHigh / 2 + 3, toText(surveyed()[line]), letters, store::inkColour);
        }
    }
    const double small = std::min(letters - 0.5, width / 62);
    page.text(2, height - 14, "A cell runs from 1 % mean error (left) over 10 and 100 to 300 %; one dot per method.",
              small, store::mutedColour);
    page.text(2, height - 4, "Hollow: its truth is simulated. –: no method that rows judge.", small,
              store::mutedColour);
    return page.finish();
}

}  // namespace orrery
