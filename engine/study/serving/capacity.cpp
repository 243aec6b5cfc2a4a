#include "study/serving/capacity.h"

#include "serving/fields/field.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace orrery {

namespace {

class CapacitySearch {
public:
    CapacitySearch(const std::shared_ptr<const FleetSpec>& fleet, const TrafficSpec& traffic, const CapacitySpec& spec,
                   const CapacityOptions& options)
        : fleet_(fleet), traffic_(traffic), spec_(spec), options_(options) {}

    Expected<bool> keepsAt(double rate) {
        if (!own_) {
            auto own = arrivalRate(traffic_, options_.seed);
            if (!own) return tl::unexpected(own.error());
            own_ = *own;
        }
        const TrafficSpec traffic = atRate(traffic_, *own_, rate);
        auto stream = options_.scenario ? requestsOf(*options_.scenario, traffic, options_.seed)
                                        : makeTraffic(traffic, options_.seed);
        if (!stream) return tl::unexpected(stream.error());
        ServingOptions serving;
        serving.seed = options_.seed;
        serving.stop = options_.stop;
        const auto shared = std::make_shared<const RequestStream>(std::move(*stream));
        auto run = simulate(fleet_, shared, serving);
        if (!run) return tl::unexpected(run.error());
        if (run->cancelled || options_.stop.stop_requested()) {
            return fail("study.cancelled", "the search was stopped", "", "start it again");
        }
        const ServingMetrics metrics = measure(*run, *fleet_);
        const bool keeps = metrics.attainment >= spec_.attainment;
        result.probes.push_back({rate, metrics.attainment, keeps});
        if (options_.progress) options_.progress->advance();
        if (options_.onProbe) options_.onProbe(result.probes.back());
        if (keeps && rate > result.rate) {
            result.rate = rate;
            result.metrics = metrics;
        }
        if (!keeps && (result.above == 0 || rate < result.above)) result.above = rate;
        return keeps;
    }

    CapacityResult result;

private:
    const std::shared_ptr<const FleetSpec>& fleet_;
    const TrafficSpec& traffic_;
    const CapacitySpec& spec_;
    const CapacityOptions& options_;
    std::optional<double> own_;  ///< requests per second as asked: read once, a trace may be long
};

Expected<void> checkRate(const TrafficSpec& traffic) {
    if (traffic.arrivals.kind != ArrivalKind::ClosedLoop && traffic.arrivals.kind != ArrivalKind::AllAtOnce) return {};
    return fail("capacity.no-rate", fmt::format("{} arrivals have no rate", toText(traffic.arrivals.kind)),
                "poisson, gamma, constant, bursts, diurnal or a trace", "choose other arrivals");
}

Expected<void> check(const FleetSpec& fleet, const TrafficSpec& traffic, const CapacitySpec& spec) {
    if (fleet.promise == ServiceLevel{}) {
        return fail("capacity.no-promise", "there is no SLO, so any load meets it",
                    "a limit on TTFT, TPOT or the end-to-end latency", "set promise");
    }
    if (auto good = checkRate(traffic); !good) return good;
    if (auto good = checkFields(spec, "capacity"); !good) return good;
    if (spec.guess > spec.highest) {
        return fail("capacity.value", fmt::format("guess is {}, highest {}", spec.guess, spec.highest),
                    "a guess not above the highest", {}, Place{.path = "capacity/guess"});
    }
    return {};
}

}  // namespace

Expected<double> arrivalRate(const TrafficSpec& traffic, std::uint64_t seed) {
    if (auto good = checkRate(traffic); !good) return tl::unexpected(good.error());
    if (traffic.arrivals.kind != ArrivalKind::Trace) return traffic.arrivals.rate * traffic.edit.rate;
    auto whole = makeTraffic(traffic, seed);
    if (!whole) return tl::unexpected(whole.error());
    const double span = toSeconds(whole->arrival.back() - whole->arrival.front());
    if (whole->size() < 2 || span <= 0) {
        return fail("capacity.no-rate", "the trace's requests all come at one time", "arrivals over time",
                    "choose poisson arrivals");
    }
    return static_cast<double>(whole->size() - 1) / span;
}

TrafficSpec atRate(TrafficSpec traffic, double own, double rate) {
    if (traffic.arrivals.kind == ArrivalKind::Trace)
        traffic.edit.rate *= rate / own;
    else
        traffic.arrivals.rate = rate / traffic.edit.rate;
    return traffic;
}

Expected<CapacityResult> capacityOf(const std::shared_ptr<const FleetSpec>& fleet, const TrafficSpec& traffic,
                                    const CapacitySpec& spec, const CapacityOptions& options) {
    if (auto ok = check(*fleet, traffic, spec); !ok) return tl::unexpected(ok.error());
    CapacitySearch search(fleet, traffic, spec, options);
    auto keeps = search.keepsAt(spec.guess);
    if (!keeps) return tl::unexpected(keeps.error());
    double rate = spec.guess;
    if (*keeps) {
        while (*keeps && rate < spec.highest) {
            rate = std::min(rate * 2, spec.highest);
            if (keeps = search.keepsAt(rate); !keeps) return tl::unexpected(keeps.error());
        }
        if (*keeps) return std::move(search.result);
    } else {
        const double lowest = std::max(spec.guess * 1e-6, 1e-4);
        while (!*keeps && rate > lowest) {
            rate = std::max(rate / 2, lowest);
            if (keeps = search.keepsAt(rate); !keeps) return tl::unexpected(keeps.error());
        }
        if (!*keeps) return std::move(search.result);
    }
    while (search.result.above > search.result.rate * (1 + spec.tolerance)) {
        keeps = search.keepsAt(std::sqrt(search.result.above * search.result.rate));
        if (!keeps) return tl::unexpected(keeps.error());
        // Where attainment does not fall with the rate, a rate above one that breaks them may keep them: stop there.
        if (search.result.above <= search.result.rate) break;
    }
    return std::move(search.result);
}

Expected<FigureInterval> capacityInterval(const FleetSpec& fleet, const TrafficSpec& traffic, const CapacitySpec& spec,
                                          double rate, CapacityOptions options) {
    options.onProbe = {};
    FigureInterval interval{rate, rate};
    for (const PriceEnd end : {PriceEnd::Low, PriceEnd::High}) {
        auto found = capacityOf(std::make_shared<const FleetSpec>(atEnd(fleet, end)), traffic, spec, options);
        if (!found) return Unexpected(std::move(found.error()));
        interval.low = std::min(interval.low, found->rate);
        interval.high = std::max(interval.high, found->rate);
    }
    return interval;
}

}  // namespace orrery
