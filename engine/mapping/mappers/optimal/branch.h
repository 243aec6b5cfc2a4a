#pragma once

// Within one skeleton: temporal loops from the outermost level inwards, best bound first, nothing that cannot beat the
// best mapping known.

#include "mapping/mappers/optimal/optimal.h"
#include "mapping/mappers/optimal/to_go.h"

namespace orrery::optimal {

class Branch {
public:
    Branch(const Chain& chain, const Skeleton& skeleton, const ToGo& toGo, Orders& orders, Incumbent& best);
    /// Returns the least that any mapping not ruled out can be: infinite where the skeleton is finished.
    double run(const std::function<void(double)>& bound);
    /// The bound of the whole skeleton.
    double root() const;

private:
    struct Child {
        double bound;
        std::uint32_t state, active;
        std::uint16_t order;
    };
    struct Depth {
        ToGo::Extents outside;
        std::array<Closing, maxNestTensors> closing;
        Measures known;
        std::vector<Child> branches;
        std::size_t next = 0;
        const std::vector<std::vector<std::uint8_t>>* orders = nullptr;  ///< of the child taken
        bool open = false;                                               ///< all of them have to be tried
    };
    void close(std::size_t b, std::uint32_t state, std::uint32_t active, const OrderClass& order, const Depth& outside,
               Depth& made) const;
    double boundAt(std::size_t b, std::uint32_t state, const Depth& at) const;
    void expand(std::size_t b);
    void descend(std::size_t b);
    void leaf();
    void tryOrders(std::size_t level, MapPoint& point);

    const Chain& chain_;
    const Facts& facts_;
    const Skeleton& skeleton_;
    const ToGo& toGo_;
    Orders& orders_;
    Incumbent& best_;
    std::size_t levels_;
    std::vector<Depth> depth_;  ///< by boundary; [levels] is the root
    const std::function<void(double)>* tell_ = nullptr;
};

}  // namespace orrery::optimal
