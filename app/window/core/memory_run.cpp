#include "app/window/core/memory_run.h"

#include "base/random.h"
#include "simulation/dram/ruled/standard_rules.h"
#include "widgets/common/text.h"

#include <algorithm>

namespace orrery::app {

namespace {

Expected<DramRules> rulesFor(const MemoryQuestion& question) {
    if (question.standard.empty()) {
        if (question.config.empty())
            return fail("dram.no-file", "no configuration file is chosen", "a configuration of Ramulator 2.1");
        return readDramRules(question.config);
    }
    const auto standard = dramStandard(question.standard);
    if (!standard) return Unexpected(standard.error());
    return rulesOf(*standard);
}

// Banks by the levels that divide the channel: `PC1 BG0 B3`.
std::vector<QString> bankNames(const DramRules& rules) {
    std::vector<QString> names;
    for (std::int64_t b = 0; b < rules.banks(); ++b) {
        QStringList parts;
        std::int64_t rest = b;
        for (int l = rules.bankLevel(); l > 0; --l) {
            const auto level = static_cast<std::size_t>(l);
            const std::int64_t at = rest % rules.count[level];
            rest /= rules.count[level];
            if (rules.count[level] == 1) continue;
            const std::string& name = rules.levels[level];
            QString shorter;
            for (const char c : name)
                if (c >= 'A' && c <= 'Z') shorter += QLatin1Char(c);
            parts.prepend(shorter + QString::number(at));
        }
        names.push_back(parts.isEmpty() ? QStringLiteral("B0") : parts.join(QLatin1Char(' ')));
    }
    return names;
}

}  // namespace

std::vector<DramTraceRequest> requestsOf(const MemoryQuestion& question, int burstBytes, std::int64_t capacity) {
    std::vector<DramTraceRequest> requests;
    const auto bursts = static_cast<std::uint64_t>(std::max<std::int64_t>(capacity / burstBytes, 1));
    RandomStream random(1);
    std::uint64_t at = 0;
    int written = 0;
    for (int i = 0; i < question.requests; ++i) {
        DramTraceRequest one;
        if (question.pattern == RequestPattern::Random)
            one.address = random.below(bursts) * static_cast<std::uint64_t>(burstBytes);
        else
            one.address = at % static_cast<std::uint64_t>(std::max<std::int64_t>(capacity, 1));
        at += static_cast<std::uint64_t>(question.pattern == RequestPattern::Stride ? question.stride : burstBytes);
        // Spread evenly, whatever the share.
        one.write = (i + 1) * question.writes / 100 > written;
        written += one.write;
        requests.push_back(one);
    }
    return requests;
}

Expected<MemoryAnswer> runMemory(const MemoryQuestion& question, std::stop_token stop) {
    MemoryAnswer answer;
    auto rules = rulesFor(question);
    if (!rules) return Unexpected(rules.error());
    answer.rules = std::move(*rules);
    // Of another device too, if they are chosen; a file that cannot be read is refused before the run.
    const bool chosen = !question.currents.empty();
    auto currents = chosen ? loadDramCurrents(question.currents) : currentsFor(answer.rules);
    if (chosen && !currents) return Unexpected(currents.error());
    if (chosen) answer.unlike = unlike(*currents, deviceOf(answer.rules));
    if (const auto set = setPage(answer.rules, question.page, question.refresh); !set) return Unexpected(set.error());
    const auto map = RuledAddressMap::make(answer.rules, question.mapping);
    if (!map) return Unexpected(map.error());
    const auto injection = RuledInjection::parse(question.injection);
    if (!injection) return Unexpected(injection.error());
    std::vector<DramTraceRequest> requests;
    if (question.pattern == RequestPattern::Trace) {
        if (question.trace.empty())
            return fail("dram.no-file", "no trace is chosen", "a file of lines such as `R 0x1f40`");
        auto trace = readDramTrace(question.trace);
        if (!trace) return Unexpected(trace.error());
        requests = std::move(*trace);
    } else {
        std::int64_t capacity = answer.rules.channelWidth / 8;
        for (const std::int64_t nodes : answer.rules.count) capacity *= nodes;
        requests = requestsOf(question, answer.rules.burstBytes(), std::max<std::int64_t>(capacity, 1));
    }
    RuledRecord record;
    auto result = runRuledDram(answer.rules, *map, question.refresh, *injection, requests, std::move(stop), &record);
    if (!result) return Unexpected(result.error());
    answer.result = std::move(*result);
    answer.bindings = dramBindings(answer.rules, answer.result);
    answer.bounds = dramCountedBounds(answer.rules, *map, question.refresh, *injection, requests);
    if (currents)
        answer.energy = ruledEnergy(answer.rules, answer.result, std::move(*currents));
    else
        answer.energy = Unexpected(currents.error());
    ui::CommandPicture& picture = answer.picture;
    picture.banks = bankNames(answer.rules);
    picture.issued = std::move(record.issued);
    picture.cut = record.cut;
    picture.buses = answer.rules.dataBuses();
    picture.burst = std::max<std::int64_t>(answer.rules.timingOf("nBL"), 1);
    picture.readLag = answer.rules.timingOf("nCL");
    picture.writeLag = answer.rules.timingOf("nCWL");
    picture.cycleSeconds = answer.rules.cycleSeconds();
    for (const DramRule& rule : answer.rules.rules) picture.holders.push_back(ui::qs(dramRuleName(answer.rules, rule)));
    picture.holders.insert(picture.holders.end(), {QStringLiteral("data bus"), QStringLiteral("requests"),
                                                   QStringLiteral("order of commands")});
    return answer;
}

}  // namespace orrery::app
