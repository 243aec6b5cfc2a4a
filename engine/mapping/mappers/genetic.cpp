// A genetic search over mappings: factors of a dimension and the order of a level are its genes, as in GAMMA. Islands
// breed side by side and pass their best on to the next one now and then.

#include "mapping/mappers/lane.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::size_t islandCount = 8;
constexpr std::size_t populationSize = 48;
constexpr std::size_t elite = 4;
constexpr std::uint64_t roundsBetweenVisits = 4;

class Genetic : public MapperAlgorithm {
public:
    explicit Genetic(const Mapspace& space) {
        for (Island& island : islands_) island.draft = space.start();
    }
    std::size_t lanes() const override { return islandCount; }
    std::uint64_t usualEvaluations() const override { return 40000; }

    void advance(MapLane& lane, std::size_t number) override {
        Island& island = islands_[number];
        const Mapspace& space = lane.space();
        MapScore score;
        while (!lane.done()) {
            if (island.people.size() < populationSize) {
                space.draw(island.draft, lane.random());
                if (lane.consider(island.draft, score)) insert(island.people, island.draft, score);
                continue;
            }
            if (island.offspring.size() >= populationSize - elite) {
                island.people.resize(elite);
                for (const Person& child : island.offspring) insert(island.people, child.point, child.score);
                island.offspring.clear();
            }
            const Person& mother = chosen(island, lane.random());
            if (lane.random().below(10) < 6) {
                space.cross(mother.point, chosen(island, lane.random()).point, island.draft, lane.random());
            } else {
                island.draft = mother.point;
                space.mutate(island.draft, lane.random());
            }
            if (lane.random().below(10) < 5) space.mutate(island.draft, lane.random());
            if (lane.consider(island.draft, score)) island.offspring.push_back({island.draft, score});
        }
    }

    void exchange(std::uint64_t round) override {
        if (round % roundsBetweenVisits != 0) return;
        std::array<Person, islandCount> visitors;
        for (std::size_t i = 0; i < islandCount; ++i) {
            if (islands_[i].people.empty()) return;
            visitors[i] = islands_[i].people.front();
        }
        for (std::size_t i = 0; i < islandCount; ++i) {
            auto& people = islands_[(i + 1) % islandCount].people;
            if (people.size() < populationSize) continue;
            people.pop_back();
            insert(people, visitors[i].point, visitors[i].score);
        }
    }

private:
    struct Person {
        MapPoint point;
        MapScore score;
    };
    struct Island {
        std::vector<Person> people;  ///< best first
        std::vector<Person> offspring;
        MapPoint draft;
    };

    static void insert(std::vector<Person>& people, const MapPoint& point, const MapScore& score) {
        const auto at = std::upper_bound(people.begin(), people.end(), score,
                                         [](const MapScore& s, const Person& p) { return s < p.score; });
        people.insert(at, {point, score});
    }
    static const Person& chosen(const Island& island, RandomStream& random) {
        // The best of three: people stand in order, so the smallest index.
        std::size_t best = island.people.size() - 1;
        for (int i = 0; i < 3; ++i) best = std::min<std::size_t>(best, random.below(island.people.size()));
        return island.people[best];
    }

    std::array<Island, islandCount> islands_;
};

}  // namespace

std::unique_ptr<MapperAlgorithm> geneticMapper(const Mapspace& space) {
    return std::make_unique<Genetic>(space);
}

}  // namespace orrery
