#include "app/cli/command.h"
#include "app/cli/edge_question.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/schedule_question.h"
#include "base/unit.h"
#include "evaluation/edge/edge_import.h"
#include "evaluation/repeatability.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cli {

namespace {

std::string devicesOf(const ReferenceTable& table) {
    std::string text;
    for (const auto& device : table.devices) {
        text.append(text.empty() ? "" : ", ").append(device.catalogue.empty() ? device.name : device.catalogue);
    }
    return text;
}

std::string listed() {
    Table shipped({"table", "rows", "truth", "devices", "source"}, {false, true});
    for (const auto& table : shippedReferences()) {
        shipped.add({table.name, count(static_cast<double>(table.rows.size())), std::string(toText(table.kind)),
                     devicesOf(table), table.source});
    }
    Table known({"import description", "of", "files"});
    for (const auto& each : shippedImports().all) {
        known.add({each.id, each.name, fmt::format("{}", fmt::join(each.files, ", "))});
    }
    Table networks({"tables of networks", "of", "columns"});
    for (const auto& each : shippedEdgeDescriptions())
        networks.add({each.id, each.name, fmt::format("{}", fmt::join(each.match, ", "))});
    return shipped.text() + "\n" + known.text() + "\n" + networks.text();
}

std::string rowsText(const ReferenceTable& table, std::size_t most) {
    Table rows({"line", "kernel", "variant", "device", "time", "noise"}, {true, false, false, false, true, true});
    for (std::size_t i = 0; i < std::min(most, table.rows.size()); ++i) {
        const ReferenceRow& row = table.rows[i];
        const auto& device = table.devices[static_cast<std::size_t>(row.device)];
        rows.add({std::to_string(row.line), toText(row.kernel), kernelVariant(row.kernel),
                  device.catalogue.empty() ? device.name : device.catalogue, format(Seconds(row.seconds)),
                  row.noise > 0 ? fmt::format("{:.1f} %", 100 * row.noise) : "–"});
    }
    std::string floor = "repeatability: not known, no kernel stands there twice and no column says its noise";
    const Repeatability known = repeatabilityOf(table);
    if (known.apart > 0) {
        floor = fmt::format(
            "repeatability: not known, kernels that stand there several times differ by {:.0f} % in the median: "
            "a column that is not read tells them apart",
            100 * known.apart);
    } else if (known.rows > 0) {
        floor = fmt::format(
            "repeatability: mean {:.1f} %, median {:.1f} %, 90th percentile {:.1f} %, worst {:.1f} %, of {} rows",
            100 * known.mean, 100 * known.median, 100 * known.p90, 100 * known.worst,
            count(static_cast<double>(known.rows)));
    }
    return fmt::format("{}: {} rows, {}, {}\n{}\n\n{}", table.name, count(static_cast<double>(table.rows.size())),
                       toText(table.kind), devicesOf(table), floor, rows.text());
}

// The mapping to begin with: what is said, and for the rest what the columns' names suggest.
Expected<ColumnMapping> mappingFor(const Arguments& arguments, const std::string& file) {
    auto said = readMapping(arguments);
    if (!said) return tl::unexpected(std::move(said.error()));
    const auto sample = sampleTable(file);
    if (!sample) return tl::unexpected(sample.error());
    ColumnMapping mapping;
    if (arguments.has("guess")) mapping = guessMapping(*sample);
    if (*said) {
        for (const auto& terms : arguments.values("map")) {
            if (auto set = setMappedTerms(mapping, terms); !set) return tl::unexpected(std::move(set.error()));
        }
        mapping.words = (*said)->words;
    }
    if (mapping.device.empty()) mapping.device = arguments.value("device").value_or("");
    std::vector<std::string_view> mapped(mappingKeys().begin(), mappingKeys().end());
    for (const auto& field : mapping.fields) mapped.push_back(field.first);
    for (const auto key : mapped) {
        if (auto wrong = checkMapped(mapping, key, *sample)) {
            wrong->message = fmt::format("`{}={}`: {}", key, mappedTo(mapping, key), wrong->message);
            wrong->place.file = file;
            return tl::unexpected(std::move(*wrong));
        }
    }
    return mapping;
}

int runReferences(const Arguments& arguments, Watch&) {
    const auto files = referenceFiles(arguments);
    if (files.empty()) return print(listed()) ? Answered : Unanswered;
    const bool mapped = arguments.has("map") || arguments.has("word") || arguments.has("guess");
    if (arguments.has("save") && !mapped) {
        return failed(fail("usage.missing", "`--save` needs a mapping", "--map or --guess").value());
    }
    if (!mapped && !arguments.has("import") && std::all_of(files.begin(), files.end(), isEdgeTable)) {
        std::string text;
        for (const std::string& file : files) {
            const auto table = openEdgeTable(file);
            if (!table) return failed(table.error());
            report(table->notes);
            text.append(text.empty() ? "" : "\n").append(edgeTableText(*table));
        }
        return print(text) ? Answered : Unanswered;
    }
    if (!mapped && !arguments.has("import") && std::all_of(files.begin(), files.end(), isTuningLog)) {
        std::string text;
        for (const std::string& file : files) {
            const auto rows = readLogs({file});
            if (!rows) return failed(rows.error());
            text.append(text.empty() ? "" : "\n").append(logText(file, *rows));
        }
        return print(text) ? Answered : Unanswered;
    }
    ReadOptions options;
    if (mapped) {
        const auto mapping = mappingFor(arguments, files.front());
        if (!mapping) return failed(mapping.error());
        auto filter = parseFilter(arguments.value("where").value_or(""));
        if (!filter) return failed(filter.error());
        options.filter = std::move(*filter);
        options.device = arguments.value("device").value_or("");
        auto description = describe(*mapping);
        if (!description) return failed(description.error());
        options.mapping = std::make_shared<const ImportDescription>(std::move(*description));
        const auto text = writeImport(*mapping);
        if (const auto save = arguments.value("save")) {
            if (!writeTo(*save, text)) return Unanswered;
        } else if (!print(text + "\n")) {
            return Unanswered;
        }
    } else {
        auto read = readReferenceOptions(arguments);
        if (!read) return failed(read.error());
        options = std::move(*read);
    }
    const auto tables = readReferences(files, options);
    if (!tables) return failed(tables.error());
    std::string text;
    for (const auto& table : *tables) {
        report(table.warnings);
        text.append(text.empty() ? "" : "\n").append(rowsText(table, 12));
    }
    return print(text) ? Answered : Unanswered;
}

std::vector<Option> optionsOfReferences() {
    std::vector<Option> all = referenceOptions();
    all.push_back({"guess", "", "map by the usual names of columns what --map does not"});
    all.push_back({"save", "FILE", "keep the mapping as an import description, for --import"});
    return all;
}

}  // namespace

const Command referencesCommand{
    .name = "references",
    .positional = "[FILE...]",
    .summary = "look into tables of measured kernels, or map the columns of any CSV",
    .details =
        "Without a file: the tables that ship and the forms of tables that are known. With files: their first "
        "kernels, and on standard error what was left out, with lines. A table that nothing knows is mapped with "
        "--map: FIELD=COLUMN or arithmetic over columns, FIELD=WORD, FIELD={COLUMN} for words in a column.",
    .options = optionsOfReferences(),
    .examples = {{"references", "what ships and what is known"},
                 {"references bench.csv --guess", "what the names of its columns suggest"},
                 {"references bench.csv --map kind=gemm,dtype=bf16,m=M,n=N,k=K,time=us,unit=us --device h100-sxm "
                  "--save bench.yaml",
                  "a mapping, tried and kept"},
                 {"evaluate --method tile-wave --references bench.csv --import bench.yaml", "a method judged on it"}},
    .run = runReferences};

}  // namespace orrery::cli
