#include "study/exploration/table_space.h"

#include "base/hash.h"
#include "base/text/csv_stream.h"
#include "base/text/nearest.h"
#include "base/text/words.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

namespace orrery {

namespace {

Place lineOf(const PointTable& table, std::size_t row) {
    return {table.path, table.lines[row], 0, {}};
}

class TableSource : public PointSource {
public:
    TableSource(std::string title, std::vector<PointAnswer> answers, std::string identity)
        : title_(std::move(title)), answers_(std::move(answers)), identity_(std::move(identity)) {}
    PointAnswer answerAt(const SearchProblem& problem, std::uint64_t point, const SearchOptions&) const override {
        if (point >= answers_.size()) return refusedPoint(problem, "not in the table");
        return answers_[point];
    }
    std::string title() const override { return title_; }
    std::string identity() const override { return identity_; }

private:
    std::string title_;
    std::vector<PointAnswer> answers_;
    std::string identity_;
};

Expected<std::size_t> columnOf(const PointTable& table, const std::string& name) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
    return fail("table.column", fmt::format("there is no column `{}`", name), quotedList(table.columns, "or"),
                didYouMean(name, table.columns), {table.path, 1, 0, {}});
}

bool sameValue(const std::string& a, const std::string& b) {
    if (a == b) return true;
    const auto x = numberIn(a), y = numberIn(b);
    return x && y && *x == *y;
}

Expected<Knob> columnKnob(const KnobSetting& setting, const PointTable& table, std::size_t column) {
    Knob knob{.of = KnobOf::Column, .path = setting.path};
    if (!setting.range.from.empty() || !setting.range.to.empty()) {
        return fail("search.range", fmt::format("`{}` is a column: it has the values of its rows", setting.path),
                    "a list of values, or none for all");
    }
    std::set<std::string> distinct;
    for (const auto& row : table.rows) distinct.insert(row[column]);
    for (const std::string& wanted : setting.values) {
        if (std::none_of(distinct.begin(), distinct.end(), [&](const auto& own) { return sameValue(own, wanted); })) {
            return fail("search.value", fmt::format("no row has `{}` at {}", setting.path, wanted), "",
                        didYouMean(wanted, {distinct.begin(), distinct.end()}));
        }
    }
    knob.words = std::any_of(distinct.begin(), distinct.end(), [](const auto& text) { return !numberIn(text); });
    for (const std::string& value : distinct) {
        const bool wanted =
            setting.values.empty() || std::any_of(setting.values.begin(), setting.values.end(),
                                                  [&](const auto& each) { return sameValue(each, value); });
        const bool known = !knob.words && std::any_of(knob.values.begin(), knob.values.end(),
                                                      [&](const auto& each) { return sameValue(each, value); });
        if (wanted && !known) knob.values.push_back(value);
    }
    if (!knob.words) {
        std::sort(knob.values.begin(), knob.values.end(),
                  [](const auto& a, const auto& b) { return *numberIn(a) < *numberIn(b); });
    }
    for (std::size_t i = 0; i < knob.values.size(); ++i)
        knob.numbers.push_back(knob.words ? static_cast<double>(i) : *numberIn(knob.values[i]));
    knob.logarithmic = !knob.words && knob.numbers.front() > 0 && knob.numbers.back() > 100 * knob.numbers.front();
    return knob;
}

// Level of each of the column's cells; nothing where the knob does not take its value.
std::map<std::string, std::uint32_t> levelsOf(const Knob& knob, const PointTable& table, std::size_t column) {
    std::map<double, std::uint32_t> numbers;
    std::map<std::string, std::uint32_t> levels;
    for (std::uint32_t level = 0; level < knob.values.size(); ++level) {
        levels[knob.values[level]] = level;
        numbers[knob.numbers[level]] = level;
    }
    for (const auto& row : table.rows) {
        if (knob.words || levels.contains(row[column])) continue;
        if (const auto same = numbers.find(*numberIn(row[column])); same != numbers.end())
            levels[row[column]] = same->second;
    }
    return levels;
}

Expected<double> numberAt(const PointTable& table, std::size_t row, std::size_t column) {
    if (const auto number = numberIn(table.rows[row][column])) return *number;
    return fail("table.number",
                fmt::format("`{}` of `{}` is no number", table.rows[row][column], table.columns[column]),
                "a finite number in every row", "", lineOf(table, row));
}

Expected<PointAnswer> answerOf(const PointTable& table, std::size_t row, std::span<const Objective> objectives,
                               std::span<const Constraint> constraints) {
    PointAnswer answer;
    for (const Objective& objective : objectives) {
        const auto number = numberAt(table, row, *columnOf(table, objective.quantity));
        if (!number) return Unexpected(number.error());
        answer.values.push_back({*number, *number, *number});
    }
    for (const Constraint& constraint : constraints) {
        const auto number = numberAt(table, row, *columnOf(table, constraint.quantity));
        if (!number) return Unexpected(number.error());
        const double beyond = constraint.atLeast ? constraint.limit - *number : *number - constraint.limit;
        if (beyond > 0) answer.violation += beyond / std::max(std::abs(constraint.limit), 1e-300);
    }
    return answer;
}

bool sameAnswer(const PointAnswer& a, const PointAnswer& b) {
    return a.violation == b.violation &&
           std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                      [](const Ranged& x, const Ranged& y) { return x.value == y.value; });
}

Unexpected inPart(std::string part, Diagnostic error) {
    if (error.place.file.empty()) error.place.path = std::move(part);
    return Unexpected(std::move(error));
}

}  // namespace

Expected<PointTable> readPointTable(const std::string& path) {
    auto stream = CsvStream::open(path);
    if (!stream) return Unexpected(stream.error());
    PointTable table{path, {}, {}, {}};
    for (;;) {
        const auto more = stream->next();
        if (!more) return Unexpected(more.error());
        if (!*more) break;
        const auto cells = stream->cells();
        const Place place{path, stream->line(), 0, {}};
        if (table.columns.empty()) {
            table.columns.assign(cells.begin(), cells.end());
            std::set<std::string_view> names;
            for (const std::string& name : table.columns) {
                if (!names.insert(name).second)
                    return fail("table.columns", fmt::format("two columns are called `{}`", name), "", "", place);
            }
            continue;
        }
        if (cells.size() != table.columns.size()) {
            return fail("table.cells", fmt::format("the row has {} cells", cells.size()),
                        fmt::format("{}, as the header", table.columns.size()), "", place);
        }
        table.rows.emplace_back(cells.begin(), cells.end());
        table.lines.push_back(stream->line());
    }
    if (table.rows.empty()) {
        return fail("table.empty", "the table has no rows", "a header and at least one row", "",
                    {path, stream->line(), 0, {}});
    }
    return table;
}

Expected<SearchProblem> tableProblem(const SearchSettings& settings, const PointTable& table, Diagnostics& warnings) {
    std::vector<Knob> knobs;
    std::vector<std::size_t> columns;
    std::vector<std::map<std::string, std::uint32_t>> levels;
    if (settings.knobs.empty())
        return inPart("knobs", fail("search.empty", "nothing may change", "at least one column").value());
    for (const KnobSetting& setting : settings.knobs) {
        const std::string part = "knobs." + setting.path;
        const auto column = columnOf(table, setting.path);
        if (!column) return inPart(part, column.error());
        if (std::find(columns.begin(), columns.end(), *column) != columns.end())
            return inPart(part, fail("table.column", fmt::format("`{}` stands twice", setting.path)).value());
        auto knob = columnKnob(setting, table, *column);
        if (!knob) return inPart(part, knob.error());
        columns.push_back(*column);
        levels.push_back(levelsOf(*knob, table, *column));
        knobs.push_back(std::move(*knob));
    }
    std::vector<Objective> objectives;
    std::vector<Constraint> constraints;
    const auto isOutcome = [&](const std::string& quantity) -> Expected<void> {
        const auto column = columnOf(table, quantity);
        if (!column) return Unexpected(column.error());
        if (std::find(columns.begin(), columns.end(), *column) == columns.end()) return {};
        return fail("table.column", fmt::format("`{}` is a knob: nothing finds it out", quantity), "another column");
    };
    for (const std::string& text : settings.objectives) {
        auto objective = readObjective(text);
        if (!objective) return inPart("objectives", objective.error());
        if (auto fine = isOutcome(objective->quantity); !fine) return inPart("objectives", fine.error());
        objectives.push_back(std::move(*objective));
    }
    if (objectives.empty())
        return inPart("objectives",
                      fail("search.objective", "nothing says which point is better", "at least one column").value());
    for (const std::string& text : settings.constraints) {
        auto constraint = readConstraint(text);
        if (!constraint) return inPart("constraints", constraint.error());
        if (auto fine = isOutcome(constraint->quantity); !fine) return inPart("constraints", fine.error());
        constraints.push_back(std::move(*constraint));
    }
    // Rows one by one: their point, or the earlier row that they repeat.
    std::vector<std::uint32_t> points;
    std::vector<PointAnswer> answers;
    std::map<std::vector<std::uint32_t>, std::pair<std::size_t, std::size_t>> seen;  // row and point
    std::size_t repeated = 0, firstRepeat = 0;
    Hash hash;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        std::vector<std::uint32_t> own;
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const auto level = levels[k].find(table.rows[row][columns[k]]);
            if (level == levels[k].end()) break;
            own.push_back(level->second);
        }
        if (own.size() < columns.size()) continue;
        auto answer = answerOf(table, row, objectives, constraints);
        if (!answer) return inPart("objectives", answer.error());
        const auto [at, isNew] = seen.emplace(own, std::pair{row, answers.size()});
        if (!isNew) {
            if (!sameAnswer(answers[at->second.second], *answer)) {
                return fail("table.twice",
                            fmt::format("the point of line {} stands here again with other numbers",
                                        table.lines[at->second.first]),
                            "one row for each point", "name every column that decides the numbers as a knob",
                            lineOf(table, row));
            }
            if (repeated++ == 0) firstRepeat = row;
            continue;
        }
        for (const std::uint32_t level : own) hash.add(std::uint64_t{level});
        for (const Ranged& ranged : answer->values) hash.add(ranged.value);
        hash.add(answer->violation);
        points.insert(points.end(), own.begin(), own.end());
        answers.push_back(std::move(*answer));
    }
    if (repeated > 0) {
        warnings.push_back(warning("table.repeated", fmt::format("{} rows repeat an earlier one", repeated),
                                   "they are left out", lineOf(table, firstRepeat)));
    }
    auto space = SearchSpace::ofRows(std::move(knobs), std::move(points));
    if (!space) return inPart("knobs", space.error());
    SearchProblem problem{std::move(*space), "table", std::move(objectives), std::move(constraints), 0, settings.seed};
    problem.source = std::make_shared<TableSource>("the table " + std::filesystem::path(table.path).filename().string(),
                                                   std::move(answers), "table " + hash.hex());
    return problem;
}

}  // namespace orrery
