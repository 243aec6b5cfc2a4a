#include "store/export/search_lines.h"

#include "store/export/json_parts.h"

#include <cmath>
#include <limits>

namespace orrery {

namespace {

using store::Json;

// Not a number where nothing is known.
Json known(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}

PointAnswer pointFrom(const JsonValues& row, std::size_t objectives, std::optional<Diagnostic>& problem) {
    PointAnswer answer;
    answer.point = static_cast<std::uint64_t>(row.whole("point"));
    answer.violation = row.number("violation", 0.0);
    answer.refusal = row.text("refusal", "");
    std::vector<double> numbers;
    for (const JsonNode& each : row.list("values"))
        numbers.push_back(each.isNumber() ? each.number : std::numeric_limits<double>::quiet_NaN());
    if (numbers.size() != 3 * objectives && !problem)
        problem = fail("json.value", "a point has other numbers than the search has objectives").value();
    for (std::size_t k = 0; k + 2 < numbers.size(); k += 3)
        answer.values.push_back({numbers[k], numbers[k + 1], numbers[k + 2]});
    return answer;
}

}  // namespace

std::string beginLine(const std::string& question, std::uint64_t most) {
    return store::dumped({{"search", question}, {"most", most}}, -1) + "\n";
}

std::string pointsLine(const PointAnswers& seen, std::size_t first) {
    Json points = Json::array();
    for (std::size_t i = first; i < seen.size(); ++i) {
        Json values = Json::array();
        for (std::size_t at = i * seen.objectives; at < (i + 1) * seen.objectives; ++at)
            for (const double each : {seen.value[at], seen.low[at], seen.high[at]}) values.push_back(known(each));
        Json point{{"point", seen.points[i]}, {"values", std::move(values)}};
        if (seen.violation[i] != 0) point["violation"] = known(seen.violation[i]);
        if (!seen.answered(i)) point["refusal"] = seen.refusals[seen.refusal[i] - 1];
        points.push_back(std::move(point));
    }
    return store::dumped({{"points", std::move(points)}}, -1) + "\n";
}

std::string beatLine() {
    return "{\"beat\":true}\n";
}

std::string endLine(bool finished) {
    return store::dumped({{"finished", finished}}, -1) + "\n";
}

Expected<SearchLine> readSearchLine(std::string_view line, std::size_t objectives) {
    const auto wrong = [&] {
        return fail("search.line", fmt::format("`{}` is no line of a search", line.substr(0, 60)),
                    "what `orrery-cli search --progress json` prints");
    };
    const auto document = store::parseStored(line);
    if (!document || !document->isObject()) return wrong();
    std::optional<Diagnostic> problem;
    const JsonValues json(*document, problem);
    SearchLine out;
    if (json.has("search")) {
        out.kind = SearchLine::Kind::Begin;
        out.question = json.text("search");
        out.most = static_cast<std::uint64_t>(json.whole("most", 0));
    } else if (json.has("points")) {
        out.kind = SearchLine::Kind::Points;
        for (const JsonNode& each : json.list("points"))
            out.points.push_back(pointFrom(json.of(each), objectives, problem));
    } else if (json.has("finished")) {
        out.kind = SearchLine::Kind::End;
        out.finished = json.truth("finished", false);
    } else if (!json.has("beat")) {
        return wrong();
    }
    if (problem) return wrong();
    return out;
}

}  // namespace orrery
