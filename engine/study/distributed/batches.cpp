#include "study/distributed/batches.h"

#include <algorithm>
#include <numeric>

namespace orrery {

namespace {

constexpr std::int32_t nobody = -1, finished = -2;

}  // namespace

Batches::Batches(std::size_t items, int ranks)
    : open_(items), holder_(items, nobody), ranks_(static_cast<std::size_t>(ranks)), left_(items) {
    std::iota(open_.begin(), open_.end(), std::size_t{0});
}

void Batches::setThreads(int rank, int threads) {
    Rank& of = ranks_[static_cast<std::size_t>(rank)];
    threads_ += threads - of.threads;
    of.threads = threads;
}

void Batches::setPace(int rank, double items) {
    ranks_[static_cast<std::size_t>(rank)].pace = items;
}

std::vector<std::size_t> Batches::next(int rank) {
    Rank& of = ranks_[static_cast<std::size_t>(rank)];
    if (of.threads == 0 || open_.empty() || of.has * 2 > of.batch) return {};
    const auto threads = static_cast<std::size_t>(of.threads), all = static_cast<std::size_t>(threads_);
    std::size_t size = (open_.size() * threads + 2 * all - 1) / (2 * all);
    const std::size_t pace = of.pace > 0 ? static_cast<std::size_t>(std::min(1e9, span * of.pace)) : 4 * threads;
    size = std::min({size, std::max(pace, threads), most, open_.size()});
    std::vector<std::size_t> items(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(size));
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(size));
    for (const std::size_t item : items) holder_[item] = rank;
    of.has += size;
    of.batch = size;
    ++handedOut_;
    return items;
}

bool Batches::answered(std::size_t item) {
    if (item >= holder_.size() || holder_[item] == finished) return false;
    if (holder_[item] == nobody) {
        // Came after all from a rank that was thought lost.
        open_.erase(std::find(open_.begin(), open_.end(), item));
    } else {
        --ranks_[static_cast<std::size_t>(holder_[item])].has;
    }
    holder_[item] = finished;
    --left_;
    return true;
}

void Batches::lose(int rank) {
    Rank& of = ranks_[static_cast<std::size_t>(rank)];
    std::vector<std::size_t> back;
    for (std::size_t item = 0; of.has > 0 && item < holder_.size(); ++item) {
        if (holder_[item] != rank) continue;
        holder_[item] = nobody;
        back.push_back(item);
        --of.has;
    }
    open_.insert(open_.begin(), back.begin(), back.end());
    const int threads = of.threads;
    threads_ -= threads;
    of = {};
}

}  // namespace orrery
