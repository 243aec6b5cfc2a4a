#pragma once

// An import description that is being put together: which column of an unknown table says what. The studio's mapping
// page and `--map` on the command line work on it; what it says is written as `orrery: import/1` and read back, so that
// there is one grammar only.

#include "evaluation/import_description.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

/// What a word in a column means where it is not the field's own word: `half` in `precision` → `dtype` is `fp16`.
struct WordMeaning {
    std::string column, word, field, value;
};

struct ColumnMapping {
    std::string name, source, licence, software, note;
    std::string truth = "measured";  ///< or summed, simulated
    std::string device;  ///< id of the catalogue, or `{column}`; empty: the column `device`, if there is one
    std::vector<std::pair<std::string, std::string>> devices;  ///< names in the table → ids of the catalogue
    std::string time, unit = "ms", noise, only;                ///< arithmetic over columns
    std::vector<std::pair<std::string, std::string>> fields;  ///< field of a kernel → arithmetic, word, or `{column}`
    std::vector<WordMeaning> words;  ///< a column that has any here is read by these words alone
};

/// What may be mapped beside the fields of kernels: `name`, `source`, …, `device`, `time`, `unit`, `noise`, `only`.
std::span<const std::string_view> mappingKeys();
/// Sets one key or field; an empty value takes it away. Fails with `mapping.field` for a name that is neither.
Expected<void> setMapped(ColumnMapping& mapping, std::string_view key, std::string_view value);
/// `m=B*M, kind=gemm, dtype={type}`: commas inside parentheses, braces or backquotes belong to the value. Fails with
/// `mapping.term`, `mapping.field`.
Expected<void> setMappedTerms(ColumnMapping& mapping, std::string_view terms);
/// What is set; empty if nothing is.
std::string_view mappedTo(const ColumnMapping& mapping, std::string_view key);

/// The fields that make a kernel of this kind, the necessary ones first.
struct KindFields {
    std::vector<std::string_view> needed, possible;
};
KindFields fieldsOfKind(KernelKind kind);

/// The first lines of a table, to look at and to try a mapping on.
struct TableSample {
    std::string path;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::vector<int> lines;  ///< of the file, of each row
    std::string text;        ///< the lines themselves
    bool whole = false;      ///< the table has no more
};
/// At most `most` rows and 1 MiB. Fails with `reference.unreadable`, `reference.empty`.
Expected<TableSample> sampleTable(const std::string& path, std::size_t most = 2000);
/// The different words of a column, in the order of the table; at most 64.
std::vector<std::string> wordsOf(const TableSample& sample, std::string_view column);

/// By the names of the columns, as tables usually have them; says only what is clear.
ColumnMapping guessMapping(const TableSample& sample);

/// What is wrong with one key or field, for this table's columns: arithmetic that cannot be read, a column that is not
/// there, a word that is none. Nothing if it is sound or not set.
std::optional<Diagnostic> checkMapped(const ColumnMapping& mapping, std::string_view key, const TableSample& sample);

/// As an import description, ready to be kept. `files`: patterns of names, may be empty.
std::string writeImport(const ColumnMapping& mapping, std::span<const std::string> files = {});
/// Fails with what readDescription() says, and with `mapping.incomplete` where kind or time is missing.
Expected<ImportDescription> describe(const ColumnMapping& mapping);

struct ReferenceTable;
/// The sample's rows as the description has them, with all that is left out named in the warnings, by line of the
/// file. `device`: catalogue id for rows whose own the catalogue does not know. Fails as readReferences() does.
Expected<ReferenceTable> tryMapping(const TableSample& sample, const ImportDescription& description,
                                    const std::string& device = {});

}  // namespace orrery
