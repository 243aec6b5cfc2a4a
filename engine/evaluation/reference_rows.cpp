#include "evaluation/reference_rows.h"

#include "workload/engine_kernels.h"
#include "workload/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>

namespace orrery {

namespace {

constexpr std::string_view typeBytes = "type_bytes", rowNumber = "row";

// Where the values of an expression come from: columns, or numbers that the reader knows itself.
struct BoundExpression {
    Expression expression;
    std::vector<int> from;  // column, or one of the two below
    static constexpr int typeSize = -1, row = -2;
};

struct BoundField {
    const FieldRule* rule = nullptr;
    BoundExpression number;
    int column = -1;
};

struct BoundCase {
    std::vector<BoundField> fields;
    std::optional<BoundExpression> time, noise;
};

struct BoundWords {
    int column = 0;
    std::map<std::string, BoundCase, std::less<>> words;
};

struct Number {
    double value = 0;
    std::string_view unit;  // letters right behind it
    bool sound = false;
};

Number numberOf(std::string_view cell) {
    Number number;
    if (cell.starts_with('+')) cell.remove_prefix(1);
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number.value);
    if (error != std::errc{} || !std::isfinite(number.value)) return number;
    number.unit = cell.substr(static_cast<std::size_t>(end - cell.data()));
    while (number.unit.starts_with(' ')) number.unit.remove_prefix(1);
    number.sound = std::all_of(number.unit.begin(), number.unit.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || static_cast<unsigned char>(c) > 127;
    });
    return number;
}

// `vllm` of `vllm-0.24.0`.
std::string engineOf(std::string_view software) {
    std::string name;
    for (const char c : software) {
        const char small = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
        if (small < 'a' || small > 'z') break;
        name += small;
    }
    return name;
}

class RowReader {
public:
    RowReader(CsvStream& stream, const ImportDescription& description, const RowReading& reading, ReferenceTable& table)
        : stream_(stream), description_(description), reading_(reading), table_(table) {}

    Expected<void> run() {
        if (auto bound = bind(); !bound) return bound;
        const std::size_t before = table_.rows.size();
        std::size_t lines = 0;
        while (true) {
            auto more = stream_.next();
            if (!more) return tl::unexpected(std::move(more.error()));
            if (!*more) return finish(lines);
            row(++lines);
            if (table_.rows.size() - before > reading_.most) return tooMany();
        }
    }

private:
    Place here() const { return {stream_.path(), stream_.line(), 0, {}}; }

    Expected<void> bind() {
        if (description_.columns.empty()) {
            auto more = stream_.next();
            if (!more) return tl::unexpected(std::move(more.error()));
            if (!*more) return empty();
            for (const auto cell : stream_.cells()) columns_.emplace_back(cell);
        } else {
            columns_ = description_.columns;
        }
        inFile_ = columns_.size();
        cells_.resize(inFile_);
        for (const auto& [column, value] : description_.defaults) {
            if (std::find(columns_.begin(), columns_.end(), column) != columns_.end()) continue;
            columns_.push_back(column);
            cells_.push_back(value);
        }
        for (const FieldRule& rule : description_.fields) {
            if (auto added = bindField(rule, fields_); !added) return added;
        }
        if (description_.own) bindOwnColumns();
        // Types first: `type_bytes` hangs on them.
        std::stable_partition(fields_.begin(), fields_.end(),
                              [](const BoundField& bound) { return bound.rule->field->setWord != nullptr; });
        for (const WordRule& rule : description_.words) {
            BoundWords words;
            const auto column = find(rule.column);
            if (!column) return tl::unexpected(column.error());
            words.column = *column;
            const std::string engine = engineOf(table_.software);
            // `fp8` stands before `fp8@vllm`, which takes its place in tables of that engine.
            for (const auto& [word, said] : rule.words) {
                const auto at = word.find('@');
                if (at != word.npos && word.substr(at + 1) != engine) continue;
                BoundCase& bound = words.words[word.substr(0, at)];
                bound = {};
                for (const FieldRule& each : said.fields) {
                    if (auto added = bindField(each, bound.fields); !added) return added;
                }
                if (auto added = bindOptional(said.time, bound.time); !added) return added;
                if (auto added = bindOptional(said.noise, bound.noise); !added) return added;
            }
            words_.push_back(std::move(words));
        }
        auto time = bindExpression(description_.time);
        if (!time) return tl::unexpected(std::move(time.error()));
        time_ = std::move(*time);
        if (auto added = bindOptional(description_.noise, noise_); !added) return added;
        if (auto added = bindOptional(description_.only, only_); !added) return added;
        const auto device = std::find(columns_.begin(), columns_.end(), description_.deviceColumn);
        if (description_.device.empty() && device != columns_.end())
            deviceColumn_ = static_cast<int>(device - columns_.begin());
        return {};
    }
    Expected<int> find(std::string_view name) const {
        const auto found = std::find(columns_.begin(), columns_.end(), name);
        if (found != columns_.end()) return static_cast<int>(found - columns_.begin());
        std::string known;
        for (std::size_t i = 0; i < std::min<std::size_t>(inFile_, 24); ++i) {
            known.append(known.empty() ? "" : ", ").append(columns_[i].substr(0, 40));
        }
        return fail("reference.no-column", fmt::format("there is no column '{}'; the columns are {}", name, known),
                    fmt::format("the columns that {} needs, separated by commas",
                                description_.name.empty() ? "the mapping" : description_.name),
                    "name another column in an import description, or another description with --import",
                    Place{stream_.path(), description_.columns.empty() ? stream_.line() : 0, 0, {}});
    }
    Expected<BoundExpression> bindExpression(const Expression& expression) const {
        BoundExpression bound{expression, {}};
        for (const auto& name : expression.names()) {
            if (name == typeBytes) {
                bound.from.push_back(BoundExpression::typeSize);
            } else if (name == rowNumber && std::find(columns_.begin(), columns_.end(), name) == columns_.end()) {
                bound.from.push_back(BoundExpression::row);
            } else {
                auto column = find(name);
                if (!column) return tl::unexpected(std::move(column.error()));
                bound.from.push_back(*column);
            }
        }
        return bound;
    }
    Expected<void> bindOptional(const std::optional<Expression>& expression, std::optional<BoundExpression>& to) const {
        if (!expression) return {};
        auto bound = bindExpression(*expression);
        if (!bound) return tl::unexpected(std::move(bound.error()));
        to = std::move(*bound);
        return {};
    }
    Expected<void> bindField(const FieldRule& rule, std::vector<BoundField>& fields) const {
        BoundField bound{&rule, {}, -1};
        if (rule.field->setNumber) {
            auto expression = bindExpression(rule.number);
            if (!expression) return tl::unexpected(std::move(expression.error()));
            bound.number = std::move(*expression);
        } else if (!rule.column.empty()) {
            auto column = find(rule.column);
            if (!column) return tl::unexpected(std::move(column.error()));
            bound.column = *column;
        }
        fields.push_back(std::move(bound));
        return {};
    }
    void bindOwnColumns() {
        ownRules_.reserve(columns_.size());
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const KernelField* field = findKernelField(columns_[i]);
            const auto ruled = [&](const BoundField& bound) { return bound.rule->field == field; };
            if (!field || std::any_of(fields_.begin(), fields_.end(), ruled)) continue;
            ownRules_.push_back(FieldRule{field, {}, {}, columns_[i]});
            fields_.push_back(BoundField{&ownRules_.back(), {}, static_cast<int>(i)});
        }
    }

    void leaveOut(std::string code, std::string message, std::string expected = {}, std::string hint = {}) {
        if (quiet_) return;
        LeftOut& reason = leftOut_[code];
        if (reason.count++ > 0) return;
        reason.first = warning(std::move(code), std::move(message), std::move(hint), here());
        reason.first.expected = std::move(expected);
    }

    bool evaluate(const BoundExpression& bound, bool isTime, double& value) {
        values_.clear();
        for (const int from : bound.from) {
            if (from == BoundExpression::typeSize) {
                values_.push_back(bits(draft_.kernel.type) / 8.0);
                continue;
            }
            if (from == BoundExpression::row) {
                values_.push_back(static_cast<double>(row_));
                continue;
            }
            const auto cell = cells_[static_cast<std::size_t>(from)];
            const Number number = numberOf(cell);
            const auto& column = columns_[static_cast<std::size_t>(from)];
            if (!number.sound) {
                leaveOut("reference.not-a-number", fmt::format("'{}' in column {} is not a number", cell, column),
                         "a finite number");
                return false;
            }
            if (isTime && !number.unit.empty() && number.unit != description_.timeUnit) {
                leaveOut("reference.unit",
                         fmt::format("'{}' in column {} is not in {}", cell, column, description_.timeUnit),
                         "a time in " + description_.timeUnit, "state the column's unit in `time: {unit: …}`");
                return false;
            }
            values_.push_back(number.value);
        }
        value = bound.expression.evaluate(values_);
        return true;
    }
    bool apply(const std::vector<BoundField>& fields) {
        for (const BoundField& bound : fields) {
            const KernelField& field = *bound.rule->field;
            if (field.setNumber) {
                double value = 0;
                if (bound.column >= 0) {
                    const auto cell = cells_[static_cast<std::size_t>(bound.column)];
                    if (cell.empty()) continue;  // an own column that says nothing of this row's kind
                    const Number number = numberOf(cell);
                    value = number.sound && number.unit.empty() ? number.value : -1;
                } else if (!evaluate(bound.number, false, value)) {
                    return false;
                }
                if (!(value >= field.low && value <= field.high) || (field.whole && value != std::floor(value))) {
                    leaveOut("reference.extent", fmt::format("{} is {:g}", field.name, value),
                             fmt::format("a {}number of at least {:g}", field.whole ? "whole " : "", field.low));
                    return false;
                }
                field.setNumber(draft_, value);
            } else {
                const auto word = bound.column >= 0 ? cells_[static_cast<std::size_t>(bound.column)]
                                                    : std::string_view(bound.rule->word);
                if (bound.column >= 0 && word.empty() && description_.own) continue;
                if (!field.setWord(draft_, word)) {
                    leaveOut("reference.word", fmt::format("'{}' is no {}", word, field.name),
                             std::string(field.words));
                    return false;
                }
            }
        }
        return true;
    }
    bool applyWords() {
        for (const BoundWords& words : words_) {
            const auto cell = cells_[static_cast<std::size_t>(words.column)];
            const auto found = words.words.find(cell);
            if (found == words.words.end()) {
                std::string known;
                for (const auto& [word, unused] : words.words) known.append(known.empty() ? "" : ", ").append(word);
                const auto& column = columns_[static_cast<std::size_t>(words.column)];
                leaveOut("reference.word", fmt::format("'{}' in column {} is not known", cell, column), known,
                         "say what it means under `words` in " + description_.file);
                return false;
            }
            if (found->second.time) rowTime_ = &*found->second.time;
            if (found->second.noise) rowNoise_ = &*found->second.noise;
            if (!apply(found->second.fields)) return false;
        }
        return true;
    }

    std::int32_t device() {
        const std::string_view name = deviceColumn_ >= 0             ? cells_[static_cast<std::size_t>(deviceColumn_)]
                                      : !reading_.fileDevice.empty() ? std::string_view(reading_.fileDevice)
                                                                     : std::string_view(description_.device);
        if (lastDevice_ >= 0 && table_.devices[static_cast<std::size_t>(lastDevice_)].name == name) return lastDevice_;
        const auto found = std::find_if(table_.devices.begin(), table_.devices.end(),
                                        [&](const ReferenceDevice& d) { return d.name == name; });
        lastDevice_ = static_cast<std::int32_t>(found - table_.devices.begin());
        if (found == table_.devices.end()) {
            ReferenceDevice added{std::string(name), {}};
            const auto known = description_.devices.find(plainName(name));
            added.catalogue = reading_.catalogueId(known != description_.devices.end() ? known->second : name);
            table_.devices.push_back(std::move(added));
        }
        return lastDevice_;
    }

    void row(std::size_t number) {
        const auto given = stream_.cells();
        if (given.size() < inFile_) {
            leaveOut("reference.short-row", fmt::format("the line has {} of {} columns", given.size(), inFile_),
                     fmt::format("{} columns", inFile_));
            return;
        }
        std::copy_n(given.begin(), inFile_, cells_.begin());
        row_ = number;
        draft_ = KernelDraft{};
        if (only_) {
            double chosen = 0;
            if (!evaluate(*only_, false, chosen)) return;
            if (!(chosen > 0)) {
                ++notAsked_;
                return;
            }
        }
        rowTime_ = &time_;
        rowNoise_ = noise_ ? &*noise_ : nullptr;
        if (!applyWords() || !apply(fields_)) return;
        if (const char* wrong = finishKernel(draft_)) {
            leaveOut("reference.kernel", wrong, "a sound kernel");
            return;
        }
        ReferenceRow row;
        double time = 0;
        if (!evaluate(*rowTime_, true, time)) return;
        row.seconds = time * description_.secondsPerUnit;
        if (!(row.seconds > 0) || !std::isfinite(row.seconds)) {
            leaveOut("reference.time", fmt::format("the time is {:g} {}", time, description_.timeUnit),
                     "a finite time above zero");
            return;
        }
        if (rowNoise_) {
            quiet_ = true;  // a row without its noise is a row all the same
            if (!evaluate(*rowNoise_, false, row.noise) || !(row.noise >= 0 && row.noise < 10)) row.noise = 0;
            quiet_ = false;
        }
        row.kernel = draft_.kernel;
        setFlashDecoding(row.kernel, row.kernel.flashDecoding || decodesByFlash(table_.software));
        row.device = device();
        row.line = stream_.line();
        ++sound_;
        if (reading_.filter && !reading_.filter->accepts(table_, row)) return;
        const auto& name = table_.devices[static_cast<std::size_t>(row.device)];
        const auto identity = Hash().add(kernelIdentity(row.kernel)).add(name.name).add(row.seconds).value();
        if (!seen_.insert(identity).second) {
            leaveOut("reference.repeated", "the line repeats an earlier one, kernel and time alike");
            return;
        }
        table_.rows.push_back(row);
    }

    Expected<void> empty() const {
        return fail("reference.empty", "the table is empty", "a header line and rows", "export the table again",
                    Place{stream_.path(), 1, 0, {}});
    }
    Expected<void> tooMany() const {
        return fail("reference.too-many", fmt::format("the table has more than {} rows", reading_.most), "fewer rows",
                    "keep a part of them with --where, for example --where kind=gemm,dtype=bf16", here());
    }
    Expected<void> finish(std::size_t lines) {
        if (lines == 0) return empty();
        for (auto& [code, reason] : leftOut_) {
            if (reason.count > 1) {
                reason.first.message += fmt::format("; {} lines were not read for this reason", reason.count);
            } else {
                reason.first.message += "; the line was left out";
            }
            if (sound_ == 0) {
                reason.first.severity = Severity::Error;
                if (reason.first.hint.empty()) reason.first.hint = "check the table's columns and units";
                if (code != "reference.repeated") return tl::unexpected(std::move(reason.first));
            }
            table_.warnings.push_back(std::move(reason.first));
        }
        if (sound_ == 0) {
            return fail("reference.no-rows",
                        notAsked_ > 0 ? "the description's `only` takes none of the rows" : "no row can be used",
                        "at least one row", {}, here());
        }
        return {};
    }

    CsvStream& stream_;
    const ImportDescription& description_;
    const RowReading& reading_;
    ReferenceTable& table_;

    std::vector<std::string> columns_;
    std::size_t inFile_ = 0;
    std::vector<std::string_view> cells_;
    std::vector<BoundField> fields_;
    std::vector<FieldRule> ownRules_;
    std::vector<BoundWords> words_;
    BoundExpression time_;
    std::optional<BoundExpression> noise_, only_;
    const BoundExpression *rowTime_ = nullptr, *rowNoise_ = nullptr;  // of the row at hand
    int deviceColumn_ = -1;

    std::size_t row_ = 0;
    bool quiet_ = false;
    std::size_t sound_ = 0, notAsked_ = 0;
    KernelDraft draft_;
    std::vector<double> values_;
    std::int32_t lastDevice_ = -1;
    std::unordered_set<std::uint64_t> seen_;
    std::map<std::string, LeftOut> leftOut_;
};

}  // namespace

Expected<void> readRows(CsvStream& stream, const ImportDescription& description, const RowReading& reading,
                        ReferenceTable& table) {
    return RowReader(stream, description, reading, table).run();
}

}  // namespace orrery
