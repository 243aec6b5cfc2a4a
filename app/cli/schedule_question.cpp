#include "app/cli/schedule_question.h"

#include "app/cli/output.h"
#include "base/text/csv_cell.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery::cli {

namespace {

std::string percentOf(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

// Over operators.
struct RankMean {
    RankFigures sum;
    std::size_t count = 0;
    void add(const RankFigures& one) {
        sum.spearman += one.spearman, sum.top1 += one.top1, sum.top10 += one.top10;
        ++count;
    }
    std::string text() const {
        const auto n = static_cast<double>(count);
        return fmt::format("Spearman {:.3f}, first {}, best of ten {} ({} operators)", sum.spearman / n,
                           percentOf(sum.top1 / n), percentOf(sum.top10 / n), count);
    }
};

// How far what was stated beside the shares held, over operators.
struct Held {
    std::size_t operators = 0, first = 0, ten = 0;  ///< whose first choice, and best of ten, kept their bounds
    double coverage = 0, aimed = 0, chance = 0;     ///< means: schedules inside, and what both are stated at
};
Held heldOf(const ScheduleJudgement& judged) {
    Held held;
    for (const RankedOperator& one : judged.operators) {
        if (!one.stated) continue;
        ++held.operators;
        held.first += one.top1 >= one.stated->first.share, held.ten += one.top10 >= one.stated->ten.share;
        held.coverage += one.stated->coverage, held.aimed += one.stated->chance;
        held.chance += one.stated->first.chance;
    }
    if (held.operators > 0) {
        const auto count = static_cast<double>(held.operators);
        held.coverage /= count, held.aimed /= count, held.chance /= count;
    }
    return held;
}

std::string heldText(const Held& held) {
    return fmt::format(
        "`inside`: schedules inside the intervals of their shares, which other operators gave; {} in the mean. By "
        "those "
        "operators {:.0f} % or more are expected.\n`first at least`: what the first choice reaches in {:.0f} % of "
        "operators; {} of {} did.\n",
        percentOf(held.coverage), std::floor(100 * held.aimed + 1e-6), 100 * held.chance, held.first, held.operators);
}

}  // namespace

Expected<std::vector<TunedRow>> readLogs(const std::vector<std::string>& paths) {
    std::vector<TunedRow> rows;
    for (const std::string& path : paths) {
        auto log = readTuningLog(path);
        if (!log) return Unexpected(log.error());
        report(log->skipped);
        rows.insert(rows.end(), std::make_move_iterator(log->rows.begin()), std::make_move_iterator(log->rows.end()));
    }
    addKnownDevices(rows);
    return rows;
}

std::string schedulesText(const ScheduleJudgement& judged) {
    std::string text;
    if (!judged.operators.empty()) {
        const bool priced = std::any_of(judged.operators.begin(), judged.operators.end(),
                                        [](const RankedOperator& one) { return one.analytic.has_value(); });
        std::vector<std::string> names{"device",   "task",  "operator",    "schedules",    "failed",
                                       "Spearman", "first", "best of ten", "ten by chance"};
        std::vector<bool> numbers{false, false, false, true, true, true, true, true, true};
        const bool stated = std::any_of(judged.operators.begin(), judged.operators.end(),
                                        [](const RankedOperator& one) { return one.stated.has_value(); });
        if (stated) {
            for (const char* name : {"first at least", "inside"}) names.emplace_back(name);
            numbers.insert(numbers.end(), {true, true});
        }
        if (priced) {
            for (const char* name : {"priced on", "Spearman", "first", "best of ten"}) names.emplace_back(name);
            numbers.insert(numbers.end(), {false, true, true, true});
        }
        Table table(names, numbers);
        std::map<std::string, RankMean> means;
        for (const RankedOperator& one : judged.operators) {
            std::vector<std::string> row{one.device,
                                         one.task,
                                         one.workload,
                                         std::to_string(one.schedules),
                                         std::to_string(one.failed),
                                         fmt::format("{:.3f}", one.spearman),
                                         percentOf(one.top1),
                                         percentOf(one.top10),
                                         percentOf(one.chance10)};
            means["the model"].add(one);
            if (one.stated) {
                row.push_back(percentOf(one.stated->first.share)), row.push_back(percentOf(one.stated->coverage));
            } else if (stated) {
                row.insert(row.end(), 2, "");
            }
            if (one.analytic) {
                for (const std::string& cell : {one.drawn, fmt::format("{:.3f}", one.analytic->spearman),
                                                percentOf(one.analytic->top1), percentOf(one.analytic->top10)})
                    row.push_back(cell);
                means["its nest on the drawn device"].add(*one.analytic);
            } else if (priced) {
                row.insert(row.end(), 4, "");
            }
            table.add(row);
        }
        text += table.text() +
                "\nAll of operators that the model had not seen. `first`: best time ÷ time of its first choice.\n";
        if (priced)
            text += "Behind `priced on` the same for what that drawn device is said to take, from the loops alone.\n";
        for (const auto& [who, mean] : means) text += fmt::format("Mean of {}: {}\n", who, mean.text());
        if (stated) text += heldText(heldOf(judged));
    }
    if (!judged.devices.empty()) {
        Table table({"device", "operators", "given", "MAPE", "median", "Spearman", "in 90 %"},
                    {false, true, true, true, true, true, true});
        const auto add = [&](const JudgedTimes& one) {
            table.add({one.device, std::to_string(one.rows), std::to_string(one.anchors), percentOf(one.mape),
                       percentOf(one.median), fmt::format("{:.3f}", one.spearman), percentOf(one.coverage)});
        };
        for (const JudgedTimes& one : judged.devices) add(one);
        add(judged.all);
        text += table.text() +
                "\nTimes of the best schedule of operators that the model had not seen; `given`: rows of the device "
                "that it had.\n";
    }
    return text;
}

namespace {

nlohmann::ordered_json jsonOf(const ShareBound& bound) {
    return {{"at_least", bound.share}, {"chance", bound.chance}};
}

}  // namespace

std::string schedulesJson(const ScheduleJudgement& judged, std::span<const TunedRow> rows, std::string_view split) {
    nlohmann::ordered_json out{{"format", "orrery-schedules"}, {"version", 1}, {"split", split}};
    out["operators"] = nlohmann::ordered_json::array();
    for (const RankedOperator& one : judged.operators) {
        out["operators"].push_back({{"device", one.device},
                                    {"task", one.task},
                                    {"workload", one.workload},
                                    {"schedules", one.schedules},
                                    {"failed", one.failed},
                                    {"spearman", one.spearman},
                                    {"top1", one.top1},
                                    {"top10", one.top10},
                                    {"chance10", one.chance10}});
        if (one.analytic) {
            out["operators"].back()["analytic"] = {{"hardware", one.drawn},
                                                   {"spearman", one.analytic->spearman},
                                                   {"top1", one.analytic->top1},
                                                   {"top10", one.analytic->top10}};
        }
        if (one.stated) {
            out["operators"].back()["stated"] = {{"coverage", one.stated->coverage},
                                                 {"chance", one.stated->chance},
                                                 {"first", jsonOf(one.stated->first)},
                                                 {"ten", jsonOf(one.stated->ten)},
                                                 {"operators", one.stated->operators}};
        }
    }
    if (const Held held = heldOf(judged); held.operators > 0) {
        out["intervals"] = {{"operators", held.operators},
                            {"coverage", held.coverage},
                            {"chance", held.aimed},
                            {"first_held", held.first},
                            {"ten_held", held.ten}};
    }
    const auto times = [](const JudgedTimes& one) {
        return nlohmann::ordered_json{{"device", one.device},    {"rows", one.rows},     {"anchors", one.anchors},
                                      {"mape", one.mape},        {"median", one.median}, {"spearman", one.spearman},
                                      {"coverage", one.coverage}};
    };
    out["devices"] = nlohmann::ordered_json::array();
    for (const JudgedTimes& one : judged.devices) out["devices"].push_back(times(one));
    if (!judged.devices.empty()) out["all"] = times(judged.all);
    // Shares of the best where operators were ranked, else microseconds.
    const bool ranks = !judged.operators.empty();
    const double unit = ranks ? 1 : 1e6;
    out["rows"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (std::isnan(judged.said[i])) continue;
        nlohmann::ordered_json row{{"line", rows[i].line}, {"predicted", unit * judged.said[i]}};
        if (!std::isnan(judged.low[i])) row["low"] = unit * judged.low[i], row["high"] = unit * judged.high[i];
        out["rows"].push_back(std::move(row));
    }
    return out.dump(2) + "\n";
}

std::string schedulesCsv(const ScheduleJudgement& judged, std::span<const TunedRow> rows) {
    const bool ranks = !judged.operators.empty();
    std::string text = fmt::format("device,task,workload,line,time_us,{}\n",
                                   ranks ? "share_of_best,low,high,analytic_us" : "predicted_us,low_us,high_us");
    // Empty where it failed, cannot run, is not priced, or has no interval.
    const auto cell = [](double value, double unit) {
        return value >= 0 ? fmt::format("{:.6g}", unit * value) : std::string();
    };
    const auto time = [&](double seconds) { return seconds > 0 ? cell(seconds, 1e6) : std::string(); };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (std::isnan(judged.said[i])) continue;
        const double unit = ranks ? 1 : 1e6;
        text += fmt::format("{},{},{},{},{},{},{},{}", csvCell(rows[i].device), csvCell(rows[i].task),
                            csvCell(rows[i].workload), rows[i].line, time(rows[i].seconds), cell(judged.said[i], unit),
                            cell(judged.low[i], unit), cell(judged.high[i], unit));
        text += ranks ? "," + time(judged.analytic[i]) + "\n" : "\n";
    }
    return text;
}

std::string logText(std::string_view path, std::span<const TunedRow> rows) {
    struct Device {
        std::size_t operators = 0, schedules = 0, failed = 0, most = 0;
    };
    std::map<std::string, Device> devices;
    std::size_t operators = 0;
    for (const auto& places : operatorsOf(rows)) {
        Device& device = devices[rows[places.front()].device];
        ++operators, ++device.operators;
        device.schedules += places.size();
        device.most = std::max(device.most, places.size());
        device.failed += static_cast<std::size_t>(
            std::count_if(places.begin(), places.end(), [&](std::size_t i) { return !(rows[i].seconds > 0); }));
    }
    Table table({"device", "operators", "schedules", "failed", "most of one"}, {false, true, true, true, true});
    for (const auto& [name, each] : devices)
        table.add({name, std::to_string(each.operators), std::to_string(each.schedules), std::to_string(each.failed),
                   std::to_string(each.most)});
    return fmt::format("{}: a compiler's tuning log, {} schedules of {} operators; {}\n\n{}", path, rows.size(),
                       operators,
                       isOfTrials(rows) ? "`schedules` ranks those of each operator"
                                        : "`schedules` says how long the best of an operator takes",
                       table.text());
}

}  // namespace orrery::cli
