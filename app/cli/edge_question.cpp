#include "app/cli/edge_question.h"

#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/csv_cell.h"
#include "base/text/words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

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

Json shareOrNull(double share) {
    return std::isfinite(share) ? Json(share) : Json(nullptr);
}

Json jsonOf(const EdgeJudgement& j) {
    Json json{{"target", j.target},
              {"rows", j.rows},
              {"samples", j.samples},
              {"mape", j.mape},
              {"median", j.median},
              {"spearman", j.spearman},
              {"within_10", j.within10},
              {"top_tenth", j.top},
              {"coverage", j.coverage},
              {"noise", j.noise},
              {"by_simple", j.simple},
              {"far_flagged", shareOrNull(j.flags.found())},
              {"flag_precision", shareOrNull(j.flags.precision())}};
    json["simple"] = {{"mape", j.simpleMape}, {"median", j.simpleMedian}, {"spearman", j.simpleSpearman}};
    if (j.untold > 0) json["untold"] = j.untold;
    if (!j.deadCode.empty()) json["dead_code"] = j.deadCode;
    return json;
}

std::string percentOf(double share) {
    return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "–";
}

}  // namespace

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

Expected<EdgeProtocol> edgeProtocolOf(const Arguments& arguments) {
    EdgeProtocol protocol;
    protocol.targets = arguments.values("target");
    protocol.priorTargets = arguments.values("known");
    protocol.references = arguments.values("reference");
    protocol.prior = !arguments.has("no-prior");
    protocol.choose = arguments.has("choose");
    if (const auto model = arguments.value("model")) {
        const auto known = edgeModel(*model);
        if (!known)
            return fail("usage.value", fmt::format("`--model {}`", *model),
                        "additive, graph, operators, convolution or attention");
        protocol.model = *known;
    }
    const auto samples = wholeOption(arguments, "samples", 10, 1'000'000);
    if (!samples) return Unexpected(samples.error());
    if (protocol.choose && !protocol.references.empty())
        return fail("usage.twice", "`--choose` and `--reference` both say what is measured", "one of them");
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

Expected<EdgeColumns> edgeColumnsOf(const Arguments& arguments) {
    EdgeColumns columns;
    columns.network = arguments.value("network").value_or("");
    columns.with = arguments.values("with");
    columns.devices = arguments.values("device");
    columns.values = arguments.values("value");
    columns.whole = arguments.value("whole").value_or("");
    columns.only = arguments.values("only");
    columns.without = arguments.values("without");
    columns.rates = arguments.has("rates");
    columns.half = arguments.value("half").value_or("decoder");
    if (columns.half != "encoder" && columns.half != "decoder")
        return fail("usage.value", fmt::format("`--half {}`", columns.half), "encoder or decoder");
    if (columns.devices.empty() != columns.values.empty()) {
        return fail("usage.missing", "devices in rows need the column of their value, and the other way round",
                    "--device COLUMN … --value COLUMN");
    }
    return columns;
}

std::string edgeText(const EdgeResult& result, const EdgeTable& known, const EdgeProtocol& protocol) {
    Table table({"target", "rows", "samples", "MAPE", "median", "rank", "within 10 %", "fastest tenth", "in 90 %",
                 "off by 2", "simple MAPE", "simple rank", "predicted by", "dead code"},
                {false, true, true, true, true, true, true, true, true, true, true, true, false, false});
    const std::string usual = known.space.empty()                     ? "devices"
                              : result.knownDevices == 0              ? "roofline"
                              : protocol.model == EdgeModel::Additive ? "prior"
                                                                      : "graph";
    const auto line = [&](const EdgeJudgement& j) {
        table.add({j.target, count(static_cast<double>(j.rows)), fmt::format("{:g}", j.samples), percentOf(j.mape),
                   percentOf(j.median), fmt::format("{:.4f}", j.spearman), percentOf(j.within10), percentOf(j.top),
                   percentOf(j.coverage),
                   j.flags.far > 0 ? fmt::format("{:.0f} of {:.0f}", j.flags.both, j.flags.far) : std::string("–"),
                   percentOf(j.simpleMape), fmt::format("{:.4f}", j.simpleSpearman),
                   j.simple == 0   ? usual
                   : j.simple == 1 ? std::string("simple")
                                   : fmt::format("simple in {:.0f} %", 100 * j.simple),
                   j.deadCode.empty() ? "–" : j.deadCode});
    };
    for (const EdgeJudgement& each : result.targets) line(each);
    if (result.targets.size() > 1) line(result.mean);
    const EdgeFlags& flags = result.mean.flags;
    return fmt::format(
        "{}, {}: {} samples of each target, {} repetition(s), seed {}; prior: {}\n\n{}\n"
        "Rows that were sampled are not judged{}. Off by 2: rows more than twice or half, how many were flagged; {} of "
        "all flags are right. Told by: the simple model where it was no worse on what was left out. Telling one "
        "network from its features takes {:.2f} µs of a processor.\n",
        known.path, known.space.empty() ? "networks by name" : known.space, protocol.samples, protocol.repeats,
        protocol.seed, result.knownDevices > 0 ? fmt::format("{} other targets", result.knownDevices) : "a roofline",
        table.text(),
        result.mean.untold > 0 ? fmt::format(", nor are {} of networks that no other target has", result.mean.untold)
                               : std::string(),
        percentOf(flags.precision()), 1e6 * result.secondsPerNetwork);
}

std::string edgeJson(const EdgeResult& result, const EdgeTable& known, const EdgeTable* asked,
                     const EdgeProtocol& protocol) {
    Json json{{"format", "orrery-edge"},
              {"version", 1},
              {"table", known.path},
              {"space", known.space},
              {"model", toText(protocol.model)},
              {"samples", protocol.samples},
              {"seed", protocol.seed},
              {"repeats", protocol.repeats},
              {"known_devices", result.knownDevices}};
    if (asked) json["rows"] = asked->path;
    json["targets"] = Json::array();
    for (const EdgeJudgement& each : result.targets) json["targets"].push_back(jsonOf(each));
    json["mean"] = jsonOf(result.mean);
    return json.dump(2) + "\n";
}

std::string edgeCsv(const EdgeResult& result) {
    std::string out = "target,network,measured,predicted,low,high,domain\n";
    for (const EdgePrediction& each : result.last) {
        out += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.6g},{}\n", csvCell(each.target), csvCell(each.network),
                           each.measured, each.predicted.mean, each.predicted.low, each.predicted.high,
                           toText(each.doubt));
    }
    return out;
}

std::string edgeTableText(const EdgeTable& table) {
    Table targets({"target", "networks", "least", "most", "one device with"}, {false, true, true, true, false});
    for (std::size_t t = 0; t < table.targets.size(); ++t) {
        double rows = 0, least = 0, most = 0;
        for (const double each : table.values[t]) {
            if (!(each > 0)) continue;
            least = rows > 0 ? std::min(least, each) : each;
            most = std::max(most, each);
            rows += 1;
        }
        targets.add({table.targets[t], count(rows), fmt::format("{:.4g}", least), fmt::format("{:.4g}", most),
                     t < table.groups.size() ? table.groups[t] : ""});
    }
    std::string text =
        fmt::format("{}: {} networks{}{} on {} targets\n\n{}\n", table.path,
                    count(static_cast<double>(table.networks.size())), table.space.empty() ? " by name" : " of ",
                    table.space, count(static_cast<double>(table.targets.size())), targets.text());
    for (std::size_t n = 0; n < std::min<std::size_t>(5, table.networks.size()); ++n) text += table.networks[n] + "\n";
    return text;
}

}  // namespace orrery::cli
