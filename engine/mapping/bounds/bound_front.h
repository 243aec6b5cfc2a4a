#pragma once

// Corners of a curve while it is searched: sorted, none dominated, with the choices that led to each.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace orrery::bounds {

struct Witness {
    std::uint16_t keeps = 0, order = 0;  ///< number of the set of kept tensors, of the class of orders
    bool steps = false;
    std::array<std::uint16_t, 16> choice{};  ///< per axis
};

class Front {
public:
    struct Corner {
        double words = 0, moved = 0;
        std::uint32_t witness = 0;
    };

    /// Whether a known corner needs no more words and moves no more. Found ones count once they are merged.
    bool covers(double words, double moved) const {
        const auto after = std::upper_bound(corners_.begin(), corners_.end(), words,
                                            [](double w, const Corner& corner) { return w < corner.words; });
        return after != corners_.begin() && std::prev(after)->moved <= moved;
    }
    void add(double words, double moved, const Witness& witness) {
        fresh_.push_back({words, moved, static_cast<std::uint32_t>(witnesses_.size())});
        witnesses_.push_back(witness);
        if (fresh_.size() >= std::max<std::size_t>(64, corners_.size() / 2)) merge();
    }
    void merge() {
        if (fresh_.empty()) return;
        std::stable_sort(fresh_.begin(), fresh_.end(), before);
        const auto middle = static_cast<std::ptrdiff_t>(corners_.size());
        corners_.insert(corners_.end(), fresh_.begin(), fresh_.end());
        std::inplace_merge(corners_.begin(), corners_.begin() + middle, corners_.end(), before);
        fresh_.clear();
        std::vector<Witness> kept;
        std::size_t count = 0;
        for (const Corner& corner : corners_) {
            if (count && corners_[count - 1].moved <= corner.moved) continue;
            const auto witness = static_cast<std::uint32_t>(kept.size());
            kept.push_back(witnesses_[corner.witness]);
            corners_[count++] = {corner.words, corner.moved, witness};
        }
        corners_.resize(count);
        witnesses_ = std::move(kept);
    }
    const std::vector<Corner>& corners() const { return corners_; }
    const Witness& witness(const Corner& corner) const { return witnesses_[corner.witness]; }

private:
    static bool before(const Corner& a, const Corner& b) {
        return a.words != b.words ? a.words < b.words : a.moved < b.moved;
    }
    std::vector<Corner> corners_, fresh_;
    std::vector<Witness> witnesses_;
};

}  // namespace orrery::bounds
