#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "base/text/csv_cell.h"
#include "base/text/csv_stream.h"
#include "base/text/words.h"
#include "simulation/pim/attention_system.h"
#include "simulation/pim/upmem.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Names and values that one row of a table is answered with.
using Prediction = std::vector<std::pair<std::string, Json>>;

/// A row by the names of its columns; remembers the first that is missing or makes no sense.
class Row {
public:
    Row(const std::vector<std::string>& head, const CsvStream& table) : head_(head), table_(table) {}

    bool has(std::string_view name) const { return !cell(name).empty(); }
    std::string text(std::string_view name) {
        const auto value = cell(name);
        if (value.empty()) refuse(name, "is missing", "a column of that name with a value in every row");
        return std::string(value);
    }
    double number(std::string_view name, std::optional<double> fallback = {}) {
        const auto value = cell(name);
        if (value.empty() && fallback) return *fallback;
        const auto read = numberIn(value);
        if (!read) return refuse(name, fmt::format("is '{}'", value), "a number"), 1;
        return *read;
    }
    std::int64_t whole(std::string_view name) {
        const double value = number(name);
        if (value != static_cast<double>(static_cast<std::int64_t>(std::clamp(value, -1e15, 1e15))))
            refuse(name, fmt::format("is {}", value), "a whole number");
        return problem_ ? 1 : static_cast<std::int64_t>(value);
    }
    bool truth(std::string_view name) {
        const std::string value = lower(cell(name));
        if (value.empty() || value == "false" || value == "0") return false;
        if (value != "true" && value != "1") refuse(name, fmt::format("is '{}'", value), "True or False");
        return true;
    }
    const std::optional<Diagnostic>& problem() const { return problem_; }
    Diagnostic placed(Diagnostic problem) const {
        problem.place = {table_.path(), table_.line(), 0, {}};
        return problem;
    }

private:
    std::string_view cell(std::string_view name) const {
        const auto at = std::find(head_.begin(), head_.end(), name);
        const auto cells = table_.cells();
        const auto index = static_cast<std::size_t>(at - head_.begin());
        return index < cells.size() ? cells[index] : std::string_view{};
    }
    void refuse(std::string_view name, std::string_view message, std::string expected) {
        if (problem_) return;
        Diagnostic d;
        d.code = "pim.table";
        d.message = fmt::format("'{}' {}", name, message);
        d.expected = std::move(expected);
        d.hint = "columns are named in the handbook's page on processing in memory";
        problem_ = placed(std::move(d));
    }

    const std::vector<std::string>& head_;
    const CsvStream& table_;
    std::optional<Diagnostic> problem_;
};

Expected<Prediction> upmemRow(Row& row, const pim::Dpu& dpu) {
    pim::UpmemRun run;
    const std::string name = row.text("benchmark");
    run.dpus = row.whole("num_dpus");
    run.parameter = row.whole("data_param");
    run.toDpuBytes = row.number("cpu_to_dpu_bytes_per_dpu", 0);
    run.fromDpuBytes = row.number("dpu_to_cpu_bytes_per_dpu", 0);
    run.betweenBytes = row.number("dpu_to_dpu_bytes_per_dpu", 0);
    if (row.problem()) return tl::unexpected(*row.problem());
    const auto kernel = pim::primKernel(name);
    if (!kernel) return tl::unexpected(row.placed(kernel.error()));
    const auto answer = pim::answerOf(**kernel, run, dpu);
    if (!answer) return tl::unexpected(row.placed(answer.error()));
    const auto& k = answer->kernel;
    return Prediction{{"pred_kernel_ms", k.milliseconds},
                      {"pred_cpu_to_dpu_ms", answer->toDpuMilliseconds},
                      {"pred_dpu_to_cpu_ms", answer->fromDpuMilliseconds},
                      {"pred_dpu_to_dpu_ms", answer->betweenMilliseconds},
                      {"instruction_cycles", k.instructionCycles},
                      {"dram_cycles", k.dramCycles},
                      {"lock_cycles", k.lockCycles},
                      {"bound", std::string(nameOf(k.bound))},
                      {"evidence", (*kernel)->measured ? "measured rows" : "counted from its loop"}};
}

Expected<Prediction> attentionRow(Row& row) {
    pim::Attention attention;
    attention.length = row.whole("L");
    attention.heads = row.whole("nhead");
    attention.headSize = row.whole("dhead");
    attention.elementBytes = static_cast<int>(std::clamp<std::int64_t>(row.whole("dbyte"), 0, 1 << 20));
    const std::string where = row.text("pim_type");
    const bool capped = row.truth("power_constraint");
    if (row.problem()) return tl::unexpected(*row.problem());
    const auto place = pim::placeOf(where);
    if (!place) return tl::unexpected(row.placed(place.error()));
    const auto answer = pim::attentionOn({}, *place, capped, attention);
    if (!answer) return tl::unexpected(row.placed(answer.error()));
    const auto& c = answer->commands;
    return Prediction{{"pred_cycle", answer->cycles},
                      {"pred_mac", c.multiply},
                      {"pred_softmax", c.softmax},
                      {"pred_mvgb", c.toMultiplier},
                      {"pred_mvsb", c.toSoftmax},
                      {"pred_wrgb", c.write},
                      {"multiply_cycles", answer->multiplying},
                      {"row_cycles", answer->openingRows},
                      {"refresh_cycles", answer->refreshing},
                      {"move_cycles", answer->moving}};
}

Expected<Prediction> systemRow(Row& row) {
    pim::AttentionSystem s;
    const std::string system = row.text("system");
    if (system == "dgx-cpu")
        s.attention = pim::AttentionSystem::Where::Cpu;
    else if (system == "dgx-attacc")
        s.attention = pim::AttentionSystem::Where::Pim;
    s.gpu = row.text("gpu");
    s.gpus = static_cast<int>(std::clamp<std::int64_t>(row.whole("ngpu"), 0, 1 << 20));
    s.model = row.text("model");
    s.elementBytes = static_cast<int>(std::clamp<std::int64_t>(row.whole("word_bytes"), 0, 1 << 20));
    s.promptLength = row.whole("lin");
    s.outputLength = row.whole("lout");
    s.batch = row.whole("batch");
    s.powerCapped = row.truth("power_limit");
    s.sharedFeedForward = row.truth("ff_parallel");
    s.pipelined = row.truth("pipeline");
    const std::string where = s.attention == pim::AttentionSystem::Where::Pim ? row.text("pim") : "bank";
    if (row.problem()) return tl::unexpected(*row.problem());
    if (system != "dgx" && system != "dgx-cpu" && system != "dgx-attacc") {
        Diagnostic d;
        d.code = "pim.table", d.message = fmt::format("there is no system '{}'", system),
        d.expected = "dgx, dgx-cpu or dgx-attacc";
        return tl::unexpected(row.placed(std::move(d)));
    }
    const auto place = pim::placeOf(where);
    if (!place) return tl::unexpected(row.placed(place.error()));
    s.place = *place;
    const auto answer = pim::answerOf(s);
    if (!answer) return tl::unexpected(row.placed(answer.error()));
    const auto& g = answer->token;
    const auto& p = answer->prompt;
    return Prediction{{"pred_g_time_ms", g.total},
                      {"pred_g_matmul", g.attention},
                      {"pred_g_fc", g.products},
                      {"pred_g_comm", g.links},
                      {"pred_g_etc", g.rest},
                      {"pred_g_qkv_time", g.queryKeyValue},
                      {"pred_g_prj_time", g.projection},
                      {"pred_g_ff_time", g.feedForward},
                      {"pred_g2g_comm", g.betweenGpus},
                      {"pred_c2g_comm", g.toAttention},
                      {"pred_g_softmax", g.softmax},
                      {"pred_g_act", g.activation},
                      {"pred_g_lnorm", g.norm},
                      {"pred_s_time", p.total},
                      {"pred_s_matmul", p.attention},
                      {"pred_s_fc", p.products},
                      {"pred_s_comm", p.links},
                      {"pred_s_softmax", p.softmax},
                      {"pred_s_act", p.activation},
                      {"pred_s_lnorm", p.norm},
                      {"pred_required_cap", answer->requiredBytes},
                      {"pred_g_energy_nJ", answer->energy.total},
                      {"pred_g_dram_energy", answer->energy.dram},
                      {"pred_g_fc_mem_energy", answer->energy.productMemory},
                      {"pred_g_fc_comp_energy", answer->energy.productCompute},
                      {"pred_g_attn_mem_energy", answer->energy.attentionMemory},
                      {"pred_g_attn_comp_energy", answer->energy.attentionCompute},
                      {"pred_g_comm_energy", answer->energy.links},
                      {"pred_g_flops", answer->tokenFlops}};
}

std::string cellOf(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
    return fmt::format("{:.9g}", value.get<double>());
}

int runPim(const Arguments& arguments, Watch& watch) {
    const bool upmem = arguments.has("upmem");
    if (upmem == arguments.has("attacc")) {
        report(Diagnostic{
            .code = "usage.pim", .message = "which memory is meant", .expected = "one of --upmem and --attacc"});
        return Usage;
    }
    pim::Dpu dpu;
    if (const auto tasklets = arguments.value("tasklets")) {
        const auto n = wholeIn(*tasklets);
        if (!n || *n < 1 || *n > 24) {
            report(Diagnostic{
                .code = "usage.value", .message = fmt::format("'{}' tasklets", *tasklets), .expected = "1 to 24"});
            return Usage;
        }
        dpu.tasklets = static_cast<int>(*n);
    }
    auto table = CsvStream::open(*arguments.value("csv"));
    if (!table) return report(table.error()), Unanswered;
    std::vector<std::string> head;
    std::string text;
    Json rows = Json::array();
    bool system = false;
    // A row that cannot be answered is reported and left without predictions; the others are answered all the same.
    std::vector<std::string> lines, columns;
    std::vector<bool> bare;  // lines without predictions
    std::size_t wrong = 0, answered = 0;
    watch.begin("answering the rows");
    for (;;) {
        const auto more = table->next();
        if (!more) return watch.end(), report(more.error()), Unanswered;
        if (!*more) break;
        if (head.empty()) {
            for (const auto cell : table->cells()) head.emplace_back(cell);
            system = std::find(head.begin(), head.end(), "system") != head.end();
            continue;
        }
        if (watch.interrupted()) return watch.end(), Unanswered;
        Row row(head, *table);
        const auto answer = upmem ? upmemRow(row, dpu) : system ? systemRow(row) : attentionRow(row);
        if (!answer && wrong++ < 20) report(answer.error());
        const auto cells = table->cells();
        if (arguments.has("json")) {
            Json one;
            for (std::size_t i = 0; i < head.size() && i < cells.size(); ++i) one[head[i]] = std::string(cells[i]);
            if (answer) {
                for (const auto& [name, value] : *answer) one[name] = value;
            } else {
                one["error"] = answer.error().message;
            }
            rows.push_back(std::move(one));
            answered += answer.has_value();
            continue;
        }
        if (answer && answered++ == 0) {
            for (const auto& [name, value] : *answer) columns.push_back(name);
        }
        std::string line;
        for (std::size_t i = 0; i < head.size(); ++i)
            line += (i < cells.size() ? csvCell(cells[i]) : std::string{}) + ",";
        if (answer)
            for (std::size_t i = 0; i < answer->size(); ++i) line += (i ? "," : "") + cellOf((*answer)[i].second);
        lines.push_back(std::move(line));
        bare.push_back(!answer);
    }
    watch.end();
    if (wrong > 20) report(warning("pim.more", fmt::format("{} more rows could not be answered", wrong - 20)));
    if (wrong > 0 && answered == 0) return Unanswered;
    if (rows.empty() && lines.empty()) {
        report(Diagnostic{.code = "pim.table",
                          .message = "the table has no row",
                          .expected = "names of columns and a row",
                          .place = {.file = *arguments.value("csv")}});
        return Unanswered;
    }
    if (!arguments.has("json")) {
        for (const auto& name : head) text += csvCell(name) + ",";
        for (std::size_t i = 0; i < columns.size(); ++i) text += (i ? "," : "") + columns[i];
        text += "\n";
        for (std::size_t i = 0; i < lines.size(); ++i)
            text += lines[i] + (bare[i] ? std::string(columns.size() - 1, ',') : std::string{}) + "\n";
    } else {
        const Json out{{"format", "orrery-pim"},
                       {"version", 1},
                       {"memory", upmem ? "upmem" : "attacc"},
                       {"rows", std::move(rows)}};
        text = out.dump(2) + "\n";
    }
    return print(text) ? Answered : Unanswered;
}

}  // namespace

const Command pimCommand{
    .name = "pim",
    .summary = "predict kernels and attention of processing in memory, row by row of a table",
    .details =
        "--upmem: kernel and transfer times of PrIM benchmarks on UPMEM DPUs (columns benchmark, num_dpus, data_param, "
        "bytes per DPU). "
        "--attacc: attention on HBM-PIM (columns L, nhead, dhead, dbyte, pim_type, power_constraint), or whole systems "
        "where there is a "
        "column 'system' (gpu, ngpu, model, word_bytes, lin, lout, batch, pim, power_limit, ff_parallel, pipeline). "
        "Answers the rows "
        "with predicted columns.",
    .options = {{"upmem", "", "UPMEM DPUs"},
                {"attacc", "", "HBM-PIM of the AttAcc class"},
                {"csv", "FILE", "the rows"},
                {"tasklets", "N", "tasklets of a DPU (default 16)"},
                {"json", "", "as JSON (resources/schema/pim.schema.json)"}},
    .required = {"csv"},
    .examples = {{"orrery-cli pim --upmem --csv prim.csv", "kernel and transfer times, and what binds each kernel"},
                 {"orrery-cli pim --attacc --csv attention.csv --json", "cycles and commands of attention, as JSON"}},
    .run = runPim,
};

}  // namespace orrery::cli
