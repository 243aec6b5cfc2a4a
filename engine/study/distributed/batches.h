#pragma once

// Who has which items of a round: handed out in shrinking batches, taken back from who is lost, each answered once.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace orrery {

class Batches {
public:
    explicit Batches(std::size_t items, int ranks);
    /// The next items for a rank, none if it has enough or there are none: guided self-scheduling (Polychronopoulos and
    /// Kuck, 1987), half of the rank's share of what is open, but no more than it answers in `span` at its own pace;
    /// four for each thread while that is not known. A rank has enough while more than half of its last batch is open.
    std::vector<std::size_t> next(int rank);
    /// False if it was answered before: by two ranks, where one was thought lost.
    bool answered(std::size_t item);
    /// What a rank has goes back, to the front.
    void lose(int rank);
    void setThreads(int rank, int threads);  ///< 0: gets nothing
    void setPace(int rank, double items);    ///< a second, by all its threads
    std::size_t open() const { return open_.size(); }
    bool done() const { return left_ == 0; }
    std::size_t handedOut() const { return handedOut_; }  ///< batches

    static constexpr double span = 1.0;          ///< seconds of work in a batch, so that little is lost with a rank
    static constexpr std::size_t most = 16'384;  ///< items of a batch

private:
    struct Rank {
        int threads = 0;
        double pace = 0;  ///< 0: not known
        std::size_t has = 0, batch = 0;
    };
    std::deque<std::size_t> open_;
    std::vector<std::int32_t> holder_;  ///< of each item: a rank, `nobody`, or `finished`
    std::vector<Rank> ranks_;
    std::size_t left_ = 0, handedOut_ = 0;
    int threads_ = 0;
};

}  // namespace orrery
