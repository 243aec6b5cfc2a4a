#include "app/cli/drawn_search.h"

#include "app/cli/evaluation_question.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "base/unit.h"
#include "hardware/files/catalogue.h"
#include "methods/schedule/schedule_search.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace orrery::cli {

namespace {

struct Asked {
    ScheduleSpacePtr space;
    std::vector<ScheduleGuide> guides;
    std::size_t trials = 200, blind = 200, searches = 1;
    std::size_t trialsOf(ScheduleGuide guide) const { return guide == ScheduleGuide::Random ? blind : trials; }
    std::uint64_t seed = 1;
};

std::string percentOf(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

Expected<std::size_t> wholeOption(const Arguments& arguments, std::string_view name, std::size_t usual,
                                  std::int64_t most) {
    const auto text = arguments.value(name);
    if (!text) return usual;
    const auto number = wholeIn(*text);
    if (number && *number >= 1 && *number <= most) return static_cast<std::size_t>(*number);
    return fail("usage.number", fmt::format("`--{} {}`", name, *text),
                fmt::format("a whole number from 1 to {}", most));
}

Expected<Asked> read(const Arguments& arguments) {
    const auto hardware = arguments.values("hardware");
    const auto workload = arguments.value("workload");
    if (hardware.size() != 1 || !workload || !arguments.positionals().empty())
        return fail("usage.missing", "a search on a drawn device needs a device and a workload, and no log",
                    "--search --hardware ID --workload KERNEL",
                    "--search --hardware core-i9-10940x --workload gemm:m=128,n=768,k=768");
    if (const auto problem = meaningless(arguments, "a search on a drawn device",
                                         {"test", "new-devices", "samples", "choose", "show", "model"}))
        return Unexpected(*problem);
    Asked asked;
    const auto seed = readSeed(arguments, 1);
    if (!seed) return Unexpected(seed.error());
    asked.seed = *seed;
    const auto trials = wholeOption(arguments, "trials", 200, 100'000);
    if (!trials) return Unexpected(trials.error());
    const auto searches = wholeOption(arguments, "seeds", 1, 1'000);
    if (!searches) return Unexpected(searches.error());
    const auto blind = wholeOption(arguments, "blind", *trials, 100'000);
    if (!blind) return Unexpected(blind.error());
    asked.trials = *trials, asked.blind = *blind, asked.searches = *searches;
    for (const std::string& word : arguments.values("guide")) {
        const auto guide = scheduleGuide(word);
        if (!guide && word != "all")
            return fail("usage.value", fmt::format("`--guide {}`", word), "trees, analytic, both, random or all");
        for (const ScheduleGuide each :
             {ScheduleGuide::Trees, ScheduleGuide::Analytic, ScheduleGuide::Both, ScheduleGuide::Random}) {
            const bool wanted = !guide || *guide == each;
            if (wanted && std::ranges::find(asked.guides, each) == asked.guides.end()) asked.guides.push_back(each);
        }
    }
    if (asked.guides.empty()) asked.guides = {ScheduleGuide::Both};
    if (std::ranges::find(asked.guides, ScheduleGuide::Random) == asked.guides.end()) {
        if (const auto problem = meaningless(arguments, "guides other than `random`", {"blind"}))
            return Unexpected(*problem);
    }
    auto loaded = loadHardware(hardware.front());
    if (!loaded) return Unexpected(loaded.error());
    auto space = scheduleSpace(std::make_shared<const Hardware>(std::move(loaded->hardware)), *workload,
                               arguments.value("target").value_or(""));
    if (!space) return Unexpected(space.error());
    asked.space = std::move(*space);
    return asked;
}

nlohmann::ordered_json jsonOf(const ScheduleSpace& space, SchedulePoint point) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    const auto choices = space.choicesOf(point);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const ScheduleAxis& axis = space.axes()[i];
        if (axis.words.empty())
            out[axis.name] = axis.values[choices[i]];
        else
            out[axis.name] = axis.words[choices[i]];
    }
    return out;
}

const ScheduleTrial* fastestOf(std::span<const ScheduleSearch> searches) {
    const ScheduleTrial* least = nullptr;
    for (const ScheduleSearch& each : searches) {
        const ScheduleTrial* own = each.fastest();
        if (own && (!least || own->seconds < least->seconds)) least = own;
    }
    return least;
}

std::string jsonOf(const ScheduleSpace& space, std::span<const ScheduleSearch> searches) {
    const ScheduleTrial* fastest = fastestOf(searches);
    const double best = bestOf(searches);
    nlohmann::ordered_json out{{"format", "orrery-schedules"},
                               {"version", 1},
                               {"split", "drawn-search"},
                               {"hardware", space.device()},
                               {"workload", toText(space.kernel())},
                               {"target", space.target()},
                               {"schedules", space.legal().size()}};
    out["axes"] = nlohmann::ordered_json::array();
    for (const ScheduleAxis& axis : space.axes()) {
        nlohmann::ordered_json values = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < axis.values.size(); ++i) {
            if (axis.words.empty())
                values.push_back(axis.values[i]);
            else
                values.push_back(axis.words[i]);
        }
        out["axes"].push_back({{"name", axis.name}, {"meaning", axis.meaning}, {"values", values}});
    }
    if (fastest) out["best"] = {{"seconds", fastest->seconds}, {"schedule", jsonOf(space, fastest->point)}};
    out["guides"] = nlohmann::ordered_json::array();
    for (const GuideFigures& each : figuresOf(searches, best)) {
        out["guides"].push_back({{"guide", toText(each.guide)},
                                 {"searches", each.searches},
                                 {"reached", each.reached},
                                 {"trials_to_95", each.trials},
                                 {"best_after_10", each.after10},
                                 {"best_after_50", each.after50},
                                 {"best_at_end", each.end}});
    }
    out["runs"] = nlohmann::ordered_json::array();
    for (const ScheduleSearch& search : searches) {
        nlohmann::ordered_json curve = nlohmann::ordered_json::array();
        std::size_t failed = 0;
        for (const ScheduleTrial& trial : search.trials) {
            curve.push_back(trial.best);
            failed += trial.seconds > 0 ? 0 : 1;
        }
        nlohmann::ordered_json one{{"guide", toText(search.guide)},
                                   {"seed", search.seed},
                                   {"trials", search.trials.size()},
                                   {"failed", failed},
                                   {"best_seconds", search.best()}};
        const std::size_t until = search.trialsUntil(best);
        if (until > 0)
            one["trials_to_95"] = until;
        else
            one["trials_to_95"] = nullptr;
        one["curve_seconds"] = curve;
        out["runs"].push_back(one);
    }
    return out.dump(2) + "\n";
}

std::string textOf(const ScheduleSpace& space, std::span<const ScheduleSearch> searches) {
    std::string text = fmt::format("{} on {}, {} schedules, each priced by `{}`, without an interval\n\n",
                                   toText(space.kernel()), space.device(), space.legal().size(), space.target());
    Table table({"guide", "searches", "within 95 %", "trials until then", "best after 10", "after 50", "at the end"},
                {false, true, true, true, true, true, true});
    for (const GuideFigures& each : figuresOf(searches, bestOf(searches))) {
        table.add({std::string(toText(each.guide)), std::to_string(each.searches), std::to_string(each.reached),
                   fmt::format("{}{:.1f}", each.reached < each.searches ? "more than " : "", each.trials),
                   percentOf(each.after10), percentOf(each.after50), percentOf(each.end)});
    }
    text += table.text() +
            "\nShares of the best schedule that any of these searches found; trials are a geometric mean. The true "
            "best of the space may be better.\n";
    if (const ScheduleTrial* fastest = fastestOf(searches)) {
        text += fmt::format("\nBest: {}, {}\n\n{}", formatMeasure(fastest->seconds, Dimension::Time),
                            space.textOf(fastest->point), codeOf(space.nest(fastest->point)));
    }
    return text;
}

}  // namespace

bool asksDrawnSearch(const Arguments& arguments) {
    return arguments.has("workload") || (arguments.has("search") && arguments.positionals().empty());
}

int runDrawnSearch(const Arguments& arguments, Watch& watch) {
    const auto asked = read(arguments);
    if (!asked) return failed(asked.error());
    SchedulePrices prices(asked->space);
    const auto executor = makeDefaultExecutor();
    std::vector<ScheduleSearch> searches;
    watch.begin("searching schedules");
    // What does not depend on the seed is searched once.
    const auto timesOf = [&](ScheduleGuide guide) {
        return guide == ScheduleGuide::Analytic ? std::size_t{1} : asked->searches;
    };
    std::size_t all = 0;
    for (const ScheduleGuide guide : asked->guides)
        all += timesOf(guide) * std::min(asked->trialsOf(guide), asked->space->legal().size());
    watch.progress().setTotal(all);
    for (const ScheduleGuide guide : asked->guides) {
        for (std::size_t i = 0; i < timesOf(guide) && !watch.interrupted(); ++i) {
            ScheduleSearchOptions options;
            options.guide = guide, options.trials = asked->trialsOf(guide), options.seed = asked->seed + i;
            options.executor = executor.get();
            options.stop = watch.token();
            std::size_t before = 0;
            options.onTrials = [&](const ScheduleSearch& so) {
                watch.progress().advance(so.trials.size() - before);
                before = so.trials.size();
            };
            auto search = searchSchedules(prices, options);
            if (!search) {
                watch.end();
                return failed(search.error());
            }
            searches.push_back(std::move(*search));
        }
    }
    watch.end();
    bool written = true;
    if (const auto csv = arguments.value("csv")) written = writeTo(*csv, trialsAsCsv(*asked->space, searches));
    const std::string text = arguments.has("json") ? jsonOf(*asked->space, searches) : textOf(*asked->space, searches);
    return (arguments.value("csv") == "-" || print(text)) && written && !watch.interrupted() ? Answered : Unanswered;
}

}  // namespace orrery::cli
