// The plugin's only function: see study/exploration/box_walk.h.

#include "study/exploration/box_walk.h"

#include <pagmo/algorithms/cmaes.hpp>
#include <pagmo/algorithms/gaco.hpp>
#include <pagmo/algorithms/maco.hpp>
#include <pagmo/algorithms/moead.hpp>
#include <pagmo/algorithms/simulated_annealing.hpp>
#include <pagmo/batch_evaluators/member_bfe.hpp>
#include <pagmo/bfe.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>

#include <utility>

namespace {

using orrery::BoxAlgorithm;
using orrery::BoxNumbers;
using orrery::BoxWalk;

constexpr unsigned antKernels = 12;

// What pagmo takes for its problem. It is copied: everything stands elsewhere.
struct BoxProblem {
    const BoxWalk* walk = nullptr;

    std::pair<BoxNumbers, BoxNumbers> get_bounds() const {
        const std::size_t knobs = walk ? walk->knobs : 1;
        return {BoxNumbers(knobs, 0.0), BoxNumbers(knobs, 1.0)};
    }
    BoxNumbers::size_type get_nobj() const { return walk ? walk->objectives : 1; }
    BoxNumbers fitness(const BoxNumbers& place) const { return (*walk->ask)(place); }
    BoxNumbers batch_fitness(const BoxNumbers& places) const { return (*walk->ask)(places); }
};

pagmo::population begun(const BoxWalk& walk) {
    pagmo::population members{pagmo::problem{BoxProblem{&walk}}, 0, walk.seed};
    const auto part = [](const BoxNumbers& of, std::size_t member, std::size_t width) {
        const auto from = of.begin() + static_cast<std::ptrdiff_t>(member * width);
        return BoxNumbers(from, from + static_cast<std::ptrdiff_t>(width));
    };
    for (std::size_t member = 0; member * walk.knobs < walk.places.size(); ++member)
        members.push_back(part(walk.places, member, walk.knobs), part(walk.costs, member, walk.objectives));
    return members;
}

}  // namespace

extern "C" void orrery_walk_box(const BoxWalk& walk) {
    pagmo::population members = begun(walk);
    switch (walk.algorithm) {
        case BoxAlgorithm::Moead:
            pagmo::moead(10'000, "low discrepancy", "tchebycheff", 8, 0.9, 0.5, 20, 0.9, 2, true, walk.seed)
                .evolve(std::move(members));
            break;
        case BoxAlgorithm::CmaEs:
            pagmo::cmaes(12, -1, -1, -1, -1, 0.2, 1e-6, 1e-4, false, true, walk.seed).evolve(std::move(members));
            break;
        case BoxAlgorithm::Annealing: {
            pagmo::simulated_annealing method(0.1, 0.001, 5, 1, 2, 0.5, walk.seed);
            method.set_random_sr_seed(walk.seed);
            method.evolve(std::move(members));
            break;
        }
        case BoxAlgorithm::Ants: {
            pagmo::gaco method(40, antKernels, 0.5, 0, 0.01, 20, 7, 100000, 100000, 0, false, walk.seed);
            method.set_bfe(pagmo::bfe{pagmo::member_bfe{}});
            method.evolve(std::move(members));
            break;
        }
        case BoxAlgorithm::AntsOfMany: {
            pagmo::maco method(10'000, antKernels, 0.5, 20, 7, 100000, 0, false, walk.seed);
            method.set_bfe(pagmo::bfe{pagmo::member_bfe{}});
            method.evolve(std::move(members));
            break;
        }
    }
}
