#include "store/lessons/lesson_facts.h"

#include "base/text/words.h"
#include "hardware/walk.h"
#include "workload/option_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace orrery {

namespace {

double sumOf(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

void addComponent(LessonFacts& facts, const Component& component) {
    const std::string name = factName(nameOf(component));
    const auto add = [&](const std::string& key, double value) { facts.emplace(name + '.' + key, value); };
    add("count", static_cast<double>(component.instances()));
    for (const Attribute& attribute : component.attributes) {
        const std::string key = factName(attribute.name);
        if (const auto* measure = std::get_if<Measure>(&attribute.value))
            add(key, measure->si);
        else if (const auto* word = std::get_if<std::string>(&attribute.value))
            add(key + '.' + factName(*word), 1);
    }
}

}  // namespace

std::string factName(std::string_view text) {
    std::string name;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    return name;
}

void addDesignFacts(LessonFacts& facts, const Hardware& design) {
    addComponent(facts, design.root);
    walk(design.root, [&](const Component& component, const ComponentPath&) {
        addComponent(facts, component);
        return true;
    });
}

void addQuestionFacts(LessonFacts& facts, const Workload& workload, const Plan& plan) {
    const WorkloadOptions& options = workload.recipe.options;
    for (const std::string_view key : workloadOptionKeys()) {
        const std::string text = optionText(options, key);
        if (isSize(key))
            facts[std::string(key)] = numberIn(text).value_or(0);
        else
            facts[fmt::format("{}.{}", key, factName(text))] = 1;
    }
    facts["plan.tensor"] = static_cast<double>(plan.tensor);
    facts["plan.pipeline"] = static_cast<double>(plan.pipeline);
    facts["plan.data"] = static_cast<double>(plan.data);
    facts["plan.interleave"] = static_cast<double>(plan.interleave);
    facts["plan.microbatches"] = static_cast<double>(plan.microbatches > 0 ? plan.microbatches : plan.pipeline);
    facts["plan.devices"] = static_cast<double>(plan.devices());
}

void addAnswerFacts(LessonFacts& facts, std::string_view method, const Estimate& estimate) {
    const std::string id = factName(method.substr(0, method.find('(')));
    const auto add = [&](std::string_view key, double value) { facts[fmt::format("{}.{}", id, key)] = value; };
    add("latency", estimate.latency.value);
    add("low", estimate.interval.low.value);
    add("high", estimate.interval.high.value);
    if (estimate.bound) add("bound", estimate.bound->value);
    if (estimate.energy) add("energy", estimate.energy->value);
    if (estimate.memory) {
        add("weights", estimate.memory->weights.value);
        add("kv_cache", estimate.memory->kvCache.value);
        add("memory", estimate.memory->total().value);
        add("capacity", estimate.memory->capacity.value);
    }
    const OperatorEstimates& operators = estimate.operators;
    const double flops = sumOf(operators.flops), bytes = sumOf(operators.bytes), seconds = sumOf(operators.seconds);
    add("operators", static_cast<double>(operators.size()));
    add("flops", flops);
    add("bytes", bytes);
    if (bytes > 0) add("intensity", flops / bytes);
    const auto share = [&](BoundKind kind) {
        double of = 0;
        for (std::size_t i = 0; i < std::min(operators.bound.size(), operators.seconds.size()); ++i)
            if (operators.bound[i].kind == kind) of += operators.seconds[i];
        return seconds > 0 ? of / seconds : 0;
    };
    add("compute_share", share(BoundKind::Compute));
    add("memory_share", share(BoundKind::Memory));
    add("overhead_share", share(BoundKind::Overhead));
    add("network_share", share(BoundKind::Network));
    if (!operators.lowSeconds.empty()) {
        add("sum_of_low", sumOf(operators.lowSeconds));
        add("sum_of_high", sumOf(operators.highSeconds));
    }
    // The highest ceiling of compute is what the fastest unit can do; the lowest of memory is the main memory's.
    double peak = 0, bandwidth = 0;
    for (const Ceiling& ceiling : estimate.ceilings) {
        if (!ceiling.memory) peak = std::max(peak, ceiling.rate);
        if (ceiling.memory && (bandwidth == 0 || ceiling.rate < bandwidth)) bandwidth = ceiling.rate;
    }
    if (peak > 0) add("peak", peak);
    if (bandwidth > 0) add("bandwidth", bandwidth);
    if (estimate.support) {
        add("outside", estimate.support->outside);
        add("edge", estimate.support->edge);
        add("unmeasured", estimate.support->unmeasured);
        add("error", estimate.support->error);
    }
    add("warnings", static_cast<double>(estimate.warnings.size()));
    for (const Figure& figure : estimate.figures) add(factName(figure.label), figure.value);
}

void addServingQuestion(LessonFacts& facts, const ServingStudy& study) {
    if (study.scenario.pools.empty()) return;
    const SchedulerSpec& scheduler = study.scenario.pools.front().scheduler;
    facts["serving.scheduler." + factName(scheduler.id)] = 1;
    facts["serving.max_sequences"] = static_cast<double>(scheduler.maxSequences);
}

void addServingFacts(LessonFacts& facts, int policy, const ServingMetrics& metrics) {
    const auto add = [&](std::string_view key, double value) {
        facts[policy == 0 ? fmt::format("serving.{}", key) : fmt::format("serving{}.{}", policy + 1, key)] = value;
    };
    const auto spreadOf = [&](std::string_view key, const Spread& of) {
        add(fmt::format("{}_mean", key), of.mean);
        add(fmt::format("{}_p50", key), of.p50);
        add(fmt::format("{}_p90", key), of.p90);
        add(fmt::format("{}_p99", key), of.p99);
        add(fmt::format("{}_max", key), of.max);
    };
    spreadOf("ttft", metrics.ttft);
    spreadOf("tpot", metrics.tpot);
    spreadOf("itl", metrics.itl);
    spreadOf("end_to_end", metrics.endToEnd);
    add("requests", static_cast<double>(metrics.requests));
    add("done", static_cast<double>(metrics.done));
    add("requests_per_second", metrics.requestsPerSecond);
    add("output_tokens_per_second", metrics.outputTokensPerSecond);
    add("goodput", metrics.goodput);
    add("kept", metrics.attainment);
    add("kv_use", metrics.kvUse);
    add("peak_kv_use", metrics.peakKvUse);
    add("preemptions", static_cast<double>(metrics.preemptions));
    add("iterations", static_cast<double>(metrics.iterations));
}

}  // namespace orrery
