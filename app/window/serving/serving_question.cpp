#include "app/window/serving/serving_question.h"

#include "methods/system/fleet_defaults.h"
#include "serving/traffic/trace_part.h"
#include "widgets/common/text.h"

#include <array>
#include <vector>

namespace orrery::app {

namespace {

/// Beyond this many requests no single iteration's members are kept: the log would outgrow the answer.
constexpr std::size_t most_followed = 20000;

/// The scenario of each policy: its own, and the second in every pool that serves whole requests or decodes.
std::vector<ServingScenario> policiesOf(const ServingStudy& question) {
    std::vector<ServingScenario> all{question.scenario};
    if (!question.compareWith) return all;
    all.push_back(question.scenario);
    for (PoolSpec& pool : all.back().pools) pool.scheduler = *question.compareWith;
    return all;
}

QString nameOf(const ServingScenario& scenario) {
    return scenario.pools.empty() ? QString() : policyTitle(scenario.pools.front().scheduler.id);
}

}  // namespace

QString policyTitle(const std::string& id) {
    const SchedulerCard* card = findScheduler(id);
    return ui::qs(card ? card->title : std::string_view(id));
}

ServingAnswer answerServing(const ServingStudy& question, const std::shared_ptr<const Hardware>& drawing,
                            IterationTimes& cache, std::stop_token stop, Progress& progress) {
    ServingAnswer answer;
    answer.question = question;
    answer.drawing = drawing;
    auto stream = requestsOf(question.scenario, question.traffic, question.seed);
    if (!stream) {
        answer.refusal = stream.error();
        return answer;
    }
    answer.stream = std::make_shared<const RequestStream>(std::move(*stream));
    if (auto part = partOfTrace(question.traffic, answer.stream->size())) answer.warnings.push_back(std::move(*part));
    const auto policies = policiesOf(question);
    progress.setTotal(answer.stream->size() * policies.size());
    for (std::size_t i = 0; i < policies.size() && !stop.stop_requested(); ++i) {
        FleetOptions options;
        options.cache = &cache;
        options.stop = stop;
        auto planned = fleetOf(policies[i], drawing, options);
        if (!planned) {
            answer.refusal = planned.error();
            return answer;
        }
        if (i == 0) {
            answer.planned = *planned;
            for (Diagnostic& each : notEngineDefaults(policies[i], *planned))
                answer.warnings.push_back(std::move(each));
            for (const Diagnostic& each : planned->warnings) answer.warnings.push_back(each);
        }
        ServingOptions how;
        how.seed = question.seed;
        how.batches = true;
        how.members = how.events = answer.stream->size() <= most_followed;
        how.stop = stop;
        how.progress = &progress;
        auto result = simulate(planned->fleet, answer.stream, how);
        if (!result) {
            answer.refusal = result.error();
            return answer;
        }
        if (result->cancelled) return answer;
        auto run = std::make_shared<ui::ServingRun>();
        run->name = nameOf(policies[i]);
        if (i > 0 && run->name == answer.runs.front()->name) run->name += QStringLiteral(" (2)");
        run->colour = static_cast<int>(i) * 2;
        run->fleet = planned->fleet;
        run->stream = answer.stream;
        run->metrics = measure(*result, *planned->fleet);
        run->result = std::move(*result);
        answer.runs.push_back(std::move(run));
    }
    return answer;
}

LoadCurve loadCurve(const ServingStudy& question, const std::shared_ptr<const Hardware>& drawing, IterationTimes& cache,
                    std::stop_token stop, Progress& progress) {
    constexpr std::array<double, 10> factors{0.2, 0.35, 0.5, 0.65, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0};
    constexpr double fallen = 0.5, farthest = 64;  // past the cliff: half of the requests break the promise
    LoadCurve curve;
    const auto policies = policiesOf(question);
    progress.setTotal(factors.size() * policies.size());
    const auto executor = makeDefaultExecutor();
    for (std::size_t p = 0; p < policies.size() && !stop.stop_requested(); ++p) {
        FleetOptions options;
        options.cache = &cache;
        options.stop = stop;
        auto planned = fleetOf(policies[p], drawing, options);
        if (!planned) {
            curve.refusal = planned.error();
            return curve;
        }
        const auto keptAt = [&](double factor) -> std::optional<double> {
            if (stop.stop_requested()) return std::nullopt;
            TrafficSpec traffic = question.traffic;
            if (traffic.arrivals.kind == ArrivalKind::Trace)
                traffic.edit.rate *= factor;
            else
                traffic.arrivals.rate *= factor;
            auto stream = requestsOf(policies[p], traffic, question.seed);
            if (!stream) return std::nullopt;
            ServingOptions how;
            how.seed = question.seed;
            how.stop = stop;
            auto result = simulate(planned->fleet, std::make_shared<const RequestStream>(std::move(*stream)), how);
            if (!result || result->cancelled) return std::nullopt;
            return measure(*result, *planned->fleet).attainment;
        };
        std::vector<double> loads(factors.begin(), factors.end());
        std::vector<std::optional<double>> kept(loads.size());
        executor->forEach(loads.size(), [&](std::size_t i) {
            kept[i] = keptAt(loads[i]);
            progress.advance();
        });
        while (kept.back() && *kept.back() > fallen && loads.back() < farthest) {
            loads.push_back(loads.back() * 1.5);
            kept.push_back(keptAt(loads.back()));
        }
        ui::PlotLine line;
        line.name = nameOf(policies[p]);
        line.colour = static_cast<int>(p) * 2;
        line.dots = true;
        for (std::size_t i = 0; i < loads.size(); ++i) {
            if (!kept[i]) continue;
            const double rate = question.traffic.arrivals.kind == ArrivalKind::Trace ? question.traffic.edit.rate
                                                                                     : question.traffic.arrivals.rate;
            line.x.push_back(rate * loads[i]);
            line.y.push_back(*kept[i]);
        }
        curve.lines.push_back(std::move(line));
    }
    return curve;
}

}  // namespace orrery::app
