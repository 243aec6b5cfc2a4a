// Simulated annealing (Kirkpatrick et al., Science 1983) over mappings, as SALSA does over loop orders: a few chains,
// each cooling from moves that nearly all pass to moves that must improve. Differences are of logarithms, so one
// schedule suits every objective and size.

#include "mapping/mappers/lane.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr std::size_t chains = 8;
constexpr double hot = 0.7, cold = 0.002;

class Annealing : public MapperAlgorithm {
public:
    Annealing(const Mapspace& space, std::uint64_t evaluations)
        : perChain_(std::max<std::uint64_t>((evaluations ? evaluations : usualEvaluations()) / chains, 1)) {
        for (Chain& chain : chains_) chain.now = chain.next = space.start();
    }
    std::size_t lanes() const override { return chains; }
    std::uint64_t usualEvaluations() const override { return 40000; }

    void advance(MapLane& lane, std::size_t number) override {
        Chain& chain = chains_[number];
        const Mapspace& space = lane.space();
        MapScore score;
        while (!lane.done()) {
            if (!chain.started) {
                space.draw(chain.now, lane.random());
                chain.started = lane.consider(chain.now, chain.score);
                continue;
            }
            const double share = std::min(1.0, static_cast<double>(lane.validInAll()) / static_cast<double>(perChain_));
            const double temperature = hot * std::pow(cold / hot, share);
            chain.next = chain.now;
            space.mutate(chain.next, lane.random());
            // Refused neighbours often lead to good ones: take a second step from them before giving up.
            for (int more = 0; more < 2 && space.check(chain.next).fault != MappingFault::None; ++more)
                space.mutate(chain.next, lane.random());
            if (!lane.consider(chain.next, score)) continue;
            const double rise =
                std::log(std::max(score.value[0], 1e-300)) - std::log(std::max(chain.score.value[0], 1e-300));
            if (rise <= 0 || lane.random().uniform() < std::exp(-rise / temperature)) {
                std::swap(chain.now, chain.next);
                chain.score = score;
            }
        }
    }

private:
    struct Chain {
        bool started = false;
        MapPoint now, next;
        MapScore score;
    };
    std::array<Chain, chains> chains_;
    std::uint64_t perChain_;
};

}  // namespace

std::unique_ptr<MapperAlgorithm> annealingMapper(const Mapspace& space, std::uint64_t evaluations) {
    return std::make_unique<Annealing>(space, evaluations);
}

}  // namespace orrery
