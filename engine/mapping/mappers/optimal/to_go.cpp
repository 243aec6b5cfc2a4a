#include "mapping/mappers/optimal/to_go.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace orrery::optimal {
namespace {

constexpr std::uint64_t mostProducts = 1u << 21, mostCosts = 1u << 22;
constexpr double unreached = std::numeric_limits<double>::infinity();

/// What the interfaces inside a boundary cost as loops close them. What depends on the tile alone is kept from one set
/// of loops to the next.
class Closer {
public:
    Closer(const Chain& chain, const std::array<std::size_t, maxNestTensors>& interfaces)
        : chain_(chain), dimensions_(chain.facts->active.size()), count_(interfaces) {}

    void from(const ToGo::Extents& inside) {
        inside_ = &inside;
        outer_ = 1;
        for (std::size_t a = 0; a < dimensions_; ++a) outer_ *= static_cast<double>(chain_.temporal[a] / inside[a]);
        for (std::size_t t = 0; t < chain_.facts->tensors.size(); ++t)
            for (std::size_t j = 0; j < count_[t]; ++j)
                tile_[t][j] = chain_.tile(chain_.interfaces[t][j], inside.data());
    }
    void to(std::size_t level, const ToGo::Extents& outside) {
        level_ = level;
        outside_ = &outside;
        for (std::size_t a = 0; a < dimensions_; ++a)
            bound_[a] = static_cast<double>(outside[a]) / static_cast<double>((*inside_)[a]);
    }
    /// Where no loop moves the tensor, all of them are run without it.
    Closing closing(std::size_t t, const OrderClass& order, std::uint32_t active) const {
        const TensorFacts& tensor = chain_.facts->tensors[t];
        Closing made;
        if (!(tensor.relevant & active)) {
            for (std::size_t a = 0; a < dimensions_; ++a) made.run *= bound_[a];
            made.insideBounds = made.run;
        } else if (tensor.simple) {
            for (std::uint32_t run = order.run[t]; run; run &= run - 1)
                made.run *= bound_[static_cast<std::size_t>(std::countr_zero(run))];
        } else {
            made = chain_.closing(t, order, level_, inside_->data(), outside_->data());
        }
        return made;
    }
    void add(std::size_t t, std::size_t j, const Closing& closing, Measures& to) const {
        chain_.add(chain_.interfaces[t][j], inside_->data(), outer_, closing, to, tile_[t][j]);
    }

private:
    const Chain& chain_;
    std::size_t dimensions_, level_ = 0;
    const std::array<std::size_t, maxNestTensors>& count_;
    const ToGo::Extents *inside_ = nullptr, *outside_ = nullptr;
    double outer_ = 1;
    std::array<double, maxNestDimensions> bound_{};
    std::array<std::array<double, maxMapspaceLevels>, maxNestTensors> tile_{};
};

/// The orders of one level by its loops, found without a search.
class OrdersOfLevel {
public:
    OrdersOfLevel(Orders& orders, std::size_t level, std::uint32_t linked, std::size_t dimensions)
        : orders_(orders), level_(level), linked_(linked), known_(std::size_t{1} << dimensions) {}
    const std::vector<OrderClass>& of(std::uint32_t active) {
        const auto*& known = known_[active];
        if (!known) known = &orders_.of(level_, active, linked_);
        return *known;
    }

private:
    Orders& orders_;
    std::size_t level_;
    std::uint32_t linked_;
    std::vector<const std::vector<OrderClass>*> known_;
};

}  // namespace

bool ToGo::build(const Chain& chain, const Skeleton& skeleton, Orders& orders, double threshold,
                 const std::function<bool()>& stop) {
    threshold_ = threshold;
    chain_ = &chain;
    skeleton_ = &skeleton;
    orders_ = &orders;
    levels_ = chain.facts->levels();
    dimensions_ = chain.facts->active.size();
    tooLarge_ = false;
    transitions_ = 0;
    if (!listStates(stop)) return false;

    const std::size_t tensors = chain.facts->tensors.size();
    count_.assign(levels_ + 1, {});
    scale_.assign(levels_ + 1, {});
    openings_.assign(levels_ + 1, 1);
    for (std::size_t b = 0; b <= levels_; ++b) {
        for (std::size_t t = 0; t < tensors; ++t) {
            for (const Interface& at : chain.interfaces[t]) count_[b][t] += at.child + 1 <= static_cast<int>(b);
            scale_[b][t] = openings_[b];
            openings_[b] *= count_[b][t] + 1;
        }
        if (states_[b].size() * openings_[b] > mostCosts) {
            tooLarge_ = true;
            return false;
        }
    }
    Measures none;
    none.fill(unreached);
    cost_.assign(levels_ + 1, {});
    for (std::size_t b = 0; b <= levels_; ++b) cost_[b].assign(states_[b].size() * openings_[b], none);
    cost_[0][0] = {};
    boundSuffix();
    Measures root = rest(0, 0);
    for (std::size_t k = 0; k < facts().measures(); ++k) root[k] += suffixLeast_[k];
    if (!(facts().value(chain.cycles, root) < threshold_)) return false;
    for (std::size_t b = 0; b < levels_; ++b) {
        if (stop() || !step(b)) return false;
        if (b + 1 < levels_) prune(b + 1);
    }
    return true;
}

// The loops of the outermost level are all that closes the interfaces just inside it: what these cost together at
// least for every tile inside, whichever tensor stays.
void ToGo::boundOutermost() {
    const std::size_t b = levels_ - 1, measures = facts().measures(), tensors = facts().tensors.size();
    Measures none;
    none.fill(unreached);
    suffix_.assign(levels_ + 1, {});
    suffix_[b].assign(states_[b].size(), none);
    Closer closer(*chain_, count_[b]);
    const Extents& all = states_[levels_][0].extents;
    for (std::size_t s = 0; s < states_[b].size(); ++s) {
        const State& state = states_[b][s];
        std::uint32_t active = 0;
        bool can = true;
        for (std::size_t a = 0; a < dimensions_; ++a) {
            const std::int64_t factor = all[a] / state.extents[a];
            can = can && facts().allows(2 * b + 1, a, factor);
            active |= factor > 1 ? 1u << a : 0u;
        }
        if (!can) continue;
        closer.from(state.extents);
        closer.to(b, all);
        for (const OrderClass& order : orders_->of(b, active, chain_->linked)) {
            ++transitions_;
            Measures sum{};
            for (std::size_t t = 0; t < tensors; ++t) {
                const Closing closing = closer.closing(t, order, active);
                for (std::size_t j = 0; j < count_[b][t]; ++j) {
                    if (chain_->interfaces[t][j].child + 1 == static_cast<int>(b)) closer.add(t, j, closing, sum);
                }
            }
            for (std::size_t k = 0; k < measures; ++k) suffix_[b][s][k] = std::min(suffix_[b][s][k], sum[k]);
        }
    }
}

// The same one boundary further in: the loops between close an interface that begins there, or it costs its least.
void ToGo::boundSuffix() {
    boundOutermost();
    const std::size_t b = suffixFrom(), measures = facts().measures(), tensors = facts().tensors.size();
    if (b + 1 < levels_) {
        Measures none;
        none.fill(unreached);
        suffix_[b].assign(states_[b].size(), none);
        Closer closer(*chain_, count_[b]);
        OrdersOfLevel orders(*orders_, b, chain_->linked, dimensions_);
        for (std::size_t s = 0; s < states_[b].size(); ++s) {
            const State& state = states_[b][s];
            closer.from(state.extents);
            outside(b, state, [&](std::uint32_t target, std::uint32_t active) {
                const Measures& further = suffix_[b + 1][target];
                if (further[0] == unreached) return;
                closer.to(b, states_[b + 1][target].extents);
                for (const OrderClass& order : orders.of(active)) {
                    ++transitions_;
                    Measures sum = further;
                    for (std::size_t t = 0; t < tensors; ++t) {
                        const bool closes = facts().tensors[t].relevant & active;
                        Closing closing;
                        if (closes) closing = closer.closing(t, order, active);
                        for (std::size_t j = 0; j < count_[b][t]; ++j) {
                            if (chain_->interfaces[t][j].child + 1 != static_cast<int>(b)) continue;
                            if (closes) {
                                closer.add(t, j, closing, sum);
                            } else {
                                for (std::size_t k = 0; k < measures; ++k) sum[k] += chain_->least[t][j][k];
                            }
                        }
                    }
                    for (std::size_t k = 0; k < measures; ++k) suffix_[b][s][k] = std::min(suffix_[b][s][k], sum[k]);
                }
            });
        }
    }
    suffixLeast_.fill(unreached);
    for (const Measures& each : suffix_[b])
        for (std::size_t k = 0; k < measures; ++k) suffixLeast_[k] = std::min(suffixLeast_[k], each[k]);
}

// The least of everything that is not closed at boundary b, but for what begins at suffixFrom() or, if that is further
// out, at b.
Measures ToGo::rest(std::size_t b, std::size_t opening) const {
    Measures sum = chain_->base;
    const std::size_t measures = facts().measures();
    const int from = static_cast<int>(std::max(b, suffixFrom()));
    for (std::size_t t = 0; t < facts().tensors.size(); ++t) {
        for (std::size_t j = firstOpen(b, opening, t); j < chain_->least[t].size(); ++j) {
            if (chain_->interfaces[t][j].child + 1 >= from) continue;
            for (std::size_t k = 0; k < measures; ++k) sum[k] += chain_->least[t][j][k];
        }
    }
    return sum;
}

// With everything that is not closed at its least, what is closed must leave room below the threshold.
void ToGo::prune(std::size_t b) {
    const std::size_t measures = facts().measures();
    for (std::size_t o = 0; o < openings_[b]; ++o) {
        const Measures rest = this->rest(b, o);
        for (std::size_t s = 0; s < states_[b].size(); ++s) {
            Measures& at = cost_[b][s * openings_[b] + o];
            if (at[0] == unreached) continue;
            const Measures& further = b >= suffixFrom() ? suffix_[b][s] : suffixLeast_;
            Measures sum = rest;
            for (std::size_t k = 0; k < measures; ++k) sum[k] += at[k] + further[k];
            if (!(facts().value(chain_->cycles, sum) < threshold_)) at[0] = unreached;
        }
    }
}

bool ToGo::listStates(const std::function<bool()>& stop) {
    divisors_.assign(dimensions_, {});
    std::uint64_t products = 1;
    for (std::size_t a = 0; a < dimensions_; ++a) {
        const std::int64_t n = chain_->temporal[a];
        for (std::int64_t f = 1; f * f <= n; ++f) {
            if (n % f) continue;
            divisors_[a].push_back(f);
            if (f * f != n) divisors_[a].push_back(n / f);
        }
        std::sort(divisors_[a].begin(), divisors_[a].end());
        scale0_[a] = static_cast<std::uint32_t>(products);
        products *= divisors_[a].size();
        if (products > mostProducts) {
            tooLarge_ = true;
            return false;
        }
    }
    const auto product = [&](std::uint32_t number) {
        State state{number, {}};
        for (std::size_t a = 0; a < dimensions_; ++a)
            state.extents[a] = divisors_[a][number / scale0_[a] % divisors_[a].size()];
        return state;
    };
    down_.assign(levels_, {});
    up_.assign(levels_, {});
    for (std::size_t b = 0; b < levels_; ++b) {
        down_[b].resize(dimensions_);
        up_[b].resize(dimensions_);
        for (std::size_t a = 0; a < dimensions_; ++a) {
            down_[b][a].resize(divisors_[a].size());
            up_[b][a].resize(divisors_[a].size());
            for (std::uint32_t o = 0; o < divisors_[a].size(); ++o) {
                for (std::uint32_t i = 0; i <= o; ++i) {
                    if (divisors_[a][o] % divisors_[a][i]) continue;
                    if (!chain_->facts->allows(2 * b + 1, a, divisors_[a][o] / divisors_[a][i])) continue;
                    down_[b][a][o].push_back(i);
                    up_[b][a][i].push_back(o);
                }
            }
        }
    }
    // Which extents of each dimension the loops inside a boundary can make.
    std::vector<std::vector<std::vector<char>>> made(levels_ + 1, std::vector<std::vector<char>>(dimensions_));
    for (std::size_t a = 0; a < dimensions_; ++a) {
        made[0][a].assign(divisors_[a].size(), 0);
        made[0][a][0] = 1;
        for (std::size_t b = 0; b < levels_; ++b) {
            made[b + 1][a].assign(divisors_[a].size(), 0);
            for (std::size_t i = 0; i < divisors_[a].size(); ++i)
                for (const std::uint32_t o : up_[b][a][i])
                    made[b + 1][a][o] = static_cast<char>(made[b + 1][a][o] | made[b][a][i]);
        }
        for (std::size_t b = levels_; b-- > 0;) {
            if (b + 1 == levels_) std::fill(made[levels_][a].begin(), made[levels_][a].end() - 1, 0);
            for (std::size_t i = 0; i < divisors_[a].size(); ++i) {
                bool leads = false;
                for (const std::uint32_t o : up_[b][a][i]) leads = leads || made[b + 1][a][o];
                made[b][a][i] = static_cast<char>(made[b][a][i] && leads);
            }
        }
    }
    states_.assign(levels_ + 1, {});
    compact_.assign(levels_ + 1, std::vector<std::int32_t>(static_cast<std::size_t>(products), -1));
    for (std::size_t b = 0; b <= levels_; ++b) {
        if (stop()) return false;
        for (std::uint32_t number = 0; number < products; ++number) {
            bool can = true;
            for (std::size_t a = 0; a < dimensions_ && can; ++a)
                can = made[b][a][number / scale0_[a] % divisors_[a].size()];
            if (!can) continue;
            const State state = product(number);
            if (!chain_->fits(*skeleton_, b ? b - 1 : 0, state.extents.data())) continue;
            compact_[b][number] = static_cast<std::int32_t>(states_[b].size());
            states_[b].push_back(state);
        }
        if (states_[b].empty()) return false;
    }
    return true;
}

void ToGo::inside(std::size_t b, const Extents& outside,
                  const std::function<void(std::uint32_t, std::uint32_t)>& use) const {
    std::array<std::uint32_t, maxNestDimensions> at;
    for (std::size_t a = 0; a < dimensions_; ++a)
        at[a] = static_cast<std::uint32_t>(std::lower_bound(divisors_[a].begin(), divisors_[a].end(), outside[a]) -
                                           divisors_[a].begin());
    const auto walk = [&](const auto& self, std::size_t a, std::uint32_t number, std::uint32_t active) -> void {
        if (a == dimensions_) {
            if (const std::int32_t state = compact_[b][number]; state >= 0)
                use(static_cast<std::uint32_t>(state), active);
            return;
        }
        for (const std::uint32_t i : down_[b][a][at[a]])
            self(self, a + 1, number + i * scale0_[a], active | (i != at[a] ? 1u << a : 0u));
    };
    walk(walk, 0, 0, 0);
}

void ToGo::outside(std::size_t b, const State& state,
                   const std::function<void(std::uint32_t, std::uint32_t)>& use) const {
    std::array<std::uint32_t, maxNestDimensions> at;
    for (std::size_t a = 0; a < dimensions_; ++a)
        at[a] = state.number / scale0_[a] % static_cast<std::uint32_t>(divisors_[a].size());
    const auto walk = [&](const auto& self, std::size_t a, std::uint32_t number, std::uint32_t active) -> void {
        if (a == dimensions_) {
            if (const std::int32_t target = compact_[b + 1][number]; target >= 0)
                use(static_cast<std::uint32_t>(target), active);
            return;
        }
        for (const std::uint32_t i : up_[b][a][at[a]])
            self(self, a + 1, number + i * scale0_[a], active | (i != at[a] ? 1u << a : 0u));
    };
    walk(walk, 0, 0, 0);
}

bool ToGo::step(std::size_t b) {
    const Facts& facts = *chain_->facts;
    const std::size_t tensors = facts.tensors.size(), measures = facts.measures();
    const std::size_t here = openings_[b], there = openings_[b + 1];
    std::array<std::array<Measures, maxMapspaceLevels + 1>, maxNestTensors> close;  // [tensor][first open]
    // By the tensors that are closed: the opening that each becomes.
    std::vector<std::size_t> becomes(here << tensors);
    for (std::size_t o = 0; o < here; ++o) {
        for (std::size_t closed = 0; closed < (std::size_t{1} << tensors); ++closed) {
            std::size_t next = 0;
            for (std::size_t t = 0; t < tensors; ++t)
                next += (closed >> t & 1u ? count_[b][t] : firstOpen(b, o, t)) * scale_[b + 1][t];
            becomes[(o << tensors) + closed] = next;
        }
    }
    std::vector<std::size_t> first(here * tensors), live;
    for (std::size_t o = 0; o < here; ++o)
        for (std::size_t t = 0; t < tensors; ++t) first[o * tensors + t] = firstOpen(b, o, t);
    Closer closer(*chain_, count_[b]);
    OrdersOfLevel orders(*orders_, b, chain_->linked, dimensions_);
    bool alive = false;
    for (std::uint32_t s = 0; s < states_[b].size(); ++s) {
        const State& state = states_[b][s];
        const Measures* from = &cost_[b][s * here];
        live.clear();
        for (std::size_t o = 0; o < here; ++o)
            if (from[o][0] != unreached) live.push_back(o);
        if (live.empty()) continue;
        alive = true;
        closer.from(state.extents);
        outside(b, state, [&](std::uint32_t target, std::uint32_t active) {
            if (b + 1 < levels_ && b + 1 >= suffixFrom() && suffix_[b + 1][target][0] == unreached) return;
            Measures* to = &cost_[b + 1][static_cast<std::size_t>(target) * there];
            closer.to(b, states_[b + 1][target].extents);
            std::size_t closed = 0;
            for (std::size_t t = 0; t < tensors; ++t)
                if ((facts.tensors[t].relevant & active) && count_[b][t] > 0) closed |= std::size_t{1} << t;
            for (const OrderClass& order : orders.of(active)) {
                ++transitions_;
                for (std::size_t t = 0; t < tensors; ++t) {
                    if (!(closed >> t & 1u)) continue;
                    const Closing closing = closer.closing(t, order, active);
                    const std::size_t n = count_[b][t];
                    std::fill_n(close[t][n].begin(), measures, 0.0);
                    for (std::size_t j = n; j-- > 0;) {
                        std::copy_n(close[t][j + 1].begin(), measures, close[t][j].begin());
                        closer.add(t, j, closing, close[t][j]);
                    }
                }
                for (const std::size_t o : live) {
                    Measures& best = to[becomes[(o << tensors) + closed]];
                    for (std::size_t k = 0; k < measures; ++k) {
                        double sum = from[o][k];
                        for (std::size_t t = 0; t < tensors; ++t)
                            if (closed >> t & 1u) sum += close[t][first[o * tensors + t]][k];
                        best[k] = std::min(best[k], sum);
                    }
                }
            }
        });
    }
    return alive;
}

}  // namespace orrery::optimal
