#include "app/cli/command.h"
#include "app/cli/edge_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "evaluation/edge/bring_device.h"
#include "evaluation/edge/edge_import.h"
#include "evaluation/edge/network_facts.h"
#include "evaluation/edge/rank_confusion.h"
#include "evaluation/edge/topologies.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

Json numberOrNull(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json jsonOf(std::span<const EdgePrediction> told) {
    Json json = Json::array();
    for (const EdgePrediction& each : told) {
        json.push_back({{"network", each.network},
                        {"measured", numberOrNull(each.measured)},
                        {"latency", each.predicted.mean},
                        {"low", each.predicted.low},
                        {"high", each.predicted.high},
                        {"domain", toText(each.doubt)}});
    }
    return json;
}

Json jsonOf(const BroughtDevice& told, std::span<const SampleStep> steps, const OwnDevice& device) {
    Json json{
        {"device", device.name},    {"samples", device.measured.size()},      {"known_devices", told.knownDevices},
        {"by_simple", told.simple}, {"said_error", numberOrNull(told.error)}, {"interval", numberOrNull(told.width)}};
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
    std::string text = fmt::format("{}: {} measured, {} known devices; expected error {} (median){}.\n",
                                   device.name, device.measured.size(), told.knownDevices, percent(told.error),
                                   told.simple ? ", by a simple model, which was no worse on what was left out" : "");
    if (!steps.empty()) {
        Table table({"samples", "expected", "interval ×", "off, of later ones", "rank", "in 90 %"},
                    {true, true, true, true, true, true});
        for (const SampleStep& each : steps) {
            table.add({std::to_string(each.samples), percent(each.said), fmt::format("{:.2f}", each.width),
                       percent(each.error), std::isfinite(each.rank) ? fmt::format("{:.3f}", each.rank) : "–",
                       percent(each.held)});
        }
        text += "\n" + table.text();
    }
    if (!told.others.empty()) {
        Table others({"network", "ms", "from", "to", "domain"}, {false, true, true, true, false});
        for (const EdgePrediction& each : told.others) {
            others.add({each.network, fmt::format("{:.4g}", each.predicted.mean),
                        fmt::format("{:.4g}", each.predicted.low), fmt::format("{:.4g}", each.predicted.high),
                        std::string(toText(each.doubt))});
        }
        text += "\n" + others.text();
    }
    Table table({"measure next", "then said"}, {false, true});
    for (const NextMeasurement& each : told.next) table.add({each.network, percent(each.error)});
    return text + "\n" + table.text();
}

// A device of one's own: what to measure next, and what has been told so far.
int runNext(const Arguments& arguments, EdgeTable& known, Watch& watch) {
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
    if (const auto model = arguments.value("model")) {
        options.model = *edgeModel(*model);  // edgeProtocolOf has read it too
    }
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
    for (const std::string& source : arguments.values("tell")) {
        // By name a network is told as part of the table, from what it is made of.
        if (known.space.empty() &&
            std::find(known.networks.begin(), known.networks.end(), source) == known.networks.end()) {
            if (auto added = addNetwork(known, source); !added) return failed(added.error());
        }
        options.tell.push_back(source);
    }
    watch.begin("choosing what to measure");
    const auto told = bringDevice(known, device, options);
    auto steps = told ? sampleSteps(known, device, options) : Expected<std::vector<SampleStep>>{};
    watch.end();
    if (!told) return failed(told.error());
    if (!steps) return failed(steps.error());
    report(told->notes);
    if (const auto path = arguments.value("save")) {
        const auto file = deviceFileOf(*told, known, device);
        if (!file) return failed(file.error());
        if (!writeTo(*path, writeDeviceFile(*file))) return Unanswered;
    }
    if (const auto csv = arguments.value("csv")) {
        if (!writeTo(*csv, toMeasureAsCsv(told->next))) return Unanswered;
        if (*csv == "-") return Answered;
    }
    if (const auto path = arguments.value("json")) {
        Json json{{"format", "orrery-edge-next"}, {"version", 1}, {"table", known.path}, {"space", known.space}};
        json.update(jsonOf(*told, *steps, device));
        json["model"] = toText(options.model);
        json["told"] = jsonOf(told->told);
        json["others"] = jsonOf(told->others);
        return writeTo(*path, json.dump(2) + "\n") ? Answered : Unanswered;
    }
    return print(textOf(*told, *steps, device)) ? Answered : Unanswered;
}

// Whether two devices put networks in the same order.
int runConfusion(const Arguments& arguments, const EdgeTable& table) {
    const auto names = arguments.values("confusion");
    if (names.size() != 2)
        return failed(fail("usage.value", "`--confusion` compares two devices", "--confusion A --confusion B").value());
    std::vector<std::size_t> at;
    for (const std::string& name : names) {
        at.push_back(table.target(name));
        if (at.back() < table.targets.size()) continue;
        return failed(fail("edge.no-column", fmt::format("{} has no target “{}”", table.path, name),
                           fmt::format("{} …", table.targets.empty() ? "" : table.targets.front()))
                          .value());
    }
    const auto found = rankConfusion(table.values[at[0]], table.values[at[1]]);
    if (!found) return failed(found.error());
    if (const auto path = arguments.value("json")) {
        Json json{{"format", "orrery-rank-confusion"},
                  {"version", 1},
                  {"first", names[0]},
                  {"second", names[1]},
                  {"networks", found->networks},
                  {"parts", found->parts},
                  {"spearman", found->spearman},
                  {"fastest_kept", found->kept},
                  {"cells", found->cells}};
        return writeTo(*path, json.dump(2) + "\n") ? Answered : Unanswered;
    }
    std::vector<std::string> heads{names[0] + " ↓  " + names[1] + " →"};
    std::vector<bool> right{false};
    for (std::size_t c = 0; c < found->parts; ++c) {
        heads.push_back(c == 0 ? "fastest fifth" : c + 1 == found->parts ? "slowest" : std::to_string(c + 1));
        right.push_back(true);
    }
    Table cells(heads, right);
    for (std::size_t r = 0; r < found->parts; ++r) {
        std::vector<std::string> row{heads[r + 1]};
        for (std::size_t c = 0; c < found->parts; ++c)
            row.push_back(fmt::format("{:.0f}", found->cells[r * found->parts + c]));
        cells.add(std::move(row));
    }
    return print(fmt::format("{}\n{} networks, rank correlation {:.4f}; {:.1f} % of the fastest fifth of {} is also "
                             "the fastest of {}\n",
                             cells.text(), found->networks, found->spearman, 100 * found->kept, names[0], names[1]))
               ? Answered
               : Unanswered;
}

int runEdge(const Arguments& arguments, Watch& watch) {
    for (const char* form : {"next", "measured", "save", "tell"}) {
        // What to measure next of a device is asked of all others, from what was measured of it: nothing is judged.
        if (!arguments.has(form)) continue;
        if (const auto problem = meaningless(arguments, fmt::format("`--{}`", form),
                                             {"choose", "samples", "reference", "repeats", "pool", "test", "trim",
                                              "rows", "known", "no-prior", "confusion"}))
            return failed(*problem);
    }
    const auto columns = edgeColumnsOf(arguments);
    if (!columns) return failed(columns.error());
    auto protocol = edgeProtocolOf(arguments);
    if (!protocol) return failed(protocol.error());
    protocol->stop = watch.token();
    auto known = openEdgeTable(arguments.positionals().front(), *columns);
    if (!known) return failed(known.error());
    const auto topologies = arguments.value("topologies");
    if (topologies) {
        if (auto added = addTopologies(*known, *topologies); !added) return failed(added.error());
    }
    for (const std::string& file : arguments.values("beside")) {
        const auto other = openEdgeTable(file);
        if (!other) return failed(other.error());
        if (auto added = addBeside(*known, *other); !added) return failed(added.error());
    }
    report(known->notes);
    if (arguments.has("confusion")) return runConfusion(arguments, *known);
    if (arguments.has("next") || arguments.has("measured") || arguments.has("save") || arguments.has("tell"))
        return runNext(arguments, *known, watch);
    std::optional<EdgeTable> asked;
    if (const auto rows = arguments.value("rows")) {
        auto read = openEdgeTable(*rows, *columns);
        if (!read) return failed(read.error());
        if (topologies) {
            if (auto added = addTopologies(*read, *topologies); !added) return failed(added.error());
        }
        report(read->notes);
        asked = std::move(*read);
    }
    watch.begin("telling devices from samples");
    const auto result = judgeEdge(*known, asked ? *asked : *known, *protocol);
    watch.end();
    if (!result) return failed(result.error());
    report(result->leftOut);
    report(result->notes);
    if (const auto csv = arguments.value("csv"); csv && !writeTo(*csv, edgeCsv(*result))) return Unanswered;
    if (const auto path = arguments.value("json")) {
        const std::string json = edgeJson(*result, *known, asked ? &*asked : nullptr, *protocol);
        return writeTo(*path, json) ? Answered : Unanswered;
    }
    if (arguments.value("csv") == "-") return Answered;
    return print(edgeText(*result, *known, *protocol)) ? Answered : Unanswered;
}

}  // namespace

const Command edgeCommand{
    .name = "edge",
    .positional = "FILE",
    .positionalRequired = true,
    .summary = "predict a device's latencies from a few samples and from other devices",
    .details =
        "FILE is a table (CSV) of measured networks: a column of codes (NAS-Bench-201 cells, FBNet blocks, OFA, HAT's "
        "columns) or names, and a column per device; or, with --device and --value, a row per measurement. For each "
        "target so many networks are drawn by seed as its samples, the others are predicted from them and from the "
        "other targets of FILE, and compared. With --samples 0 the other targets answer alone, with --no-prior a "
        "roofline. --rows FILE judges the rows of another table: on targets that both have the samples come from "
        "the first, on new ones from the second. Columns of published tables are known (presets/references/edge).",
    .options = {{"target", "NAME", "a column, or a device, to be predicted; more may follow; all if left out", true},
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
                {"with", "COLUMN", "that makes another network of it (input size, batch); more may follow", true},
                {"device", "COLUMN", "that names the device; more may follow", true},
                {"value", "COLUMN", "of the measurement, where devices are in rows; more may follow", true},
                {"whole", "COLUMN", "rows with one value of it are one device: its other runs are not known", false},
                {"only", "WORD", "networks whose name has it (int8); more may follow", true},
                {"without", "WORD", "networks whose name has it not; more may follow", true},
                {"topologies", "FOLDER",
                 "NAME.param and NAME.onnx of networks by name: predicts those that no device has too"},
                {"beside", "FILE",
                 "another table of networks by name: its devices are known too, and what it says of networks; more may "
                 "follow",
                 true},
                {"model", "NAME",
                 "predicts networks by additive counts (additive, the default) or by what a graph network learned from "
                 "known devices makes of them: graph; operators reads the operators alone, convolution and attention "
                 "with their neighbours"},
                {"tell", "NETWORK",
                 "a network that no device was measured with: a code; an ONNX file or any workload with --model "
                 "operators, or by name with --topologies; more may follow",
                 true},
                {"choose", "", "samples are chosen by what they say of the others, instead of drawn"},
                {"next", "N", "list what to measure next of a new device, and the error that is then said"},
                {"measured", "FILE", "what was measured of it so far: network,latency_ms"},
                {"save", "FILE", "what is predicted for the device, for `run --method edge-device(file=FILE)`"},
                {"confusion", "NAME", "twice: does the one device put networks in the other's order?", true},
                {"until", "SHARE", "list no more than this error needs, such as 0.05"},
                {"rates", "", "measurements are per second"},
                {"half", "WHICH", "of HAT's tables: encoder or decoder (if left out)"},
                {"csv", "FILE",
                 "each row's prediction and interval, of the last draw; with --next the list to fill in"},
                {"json", "[FILE]", "the figures as JSON; standard output if left out"}},
    .required = {},
    .examples = {{"orrery-cli edge nasbench201_latency_ms.csv --target raspi4 --samples 10 --repeats 50",
                  "how well the others are predicted from ten networks"},
                 {"orrery-cli edge ncnn_benchmark_ms.csv --device device --device run --value avg_ms --reference "
                  "squeezenet --reference mobilenet --reference resnet18",
                  "networks by name, from three references"},
                 {"orrery-cli edge ofa_latency_ms.csv --measured mine.csv --model graph --tell model.onnx",
                  "an imported network on a device of one's own"},
                 {"orrery-cli edge yolo_latency_ms.csv --next 8 --measured mine.csv --until 0.1",
                  "what to measure next of a device of one's own, and what that buys"}},
    .run = runEdge,
};

}  // namespace orrery::cli
