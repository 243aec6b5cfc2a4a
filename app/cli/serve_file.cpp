#include "app/cli/serve_file.h"

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/serve_run.h"
#include "methods/system/fleet_defaults.h"
#include "serving/traffic/trace_part.h"
#include "store/project/project.h"
#include "store/project/serving_file.h"
#include "study/serving/sweep.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Question {
    ServingStudy study;
    std::shared_ptr<const Hardware> drawing;
    Diagnostics warnings;
    ServingPlaces places;
};

Expected<Question> ofProject(const std::string& path) {
    auto loaded = readProjectFile(path);
    if (!loaded) return tl::unexpected(loaded.error());
    if (!loaded->project.serving) {
        return fail("serving.none", "the project asks nothing about serving", "a section `serving:`",
                    "orrery-cli run answers its scenarios", Place{path, 0, 0, "serving"});
    }
    Question question{std::move(*loaded->project.serving), nullptr, std::move(loaded->warnings),
                      std::move(loaded->servingPlaces)};
    const auto& designs = loaded->project.hardware;
    const auto found = std::find_if(designs.begin(), designs.end(), [&](const Hardware& design) {
        return question.study.hardware.empty() || design.name == question.study.hardware;
    });
    if (found != designs.end()) question.drawing = std::make_shared<const Hardware>(*found);
    return question;
}

Expected<Question> ask(const std::string& path) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    Expected<Question> question;
    if (text->find("orrery: project/") != std::string::npos) {
        question = ofProject(path);
    } else {
        auto loaded = readServingFile(path);
        if (!loaded) return tl::unexpected(loaded.error());
        question = Question{std::move(loaded->study), nullptr, std::move(loaded->warnings), std::move(loaded->places)};
    }
    if (question && !question->drawing) {
        auto hardware = hardwareOf(question->study);
        if (!hardware) return tl::unexpected(hardware.error());
        question->drawing = *hardware;
    }
    return question;
}

int fails(Diagnostic problem, const std::string& path) {
    if (problem.place.file.empty()) problem.place.file = path;
    report(problem);
    return Unanswered;
}

int fails(const Diagnostic& problem, const Question& question, const std::string& path) {
    return fails(located(problem, question.study, question.places), path);
}

Json pointJson(const ServingStudy& study, const SweepAnswer& point) {
    Json json;
    for (std::size_t i = 0; i < study.sweep.size(); ++i) json[study.sweep[i].key] = point.values[i];
    if (point.failure) {
        json["failure"] = {{"code", point.failure->code}, {"message", point.failure->message}};
        return json;
    }
    json["devices"] = point.devices;
    if (point.capacity >= 0) json["capacity_per_s"] = point.capacity;
    json["output_tokens_per_s"] = point.metrics.outputTokensPerSecond;
    json["ttft_p99_s"] = point.metrics.ttft.p99;
    json["tpot_p99_s"] = point.metrics.tpot.p99;
    json["attainment"] = point.metrics.attainment;
    if (point.dollars > 0) json["dollars_per_million_tokens"] = point.dollars;
    json["pareto"] = point.pareto;
    return json;
}

int sweep(const Question& question, const Arguments& arguments, Watch& watch, const std::string& path) {
    const auto executor = makeDefaultExecutor();
    SweepOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.drawing = question.drawing;
    options.capacity = arguments.has("capacity");
    watch.begin("configurations");
    const auto points = runSweep(question.study, options);
    watch.end();
    if (!points) return fails(points.error(), question, path);
    const ServingStudy& study = question.study;
    const bool any = std::any_of(points->begin(), points->end(), [](const auto& p) { return !p.failure; });
    if (arguments.has("json")) {
        Json json{{"format", "orrery-serving-sweep"}, {"version", 1}, {"name", study.name}, {"points", Json::array()}};
        for (const SweepAnswer& point : *points) json["points"].push_back(pointJson(study, point));
        if (!print(json.dump(1) + "\n")) return Unanswered;
        return any ? Answered : Unanswered;
    }
    std::vector<std::string> heads;
    std::vector<bool> right;
    for (const SweepAxis& axis : study.sweep) {
        heads.push_back(axis.key);
        right.push_back(false);
    }
    for (const char* head :
         {"devices", "requests/s", "tokens/s", "TTFT p99, ms", "TPOT p99, ms", "SLO met, %", "$/M", "best"}) {
        heads.emplace_back(head);
        right.push_back(true);
    }
    Table table(heads, right);
    for (const SweepAnswer& point : *points) {
        std::vector<std::string> cells = point.values;
        if (point.failure) {
            cells.resize(heads.size(), "–");
            cells.back() = point.failure->code;
        } else {
            const ServingMetrics& m = point.metrics;
            cells.push_back(std::to_string(point.devices));
            cells.push_back(fmt::format("{:.4g}", point.capacity >= 0 ? point.capacity : m.requestsPerSecond));
            cells.push_back(fmt::format("{:.5g}", m.outputTokensPerSecond));
            cells.push_back(fmt::format("{:.4g}", m.ttft.p99 * 1e3));
            cells.push_back(fmt::format("{:.4g}", m.tpot.p99 * 1e3));
            cells.push_back(fmt::format("{:.1f}", m.attainment * 100));
            cells.push_back(point.dollars > 0 ? fmt::format("{:.3g}", point.dollars) : "–");
            cells.emplace_back(point.pareto ? "*" : "");
        }
        table.add(std::move(cells));
    }
    std::string text = table.text();
    if (any && std::none_of(points->begin(), points->end(), [](const auto& p) { return p.pareto; }))
        text += fmt::format("no configuration meets the SLO for {:.0f} % of its requests, so none is best\n",
                            100 * study.capacity.attainment);
    if (!print(text)) return Unanswered;
    return any ? Answered : Unanswered;
}

// The numbers of a file that says none are Orrery's; what the engine itself would take on such a device is said.
void noteEngineDefaults(const Question& question, const PlannedFleet& planned) {
    for (std::size_t i = 0; i < planned.pools.size() && i < question.study.scenario.pools.size(); ++i) {
        const auto said = [&](std::string_view key) {
            return question.places.contains(fmt::format("pools[{}]/scheduler/{}", i + 1, key));
        };
        const SchedulerSpec& scheduler = question.study.scenario.pools[i].scheduler;
        if (said("max_sequences") && said("token_budget")) continue;
        if (const auto note = notEngineDefaults(scheduler, planned.pools[i])) report(*note);
    }
}

// Rows of a trace that a number of requests leaves out.
void notePartOfTrace(const Question& question, std::size_t requests) {
    if (auto part = partOfTrace(question.study.traffic, requests))
        report(located(std::move(*part), question.study, question.places));
}

int capacity(const Question& question, const std::shared_ptr<const FleetSpec>& fleet, const Arguments& arguments,
             Watch& watch, const std::string& path) {
    CapacityOptions options;
    options.seed = question.study.seed;
    options.scenario = &question.study.scenario;
    options.stop = watch.token();
    options.progress = &watch.progress();
    watch.begin("loads");
    const auto found = capacityOf(fleet, question.study.traffic, question.study.capacity, options);
    watch.end();
    if (!found) return fails(found.error(), question, path);
    watch.begin("interval");
    const auto sure = capacityInterval(*fleet, question.study.traffic, question.study.capacity, found->rate, options);
    watch.end();
    if (!sure) return fails(sure.error(), question, path);
    const bool known = sure->high > sure->low;
    if (arguments.has("json")) {
        Json json{{"format", "orrery-serving-capacity"},
                  {"version", 1},
                  {"name", question.study.name},
                  {"capacity_per_s", found->rate},
                  {"breaks_at_per_s", found->above}};
        if (known) json["interval90_per_s"] = {sure->low, sure->high};
        for (const CapacityProbe& probe : found->probes) {
            json["probes"].push_back(
                {{"rate_per_s", probe.rate}, {"attainment", probe.attainment}, {"keeps", probe.keeps}});
        }
        return print(json.dump(1) + "\n") ? Answered : Unanswered;
    }
    std::string text;
    for (const CapacityProbe& probe : found->probes) {
        text += fmt::format("{:10.4g} requests/s: {:5.1f} % meet the SLO\n", probe.rate, probe.attainment * 100);
    }
    text += found->rate > 0 ? fmt::format("capacity: {:.4g} requests/s\n", found->rate)
                            : std::string("no load meets the SLO\n");
    if (known) text += fmt::format("90 %: {:.3g} to {:.3g} requests/s\n", sure->low, sure->high);
    if (found->above == 0) text += "no load up to `highest` misses the SLO\n";
    return print(text) ? Answered : Unanswered;
}

}  // namespace

int serveFile(const Arguments& arguments, Watch& watch) {
    const std::string path = arguments.positionals().front();
    auto question = ask(path);
    if (!question) return fails(question.error(), path);
    report(question->warnings);
    ServingStudy& study = question->study;
    if (arguments.has("sweep")) {
        // What a point changes of the traffic is its own matter; what no point would serve is said once.
        if (const auto stream = requestsOf(study.scenario, study.traffic, study.seed))
            notePartOfTrace(*question, stream->size());
        return sweep(*question, arguments, watch, path);
    }
    if (arguments.has("other")) {
        if (!study.compareWith) {
            return fails(fail("serving.no-other", "no other scheduler is named", "`compare_with: {id: …}`").value(),
                         path);
        }
        for (PoolSpec& pool : study.scenario.pools) pool.scheduler = *study.compareWith;
    }
    FleetOptions options;
    options.stop = watch.token();
    auto planned = fleetOf(study.scenario, question->drawing, options);
    if (!planned) return fails(planned.error(), *question, path);
    for (Diagnostic& each : planned->warnings) {
        each = located(std::move(each), study, question->places);
        if (each.place.file.empty()) each.place.file = path;
    }
    report(planned->warnings);
    noteEngineDefaults(*question, *planned);
    auto stream = requestsOf(study.scenario, study.traffic, study.seed);
    if (!stream) return fails(stream.error(), *question, path);
    notePartOfTrace(*question, stream->size());
    if (arguments.has("capacity")) return capacity(*question, planned->fleet, arguments, watch, path);
    Json head{{"format", "orrery-serving"},           {"version", 1},       {"name", study.name},
              {"model", study.scenario.model.source}, {"seed", study.seed}, {"pools", Json::array()}};
    for (std::size_t i = 0; i < planned->pools.size(); ++i) {
        const PlannedPool& pool = planned->pools[i];
        head["pools"].push_back({{"name", pool.name},
                                 {"device", pool.device},
                                 {"replicas", pool.replicas},
                                 {"devices_per_replica", pool.devicesPerReplica},
                                 {"scheduler", study.scenario.pools[i].scheduler.id},
                                 {"priced_by", pool.pricer.empty() ? Json() : Json(pool.pricer)},
                                 {"assumptions", pool.assumptions}});
    }
    return serveFleet(*planned->fleet, std::move(*stream), study.seed, std::move(head),
                      serveOutput(arguments, study.name), watch);
}

}  // namespace orrery::cli
