#include "methods/system/training/step_network.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr std::size_t most_use_rows = 512;

class UseReader {
public:
    UseReader(const LinkUseOverTime& use, NetworkUse& out) : use_(use), out_(out) {}

    std::vector<float> busyOf(std::size_t link) const {
        std::vector<float> shares(LinkUseOverTime::spans);
        for (std::size_t i = 0; i < shares.size(); ++i)
            shares[i] = static_cast<float>(std::min(1.0, use_.busy(link, i) / static_cast<double>(use_.width())));
        return shares;
    }
    void add(std::string path, std::string what, std::vector<float> busy) {
        if (out_.rows.size() < most_use_rows) out_.rows.push_back({std::move(path), std::move(what), std::move(busy)});
    }
    /// The mean and the busiest of some links.
    void addSummary(const std::string& path, const std::vector<std::size_t>& links) {
        if (links.empty()) return;
        std::vector<float> mean(LinkUseOverTime::spans);
        std::size_t busiest = links.front();
        double most = -1;
        for (const std::size_t link : links) {
            double all = 0;
            for (std::size_t i = 0; i < mean.size(); ++i) {
                const double one = use_.busy(link, i) / static_cast<double>(use_.width());
                mean[i] += static_cast<float>(std::min(1.0, one) / static_cast<double>(links.size()));
                all += one;
            }
            if (all > most) most = all, busiest = link;
        }
        add(path, "all links", std::move(mean));
        add(path, "busiest link", busyOf(busiest));
    }

private:
    const LinkUseOverTime& use_;
    NetworkUse& out_;
};

}  // namespace

// Links of a regular dimension lie slot by slot; of a graph copy by copy.
NetworkUse StepNetwork::useOf(const ClusterOutcome& outcome, const std::vector<NetworkTier>& tiers) const {
    NetworkUse use;
    if (!outcome.linkUse.wanted()) return use;
    use.spanSeconds = toSeconds(outcome.linkUse.width());
    UseReader reader(outcome.linkUse, use);
    const auto& dimensions = settings_.network.dimensions;
    std::size_t perSlot = 0, graphs = 0;
    const auto linksOf = [](const FabricDimension& one) {
        return one.routes                                   ? one.routes->graph().links.size()
               : one.shape == TopologyShape::FullyConnected ? static_cast<std::size_t>(one.size)
                                                            : std::size_t{2};
    };
    const auto copiesOf = [&](const FabricDimension& one) { return static_cast<std::size_t>(devices_ / one.size); };
    for (const FabricDimension& one : dimensions)
        (one.routes ? graphs : perSlot) += linksOf(one) * (one.routes ? copiesOf(one) : 1);
    const std::size_t regular = outcome.links.size() - graphs;
    std::size_t inSlot = 0, graph = regular, d = 0;
    for (const NetworkTier& tier : tiers) {
        if (tier.size < 2 || d == dimensions.size()) continue;
        const FabricDimension& one = dimensions[d++];
        std::vector<std::size_t> links;
        if (one.routes) {
            const std::size_t count = linksOf(one) * copiesOf(one);
            for (std::size_t l = 0; l < count; ++l) links.push_back(graph + l);
            reader.addSummary(tier.path, links);
            // Both directions of every drawn link, of its busiest copy.
            for (std::size_t e = 0; tier.links && e < tier.links->paths.size(); ++e) {
                std::vector<float> busy(LinkUseOverTime::spans);
                for (std::size_t copy = 0; copy < copiesOf(one); ++copy)
                    for (const std::size_t direction : {0, 1}) {
                        const auto its = reader.busyOf(graph + copy * linksOf(one) + 2 * e + direction);
                        for (std::size_t i = 0; i < busy.size(); ++i) busy[i] = std::max(busy[i], its[i]);
                    }
                const LinkGraph::Edge& edge = tier.links->graph.edges[e];
                reader.add(tier.links->paths[e], fmt::format("{} to {}", edge.a, edge.b), std::move(busy));
            }
            graph += count;
            continue;
        }
        for (std::size_t slot = 0; perSlot > 0 && slot < regular / perSlot; ++slot)
            for (std::size_t l = 0; l < linksOf(one); ++l) {
                const std::size_t link = slot * perSlot + inSlot + l;
                // A device has no link to itself, and those that do nothing have none that is used.
                if (outcome.links[link].bytes > 0) links.push_back(link);
            }
        inSlot += linksOf(one);
        reader.addSummary(tier.path, links);
    }
    // Spans beyond the end are empty.
    SimTime end = 0;
    for (const RankResult& rank : outcome.ranks) end = std::max(end, rank.finish);
    const auto spans = static_cast<std::size_t>((end + outcome.linkUse.width() - 1) / outcome.linkUse.width());
    for (NetworkUse::Row& row : use.rows) row.busy.resize(std::min(row.busy.size(), spans));
    return use;
}

}  // namespace orrery
