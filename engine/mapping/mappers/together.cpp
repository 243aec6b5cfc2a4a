#include "mapping/mappers/together.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr double exactly = 1e-9;
constexpr std::size_t mostPrices = 64;

struct Spent {
    double energy = 0, cycles = 0;
    double edp() const { return energy * cycles; }
};

/// energy × ofEnergy + cycles × ofCycles is nowhere below `least`; attained by `at` where that is proven.
struct SupportLine {
    double ofEnergy = 1, ofCycles = 0, least = 0;
    Spent at;
    double value(const Spent& point) const { return ofEnergy * point.energy + ofCycles * point.cycles; }
};

/// A corner of what all lines leave, and the two lines that meet there.
struct Corner {
    Spent point;
    std::size_t first = 0, second = 0;
};

std::vector<Corner> cornersOf(const std::vector<SupportLine>& lines) {
    std::vector<Corner> corners;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        for (std::size_t j = i + 1; j < lines.size(); ++j) {
            const SupportLine &a = lines[i], &b = lines[j];
            const double turn = a.ofEnergy * b.ofCycles - b.ofEnergy * a.ofCycles;
            if (turn == 0) continue;
            const Spent point{(a.least * b.ofCycles - b.least * a.ofCycles) / turn,
                              (a.ofEnergy * b.least - b.ofEnergy * a.least) / turn};
            const bool inside = std::all_of(lines.begin(), lines.end(), [&](const SupportLine& line) {
                return line.value(point) >= line.least * (1 - 1e-11);
            });
            if (inside) corners.push_back({point, i, j});
        }
    }
    return corners;
}

class RowSearch {
public:
    RowSearch(const std::vector<NestInRow>& nests, const MapperOptions& options, SearchContext& context)
        : nests_(nests), options_(options), context_(context), own_(nests.size()), seconds_(nests.size()) {
        options_.kind = MapperKind::Optimal;
    }

    Expected<TogetherResult> run() {
        // Every nest's own best is a first answer, and its least time and least energy bound every sum.
        std::vector<MapperResultPtr> alone;
        for (std::size_t i = 0; i < nests_.size(); ++i) {
            auto found = ask(i, {MapObjective::Edp, MapObjective::Latency}, 0);
            if (!found) return tl::unexpected(std::move(found.error()));
            own_[i] = (*found)->lowerBound;
            alone.push_back(std::move(*found));
        }
        offer(alone);
        if (nests_.size() == 1) return conclude(own_[0] * nests_[0].times * nests_[0].times);
        if (auto ok = line(0, 1); !ok) return tl::unexpected(std::move(ok.error()));
        if (auto ok = line(1, 0); !ok) return tl::unexpected(std::move(ok.error()));
        // (E1 + E2) (T1 + T2) is no less than E1 T1 + E2 T2.
        double bound = 0;
        for (std::size_t i = 0; i < nests_.size(); ++i) bound += own_[i] * nests_[i].times * nests_[i].times;
        for (;;) {
            const auto corners = cornersOf(lines_);
            const auto least = std::min_element(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) {
                return a.point.edp() < b.point.edp();
            });
            if (least == corners.end()) break;
            bound = std::max(bound, least->point.edp());
            if (context_.progress) context_.progress->postBound(std::min(bound, best_.edp()));
            if (bound >= best_.edp() * (1 - exactly) || lines_.size() >= mostPrices || ended_) break;
            const double price = nextPrice(*least);
            if (!(price > 0)) break;
            if (auto ok = line(1, price); !ok) return tl::unexpected(std::move(ok.error()));
            if (lines_.back().least <= lines_.back().value(least->point) * (1 + 1e-12)) break;  // cuts nothing off
        }
        return conclude(bound);
    }

private:
    /// Along the chord between the points that attain the two lines: nothing below it, or something new. Where there is
    /// no chord, along the curve of equal products.
    double nextPrice(const Corner& corner) const {
        const SupportLine &a = lines_[corner.first], &b = lines_[corner.second];
        const auto priceOf = [](const SupportLine& line) {
            return line.ofEnergy > 0 ? line.ofCycles / line.ofEnergy : std::numeric_limits<double>::infinity();
        };
        const double low = std::min(priceOf(a), priceOf(b)), high = std::max(priceOf(a), priceOf(b));
        for (const double price :
             {(a.at.energy - b.at.energy) / (b.at.cycles - a.at.cycles), corner.point.energy / corner.point.cycles}) {
            if (std::isfinite(price) && price > low * (1 + 1e-9) && price < high * (1 - 1e-9)) return price;
        }
        return 0;
    }

    /// The sum's best for a price of time; the price of energy is 1, or 0 for time alone.
    Expected<void> line(double ofEnergy, double ofCycles) {
        SupportLine made{ofEnergy, ofCycles, 0, {}};
        std::vector<MapperResultPtr> found;
        for (std::size_t i = 0; i < nests_.size(); ++i) {
            auto one = ofEnergy > 0 ? ask(i, {MapObjective::Energy, MapObjective::Latency}, ofCycles)
                                    : ask(i, {MapObjective::Latency, MapObjective::Energy}, 0);
            if (!one) return tl::unexpected(std::move(one.error()));
            made.least += nests_[i].times * (*one)->lowerBound;
            found.push_back(std::move(*one));
        }
        made.at = offer(found);
        lines_.push_back(made);
        return {};
    }

    Expected<MapperResultPtr> ask(std::size_t nest, std::vector<MapObjective> objectives, double joulesPerCycle) {
        MapperOptions options = options_;
        options.objectives = std::move(objectives);
        options.joulesPerCycle = joulesPerCycle;
        // At least a moment: what was not searched at all has neither a mapping nor a bound.
        if (options_.seconds > 0) options.seconds = std::max(0.001, options_.seconds - seconds_[nest]);
        SearchContext own{context_.executor, context_.stop, nullptr, context_.cache, nests_[nest].sparse, nullptr};
        auto found = searchMappings(*nests_[nest].space, options, own);
        if (!found) return found;
        ++searches_;
        seconds_[nest] += (*found)->seconds;
        ended_ = ended_ || (*found)->cancelled || (options_.seconds > 0 && seconds_[nest] >= options_.seconds);
        return found;
    }

    Spent offer(const std::vector<MapperResultPtr>& mappings) {
        Spent sum;
        for (std::size_t i = 0; i < nests_.size(); ++i) {
            sum.energy += nests_[i].times * mappings[i]->counts.energy;
            sum.cycles += nests_[i].times * mappings[i]->counts.cycles;
        }
        if (best_.cycles == 0 || sum.edp() < best_.edp()) {
            best_ = sum;
            mappings_ = mappings;
            const MapperPoint step{searches_, 0, sum.cycles, sum.energy, sum.edp()};
            if (context_.progress) context_.progress->post({step}, searches_, searches_);
        }
        return sum;
    }

    TogetherResult conclude(double bound) {
        TogetherResult made;
        made.energy = best_.energy;
        made.cycles = best_.cycles;
        made.proven = bound >= best_.edp() * (1 - exactly);
        made.lowerBound = made.proven ? best_.edp() : bound;
        made.searches = searches_;
        for (std::size_t i = 0; i < nests_.size(); ++i) {
            MapperResult one = *mappings_[i];
            const double edp = objectiveValue(MapObjective::Edp, one.counts);
            one.lowerBound = std::min(own_[i], edp);
            one.proven = one.complete = own_[i] >= edp * (1 - exactly);
            one.seconds = seconds_[i];
            made.mappings.push_back(std::make_shared<const MapperResult>(std::move(one)));
        }
        if (context_.progress) context_.progress->postBound(made.lowerBound);
        return made;
    }

    const std::vector<NestInRow>& nests_;
    MapperOptions options_;
    SearchContext& context_;
    std::vector<double> own_;  ///< least EDP of each alone
    std::vector<double> seconds_;
    std::vector<SupportLine> lines_;
    std::vector<MapperResultPtr> mappings_;
    Spent best_;
    std::uint64_t searches_ = 0;
    bool ended_ = false;
};

}  // namespace

Expected<TogetherResult> searchTogether(const std::vector<NestInRow>& nests, const MapperOptions& options,
                                        SearchContext& context) {
    if (nests.empty()) return fail("mapper.objective", "no nests to map together", "one or more");
    return RowSearch(nests, options, context).run();
}

}  // namespace orrery
