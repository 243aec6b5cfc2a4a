#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "base/unit.h"
#include "learning/calibration.h"
#include "study/planning/plan_search.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

Unexpected notA(std::string_view option, std::string_view text, std::string expected) {
    return fail("usage.value", fmt::format("`--{} {}`", option, text), std::move(expected),
                "`orrery-cli plan --help` says what it takes");
}

Expected<std::vector<std::int64_t>> numbers(const Arguments& arguments, std::string_view option,
                                            std::vector<std::int64_t> otherwise = {}) {
    const auto text = arguments.value(option);
    if (!text) return otherwise;
    std::vector<std::int64_t> list;
    std::string_view left = *text;
    while (!left.empty()) {
        const std::size_t comma = std::min(left.find(','), left.size());
        const auto value = wholeIn(left.substr(0, comma));
        if (!value || *value < 0 || *value > 1'000'000) return notA(option, *text, "whole numbers, such as 1,2,4");
        list.push_back(*value);
        left.remove_prefix(std::min(comma + 1, left.size()));
    }
    if (list.empty()) return notA(option, *text, "whole numbers, such as 1,2,4");
    return list;
}

Expected<std::int64_t> number(const Arguments& arguments, std::string_view option, std::int64_t otherwise) {
    const auto list = numbers(arguments, option, {otherwise});
    if (!list) return Unexpected(list.error());
    if (list->size() != 1) return notA(option, *arguments.value(option), "one whole number");
    return list->front();
}

template <class Value, class Read>
Expected<std::vector<Value>> wordsOf(const Arguments& arguments, std::string_view option, std::vector<Value> otherwise,
                                     std::string expected, const Read& read) {
    const auto text = arguments.value(option);
    if (!text) return otherwise;
    std::vector<Value> list;
    for (const std::string& word : splitMethods(*text)) {
        const std::optional<Value> value = read(word);
        if (!value) return notA(option, *text, std::move(expected));
        list.push_back(*value);
    }
    return list;
}

// `2.5`, or `h100=2.5,a100=1.2`.
Expected<DevicePrices> pricesOf(const Arguments& arguments) {
    DevicePrices prices;
    for (const std::string& text : arguments.values("price")) {
        for (const std::string& item : splitMethods(text)) {
            const std::size_t equals = item.find('=');
            const std::string_view value =
                equals == std::string::npos ? std::string_view(item) : std::string_view(item).substr(equals + 1);
            double dollars = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), dollars);
            if (error != std::errc{} || end != value.data() + value.size() || !(dollars >= 0 && dollars < 1e6))
                return notA("price", text, "dollars per hour of a device: 2.5, or h100=2.5,a100=1.2");
            prices[equals == std::string::npos ? std::string() : item.substr(0, equals)] = dollars;
        }
    }
    return prices;
}

template <class Value>
bool take(Expected<Value> read, Value& out, std::optional<Diagnostic>& problem) {
    if (read)
        out = std::move(*read);
    else if (!problem)
        problem = std::move(read.error());
    return !problem;
}

Expected<PlanSearchRequest> requestOf(const Arguments& arguments) {
    const auto& asked = arguments.positionals();
    if (asked.size() != 2)
        return fail("usage.missing", fmt::format("{} names where a model and a hardware belong", asked.size()),
                    "a model, then a hardware", "`orrery-cli plan llama-3-70b dgx-h100-superpod --batch 1024`");
    const auto hardware = readHardwareQuestion(arguments, asked[1]);
    if (!hardware) return Unexpected(hardware.error());
    auto recipe = readRecipe(arguments, asked[0]);
    if (!recipe) return Unexpected(std::move(recipe.error()));
    PlanSearchRequest request;
    std::optional<Diagnostic> problem;
    std::int64_t sequence = 0, top = 10, rerun = 3;
    take(number(arguments, "sequence", 0), sequence, problem);
    if (sequence > 0) recipe->options.sequence = sequence;
    if (!arguments.has("phase")) recipe->options.phase = Phase::TrainingForward;
    PlanSpace& space = request.space;
    std::int64_t devices = 0;
    take(number(arguments, "devices", 0), devices, problem);
    if (devices > 0) space.leastDevices = space.mostDevices = devices;
    take(number(arguments, "most-devices", space.mostDevices), space.mostDevices, problem);
    take(numbers(arguments, "tp"), space.tensor, problem);
    take(numbers(arguments, "pp"), space.pipeline, problem);
    take(numbers(arguments, "dp"), space.data, problem);
    take(numbers(arguments, "cp"), space.context, problem);
    take(numbers(arguments, "ep"), space.expert, problem);
    take(numbers(arguments, "vp"), space.interleave, problem);
    take(numbers(arguments, "microbatch"), space.microbatchSize, problem);
    take(numbers(arguments, "zero", space.zero), space.zero, problem);
    take(numbers(arguments, "shard", space.shard), space.shard, problem);
    take(numbers(arguments, "sp", space.sequence), space.sequence, problem);
    take(wordsOf<Recompute>(arguments, "recompute", space.recompute, "none, selective, full",
                            [](const std::string& word) -> std::optional<Recompute> {
                                for (const Recompute each : {Recompute::None, Recompute::Selective, Recompute::Full})
                                    if (toText(each) == word) return each;
                                return std::nullopt;
                            }),
         space.recompute, problem);
    take(wordsOf<PipelineSchedule>(arguments, "schedule", space.schedule, "1f1b, gpipe, zero-bubble, dualpipe",
                                   [](const std::string& word) -> std::optional<PipelineSchedule> {
                                       using enum PipelineSchedule;
                                       for (const auto each : {OneForwardOneBackward, GPipe, ZeroBubble, DualPipe})
                                           if (toText(each) == word) return each;
                                       return std::nullopt;
                                   }),
         space.schedule, problem);
    if (const auto groups = arguments.value("on")) space.groups = splitMethods(*groups);
    space.mixed = !arguments.has("one-kind");
    space.tensorInsideNode = !arguments.has("across-nodes");
    take(number(arguments, "top", top), top, problem);
    take(number(arguments, "rerun", rerun), rerun, problem);
    request.top = static_cast<std::size_t>(std::clamp<std::int64_t>(top, 1, 1000));
    request.rerun = static_cast<std::size_t>(std::clamp<std::int64_t>(rerun, 0, 100));
    take(pricesOf(arguments), request.prices, problem);
    if (const auto word = arguments.value("objective")) {
        const auto objective = planObjective(*word);
        if (!objective) return notA("objective", *word, "time, devices, energy or cost");
        request.objective = *objective;
    }
    if (const auto method = arguments.value("method")) request.method = *method;
    if (problem) return Unexpected(std::move(*problem));
    auto workload = loadWorkload(*recipe);
    if (!workload) return Unexpected(std::move(workload.error()));
    TrainingStep step;
    std::string options;
    constexpr std::pair<const char*, const char*> keys[] = {{"optimizer", "adam, sgd or none"},
                                                            {"lora", "a rank from 0 to 65536"},
                                                            {"imbalance", "a ratio from 1 to 1000"}};
    for (const auto& [key, expected] : keys) {
        const auto text = arguments.value(key);
        if (!text) continue;
        options += fmt::format("{}{}={}", options.empty() ? "" : ",", key, *text);
        const auto task = parseTask(fmt::format("training-step({})", options));
        if (!task) return notA(key, *text, expected);
        step = std::get<TrainingStep>(*task);
    }
    request.scenario = {*hardware, *workload, {}, step};
    return request;
}

std::string costText(const StepFigures& f) {
    return f.dollarsPerHour > 0 ? fmt::format("{:.2f}", f.dollars()) : "";
}

std::string answerText(const PlanSearchRequest& request, const PlanSearchResult& result) {
    std::string text = fmt::format("{} on {}: {} plans, {} priced in closed form, {} left out by bounds, {:.2f} s\n",
                                   request.scenario.workload->name, request.scenario.hardware->name,
                                   count(static_cast<double>(result.plans)), count(static_cast<double>(result.priced)),
                                   count(static_cast<double>(result.pruned)), result.seconds);
    if (result.points.empty()) return text + "\n" + (result.advice.empty() ? "Stopped." : result.advice) + "\n";
    const bool priced = result.points.front().figures.dollarsPerHour > 0;
    const bool energy = result.points.front().figures.joules > 0;
    std::vector<std::string> heads{
        "",    "plan",   "devices", "step",   "run again",
        "MFU", "bubble", "exposed", "memory", result.points.front().figures.tokens ? "token/s" : "sample/s"};
    std::vector<bool> right{true, false, true, true, true, true, true, true, true, true};
    const auto column = [&](std::string head) {
        heads.push_back(std::move(head));
        right.push_back(true);
    };
    if (energy) column("energy");
    if (priced) column("$"), column("$ per 10^12 tokens");
    column("front");
    Table table(heads, right);
    for (const PlannedPoint& point : result.points) {
        if (point.rank == 0 && !point.onFront) continue;
        const StepFigures& f = point.figures;
        const auto share = [&](double seconds) { return fmt::format("{:.1f} %", 100 * seconds / f.seconds); };
        std::vector<std::string> row{point.rank > 0 ? std::to_string(point.rank) : "",
                                     toText(point.plan),
                                     count(static_cast<double>(f.devices)),
                                     format(Seconds(f.seconds)),
                                     point.ranSeconds ? format(Seconds(*point.ranSeconds)) : "",
                                     f.mfu > 0 ? fmt::format("{:.1f} %", 100 * f.mfu) : "",
                                     share(f.bubble),
                                     share(f.tensor + f.context + f.expert + f.pipeline + f.data),
                                     format(Bytes(f.needs)),
                                     count(f.rate)};
        if (energy) row.push_back(format(Joules(f.joules)));
        if (priced) row.push_back(costText(f)), row.push_back(count(std::round(f.dollarsPerTrillion())));
        row.emplace_back(point.onFront ? "*" : "");
        table.add(std::move(row));
    }
    text += "\n" + table.text();
    text += fmt::format(
        "\n{} the best by {}{}; `*`: nothing is as good in time, devices, energy and cost and better in one.\n",
        result.proven ? "Proven in closed form to be" : "Stopped: so far", toText(request.objective),
        request.rerun > 0 ? ", the first of them run again event by event" : "");
    const auto quickest =
        std::min_element(result.points.begin(), result.points.end(), [](const PlannedPoint& a, const PlannedPoint& b) {
            return a.ranSeconds.value_or(HUGE_VAL) < b.ranSeconds.value_or(HUGE_VAL);
        });
    if (request.objective == PlanObjective::Time && quickest->ranSeconds && quickest->rank != 1)
        text += fmt::format("Run, {} is quicker than the first.\n", toText(quickest->plan));
    return text;
}

Json figuresJson(const StepFigures& f) {
    Json stages = Json::array();
    for (const StageMemory& stage : f.stages)
        stages.push_back({{"parameters_bytes", stage.parameters.value},
                          {"gradients_bytes", stage.gradients.value},
                          {"optimizer_bytes", stage.optimizer.value},
                          {"activations_bytes", stage.activations.value}});
    Json json{{"seconds", f.seconds},
              {"low_s", f.low},
              {"high_s", f.high},
              {"bound_s", f.bound},
              {"compute_s", f.compute},
              {"bubble_s", f.bubble},
              {"tensor_s", f.tensor},
              {"context_s", f.context},
              {"expert_s", f.expert},
              {"pipeline_s", f.pipeline},
              {"data_s", f.data},
              {"optimizer_s", f.optimizer},
              {"devices", f.devices},
              {"microbatches", f.microbatches},
              {"microbatch_size", f.microbatchSize},
              {"memory_bytes", f.needs},
              {"capacity_bytes", f.capacity},
              {"mfu", f.mfu},
              {f.tokens ? "tokens_per_s" : "samples_per_s", f.rate}};
    if (f.joules > 0) json["energy_j"] = f.joules;
    if (f.dollarsPerHour > 0) {
        json["dollars"] = f.dollars();
        json["dollars_per_trillion_tokens"] = f.dollarsPerTrillion();
    }
    json["stages"] = std::move(stages);
    return json;
}

Json pointJson(const PlannedPoint& point) {
    Json json{{"rank", point.rank},
              {"plan", toText(point.plan.plan)},
              {"recompute", toText(point.plan.recompute)},
              {"front", point.onFront}};
    if (point.ranSeconds)
        json["run"] = {{"seconds", *point.ranSeconds}, {"low_s", *point.ranLow}, {"high_s", *point.ranHigh}};
    if (point.ranFailure) json["run"] = {{"failure", point.ranFailure->message}};
    json["closed_form"] = figuresJson(point.figures);
    return json;
}

std::string answerJson(const PlanSearchRequest& request, const PlanSearchResult& result) {
    Json json{{"format", "orrery-plan"},
              {"version", 1},
              {"workload", request.scenario.workload->name},
              {"hardware", request.scenario.hardware->name},
              {"method", request.method},
              {"objective", toText(request.objective)},
              {"proven", result.proven},
              {"plans", result.plans},
              {"priced", result.priced},
              {"pruned", result.pruned},
              {"nodes", result.nodes},
              {"shards", result.shards},
              {"too_large", result.tooLarge},
              {"seconds", result.seconds}};
    Json points = Json::array();
    for (const PlannedPoint& point : result.points) points.push_back(pointJson(point));
    json["points"] = std::move(points);
    if (result.closest) json["closest"] = pointJson(*result.closest);
    if (!result.advice.empty()) json["advice"] = result.advice;
    return json.dump(2) + "\n";
}

int runPlan(const Arguments& arguments, Watch& watch) {
    const auto request = requestOf(arguments);
    if (!request) return failed(request.error());
    const auto executor = makeDefaultExecutor();
    CalibrationSet calibrations = shippedCalibrations().set;
    for (const std::string& file : arguments.values("calibration")) {
        auto calibration = readCalibration(file);
        if (!calibration) return failed(calibration.error());
        calibrations.add(std::make_shared<const Calibration>(std::move(*calibration)));
    }
    PlanSearchContext context{*executor, watch.token(), &watch.progress(), &calibrations};
    watch.begin("planning");
    const auto result = searchPlans(*request, context);
    watch.end();
    if (!result) return failed(result.error());
    report(result->warnings);
    const auto json = arguments.value("json");
    bool written = true;
    if (json != "-") written = print(answerText(*request, *result));
    if (json) written = writeTo(*json, answerJson(*request, *result)) && written;
    return written && !result->points.empty() && !watch.interrupted() ? Answered : Unanswered;
}

std::vector<Option> planOptions() {
    std::vector<Option> all{
        {"devices", "N", "use exactly so many; without it any number up to all that are drawn"},
        {"most-devices", "N", "use at most so many"},
        {"objective", "WORD", "time (default), devices, energy or cost"},
        {"price", "$/H", "of one device an hour: 2.5, or by kind h100=2.5,a100=1.2; without it cost is device-hours",
         true},
        {"top", "K", "the best that are kept (10)"},
        {"rerun", "K", "of these, run again event by event (3)"},
        {"method", "ID", "what prices kernels: tile-hybrid (default), or id(key=value,…)"},
        {"calibration", "FILE", "what learned methods answer with, before what ships", true},
        {"optimizer", "WORD", "adam (default), sgd or none"},
        {"lora", "RANK", "train adapters of this rank beside every layer, and leave the weights as they are"},
        {"imbalance", "RATIO", "tokens of the busiest device of experts, over the mean (1)"},
        {"tp", "N,…", "tensor parallelism to choose among; so too the following"},
        {"pp", "N,…", "stages"},
        {"dp", "N,…", "copies"},
        {"cp", "N,…", "parts of a sequence"},
        {"ep", "N,…", "devices over which experts stand"},
        {"vp", "N,…", "chunks of layers a stage"},
        {"microbatch", "N,…", "samples of a copy in a micro-batch"},
        {"zero", "N,…", "what copies share: 0 to 3"},
        {"shard", "N,…", "how many copies share, 0: all (default: all, and those of a node)"},
        {"sp", "N,…", "0, 1: whether tensor parallelism splits the sequence too"},
        {"recompute", "WORD,…", "none, selective, full"},
        {"schedule", "WORD,…", "1f1b and zero-bubble (default), gpipe, dualpipe"},
        {"on", "NAME,…", "kinds of device of the drawing that may be used; without it all: each, and two at once"},
        {"one-kind", "", "each plan stands on one kind of device"},
        {"across-nodes", "", "tensor parallelism may leave a node"},
        {"set", "PATH=VALUE", "change an attribute of the hardware, as in hbm3.bandwidth='4 TB/s'", true},
        {"sequence", "N", "as --seq"},
    };
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    all.push_back(
        {"json", "[FILE]", "the plans as JSON (resources/schema/plan.schema.json); standard output if left out"});
    return all;
}

}  // namespace

const Command planCommand{
    .name = "plan",
    .positional = "MODEL HARDWARE...",
    .positionalRequired = true,
    .summary = "which plan trains a model on a cluster best",
    .details =
        "Every plan that divides model, batch and devices is judged by the closed form of a training step; the first "
        "is the "
        "best of all, proven by branch and bound. The batch is that of one step, over all copies.",
    .options = planOptions(),
    .required = {},
    .examples = {{"orrery-cli plan llama-3-70b dgx-h100-superpod --batch 512 --seq 4096 --devices 512",
                  "the quickest step on 64 nodes"},
                 {"orrery-cli plan llama-3-8b dgx-h100 --batch 64 --objective cost --price 2.5 --json -",
                  "the cheapest, with dollars per trillion tokens"}},
    .run = runPlan,
};

}  // namespace orrery::cli
