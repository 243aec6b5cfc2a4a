#include "app/window/serving/serving_question.h"

#include "learning/calibration.h"
#include "methods/system/fleet_defaults.h"
#include "methods/system/iteration_times.h"
#include "serving/traffic/trace_part.h"
#include "study/serving/capacity.h"
#include "widgets/common/text.h"

#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace orrery::app {

namespace {

/// Beyond this many requests no single iteration's members are kept: the log would outgrow the answer.
constexpr std::size_t most_followed = 20000;

QString nameOf(const ServingScenario& scenario) {
    return scenario.pools.empty() ? QString() : policyTitle(scenario.pools.front().scheduler.id);
}

/// `4 replicas`; `2 prefill + 2 decode replicas` where they differ.
QString fleetText(const ServingScenario& scenario) {
    std::map<ReplicaRole, int> counts;
    for (const PoolSpec& pool : scenario.pools) counts[pool.role] += pool.replicas;
    if (counts.size() == 1 && counts.begin()->first == ReplicaRole::Whole)
        return QObject::tr("%n replica(s)", nullptr, counts.begin()->second);
    QStringList parts;
    for (const auto& [role, count] : counts)
        parts << QStringLiteral("%1 %2").arg(count).arg(role == ReplicaRole::Whole ? QObject::tr("whole")
                                                                                    : ui::qs(toText(role)));
    return QObject::tr("%1 replicas").arg(parts.join(QStringLiteral(" + ")));
}

struct Contender {
    ServingScenario scenario;
    std::shared_ptr<const Hardware> drawing;
    QString name;
    bool pinned = false;
};

/// The question's own fleet, the same under the second policy in every pool, and the pinned one.
std::vector<Contender> contendersOf(const ServingStudy& question, const std::shared_ptr<const Hardware>& drawing,
                                    const PinnedFleetPtr& pinned) {
    std::vector<Contender> all{{question.scenario, drawing, nameOf(question.scenario)}};
    if (question.compareWith) {
        ServingScenario second = question.scenario;
        for (PoolSpec& pool : second.pools) pool.scheduler = *question.compareWith;
        QString name = nameOf(second);
        if (name == all.front().name) name += QStringLiteral(" (2)");
        all.push_back({std::move(second), drawing, std::move(name)});
    }
    if (pinned) {
        ServingScenario kept = pinned->scenario;
        kept.promise = question.scenario.promise;
        kept.tenants = question.scenario.tenants;
        kept.stages = question.scenario.stages;
        // What tells them apart: the fleet, and the design where it is another.
        const auto named = [&](const ServingScenario& scenario, const std::shared_ptr<const Hardware>& design) {
            return design && pinned->drawing != drawing ? ui::qs(design->name) + QStringLiteral(", ") +
                                                              fleetText(scenario)
                                                        : fleetText(scenario);
        };
        for (Contender& each : all)
            each.name = QObject::tr("Now: %1, %2").arg(named(each.scenario, each.drawing), each.name);
        QString name = QObject::tr("Pinned: %1, %2").arg(named(kept, pinned->drawing), nameOf(kept));
        all.push_back({std::move(kept), pinned->drawing, std::move(name), true});
    }
    return all;
}

std::vector<PoolPricers> pricersOf(const ServingScenario& scenario, const std::shared_ptr<const Hardware>& drawing) {
    std::vector<PoolPricers> all(scenario.pools.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        if (const auto device = poolDevice(scenario.pools[i], drawing))
            all[i].offers = pricerOffers({device->design, device->place}, shippedCalibrations().set);
    return all;
}

void addUsed(std::vector<PoolPricers>& pricers, const PlannedFleet& planned) {
    for (std::size_t i = 0; i < pricers.size() && i < planned.pools.size(); ++i) {
        pricers[i].used = planned.pools[i].pricer;
        const std::string place = "pools/" + planned.pools[i].name + "/time/method";
        for (const Diagnostic& each : planned.warnings)
            if (each.code == "serving.usual-pricer" && each.place.path == place) pricers[i].reason = each.message;
    }
}

Diagnostic pinnedRefusal(const Contender& contender, const Diagnostic& why) {
    Diagnostic warning = why;
    warning.severity = Severity::Warning;
    warning.message = contender.name.toStdString() + " does not serve this: " + why.message;
    return warning;
}

}  // namespace

QString policyTitle(const std::string& id) {
    const SchedulerCard* card = findScheduler(id);
    return ui::qs(card ? card->title : std::string_view(id));
}

ServingAnswer answerServing(const ServingStudy& question, const std::shared_ptr<const Hardware>& drawing,
                            const PinnedFleetPtr& pinned, IterationTimes& cache, std::stop_token stop,
                            Progress& progress) {
    ServingAnswer answer;
    answer.question = question;
    answer.drawing = drawing;
    answer.pinned = pinned;
    answer.pricers = pricersOf(question.scenario, drawing);
    auto stream = requestsOf(question.scenario, question.traffic, question.seed);
    if (!stream) {
        answer.refusal = stream.error();
        return answer;
    }
    answer.stream = std::make_shared<const RequestStream>(std::move(*stream));
    if (auto part = partOfTrace(question.traffic, answer.stream->size())) answer.warnings.push_back(std::move(*part));
    const auto contenders = contendersOf(question, drawing, pinned);
    progress.setTotal(answer.stream->size() * contenders.size());
    for (std::size_t i = 0; i < contenders.size() && !stop.stop_requested(); ++i) {
        const Contender& contender = contenders[i];
        const auto refuse = [&](const Diagnostic& why) {
            if (contender.pinned)
                answer.warnings.push_back(pinnedRefusal(contender, why));
            else
                answer.refusal = why;
        };
        FleetOptions options;
        options.cache = &cache;
        options.stop = stop;
        auto planned = fleetOf(contender.scenario, contender.drawing, options);
        if (!planned) {
            refuse(planned.error());
            return answer;
        }
        if (i == 0) {
            answer.planned = *planned;
            addUsed(answer.pricers, *planned);
            for (Diagnostic& each : notEngineDefaults(contender.scenario, *planned))
                answer.warnings.push_back(std::move(each));
            // Who prices iterations stands in the form.
            for (const Diagnostic& each : planned->warnings)
                if (each.code != "serving.usual-pricer") answer.warnings.push_back(each);
        }
        ServingOptions how;
        how.seed = question.seed;
        how.batches = true;
        how.members = how.events = answer.stream->size() <= most_followed;
        how.stop = stop;
        how.progress = &progress;
        auto result = simulate(planned->fleet, answer.stream, how);
        if (!result) {
            refuse(result.error());
            return answer;
        }
        if (result->cancelled) return answer;
        auto run = std::make_shared<ui::ServingRun>();
        run->name = contender.name;
        run->colour = static_cast<int>(i) * 2;
        run->pinned = contender.pinned;
        run->fleet = planned->fleet;
        run->stream = answer.stream;
        run->metrics = measure(*result, *planned->fleet);
        run->result = std::move(*result);
        answer.runs.push_back(std::move(run));
    }
    return answer;
}

LoadCurve loadCurve(const ServingStudy& question, const std::shared_ptr<const Hardware>& drawing,
                    const PinnedFleetPtr& pinned, IterationTimes& cache, std::stop_token stop, Progress& progress) {
    constexpr std::array<double, 10> factors{0.2, 0.35, 0.5, 0.65, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0};
    constexpr double fallen = 0.5, farthest = 64;  // past the cliff: half of the requests break the promise
    LoadCurve curve;
    const auto own = arrivalRate(question.traffic, question.seed);
    if (!own) {
        curve.refusal = own.error();
        return curve;
    }
    const auto contenders = contendersOf(question, drawing, pinned);
    // A straight line across the cliff would hide where it is.
    constexpr std::size_t halvings = 4;
    constexpr double steep = 0.15;
    progress.setTotal((factors.size() + halvings) * contenders.size());
    const auto executor = makeDefaultExecutor();
    for (std::size_t p = 0; p < contenders.size() && !stop.stop_requested(); ++p) {
        FleetOptions options;
        options.cache = &cache;
        options.stop = stop;
        auto planned = fleetOf(contenders[p].scenario, contenders[p].drawing, options);
        if (!planned) {
            if (!contenders[p].pinned) curve.refusal = planned.error();
            return curve;
        }
        const auto keptAt = [&](double factor) -> std::optional<double> {
            if (stop.stop_requested()) return std::nullopt;
            const TrafficSpec traffic = atRate(question.traffic, *own, *own * factor);
            auto stream = requestsOf(contenders[p].scenario, traffic, question.seed);
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
        std::size_t halved = 0;
        for (; halved < halvings; ++halved) {
            std::size_t widest = 0;
            double most = 0;
            for (std::size_t k = 0; k + 1 < loads.size(); ++k) {
                if (!kept[k] || !kept[k + 1]) continue;
                const double drop = std::abs(*kept[k] - *kept[k + 1]);
                if (drop > most) most = drop, widest = k;
            }
            if (most < steep) break;
            const double between = (loads[widest] + loads[widest + 1]) / 2;
            const auto at = static_cast<std::ptrdiff_t>(widest) + 1;
            loads.insert(loads.begin() + at, between);
            kept.insert(kept.begin() + at, keptAt(between));
            progress.advance();
        }
        progress.advance(halvings - halved);  // where none is steep
        ui::PlotLine line;
        line.name = contenders[p].name;
        line.colour = static_cast<int>(p) * 2;
        line.dots = true;
        for (std::size_t i = 0; i < loads.size(); ++i) {
            if (!kept[i]) continue;
            line.x.push_back(*own * loads[i]);
            line.y.push_back(*kept[i]);
        }
        curve.lines.push_back(std::move(line));
    }
    return curve;
}

}  // namespace orrery::app
