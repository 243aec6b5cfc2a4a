#include "learning/lattice.h"

#include "learning/trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <memory>
#include <utility>

namespace orrery {

std::size_t pointsOf(std::span<const LatticeAxis> axes) {
    std::size_t points = 1;
    for (const LatticeAxis& axis : axes) points *= axis.knots.size();
    return points;
}

Lattice::Lattice(std::size_t inputs, std::vector<LatticeAxis> axes, std::span<const double> values)
    : inputs_(inputs), axes_(std::move(axes)) {
    assert(!axes_.empty() && axes_.size() <= mostLatticeAxes && values.size() == pointsOf(axes_));
    for (const double value : values) values_.push_back(static_cast<float>(std::round(value * 1000) / 1000));
}

double Lattice::predict(std::span<const double> features) const {
    std::array<std::size_t, mostLatticeAxes> below{}, above{};  // offsets of the two knots of each axis
    std::array<double, mostLatticeAxes> share{};                // of the upper one
    std::size_t stride = values_.size();
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        const auto& knots = axes_[a].knots;
        stride /= knots.size();
        const double x = features[axes_[a].feature];
        const auto next = std::upper_bound(knots.begin(), knots.end(), x);
        const std::size_t upper = std::min(std::size_t(next - knots.begin()), knots.size() - 1);
        const std::size_t lower = upper == 0 || next == knots.end() ? upper : upper - 1;
        share[a] = upper == lower ? 0 : (x - knots[lower]) / (knots[upper] - knots[lower]);
        below[a] = lower * stride, above[a] = upper * stride;
    }
    double sum = 0;
    for (std::size_t corner = 0; corner < std::size_t(1) << axes_.size(); ++corner) {
        double weight = 1;
        std::size_t at = 0;
        for (std::size_t a = 0; a < axes_.size(); ++a) {
            const bool up = (corner >> a & 1) != 0;
            weight *= up ? share[a] : 1 - share[a];
            at += up ? above[a] : below[a];
        }
        if (weight > 0) sum += weight * double(values_[at]);
    }
    return sum;
}

std::string Lattice::toJson() const {
    std::string out = fmt::format(R"({{"inputs":{},"axes":[)", inputs_);
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        out += fmt::format(R"({}{{"feature":{},"knots":[{}]}})", a > 0 ? "," : "", axes_[a].feature,
                           fmt::join(axes_[a].knots, ","));
    }
    out += R"(],"values":[)";
    for (std::size_t i = 0; i < values_.size(); ++i) {
        out += fmt::format("{}{:.4g}", i > 0 ? "," : "", std::round(double(values_[i]) * 1000) / 1000 + 0.0);
    }
    return out + "]}";
}

void raise(std::span<const LatticeAxis> axes, std::vector<double>& values) {
    std::size_t stride = values.size();
    for (const LatticeAxis& axis : axes) {
        const std::size_t block = stride;
        stride /= axis.knots.size();
        for (std::size_t i = stride; i < values.size(); ++i) {
            if (i % block >= stride) values[i] = std::max(values[i], values[i - stride]);
        }
    }
}

void makeMonotone(std::span<const LatticeAxis> axes, std::span<const std::vector<double>> slack,
                  std::vector<double>& values) {
    const auto tilt = [&](double way) {
        std::size_t stride = values.size();
        for (std::size_t a = 0; a < axes.size(); ++a) {
            const std::size_t block = stride;
            stride /= axes[a].knots.size();
            for (std::size_t i = 0; i < values.size(); ++i) values[i] += way * slack[a][i % block / stride];
        }
    };
    tilt(1);
    std::vector<double> above = values, below = values;
    std::size_t stride = values.size();
    for (const LatticeAxis& axis : axes) {
        const std::size_t block = stride;
        stride /= axis.knots.size();
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i % block >= stride) above[i] = std::max(above[i], above[i - stride]);
            const std::size_t j = values.size() - 1 - i;
            if (j % block + stride < block) below[j] = std::min(below[j], below[j + stride]);
        }
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = (above[i] + below[i]) / 2;
    tilt(-1);
}

RegressorPtr readLattice(JsonCursor& json) {
    double inputs = 0;
    std::vector<LatticeAxis> axes;
    std::vector<double> values;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "inputs")
            inputs = json.number();
        else if (key == "values")
            values = json.numbers(mostLatticePoints);
        else if (key == "axes") {
            for (json.array(); json.element();) {
                LatticeAxis axis;
                double feature = -1;
                std::string_view name;
                for (json.object(); json.key(name);) {
                    if (name == "feature")
                        feature = json.number();
                    else if (name == "knots")
                        axis.knots = json.numbers(mostLatticePoints);
                    else
                        json.skip();
                }
                const bool whole = feature >= 0 && feature < double(largestInputs) && feature == std::floor(feature);
                axis.feature = whole ? std::size_t(feature) : largestInputs;
                axes.push_back(std::move(axis));
                if (!json.ok() || axes.size() > mostLatticeAxes) break;
            }
        } else
            json.skip();
        if (!json.ok()) return nullptr;
    }
    if (!json.ok()) return nullptr;
    bool good = inputs >= 1 && inputs <= double(largestInputs) && inputs == std::floor(inputs) && !axes.empty() &&
                axes.size() <= mostLatticeAxes;
    double points = 1;
    for (const LatticeAxis& axis : axes) {
        points *= double(axis.knots.size());
        good = good && double(axis.feature) < inputs && !axis.knots.empty() &&
               std::adjacent_find(axis.knots.begin(), axis.knots.end(), std::greater_equal<>()) == axis.knots.end();
    }
    if (!good || points != double(values.size())) {
        json.fail("model", fmt::format("a lattice of {} axes and {} values", axes.size(), values.size()),
                  fmt::format("1 to {} axes over features, each with rising knots, and a value for each point",
                              mostLatticeAxes));
        return nullptr;
    }
    return std::make_shared<Lattice>(std::size_t(inputs), std::move(axes), values);
}

}  // namespace orrery
