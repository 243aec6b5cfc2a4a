#include "study/fidelity/open_total.h"

#include "learning/section_price.h"
#include "methods/model/columns.h"
#include "methods/model/whole_error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// Correlations of full fidelity, kind by kind, where several methods are.
class Mixed final : public KernelPricer {
public:
    std::array<double, kernelKindCount> of{};
    KernelPrice price(const Kernel&) const override { return {}; }
    double correlation(KernelKind kind) const override { return of[static_cast<std::size_t>(kind)]; }
};

}  // namespace

OpenTotal::OpenTotal(KernelAskers& askers, const std::vector<std::size_t>& full, std::size_t skeleton)
    : askers_(askers), full_(full), composition_(askers.all[skeleton].open) {
    units_.resize(askers.units.size());
    families_.resize(askers.families.size());
    for (std::size_t u = 0; u < units_.size(); ++u) families_[askers.units[u].family].units.push_back(u);
    composition_.prices.resize(composition_.list().launches.size());
    for (Family& family : families_) {
        std::vector<std::pair<double, double>> sides;
        for (std::size_t a = 0; a < askers.all.size(); ++a) {
            const KernelAsker& asker = askers.all[a];
            const bool all = std::all_of(family.units.begin(), family.units.end(),
                                         [&](std::size_t u) { return asker.said[u].has_value(); });
            if (!all) continue;
            double low = 0, high = 0, busy = 0, usual = 0;
            for (const std::size_t u : family.units) {
                double seconds = 0;
                for (const std::size_t i : askers.units[u].launches) {
                    const PricedLaunch p = pricedAs(asker.open, i, *asker.said[u]);
                    const double time = p.seconds * asker.open.list().launches[i].count;
                    seconds += time;
                    if (!(time > 0)) continue;
                    // A price that is a roofline may lie above a method that prices the kernel.
                    const double least = p.price.priced ? p.low : std::max(p.least, p.seconds / unmeasuredFactor);
                    low += time * std::log(std::max(std::min(p.low, least), p.seconds * 1e-3) / p.seconds);
                    high += time * std::log(p.high / p.seconds);
                    usual += time * std::log(p.seconds);
                    busy += time;
                }
                units_[u].cheap.push_back(seconds);
            }
            if (busy > 0) low /= busy, high /= busy, usual /= busy;
            sides.emplace_back(low, high);
            family.controls.push_back({a, usual, {}});
        }
        // Cheap methods that differ among each other are less sure than they say.
        for (std::size_t c = 0; c < family.controls.size(); ++c) {
            double squares = 0, weight = 0;
            const double middle = (sides[c].first + sides[c].second) / 2;
            for (std::size_t d = 0; d < family.controls.size(); ++d) {
                const double other = (sides[d].first + sides[d].second) / 2;
                for (const std::size_t u : family.units) {
                    const double mine = units_[u].cheap[c], theirs = units_[u].cheap[d];
                    if (c == d || !(mine > 0) || !(theirs > 0)) continue;
                    const double apart = std::log(theirs / mine) + other - middle;
                    squares += mine * apart * apart, weight += mine;
                }
            }
            const double differ = weight > 0 ? studentT95(1000) * std::sqrt(squares / weight) : 0;
            const double half = std::hypot((sides[c].second - sides[c].first) / 2, differ);
            const KernelAsker& control = askers.all[family.controls[c].asker];
            // What others say tells nothing of how far a sample lies from the whole.
            family.controls[c].belief =
                samplesFull(control, family.units) ? RatioBelief(-control.samplingError, control.samplingError)
                : standsForFull(control, family.units)
                    ? RatioBelief(-control.standingError, control.standingError, control.standingDegrees, false)
                    : RatioBelief(middle - half, middle + half);
        }
    }
    for (std::size_t u = 0; u < units_.size(); ++u)
        if (askers.all[full[u]].said[u]) learn(u);
    chooseControls();
}

bool OpenTotal::samplesFull(const KernelAsker& asker, const std::vector<std::size_t>& units) const {
    return !asker.samples.empty() && std::all_of(units.begin(), units.end(), [&](std::size_t u) {
        return askers_.all[full_[u]].choice == asker.samples;
    });
}

bool OpenTotal::standsForFull(const KernelAsker& asker, const std::vector<std::size_t>& units) const {
    return !asker.standsFor.empty() && std::all_of(units.begin(), units.end(), [&](std::size_t u) {
        return askers_.all[full_[u]].choice == asker.standsFor;
    });
}

void OpenTotal::learn(std::size_t u) {
    Unit& unit = units_[u];
    if (unit.known) return;
    unit.known = true;
    unit.seconds = askers_.all[full_[u]].seconds(askers_.units, u);
    Family& family = families_[askers_.units[u].family];
    for (std::size_t c = 0; c < family.controls.size(); ++c)
        if (unit.cheap[c] > 0 && unit.seconds > 0)
            family.controls[c].belief.learn(sizeOf(family.controls[c], u, c), std::log(unit.seconds / unit.cheap[c]));
    chooseControls();
}

double OpenTotal::sizeOf(const Control& control, std::size_t u, std::size_t at) const {
    const double each = units_[u].cheap[at] / std::max(askers_.units[u].count, 1e-300);
    return each > 0 ? std::log(each) - control.usual : 0;
}

double OpenTotal::ratioOf(const Family& family, std::size_t u) const {
    const Control& control = family.controls[family.control];
    return control.belief.mean(sizeOf(control, u, family.control));
}

// Cheap methods, each corrected by what it has learned: where they differ about one kernel it is unlike its family. A
// method that has been found less sure counts less.
double OpenTotal::apartOf(const Family& family, std::size_t u) const {
    const Unit& unit = units_[u];
    // Nor does it where the distance itself was measured.
    const KernelAsker& surest = askers_.all[family.controls[family.control].asker];
    if (samplesFull(surest, family.units) || standsForFull(surest, family.units)) return 0;
    const double best =
        family.controls[family.control].belief.half(sizeOf(family.controls[family.control], u, family.control));
    if (!(unit.seconds > 0) || !(best > 0)) return 0;
    double squares = 0, weight = 0;
    for (std::size_t c = 0; c < family.controls.size(); ++c) {
        const Control& control = family.controls[c];
        if (!(unit.cheap[c] > 0)) continue;
        const double size = sizeOf(control, u, c);
        const double half = control.belief.half(size);
        const double w = std::min(1.0, best * best / (half * half));
        const double apart = std::log(unit.cheap[c] / unit.seconds) + control.belief.mean(size);
        squares += w * apart * apart, weight += w;
    }
    return weight > 0 ? studentT95(1000) * std::sqrt(squares / weight) : 0;
}

double OpenTotal::ownOf(const RatioBelief& belief, std::size_t u) const {
    return std::hypot(belief.own(), units_[u].apart);
}

void OpenTotal::chooseControls() {
    for (Family& family : families_) {
        family.control = 0;
        double least = -1;
        // Whose distance was measured stands before those that a few kernels make look surer.
        const auto stands = [&](const Control& control) {
            return standsForFull(askers_.all[control.asker], family.units);
        };
        const bool measured = std::any_of(family.controls.begin(), family.controls.end(), stands);
        for (std::size_t c = 0; c < family.controls.size(); ++c) {
            const Control& control = family.controls[c];
            if (measured && !stands(control)) continue;
            double squares = 0, weight = 0;
            for (const std::size_t u : family.units) {
                if (units_[u].known) continue;
                const double half = control.belief.half(sizeOf(control, u, c));
                squares += units_[u].cheap[c] * half * half, weight += units_[u].cheap[c];
            }
            const double mean = weight > 0 ? squares / weight : 0;
            if (least < 0 || mean < least) least = mean, family.control = c;
        }
        for (const std::size_t u : family.units) {
            Unit& unit = units_[u];
            if (unit.known) continue;
            unit.seconds = unit.cheap[family.control] * std::exp(ratioOf(family, u));
            unit.apart = apartOf(family, u);
        }
    }
}

// Prices of all launches: full fidelity's, or the corrected cheap ones with the sides that full fidelity states of its
// other kernels of that kind.
void OpenTotal::fill() {
    std::array<double, kernelKindCount> below{}, above{}, weight{};
    std::array<bool, kernelKindCount> guess{};
    const auto& launches = composition_.list().launches;
    for (std::size_t u = 0; u < units_.size(); ++u) {
        const KernelAsker& asker = askers_.all[full_[u]];
        if (!asker.said[u]) continue;
        for (const std::size_t i : askers_.units[u].launches) {
            const PricedLaunch p = pricedAs(asker.open, i, *asker.said[u]);
            composition_.prices[i] = p;
            const auto kind = static_cast<std::size_t>(launches[i].kernel.kind);
            const double time = p.seconds * launches[i].count;
            if (!(time > 0)) continue;
            below[kind] += time * std::log(std::max(p.low, p.seconds * 1e-3) / p.seconds);
            above[kind] += time * std::log(p.high / p.seconds);
            weight[kind] += time;
            if (!p.known) guess[kind] = true;
        }
    }
    for (const Family& family : families_) {
        const Control& control = family.controls[family.control];
        const KernelAsker& asker = askers_.all[control.asker];
        for (const std::size_t u : family.units) {
            if (units_[u].known) continue;
            for (const std::size_t i : askers_.units[u].launches) {
                const auto kind = static_cast<std::size_t>(launches[i].kernel.kind);
                PricedLaunch p = pricedAs(asker.open, i, *asker.said[u]);
                const double said = p.seconds;
                p.seconds = std::max(p.least, p.seconds * std::exp(ratioOf(family, u)));
                const double w = weight[kind];
                // Of a kind that full fidelity has not been asked about nothing is known of its own error: the cheap
                // method's sides stand in the ratio already.
                const bool sample = samplesFull(asker, family.units) && p.low > 0;
                const double down = w > 0 ? std::exp(below[kind] / w) : sample ? p.low / said : 1.0;
                const double up = w > 0 ? std::exp(above[kind] / w) : sample ? p.high / said : 1.0;
                p.low = std::max(p.least, p.seconds * down);
                p.high = p.seconds * up;
                p.known = !guess[kind];
                p.raised = false;
                p.price.seconds = p.seconds;
                p.price.low = p.low, p.price.high = p.high;
                p.price.note = -1;
                p.price.joules = -1;
                p.price.levelBytes[0] = -1;
                p.price.priced = true;
                if (p.price.bound.kind == BoundKind::Memory) p.price.bound.level = 0;
                composition_.prices[i] = p;
            }
        }
    }
}

// Squares of the half-width upwards that the unasked kernels of a family leave open; as if `asked` had been asked.
double OpenTotal::openSquares(const Family& family, std::optional<std::size_t> asked) const {
    const Control& control = family.controls[family.control];
    RatioBelief belief = control.belief;
    if (asked) belief = belief.after(sizeOf(control, *asked, family.control));
    double squares = 0, sum = 0, sized = 0;
    for (const std::size_t u : family.units) {
        if (units_[u].known || u == asked) continue;
        const double seconds = units_[u].seconds;
        squares += std::pow(seconds * std::expm1(ownOf(belief, u)), 2);
        sum += seconds, sized += seconds * sizeOf(control, u, family.control);
    }
    if (!(sum > 0)) return 0;
    const double line = sum * std::expm1(belief.lineOfSum({1.0, sized / sum}));
    return squares + line * line;
}

OpenTotal::State OpenTotal::state() {
    fill();
    const auto& launches = composition_.list().launches;
    closeComposition(*askers_.scenario.workload, askers_.all.front().options, composition_);
    if (askers_.all.size() > 1) composition_.turns = 0;  // of halves that one method prices, wholes that others did
    Mixed mixed;
    for (std::size_t u = 0; u < units_.size(); ++u) {
        const KernelKind kind = askers_.units[u].kind;
        mixed.of[static_cast<std::size_t>(kind)] = askers_.all[full_[u]].open.pricer->correlation(kind);
    }
    composition_.interval = composeLaunches(composition_.prices, launches, mixed);
    widenWhole(askers_.all.front().options, composition_);
    State state;
    double up = 0, down = 0, least = 0;
    for (const Family& family : families_) {
        const Control& control = family.controls[family.control];
        double squares = 0, squaresDown = 0, sum = 0, sized = 0, room = 0;
        for (const std::size_t u : family.units) {
            if (units_[u].known) continue;
            double seconds = 0, floor = 0;
            for (const std::size_t i : askers_.units[u].launches) {
                seconds += composition_.prices[i].seconds * launches[i].count;
                floor += composition_.prices[i].least * launches[i].count;
            }
            const double own = ownOf(control.belief, u);
            squares += std::pow(seconds * std::expm1(own), 2);
            const double left = seconds - std::min(seconds, floor);
            squaresDown += std::pow(std::min(left, -seconds * std::expm1(-own)), 2);
            sum += seconds, sized += seconds * sizeOf(control, u, family.control), room += left;
        }
        if (!(sum > 0)) continue;
        const double line = control.belief.lineOfSum({1.0, sized / sum});
        const double lineUp = sum * std::expm1(line), lineDown = std::min(room, -sum * std::expm1(-line));
        up += squares + lineUp * lineUp;
        down += squaresDown + lineDown * lineDown;
    }
    for (std::size_t i = 0; i < launches.size(); ++i) least += composition_.prices[i].least * launches[i].count;
    for (const Unit& unit : units_) state.known += unit.known ? 1 : 0;
    ComposedInterval& interval = composition_.interval;
    const double seconds = interval.seconds;
    const double own = interval.high - interval.low;
    if (up > 0 || down > 0) {
        interval.low =
            std::max({0.0, std::min(least, seconds), seconds - std::hypot(seconds - interval.low, std::sqrt(down))});
        interval.high = seconds + std::hypot(interval.high - seconds, std::sqrt(up));
        interval.independentLow = std::min(interval.independentLow, interval.low);
        interval.independentHigh = std::max(interval.independentHigh, interval.high);
        interval.correlatedLow = std::min(interval.correlatedLow, interval.low);
        interval.correlatedHigh = std::max(interval.correlatedHigh, interval.high);
    }
    const double beside = latencyOf(composition_) - seconds;
    state.latency = std::max(0.0, seconds + beside);
    state.low = std::max(0.0, std::min(state.latency, interval.low + std::min(0.0, beside)));
    state.high = std::max(state.latency, interval.high + std::max(0.0, beside));
    state.fullLow = std::max(0.0, state.latency - std::sqrt(down));
    state.fullHigh = state.latency + std::sqrt(up);
    state.least = own / std::max(state.latency, 1e-300);
    return state;
}

std::optional<std::size_t> OpenTotal::best(const std::function<bool(std::size_t)>& fits) const {
    double all = 0;
    std::vector<double> open(families_.size());
    for (std::size_t f = 0; f < families_.size(); ++f) all += open[f] = openSquares(families_[f], std::nullopt);
    std::optional<std::size_t> best;
    double most = -1;
    for (std::size_t u = 0; u < units_.size(); ++u) {
        if (units_[u].known || !fits(u)) continue;
        const std::size_t f = askers_.units[u].family;
        const double left = std::max(0.0, all - open[f] + openSquares(families_[f], u));
        const double cost = std::max(askers_.all[full_[u]].stated(askers_.units[u]), 1e-9);
        const double worth = (std::sqrt(all) - std::sqrt(left)) / cost;
        if (!best || worth > most) best = u, most = worth;
    }
    return best;
}

std::vector<BudgetFamily> OpenTotal::families() const {
    std::vector<BudgetFamily> list;
    std::vector<double> busy;
    double all = 0;
    for (const Unit& unit : units_) all += unit.seconds;
    for (std::size_t f = 0; f < families_.size(); ++f) {
        const Family& family = families_[f];
        const Control& control = family.controls[family.control];
        BudgetFamily each;
        each.name = askers_.families[f];
        each.control = askers_.all[control.asker].choice;
        each.kernels = family.units.size();
        double time = 0;
        for (const std::size_t u : family.units) {
            time += units_[u].seconds;
            if (units_[u].known)
                each.asked += 1;
            else
                each.share += units_[u].seconds;
        }
        if (all > 0) each.share /= all;
        // At the size that the unasked kernels have on the mean.
        double weight = 0, size = 0;
        for (const std::size_t u : family.units) {
            if (units_[u].known) continue;
            weight += units_[u].seconds, size += units_[u].seconds * sizeOf(control, u, family.control);
        }
        if (weight > 0) size /= weight;
        const double half = control.belief.half(size);
        each.ratio = std::exp(control.belief.mean(size));
        each.low = std::exp(control.belief.mean(size) - half), each.high = std::exp(control.belief.mean(size) + half);
        const auto at =
            static_cast<std::size_t>(std::upper_bound(busy.begin(), busy.end(), time, std::greater<>()) - busy.begin());
        busy.insert(busy.begin() + static_cast<std::ptrdiff_t>(at), time);
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::move(each));
    }
    return list;
}

}  // namespace orrery
