#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/train_fit.h"
#include "app/cli/train_trace.h"
#include "methods/system/cases/astra_case.h"
#include "methods/system/cases/training_cases.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

SimTime withoutCompute(const RankResult& rank) {
    return rank.finish - rank.compute;
}

// Cycles of ASTRA-sim are nanoseconds; what it calls exposed is all that its device does not compute.
Json astraJson(const AstraCase& given, const ClusterOutcome& outcome) {
    constexpr SimTime cycle = 1000;
    Json json{{"format", "orrery-training"},
              {"version", 1},
              {"workload", given.name},
              {"compatibility", given.settings.astraSim ? "astra-sim" : ""},
              {"congestion", given.settings.network.congestion ? "aware" : "unaware"},
              {"links", given.settings.network.congestion ? toText(given.settings.network.carrying) : ""},
              {"events", outcome.events},
              {"messages", outcome.messages}};
    if (outcome.packets.packets > 0)
        json["packets"] = {{"sent", outcome.packets.packets},
                           {"pauses", outcome.packets.pauses},
                           {"slow_downs", outcome.packets.slowDowns}};
    Json ranks = Json::array();
    for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
        const RankResult& one = outcome.ranks[r];
        ranks.push_back({{"rank", r},
                         {"cycles", one.finish / cycle},
                         {"exposed_cycles", (given.settings.astraSim ? withoutCompute(one) : one.exposed) / cycle},
                         {"compute_cycles", one.compute / cycle},
                         {"exchange_cycles", one.exchange / cycle},
                         {"waiting_cycles", one.exposed / cycle}});
    }
    json["ranks"] = std::move(ranks);
    return json;
}

Json traceJson(const TraceCase& given) {
    Json collectives = Json::object();
    for (std::size_t op = 0; op < given.collectives.size(); ++op) {
        if (given.collectives[op] == 0) continue;
        collectives[std::string(toText(static_cast<TraceCollective>(op)))] = {{"count", given.collectives[op]},
                                                                              {"bytes", given.bytes[op]}};
    }
    return {{"form", given.form},
            {"nodes", given.totals.nodes},
            {"computations", given.totals.computes},
            {"device_us", given.totals.microseconds},
            {"host_us", given.hostMicroseconds},
            {"messages", given.totals.messages},
            {"collectives", std::move(collectives)}};
}

std::string micros(SimTime ticks) {
    return fmt::format("{:.3f}", static_cast<double>(ticks) / 1e6);
}

std::string astraText(const AstraCase& given, const ClusterOutcome& outcome) {
    Table table({"ranks", "end us", "computes us", "exchanges us", "waits for exchanges us"},
                {false, true, true, true, true});
    const auto same = [](const RankResult& a, const RankResult& b) {
        return a.finish == b.finish && a.compute == b.compute && a.exchange == b.exchange && a.exposed == b.exposed;
    };
    SimTime end = 0;
    for (std::size_t r = 0, next = 0; r < outcome.ranks.size(); r = next) {
        const RankResult& one = outcome.ranks[r];
        end = std::max(end, one.finish);
        for (next = r + 1; next < outcome.ranks.size() && same(one, outcome.ranks[next]);) ++next;
        table.add({next - r > 1 ? fmt::format("{} to {}", r, next - 1) : fmt::format("{}", r), micros(one.finish),
                   micros(one.compute), micros(one.exchange), micros(one.exposed)});
    }
    std::string text =
        fmt::format("{}: {} ranks end after {} us; {} messages, {}\n\n", given.name, outcome.ranks.size(), micros(end),
                    count(static_cast<double>(outcome.messages)),
                    !given.settings.network.congestion                         ? "links are never busy"
                    : given.settings.network.carrying == LinkCarrying::Fluid   ? "links are shared max-min fair"
                    : given.settings.network.carrying == LinkCarrying::Packets ? "links carry packets"
                    : given.settings.network.carrying == LinkCarrying::Ns3     ? "links carry packets of ns-3"
                                                                               : "links carry one at a time");
    return text + table.text();
}

// What another tool says of each run, what Orrery says in the same rules and in its own.
int runCases(const Arguments& arguments, Watch& watch) {
    const auto cases = readTrainingCases(*arguments.value("cases"));
    if (!cases) {
        report(cases.error());
        return Unanswered;
    }
    Table table({"run", "asked", cases->tool, "same rules", "own rules"}, {false, false, true, true, true});
    Json runs = Json::array();
    watch.begin("running");
    for (std::size_t i = 0; i < cases->runs.size(); ++i) {
        const TrainingCaseRun& run = cases->runs[i];
        const auto same = runTrainingCase(*cases, i, false, watch.token());
        const auto own = runTrainingCase(*cases, i, true, watch.token());
        if (!same || !own) {
            watch.end();
            report(same ? own.error() : same.error());
            return Unanswered;
        }
        table.add({run.name, run.exposed ? "exposed" : "time", run.recorded ? fmt::format("{:.0f}", *run.recorded) : "",
                   fmt::format("{:.0f}", same->asked(run)), fmt::format("{:.0f}", own->asked(run))});
        Json one{{"name", run.name}, {"asked", run.exposed ? "exposed_cycles" : "cycles"}};
        if (run.recorded) one["recorded"] = *run.recorded;
        one["same_rules"] = same->asked(run);
        one["own_rules"] = own->asked(run);
        runs.push_back(std::move(one));
    }
    watch.end();
    const Json json{{"format", "orrery-training-cases"}, {"version", 1}, {"name", cases->name}, {"runs", runs}};
    return print(arguments.has("json") ? json.dump(2) + "\n" : cases->name + ", cycles of 1 ns\n\n" + table.text())
               ? Answered
               : Unanswered;
}

int runTrain(const Arguments& arguments, Watch& watch) {
    if (arguments.has("cases")) return runCases(arguments, watch);
    if (arguments.has("fit-step")) return fitStep(arguments, watch);
    if (arguments.has("fit-stacks")) return fitTrainingStacks(arguments, watch);
    const std::string congestion = arguments.value("congestion").value_or("aware");
    if (congestion != "aware" && congestion != "unaware") {
        report(Diagnostic{Severity::Error,
                          "usage.value",
                          fmt::format("there is no congestion `{}`", congestion),
                          "aware or unaware",
                          {},
                          {}});
        return Usage;
    }
    if (arguments.has("astra") == arguments.has("trace")) {
        report(Diagnostic{Severity::Error,
                          "usage.missing",
                          "there is nothing to run, or too much",
                          "--astra DIR, --trace FILE, --cases FILE, --fit-step TABLE or --fit-stacks TABLE",
                          {},
                          {}});
        return Usage;
    }
    std::optional<TraceCase> single;
    Expected<AstraCase> given;
    if (arguments.has("trace")) {
        auto read = readTraceCase(arguments, congestion == "aware");
        if (read) {
            single = std::move(*read);
            given = std::move(single->run);
            single->run.name = given->name;
        } else {
            given = tl::unexpected(std::move(read.error()));
        }
    } else {
        given = readAstraCase(*arguments.value("astra"), congestion == "aware", arguments.has("own-semantics"));
        const auto links = linksOption(arguments);
        if (given && !links) given = tl::unexpected(links.error());
        if (given && *links != LinkCarrying::StoreAndForward && given->settings.astraSim)
            given = tl::unexpected(fail("usage.value", "ASTRA-sim's links store and forward",
                                        "--own-semantics beside --links fluid, packets or ns3")
                                       .value());
        if (given) given->settings.network.carrying = *links;
    }
    if (!given) {
        report(given.error());
        return given.error().code.starts_with("usage.") ? Usage : Unanswered;
    }
    report(given->warnings);
    watch.begin("running");
    auto outcome = runCluster(std::move(given->job), given->settings, false, watch.token());
    watch.end();
    if (!outcome) {
        report(outcome.error());
        return Unanswered;
    }
    report(outcome->warnings);
    if (single) unfold(*single, *outcome);
    std::string text;
    if (arguments.has("json")) {
        Json json = astraJson(*given, *outcome);
        if (single) json["trace"] = traceJson(*single);
        text = json.dump(2) + "\n";
    } else {
        text = (single ? totalsText(*single) : std::string()) + astraText(*given, *outcome);
    }
    return print(text) ? Answered : Unanswered;
}

}  // namespace

const Command trainCommand{
    .name = "train",
    .summary = "run the traces of a training step, rank by rank, on a network",
    .details =
        "Reads a folder of ASTRA-sim 2 as it is: system.json, network.yml, memory.json and Chakra traces "
        "et/NAME.RANK.et, with their "
        "communicators in et/NAME.json. Its semantics are reproduced to the cycle, faults included, unless "
        "--own-semantics is given; "
        "congestion works in any number of dimensions. --trace runs one recorded or written trace on every rank: "
        "Chakra "
        "(.et, JSON), PyTorch execution traces, "
        "layers of ASTRA-sim 1.0 and SimAI, operators of TrioSim, logs of AICB; plain, gzipped or in a tar archive. "
        "--fit-step fits the method learned-step to a table of published steps, --fit-stacks the numbers of training "
        "stacks.",
    .options =
        {{"astra", "DIR", "the folder"},
         {"trace", "FILE", "one trace, run on every rank"},
         {"cases", "FILE", "runs of a file, beside what another tool says of them (presets/training)"},
         {"fit-step", "TABLE", "published steps as CSV: what learned-step is fitted to (handbook, Training)"},
         {"fit-stacks", "TABLE",
          "the same with columns source, stack and half: what training stacks are fitted to (handbook, Training)"},
         {"errors", "FILE",
          "where the errors of fitted stacks go, source by source, in Markdown: in place of such a table, if FILE has "
          "one"},
         {"out", "FILE", "where that calibration goes, - for standard output"},
         {"date", "DAY", "the day that it says; today if left out"},
         {"kineto", "FILE", "the timeline recorded beside a PyTorch execution trace, for its times"},
         {"ranks", "N[,N…]", "devices of a trace's network, by dimension, innermost first (as the trace says, or 8)"},
         {"topology", "WORD[,WORD…]",
          "Ring, Switch (the default), FullyConnected, mesh4x4 or torus4x4 with their sides, by dimension"},
         {"bandwidth", "GB/S[,…]", "of a link, one direction (400)"},
         {"latency", "NS[,…]", "of a link (936.25)"},
         {"order", "WORD",
          "of layers: blocking, each exchange before the next layer (the default), or overlap with what follows"},
         {"congestion", "WORD",
          "aware: a link carries one message at a time (the default); unaware: links are never busy"},
         {"hardware", "ID",
          "instead of these four: a trace's network as a design draws it, over its first kind of device"},
         {"links", "WORD",
          "of busy links: store-and-forward (the default), fluid, packets with pauses and rate control, or ns3 (needs "
          "orrery-ns3)"},
         {"payload", "B", "of a packet at most, where a trace's links carry packets (4096)"},
         {"algorithm", "WORD[,WORD…]",
          "of a trace's collectives, by dimension: ring (the default), direct, direct4, halvingDoubling, "
          "doubleBinaryTree, inNetwork, synthesized; what one cannot do goes in rings, all-to-alls directly"},
         {"dimension-order", "WORD",
          "of a trace's chunks: inner-first (the default), or themis, which keeps the loads of dimensions even"},
         {"own-semantics", "",
          "without ASTRA-sim's faults: GB of 10^9, picoseconds, exposed time without pipeline bubbles"},
         {"json", "", "every rank as JSON"}},
    .examples = {{"orrery-cli train --astra cases/resnet50_dp_blocking_8npus_hgxh100",
                  "when every rank ends, and what it waits for"},
                 {"orrery-cli train --astra cases/ring16 --congestion unaware --json",
                  "the same with closed-form links, for a script"},
                 {"orrery-cli train --trace Resnet50_DataParallel.txt --ranks 8 --order overlap",
                  "a table of layers on eight ranks behind a switch"},
                 {"orrery-cli train --trace Resnet50_DataParallel.txt --hardware dgx-1-v100 --algorithm synthesized",
                  "the same on the links of a design, with a schedule found for them"},
                 {"orrery-cli train --cases presets/training/astra-sim-hgx-h100.yaml",
                  "seven numbers of ASTRA-sim, run again"},
                 {"orrery-cli train --fit-step steps.csv --out mine.json",
                  "correct closed forms by steps that you measured; then run --calibration mine.json"},
                 {"orrery-cli train --fit-stacks stacks.csv --out stacks.json --errors errors.md",
                  "what training software adds to its kernels, from published steps"}},
    .run = runTrain,
};

}  // namespace orrery::cli
