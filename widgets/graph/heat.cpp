#include "widgets/graph/heat.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::ui {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

double logOr(double value) {
    return value > 0 ? std::log10(value) : nothing;
}

/// 1, 2 or 5 times a power of ten, at least `least`.
double roundStep(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

/// How far the scale of a diverging metric reaches from its middle. Where a few nodes lie far out, they would leave all
/// others the colour of the middle: then as far as nineteen of twenty do.
double reachOf(std::vector<double> away) {
    if (away.empty()) return 0;
    std::sort(away.begin(), away.end());
    const double most = away.back();
    const double usual = away[static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(away.size()))) - 1];
    return away.size() >= 20 && usual > 0 && most > 3 * usual ? usual : most;
}

}  // namespace

std::vector<double> nodeValues(const HeatMetric& metric, const VisibleGraph& visible) {
    const std::size_t nodes = visible.nodes.size();
    const std::size_t count = std::min(metric.values.size(), visible.nodeOf.size());
    const auto weightOf = [&](std::size_t op) { return op < metric.weights.size() ? metric.weights[op] : 1.0; };
    if (!metric.choices.empty()) {
        const std::size_t choices = metric.choices.size();
        std::vector<double> votes(nodes * choices, -1);
        for (std::size_t op = 0; op < count; ++op) {
            const auto node = static_cast<std::size_t>(visible.nodeOf[op]);
            if (std::isnan(metric.values[op]) || node >= nodes) continue;
            double& vote = votes[node * choices + static_cast<std::size_t>(metric.values[op])];
            vote = std::max(vote, 0.0) + (weightOf(op) > 0 ? weightOf(op) : 0);
        }
        std::vector<double> result(nodes, nothing);
        for (std::size_t node = 0; node < nodes; ++node) {
            const auto first = votes.begin() + static_cast<std::ptrdiff_t>(node * choices);
            const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(choices));
            if (*best >= 0) result[node] = static_cast<double>(best - first);
        }
        return result;
    }
    std::vector<double> sum(nodes, 0), weight(nodes, 0);
    std::vector<char> any(nodes, 0);
    for (std::size_t op = 0; op < count; ++op) {
        const auto node = static_cast<std::size_t>(visible.nodeOf[op]);
        const double value = metric.values[op];
        if (std::isnan(value) || node >= nodes) continue;
        const bool alone = visible.nodes[node].op >= 0;
        const double share = metric.additive || alone ? 1 : weightOf(op);
        if (std::isnan(share)) continue;
        any[node] = 1;
        sum[node] += value * share;
        weight[node] += share;
    }
    for (std::size_t node = 0; node < nodes; ++node) {
        if (!any[node])
            sum[node] = nothing;
        else if (!metric.additive)
            sum[node] = weight[node] > 0 ? sum[node] / weight[node] : nothing;
    }
    return sum;
}

HeatScale heatScale(const HeatMetric& metric, const std::vector<double>& shown) {
    HeatScale scale;
    scale.logarithmic = metric.logarithmic;
    scale.diverging = metric.diverging;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : shown) {
        if (!std::isfinite(value) || (metric.logarithmic && value <= 0)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (low > high) return scale.low = metric.logarithmic ? 0.1 : 0, scale;
    if (metric.diverging) {
        std::vector<double> away;
        for (const double value : shown) {
            if (!std::isfinite(value) || (metric.logarithmic && value <= 0)) continue;
            away.push_back(std::abs(metric.logarithmic ? std::log10(value) : value));
        }
        double reach = reachOf(away);
        scale.clipped = std::any_of(away.begin(), away.end(), [reach](double far) { return far > reach; });
        if (metric.logarithmic) {
            reach = std::max(reach, 1e-3);
            scale.low = std::pow(10, -reach);
            scale.high = std::pow(10, reach);
        } else {
            scale.high = reach > 0 ? reach : 1;
            scale.low = -scale.high;
        }
    } else if (metric.logarithmic) {
        scale.high = high;
        scale.low = std::max(low, high * 1e-4);
        if (scale.low >= scale.high) scale.low = scale.high / 10;
    } else {
        scale.low = std::min(low, 0.0);
        scale.high = high > scale.low ? high : scale.low + 1;
    }
    return scale;
}

double HeatScale::position(double value) const {
    if (std::isnan(value)) return nothing;
    if (logarithmic) {
        if (value <= 0) return 0;
        return std::clamp((std::log10(value) - logOr(low)) / (logOr(high) - logOr(low)), 0.0, 1.0);
    }
    return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

double HeatScale::valueAt(double position) const {
    if (!logarithmic) return low + (high - low) * position;
    return std::pow(10, logOr(low) + (logOr(high) - logOr(low)) * position);
}

double HeatScale::weight(double value) const {
    const double at = position(value);
    return diverging ? std::abs(2 * at - 1) : at;
}

QColor HeatScale::colour(double value) const {
    const double at = position(value);
    return diverging ? Theme::instance().divergingHeat(2 * at - 1) : Theme::instance().heat(at);
}

std::vector<double> HeatScale::ticks(int about) const {
    std::vector<double> result;
    const int wanted = std::max(about, 2);
    if (logarithmic && high / low > 20) {
        const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
        const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
        const int step = std::max(1, (last - first + wanted - 1) / wanted);
        for (int power = first; power <= last; power += step) result.push_back(std::pow(10.0, power));
        return result;
    }
    const double step = roundStep((high - low) / wanted);
    for (double tick = std::ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9; tick += step) {
        if (!logarithmic || tick > 0) result.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
    }
    return result;
}

QString heatText(const HeatMetric& metric, double value) {
    if (std::isnan(value)) return QStringLiteral("–");
    if (!metric.choices.empty()) {
        const auto at = static_cast<std::size_t>(std::max(value, 0.0));
        return at < metric.choices.size() ? metric.choices[at] : QStringLiteral("–");
    }
    if (metric.diverging && metric.logarithmic) return QStringLiteral("×%1").arg(QString::number(value, 'g', 3));
    const QString sign = metric.diverging && value > 0 ? QStringLiteral("+") : QString();
    if (metric.dimension == Dimension::Fraction) {
        if (metric.diverging)
            return sign + QString::number(value * 100, 'f', std::abs(value) < 0.1 ? 1 : 0) + QStringLiteral(" %");
        return percentText(value);
    }
    // Half a FLOP per byte, not 500 mFLOP/B.
    if (metric.dimension == Dimension::Intensity && value < 1000)
        return QString::number(value, 'g', 3) + QStringLiteral(" FLOP/B");
    return sign + text(value, metric.dimension);
}

}  // namespace orrery::ui
