#pragma once

// The slow twin of the systolic array: demand as matrices of addresses, buffers as sets and lists of addresses, one
// element after the other. It shares no arithmetic with the engine beyond the sizes of the array and the layer.

#include "simulation/systolic/array.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace orrery::fixture {

using Addresses = std::vector<std::int64_t>;  ///< -1: nothing

struct TwinTransfer {
    std::int64_t start = 0, stop = -1, words = 0;
};

struct TwinReport {
    std::int64_t total = 0, stalls = 0;
    TwinTransfer ifmap, filter, ofmap;
};

/// Operand matrices as addresses.
struct TwinOperands {
    std::vector<Addresses> a, b, z;
    TwinOperands(const systolic::Layer& l, std::int64_t keep, std::int64_t of) {
        const std::int64_t oh = l.outHeight();
        const std::int64_t ow = l.outWidth();
        std::vector<std::int64_t> ks;
        for (std::int64_t k = 0; k < l.filterHeight * l.filterWidth * l.channels; ++k) {
            if (k % of < keep) ks.push_back(k);
        }
        for (std::int64_t m = 0; m < oh * ow; ++m) {
            Addresses row, out;
            for (const std::int64_t k : ks) {
                const std::int64_t y = m / ow * l.strideHeight + k / (l.filterWidth * l.channels);
                const std::int64_t x = m % ow * l.strideWidth + k / l.channels % l.filterWidth;
                const bool inside = y < l.ifmapHeight && x < l.ifmapWidth;
                row.push_back(inside ? (y * l.ifmapWidth + x) * l.channels + k % l.channels : -1);
            }
            for (std::int64_t n = 0; n < l.filters; ++n) out.push_back(m * l.filters + n);
            a.push_back(row);
            z.push_back(out);
        }
        for (const std::int64_t k : ks) {
            Addresses row;
            for (std::int64_t n = 0; n < l.filters; ++n) row.push_back(n * 1'000'003 + k);
            b.push_back(row);
        }
    }
};

inline std::vector<Addresses> transposed(const std::vector<Addresses>& m) {
    std::vector<Addresses> out(m.front().size(), Addresses(m.size()));
    for (std::size_t i = 0; i < m.size(); ++i) {
        for (std::size_t j = 0; j < m[i].size(); ++j) out[j][i] = m[i][j];
    }
    return out;
}
/// height × width of m from (y, x); -1 beyond its edge.
inline std::vector<Addresses> cut(const std::vector<Addresses>& m, std::int64_t y, std::int64_t x, std::int64_t height,
                                  std::int64_t width) {
    std::vector<Addresses> out(static_cast<std::size_t>(height), Addresses(static_cast<std::size_t>(width), -1));
    for (std::int64_t i = 0; i < height && y + i < static_cast<std::int64_t>(m.size()); ++i) {
        for (std::int64_t j = 0; j < width && x + j < static_cast<std::int64_t>(m.front().size()); ++j)
            out[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
                m[static_cast<std::size_t>(y + i)][static_cast<std::size_t>(x + j)];
    }
    return out;
}
inline std::vector<Addresses> skewed(const std::vector<Addresses>& m) {
    const std::size_t width = m.front().size();
    std::vector<Addresses> out(m.size() + width - 1, Addresses(width, -1));
    for (std::size_t i = 0; i < m.size(); ++i) {
        for (std::size_t j = 0; j < width; ++j) out[i + j][j] = m[i][j];
    }
    return out;
}
inline std::vector<Addresses> flipped(std::vector<Addresses> m) {
    std::reverse(m.begin(), m.end());
    return m;
}
inline std::vector<Addresses> blank(std::int64_t height, std::int64_t width) {
    return std::vector<Addresses>(static_cast<std::size_t>(std::max<std::int64_t>(0, height)),
                                  Addresses(static_cast<std::size_t>(width), -1));
}
inline std::vector<Addresses> stacked(std::vector<Addresses> a, const std::vector<Addresses>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
inline Addresses alongDiagonals(const std::vector<Addresses>& m) {
    Addresses out;
    const auto height = static_cast<std::int64_t>(m.size());
    const auto width = static_cast<std::int64_t>(m.front().size());
    for (std::int64_t d = 0; d < height + width - 1; ++d) {
        for (std::int64_t j = 0; j < width; ++j) {
            if (d - j >= 0 && d - j < height)
                out.push_back(m[static_cast<std::size_t>(d - j)][static_cast<std::size_t>(j)]);
        }
    }
    return out;
}
inline Addresses alongRows(const std::vector<Addresses>& m) {
    Addresses out;
    for (const Addresses& row : m) out.insert(out.end(), row.begin(), row.end());
    return out;
}

/// What the array asks for in every cycle without stalls, and the order in which the SRAMs fetch.
struct TwinDemand {
    std::vector<Addresses> ifmap, filter, ofmap;
    Addresses ifmapFetch, filterFetch;
};

inline TwinDemand demandOf(const systolic::Array& array, const TwinOperands& op) {
    const std::int64_t R = array.rows;
    const std::int64_t C = array.cols;
    const auto M = static_cast<std::int64_t>(op.a.size());
    const auto K = static_cast<std::int64_t>(op.b.size());
    const auto N = static_cast<std::int64_t>(op.b.front().size());
    TwinDemand out;
    const auto at = transposed(op.a);
    const auto bt = transposed(op.b);
    const auto zt = transposed(op.z);
    std::vector<Addresses> ifmapMatrix, filterMatrix;
    if (array.dataflow == Dataflow::OutputStationary) {
        for (std::int64_t m = 0; m < M; m += R) ifmapMatrix = stacked(ifmapMatrix, cut(at, 0, m, K, R));
        for (std::int64_t n = 0; n < N; n += C) filterMatrix = stacked(filterMatrix, cut(op.b, 0, n, K, C));
        for (std::int64_t n = 0; n < N; n += C) {
            for (std::int64_t m = 0; m < M; m += R) {
                out.ifmap = stacked(out.ifmap, skewed(stacked(cut(at, 0, m, K, R), blank(C - 1, R))));
                out.filter = stacked(out.filter, skewed(stacked(cut(op.b, 0, n, K, C), blank(R - 1, C))));
                out.ofmap = stacked(out.ofmap, skewed(stacked(blank(K - 1, C), flipped(cut(op.z, m, n, R, C)))));
            }
        }
        out.ifmapFetch = alongDiagonals(ifmapMatrix);
        out.filterFetch = alongDiagonals(filterMatrix);
        return out;
    }
    const bool weights = array.dataflow == Dataflow::WeightStationary;
    const auto& stay = weights ? op.b : at;    // K × across
    const auto& stream = weights ? op.a : bt;  // T × K
    const auto& result = weights ? op.z : zt;  // T × across
    const std::int64_t across = weights ? N : M;
    const std::int64_t T = weights ? M : N;
    std::vector<Addresses> stayMatrix, streamMatrix;
    for (std::int64_t n = 0; n < across; n += C) stayMatrix = stacked(stayMatrix, cut(stay, 0, n, K, C));
    for (std::int64_t k = 0; k < K; k += R) streamMatrix = stacked(streamMatrix, cut(stream, 0, k, T, R));
    auto& stayDemand = weights ? out.filter : out.ifmap;
    auto& streamDemand = weights ? out.ifmap : out.filter;
    for (std::int64_t n = 0; n < across; n += C) {
        for (std::int64_t k = 0; k < K; k += R) {
            stayDemand = stacked(stayDemand, stacked(flipped(cut(stay, k, n, R, C)), blank(R + C + T - 2, C)));
            streamDemand =
                stacked(streamDemand, skewed(stacked(stacked(blank(R, R), cut(stream, 0, k, T, R)), blank(C - 1, R))));
            out.ofmap = stacked(out.ofmap, skewed(stacked(blank(2 * R - 1, C), cut(result, 0, n, T, C))));
        }
    }
    (weights ? out.filterFetch : out.ifmapFetch) = alongRows(stayMatrix);
    (weights ? out.ifmapFetch : out.filterFetch) = alongDiagonals(streamMatrix);
    return out;
}

/// A read SRAM that is always served in time.
class TwinIdeal {
public:
    TwinIdeal(std::int64_t words, std::int64_t bandwidth) : set_(words / 100), bandwidth_(bandwidth) {}
    std::int64_t read(std::int64_t cycle, const Addresses& row) {
        for (const std::int64_t address : row) {
            if (address < 0) continue;
            if (first_ < 0) first_ = cycle;
            if (!half_.insert(address).second) continue;
            ++words_;
            if (static_cast<std::int64_t>(half_.size()) < 50 * set_) continue;
            half_.clear();
            exchange_ = cycle;
        }
        return 0;
    }
    TwinTransfer transfer() const {
        const auto cycles = [this](std::int64_t words) { return (words + bandwidth_ - 1) / bandwidth_; };
        if (exchange_ >= 0) return {first_ - cycles(50 * set_), exchange_ + 1, words_};
        const auto sets = (static_cast<std::int64_t>(half_.size()) + set_ - 1) / set_;
        return {-cycles(sets * set_), -1, words_};
    }

private:
    std::int64_t set_, bandwidth_;
    std::set<std::int64_t> half_;
    std::int64_t first_ = -1, exchange_ = -1, words_ = 0;
};

/// A read SRAM behind a limited bandwidth.
class TwinBound {
public:
    TwinBound(std::int64_t words, std::int64_t bandwidth, const Addresses& fetch, bool twice)
        : bandwidth_(bandwidth), twice_(twice) {
        const std::int64_t line = (words + 99) / 100;
        lines_.emplace_back();
        std::int64_t count = 0;
        for (const std::int64_t address : fetch) {
            if (address < 0) continue;
            lines_.back().insert(address);
            if (++count == line) lines_.emplace_back(), count = 0;
        }
        const std::int64_t half = (words + 1) / 2;
        const auto all = static_cast<std::int64_t>(lines_.size());
        active_ = std::min(all, (half + line - 1) / line);
        refill_ = std::min(all - active_, (words - half + line - 1) / line);
        const std::int64_t rounds = (static_cast<std::int64_t>(fetch.size()) + bandwidth - 1) / bandwidth;
        firstCycles_ = std::min((half + bandwidth - 1) / bandwidth, rounds);
        refillCycles_ = (words - half + bandwidth - 1) / bandwidth;
        fetched_ = firstCycles_ * bandwidth;
        for (std::int64_t i = 0; i < active_; ++i) inUse_.push_back(i);
    }
    std::int64_t read(std::int64_t cycle, const Addresses& row) {
        std::int64_t offset = 1;
        for (const std::int64_t address : row) {
            if (address < 0) continue;
            while (!holds(address)) {
                for (std::int64_t& line : inUse_) line = (line + refill_) % static_cast<std::int64_t>(lines_.size());
                ready_ += refillCycles_ + 1;
                fetched_ += refillCycles_ * bandwidth_;
                const std::int64_t missing = ready_ - (cycle + offset);
                if (twice_) offset += missing;
                if (missing > 0) offset += missing;
            }
        }
        return offset - 1;
    }
    TwinTransfer transfer() const { return {-firstCycles_, ready_, fetched_}; }

private:
    bool holds(std::int64_t address) const {
        return std::any_of(inUse_.begin(), inUse_.end(), [&](std::int64_t line) {
            return lines_[static_cast<std::size_t>(line)].count(address) > 0;
        });
    }
    std::vector<std::set<std::int64_t>> lines_;
    std::vector<std::int64_t> inUse_;
    std::int64_t bandwidth_, active_ = 0, refill_ = 0, firstCycles_ = 0, refillCycles_ = 0, ready_ = -1, fetched_ = 0;
    bool twice_;
};

/// A banked read SRAM: lines as lists of addresses, looked through from the first on for every word.
class TwinBanked {
public:
    TwinBanked(std::int64_t words, std::int64_t width, const Addresses& fetch, systolic::Banks banks, bool twice)
        : width_(width), banks_(banks), twice_(twice) {
        lines_.emplace_back();
        for (const std::int64_t address : fetch) {
            if (address < 0) continue;
            lines_.back().push_back(address);
            if (static_cast<std::int64_t>(lines_.back().size()) == width) lines_.emplace_back();
        }
        const std::int64_t half = (words + 1) / 2;
        const auto all = static_cast<std::int64_t>(lines_.size());
        const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
        const std::int64_t active = std::min(all, up(half, width));
        refill_ = std::min(all - active, up(words - half, width));
        firstCycles_ = std::min(up(half, width), up(static_cast<std::int64_t>(fetch.size()), width));
        refillCycles_ = up(words - half, width);
        fetched_ = firstCycles_ * width;
        for (std::int64_t i = 0; i < active; ++i) inUse_.push_back(i);
    }
    std::int64_t read(std::int64_t cycle, const Addresses& row) {
        std::int64_t offset = 1;
        std::vector<std::set<std::int64_t>> wanted(static_cast<std::size_t>(banks_.count));
        for (const std::int64_t address : row) {
            if (address < 0) continue;
            while (!find(address)) {
                for (std::int64_t& line : inUse_) line = (line + refill_) % static_cast<std::int64_t>(lines_.size());
                ready_ += refillCycles_ + 1;
                fetched_ += refillCycles_ * width_;
                const std::int64_t missing = ready_ - (cycle + offset);
                if (twice_) offset += missing;
                if (missing > 0) offset += missing;
            }
            wanted[static_cast<std::size_t>(column_ / (width_ / banks_.count))].insert(line_);
        }
        std::size_t most = 1;
        for (const auto& lines : wanted) most = std::max(most, lines.size());
        return offset - 1 + (static_cast<std::int64_t>(most) + banks_.ports - 1) / banks_.ports - 1;
    }
    TwinTransfer transfer() const { return {-firstCycles_, ready_, fetched_}; }

private:
    bool find(std::int64_t address) {
        for (const std::int64_t line : inUse_) {
            const Addresses& words = lines_[static_cast<std::size_t>(line)];
            const auto at = std::find(words.begin(), words.end(), address);
            if (at == words.end()) continue;
            line_ = line;
            column_ = at - words.begin();
            return true;
        }
        return false;
    }
    std::vector<Addresses> lines_;
    std::vector<std::int64_t> inUse_;
    std::int64_t width_, line_ = 0, column_ = 0;
    systolic::Banks banks_;
    std::int64_t refill_ = 0, firstCycles_ = 0, refillCycles_ = 0, ready_ = -1, fetched_ = 0;
    bool twice_;
};

/// Addresses of an operand in the order of its layout, -1 for padding: coordinates are sorted by the axes.
inline Addresses laidOut(const systolic::Layout& layout, const Addresses& extents) {
    const std::size_t n = extents.size();
    std::vector<std::pair<Addresses, std::int64_t>> keyed;
    Addresses padded = extents;
    std::int64_t all = 1;
    for (std::size_t d = 0; d < n; ++d) {
        padded[d] = (extents[d] + layout.factors[d] - 1) / layout.factors[d] * layout.factors[d];
        all *= padded[d];
    }
    for (std::int64_t i = 0; i < all; ++i) {
        Addresses at(n);
        std::int64_t rest = i;
        for (std::size_t d = n; d-- > 0; rest /= padded[d]) at[d] = rest % padded[d];
        std::int64_t address = 0;
        for (std::size_t d = 0; d < n; ++d)
            address = at[d] < extents[d] && address >= 0 ? address * extents[d] + at[d] : -1;
        Addresses key;
        for (const int axis : layout.order) {
            const std::size_t d = static_cast<std::size_t>(axis) % n;
            key.push_back(static_cast<std::size_t>(axis) < n ? at[d] / layout.factors[d] : at[d] % layout.factors[d]);
        }
        keyed.emplace_back(std::move(key), address);
    }
    std::sort(keyed.begin(), keyed.end());
    Addresses out;
    for (const auto& [key, address] : keyed) out.push_back(address);
    return out;
}

/// The write SRAM: a list of lines with so many words in each.
class TwinDrain {
public:
    TwinDrain(std::int64_t words, std::int64_t bandwidth)
        : words_(words), drain_(words - (words + 1) / 2), bandwidth_(bandwidth), free_(words) {}
    std::int64_t write(std::int64_t cycle, const Addresses& row) {
        std::int64_t now = cycle;
        for (const std::int64_t address : row) {
            if (address < 0) continue;
            if (lines_.empty() || closed_ || lines_.back() == bandwidth_) lines_.push_back(0), closed_ = false;
            ++lines_.back();
            --free_;
            if (now < end_) {
                if (free_ <= 0) now = end_;
            } else if (free_ < words_ - drain_) {
                drain(now);
            }
        }
        return now - cycle;
    }
    void finish(std::int64_t cycle) {
        while (done_ < lines_.size()) drain(cycle), cycle = end_ + 1;
    }
    TwinTransfer transfer() const { return {start_, stop_, written_}; }

private:
    void drain(std::int64_t cycle) {
        closed_ = true;
        const auto most = static_cast<std::size_t>((drain_ + bandwidth_ - 1) / bandwidth_);
        const std::size_t to = std::min(lines_.size(), done_ + most);
        const auto count = static_cast<std::int64_t>(to - done_);
        const std::int64_t words = (count - 1) * bandwidth_ + lines_[to - 1];
        written_ += words;
        free_ += words;
        done_ = to;
        end_ = cycle + count - 1;
        if (stop_ < 0) start_ = cycle;
        stop_ = std::max(stop_, end_);
    }
    std::int64_t words_, drain_, bandwidth_, free_, end_ = 0, start_ = 0, stop_ = -1, written_ = 0;
    std::vector<std::int64_t> lines_;
    std::size_t done_ = 0;
    bool closed_ = false;
};

template <class Ifmap, class Filter>
TwinReport runTwin(const TwinDemand& demand, Ifmap ifmap, Filter filter, TwinDrain ofmap) {
    TwinReport out;
    std::int64_t last = 0;
    for (std::size_t i = 0; i < demand.ofmap.size(); ++i) {
        const std::int64_t cycle = static_cast<std::int64_t>(i) + out.stalls;
        const std::int64_t a = ifmap.read(cycle, demand.ifmap[i]);
        const std::int64_t b = filter.read(cycle, demand.filter[i]);
        const std::int64_t z = ofmap.write(cycle, demand.ofmap[i]);
        last = cycle + z;
        out.total = std::max(out.total, last);
        out.stalls += std::max({a, b, z});
    }
    ofmap.finish(last);
    out.ifmap = ifmap.transfer();
    out.filter = filter.transfer();
    out.ofmap = ofmap.transfer();
    return out;
}

inline TwinReport twin(const systolic::Array& array, const systolic::Layer& layer) {
    const std::int64_t keep = array.sparse ? layer.sparseKept : 1;
    const std::int64_t of = array.sparse ? layer.sparseOf : 1;
    const TwinDemand demand = demandOf(array, TwinOperands(layer, keep, of));
    TwinDrain drain(array.ofmapWords, array.idealBandwidth ? array.cols : array.ofmapBandwidth);
    if (array.idealBandwidth) {
        return runTwin(demand, TwinIdeal(array.ifmapWords, array.ifmapBandwidth),
                       TwinIdeal(array.filterWords, array.filterBandwidth), drain);
    }
    const TwinBound ifmap(array.ifmapWords, array.ifmapBandwidth, demand.ifmapFetch, array.waitsCountTwice);
    const TwinBound filter(array.filterWords, array.filterBandwidth, demand.filterFetch, array.waitsCountTwice);
    if (!array.layouts()) return runTwin(demand, ifmap, filter, drain);
    // Filters' addresses as the layout counts them: without the gaps that keep filters apart elsewhere.
    TwinDemand laid = demand;
    const std::int64_t window = layer.filterHeight * layer.filterWidth * layer.channels;
    for (Addresses& row : laid.filter) {
        for (std::int64_t& a : row) a = a < 0 ? a : a / 1'000'003 * window + a % 1'000'003;
    }
    const auto bankedIfmap = [&] {
        return TwinBanked(array.ifmapWords, array.ifmapBandwidth,
                          laidOut(layer.ifmapLayout, {layer.ifmapHeight, layer.ifmapWidth, layer.channels}),
                          *array.ifmapBanks, array.waitsCountTwice);
    };
    const auto bankedFilter = [&] {
        return TwinBanked(
            array.filterWords, array.filterBandwidth,
            laidOut(layer.filterLayout, {layer.filters, layer.channels, layer.filterHeight, layer.filterWidth}),
            *array.filterBanks, array.waitsCountTwice);
    };
    if (array.ifmapBanks && array.filterBanks) return runTwin(laid, bankedIfmap(), bankedFilter(), drain);
    if (array.ifmapBanks) return runTwin(demand, bankedIfmap(), filter, drain);
    return runTwin(laid, ifmap, bankedFilter(), drain);
}

}  // namespace orrery::fixture
