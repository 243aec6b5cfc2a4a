#include "study/exploration/front.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

// a is nowhere above b; `less`: somewhere below it.
bool covers(const double* a, const double* b, std::size_t width, bool& less) {
    less = false;
    for (std::size_t k = 0; k < width; ++k) {
        if (a[k] > b[k]) return false;
        less = less || a[k] < b[k];
    }
    return true;
}

// Indices of the rows that no other row covers, in lexicographic order; of equal rows the first.
std::vector<std::size_t> leastOf(const std::vector<double>& rows, std::size_t width) {
    const auto row = [&](std::size_t i) { return rows.data() + i * width; };
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rows.size() / width; ++i) {
        if (std::none_of(row(i), row(i) + width, [](double v) { return std::isnan(v); })) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const int sign = std::lexicographical_compare(row(a), row(a) + width, row(b), row(b) + width)   ? -1
                         : std::lexicographical_compare(row(b), row(b) + width, row(a), row(a) + width) ? 1
                                                                                                        : 0;
        return sign != 0 ? sign < 0 : a < b;
    });
    // Whoever covers a row stands before it in this order, and is itself covered by somebody who is kept.
    std::vector<std::size_t> kept;
    for (const std::size_t i : order) {
        bool less = false;
        const bool covered =
            std::any_of(kept.rbegin(), kept.rend(), [&](std::size_t j) { return covers(row(j), row(i), width, less); });
        if (!covered) kept.push_back(i);
    }
    return kept;
}

double slices(std::vector<std::vector<double>> points, std::span<const double> reference) {
    const std::size_t width = reference.size();
    if (points.empty()) return 0;
    if (width == 1) {
        double least = reference[0];
        for (const auto& point : points) least = std::min(least, point[0]);
        return reference[0] - least;
    }
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.back() < b.back(); });
    double sum = 0;
    std::vector<std::vector<double>> below;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double from = points[i].back();
        const double to = i + 1 < points.size() ? points[i + 1].back() : reference.back();
        points[i].pop_back();
        below.push_back(points[i]);
        if (to > from) sum += (to - from) * slices(below, reference.first(width - 1));
    }
    return sum;
}

}  // namespace

Front frontOf(const Costs& costs) {
    Front front;
    if (costs.width == 0) return front;
    front.points = leastOf(costs.value, costs.width);
    const std::vector<std::size_t> surest = leastOf(costs.high, costs.width);
    std::vector<bool> taken(costs.size(), false);
    for (const std::size_t i : front.points) taken[i] = true;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const double* low = costs.low.data() + i * costs.width;
        if (taken[i] || std::any_of(low, low + costs.width, [](double v) { return std::isnan(v); })) continue;
        const bool beaten = std::any_of(surest.begin(), surest.end(), [&](std::size_t j) {
            bool less = false;
            return j != i && covers(costs.high.data() + j * costs.width, low, costs.width, less) && less;
        });
        if (!beaten) front.possible.push_back(i);
    }
    return front;
}

double hypervolume(const Costs& costs, std::span<const std::size_t> points, std::span<const double> reference) {
    std::vector<std::vector<double>> inside;
    for (const std::size_t i : points) {
        std::vector<double> row(costs.value.begin() + static_cast<std::ptrdiff_t>(i * costs.width),
                                costs.value.begin() + static_cast<std::ptrdiff_t>((i + 1) * costs.width));
        bool below = true;
        for (std::size_t k = 0; k < costs.width; ++k) below = below && row[k] < reference[k];
        if (below) inside.push_back(std::move(row));
    }
    return slices(std::move(inside), reference);
}

}  // namespace orrery
