#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "evaluation/edge/bring_device.h"
#include "evaluation/edge/edge_import.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

Expected<std::size_t> wholeOption(const Arguments& arguments, std::string_view name, std::size_t otherwise,
                                  std::size_t most) {
    const auto text = arguments.value(name);
    if (!text) return otherwise;
    const auto number = wholeIn(*text);
    if (!number || *number < 0 || *number > static_cast<std::int64_t>(most))
        return fail("usage.value", fmt::format("`--{} {}`", name, *text),
                    fmt::format("a whole number from 0 to {}", most));
    return static_cast<std::size_t>(*number);
}

Expected<std::optional<std::pair<double, double>>> rangeOption(const Arguments& arguments, std::string_view name) {
    const auto text = arguments.value(name);
    if (!text) return std::nullopt;
    const auto parts = split(*text, ':');
    const auto from = parts.size() == 2 ? numberIn(parts[0]) : std::nullopt;
    const auto below = parts.size() == 2 ? numberIn(parts[1]) : std::nullopt;
    if (!from || !below || *from >= *below)
        return fail("usage.value", fmt::format("`--{} {}`", name, *text), "FROM:BELOW, such as 900:1900");
    return std::pair(*from, *below);
}

Expected<EdgeProtocol> protocolOf(const Arguments& arguments) {
    EdgeProtocol protocol;
    protocol.targets = arguments.values("target");
    protocol.priorTargets = arguments.values("known");
    protocol.references = arguments.values("reference");
    protocol.prior = !arguments.has("no-prior");
    protocol.choose = arguments.has("choose");
    const auto samples = wholeOption(arguments, "samples", 10, 1'000'000);
    if (!samples) return Unexpected(samples.error());
    protocol.samples = protocol.references.empty() ? *samples : protocol.references.size();
    const auto seed = wholeOption(arguments, "seed", 1, 1'000'000'000);
    if (!seed) return Unexpected(seed.error());
    protocol.seed = *seed;
    const auto repeats = wholeOption(arguments, "repeats", 1, 10'000);
    if (!repeats) return Unexpected(repeats.error());
    protocol.repeats = std::max<std::size_t>(1, *repeats);
    if (const auto text = arguments.value("trim")) {
        const auto share = numberIn(*text);
        if (!share || *share < 0 || *share > 0.45)
            return fail("usage.value", fmt::format("`--trim {}`", *text), "a share of the rows, 0 to 0.45");
        protocol.trim = *share;
    }
    const auto pool = rangeOption(arguments, "pool");
    if (!pool) return Unexpected(pool.error());
    protocol.pool = *pool;
    const auto test = rangeOption(arguments, "test");
    if (!test) return Unexpected(test.error());
    protocol.test = *test;
    return protocol;
}

Json jsonOf(const EdgeJudgement& j) {
    Json json{{"target", j.target},       {"rows", j.rows},          {"mape", j.mape},     {"median", j.median},
              {"spearman", j.spearman},   {"within_10", j.within10}, {"top_tenth", j.top}, {"coverage", j.coverage},
              {"far_flagged", j.flagged}, {"noise", j.noise}};
    json["simple"] = {{"mape", j.simpleMape}, {"median", j.simpleMedian}, {"spearman", j.simpleSpearman}};
    if (j.untold > 0) json["untold"] = j.untold;
    if (!j.deadCode.empty()) json["dead_code"] = j.deadCode;
    return json;
}

std::string textOf(const EdgeResult& result, const EdgeTable& known, const EdgeProtocol& protocol) {
    Table table({"target", "rows", "MAPE", "median", "rank", "within 10 %", "fastest tenth", "in 90 %", "simple MAPE",
                 "simple rank", "dead code"},
                {false, true, true, true, true, true, true, true, true, true, false});
    const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
    const auto line = [&](const EdgeJudgement& j) {
        table.add({j.target, count(static_cast<double>(j.rows)), percent(j.mape), percent(j.median),
                   fmt::format("{:.4f}", j.spearman), percent(j.within10), percent(j.top), percent(j.coverage),
                   percent(j.simpleMape), fmt::format("{:.4f}", j.simpleSpearman),
                   j.deadCode.empty() ? "–" : j.deadCode});
    };
    for (const EdgeJudgement& each : result.targets) line(each);
    if (result.targets.size() > 1) line(result.mean);
    return fmt::format(
        "{}, {}: {} samples of each target, {} repetition(s), seed {}; prior: {}\n\n{}\n"
        "Rows that were sampled are not judged{}. Telling one network from its features takes {:.2f} µs of a "
        "processor.\n",
        known.path, known.space.empty() ? "networks by name" : known.space, protocol.samples, protocol.repeats,
        protocol.seed, result.knownDevices > 0 ? fmt::format("{} other targets", result.knownDevices) : "a roofline",
        table.text(),
        result.mean.untold > 0 ? fmt::format(", nor are {} of networks that no other target has", result.mean.untold)
                               : std::string(),
        1e6 * result.secondsPerNetwork);
}

std::string csvOf(const EdgeResult& result) {
    std::string out = "target,network,measured,predicted,low,high\n";
    for (const EdgePrediction& each : result.last) {
        const bool quoted = each.network.find(',') != std::string::npos;
        out += fmt::format("{0}{1}{0},{2}{3}{2},{4:.6g},{5:.6g},{6:.6g},{7:.6g}\n",
                           each.target.find(',') == std::string::npos ? "" : "\"", each.target, quoted ? "\"" : "",
                           each.network, each.measured, each.predicted.mean, each.predicted.low, each.predicted.high);
    }
    return out;
}

Json numberOrNull(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json jsonOf(const BroughtDevice& told, std::span<const SampleStep> steps, const OwnDevice& device) {
    Json json{{"device", device.name},
              {"samples", device.measured.size()},
              {"known_devices", told.knownDevices},
              {"said_error", numberOrNull(told.error)},
              {"interval", numberOrNull(told.width)}};
    json["next"] = Json::array();
    for (const NextMeasurement& each : told.next)
        json["next"].push_back({{"network", each.network}, {"said_error_after", each.error}});
    json["steps"] = Json::array();
    for (const SampleStep& each : steps) {
        json["steps"].push_back({{"samples", each.samples},
                                 {"said_error", each.said},
                                 {"interval", each.width},
                                 {"error", numberOrNull(each.error)},
                                 {"spearman", numberOrNull(each.rank)},
                                 {"coverage", numberOrNull(each.held)}});
    }
    return json;
}

std::string textOf(const BroughtDevice& told, std::span<const SampleStep> steps, const OwnDevice& device) {
    const auto percent = [](double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "–"; };
    std::string text = fmt::format("{}: {} measured, {} known devices; said to be {} off in the middle.\n", device.name,
                                   device.measured.size(), told.knownDevices, percent(told.error));
    if (!steps.empty()) {
        Table table({"samples", "said", "interval ×", "off, of later ones", "rank", "in 90 %"},
                    {true, true, true, true, true, true});
        for (const SampleStep& each : steps) {
            table.add({std::to_string(each.samples), percent(each.said), fmt::format("{:.2f}", each.width),
                       percent(each.error), std::isfinite(each.rank) ? fmt::format("{:.3f}", each.rank) : "–",
                       percent(each.held)});
        }
        text += "\n" + table.text();
    }
    Table table({"measure next", "then said"}, {false, true});
    for (const NextMeasurement& each : told.next) table.add({each.network, percent(each.error)});
    return text + "\n" + table.text();
}

// A device of one's own: what to measure next, and what has been told so far.
int runNext(const Arguments& arguments, const EdgeTable& known, Watch& watch) {
    OwnDevice device;
    const auto names = arguments.values("target");
    if (names.size() > 1)
        return failed(fail("usage.value", "more than one `--target`", "one device with --next").value());
    device.name = names.empty() ? "the new device" : names.front();
    if (const auto path = arguments.value("measured")) {
        const auto text = readFile(*path);
        if (!text) return failed(text.error());
        auto samples = readOwnSamples(*text);
        if (!samples) {
            Diagnostic problem = samples.error();
            problem.place.file = *path;
            return failed(problem);
        }
        device.measured = std::move(*samples);
    }
    BringOptions options;
    options.stop = watch.token();
    const auto next = wholeOption(arguments, "next", 8, 200);
    if (!next) return failed(next.error());
    options.next = *next;
    const auto seed = wholeOption(arguments, "seed", 1, 1'000'000'000);
    if (!seed) return failed(seed.error());
    options.seed = *seed;
    if (const auto text = arguments.value("until")) {
        const auto share = numberIn(*text);
        if (!share || *share <= 0 || *share > 1)
            return failed(fail("usage.value", fmt::format("`--until {}`", *text), "a share, such as 0.05").value());
        options.until = *share;
    }
    watch.begin("choosing what to measure");
    const auto told = bringDevice(known, device, options);
    auto steps = told ? sampleSteps(known, device, options) : Expected<std::vector<SampleStep>>{};
    watch.end();
    if (!told) return failed(told.error());
    if (!steps) return failed(steps.error());
    report(told->notes);
    if (const auto csv = arguments.value("csv")) {
        if (!writeTo(*csv, toMeasureAsCsv(told->next))) return Unanswered;
        if (*csv == "-") return Answered;
    }
    if (const auto path = arguments.value("json")) {
        Json json{{"format", "orrery-edge-next"}, {"version", 1}, {"table", known.path}, {"space", known.space}};
        json.update(jsonOf(*told, *steps, device));
        json["told"] = Json::array();
        for (const EdgePrediction& each : told->told) {
            json["told"].push_back({{"network", each.network},
                                    {"measured", numberOrNull(each.measured)},
                                    {"latency", each.predicted.mean},
                                    {"low", each.predicted.low},
                                    {"high", each.predicted.high}});
        }
        return writeTo(*path, json.dump(2) + "\n") ? Answered : Unanswered;
    }
    return print(textOf(*told, *steps, device)) ? Answered : Unanswered;
}

int runEdge(const Arguments& arguments, Watch& watch) {
    EdgeColumns columns;
    columns.network = arguments.value("network").value_or("");
    columns.devices = arguments.values("device");
    columns.values = arguments.values("value");
    columns.whole = arguments.value("whole").value_or("");
    columns.only = arguments.values("only");
    columns.without = arguments.values("without");
    columns.rates = arguments.has("rates");
    columns.half = arguments.value("half").value_or("decoder");
    if (columns.half != "encoder" && columns.half != "decoder") {
        return failed(fail("usage.value", fmt::format("`--half {}`", columns.half), "encoder or decoder").value());
    }
    if (columns.devices.empty() != columns.values.empty()) {
        return failed(fail("usage.missing", "devices in rows need the column of their value, and the other way round",
                           "--device COLUMN … --value COLUMN")
                          .value());
    }
    auto protocol = protocolOf(arguments);
    if (!protocol) return failed(protocol.error());
    protocol->stop = watch.token();
    const auto known = openEdgeTable(arguments.positionals().front(), columns);
    if (!known) return failed(known.error());
    report(known->notes);
    if (arguments.has("next") || arguments.has("measured")) return runNext(arguments, *known, watch);
    std::optional<EdgeTable> asked;
    if (const auto rows = arguments.value("rows")) {
        auto read = openEdgeTable(*rows, columns);
        if (!read) return failed(read.error());
        report(read->notes);
        asked = std::move(*read);
    }
    watch.begin("telling devices from samples");
    const auto result = judgeEdge(*known, asked ? *asked : *known, *protocol);
    watch.end();
    if (!result) return failed(result.error());
    report(result->leftOut);
    if (const auto csv = arguments.value("csv"); csv && !writeTo(*csv, csvOf(*result))) return Unanswered;
    if (const auto path = arguments.value("json")) {
        Json json{{"format", "orrery-edge"},      {"version", 1},
                  {"table", known->path},         {"space", known->space},
                  {"samples", protocol->samples}, {"seed", protocol->seed},
                  {"repeats", protocol->repeats}, {"known_devices", result->knownDevices}};
        if (asked) json["rows"] = asked->path;
        json["targets"] = Json::array();
        for (const EdgeJudgement& each : result->targets) json["targets"].push_back(jsonOf(each));
        json["mean"] = jsonOf(result->mean);
        return writeTo(*path, json.dump(2) + "\n") ? Answered : Unanswered;
    }
    if (arguments.value("csv") == "-") return Answered;
    return print(textOf(*result, *known, *protocol)) ? Answered : Unanswered;
}

}  // namespace

const Command edgeCommand{
    .name = "edge",
    .positional = "FILE",
    .positionalRequired = true,
    .summary = "tell a device's latencies from a few samples and from other devices",
    .details =
        "FILE is a table (CSV) of measured networks: a column of codes (NAS-Bench-201 cells, FBNet blocks, OFA, HAT's "
        "columns) or names, and a column per device; or, with --device and --value, a row per measurement. For each "
        "target so many networks are drawn by seed as its samples, the others are told from them and from the "
        "other targets of FILE, and compared. With --samples 0 the other targets answer alone, with --no-prior a "
        "roofline. --rows FILE judges the rows of another table: on targets that both have the samples come from "
        "the first, on new ones from the second. Columns of published tables are known (presets/references/edge).",
    .options = {{"target", "NAME", "a column, or a device, to be told; more may follow; all if left out", true},
                {"known", "NAME", "a target that the prior may know; more may follow; all others if left out", true},
                {"no-prior", "", "know no other device"},
                {"samples", "N", "networks measured on a target; 10 if left out"},
                {"reference", "NETWORK", "a network that is measured, instead of drawn ones; more may follow", true},
                {"seed", "N", "of the draw; 1 if left out"},
                {"repeats", "N", "draws that figures are means of; 1 if left out"},
                {"pool", "A:B", "samples come from rows of these numbers, from A and below B"},
                {"test", "A:B", "rows of these numbers are judged"},
                {"trim", "SHARE", "of the fastest and of the slowest rows, never drawn"},
                {"rows", "FILE", "a table whose rows are judged"},
                {"network", "COLUMN", "that names the networks"},
                {"device", "COLUMN", "that names the device; more may follow", true},
                {"value", "COLUMN", "of the measurement, where devices are in rows; more may follow", true},
                {"whole", "COLUMN", "rows with one value of it are one device: its other runs are not known", false},
                {"only", "WORD", "networks whose name has it (int8); more may follow", true},
                {"without", "WORD", "networks whose name has it not; more may follow", true},
                {"choose", "", "samples are chosen by what they say of the others, instead of drawn"},
                {"next", "N", "list what to measure next of a new device, and the error that is then said"},
                {"measured", "FILE", "what was measured of it so far: network,latency_ms"},
                {"until", "SHARE", "list no more than this error needs, such as 0.05"},
                {"rates", "", "measurements are per second"},
                {"half", "WHICH", "of HAT's tables: encoder or decoder (if left out)"},
                {"csv", "FILE",
                 "each row's prediction and interval, of the last draw; with --next the list to fill in"},
                {"json", "FILE", "the figures as JSON; - is standard output"}},
    .required = {},
    .examples = {{"orrery-cli edge nasbench201_latency_ms.csv --target raspi4 --samples 10 --repeats 50",
                  "how well ten networks tell the others"},
                 {"orrery-cli edge ncnn_benchmark_ms.csv --device device --device run --value avg_ms --reference "
                  "squeezenet --reference mobilenet --reference resnet18",
                  "networks by name, from three references"},
                 {"orrery-cli edge yolo_latency_ms.csv --next 8 --measured mine.csv --until 0.1",
                  "what to measure next of a device of one's own, and what that buys"}},
    .run = runEdge,
};

}  // namespace orrery::cli
