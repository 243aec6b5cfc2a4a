#include "app/window/serving/search_results.h"

#include "app/window/serving/search_choices.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace orrery::app {

namespace {

QString t(const char* text) {
    return QCoreApplication::translate("SearchResults", text);
}

double positive(double value) {
    return value > 0 ? value : std::nan("");
}

ServingStudy asked(const ServingStudy& question) {
    ServingStudy study = question;
    const bool traced = study.traffic.arrivals.kind == ArrivalKind::Trace;
    // The set rate is a better first guess than one request per second.
    if (!traced && study.capacity.guess == CapacitySpec{}.guess && study.traffic.arrivals.rate >= 1e-4)
        study.capacity.guess = std::min(study.traffic.arrivals.rate, study.capacity.highest);
    return study;
}

}  // namespace

const std::vector<SearchFigure>& searchFigures() {
    using P = const SweepAnswer&;
    static const std::vector<SearchFigure> all{
        {t("Capacity"), t("Capacity: the highest request rate that meets the SLO, if it was searched"),
         [](P p) { return p.capacity >= 0 ? p.capacity : std::nan(""); }, Dimension::Number, ui::TickText::Number,
         true},
        {t("Requests/s"), t("Requests that ended ÷ time from first arrival to last end"),
         [](P p) { return p.metrics.requestsPerSecond; }, Dimension::Number, ui::TickText::Number, true},
        {t("Tokens/s"), t("Output tokens per second of all replicas"),
         [](P p) { return p.metrics.outputTokensPerSecond; }, Dimension::Number, ui::TickText::Number, true},
        {t("Tokens/s per device"), t("Output tokens per second ÷ devices"),
         [](P p) { return p.devices > 0 ? p.metrics.outputTokensPerSecond / p.devices : std::nan(""); },
         Dimension::Number, ui::TickText::Number, true},
        {t("TTFT p99"), t("99 % of requests get their first token within"), [](P p) { return p.metrics.ttft.p99; },
         Dimension::Time, ui::TickText::Seconds, false},
        {t("TPOT p99"), t("99 % of requests have their further tokens at this pace or faster"),
         [](P p) { return p.metrics.tpot.p99; }, Dimension::Time, ui::TickText::Seconds, false},
        {t("Goodput"), t("Requests per second that meet the SLO"), [](P p) { return p.metrics.goodput; },
         Dimension::Number, ui::TickText::Number, true},
        {t("SLO met"), t("Share of requests that meet the SLO"), [](P p) { return p.metrics.attainment; },
         Dimension::Fraction, ui::TickText::Percent, true},
        {t("$ per M tokens"), t("Dollars per million output tokens; needs a price (Clock, power, price)"),
         [](P p) { return positive(p.metrics.dollarsPerMillionTokens); }, Dimension::Number, ui::TickText::Number,
         false},
        {t("J per token"), t("Energy of all devices per output token, idle time included"),
         [](P p) { return positive(p.metrics.joulesPerToken); }, Dimension::Energy, ui::TickText::Number, false},
        {t("Devices"), t("Of all replicas"), [](P p) { return static_cast<double>(p.devices); }, Dimension::Count,
         ui::TickText::Number, false},
    };
    return all;
}

void findConfigurations(SearchFindings& findings, const std::shared_ptr<const Hardware>& drawing, IterationTimes& cache,
                        std::stop_token stop, Progress& progress) {
    const ServingStudy study = asked(findings.question);
    const auto executor = makeDefaultExecutor();
    const std::size_t count = countPoints(study.sweep, mostSweepPoints).value_or(mostSweepPoints);
    {
        const std::scoped_lock hold(findings.lock);
        findings.points.resize(count);
        findings.known.resize(findings.points.size());
    }
    SweepOptions options;
    options.executor = executor.get();
    options.stop = stop;
    options.progress = &progress;
    options.drawing = drawing;
    options.capacity = findings.capacities;
    options.cache = &cache;
    options.onPoint = [&](std::size_t i, const SweepAnswer& point) {
        const std::scoped_lock hold(findings.lock);
        if (point.failure && point.failure->code == "study.cancelled") return;
        findings.points[i] = point;
        findings.known[i] = true;
        ++findings.count;
    };
    auto all = runSweep(study, options);
    const std::scoped_lock hold(findings.lock);
    if (!all) {
        findings.refusal = all.error();
        return;
    }
    for (std::size_t i = 0; i < all->size(); ++i)
        if ((*all)[i].sameAs >= 0) findings.points[i] = (*all)[i];
}

void findCapacity(SearchFindings& findings, const std::shared_ptr<const Hardware>& drawing, IterationTimes& cache,
                  std::stop_token stop, Progress& progress) {
    const ServingStudy study = asked(findings.question);
    for (int which = 0; which < (study.compareWith ? 2 : 1) && !stop.stop_requested(); ++which) {
        ServingScenario scenario = study.scenario;
        if (which == 1)
            for (PoolSpec& pool : scenario.pools) pool.scheduler = *study.compareWith;
        FleetOptions making;
        making.cache = &cache;
        making.stop = stop;
        auto planned = fleetOf(scenario, drawing, making);
        const auto refuse = [&](const Diagnostic& why) {
            const std::scoped_lock hold(findings.lock);
            if (why.code != "study.cancelled") findings.refusal = why;
        };
        if (!planned) return refuse(planned.error());
        CapacityOptions options;
        options.seed = study.seed;
        options.scenario = &scenario;
        options.stop = stop;
        options.progress = &progress;
        options.onProbe = [&](const CapacityProbe& probe) {
            const std::scoped_lock hold(findings.lock);
            findings.probes[which].push_back(probe);
            ++findings.count;
        };
        auto found = capacityOf(planned->fleet, study.traffic, study.capacity, options);
        if (!found) return refuse(found.error());
        {
            const std::scoped_lock hold(findings.lock);
            findings.capacity[which] = found->rate;
        }
        const auto sure = capacityInterval(*planned->fleet, study.traffic, study.capacity, found->rate, options);
        if (!sure) return refuse(sure.error());
        const std::scoped_lock hold(findings.lock);
        if (sure->high > sure->low) findings.sure[which] = *sure;
    }
}

QString searchPointText(const ServingStudy& question, const SweepAnswer& point) {
    QStringList parts;
    for (std::size_t a = 0; a < question.sweep.size() && a < point.values.size(); ++a) {
        const std::string& key = question.sweep[a].key;
        const auto axis = std::ranges::find(searchAxes(), key, &SearchAxis::key);
        const bool named = key == "hardware" || key == "scheduler" || key == "router";
        const QString value = searchValueText(key, point.values[a]);
        parts << (named || axis == searchAxes().end() ? value : axis->head + QLatin1Char(' ') + value);
    }
    return parts.join(QStringLiteral(" · "));
}

std::vector<int> fillSearchTable(ui::CellsTable& table, const ServingStudy& question,
                                 const std::vector<SweepAnswer>& points, const std::vector<bool>& known) {
    QStringList heads{t("Best")};
    for (const SweepAxis& axis : question.sweep) {
        const auto at = std::ranges::find(searchAxes(), axis.key, &SearchAxis::key);
        heads << (at == searchAxes().end() ? ui::qs(axis.key) : at->head);
    }
    const auto any = [&](const SearchFigure& figure) {
        for (std::size_t i = 0; i < points.size(); ++i)
            if (known[i] && !points[i].failure && std::isfinite(figure.value(points[i]))) return true;
        return false;
    };
    std::vector<const SearchFigure*> shown;
    for (const SearchFigure& figure : searchFigures()) {
        if (&figure == &searchFigures().front() && !any(figure)) continue;  // not searched
        shown.push_back(&figure);
        heads << figure.head;
    }
    std::vector<std::vector<ui::Cell>> rows;
    std::vector<int> indices;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!known[i]) continue;
        const SweepAnswer& point = points[i];
        ServingStudy set = question;
        const bool good = setSweepValues(set, question.sweep, point.values).has_value();
        const bool best = point.pareto;
        const QString why = point.failure ? ui::windowText(point.failure->message) : QString();
        std::vector<ui::Cell> row{{point.failure ? QStringLiteral("✕")
                                   : best        ? QStringLiteral("●")
                                                 : QString(),
                                   point.failure ? 2.0
                                   : best        ? 0.0
                                                 : 1.0,
                                   point.failure ? why
                                   : best ? t("Meets the SLO and is on the Pareto front of cost, TTFT p99 and TPOT p99")
                                   : meetsSlo(question, point)
                                       ? t("Another configuration is better in cost, TTFT p99 and TPOT p99")
                                       : t("Misses the SLO"),
                                   point.failure ? ui::Tone::Bad : ui::Tone::Accent, false}};
        for (std::size_t a = 0; a < question.sweep.size(); ++a) {
            const SweepAxis& axis = question.sweep[a];
            const bool read = !good || sweepReads(set, axis.key);
            const auto rank = std::ranges::find(axis.values, point.values[a]) - axis.values.begin();
            row.push_back({read ? searchValueText(axis.key, point.values[a]) : QStringLiteral("–"),
                           read ? static_cast<double>(rank) : -1, read ? why : t("The scheduler does not use this"),
                           point.failure ? ui::Tone::Muted : ui::Tone::Normal, false});
        }
        for (const SearchFigure* figure : shown) {
            const double value = point.failure ? std::nan("") : figure->value(point);
            if (!std::isfinite(value)) {
                row.push_back({QStringLiteral("–"), figure->more ? -1 : 1e300, point.failure ? why : figure->tip,
                               ui::Tone::Muted, true});
                continue;
            }
            const QString text = figure->dimension == Dimension::Fraction ? ui::percentText(value)
                                 : figure->dimension == Dimension::Count  ? ui::countText(value)
                                                                          : ui::text(value, figure->dimension);
            row.push_back({text, value, figure->tip, ui::Tone::Normal, true});
        }
        rows.push_back(std::move(row));
        indices.push_back(static_cast<int>(i));
    }
    table.setCells(heads, std::move(rows));
    return indices;
}

}  // namespace orrery::app
