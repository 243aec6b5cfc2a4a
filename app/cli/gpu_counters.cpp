#include "app/cli/gpu_counters.h"

#include "app/cli/evaluation_question.h"
#include "app/cli/gpu_kernel.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "evaluation/counters/counter_model.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t fewest = 50, most = 100'000;

std::string valueText(const GpuCounterInfo& info, double value) {
    return info.share ? fmt::format("{:.1f} %", 100 * value) : count(value);
}

// A share's error is a difference of shares: points of a percent.
std::string errorText(const GpuCounterInfo& info, double value) {
    return fmt::format("{:.1f} {}", 100 * value, info.share ? "points" : "%");
}

Json jsonOf(const CounterFigures& figures) {
    return {{"mean", figures.mean},
            {"median", figures.median},
            {"ninetieth", figures.ninetieth},
            {"coverage", figures.coverage}};
}

std::string textOf(const std::vector<CounterJudgement>& judged) {
    std::string text;
    for (const CounterJudgement& one : judged) {
        Table table(
            {"counter", "learned: mean", "median", "in 90 %", "ridge: mean", "median", "not learned: mean", "median"},
            {false, true, true, true, true, true, true, true});
        for (std::size_t c = 0; c < gpuCounters; ++c) {
            const GpuCounterInfo& info = gpuCounterInfos()[c];
            table.add({std::string(info.title), errorText(info, one.learned[c].mean),
                       errorText(info, one.learned[c].median), fmt::format("{:.0f} %", 100 * one.learned[c].coverage),
                       errorText(info, one.ridge[c].mean), errorText(info, one.ridge[c].median),
                       errorText(info, one.plain[c].mean), errorText(info, one.plain[c].median)});
        }
        text += fmt::format("{}, {} of them:\n{}\n",
                            one.what == "unseen kernels" ? "Kernels that were not seen"
                                                         : "Kernels on " + one.what + ", of which none was seen",
                            one.samples, table.text());
    }
    return text +
           "`ridge` is a linear function of the same features; `not learned` what follows from operands and "
           "instructions alone.\n";
}

}  // namespace

int runPredict(const Arguments& arguments) {
    const auto drawn = drawnKernel(*arguments.value("kernel"), arguments.value("hardware").value_or("h100-sxm"));
    if (!drawn) return report(drawn.error()), Unanswered;
    const std::string file = arguments.value("predict").value_or("-");
    const auto model = CounterModel::load(file == "-" ? std::string() : file);
    if (!model) return report(model.error()), Unanswered;
    const auto loaded = loadHardware(arguments.value("hardware").value_or("h100-sxm"));
    if (!loaded) return report(loaded.error()), Unanswered;
    const auto gpu = gpuView(loaded->hardware);
    if (!gpu) return report(gpu.error()), Unanswered;
    if (drawn->machine.lanes != 32 || drawn->machine.dies > 1)
        return report(fail("counters.devices", fmt::format("counters of {} were not learned", drawn->machine.name),
                           "a GPU with warps of 32 lanes and one L2", "simulate it: leave --predict out")
                          .value()),
               Unanswered;
    const auto code = codeOf(drawn->loop, drawn->machine, *gpu);
    if (!code) return report(code.error()), Unanswered;
    const auto begin = std::chrono::steady_clock::now();
    const CounterAnswers answers = model->answer(*code);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double widening = model->widening(*code);
    if (arguments.has("json")) {
        Json out{{"format", "orrery-counters"},         {"version", 1},
                 {"config", drawn->machine.name},       {"kernel", drawn->program},
                 {"target", model->surrogate().method}, {"widening", widening}};
        out["counters"] = Json::array();
        for (std::size_t c = 0; c < gpuCounters; ++c)
            out["counters"].push_back({{"name", gpuCounterInfos()[c].id},
                                       {"value", answers[c].value},
                                       {"low", answers[c].low},
                                       {"high", answers[c].high}});
        return print(out.dump(2) + "\n") ? Answered : Unanswered;
    }
    Table table({"counter", "predicted", "from", "to", "meaning"}, {false, true, true, true, false});
    for (std::size_t c = 0; c < gpuCounters; ++c) {
        const GpuCounterInfo& info = gpuCounterInfos()[c];
        table.add({std::string(info.title), valueText(info, answers[c].value), valueText(info, answers[c].low),
                   valueText(info, answers[c].high), std::string(info.meaning)});
    }
    std::string text = fmt::format("{} on {}, predicted as `{}` would count\n{}", drawn->program, drawn->machine.name,
                                   model->surrogate().method, table.text());
    if (widening > 1) text += fmt::format("Beyond what was seen: intervals are {:.1f} times as wide.\n", widening);
    return print(text + fmt::format("Nothing was simulated; all counters took {:.0f} µs.\n", 1e6 * took)) ? Answered
                                                                                                          : Unanswered;
}

int runLearnCounters(const Arguments& arguments, Watch& watch) {
    if (const auto problem = meaningless(
            arguments, "--learn-counters",
            {"kernel", "traces", "config", "hardware", "predict", "export", "set", "setting", "generation",
             "whole-addresses", "threads", "cycles", "until-kernel", "snapshot", "resume", "sample", "units"}))
        return failed(*problem);
    const auto samples = wholeIn(*arguments.value("learn-counters"));
    if (!samples || *samples < static_cast<std::int64_t>(fewest) || *samples > static_cast<std::int64_t>(most))
        return failed(fail("usage.number", fmt::format("`--learn-counters {}`", *arguments.value("learn-counters")),
                           fmt::format("a whole number from {} to {}", fewest, most))
                          .value());
    const auto seed = readSeed(arguments, 1);
    if (!seed) return failed(seed.error());
    const std::string method = arguments.value("method").value_or("interval");
    if (method != "cycle" && method != "interval")
        return failed(fail("usage.value", fmt::format("`--method {}`", method), "interval or cycle").value());
    const auto leftOut = arguments.values("leave-out");
    for (const std::string& id : leftOut)
        if (std::ranges::find(counterDevices(), id) == counterDevices().end())
            return failed(fail("usage.value", fmt::format("`--leave-out {}`", id),
                               fmt::format("one of {}", fmt::join(counterDevices(), ", ")))
                              .value());
    const auto executor = makeDefaultExecutor();
    CounterDraw draw;
    draw.samples = static_cast<std::size_t>(*samples), draw.seed = *seed, draw.cycles = method == "cycle";
    draw.executor = executor.get(), draw.stop = watch.token(), draw.progress = &watch.progress();
    watch.begin("simulating kernels that are drawn");
    const auto drawn = drawCounters(draw);
    watch.end();
    if (!drawn) return failed(drawn.error());
    const auto judged = judgeCounters(*drawn, *seed, leftOut, watch.token(), executor.get());
    if (!judged) return failed(judged.error());
    bool written = true;
    if (const auto file = arguments.value("save")) {
        auto model = CounterModel::fit(*drawn, *seed, watch.token(), executor.get());
        if (!model) return failed(model.error());
        Surrogate& out = model->surrogate();
        out.name = "GPU counters", out.method = "gpu-" + method;
        out.source =
            fmt::format("{} kernels drawn by seed {} on {} GPUs", drawn->size(), *seed, counterDevices().size());
        written = writeTo(*file, model->text());
    }
    if (!arguments.has("json")) {
        const std::string text =
            fmt::format("{} kernels were drawn and counted by gpu-{}.\n\n", drawn->size(), method) + textOf(*judged);
        return print(text) && written ? Answered : Unanswered;
    }
    Json out{{"format", "orrery-counters"}, {"version", 1}, {"target", "gpu-" + method}, {"samples", drawn->size()}};
    out["judged"] = Json::array();
    for (const CounterJudgement& one : *judged) {
        Json each{{"what", one.what}, {"samples", one.samples}};
        for (std::size_t c = 0; c < gpuCounters; ++c)
            each["counters"].push_back({{"name", gpuCounterInfos()[c].id},
                                        {"share", gpuCounterInfos()[c].share},
                                        {"learned", jsonOf(one.learned[c])},
                                        {"ridge", jsonOf(one.ridge[c])},
                                        {"plain", jsonOf(one.plain[c])}});
        out["judged"].push_back(each);
    }
    return print(out.dump(2) + "\n") && written ? Answered : Unanswered;
}

int runJudgeCounters(const Arguments& arguments, Watch& watch) {
    if (const auto problem =
            meaningless(arguments, "--judge-counters",
                        {"kernel",       "traces",   "config",  "hardware",   "learn-counters",  "leave-out", "save",
                         "export",       "set",      "setting", "generation", "whole-addresses", "threads",   "cycles",
                         "until-kernel", "snapshot", "resume",  "method",     "sample",          "units"}))
        return failed(*problem);
    const auto samples = wholeIn(*arguments.value("judge-counters"));
    if (!samples || *samples < 1 || *samples > static_cast<std::int64_t>(most))
        return failed(fail("usage.number", fmt::format("`--judge-counters {}`", *arguments.value("judge-counters")),
                           fmt::format("a whole number from 1 to {}", most))
                          .value());
    const auto seed = readSeed(arguments, 2);
    if (!seed) return failed(seed.error());
    const std::string file = arguments.value("predict").value_or("-");
    const auto model = CounterModel::load(file == "-" ? std::string() : file);
    if (!model) return failed(model.error());
    const Surrogate& of = model->surrogate();
    if (static_cast<std::uint64_t>(*seed) == of.seed)
        report(warning("counters.seed",
                       fmt::format("kernels of seed {} are those that the model was learned from", *seed),
                       "another --seed"));
    const auto executor = makeDefaultExecutor();
    CounterDraw draw;
    draw.samples = static_cast<std::size_t>(*samples), draw.seed = *seed, draw.cycles = of.method == "gpu-cycle";
    draw.executor = executor.get(), draw.stop = watch.token(), draw.progress = &watch.progress();
    watch.begin("simulating kernels that are drawn");
    const auto drawn = drawCounters(draw);
    watch.end();
    if (!drawn) return failed(drawn.error());
    const auto figures = counterFigures(*model, *drawn);
    if (arguments.has("json")) {
        Json out{{"format", "orrery-counters"}, {"version", 1}, {"target", of.method}, {"samples", drawn->size()}};
        Json each{{"what", "fresh kernels"}, {"samples", drawn->size()}};
        for (std::size_t c = 0; c < gpuCounters; ++c)
            each["counters"].push_back({{"name", gpuCounterInfos()[c].id},
                                        {"share", gpuCounterInfos()[c].share},
                                        {"learned", jsonOf(figures[c])}});
        out["judged"] = Json::array({std::move(each)});
        return print(out.dump(2) + "\n") ? Answered : Unanswered;
    }
    Table table({"counter", "mean", "median", "nine in ten below", "in 90 %"}, {false, true, true, true, true});
    for (std::size_t c = 0; c < gpuCounters; ++c) {
        const GpuCounterInfo& info = gpuCounterInfos()[c];
        table.add({std::string(info.title), errorText(info, figures[c].mean), errorText(info, figures[c].median),
                   errorText(info, figures[c].ninetieth), fmt::format("{:.0f} %", 100 * figures[c].coverage)});
    }
    return print(fmt::format("{} kernels drawn by seed {} and counted by {}; the model: {}.\n\n{}", drawn->size(),
                             *seed, of.method, of.source, table.text()))
               ? Answered
               : Unanswered;
}

}  // namespace orrery::cli
