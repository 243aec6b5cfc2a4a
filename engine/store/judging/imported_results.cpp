#include "store/judging/imported_results.h"

#include "base/hash.h"
#include "base/maths.h"
#include "base/text/csv_stream.h"
#include "base/text/words.h"
#include "evaluation/row_facets.h"
#include "store/judging/judged_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

namespace orrery {

namespace {

constexpr std::array methodologies{Methodology::Analytical, Methodology::CycleAccurate, Methodology::TraceDriven,
                                   Methodology::Learned, Methodology::Hybrid};
constexpr std::size_t mostMethods = 200;

/// The card's words are views: they live here, with it.
struct OwnCard {
    std::string id, title, summary;
    MethodCard card{};
};

std::shared_ptr<const MethodCard> cardOf(const std::string& name, const std::string& file, Methodology methodology,
                                         bool stated) {
    auto own = std::make_shared<OwnCard>();
    own->id = own->title = name;
    own->summary = fmt::format("Results of another tool, read from {}.{}", file,
                               stated ? "" : " Its file does not say its methodology.");
    own->card.id = own->id;
    own->card.title = own->title;
    own->card.summary = own->summary;
    own->card.methodology = methodology;
    own->card.level = MethodLevel::Kernel;
    own->card.version = "imported";
    own->card.failureMode = "as its own authors say";
    return {own, &own->card};
}

struct Columns {
    std::optional<std::size_t> method, row, device, kernel, predicted, low, high, seconds, methodology;
};

Columns columnsOf(std::span<const std::string_view> names) {
    Columns columns;
    const std::array<std::pair<std::string_view, std::optional<std::size_t>*>, 9> known{
        {{"method", &columns.method},
         {"row", &columns.row},
         {"device", &columns.device},
         {"kernel", &columns.kernel},
         {"predicted_s", &columns.predicted},
         {"low_s", &columns.low},
         {"high_s", &columns.high},
         {"seconds", &columns.seconds},
         {"methodology", &columns.methodology}}};
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (const auto& [name, place] : known) {
            if (names[i] == name) *place = i;
        }
    }
    return columns;
}

struct Prediction {
    double seconds = 0, low = 0, high = 0;
    bool operator==(const Prediction&) const = default;
};
struct OneMethod {
    std::string name;
    std::optional<Methodology> methodology;
    std::map<std::string, Prediction> byRow;
    std::vector<double> spent;
    std::size_t unknown = 0;
};

class ResultsReader {
public:
    ResultsReader(const std::string& file, std::span<const ReferenceTable> tables, std::span<const RowRef> rows)
        : file_(file), tables_(tables), rows_(rows) {
        for (const RowRef ref : rows) {
            const std::string id = rowId(tables, ref);
            ids_.emplace(id, id);
            const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
            const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
            ids_.emplace(table.devices[static_cast<std::size_t>(row.device)].catalogue + "|" + toText(row.kernel), id);
        }
    }

    Expected<std::vector<ImportedResults>> read() {
        auto stream = CsvStream::open(file_);
        if (!stream) return wrong("results.unreadable", stream.error().message, "a CSV", 0);
        auto more = stream->next();
        if (!more || !*more) return wrong("results.columns", "the file is empty", "a line of names", 1);
        columns_ = columnsOf(stream->cells());
        if (!columns_.predicted || (!columns_.row && !(columns_.device && columns_.kernel))) {
            return wrong("results.columns", "columns are missing", "predicted_s, and row or device and kernel", 1,
                         "`orrery-cli benchmark --questions FILE` writes the rows with their names");
        }
        for (int line = 2;; ++line) {
            more = stream->next();
            if (!more) return wrong("results.unreadable", more.error().message, "a CSV", line);
            if (!*more) break;
            const auto cells = stream->cells();
            for (const auto cell : cells) hash_.add(cell).add(std::uint64_t{1});
            if (auto taken = take(cells, line); !taken) return tl::unexpected(taken.error());
        }
        std::vector<ImportedResults> all;
        for (OneMethod& method : methods_) {
            if (!method.byRow.empty()) all.push_back(finished(method));
        }
        if (all.empty()) {
            return wrong("results.no-rows", "no line is about a row that is judged here", "rows of this question", 0,
                         "`orrery-cli benchmark --questions FILE` writes the rows with their names");
        }
        return all;
    }

private:
    Unexpected wrong(std::string code, std::string message, std::string expected, int line,
                     std::string hint = {}) const {
        return fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                    Place{file_, line, 0, {}});
    }
    static std::string cellOf(std::span<const std::string_view> cells, std::optional<std::size_t> column) {
        return column && *column < cells.size() ? std::string(cells[*column]) : std::string();
    }
    Expected<double> timeOf(std::span<const std::string_view> cells, std::optional<std::size_t> column, double absent,
                            int line) const {
        const std::string text = cellOf(cells, column);
        if (text.empty()) return absent;
        const auto number = numberIn(text);
        if (number && std::isfinite(*number) && *number > 0) return *number;
        return wrong("results.time", fmt::format("'{}' is no time", text.substr(0, 40)), "seconds above zero", line);
    }
    Expected<void> take(std::span<const std::string_view> cells, int line) {
        std::string name = cellOf(cells, columns_.method);
        if (name.empty()) name = std::filesystem::path(file_).stem().string();
        if (findMethod(name))
            return wrong("results.name", fmt::format("'{}' is a method of Orrery", name), "a name of its own", line);
        auto found =
            std::find_if(methods_.begin(), methods_.end(), [&](const auto& each) { return each.name == name; });
        if (found == methods_.end()) {
            if (methods_.size() == mostMethods)
                return wrong("results.too-many", "the file names too many methods", fmt::format("{}", mostMethods),
                             line);
            found = methods_.insert(found, OneMethod{name, {}, {}, {}, 0});
        }
        if (const std::string word = cellOf(cells, columns_.methodology); !word.empty()) {
            for (const Methodology each : methodologies) {
                if (toText(each) == word) found->methodology = each;
            }
            if (!found->methodology || toText(*found->methodology) != word)
                return wrong("results.methodology", fmt::format("'{}' is no methodology", word.substr(0, 40)),
                             "analytical, cycle-accurate, trace-driven, learned or hybrid", line);
        }
        const auto predicted = timeOf(cells, columns_.predicted, 0, line);
        if (!predicted) return tl::unexpected(predicted.error());
        if (!(*predicted > 0)) return {};  // the tool has no answer about this row
        const auto low = timeOf(cells, columns_.low, *predicted, line);
        if (!low) return tl::unexpected(low.error());
        const auto high = timeOf(cells, columns_.high, *predicted, line);
        if (!high) return tl::unexpected(high.error());
        if (*low > *predicted || *high < *predicted)
            return wrong("results.interval", "the interval does not hold the prediction",
                         "low_s ≤ predicted_s ≤ high_s", line);
        const auto spent = timeOf(cells, columns_.seconds, 0, line);
        if (!spent) return tl::unexpected(spent.error());
        if (*spent > 0) found->spent.push_back(*spent);
        const std::string row = cellOf(cells, columns_.row);
        const auto id =
            ids_.find(row.empty() ? cellOf(cells, columns_.device) + "|" + cellOf(cells, columns_.kernel) : row);
        if (id == ids_.end()) {
            ++found->unknown;
        } else {
            const Prediction its{*predicted, *low, *high};
            if (const auto [at, fresh] = found->byRow.try_emplace(id->second, its); !fresh && at->second != its)
                return wrong("results.twice",
                             fmt::format("'{}' predicts this row a second time, and differently", name.substr(0, 40)),
                             "one prediction of a row from each method", line,
                             "give two variants of a tool two names in the column `method`");
        }
        return {};
    }
    ImportedResults finished(const OneMethod& method) const {
        EvaluatedRows rows;
        for (const RowRef ref : rows_) {
            const auto found = method.byRow.find(rowId(tables_, ref));
            if (found == method.byRow.end()) continue;
            const ReferenceRow& row =
                tables_[static_cast<std::size_t>(ref.table)].rows[static_cast<std::size_t>(ref.row)];
            rows.predicted.push_back(found->second.seconds);
            rows.low.push_back(found->second.low);
            rows.high.push_back(found->second.high);
            rows.measured.push_back(row.seconds);
            rows.flops.push_back(row.kernel.flops);
            rows.bytes.push_back(row.kernel.bytes());
            rows.domain.push_back(DomainVerdict::Inside);
            rows.ref.push_back(ref);
        }
        ImportedResults made;
        made.name = method.name;
        made.file = file_;
        made.hash = hash_.hex();
        made.unknown = method.unknown;
        made.card = cardOf(method.name, std::filesystem::path(file_).filename().string(),
                           method.methodology.value_or(unstatedMethodology), method.methodology.has_value());
        made.evaluation = evaluationOf(method.name, "imported", std::move(rows), tables_);
        made.evaluation.notCovered = rows_.size() - made.evaluation.rows.size();
        if (std::vector<double> spent = method.spent; !spent.empty()) {
            std::sort(spent.begin(), spent.end());
            made.evaluation.figures.secondsLow = quantileType7OfSorted(spent, 0.25);
            made.evaluation.figures.secondsPerAnswer = quantileType7OfSorted(spent, 0.5);
            made.evaluation.figures.secondsHigh = quantileType7OfSorted(spent, 0.75);
        }
        return made;
    }

    std::string file_;
    std::span<const ReferenceTable> tables_;
    std::span<const RowRef> rows_;
    std::map<std::string, std::string, std::less<>> ids_;  // row's name, or device and kernel, to the row's name
    Columns columns_;
    std::vector<OneMethod> methods_;
    Hash hash_;
};

}  // namespace

Expected<std::vector<ImportedResults>> readResults(const std::string& file, std::span<const ReferenceTable> tables,
                                                   std::span<const RowRef> rows) {
    return ResultsReader(file, tables, rows).read();
}

}  // namespace orrery
