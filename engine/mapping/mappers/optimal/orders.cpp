#include "mapping/mappers/optimal/orders.h"

#include <algorithm>
#include <bit>

namespace orrery::optimal {
namespace {

constexpr std::size_t mostPermuted = 8;

/// Whether a is at least as good as b whatever the bounds of the loops are.
bool beats(const OrderClass& a, const OrderClass& b, std::size_t tensors, std::uint32_t linked) {
    for (std::size_t t = 0; t < tensors; ++t) {
        if ((a.run[t] & b.run[t]) != b.run[t] || a.first[t] != b.first[t]) return false;
        if (!a.exact(t) || !b.exact(t)) return false;
        if ((linked >> t & 1u) && (a.inside[t] != b.inside[t] || a.orders.size() > 1 || b.orders.size() > 1))
            return false;
    }
    return true;
}

}  // namespace

Orders::Orders(const Mapspace& space, const std::vector<TensorFacts>& tensors, const std::vector<std::uint8_t>& active)
    : space_(space), tensors_(tensors), active_(active) {
    number_.fill(255);
    for (std::size_t a = 0; a < active_.size(); ++a) number_[active_[a]] = static_cast<std::uint8_t>(a);
}

const std::vector<OrderClass>& Orders::of(std::size_t level, std::uint32_t dimensions, std::uint32_t linked) {
    const auto [at, added] = known_.try_emplace({static_cast<std::uint32_t>(level), dimensions, linked});
    if (added) at->second = make(level, dimensions, linked);
    return at->second;
}

OrderClass Orders::classify(const std::vector<std::uint8_t>& order) const {
    OrderClass made;
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
        const TensorFacts& tensor = tensors_[t];
        std::size_t i = 0;
        while (i < order.size() && !(tensor.relevant >> order[i] & 1u)) made.run[t] |= 1u << order[i++];
        made.first[t] = -1;
        if (tensor.simple || i == order.size()) continue;
        if (i == 0 && (tensor.shared >> order[0] & 1u)) made.first[t] = static_cast<std::int8_t>(order[0]);
        made.inside[t] = made.run[t];
        std::uint32_t rank = 0;
        for (; i < order.size(); ++i) {
            const std::uint32_t bit = 1u << order[i];
            if (tensor.relevant & bit) {
                if (!(tensor.shared & bit)) break;
                std::uint32_t own = 0;
                for (const std::uint32_t mask : tensor.rankMask)
                    if (mask & bit) own |= mask;
                if (rank == 0) rank = own;
                if (rank != own) made.leaves[t] = true;
                if (!made.leaves[t]) made.moved[t] |= bit;
            }
            made.inside[t] |= bit;
        }
        made.outside[t] = i < order.size();
        made.leaves[t] = made.leaves[t] || made.outside[t];
        // One loop of a window before another rank: nothing can step back, whichever loop it is.
        if (made.leaves[t] && std::popcount(made.moved[t]) == 1) made.moved[t] = 0;
        if (made.moved[t] == 0) made.leaves[t] = true;
    }
    return made;
}

std::vector<OrderClass> Orders::make(std::size_t level, std::uint32_t dimensions, std::uint32_t linked) {
    const LoopConstraint& constraint = space_.constraints().levels[level].temporal;
    std::vector<std::uint8_t> inner, outer, loose;
    std::uint32_t placed = 0;
    const auto pin = [&](const std::vector<std::uint8_t>& list, std::vector<std::uint8_t>& into) {
        for (const std::uint8_t d : list) {
            if (number_[d] == 255) continue;
            placed |= 1u << number_[d];
            if (dimensions >> number_[d] & 1u) into.push_back(number_[d]);
        }
    };
    pin(constraint.innermost, inner);
    pin(constraint.outermost, outer);
    for (std::size_t a = 0; a < active_.size(); ++a) {
        if ((dimensions & ~placed) >> a & 1u) loose.push_back(static_cast<std::uint8_t>(a));
    }
    std::vector<OrderClass> classes;
    const auto take = [&] {
        std::vector<std::uint8_t> order = inner;
        order.insert(order.end(), loose.begin(), loose.end());
        order.insert(order.end(), outer.begin(), outer.end());
        OrderClass made = classify(order);
        for (OrderClass& known : classes) {
            bool same = known.run == made.run && known.first == made.first && known.moved == made.moved &&
                        known.leaves == made.leaves;
            for (std::size_t t = 0; t < tensors_.size() && same; ++t)
                same =
                    !(linked >> t & 1u) || (known.inside[t] == made.inside[t] && known.outside[t] == made.outside[t]);
            if (!same) continue;
            // The same class; another order of it counts only for windows that may step back or be handed on.
            for (std::size_t t = 0; t < tensors_.size(); ++t) {
                if (tensors_[t].simple || (made.exact(t) && !(linked >> t & 1u))) continue;
                const auto far = static_cast<std::ptrdiff_t>(std::popcount(made.inside[t]));
                bool news = true;
                for (const auto& other : known.orders)
                    news = news && !std::equal(order.begin(), order.begin() + far, other.begin());
                if (news) {
                    known.orders.push_back(order);
                    return;
                }
            }
            return;
        }
        made.orders = {order};
        classes.push_back(std::move(made));
    };
    // Nothing outside the innermost level sees in which order its loops run, so the space has one.
    if (level == 0) {
        take();
        return classes;
    }
    if (loose.size() <= mostPermuted) {
        do take();
        while (std::next_permutation(loose.begin(), loose.end()));
    } else {
        // Blocks that stay for as many tensors as possible, for every order of the tensors.
        incomplete_ = incomplete_ ||
                      std::any_of(tensors_.begin(), tensors_.end(), [](const TensorFacts& t) { return !t.simple; });
        std::vector<std::size_t> chain(tensors_.size());
        for (std::size_t t = 0; t < chain.size(); ++t) chain[t] = t;
        const std::vector<std::uint8_t> all = loose;
        do {
            const auto depth = [&](std::uint8_t a) {
                std::size_t n = 0;
                while (n < chain.size() && !(tensors_[chain[n]].relevant >> a & 1u)) ++n;
                return n;
            };
            loose = all;
            std::stable_sort(loose.begin(), loose.end(),
                             [&](std::uint8_t a, std::uint8_t b) { return depth(a) > depth(b); });
            take();
        } while (std::next_permutation(chain.begin(), chain.end()));
    }
    std::vector<bool> beaten(classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i) {
        for (std::size_t j = 0; j < classes.size() && !beaten[i]; ++j)
            beaten[i] = i != j && !beaten[j] && beats(classes[j], classes[i], tensors_.size(), linked);
    }
    std::vector<OrderClass> best;
    for (std::size_t i = 0; i < classes.size(); ++i)
        if (!beaten[i]) best.push_back(std::move(classes[i]));
    return best;
}

}  // namespace orrery::optimal
