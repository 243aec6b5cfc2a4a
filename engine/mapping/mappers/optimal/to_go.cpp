#include "mapping/mappers/optimal/to_go.h"

#include <algorithm>
#include <limits>

namespace orrery::optimal {
namespace {

constexpr std::uint64_t mostProducts = 1u << 21, mostCosts = 1u << 22;
constexpr double unreached = std::numeric_limits<double>::infinity();

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
    boundOutermost();
    if (!(facts().value(chain.cycles, rest(0, 0)) < threshold_)) return false;
    for (std::size_t b = 0; b < levels_; ++b) {
        if (stop() || !step(b)) return false;
        if (b + 1 < levels_) prune(b + 1);
    }
    return true;
}

// The loops of the outermost level are all that closes the interfaces just inside it: what these cost together at
// least, whichever tile is inside and whichever tensor stays.
void ToGo::boundOutermost() {
    const std::size_t b = levels_ - 1, measures = facts().measures();
    outermost_.fill(unreached);
    const Extents& all = states_[levels_][0].extents;
    for (const State& state : states_[b]) {
        double outer = 1;
        std::uint32_t active = 0;
        bool can = true;
        for (std::size_t a = 0; a < dimensions_; ++a) {
            const std::int64_t factor = all[a] / state.extents[a];
            can = can && facts().allows(2 * b + 1, a, factor);
            outer *= static_cast<double>(factor);
            active |= factor > 1 ? 1u << a : 0u;
        }
        if (!can) continue;
        for (const OrderClass& order : orders_->of(b, active, chain_->linked)) {
            ++transitions_;
            Measures sum{};
            for (std::size_t t = 0; t < facts().tensors.size(); ++t) {
                Closing closing;
                closing.run = outer;
                closing.insideBounds = outer;
                if (facts().tensors[t].relevant & active)
                    closing = chain_->closing(t, order, b, state.extents.data(), all.data());
                for (const Interface& at : chain_->interfaces[t]) {
                    if (at.child + 1 == static_cast<int>(b)) chain_->add(at, state.extents.data(), outer, closing, sum);
                }
            }
            for (std::size_t k = 0; k < measures; ++k) outermost_[k] = std::min(outermost_[k], sum[k]);
        }
    }
}

// The least of everything that is not closed at boundary b.
Measures ToGo::rest(std::size_t b, std::size_t opening) const {
    Measures sum = chain_->base;
    const std::size_t measures = facts().measures();
    for (std::size_t t = 0; t < facts().tensors.size(); ++t) {
        for (std::size_t j = firstOpen(b, opening, t); j < chain_->least[t].size(); ++j) {
            if (chain_->interfaces[t][j].child + 1 == static_cast<int>(levels_) - 1) continue;
            for (std::size_t k = 0; k < measures; ++k) sum[k] += chain_->least[t][j][k];
        }
    }
    for (std::size_t k = 0; k < measures && b < levels_; ++k) sum[k] += outermost_[k];
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
            Measures sum = rest;
            for (std::size_t k = 0; k < measures; ++k) sum[k] += at[k];
            if (facts().value(chain_->cycles, sum) >= threshold_) at[0] = unreached;
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

bool ToGo::step(std::size_t b) {
    const Facts& facts = *chain_->facts;
    const std::size_t tensors = facts.tensors.size(), measures = facts.measures();
    const std::size_t here = openings_[b], there = openings_[b + 1];
    std::array<std::array<Measures, maxMapspaceLevels + 1>, maxNestTensors> close;  // [tensor][first open]
    bool alive = false;
    for (std::uint32_t s = 0; s < states_[b].size(); ++s) {
        const State& state = states_[b][s];
        const Measures* from = &cost_[b][s * here];
        bool any = false;
        for (std::size_t o = 0; o < here; ++o) any = any || from[o][0] != unreached;
        if (!any) continue;
        alive = true;
        double outer = 1;
        std::array<std::uint32_t, maxNestDimensions> at;
        for (std::size_t a = 0; a < dimensions_; ++a) {
            outer *= static_cast<double>(chain_->temporal[a] / state.extents[a]);
            at[a] = state.number / scale0_[a] % static_cast<std::uint32_t>(divisors_[a].size());
        }
        const auto arrive = [&](std::uint32_t number, std::uint32_t active) {
            const std::int32_t target = compact_[b + 1][number];
            if (target < 0) return;
            const State& outside = states_[b + 1][static_cast<std::size_t>(target)];
            Measures* to = &cost_[b + 1][static_cast<std::size_t>(target) * there];
            for (const OrderClass& order : orders_->of(b, active, chain_->linked)) {
                ++transitions_;
                for (std::size_t t = 0; t < tensors; ++t) {
                    const std::size_t n = count_[b][t];
                    if (!(facts.tensors[t].relevant & active) || n == 0) continue;
                    const Closing closing = chain_->closing(t, order, b, state.extents.data(), outside.extents.data());
                    close[t][n] = {};
                    for (std::size_t j = n; j-- > 0;) {
                        close[t][j] = close[t][j + 1];
                        chain_->add(chain_->interfaces[t][j], state.extents.data(), outer, closing, close[t][j]);
                    }
                }
                for (std::size_t o = 0; o < here; ++o) {
                    if (from[o][0] == unreached) continue;
                    Measures sum = from[o];
                    std::size_t next = 0;
                    for (std::size_t t = 0; t < tensors; ++t) {
                        std::size_t first = firstOpen(b, o, t);
                        if ((facts.tensors[t].relevant & active) && count_[b][t] > 0) {
                            for (std::size_t k = 0; k < measures; ++k) sum[k] += close[t][first][k];
                            first = count_[b][t];
                        }
                        next += first * scale_[b + 1][t];
                    }
                    Measures& best = to[next];
                    for (std::size_t k = 0; k < measures; ++k) best[k] = std::min(best[k], sum[k]);
                }
            }
        };
        const auto walk = [&](const auto& self, std::size_t a, std::uint32_t number, std::uint32_t active) -> void {
            if (a == dimensions_) return arrive(number, active);
            for (const std::uint32_t i : up_[b][a][at[a]])
                self(self, a + 1, number + i * scale0_[a], active | (i != at[a] ? 1u << a : 0u));
        };
        walk(walk, 0, 0, 0);
    }
    return alive;
}

}  // namespace orrery::optimal
