#include "learning/domain_widening.h"

#include "base/maths.h"
#include "learning/cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace orrery {

namespace {

constexpr std::size_t mostFeatures = 256;
// Borders: quantiles of the training rows' own distances, each as if the row had been left out, and room beyond them.
constexpr double edgeQuantile = 0.98, outsideQuantile = 0.998, outsideRoom = 1.15;

// Beyond the seen range by this much is outside: constants hardly, others a twentieth of their span, more where rows
// are few (beyond the largest of n evenly drawn numbers a gap of span ⁄ n is usual, of several times that not rare).
double room(double low, double high, bool constant, std::size_t rows) {
    if (constant) return 1e-3 * std::max(1.0, std::abs(high));
    return (high - low) * (0.05 + 4.5 / double(rows + 1));
}

// Two numbers in one register: left to itself, the compiler shuffles sums of several rows into each other.
using Two = double __attribute__((vector_size(16)));
Two load(const double* from) {
    Two two;
    std::memcpy(&two, from, sizeof two);
    return two;
}

// Part of a row times the vector, as four sums that do not wait for each other.
struct Sums {
    Two low{}, high{};
    void add(const double* row, Two away, Two next) {
        low += load(row) * away;
        high += load(row + 2) * next;
    }
    double total() const { return (low[0] + low[1]) + (high[0] + high[1]); }
};

double distanceOf(const Domain& domain, std::span<const double> features) {
    const std::size_t count = features.size();
    double square = 0, away[mostFeatures];
    for (std::size_t i = 0; i < count; ++i) away[i] = features[i] - domain.mean[i];
    const double* row = domain.whitening.data();
    // What four at a time have left over of row `i`, and its square.
    const auto finish = [&](const double* start, const Sums& sums, std::size_t from, std::size_t i) {
        double z = sums.total();
        for (std::size_t j = from; j <= i; ++j) z += start[j] * away[j];
        square += z * z;
    };
    std::size_t i = 0;
    // Four rows of the triangle at once; they share what they multiply.
    for (; i + 4 <= count; i += 4) {
        const double *second = row + i + 1, *third = second + i + 2, *fourth = third + i + 3;
        Sums a, b, c, d;
        for (std::size_t j = 0; j < i; j += 4) {
            const Two low = load(away + j), high = load(away + j + 2);
            a.add(row + j, low, high);
            b.add(second + j, low, high);
            c.add(third + j, low, high);
            d.add(fourth + j, low, high);
        }
        d.add(fourth + i, load(away + i), load(away + i + 2));
        finish(row, a, i, i);
        finish(second, b, i, i + 1);
        finish(third, c, i, i + 2);
        finish(fourth, d, i + 4, i + 3);
        row = fourth + i + 4;
    }
    for (; i < count; ++i) {
        Sums sums;
        std::size_t j = 0;
        for (; j + 4 <= i + 1; j += 4) sums.add(row + j, load(away + j), load(away + j + 2));
        finish(row, sums, j, i);
        row += i + 1;
    }
    return std::sqrt(square);
}

}  // namespace

std::string_view toText(DomainVerdict verdict) {
    switch (verdict) {
        case DomainVerdict::Inside:
            return "inside";
        case DomainVerdict::Edge:
            return "edge";
        case DomainVerdict::Outside:
            break;
    }
    return "outside";
}

DomainVerdict Domain::check(std::span<const double> features) const {
    if (features.size() != mean.size()) return DomainVerdict::Outside;
    bool beyond = false;
    for (std::size_t i = 0; i < features.size(); ++i) {
        const double x = features[i];
        if (!(x >= low[i] - margin[i] && x <= high[i] + margin[i])) return DomainVerdict::Outside;
        beyond |= x < low[i] - 0.2 * margin[i] || x > high[i] + 0.2 * margin[i];
    }
    const double distance = distanceOf(*this, features);
    if (distance > outside) return DomainVerdict::Outside;
    return beyond || distance > edge ? DomainVerdict::Edge : DomainVerdict::Inside;
}

Domain fitDomain(std::span<const double> rows, std::size_t columns) {
    Domain domain;
    if (columns == 0 || columns > mostFeatures || rows.size() < columns) return domain;
    const std::size_t count = rows.size() / columns;
    domain.low.assign(columns, INFINITY);
    domain.high.assign(columns, -INFINITY);
    domain.mean.assign(columns, 0);
    domain.margin.assign(columns, 0);
    std::vector<double> spread(columns, 0);
    for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
            const double x = rows[r * columns + c];
            domain.low[c] = std::min(domain.low[c], x);
            domain.high[c] = std::max(domain.high[c], x);
            domain.mean[c] += x / double(count);
        }
    }
    for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
            spread[c] += std::pow(rows[r * columns + c] - domain.mean[c], 2) / double(count);
        }
    }
    for (std::size_t c = 0; c < columns; ++c) {
        spread[c] = std::sqrt(spread[c]);
        const bool constant = domain.high[c] - domain.low[c] <= 1e-9 * std::max(1.0, std::abs(domain.mean[c]));
        if (constant) spread[c] = 0;
        domain.margin[c] = room(domain.low[c], domain.high[c], constant, count);
    }
    // Correlations, with a little of the unit matrix: features may be sums of each other.
    std::vector<double> correlation(columns * columns, 0);
    for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t i = 0; i < columns; ++i) {
            if (spread[i] <= 0) continue;
            const double z = (rows[r * columns + i] - domain.mean[i]) / spread[i];
            for (std::size_t j = 0; j <= i; ++j) {
                if (spread[j] <= 0) continue;
                correlation[i * columns + j] +=
                    z * (rows[r * columns + j] - domain.mean[j]) / spread[j] / double(count);
            }
        }
    }
    for (std::size_t i = 0; i < columns; ++i) {
        correlation[i * columns + i] = (spread[i] > 0 ? correlation[i * columns + i] : 1) + 1e-3;
    }
    const auto lower = cholesky(correlation, columns);
    std::vector<double> inverse(columns * columns, 0);
    if (lower) inverse = lowerInverse(*lower, columns);
    for (std::size_t i = 0; i < columns; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            domain.whitening.push_back(spread[i] > 0 && spread[j] > 0 ? inverse[i * columns + j] / spread[j] : 0);
        }
    }
    // A row's distance as it would be had it not been among them, by its leverage.
    std::vector<double> distances(count);
    for (std::size_t r = 0; r < count; ++r) {
        const double distance = distanceOf(domain, rows.subspan(r * columns, columns));
        const double leverage = std::min(0.9, (distance * distance + 1) / double(count));
        distances[r] = distance / (1 - leverage);
    }
    domain.edge = quantileAbove(distances, edgeQuantile);
    const double few = 1 + 10 / double(count);  // quantiles of few rows are uncertain
    domain.outside = std::max(outsideRoom * few * quantileAbove(distances, outsideQuantile), 1.05 * domain.edge);
    return domain;
}

Domain widenDomain(const Domain& known, std::span<const double> rows) {
    const std::size_t columns = known.mean.size(), count = rows.size() / columns;
    const Domain own = fitDomain(rows, columns);
    Domain domain = known;
    for (std::size_t c = 0; c < columns; ++c) {
        const bool constant = own.high[c] - own.low[c] <= 1e-9 * std::max(1.0, std::abs(own.mean[c]));
        const bool foreign = own.high[c] < known.low[c] || own.low[c] > known.high[c];
        if (constant && foreign) {
            domain.low[c] = domain.high[c] = domain.mean[c] = own.mean[c];
            domain.margin[c] = own.margin[c];
        } else {
            domain.low[c] = std::min(domain.low[c], own.low[c]);
            domain.high[c] = std::max(domain.high[c], own.high[c]);
        }
    }
    // Own rows are seen, whatever their distance from those of before.
    std::vector<double> distances;
    for (std::size_t r = 0; r < count; ++r) {
        distances.push_back(distanceOf(domain, rows.subspan(r * columns, columns)));
    }
    std::sort(distances.begin(), distances.end());
    domain.edge = std::max(domain.edge, quantileType7OfSorted(distances, 0.98));
    domain.outside = std::max({domain.outside, 1.15 * quantileType7OfSorted(distances, 0.998), 1.05 * domain.edge});
    return domain;
}

Domain unboundedDomain(std::size_t columns) {
    Domain domain;
    domain.low.assign(columns, -1e30), domain.high.assign(columns, 1e30);
    domain.margin.assign(columns, 0), domain.mean.assign(columns, 0);
    domain.whitening.assign(columns * (columns + 1) / 2, 0);
    domain.edge = domain.outside = 1;
    return domain;
}

}  // namespace orrery
