#include "store/judging/judging_figures.h"

#include "base/unit.h"
#include "evaluation/tool_claims.h"
#include "store/judging/svg_page.h"
#include "store/report/report_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace orrery {

namespace {

using store::Box;
using store::Disc;
using store::SvgPage;

constexpr double small = 8.5, normal = 9.5;  // of letters, pixels
constexpr double leastError = 1e-4, noSamples = 0.5, leastCoverage = 0.85;

constexpr std::string_view costUnknown = "not stated";

struct Dot {
    const JudgedEntry* entry;
    double cost;  // 0: not known
    double error;
    bool simulated;
    bool faint = false;  ///< not compared: on its own rows
    double x = 0, y = 0;
};

/// A method's name in the room that there is: options may hold paths. Tips have it whole.
std::string fitted(const std::string& name, double size, double room) {
    std::string text = name;
    while (!text.empty() && store::textWidth(text.size() < name.size() ? text + "…" : text, size) > room) {
        do text.pop_back();
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U);
        if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.pop_back();
    }
    return text.size() < name.size() ? text + "…" : text;
}

/// What is written beside a mark.
struct Name {
    double x, y;
    std::string text;
    std::string_view colour;
};

bool simulatedTruth(const Judged& judged, const JudgedEntry& entry) {
    const auto& rows = entry.compared && !judged.common.empty() ? judged.common : entry.evaluation->rows.ref;
    return std::any_of(rows.begin(), rows.end(), [&](RowRef ref) {
        return (*judged.tables)[static_cast<std::size_t>(ref.table)].kind == ReferenceKind::Simulated;
    });
}

bool states(const JudgedEntry& entry) {
    const EvaluatedRows& rows = entry.evaluation->rows;
    return !std::equal(rows.low.begin(), rows.low.end(), rows.high.begin(), rows.high.end());
}

struct Decades {
    int low, high;
    double from, to;  // pixels of the two
    double at(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
};

Decades decades(double low, double high, double from, double to) {
    const int first = static_cast<int>(std::floor(std::log10(low) - 0.05)),
              last = static_cast<int>(std::ceil(std::log10(high) + 0.05));
    return {first, std::max(last, first + 1), from, to};
}

void mark(SvgPage& page, double x, double y, MethodLevel level, std::string_view fill, std::string_view stroke,
          double width) {
    constexpr double r = 4.2;
    switch (level) {
        case MethodLevel::Kernel:
            return page.circle(x, y, r, fill, stroke, width);
        case MethodLevel::Model:
            return page.polygon({{x - 0.9 * r, y - 0.9 * r},
                                 {x + 0.9 * r, y - 0.9 * r},
                                 {x + 0.9 * r, y + 0.9 * r},
                                 {x - 0.9 * r, y + 0.9 * r}},
                                fill, stroke, width);
        case MethodLevel::System:
            return page.polygon({{x, y - 1.2 * r}, {x + 1.1 * r, y + 0.8 * r}, {x - 1.1 * r, y + 0.8 * r}}, fill,
                                stroke, width);
    }
}

/// Names beside their own marks, or away from them with a line back; the first have the first choice.
void names(SvgPage& page, const std::vector<Name>& all, Box area) {
    std::vector<Disc> discs;
    for (const Name& each : all) discs.push_back({each.x, each.y, 6});
    store::LabelPlaces places(area, discs, {}, {});
    for (const Name& dot : all) {
        const std::string& name = dot.text;
        const double wide = store::textWidth(name, small) + 3, high = small + 2;
        std::vector<Box> tried{{dot.x + 8, dot.y - high / 2, wide, high},
                               {dot.x - 8 - wide, dot.y - high / 2, wide, high}};
        const std::size_t beside = tried.size();
        for (int ring = 1; ring < 14; ++ring) {
            for (const double across : {8.0, -8.0 - wide, -wide / 2}) {
                for (const double way : {1.0, -1.0})
                    tried.push_back({dot.x + across, dot.y - high / 2 + way * ring * (high + 1), wide, high});
            }
        }
        const auto free = places.firstFree(tried);
        if (!free) continue;
        const bool near = std::any_of(tried.begin(), tried.begin() + static_cast<std::ptrdiff_t>(beside),
                                      [&](const Box& box) { return box.x == free->x && box.y == free->y; });
        if (!near) {
            page.line(dot.x, dot.y, std::clamp(dot.x, free->x, free->x + wide),
                      free->y > dot.y ? free->y : free->y + high, store::mutedColour, 0.6);
        }
        page.box(free->x, free->y, wide - 1, high, "#ffffff", 0.72);
        page.text(free->x + 1, free->y + high - 2.5, name, small, dot.colour);
    }
}

/// Of a methodology's colour, what is left of it beside those that are compared.
std::string paler(std::string_view colour) {
    std::string out = "#";
    for (std::size_t at = 1; at + 1 < colour.size(); at += 2) {
        int value = 0;
        std::from_chars(colour.data() + at, colour.data() + at + 2, value, 16);
        out += fmt::format("{:02x}", 255 - (255 - value) * 2 / 5);
    }
    return out;
}

/// The base of its last line.
double legend(SvgPage& page, const std::vector<Dot>& dots, double x, double y, double right, bool published) {
    const double begin = x;
    const auto word = [&](std::string_view text, double before) {
        page.text(x + before, y, text, small, store::mutedColour);
        x += before + store::textWidth(text, small) + 10;
    };
    const auto fits = [&](std::string_view text) {
        if (x + 12 + store::textWidth(text, small) > right) x = begin, y += 12;
    };
    std::set<Methodology> kinds;
    std::set<MethodLevel> levels;
    bool hollow = false, halo = false, faint = false;
    for (const Dot& dot : dots) {
        faint = faint || dot.faint;
        kinds.insert(dot.entry->card->methodology);
        levels.insert(dot.entry->card->level);
        hollow = hollow || dot.simulated;
        halo = halo || (states(*dot.entry) && dot.entry->figures().coverage90 < leastCoverage);
    }
    for (const Methodology kind : kinds) {
        fits(toText(kind));
        page.box(x, y - 6.5, 7, 7, store::methodologyColour(static_cast<int>(kind)));
        word(toText(kind), 10);
    }
    for (const MethodLevel level : levels) {
        fits(toText(level));
        mark(page, x + 4, y - 3, level, "#ffffff", store::mutedColour, 1);
        word(toText(level), 11);
    }
    if (hollow) {
        fits("simulated truth");
        page.circle(x + 4, y - 3, 4, "#ffffff", store::methodologyColour(0), 1.6);
        word("simulated truth", 11);
    }
    if (halo) {
        fits("inside 90 % too rarely");
        page.circle(x + 4, y - 3, 5, "none", "#a86400", 1.2, "1.5 1.5");
        word("inside 90 % too rarely", 12);
    }
    if (faint) {
        fits("* on its own rows, not compared");
        page.circle(x + 4, y - 3, 4, paler(store::methodologyColour(0)), "#ffffff", 1);
        word("* on its own rows, not compared", 11);
    }
    if (published) {
        fits("published by others, other rows");
        page.line(x + 1, y - 6, x + 7, y, store::mutedColour, 1);
        page.line(x + 1, y, x + 7, y - 6, store::mutedColour, 1);
        word("published by others, other rows", 11);
    }
    return y;
}

std::string fitText(const MethodFacts& facts) {
    if (!facts.fitting || facts.samples == 0) return {};
    return fmt::format(", fits in {}", format(*facts.fitting, 2));
}

std::string plane(const Judged& judged, double width, bool setUp) {
    std::vector<Dot> dots;
    const auto add = [&](const JudgedEntry& entry) {
        const EvaluationFigures& figures = entry.figures();
        const double samples = entry.facts.samples ? std::max(static_cast<double>(*entry.facts.samples), noSamples) : 0;
        dots.push_back({&entry, setUp ? samples : figures.secondsPerAnswer, std::max(figures.errors.mape, leastError),
                        simulatedTruth(judged, entry), !entry.compared});
    };
    for (const std::size_t i : judged.ranking) add(judged.entries[i]);
    for (const JudgedEntry& entry : judged.entries)
        if (!entry.compared && entry.evaluation && entry.own.errors.rows > 0) add(entry);
    const bool published = judged.question.published && !setUp;
    // A narrow figure has a higher legend, and its plane is no lower for that.
    constexpr double legendTop = 12;
    SvgPage measured(width, 0, {});
    const double top = std::max(24.0, legend(measured, dots, 10, legendTop, width - 8, published)) + 10;
    const double height = std::clamp(width * 0.72, 260.0, 430.0) + top - 34;
    SvgPage page(width, height,
                 fmt::format("{}: error against {}", judged.question.name,
                             setUp ? "measured rows fitted to" : "cost of an answer"));
    // Who does not say what it costs stands in a column of its own, beyond the axis.
    const bool unknown = std::any_of(dots.begin(), dots.end(), [](const Dot& dot) { return !(dot.cost > 0); });
    const double column = unknown ? store::textWidth(costUnknown, small) + 10 : 0;
    const Box area{46, top, width - 46 - 10, height - top - 34};
    const double right = area.x + area.w - column;
    if (dots.empty()) {
        page.text(width / 2, height / 2, "No method predicts these rows", normal, store::mutedColour, "middle");
        return page.finish();
    }
    double low = 1e300, high = 0, cheap = 1e300, dear = 0;
    for (const Dot& dot : dots) {
        const EvaluationFigures& figures = dot.entry->figures();
        low = std::min({low, dot.error, std::max(figures.errors.medianError, leastError)});
        high = std::max({high, dot.error, figures.errors.p90Error});
        if (!(dot.cost > 0)) continue;
        const bool spread = !setUp && figures.secondsLow > 0;
        cheap = std::min(cheap, spread ? figures.secondsLow : dot.cost);
        dear = std::max(dear, spread ? figures.secondsHigh : dot.cost);
    }
    if (!(dear > 0)) cheap = setUp ? 1 : 1e-6, dear = setUp ? 100 : 1e-3;
    if (published) {
        for (const Claim& claim : shippedClaims().all) {
            low = std::min(low, claim.error);
            high = std::max(high, claim.error);
            if (claim.seconds > 0) dear = std::max(dear, claim.seconds);
        }
    }
    const Decades x = decades(cheap, dear, area.x, right), y = decades(low, high, area.y + area.h, area.y);
    const auto tick = [&](int d) {
        if (!setUp) return store::decadeOfTime(d);
        return d < 0 ? std::string("none") : fmt::format("{:g}", std::pow(10.0, d));
    };
    // Where decades are narrow, every second or third is named.
    double widest = 0, taken = -1e300;
    for (int d = x.low; d <= x.high; ++d) widest = std::max(widest, store::textWidth(tick(d), small));
    const int every = static_cast<int>(std::ceil((widest + 6) * (x.high - x.low) / (right - area.x)));
    for (int d = x.low; d <= x.high; ++d) {
        const double at = x.at(std::pow(10.0, d));
        page.line(at, area.y, at, area.y + area.h, store::faintColour, 1);
        const std::string text = tick(d);
        const double half = store::textWidth(text, small) / 2, centre = std::min(at, width - 2 - half);
        if ((d - x.low) % every != 0 || centre - half < taken + 4) continue;
        if (unknown && centre + half > right + 4) continue;
        taken = centre + half;
        page.text(centre, area.y + area.h + 13, text, small, store::mutedColour, "middle");
    }
    if (unknown) {
        page.line(right + 3, area.y, right + 3, area.y + area.h, store::lineColour, 1, "2 3");
        page.text(right + column / 2 + 2, area.y + area.h + 13, costUnknown, small, store::mutedColour, "middle");
    }
    for (int d = y.low; d <= y.high; ++d) {
        const double at = y.at(std::pow(10.0, d));
        page.line(area.x, at, area.x + area.w, at, store::faintColour, 1);
        page.text(area.x - 5, at + 3, store::decadeOfError(d), small, store::mutedColour, "end");
    }
    page.line(area.x, area.y, area.x, area.y + area.h, store::lineColour, 1);
    page.line(area.x, area.y + area.h, area.x + area.w, area.y + area.h, store::lineColour, 1);
    page.text(area.x + area.w / 2, height - 6, setUp ? "measured rows fitted to" : "time of one answer", normal,
              store::inkColour, "middle");
    page.text(11, area.y + area.h / 2, "mean error", normal, store::inkColour, "middle", false, -90);
    for (Dot& dot : dots) dot.x = dot.cost > 0 ? x.at(dot.cost) : right + column / 2 + 2, dot.y = y.at(dot.error);

    // What no other of its equals beats in both; nothing where errors are of different rows.
    std::vector<CostedError> costed;
    const bool comparable = onSameRows(judged);
    for (const Dot& dot : dots)
        costed.push_back({dot.cost, dot.error, dot.entry->common.group, dot.faint || !comparable || !(dot.cost > 0)});
    if (!comparable)
        page.text(area.x + area.w, height - 6, "No front: every method uses its own rows", small,
                  store::mutedColour, "end");
    for (const auto& members : frontsOf(costed)) {
        if (members.size() < 2) continue;
        std::vector<std::pair<double, double>> front;
        std::size_t longest = 0;
        for (const std::size_t i : members) {
            if (!front.empty()) front.emplace_back(dots[i].x, front.back().second);
            front.emplace_back(dots[i].x, dots[i].y);
        }
        for (std::size_t i = 0; i + 1 < front.size(); i += 2)
            if (front[i + 1].first - front[i].first > front[longest + 1].first - front[longest].first) longest = i;
        page.polyline(front, store::mutedColour, 1, "4 3");
        if (judged.groups > 1)
            page.text((front[longest].first + front[longest + 1].first) / 2, front[longest].second - 3,
                      groupLetter(dots[members.front()].entry->common.group), small, store::mutedColour, "middle");
    }
    std::vector<const Dot*> order;
    for (const Dot& dot : dots)
        if (!dot.faint && dot.cost > 0) order.push_back(&dot);
    std::stable_sort(order.begin(), order.end(), [](const Dot* a, const Dot* b) {
        return std::pair(a->cost, a->error) < std::pair(b->cost, b->error);
    });
    std::map<std::string_view, std::vector<const Dot*>> families;
    for (const Dot* dot : order) families[dot->entry->card->id].push_back(dot);
    for (const auto& [id, members] : families) {
        std::vector<std::pair<double, double>> line;
        for (const Dot* dot : members) line.emplace_back(dot->x, dot->y);
        if (line.size() > 1)
            page.polyline(line, store::methodologyColour(static_cast<int>(members.front()->entry->card->methodology)),
                          1.2);
    }
    std::vector<Name> labels;
    for (const Dot& dot : dots)
        labels.push_back({dot.x, dot.y,
                          fitted(dot.entry->asked, normal, 0.3 * width) + (dot.faint ? " *" : "") +
                              (setUp ? fitText(dot.entry->facts) : ""),
                          dot.faint ? store::mutedColour : store::inkColour});
    if (published) {
        for (const Claim& claim : shippedClaims().all) {
            const double beyond = unknown ? right + column / 2 + 2 : area.x + area.w - 5;
            const double cx = claim.seconds > 0 ? x.at(claim.seconds) : beyond, cy = y.at(claim.error);
            page.line(cx - 3, cy - 3, cx + 3, cy + 3, store::mutedColour, 1);
            page.line(cx - 3, cy + 3, cx + 3, cy - 3, store::mutedColour, 1);
            // A place to point at: strokes are too thin.
            page.tip(fmt::format("{}: {:.1f} % {} ({})", claim.tool, 100 * claim.error, claim.what, claim.source));
            page.box(cx - 5, cy - 5, 10, 10, "#ffffff", 0);
            labels.push_back({cx, cy, claim.tool, store::mutedColour});
        }
    }
    for (const Dot& dot : dots) {
        const EvaluationFigures& figures = dot.entry->figures();
        const std::string full(store::methodologyColour(static_cast<int>(dot.entry->card->methodology)));
        const std::string colour = dot.faint ? paler(full) : full;
        const auto at = [&](double error) { return y.at(std::max(error, leastError)); };
        page.line(dot.x, at(figures.errors.medianError), dot.x, at(figures.errors.p90Error), colour, 3, {}, true, 0.4);
        if (!setUp && figures.secondsLow > 0) {
            page.line(x.at(figures.secondsLow), dot.y, x.at(figures.secondsHigh), dot.y, colour, 1.4, {}, true);
        }
        if (dot.entry->compared && dot.entry->common.mapeHigh > 0) {
            for (const double end : {dot.entry->common.mapeLow, dot.entry->common.mapeHigh})
                page.line(dot.x - 6, at(end), dot.x + 6, at(end), store::inkColour, 1);
        }
        if (states(*dot.entry) && figures.coverage90 < leastCoverage)
            page.circle(dot.x, dot.y, 8.5, "none", "#a86400", 1.2, "1.5 1.5");
        page.tip(fmt::format("{}: mean error {:.1f} %, median {:.1f} %, 90th percentile {:.1f} %, {} rows{}",
                             dot.entry->title, 100 * figures.errors.mape, 100 * figures.errors.medianError,
                             100 * figures.errors.p90Error, figures.errors.rows, dot.faint ? " of its own" : ""));
        mark(page, dot.x, dot.y, dot.entry->card->level, dot.simulated ? "#ffffff" : colour,
             dot.simulated ? colour : "#ffffff", dot.simulated ? 1.6 : 1);
    }
    names(page, labels, area);
    legend(page, dots, 10, legendTop, width - 8, published);
    return page.finish();
}

/// Blue where too short, orange where too long, full at a factor of two.
std::pair<std::string_view, double> tint(double median) {
    const double strength = std::min(1.0, std::fabs(std::log2(std::max(1 + median, 1e-3))));
    return {median < 0 ? "#0072b2" : "#d55e00", 0.04 + 0.5 * strength};
}

}  // namespace

std::string planeSvg(const Judged& judged, double width) {
    return plane(judged, width, false);
}

std::string setUpSvg(const Judged& judged, double width) {
    return plane(judged, width, true);
}

std::string matrixSvg(const Judged& judged, double width) {
    const MethodMatrix& matrix = judged.matrix;
    // Methods that answer none of these rows fill no line.
    std::vector<std::size_t> lines;
    for (const std::size_t m : matrix.order) {
        const auto& cells = matrix.cells[m];
        if (std::any_of(cells.begin(), cells.end(),
                        [](const MatrixCell& cell) { return cell.state == MatrixCell::State::Judged; }))
            lines.push_back(m);
    }
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < matrix.columns.size(); ++c)
        if (matrix.columns[c].asked > 0) columns.push_back(c);
    double nameWidth = 60;
    for (const std::size_t m : lines)
        nameWidth = std::max(nameWidth, store::textWidth(judged.entries[m].asked, small) + 14);
    nameWidth = std::min(nameWidth, width * 0.42);
    constexpr double line = 26, head = 30;
    std::set<Methodology> kinds;
    for (const std::size_t m : lines) kinds.insert(judged.entries[m].card->methodology);
    const double height = head + line * static_cast<double>(lines.size()) + 14 * static_cast<double>(kinds.size()) + 28;
    SvgPage page(width, height, fmt::format("{}: methods by {}", judged.question.name, toText(matrix.by)));
    const double wide = columns.empty() ? 0 : (width - nameWidth - 8) / static_cast<double>(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const MatrixColumn& column = matrix.columns[columns[k]];
        const double middle = nameWidth + wide * (static_cast<double>(k) + 0.5);
        page.text(middle, 12, column.word, wide < 62 ? small - 1.5 : small, store::inkColour, "middle", true);
        page.text(middle, 23, fmt::format("{} rows", column.asked), small - 1, store::mutedColour, "middle");
    }
    double y = head;
    std::optional<Methodology> before;
    for (const std::size_t m : lines) {
        const JudgedEntry& entry = judged.entries[m];
        if (before != entry.card->methodology) {
            before = entry.card->methodology;
            page.box(2, y + 3, 7, 7, store::methodologyColour(static_cast<int>(*before)));
            page.text(13, y + 10, toText(*before), small, store::mutedColour, "start", true);
            y += 14;
        }
        page.text(12, y + line / 2 + 3, fitted(entry.asked, small, nameWidth - 14), small, store::inkColour);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const MatrixCell& cell = matrix.cells[m][columns[k]];
            const double x = nameWidth + wide * static_cast<double>(k) + 1;
            const std::string where = fmt::format("{}, {}: ", entry.asked, matrix.columns[columns[k]].word);
            if (cell.state == MatrixCell::State::NotApplicable) {
                page.tip(where + "not applicable, " + cell.reason);
                page.box(x, y + 1, wide - 2, line - 2, store::faintColour);
                page.text(x + (wide - 2) / 2, y + line / 2 + 3, "n/a", small - 1, store::mutedColour, "middle");
                continue;
            }
            if (cell.state == MatrixCell::State::NoTruth) continue;
            const auto [colour, strength] = tint(cell.median);
            page.tip(fmt::format("{}median {:+.1f} %, mean of sizes {:.1f} %, {:.0f} % inside", where,
                                 100 * cell.median, 100 * cell.mape, 100 * cell.coverage90));
            page.box(x, y + 1, wide - 2, line - 2, colour, strength);
            const bool other = !cell.common && matrix.columns[columns[k]].common > 0;
            page.text(x + (wide - 2) / 2, y + 11.5, fmt::format("{:+.1f} %{}", 100 * cell.median, other ? "*" : ""),
                      small, store::inkColour, "middle", cell.least);
            page.text(x + (wide - 2) / 2, y + 21.5,
                      wide > 78 ? fmt::format("{:+.0f} … {:+.0f}, n {}", 100 * cell.low, 100 * cell.high, cell.rows)
                                : fmt::format("n {}", cell.rows),
                      small - 1.5, store::inkColour, "middle");
        }
        y += line;
    }
    page.text(2, height - 14,
              "Signed median error, 90 % of it, rows. Blue: too short, orange: too long, full at a factor of two.",
              std::min(small - 0.5, width / 62), store::mutedColour);
    page.text(2, height - 4,
              "Bold: least mean error of its equals. * of other rows than its column. Grey: not applicable. White: "
              "nothing measured.",
              std::min(small - 0.5, width / 62), store::mutedColour);
    return page.finish();
}

std::string residualsSvg(const Judged& judged, double width) {
    std::vector<const JudgedEntry*> shown;
    for (const std::size_t i : judged.ranking) shown.push_back(&judged.entries[i]);
    constexpr double line = 20, head = 22, foot = 30;
    const double height = head + line * static_cast<double>(std::max<std::size_t>(shown.size(), 1)) + foot;
    SvgPage page(width, height, fmt::format("{}: predicted over measured", judged.question.name));
    double nameWidth = 60;
    for (const JudgedEntry* entry : shown) nameWidth = std::max(nameWidth, store::textWidth(entry->asked, small) + 10);
    nameWidth = std::min(nameWidth, width * 0.42);
    std::set<std::uint64_t> counts;
    for (const RowRef ref : judged.question.common && !judged.common.empty() ? judged.common : judged.rows)
        counts.insert(rowKey(ref));
    constexpr double span = 3;  // factors of eight either way
    const double from = nameWidth, to = width - 10;
    const auto at = [&](double ratio) {
        return from + (std::clamp(std::log2(ratio), -span, span) + span) / (2 * span) * (to - from);
    };
    for (int power = -3; power <= 3; ++power) {
        const double x = at(std::pow(2.0, power));
        page.line(x, head - 4, x, height - foot, power == 0 ? store::mutedColour : store::faintColour, 1);
        page.text(x, height - foot + 12, power < 0 ? fmt::format("1/{}", 1 << -power) : fmt::format("{}", 1 << power),
                  small, store::mutedColour, "middle");
    }
    page.text((from + to) / 2, height - 5,
              "predicted ÷ measured; the stroke in ink is the median, at the ends all beyond",
              std::min(small, width / 48), store::mutedColour, "middle");
    double y = head;
    for (const JudgedEntry* entry : shown) {
        const EvaluatedRows& rows = entry->evaluation->rows;
        const auto colour = store::methodologyColour(static_cast<int>(entry->card->methodology));
        page.tip(entry->asked);
        page.text(2, y + line / 2 + 2, fitted(entry->asked, small, nameWidth - 8), small, store::inkColour);
        std::vector<double> ratios;
        // A stroke for what falls on one pixel, the darker the more there is.
        std::map<int, int> strokes;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!counts.contains(rowKey(rows.ref[i]))) continue;
            ratios.push_back(rows.predicted[i] / rows.measured[i]);
            ++strokes[static_cast<int>(std::lround(at(ratios.back())))];
        }
        for (const auto& [x, number] : strokes)
            page.line(x, y + 2, x, y + line - 6, colour, 1.1, {}, false, std::min(1.0, 0.35 + 0.15 * number));
        if (!ratios.empty()) {
            const double middle = aroundMedian(std::move(ratios)).median;
            page.line(at(middle), y, at(middle), y + line - 4, store::inkColour, 2);
        }
        y += line;
    }
    return page.finish();
}

}  // namespace orrery
