#pragma once

// One run on many machines: rank 0 hands out numbered items, all ranks answer them on their threads, rank 0 takes the
// answers. A rank that falls silent loses its items to the others; nothing is taken twice.

#include "base/diagnostic.h"
#include "study/distributed/batches.h"
#include "study/distributed/item_pool.h"
#include "study/distributed/transport.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// What this rank answers, and as what.
struct RankWork {
    std::string question;  ///< equal on all ranks, or a rank gets nothing to do: it would answer something else
    int threads = 1;
    AnswerItem answer;
};

/// What a run took, for people and for the model in the handbook.
struct RanksReport {
    int ranks = 0, threads = 0;  ///< that answered, with rank 0
    std::size_t batches = 0, items = 0;
    double itemSeconds = 0;         ///< of a thread, in the mean
    double serviceSeconds = 0;      ///< rank 0 with messages and with taking answers, in all: what its thread worked
    std::vector<std::string> lost;  ///< `rank 3: no word for 30 s`
};

class Ranks {
public:
    /// `timeout`: seconds of silence after which a rank counts as lost.
    Ranks(std::unique_ptr<Transport> transport, double timeout);
    ~Ranks();  ///< finish()
    int rank() const { return transport_->rank(); }
    int ranks() const { return transport_->ranks(); }
    /// So that the ranks of one machine share its processors.
    int threadsHere() const;

    /// On rank 0, before answer().
    void begin(RankWork work);
    /// Answers with their places in `numbers`, each once, in any order; false ends the round.
    using Take = std::function<bool(std::span<AnsweredItem>)>;
    /// On rank 0: until all are taken, or it is stopped; `take` is called on this thread. False where it was stopped.
    bool answer(std::span<const std::uint64_t> numbers, const Take& take, const std::stop_token& stop);
    RanksReport report() const;

    /// On the others: until rank 0 says that all is done, or `stop` is requested: then the others take over. It is
    /// requested here once nobody waits for what is running.
    /// Fails with `ranks.question` where rank 0 asks another question, with `ranks.silent` where it says no more.
    Expected<void> serve(RankWork work, std::stop_source stop);
    /// On the others: says why this one answers nothing, and waits for the end.
    void refuse(const Diagnostic& why);

    /// On rank 0: lets the others go. On all: leaves.
    void finish();
    /// The last of a program, with its exit code: returns it, or ends the program itself where ranks were lost.
    int ended(int code);

private:
    using Clock = std::chrono::steady_clock;
    enum class State { Unknown, Ready, Lost };
    struct Other {
        State state = State::Unknown;
        int threads = 0;       ///< 0 until its first word, and once it refused
        bool refused = false;  ///< it is there, and leaves with the others
        double pace = 0;
        Clock::time_point heard{};
        std::string why;
    };

    std::vector<AnsweredItem> hear(Batches& batches);
    void feed(Batches& batches, int rank, std::span<const std::uint64_t> numbers);
    void judge(Batches& batches);
    void awaitFirstWords();
    void setState(Batches* batches, int rank, State state, std::string why = {});

    std::unique_ptr<Transport> transport_;
    double timeout_;
    RankWork work_;
    std::unique_ptr<ItemPool> pool_;
    std::vector<Other> others_;  ///< [0] is this rank
    std::vector<int> hungry_;
    std::uint64_t round_ = 0;
    std::size_t batchesOut_ = 0, items_ = 0;
    double service_ = 0, otherItemSeconds_ = 0;
    std::size_t otherItems_ = 0;
    bool left_ = false, all_ = true;  // that every rank left
};

}  // namespace orrery
