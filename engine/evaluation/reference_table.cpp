#include "evaluation/reference_table.h"

#include "base/text/read_file.h"
#include "evaluation/reference_checks.h"
#include "evaluation/reference_rows.h"
#include "evaluation/shipped_references.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {

namespace {

namespace fs = std::filesystem;

class ReferenceReader {
public:
    explicit ReferenceReader(const ReadOptions& options) : options_(options) {}

    Expected<std::vector<ReferenceTable>> run(std::span<const std::string> files) {
        if (auto chosen = chooseDescription(); !chosen) return tl::unexpected(std::move(chosen.error()));
        for (const auto& file : files) {
            std::error_code ignored;
            auto read = fs::is_directory(file, ignored) ? readFolder(file) : readOne(file);
            if (!read) return tl::unexpected(std::move(read.error()));
        }
        if (tables_.empty()) {
            return fail("reference.no-rows", "there are no references", "a table of measured kernels",
                        "name files with --references");
        }
        return std::move(tables_);
    }

private:
    Expected<void> chooseDescription() {
        if (options_.mapping) {
            forced_ = options_.mapping.get();
            return {};
        }
        if (options_.description.empty()) return {};
        for (const auto& each : shippedImports().all) {
            if (each.id == options_.description) forced_ = &each;
        }
        if (forced_) return {};
        if (!options_.description.ends_with(".yaml")) {
            std::string known;
            for (const auto& each : shippedImports().all) known.append(known.empty() ? "" : ", ").append(each.id);
            return fail("reference.description",
                        fmt::format("there is no import description '{}'", options_.description), "one of " + known,
                        "a description of your own is a file that ends in .yaml");
        }
        auto read = readImportFile(options_.description);
        if (!read) return tl::unexpected(std::move(read.error()));
        own_ = std::move(*read);
        forced_ = &*own_;
        return {};
    }
    // A description for a file, with what its name says.
    struct Match {
        const ImportDescription* description = nullptr;
        std::string device, stack;
    };
    std::vector<Match> byName(const std::string& file) const {
        std::vector<Match> matches;
        for (const auto& each : shippedImports().all) {
            if (forced_ && forced_ != &each) continue;
            for (const auto& pattern : each.files) {
                auto found = matchFileName(pattern, file);
                if (!found) continue;
                matches.push_back({&each, (*found)["device"], (*found)["stack"]});
                break;
            }
        }
        if (matches.empty() && forced_) matches.push_back({forced_, {}, {}});
        return matches;
    }
    Expected<void> readFolder(const std::string& folder) {
        std::vector<std::string> files;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            const auto path = entry.path().string();
            if (!entry.is_regular_file(error)) continue;
            if (!byName(path).empty() || isOwn(path)) files.push_back(path);
        }
        std::sort(files.begin(), files.end());
        if (files.empty()) {
            return fail("reference.absent", "no table in the folder is known to an import description",
                        "files that an import description names, or tables in our own format",
                        "name the files themselves, or give --import", Place{folder, 0, 0, {}});
        }
        for (const auto& file : files) {
            if (auto read = readOne(file); !read) return read;
        }
        return {};
    }
    // Other files of a folder are left alone.
    static bool isOwn(const std::string& file) {
        if (!file.ends_with(".yaml") && !file.ends_with(".yml")) return false;
        const auto text = readFile(file, {.most = yamlLargestFile, .code = "reference.unreadable", .expected = {}});
        if (!text) return false;
        const auto root = parseYaml(*text, file);
        const YamlNode* format = root ? root->find("orrery") : nullptr;
        return format && (format->scalar == "references/1" || format->scalar == "model-references/1");
    }
    Expected<void> readOne(const std::string& file) {
        return file.ends_with(".yaml") || file.ends_with(".yml") ? readOwn(file) : readCsvTable(file);
    }
    Expected<void> readCsvTable(const std::string& file) {
        auto matches = byName(file);
        if (matches.empty()) {
            if (const ImportDescription* description = byColumns(file)) matches.push_back({description, {}, {}});
        }
        if (matches.size() > 1) leaveThoseThatFit(matches, file);
        for (const Match& match : matches) {
            auto stream = CsvStream::open(file);
            if (!stream) return tl::unexpected(std::move(stream.error()));
            if (auto read = add(*stream, *match.description, match.device, match.stack); !read) return read;
        }
        if (!matches.empty()) return {};
        if (auto stream = CsvStream::open(file); !stream) return tl::unexpected(std::move(stream.error()));
        std::string known;
        for (const auto& each : shippedImports().all) known.append(known.empty() ? "" : ", ").append(each.id);
        return fail("reference.unknown-table", "no import description knows this file's name or columns",
                    "a description of its columns", "map its columns, or name a description with --import: " + known,
                    Place{file, 0, 0, {}});
    }
    // Of several descriptions of one file, those whose columns it has: not every edition of a table has all of them.
    static void leaveThoseThatFit(std::vector<Match>& matches, const std::string& file) {
        auto stream = CsvStream::open(file);
        if (!stream) return;
        const auto more = stream->next();
        if (!more || !*more) return;
        std::vector<Match> fitting;
        std::copy_if(matches.begin(), matches.end(), std::back_inserter(fitting), [&](const Match& match) {
            return !match.description->columns.empty() || knowsColumns(*match.description, stream->cells());
        });
        if (!fitting.empty()) matches = std::move(fitting);
    }
    // The only description whose columns are all there; names decide where several would do.
    const ImportDescription* byColumns(const std::string& file) const {
        const ImportDescription* found = nullptr;
        for (const auto& each : shippedImports().all) {
            if (!each.columns.empty()) continue;
            auto stream = CsvStream::open(file);
            if (!stream) return nullptr;
            auto more = stream->next();
            if (!more || !*more) return nullptr;
            if (!knowsColumns(each, stream->cells())) continue;
            if (found) return nullptr;
            found = &each;
        }
        return found;
    }
    static bool knowsColumns(const ImportDescription& description, std::span<const std::string_view> columns) {
        const auto has = [&](const std::string& name) {
            return name == "type_bytes" || description.defaults.contains(name) ||
                   std::find(columns.begin(), columns.end(), name) != columns.end();
        };
        const auto hasAll = [&](const Expression& expression) {
            return std::all_of(expression.names().begin(), expression.names().end(), has);
        };
        const auto hasRule = [&](const FieldRule& rule) {
            return hasAll(rule.number) && (rule.column.empty() || has(rule.column));
        };
        const auto hasCase = [&](const auto& word) {
            const WordCase& said = word.second;
            return (!said.time || hasAll(*said.time)) && std::all_of(said.fields.begin(), said.fields.end(), hasRule);
        };
        return hasAll(description.time) && (!description.only || hasAll(*description.only)) &&
               std::all_of(description.words.begin(), description.words.end(),
                           [&](const WordRule& rule) {
                               return has(rule.column) && std::all_of(rule.words.begin(), rule.words.end(), hasCase);
                           }) &&
               std::all_of(description.fields.begin(), description.fields.end(), hasRule);
    }
    Expected<void> readOwn(const std::string& file) {
        const auto text =
            readFile(file, {.most = yamlLargestFile, .code = "reference.unreadable", .expected = "a YAML file"});
        if (!text) return tl::unexpected(text.error());
        auto root = parseYaml(*text, file);
        if (!root) return tl::unexpected(std::move(root.error()));
        const YamlNode* format = root->find("orrery");
        if (format && format->scalar.starts_with("model-references/")) return addModels(file);
        if (!format || format->scalar != "references/1") {
            const bool newer = format && format->scalar.starts_with("references/");
            return fail(newer ? "reference.version" : "reference.format",
                        newer ? fmt::format("the file has the format {}", format->scalar)
                              : std::string("this is no reference table"),
                        "orrery: references/1",
                        newer ? "it is from a newer Orrery; update, or export it in the older format"
                              : "a table begins with this line",
                        Place{file, format ? format->line : 1, 0, {}});
        }
        auto description = readDescription(*root, file, true);
        if (!description) return tl::unexpected(std::move(description.error()));
        const YamlNode* rows = root->find("rows");
        const YamlNode* beside = root->find("file");
        if ((rows != nullptr) == (beside != nullptr) || !(rows ? rows : beside)->isScalar()) {
            return fail("reference.description", "the table's rows are not given once",
                        "`rows: |` or `file: table.csv`", {}, Place{file, rows ? rows->line : 1, 0, {}});
        }
        if (rows) {
            auto inside = CsvStream::of(rows->scalar, file, rows->line + 1);
            return add(inside, *description, description->device, {});
        }
        const auto path = (fs::path(file).parent_path() / beside->scalar).lexically_normal().string();
        auto other = CsvStream::open(path);
        if (!other) {
            auto absent = std::move(other.error());
            absent.message += fmt::format(" ({})", path);
            absent.place = Place{file, beside->line, 0, {}};
            return tl::unexpected(std::move(absent));
        }
        return add(*other, *description, description->device, {});
    }
    Expected<void> addModels(const std::string& file) {
        const auto models = readModelReferences(file);
        if (!models) return tl::unexpected(models.error());
        for (ReferenceTable& table : modelTables(*models, file)) {
            std::size_t kept = 0;
            for (std::size_t i = 0; i < table.rows.size(); ++i) {
                if (!options_.filter.accepts(table, table.rows[i])) continue;
                table.rows[kept] = table.rows[i];
                std::swap(table.models[kept++], table.models[i]);
            }
            table.rows.resize(kept);
            table.models.resize(kept);
            kept_ += kept;
            if (kept > 0) tables_.push_back(std::move(table));
        }
        return {};
    }
    // A design of one's own, named as a file beside the table: what `orrery-cli measure --describe` writes.
    static std::string designBeside(const std::string& table, std::string_view name) {
        if (!name.ends_with(".yaml")) return {};
        std::error_code ignored;
        const auto beside = (fs::path(table).parent_path() / name).lexically_normal();
        return fs::is_regular_file(beside, ignored) ? fs::absolute(beside, ignored).string() : std::string();
    }
    Expected<void> add(CsvStream& stream, const ImportDescription& description, const std::string& device,
                       const std::string& stack) {
        ReferenceTable table;
        table.name = description.name.empty() ? fs::path(stream.path()).stem().string() : description.name;
        table.file = stream.path();
        table.software = description.software;
        if (const auto at = table.software.find("{stack}"); at != std::string::npos) {
            table.software.replace(at, 7, stack);
        }
        table.source = description.source;
        table.licence = description.licence;
        table.retrieved = description.retrieved;
        table.kind = description.kind;
        table.hostTimed = description.hostTimed;
        table.weightCopies = description.weightCopies;
        table.import = description.text;
        RowReading reading;
        reading.fileDevice = device.empty() ? description.device : device;
        reading.filter = &options_.filter;
        reading.most = mostReferenceRows - std::min(mostReferenceRows, kept_);
        reading.catalogueId = [this, &stream](std::string_view name) {
            auto id = catalogueId(name);
            if (id.empty()) id = designBeside(stream.path(), name);
            return id.empty() ? options_.device : id;
        };
        if (auto read = readRows(stream, description, reading, table); !read) return read;
        table.hash = stream.hash();
        if (auto checked = leaveOutAbsurd(table); !checked) return checked;
        for (const auto& each : table.devices) {
            if (!each.catalogue.empty()) continue;
            table.warnings.push_back(warning(
                "reference.unknown-device",
                each.name.empty() ? std::string("the table does not name its device")
                                  : fmt::format("the hardware catalogue has no '{}'", each.name),
                "give its id with --device, or add a preset; its rows cannot be priced", Place{table.file, 0, 0, {}}));
        }
        kept_ += table.rows.size();
        table.rows.shrink_to_fit();
        tables_.push_back(std::move(table));
        return {};
    }

    const ReadOptions& options_;
    const ImportDescription* forced_ = nullptr;
    std::optional<ImportDescription> own_;
    std::vector<ReferenceTable> tables_;
    std::size_t kept_ = 0;
};

std::vector<ReferenceTable> readShipped() {
    std::vector<ReferenceTable> all;
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(presetsFolder() + "/references", error)) {
        if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        auto read = readReferences(std::span(&file, 1));
        if (!read) {
            if (read.error().code == "reference.format") continue;
            all.emplace_back().file = file;
            all.back().warnings.push_back(std::move(read.error()));
            continue;
        }
        for (auto& table : *read) all.push_back(std::move(table));
    }
    return all;
}

}  // namespace

Expected<std::vector<ReferenceTable>> readReferences(std::span<const std::string> files, const ReadOptions& options) {
    return ReferenceReader(options).run(files);
}

const std::vector<ReferenceTable>& shippedReferences() {
    static const std::vector<ReferenceTable> all = readShipped();
    return all;
}

}  // namespace orrery
