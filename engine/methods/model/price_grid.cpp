#include "methods/model/price_grid.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <type_traits>

namespace orrery {

GridAxis::GridAxis(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {
    for (const Stretch& stretch : stretches_) {
        first_.push_back(static_cast<int>(values_.size()));
        for (int i = 0; i < stretch.steps; ++i) values_.push_back(stretch.begin + i * stretch.step);
    }
    if (stretches_.empty()) return;
    const Stretch& last = stretches_.back();
    values_.push_back(last.begin + last.steps * last.step);
}

GridAxis::Between GridAxis::locate(double x) const {
    const int top = points() - 2;
    if (top < 0) return {0, 0};
    std::size_t k = 0;
    while (k + 1 < stretches_.size() && x >= stretches_[k + 1].begin) ++k;
    const Stretch& stretch = stretches_[k];
    const double steps = std::max(0.0, (x - stretch.begin) / stretch.step);
    const int within = std::min(static_cast<int>(std::min(steps, 1e6)), stretch.steps - 1);
    const int index = std::clamp(first_[k] + within, 0, top);
    return {index, std::max(0.0, (x - value(index)) / (value(index + 1) - value(index)))};
}

PriceGrid::PriceGrid(GridAxis a, GridAxis b, GridAxis c) : axes_{std::move(a), std::move(b), std::move(c)} {
    std::size_t cells = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        size_[i] = static_cast<std::size_t>(std::max(1, axes_[i].points()));
        cells *= size_[i];
    }
    static_assert(std::atomic<std::uint8_t>::is_always_lock_free && sizeof(std::atomic<std::uint8_t>) == 1 &&
                  std::is_trivially_destructible_v<Cell>);
    const std::size_t bytes = cells * sizeof(Cell);
    void* zeros = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (zeros == MAP_FAILED) throw std::bad_alloc();
    cells_ = std::unique_ptr<Cell[], Unmap>(static_cast<Cell*>(zeros), Unmap{bytes});
}

void PriceGrid::Unmap::operator()(Cell* cells) const {
    munmap(cells, bytes);
}

}  // namespace orrery
