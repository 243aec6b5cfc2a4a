#include "mapping/bounds/bound_front.h"
#include "mapping/bounds/bound_space.h"

#include <bit>
#include <cmath>
#include <limits>

namespace orrery::bounds {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// Tiles of the window axes, fixed, and what follows from them for each tensor.
struct Windows {
    std::array<double, 16> count{};
    std::array<Coordinates, maxNestTensors> span{};                  ///< of the ranks that windows move; others 1
    std::array<std::array<Coordinates, maxNestTensors>, 16> step{};  ///< per axis
    std::array<double, maxNestTensors> words{};
};

class Search {
public:
    Search(const Space& space, const BoundOptions& options, const std::stop_token& stop)
        : space_(space), options_(options), stop_(stop) {}

    bool run() {
        const std::size_t tensors = space_.problem->tensors.size();
        const Mask every = (Mask{1} << tensors) - 1;
        std::vector<Mask> sets;
        for (Mask kept = every + 1; kept-- > 0;) {
            if (kept == every || options_.bypass) sets.push_back(kept);
        }
        std::stable_sort(sets.begin(), sets.end(), [](Mask a, Mask b) { return std::popcount(a) > std::popcount(b); });
        // A thin grid first: its corners prune the full one.
        for (const bool thin : {true, false}) {
            for (std::size_t i = 0; i < sets.size() && !stopped_; ++i) keeping(sets[i], thin);
        }
        front_.merge();
        return !stopped_;
    }

    BoundCurve curve() const {
        BoundCurve made;
        made.operations = space_.frame.operations;
        made.tilings = tilings_;
        for (std::size_t t = 0; t < space_.problem->tensors.size(); ++t) made.compulsory += space_.size[t];
        for (const Front::Corner& corner : front_.corners()) made.points.push_back(point(corner));
        return made;
    }

private:
    struct Set {
        Mask kept = 0;
        std::array<std::vector<OrderClass>, 2> classes;  ///< plain ones, and with steps
    };
    using PerTensor = std::array<double, maxNestTensors>;

    void keeping(Mask kept, bool thin) {
        const auto known = std::find_if(sets_.begin(), sets_.end(), [&](const Set& s) { return s.kept == kept; });
        set_ = static_cast<std::size_t>(known - sets_.begin());
        if (known == sets_.end()) sets_.push_back({kept, {orderClasses(space_, kept, false), {}}});
        thin_ = thin;
        base_ = 0;
        for (std::size_t t = 0; t < space_.problem->tensors.size(); ++t) {
            const bool written = space_.frame.written[t], kept1 = kept >> t & 1u;
            // The first value of every result is written without being read.
            if (written) base_ -= space_.size[t];
            if (!kept1) base_ += space_.frame.operations * (written ? 2 : 1);
        }
        witness_ = {};
        witness_.keeps = static_cast<std::uint16_t>(set_);
        if (kept == 0) {
            if (!front_.covers(0, base_)) front_.add(0, base_, lastChoices());
            return;
        }
        if (front_.covers(0, base_)) return;
        windows_ = {};
        window(0);
        front_.merge();
    }

    Witness lastChoices() const {
        Witness witness = witness_;
        for (std::size_t a = 0; a < space_.axes.size(); ++a)
            witness.choice[a] = static_cast<std::uint16_t>(space_.axes[a].choices.size() - 1);
        return witness;
    }

    /// Choices of an axis to try: first, one past the last, step.
    struct Range {
        std::size_t first = 0, end = 0, step = 1;
    };
    Range range(std::size_t axis) const {
        const Axis& of = space_.axes[axis];
        const Mask kept = sets_[set_].kept;
        const std::size_t count = of.choices.size();
        if ((of.tensors & kept) == 0) return {count - 1, count, 1};
        // Nothing is gained by tiles of a dimension that every tensor has.
        if (of.plain && (of.tensors & kept) == kept) return {0, 1, 1};
        return {0, count, thin_ && of.plain ? std::max<std::size_t>(1, count / 12) : 1};
    }

    void window(std::size_t axis) {
        if (stopped_) return;
        if (axis == space_.windows) return plain();
        const Range choices = range(axis);
        for (std::size_t c = choices.first; c < choices.end; c += choices.step) {
            witness_.choice[axis] = static_cast<std::uint16_t>(c);
            window(axis + 1);
        }
    }

    const Choice& chosen(std::size_t axis) const { return space_.axes[axis].choices[witness_.choice[axis]]; }

    void measureWindows() {
        for (std::size_t t = 0; t < space_.problem->tensors.size(); ++t) {
            windows_.span[t].fill(1);
            const nest::Projection& projection = space_.frame.projections[t];
            for (std::size_t a = 0; a < space_.windows; ++a) {
                const Choice& choice = chosen(a);
                const std::uint8_t d = space_.axes[a].dimensions[0];
                windows_.count[a] = choice.count;
                projection.add(d, static_cast<std::int64_t>(choice.tile) - 1, windows_.span[t]);
                windows_.step[a][t].fill(0);
                projection.add(d, static_cast<std::int64_t>(choice.tile), windows_.step[a][t]);
            }
            double words = 1;
            for (std::size_t r = 0; r < projection.ranks; ++r) words *= static_cast<double>(windows_.span[t][r]);
            windows_.words[t] = words;
        }
    }

    double fresh(std::size_t t, const Coordinates& step) const {
        double common = 1;
        for (std::size_t r = 0; r < space_.frame.projections[t].ranks; ++r)
            common *= static_cast<double>(std::max<std::int64_t>(0, windows_.span[t][r] - std::abs(step[r])));
        return windows_.words[t] - common;
    }

    /// Words fetched along `steps`, each a loop around the ones before; `far`: the last iteration of a loop is where
    /// the next outer one goes on, as nests with smaller last tiles are walked, not the second.
    double alongSteps(std::size_t t, const Stillness& how, bool far, Mask& done) const {
        const double tile = windows_.words[t];
        double words = tile, reduced = 0;
        Coordinates first{}, back{};
        bool any = how.still;
        for (const std::int8_t at : how.steps) {
            if (at < 0) break;
            const auto a = static_cast<std::size_t>(at);
            done |= Mask{1} << a;
            const double count = windows_.count[a];
            if (count <= 1) continue;
            Coordinates step = windows_.step[a][t];
            for (std::size_t r = 0; r < step.size(); ++r) step[r] -= back[r];
            if (!any) {
                any = true;
                first = step;
                reduced = fresh(t, first);
            }
            const double each = step == first ? reduced : tile;
            words = (words - tile) * count + tile + (count - 1) * each;
            const std::int64_t reach = far ? static_cast<std::int64_t>(count) - 1 : 1;
            for (std::size_t r = 0; r < back.size(); ++r) back[r] += reach * windows_.step[a][t][r];
        }
        return words;
    }

    /// Words of a tensor over all iterations of the window axes, its plain axes covered once.
    double windowWords(std::size_t t, const Stillness& how, bool far) const {
        Mask done = how.free;
        double words = windows_.words[t];
        if (how.steps[0] >= 0) {
            words = alongSteps(t, how, far, done);
        } else if (how.slides >= 0) {
            const auto a = static_cast<std::size_t>(how.slides);
            words += (windows_.count[a] - 1) * fresh(t, windows_.step[a][t]);
            done |= Mask{1} << a;
        }
        for (std::size_t a = 0; a < space_.windows; ++a) {
            if (!(done >> a & 1u)) words *= windows_.count[a];
        }
        return words * space_.plain[t];
    }

    /// Whether an order exists in which a step of the windows returns to what is held.
    bool mayReturn() const {
        for (std::size_t t = 0; t < space_.problem->tensors.size(); ++t) {
            if (!(sets_[set_].kept >> t & 1u)) continue;
            for (std::size_t a = 0; a < space_.windows; ++a) {
                for (std::size_t b = 0; b < space_.windows; ++b) {
                    if (a == b || windows_.count[a] <= 1 || windows_.count[b] <= 1) continue;
                    for (std::size_t r = 0; r < space_.frame.projections[t].ranks; ++r) {
                        const std::int64_t fa = windows_.step[a][t][r], fb = windows_.step[b][t][r];
                        const std::int64_t last = fa * (static_cast<std::int64_t>(windows_.count[a]) - 1);
                        if (fa > 0 && fb > 0 && (fb == fa || fb == 2 * fa || fb == last || fb == last + fa))
                            return true;
                    }
                }
            }
        }
        return false;
    }

    void plain() {
        measureWindows();
        const bool steps = mayReturn();
        Set& set = sets_[set_];
        if (steps && set.classes[1].empty()) set.classes[1] = orderClasses(space_, set.kept, true);
        for (const bool far : {false, true}) {
            if (far && (!steps || !options_.anyTile)) break;
            classes_ = &set.classes[steps];
            witness_.steps = steps;
            ragged_ = steps ? (far ? OnlyRagged : OnlyWhole) : Any;
            std::vector<PerTensor> costs(classes_->size());
            PerTensor held{};
            for (std::size_t t = 0; t < space_.problem->tensors.size(); ++t)
                held[t] = set.kept >> t & 1u ? windows_.words[t] : 0;
            for (std::size_t c = 0; c < costs.size(); ++c) {
                costs[c].fill(0);
                for (std::size_t t = 0; t < space_.problem->tensors.size(); ++t) {
                    if (!(set.kept >> t & 1u)) continue;
                    costs[c][t] = (space_.frame.written[t] ? 2 : 1) * windowWords(t, (*classes_)[c].tensors[t], far);
                }
            }
            held_ = held;
            costs_ = std::move(costs);
            Box all;
            for (std::size_t a = space_.windows; a < space_.axes.size(); ++a) {
                const Range choices = range(a);
                lists_[a].clear();
                for (std::size_t i = choices.first; i < choices.end; i += choices.step)
                    lists_[a].push_back(static_cast<std::uint16_t>(i));
                all.low[a] = 0;
                all.high[a] = static_cast<std::uint16_t>(lists_[a].size() - 1);
            }
            split(all);
        }
    }

    /// Choices of the plain axes from one to another, by their number in `lists_`.
    struct Box {
        std::array<std::uint16_t, 16> low{}, high{};
    };
    const Choice& listed(std::size_t axis, std::size_t at) const { return space_.axes[axis].choices[lists_[axis][at]]; }

    bool multiplies(const OrderClass& order, std::size_t axis, std::size_t t) const {
        return !(space_.axes[axis].tensors >> t & 1u) && !(order.tensors[t].free >> axis & 1u);
    }

    // The smallest tiles of a box hold the least, its smallest counts move the least: where a corner that is known
    // needs no more of both, nothing in the box is new.
    void split(const Box& box) {
        if (stopped_ || (stopped_ = stop_.stop_requested())) return;
        const std::size_t tensors = space_.problem->tensors.size(), axes = space_.axes.size();
        double words = 0;
        for (std::size_t t = 0; t < tensors; ++t) {
            double held = held_[t];
            for (std::size_t a = space_.windows; a < axes; ++a) {
                if (space_.axes[a].tensors >> t & 1u) held *= listed(a, box.low[a]).tile;
            }
            words += held;
        }
        double least = endless;
        std::size_t which = 0;
        for (std::size_t c = 0; c < costs_.size(); ++c) {
            double moved = base_;
            for (std::size_t t = 0; t < tensors; ++t) {
                double cost = costs_[c][t];
                for (std::size_t a = space_.windows; a < axes; ++a) {
                    if (multiplies((*classes_)[c], a, t)) cost *= listed(a, box.high[a]).count;
                }
                moved += cost;
            }
            if (moved < least) least = moved, which = c;
        }
        ++tilings_;
        if (front_.covers(words, least)) return;
        std::size_t widest = axes;
        double ratio = 0;
        bool ragged = false;
        for (std::size_t a = space_.windows; a < axes; ++a) {
            const Choice &low = listed(a, box.low[a]), &high = listed(a, box.high[a]);
            ragged = ragged || low.ragged;
            if (box.low[a] == box.high[a]) continue;
            const double spread = low.count / high.count;
            if (spread > ratio) ratio = spread, widest = a;
        }
        if (widest < axes) {
            const auto middle = static_cast<std::uint16_t>((box.low[widest] + box.high[widest]) / 2);
            Box half = box;
            half.high[widest] = middle;
            split(half);
            half = box;
            half.low[widest] = static_cast<std::uint16_t>(middle + 1);
            split(half);
            return;
        }
        if (ragged_ != Any && ragged != (ragged_ == OnlyRagged)) return;
        for (std::size_t a = space_.windows; a < axes; ++a) witness_.choice[a] = lists_[a][box.low[a]];
        witness_.order = static_cast<std::uint16_t>(which);
        front_.add(words, least, witness_);
    }

    BoundPoint point(const Front::Corner& corner) const {
        const Witness& witness = front_.witness(corner);
        const Set& set = sets_[witness.keeps];
        BoundPoint made;
        made.words = corner.words;
        made.moved = corner.moved;
        made.keeps = set.kept;
        made.tile.fill(1);
        std::vector<std::uint8_t> axes;
        if (set.kept) axes = set.classes[witness.steps][witness.order].axes;
        for (std::size_t a = 0; a < space_.axes.size(); ++a) {
            const Axis& axis = space_.axes[a];
            const Choice& choice = axis.choices[witness.choice[a]];
            for (std::size_t i = 0; i < axis.dimensions.size(); ++i) made.tile[axis.dimensions[i]] = choice.tiles[i];
            if (std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(static_cast<std::uint8_t>(a));
        }
        std::size_t placed = 0;
        std::array<bool, maxNestDimensions> has{};
        const auto place = [&](std::uint8_t d) {
            if (!has[d]) made.order[placed++] = d;
            has[d] = true;
        };
        for (const std::uint8_t a : axes) {
            for (const std::uint8_t d : space_.axes[a].dimensions) place(d);
        }
        for (std::size_t d = 0; d < space_.problem->dimensions.size(); ++d) place(static_cast<std::uint8_t>(d));
        return made;
    }

    const Space& space_;
    BoundOptions options_;
    std::stop_token stop_;
    Front front_;
    std::vector<Set> sets_;
    std::size_t set_ = 0;
    Windows windows_;
    Witness witness_;
    const std::vector<OrderClass>* classes_ = nullptr;
    PerTensor held_{};                                  ///< words of each tensor's tile, its plain axes left out
    std::vector<PerTensor> costs_;                      ///< per class: words moved, with one tile of every plain axis
    std::array<std::vector<std::uint16_t>, 16> lists_;  ///< per plain axis: the choices to try
    double base_ = 0;
    bool thin_ = false, stopped_ = false;
    enum { Any, OnlyWhole, OnlyRagged } ragged_ = Any;
    std::uint64_t tilings_ = 0;
};

}  // namespace

std::optional<BoundCurve> searchBound(const Space& space, const BoundOptions& options, const std::stop_token& stop) {
    Search search(space, options, stop);
    if (!search.run()) return std::nullopt;
    return search.curve();
}

}  // namespace orrery::bounds
