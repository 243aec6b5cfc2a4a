#include "app/cli/command.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "evaluation/survey/survey_export.h"
#include "learning/calibration.h"
#include "store/judging/judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::cli {

namespace {

std::string tableText(const SurveyTable& table, std::span<const MatrixEntry> entries) {
    std::vector<std::string> heads{"methodology"};
    std::vector<bool> right{false};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        heads.push_back(fmt::format("{} ({})", table.columns[c], table.rows[c]));
        right.push_back(false);
    }
    Table shown(heads, right);
    std::string missing;
    for (std::size_t line = 0; line < table.cells.size(); ++line) {
        std::vector<std::string> cells{std::string(toText(surveyed()[line]))};
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const SurveyCell& cell = table.cells[line][c];
            cells.push_back(cell.marks.empty() ? "·" : surveyCellText(cell, entries));
            if (cell.marks.empty())
                missing += fmt::format("  {}, {}: {}\n", toText(surveyed()[line]), table.columns[c], cell.missing);
        }
        shown.add(std::move(cells));
    }
    return fmt::format("Methodology by {}, mean error of the methods that rows judge; rows in parentheses\n\n{}{}\n",
                       toText(table.by), shown.text(), missing.empty() ? "" : "\nEmpty:\n" + missing);
}

std::string methodsText(const Survey& survey, std::span<const MatrixEntry> entries) {
    Table shown({"method", "methodology", "level", "rows", "speed", "fitted to", "reading", "furthest off"},
                {false, false, false, true, false, true, false, false});
    for (const SurveyLine& line : survey.lines) {
        const MethodCard& card = *entries[line.entry].card;
        shown.add({entries[line.entry].asked, std::string(toText(card.methodology)), std::string(toText(card.level)),
                   count(static_cast<double>(line.rows)), line.speed.empty() ? "not stated" : line.speed,
                   count(static_cast<double>(line.samples)),
                   line.reading == "terms" ? fmt::format("{} terms", line.terms) : line.reading,
                   line.worst.workloadClass.empty()
                       ? std::string("no row")
                       : fmt::format("{} {}", line.worst.workloadClass, surveyPercent(line.worst.mape))});
    }
    return "Methods; needs and failure modes stand in --json, --methods and --markdown\n\n" + shown.text();
}

Expected<JudgingQuestion> readSurveyQuestion(const Arguments& arguments) {
    JudgingQuestion question;
    question.name = "Survey";
    question.references = referenceFiles(arguments);
    if (question.references.empty()) question.references.emplace_back("shipped");
    question.where = arguments.value("where").value_or("");
    question.seen = arguments.has("seen");
    // Each method on all rows that it prices: a survey says where methods are, not which is the best.
    question.common = false;
    for (const std::string& list : arguments.values("method"))
        for (const std::string& each : splitMethods(list))
            if (each != "all") question.methods.push_back(each);
    for (const std::string& each : question.methods) {
        const auto choice = methodChoice(each, builtinMethods());
        if (!choice) return tl::unexpected(choice.error());
    }
    const auto filter = parseFilter(question.where);
    if (!filter) return tl::unexpected(filter.error());
    if (const auto most = arguments.value("most")) {
        std::size_t rows = 0;
        const auto [end, error] = std::from_chars(most->data(), most->data() + most->size(), rows);
        if (error != std::errc() || end != most->data() + most->size() || rows == 0) {
            return fail("usage.number", fmt::format("`--most {}`", *most), "a whole number of rows, at least 1");
        }
        question.most = rows;
    }
    return question;
}

int runSurvey(const Arguments& arguments, Watch& watch) {
    auto question = readSurveyQuestion(arguments);
    if (!question) return failed(question.error());
    const auto executor = makeDefaultExecutor();
    JudgeOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    watch.begin("asking every method");
    const auto judged = judge(*question, options);
    watch.end();
    if (!judged) return failed(judged.error());
    report(judged->warnings);
    const auto entries = judged->matrixEntries();
    const Survey survey = surveyOf(entries, *judged->tables, judged->rows, shippedCalibrations().set);
    bool written = true, toScreen = false;
    const auto write = [&](const char* option, std::string (*made)(const Survey&, std::span<const MatrixEntry>)) {
        const auto file = arguments.value(option);
        if (!file) return;
        toScreen = toScreen || *file == "-";
        written = writeTo(*file, made(survey, entries)) && written;
    };
    write("json", surveyJson);
    write("csv", surveyCsv);
    write("methods", surveyMethodsCsv);
    write("markdown", surveyMarkdown);
    if (toScreen) return written ? Answered : Unanswered;
    std::string text = fmt::format("{} methods, {} rows of {} tables\n\n", entries.size(),
                                   count(static_cast<double>(judged->rows.size())), judged->tables->size());
    for (const SurveyTable& table : survey.tables) text += tableText(table, entries) + "\n";
    return print(text + methodsText(survey, entries)) && written ? Answered : Unanswered;
}

}  // namespace

const Command surveyCommand{
    .name = "survey",
    .positional = "[FILE...]",
    .summary = "which kinds of method are confirmed by measurements, and where: coverage tables",
    .details =
        "Asks every method about the references (those that ship, or FILES) and draws the tables that surveys of the "
        "field print: methodology by platform, by class of workload, by level; of each method its speed, the data that "
        "it needs, how a price of it can be read, and where it breaks. A mark stands only where rows judge a method, "
        "and "
        "names their tables, their number and the error; an empty cell says what is missing. Needs and failure modes "
        "are those of the cards, everything else is found out. Rows that a calibration was fitted to do not count.",
    .options = {{"references", "FILE", "tables or folders instead of those that ship; `shipped` names these", true},
                {"where", "TERMS", "rows: platform=GPU|TPU, level=kernel, class=matrix products, device=h100-sxm …"},
                {"method", "ID", "these methods alone", true},
                {"most", "N", "at most so many rows, evenly spread; 2000 if left out"},
                {"seen", "", "rows that calibrations were fitted to count as well"},
                {"json", "[FILE]", "as JSON (resources/schema/survey.schema.json); standard output if left out"},
                {"csv", "FILE", "one line per mark and per empty cell; - is standard output"},
                {"methods", "FILE", "one line per method as CSV; - is standard output"},
                {"markdown", "FILE", "all tables as Markdown; - is standard output"}},
    .examples = {{"orrery-cli survey", "which kinds of method do the shipped measurements confirm, and where?"},
                 {"orrery-cli survey --where platform=TPU --csv -", "and on TPUs alone, mark by mark?"},
                 {"orrery-cli survey --method roofline --method tile-wave --markdown -", "as a table for a text"}},
    .run = runSurvey,
};

}  // namespace orrery::cli
