#include "serving/metrics.h"

#include "base/maths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

double seconds(SimTime begin, SimTime end) {
    return toSeconds(end - begin);
}

struct Window {
    SimTime begin = std::numeric_limits<SimTime>::max(), end = std::numeric_limits<SimTime>::min();
    double seconds() const { return end > begin ? toSeconds(end - begin) : 0; }
};

// First arrival to last end; to the last event where something has not ended.
Window windowOf(const ServingResult& result) {
    Window window;
    const RequestTable& table = result.requests;
    for (std::size_t r = 0; r < table.size(); ++r) {
        if (table.state[r] == RequestState::Future) continue;
        window.begin = std::min(window.begin, table.arrived[r]);
        window.end = std::max(window.end, table.ended[r] >= 0 ? table.ended[r] : result.end);
    }
    return window;
}

// Shares of what the whole fleet could have done in that time.
void measureUse(ServingMetrics& metrics, const ServingResult& result, const FleetSpec& fleet) {
    double blockSeconds = 0, blocks = 0, flops = 0, canFlops = 0, bytes = 0, canBytes = 0, dollars = 0;
    bool flopsKnown = true, bytesKnown = true;
    std::uint64_t adapterUses = 0;
    for (std::size_t i = 0; i < result.replicas.size(); ++i) {
        const ReplicaTotals& totals = result.replicas[i];
        metrics.iterations += totals.iterations;
        metrics.joules += totals.joules;
        metrics.stalls += totals.stalls;
        metrics.stallSeconds += toSeconds(totals.stalled);
        metrics.adapterLoads += totals.adapterLoads;
        metrics.adapterLoadSeconds += totals.adapterSeconds;
        adapterUses += totals.adapterUses;
        blockSeconds += totals.blockSeconds;
        if (i >= fleet.replicas.size()) continue;
        const ReplicaSpec& spec = fleet.replicas[i];
        if (spec.devices == 0) {
            dollars += spec.dollarsPerHour * metrics.makespan / 3600;
            continue;
        }
        blocks += static_cast<double>(spec.kvBlocks);
        if (spec.kvBlocks > 0) {
            metrics.peakKvUse = std::max(metrics.peakKvUse,
                                         static_cast<double>(totals.peakBlocks) / static_cast<double>(spec.kvBlocks));
        }
        const double there = std::min(metrics.makespan, std::max(0.0, toSeconds(result.end - totals.off)));
        dollars += spec.dollarsPerHour * there / 3600;
        const ReplicaRoofline& roof = spec.roofline;
        const double tokens = static_cast<double>(totals.promptTokens + totals.decodeTokens) -
                              static_cast<double>(totals.recomputedTokens);
        flops += tokens * roof.flopsPerToken + totals.pairs * roof.flopsPerPair;
        canFlops += roof.flopsPerSecond * metrics.makespan;
        bytes += static_cast<double>(totals.iterations) * roof.weightBytes +
                 static_cast<double>(totals.contextTokens) * spec.kvBytesPerToken;
        canBytes += roof.bytesPerSecond * metrics.makespan;
        flopsKnown = flopsKnown && roof.flopsPerToken > 0 && roof.flopsPerSecond > 0;
        bytesKnown = bytesKnown && roof.weightBytes > 0 && roof.bytesPerSecond > 0;
    }
    if (blocks > 0 && metrics.makespan > 0) metrics.kvUse = blockSeconds / (blocks * metrics.makespan);
    if (flopsKnown && canFlops > 0) metrics.mfu = flops / canFlops;
    if (bytesKnown && canBytes > 0) metrics.mbu = bytes / canBytes;
    if (adapterUses > 0)
        metrics.adapterHitRate = 1 - static_cast<double>(metrics.adapterLoads) / static_cast<double>(adapterUses);
    const double output = metrics.outputTokensPerSecond * metrics.makespan;
    if (output > 0) {
        metrics.joulesPerToken = metrics.joules / output;
        metrics.dollarsPerMillionTokens = dollars / output * 1e6;
    }
}

// Requests of one question: one, or one per stage, which stand behind one another.
struct Question {
    RequestIndex first = 0, last = 0;
};

bool keeps(const RequestTable& requests, const Question& question, const ServiceLevel& promise) {
    const std::int32_t output = requests.stream->output[question.last];
    const double first = seconds(requests.arrived[question.first], requests.firstToken[question.last]);
    const double all = seconds(requests.arrived[question.first], requests.ended[question.last]);
    const double writing = seconds(requests.firstToken[question.last], requests.ended[question.last]);
    const double each = output > 1 ? writing / (output - 1) : 0;
    return (promise.ttft <= 0 || first <= promise.ttft) && (promise.tpot <= 0 || each <= promise.tpot) &&
           (promise.endToEnd <= 0 || all <= promise.endToEnd);
}

// What is collected of questions before it becomes spreads.
struct Columns {
    std::vector<double> ttft, tpot, endToEnd, queueing, normalised;
    std::size_t requests = 0, done = 0, rejected = 0;
    double good = 0, prompts = 0, outputs = 0;

    Columns() = default;
    explicit Columns(std::size_t size) {
        for (auto* column : {&ttft, &tpot, &endToEnd, &queueing, &normalised}) column->reserve(size);
    }
    void add(const RequestTable& table, const Question& question, const ServiceLevel& promise) {
        ++requests;
        bool ended = true, refused = false;
        double waited = 0;
        for (RequestIndex r = question.first; r <= question.last; ++r) {
            ended &= table.state[r] == RequestState::Done;
            refused |= table.state[r] == RequestState::Rejected;
            waited += seconds(table.arrived[r], table.scheduled[r]);
        }
        if (!ended) {
            rejected += refused ? 1 : 0;
            return;
        }
        ++done;
        const RequestIndex last = question.last;
        const SimTime arrived = table.arrived[question.first];
        const std::int32_t output = table.stream->output[last];
        prompts += table.stream->prompt[last];
        outputs += output;
        const double whole = seconds(arrived, table.ended[last]);
        ttft.push_back(seconds(arrived, table.firstToken[last]));
        endToEnd.push_back(whole);
        queueing.push_back(waited);
        normalised.push_back(whole / output);
        if (output > 1) tpot.push_back(seconds(table.firstToken[last], table.ended[last]) / (output - 1));
        if (keeps(table, question, promise)) ++good;
    }
    GroupMetrics group(std::string name, double makespan) {
        GroupMetrics out;
        out.name = std::move(name);
        out.requests = requests;
        out.done = done;
        out.rejected = rejected;
        out.ttft = spread(std::move(ttft));
        out.tpot = spread(std::move(tpot));
        out.endToEnd = spread(std::move(endToEnd));
        out.queueing = spread(std::move(queueing));
        if (makespan > 0) out.outputTokensPerSecond = outputs / makespan;
        if (requests > 0) out.attainment = good / static_cast<double>(requests);
        return out;
    }
};

}  // namespace

Spread spread(std::vector<double> values) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    Spread result;
    result.count = values.size();
    if (values.empty()) return result;
    double sum = 0;
    for (const double value : values) sum += value;
    result.mean = sum / static_cast<double>(values.size());
    std::size_t from = 0;
    const auto next = [&](double q) {
        const double value = quantileType7(values, q, from);
        from = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
        return value;
    };
    result.p50 = next(0.5);
    result.p90 = next(0.9);
    result.p95 = next(0.95);
    result.p99 = next(0.99);
    result.max = *std::max_element(values.begin() + static_cast<std::ptrdiff_t>(from), values.end());
    return result;
}

Spread spreadOfGaps(const ServingResult& result) {
    Spread spread;
    if (result.gaps == 0 || result.gapBins <= 0) return spread;
    spread.count = result.gaps;
    spread.mean = result.gapSum / static_cast<double>(result.gaps);
    const auto lower = [&](std::size_t bin) { return std::pow(10.0, -6 + static_cast<double>(bin) / result.gapBins); };
    const auto at = [&](double q) {
        const double position = q * static_cast<double>(result.gaps - 1);
        double before = 0;
        for (std::size_t bin = 0; bin < result.gapHistogram.size(); ++bin) {
            const auto count = static_cast<double>(result.gapHistogram[bin]);
            if (count > 0 && position < before + count) {
                // Spread evenly (in the logarithm) over the bin: never farther off than its width.
                const double part = (position - before + 0.5) / count;
                return lower(bin) * std::pow(10.0, std::min(part, 1.0) / result.gapBins);
            }
            before += count;
        }
        return lower(result.gapHistogram.size());
    };
    spread.p50 = at(0.5);
    spread.p90 = at(0.9);
    spread.p95 = at(0.95);
    spread.p99 = at(0.99);
    for (std::size_t bin = result.gapHistogram.size(); bin > 0; --bin) {
        if (result.gapHistogram[bin - 1] > 0) {
            spread.max = lower(bin);
            break;
        }
    }
    return spread;
}

bool keeps(const RequestTable& requests, RequestIndex r, const ServiceLevel& promise) {
    return keeps(requests, Question{r, r}, promise);
}

ServingMetrics measure(const ServingResult& result, const FleetSpec& fleet) {
    ServingMetrics metrics;
    const RequestTable& table = result.requests;
    const RequestStream& stream = *table.stream;
    const auto stages = static_cast<RequestIndex>(std::max(1, stream.stages));
    const auto n = static_cast<RequestIndex>(table.size());
    const auto tenants = static_cast<std::int32_t>(stream.tenantNames.size());
    metrics.makespan = windowOf(result).seconds();
    Columns all(n / stages);
    std::vector<Columns> byTenant(static_cast<std::size_t>(tenants)), byStage(stages > 1 ? stages : 0);
    double scheduledPrompts = 0, cached = 0;
    for (RequestIndex r = 0; r < n; ++r) {
        metrics.preemptions += table.preemptions[r];
        metrics.restarts += table.restarts[r];
        if (table.stalls[r] > 0) ++metrics.stalled;
        if (table.scheduled[r] >= 0) {
            scheduledPrompts += stream.prompt[r];
            cached += table.cached[r];
        }
        if (stages > 1) byStage[r % stages].add(table, {r, r}, {});
        if (r % stages != 0) continue;
        const Question question{r, r + stages - 1};
        const std::int32_t tenant = tenants > 0 && !stream.tenant.empty() ? stream.tenant[r] % tenants : 0;
        all.add(table, question, promiseTo(fleet, tenant));
        if (tenants > 0 && !stream.tenant.empty())
            byTenant[static_cast<std::size_t>(tenant)].add(table, question, promiseTo(fleet, tenant));
    }
    for (std::size_t i = 0; i < byTenant.size(); ++i)
        metrics.tenants.push_back(byTenant[i].group(stream.tenantNames[i], metrics.makespan));
    for (std::size_t i = 0; i < byStage.size(); ++i) {
        metrics.stages.push_back(byStage[i].group(
            i < stream.stageNames.size() ? stream.stageNames[i] : fmt::format("{}", i), metrics.makespan));
        metrics.stages.back().attainment = 0;
    }
    metrics.requests = all.requests;
    metrics.done = all.done;
    metrics.rejected = all.rejected;
    metrics.unfinished = all.requests - all.done - all.rejected;
    metrics.ttft = spread(std::move(all.ttft));
    metrics.tpot = spread(std::move(all.tpot));
    metrics.endToEnd = spread(std::move(all.endToEnd));
    metrics.queueing = spread(std::move(all.queueing));
    metrics.normalised = spread(std::move(all.normalised));
    metrics.itl = spreadOfGaps(result);
    if (metrics.makespan > 0) {
        metrics.requestsPerSecond = static_cast<double>(metrics.done) / metrics.makespan;
        metrics.outputTokensPerSecond = all.outputs / metrics.makespan;
        metrics.tokensPerSecond = (all.prompts + all.outputs) / metrics.makespan;
        metrics.goodput = all.good / metrics.makespan;
    }
    if (all.requests > 0) metrics.attainment = all.good / static_cast<double>(all.requests);
    if (scheduledPrompts > 0) metrics.prefixHitRate = cached / scheduledPrompts;
    measureUse(metrics, result, fleet);
    return metrics;
}

ServingSeries seriesOf(const ServingResult& result, const FleetSpec& fleet, std::size_t bins) {
    ServingSeries series;
    const Window window = windowOf(result);
    if (window.end < window.begin || bins == 0) return series;
    const double span = std::max(window.seconds(), 1e-12);
    series.step = span / static_cast<double>(bins);
    for (auto* column : {&series.arrivals, &series.ends, &series.rejections, &series.inSystem}) column->assign(bins, 0);
    const auto place = [&](SimTime time) {
        return std::clamp(seconds(window.begin, time) / span, 0.0, 1.0) * static_cast<double>(bins);
    };
    const auto binOf = [&](SimTime time) { return std::min(static_cast<std::size_t>(place(time)), bins - 1); };
    // Means over bins from a difference array: a request is in the system from its arrival to its end.
    std::vector<double> slope(bins + 2, 0);
    const auto step = [&](SimTime time, double sign) {
        const double where = place(time);
        const auto bin = std::min(static_cast<std::size_t>(where), bins - 1);
        const double rest = static_cast<double>(bin + 1) - where;
        slope[bin] += sign * rest;
        slope[bin + 1] += sign * (1 - rest);
    };
    const RequestTable& table = result.requests;
    for (std::size_t r = 0; r < table.size(); ++r) {
        if (table.state[r] == RequestState::Future) continue;
        ++series.arrivals[binOf(table.arrived[r])];
        step(table.arrived[r], 1);
        if (table.ended[r] < 0) continue;
        ++(table.state[r] == RequestState::Rejected ? series.rejections : series.ends)[binOf(table.ended[r])];
        step(table.ended[r], -1);
    }
    double level = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        level += slope[bin];
        series.inSystem[bin] = std::max(level, 0.0);
    }
    const BatchLog& log = result.batches;
    if (log.size() == 0) return series;
    double blocks = 0;
    for (const ReplicaSpec& replica : fleet.replicas) blocks += static_cast<double>(replica.kvBlocks);
    series.promptTokens.assign(bins, 0);
    series.decodeTokens.assign(bins, 0);
    series.kvUse.assign(bins, 0);
    std::vector<double> count(bins, 0);
    std::vector<std::int64_t> used(result.replicas.size(), 0);
    std::int64_t all = 0;
    for (std::size_t i = 0; i < log.size(); ++i) {
        const auto bin = binOf(log.end[i]);
        series.promptTokens[bin] += log.promptTokens[i];
        series.decodeTokens[bin] += log.decodeTokens[i];
        auto& mine = used[static_cast<std::size_t>(log.replica[i])];
        all += log.usedBlocks[i] - mine;
        mine = log.usedBlocks[i];
        series.kvUse[bin] += blocks > 0 ? static_cast<double>(all) / blocks : 0;
        ++count[bin];
    }
    for (std::size_t bin = 0; bin < bins; ++bin) {
        if (count[bin] > 0) series.kvUse[bin] /= count[bin];
    }
    return series;
}

}  // namespace orrery
