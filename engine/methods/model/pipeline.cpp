#include "methods/model/pipeline.h"

#include <cmath>

namespace orrery {

std::vector<LaunchRun> runsOf(const Graph& graph, std::span<const Launch> launches) {
    std::vector<LaunchRun> runs;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const auto& op = graph.operators[static_cast<std::size_t>(launches[i].op)];
        if (!runs.empty()) {
            const Launch& before = launches[i - 1];
            const auto& last = graph.operators[static_cast<std::size_t>(before.op)];
            // An operator that is repeated without a block of its own runs all its times before the next begins.
            const bool alike = op.block == last.block && (!op.block.empty() || launches[i].count == 1);
            const bool same = before.op == launches[i].op || alike;
            if (same && before.count == launches[i].count && before.part == launches[i].part) {
                runs.back().end = i + 1;
                continue;
            }
        }
        runs.push_back({i, i + 1, launches[i].count});
    }
    return runs;
}

Pipelined pipelined(std::span<const LaunchRun> runs, std::span<const double> seconds, double issue) {
    return pipelined(runs, seconds, std::vector<double>(seconds.size(), issue));
}

Pipelined pipelined(std::span<const LaunchRun> runs, std::span<const double> seconds, std::span<const double> issue) {
    constexpr double mostRepetitions = 4096;
    Pipelined result;
    result.idle.assign(seconds.size(), 0.0);
    double lead = 0;  // how far the GPU's end lies after the host's clock
    double busy = 0, waited = 0;
    std::vector<double> idle;
    for (const LaunchRun& run : runs) {
        double done = 0;
        while (done < run.times) {
            const double before = lead;
            double gaps = 0, work = 0;
            idle.assign(run.end - run.first, 0.0);
            for (std::size_t i = run.first; i < run.end; ++i) {
                lead -= issue[i];
                if (lead < 0) {
                    idle[i - run.first] = -lead;
                    gaps -= lead;
                    lead = 0;
                }
                lead += seconds[i];
                work += seconds[i];
            }
            // The next repetition is alike if the host is as far behind as before, or was never waited for and falls
            // no further behind.
            const bool steady = std::fabs(lead - before) <= 1e-12 * (lead + work) || (gaps == 0 && lead >= before);
            const double times =
                steady || done + 1 >= mostRepetitions ? run.times - done : std::fmin(1, run.times - done);
            if (steady && gaps == 0) lead += (times - 1) * (lead - before);
            for (std::size_t i = run.first; i < run.end; ++i) result.idle[i] += times * idle[i - run.first];
            busy += times * work;
            waited += times * gaps;
            done += times;
        }
    }
    result.total = busy + waited;
    return result;
}

}  // namespace orrery
