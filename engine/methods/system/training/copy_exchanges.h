#pragma once

// What those who hold the same weights exchange in one plan: gradients, and weights that they share. Each distinct one
// is looked up once.

#include "methods/system/training/exchange_cache.h"
#include "methods/system/training/training_program.h"

#include <array>

namespace orrery {

/// Bytes of several layers; experts among them may stand over several copies and have holders of their own.
struct HeldBytes {
    double all = 0, experts = 0;
    HeldBytes& operator+=(const HeldBytes& other) {
        all += other.all, experts += other.experts;
        return *this;
    }
};

class CopyExchanges {
public:
    /// `slower`: by so many times they take longer than alone. `holders`: where those of all weights stand, of copies
    /// on several kinds of device; null: as the plan has it.
    CopyExchanges(const Plan& plan, const ExchangeCache& exchanges, double slower, const std::stop_token& stop,
                  const Communicator* holders = nullptr);

    bool any() const { return holders_[0] > 1 || holders_[1] > 1 || replicas() > 1; }
    /// Sets of copies, each of which has all.
    std::int64_t replicas() const { return groups_[groups].size; }
    const std::optional<Diagnostic>& problem() const { return problem_; }

    /// Of those of all weights, of those of experts.
    static constexpr std::size_t groups = 2;
    /// The sum of gradients; each group's.
    std::array<ExchangePrice, groups> reduce(const HeldBytes& bytes, bool divided);
    /// The sum of its shares over all sets of copies; of each group's shares.
    std::array<ExchangePrice, groups> replicate(const HeldBytes& bytes);
    /// Of weights, until each has all.
    std::array<ExchangePrice, groups> gather(const HeldBytes& bytes);
    /// What is left for one device of what holders share.
    double divided(const HeldBytes& bytes) const {
        return (bytes.all - bytes.experts) / static_cast<double>(holders_[0]) +
               bytes.experts / static_cast<double>(holders_[1]);
    }

private:
    struct Known {
        TraceCollective op;
        std::size_t group;
        std::int64_t bytes;
        ExchangePrice price;
    };
    const ExchangePrice& priced(TraceCollective op, std::size_t group, double share);

    static constexpr std::size_t most = 16;
    std::array<std::int64_t, groups + 1> holders_;
    std::array<ExchangeGroup, groups + 1> groups_;  ///< the last one: of sets of copies
    const ExchangeCache& exchanges_;
    double slower_;
    const std::stop_token& stop_;
    const Communicator* placed_ = nullptr;
    std::array<Known, most> known_;
    std::size_t used_ = 0;
    std::optional<Diagnostic> problem_;
};

}  // namespace orrery
