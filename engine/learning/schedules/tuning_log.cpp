#include "learning/schedules/tuning_log.h"

#include "base/text/csv_stream.h"
#include "base/text/json_node.h"
#include "base/text/words.h"
#include "learning/schedules/ansor_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace orrery {

namespace {

constexpr std::size_t mostRows = 4'000'000;

class RowsOfLog {
public:
    explicit RowsOfLog(const std::string& path) : path_(path) {}
    void add(TunedRow row) {
        auto work = readTensorWork(row.task, row.workload);
        if (!work) {
            work.error().message = row.task + ": " + work.error().message;
            return skip(std::move(work.error()), row.line);
        }
        row.work = *work;
        keep(std::move(row));
    }
    void keep(TunedRow row) { log_.rows.push_back(std::move(row)); }
    void skip(Diagnostic why, int line) {
        if (!named_.insert(why.message).second) return;
        why.severity = Severity::Warning;
        why.place = {path_, line};
        log_.skipped.push_back(std::move(why));
    }
    Diagnostic at(int line, std::string message, std::string expected) const {
        return fail("schedules.row", std::move(message), std::move(expected), "", {path_, line}).value();
    }
    bool full() const { return log_.rows.size() >= mostRows; }
    Expected<TuningLog> taken() {
        if (log_.rows.empty() && log_.skipped.empty()) {
            return fail("schedules.empty", "no schedule stands in the file", "a row per schedule that was tried", "",
                        {path_});
        }
        return std::move(log_);
    }

private:
    std::string path_;
    TuningLog log_;
    std::set<std::string> named_;
};

constexpr std::array<std::string_view, 5> columnsOfTable{"device", "task", "workload", "config", "time_us"};

Expected<TuningLog> readTable(CsvStream& stream, const std::string& path) {
    RowsOfLog rows(path);
    auto more = stream.next();
    if (!more) return Unexpected(more.error());
    std::vector<std::string> names;
    for (const std::string_view cell : stream.cells()) names.emplace_back(cell);
    const auto column = [&](std::string_view name) {
        const auto found = std::find(names.begin(), names.end(), name);
        return found == names.end() ? names.size() : static_cast<std::size_t>(found - names.begin());
    };
    const std::size_t device = column("device"), task = column("task"), workload = column("workload"),
                      config = column("config"), time = column("time_us"), platform = column("platform"),
                      error = column("err");
    for (const std::string_view name : columnsOfTable) {
        if (column(name) == names.size()) {
            return fail("schedules.no-column", fmt::format("there is no column `{}`", name),
                        "device, task, workload, config, time_us", "AutoTVM's own logs end in .json or .log",
                        {path, 1});
        }
    }
    while ((more = stream.next()) && *more) {
        const auto cells = stream.cells();
        if (cells.size() < names.size()) {
            return Unexpected(rows.at(stream.line(), "the row has fewer cells than the first line has names",
                                      fmt::format("{} cells", names.size())));
        }
        if (rows.full()) return Unexpected(rows.at(stream.line(), "the table is too long", "4 million rows at most"));
        TunedRow row;
        row.device = platform < names.size() ? fmt::format("{} {}", cells[platform], cells[device]) : cells[device];
        row.task = cells[task], row.workload = cells[workload];
        row.knobs = readKnobs(cells[config]);
        row.line = stream.line();
        const bool failed = error < names.size() && !cells[error].empty() && cells[error] != "0";
        if (!cells[time].empty() && !failed) {
            const auto us = numberIn(cells[time]);
            if (!us || !(*us > 0)) {
                return Unexpected(rows.at(row.line, fmt::format("`time_us` is `{}`", cells[time]),
                                          "microseconds above 0, or nothing where the schedule failed"));
            }
            row.seconds = *us * 1e-6;
        }
        rows.add(std::move(row));
    }
    if (!more) return Unexpected(more.error());
    return rows.taken();
}

// One argument of a task: `["TENSOR", [1, 64], "float32"]`, `[1, 1]`, `"float32"`, null.
std::string wordOf(const JsonNode& node) {
    if (node.isArray() && node.items.size() >= 3 && node.items[0].text == "TENSOR") {
        std::string text;
        for (const JsonNode& extent : node.items[1].items) text += (text.empty() ? "" : "x") + extent.text;
        return text + ":" + node.items[2].text;
    }
    if (!node.isArray()) return node.isNull() ? "None" : node.text;
    std::string text;
    for (const JsonNode& each : node.items) text += (text.empty() ? "" : " ") + wordOf(each);
    return "(" + text + ")";
}

bool isAutoTvmRecord(const JsonNode& record) {
    const JsonNode *input = record.find("input"), *config = record.find("config"), *result = record.find("result");
    return input && input->items.size() >= 3 && config && config->find("entity") && result &&
           result->items.size() >= 2 && result->items[0].isArray();
}

bool holdsRecords(std::string_view name) {
    return name.ends_with(".json") || name.ends_with(".log") || name.ends_with(".json.gz");
}

Expected<TuningLog> readRecords(CsvStream& stream, const std::string& path) {
    RowsOfLog rows(path);
    std::string_view text;
    Expected<bool> more = true;
    while ((more = stream.next(text)) && *more) {
        const int line = stream.line();
        if (trimmed(text).starts_with('#')) continue;
        auto record = parseJson(text, path, "schedules");
        if (!record) {
            record.error().place.line = line;
            return Unexpected(record.error());
        }
        if (rows.full()) return Unexpected(rows.at(line, "the log is too long", "4 million records at most"));
        if (isAnsorRecord(*record)) {
            auto row = readAnsorRecord(*record);
            if (row) {
                row->line = line;
                rows.keep(std::move(*row));
            } else if (row.error().code == "schedules.workload") {
                rows.skip(std::move(row.error()), line);
            } else {
                row.error().place = {path, line};
                return Unexpected(row.error());
            }
            continue;
        }
        if (!isAutoTvmRecord(*record)) {
            return Unexpected(rows.at(line, "this is no record of AutoTVM, nor of Ansor",
                                      "a line of JSON with `input`, `config` and `result`, or with `i` and `r`"));
        }
        const JsonNode *input = record->find("input"), *config = record->find("config"),
                       *result = record->find("result");
        TunedRow row;
        row.device = deviceOfTarget(input->items[0].text);
        row.task = input->items[1].text;
        row.line = line;
        for (const JsonNode& each : input->items[2].items)
            row.workload += (row.workload.empty() ? "" : ";") + wordOf(each);
        for (const JsonNode& each : config->find("entity")->items) {
            if (each.items.size() < 3) continue;
            ScheduleKnob knob{each.items[0].text, {}, {}};
            const JsonNode& value = each.items[2];
            if (value.isArray()) {
                for (const JsonNode& part : value.items)
                    if (part.isNumber()) knob.parts.push_back(part.number);
            } else if (value.isNumber()) {
                knob.parts.push_back(value.number);
            } else {
                knob.word = value.text;
            }
            row.knobs.push_back(std::move(knob));
        }
        // The mean of its repeats; an error's number stands behind it.
        double sum = 0;
        for (const JsonNode& each : result->items[0].items) sum += each.isNumber() ? each.number : 0;
        const bool failed = result->items[1].isNumber() && result->items[1].number != 0;
        if (!failed && !result->items[0].items.empty())
            row.seconds = sum / static_cast<double>(result->items[0].items.size());
        if (!(row.seconds > 0) || !std::isfinite(row.seconds)) row.seconds = 0;
        rows.add(std::move(row));
    }
    if (!more) return Unexpected(more.error());
    return rows.taken();
}

}  // namespace

std::string deviceOfTarget(std::string_view target) {
    std::string kind, model;
    for (const std::string_view word : splitTrimmed(target, ' ')) {
        if (kind.empty()) kind = word;
        for (const std::string_view key : {"-model=", "-device=", "-mcpu="})
            if (model.empty() && word.starts_with(key)) model = word.substr(key.size());
    }
    return model.empty() ? kind : kind + " " + model;
}

std::vector<ScheduleKnob> readKnobs(std::string_view config) {
    std::vector<ScheduleKnob> knobs;
    for (const std::string_view each : splitTrimmed(config, ';')) {
        const auto equals = each.find('=');
        if (equals == each.npos) continue;
        ScheduleKnob knob{std::string(each.substr(0, equals)), {}, {}};
        for (const std::string_view part : splitTrimmed(each.substr(equals + 1), ',')) {
            const auto number = numberIn(part);
            if (!number) {
                knob.parts.clear();
                knob.word = each.substr(equals + 1);
                break;
            }
            knob.parts.push_back(*number);
        }
        knobs.push_back(std::move(knob));
    }
    return knobs;
}

bool isTuningLog(const std::string& path) {
    auto stream = CsvStream::open(path);
    if (!stream) return false;
    if (!holdsRecords(path)) {
        if (const auto first = stream->next(); !first || !*first) return false;
        const auto cells = stream->cells();
        return std::ranges::all_of(columnsOfTable, [&](std::string_view name) {
            return std::find(cells.begin(), cells.end(), name) != cells.end();
        });
    }
    std::string_view text;
    for (auto more = stream->next(text); more && *more; more = stream->next(text)) {
        if (trimmed(text).empty() || trimmed(text).starts_with('#')) continue;
        const auto record = parseJson(text, path, "schedules");
        return record && (isAnsorRecord(*record) || isAutoTvmRecord(*record));
    }
    return false;
}

Expected<TuningLog> readTuningLog(const std::string& path) {
    auto stream = CsvStream::open(path);
    if (!stream) return Unexpected(stream.error());
    return holdsRecords(path) ? readRecords(*stream, path) : readTable(*stream, path);
}

}  // namespace orrery
