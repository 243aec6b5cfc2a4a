#include "app/cli/ranks_cli.h"

#include "app/cli/output.h"
#include "study/distributed/launch.h"

#include <fmt/format.h>

namespace orrery::cli {

Expected<std::unique_ptr<Ranks>> joinedRanks() {
    const auto timeout = rankTimeout();
    if (!timeout) return tl::unexpected(timeout.error());
    auto transport = joinRanks();
    if (!transport) return tl::unexpected(transport.error());
    if (!*transport) return nullptr;
    return std::make_unique<Ranks>(std::move(*transport), *timeout);
}

bool isHelper(const Ranks* ranks) {
    return ranks ? ranks->rank() != 0 : launch().value_or(RankLaunch{}).rank != 0;
}

void reportRanks(const Ranks& ranks, bool figures) {
    const RanksReport said = ranks.report();
    for (const std::string& each : said.lost) {
        report(warning("ranks.lost", each, "its work was done by the others"));
    }
    if (!figures || said.batches == 0) return;
    const double service = said.serviceSeconds / static_cast<double>(said.batches);
    const double items = static_cast<double>(said.items) / static_cast<double>(said.batches);
    const double most =
        said.serviceSeconds > 0 ? said.itemSeconds * static_cast<double>(said.items) / said.serviceSeconds : 0;
    report(Diagnostic{Severity::Note,
                      "ranks.figures",
                      fmt::format("{} ranks with {} threads: {} answers in {} batches; an answer takes a thread {:.3g} "
                                  "ms, a batch of {:.0f} takes rank 0 {:.3g} ms: {:.0f} threads would keep it busy",
                                  said.ranks, said.threads, said.items, said.batches, 1e3 * said.itemSeconds, items,
                                  1e3 * service, most),
                      {},
                      {},
                      {}});
}

}  // namespace orrery::cli
