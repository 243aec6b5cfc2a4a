#include "evaluation/edge/edge_table.h"

#include "base/maths.h"
#include "base/text/words.h"
#include "evaluation/csv_file.h"
#include "evaluation/edge/network_facts.h"
#include "learning/edge/space_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace orrery {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

std::size_t placeOf(const CsvFile& file, std::string_view name) {
    const auto found = std::find(file.header.begin(), file.header.end(), name);
    return found == file.header.end() ? none : static_cast<std::size_t>(found - file.header.begin());
}

// Words of a column's name, whole ones, by which it is no measurement.
bool noTarget(std::string_view name) {
    static constexpr std::array<std::string_view, 18> words{"idx",  "row",   "index", "std", "spread", "resolution",
                                                            "size", "top1",  "map",   "gop", "input",  "mhz",
                                                            "init", "embed", "layer", "ffn", "heads",  "attn"};
    std::string word;
    for (const char each : lower(name) + "_") {
        if ((each >= 'a' && each <= 'z') || (each >= '0' && each <= '9')) {
            word += each;
            continue;
        }
        if (std::find(words.begin(), words.end(), word) != words.end()) return true;
        word.clear();
    }
    return false;
}

// `pi5_onnx_mj` and `pi5_onnx_ms` are two sides of one run.
std::string withoutUnit(const std::string& name) {
    const auto cut = name.find_last_of("_ ");
    if (cut == std::string::npos) return name;
    static constexpr std::array<std::string_view, 9> units{"ms", "us", "s", "mj", "uj", "j", "w", "mw", "watts"};
    const std::string last = lower(name.substr(cut + 1));
    return std::find(units.begin(), units.end(), last) == units.end() ? name : name.substr(0, cut);
}

bool missing(std::string_view cell) {
    const std::string low = lower(cell);
    return low.empty() || low == "nan" || low == "na" || low == "n/a" || low == "-";
}

// HAT's tables have no code but a column per choice.
struct HatColumns {
    std::array<std::size_t, 10> at{};
    bool there = false;
    explicit HatColumns(const CsvFile& file) {
        static constexpr std::array<std::string_view, 10> names{"encoder_embed_dim",
                                                                "encoder_layer_num",
                                                                "encoder_ffn_embed_dim_avg",
                                                                "encoder_self_attention_heads_avg",
                                                                "decoder_embed_dim",
                                                                "decoder_layer_num",
                                                                "decoder_ffn_embed_dim_avg",
                                                                "decoder_self_attention_heads_avg",
                                                                "decoder_ende_attention_heads_avg",
                                                                "decoder_arbitrary_ende_attn_avg"};
        there = true;
        for (std::size_t i = 0; i < names.size(); ++i) {
            at[i] = placeOf(file, names[i]);
            there = there && at[i] != none;
        }
    }
    bool full(const std::vector<std::string>& row) const {
        return std::all_of(at.begin(), at.end(), [&](std::size_t i) { return i < row.size() && !row[i].empty(); });
    }
    std::string code(const std::vector<std::string>& row, bool encoder) const {
        const auto cell = [&](std::size_t i) { return row[at[i]]; };
        if (encoder)
            return fmt::format("encoder|embed={}|layers={}|ffn={}|heads={}", cell(0), cell(1), cell(2), cell(3));
        return fmt::format("decoder|embed={}|layers={}|ffn={}|heads={}|cross={}|attends={}|memory={}", cell(4), cell(5),
                           cell(6), cell(7), cell(8), cell(9), cell(0));
    }
};

struct Reading {
    const CsvFile& file;
    const EdgeColumns& columns;
    EdgeTable table;
    std::vector<int> lines = {};         // of the file, of each network's first row
    std::vector<std::size_t> with = {};  // columns beside the one that names the network

    std::string networkOf(const std::vector<std::string>& row, std::size_t network) const {
        std::string name = row[network];
        for (const std::size_t at : with)
            if (at < row.size() && !row[at].empty()) name += " | " + row[at];
        return name;
    }

    Place place(std::size_t row) const { return Place{.file = file.path, .line = file.lines[row]}; }

    Expected<double> value(std::size_t row, std::size_t column) const {
        if (column >= file.rows[row].size() || missing(file.rows[row][column])) return nan;
        const auto number = file.number(row, column);
        if (!number || !(*number >= 0) || !std::isfinite(*number)) {
            return fail("edge.bad-number",
                        fmt::format("“{}” in the column {}", file.rows[row][column].substr(0, 40), file.header[column]),
                        "a latency above 0, or nothing where it was not measured", {}, place(row));
        }
        if (*number == 0) return nan;
        return columns.rates ? 1000 / *number : *number;
    }

    // A file that was cut off, or a code whose commas are not quoted, would be read as rows without measurements.
    // Spreadsheets leave empty cells out at the end of a row, or add some.
    Expected<void> checkWidths() {
        std::size_t shorter = 0, first = 0;
        for (std::size_t r = 0; r < file.rows.size(); ++r) {
            const auto& row = file.rows[r];
            const std::size_t wide = file.header.size();
            if (row.size() == wide || (row.size() == 1 && row.front().empty())) continue;
            if (row.size() > wide && std::all_of(row.begin() + static_cast<std::ptrdiff_t>(wide), row.end(),
                                                 [](const std::string& cell) { return cell.empty(); }))
                continue;
            if (row.size() < wide && r + 1 < file.rows.size()) {
                if (shorter++ == 0) first = r;
                continue;
            }
            return fail("edge.bad-row",
                        fmt::format("the row has {} cells and the first line {}", row.size(), file.header.size()),
                        "a cell for each column, empty where nothing was measured",
                        "a name with a comma in it stands in quotes", place(r));
        }
        if (shorter > 0)
            table.notes.push_back(warning("edge.short-row",
                                          fmt::format("{} rows have fewer cells than the first line: what is missing "
                                                      "is read as not measured",
                                                      shorter),
                                          "an empty cell where nothing was measured", place(first)));
        return {};
    }

    Expected<std::size_t> column(const std::string& name) const {
        const std::size_t at = placeOf(file, name);
        if (at != none) return at;
        return fail("edge.no-column", fmt::format("there is no column “{}”", name.substr(0, 60)),
                    fmt::format("one of: {}", fmt::join(file.header, ", ")), {}, Place{.file = file.path});
    }

    bool named(const std::vector<std::string>& names, std::size_t column) const {
        return std::find(names.begin(), names.end(), file.header[column]) != names.end();
    }

    Expected<void> wide(std::size_t network) {
        const std::size_t index = placeOf(file, "idx") != none ? placeOf(file, "idx") : placeOf(file, "row");
        const HatColumns hat(file);
        std::vector<std::size_t> targets;
        std::vector<std::string> aside;
        for (std::size_t c = 0; c < file.header.size(); ++c) {
            if (c == network || c == index || std::find(hat.at.begin(), hat.at.end(), c) != hat.at.end()) continue;
            if (named(columns.facts, c) || named(columns.with, c)) continue;
            const bool numbers = std::any_of(file.rows.begin(), file.rows.end(), [&](const auto& row) {
                return c < row.size() && !missing(row[c]) && numberIn(row[c]);
            });
            if (!numbers) continue;
            if (noTarget(file.header[c])) {
                aside.push_back(file.header[c]);
                continue;
            }
            const bool encoder = lower(file.header[c]).find("encoder") != std::string::npos;
            if (!hat.there || encoder == (columns.half == "encoder")) targets.push_back(c);
        }
        if (!aside.empty()) {
            Diagnostic note = warning("edge.no-measurement",
                                      fmt::format("no device by their names, left aside: {}", fmt::join(aside, ", ")),
                                      "rename a column that is one", Place{.file = file.path, .line = 1});
            note.severity = Severity::Note;
            table.notes.push_back(std::move(note));
        }
        for (const std::size_t c : targets) table.targets.push_back(file.header[c]);
        table.described = table.targets;
        for (const std::string& each : table.targets) table.groups.push_back(withoutUnit(each));
        table.values.assign(targets.size(), std::vector<double>(file.rows.size(), nan));
        for (std::size_t r = 0; r < file.rows.size(); ++r) {
            const auto& row = file.rows[r];
            const bool coded = network == none;  // HAT's columns are the code
            if (coded ? !hat.full(row) : network >= row.size() || row[network].empty())
                return fail("edge.bad-network", "a row without its network", {}, {}, place(r));
            table.networks.push_back(coded ? hat.code(row, columns.half == "encoder") : networkOf(row, network));
            lines.push_back(file.lines[r]);
            const auto number = index < row.size() ? numberIn(row[index]) : std::nullopt;
            table.index.push_back(number ? *number : static_cast<double>(r));
            for (std::size_t t = 0; t < targets.size(); ++t) {
                const auto each = value(r, targets[t]);
                if (!each) return Unexpected(each.error());
                table.values[t][r] = *each;
            }
        }
        return {};
    }

    // What columns say of a device: those of one value on all its rows.
    std::string description(const std::string& target, std::span<const std::size_t> own) const {
        std::string text = target;
        for (std::size_t c = 0; c < file.header.size(); ++c) {
            const auto cell = [&](std::size_t r) {
                return c < file.rows[r].size() ? std::string_view(file.rows[r][c]) : std::string_view{};
            };
            const std::string_view first = cell(own.front());
            if (first.empty() || own.size() < 2) continue;
            if (std::all_of(own.begin(), own.end(), [&](std::size_t r) { return cell(r) == first; }))
                text += fmt::format(" {}={}", file.header[c], first);
        }
        return text;
    }

    Expected<void> longForm(std::size_t network) {
        std::vector<std::size_t> measured, devices;
        for (const std::string& name : columns.values) {
            const auto at = column(name);
            if (!at) return Unexpected(at.error());
            measured.push_back(*at);
        }
        for (const std::string& name : columns.devices) {
            const auto at = column(name);
            if (!at) return Unexpected(at.error());
            devices.push_back(*at);
        }
        std::size_t whole = none;
        if (!columns.whole.empty()) {
            const auto at = column(columns.whole);
            if (!at) return Unexpected(at.error());
            whole = *at;
        }
        std::map<std::string, std::size_t> rows, targets;
        std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> cells;
        std::vector<std::vector<std::size_t>> own;
        for (std::size_t r = 0; r < file.rows.size(); ++r) {
            const auto& row = file.rows[r];
            std::string device;
            for (const std::size_t at : devices)
                device += fmt::format("{}{}", device.empty() ? "" : " | ", at < row.size() ? row[at] : "");
            if (network >= row.size() || row[network].empty())
                return fail("edge.bad-network", "a row without its network", {}, {}, place(r));
            const auto name = rows.emplace(networkOf(row, network), rows.size());
            if (name.second) {
                table.networks.push_back(name.first->first);
                lines.push_back(file.lines[r]);
            }
            for (const std::size_t c : measured) {
                const auto each = value(r, c);
                if (!each) return Unexpected(each.error());
                const std::string full = measured.size() > 1 ? fmt::format("{} | {}", device, file.header[c]) : device;
                const auto target = targets.emplace(full, targets.size());
                if (target.second) {
                    table.targets.push_back(full);
                    own.emplace_back();
                    if (whole != none) table.groups.push_back(whole < row.size() ? row[whole] : "");
                }
                own[target.first->second].push_back(r);
                if (*each > 0) cells[{target.first->second, name.first->second}].push_back(*each);
            }
        }
        for (std::size_t t = 0; t < own.size(); ++t) table.described.push_back(description(table.targets[t], own[t]));
        table.values.assign(table.targets.size(), std::vector<double>(table.networks.size(), nan));
        for (auto& [at, all] : cells) table.values[at.first][at.second] = quantileType7(all, 0.5);
        for (std::size_t r = 0; r < table.networks.size(); ++r) table.index.push_back(static_cast<double>(r));
        return {};
    }

    // What columns say of the networks themselves, those that the file has.
    void facts(std::size_t network) {
        std::vector<std::size_t> at;
        for (const std::string& name : columns.facts)
            if (placeOf(file, name) != none) at.push_back(placeOf(file, name));
        if (at.empty() || network == none) return;
        std::map<std::string, std::size_t> places;
        for (std::size_t n = 0; n < table.networks.size(); ++n) places.emplace(table.networks[n], n);
        std::vector<std::size_t> of;
        for (const auto& row : file.rows) of.push_back(places.find(networkOf(row, network))->second);
        addFacts(table, file, at, of);
    }

    // Rows by words of their networks' names: int8 apart from fp32, say.
    void keepAsked() {
        const auto has = [](const std::string& name, const std::vector<std::string>& words) {
            const std::string low = lower(name);
            return std::any_of(words.begin(), words.end(),
                               [&](const std::string& word) { return low.find(lower(word)) != std::string::npos; });
        };
        for (std::size_t r = table.networks.size(); r-- > 0;) {
            const std::string& name = table.networks[r];
            if ((columns.only.empty() || has(name, columns.only)) && !has(name, columns.without)) continue;
            const auto at = static_cast<std::ptrdiff_t>(r);
            table.networks.erase(table.networks.begin() + at);
            table.index.erase(table.index.begin() + at);
            lines.erase(lines.begin() + at);
            if (!table.shapes.empty()) table.shapes.erase(table.shapes.begin() + at);
            for (auto& each : table.values) each.erase(each.begin() + at);
        }
    }

    void dropConstant() {
        for (std::size_t t = table.targets.size(); t-- > 0;) {
            double least = std::numeric_limits<double>::infinity(), most = -least;
            for (const double each : table.values[t]) {
                if (!(each > 0)) continue;
                least = std::min(least, each);
                most = std::max(most, each);
            }
            if (least < most) continue;
            table.notes.push_back(warning("edge.constant-column",
                                          fmt::format("{} has only one value and is not used", table.targets[t]),
                                          "was another column meant?", Place{.file = file.path}));
            table.targets.erase(table.targets.begin() + static_cast<std::ptrdiff_t>(t));
            table.values.erase(table.values.begin() + static_cast<std::ptrdiff_t>(t));
            table.described.erase(table.described.begin() + static_cast<std::ptrdiff_t>(t));
            if (!table.groups.empty()) table.groups.erase(table.groups.begin() + static_cast<std::ptrdiff_t>(t));
        }
    }
};

}  // namespace

std::size_t EdgeTable::target(std::string_view name) const {
    return static_cast<std::size_t>(std::find(targets.begin(), targets.end(), name) - targets.begin());
}

const std::string& EdgeTable::describedAs(std::size_t target) const {
    return target < described.size() ? described[target] : targets[target];
}

Expected<EdgeTable> readEdgeTable(const std::string& path, const EdgeColumns& columns) {
    const auto file = readCsv(path);
    if (!file) return Unexpected(file.error());
    Reading reading{*file, columns, {}};
    reading.table.path = path;
    if (file->rows.empty()) return fail("edge.empty", "the table has no rows", {}, {}, Place{.file = path});
    if (auto whole = reading.checkWidths(); !whole) return Unexpected(whole.error());
    std::size_t network = none;
    const HatColumns hat(*file);
    if (!columns.network.empty()) {
        const auto at = reading.column(columns.network);
        if (!at) return Unexpected(at.error());
        network = *at;
    } else if (!hat.there) {
        for (const std::string_view name : {"arch", "cell", "network", "model_name", "standard_name", "model"})
            if (network == none) network = placeOf(*file, name);
        if (network == none) {
            return fail("edge.no-column", "no column names the networks",
                        "arch, cell, network, model_name or model, or another by --network",
                        fmt::format("it has: {}", fmt::join(file->header, ", ")), Place{.file = path});
        }
    }
    for (const std::string& name : columns.with) {
        const auto at = reading.column(name);
        if (!at) return Unexpected(at.error());
        reading.with.push_back(*at);
    }
    if (columns.devices.empty()) {
        if (!columns.whole.empty()) {
            return fail("edge.whole", fmt::format("“{}” parts rows, and here each device has a column", columns.whole),
                        "columns that name the device too", "give --device and --value, or leave --whole out",
                        Place{.file = path});
        }
        if (placeOf(*file, "device") != none) {
            return fail("edge.device-column", "the column “device” names devices, so each row is a measurement",
                        "which column holds it", "--device device --value COLUMN", Place{.file = path, .line = 1});
        }
    }
    auto read = columns.devices.empty() ? reading.wide(network) : reading.longForm(network);
    if (!read) return Unexpected(read.error());
    reading.facts(network);
    if (!columns.only.empty() || !columns.without.empty()) reading.keepAsked();
    if (reading.table.networks.empty())
        return fail("edge.empty", "no network's name has the words asked for", {}, {}, Place{.file = path});
    reading.dropConstant();
    EdgeTable table = std::move(reading.table);
    table.space = spaceOfCode(table.networks.front());
    if (table.space.empty()) return table;
    const auto inputOf = [](const std::string& code) {
        const auto colon = code.find(':');
        return colon == std::string::npos ? std::string() : code.substr(0, colon);
    };
    table.input = inputOf(table.networks.front());
    // A code that cannot be read would be a row of zeros.
    const auto space = spaceFeatures(table.space);
    std::vector<double> row;
    for (std::size_t r = 0; r < table.networks.size(); ++r) {
        row.clear();
        const Place place{.file = path, .line = reading.lines[r]};
        if (auto good = appendFeatures(*space, table.networks[r], row); !good) {
            Diagnostic problem = good.error();
            problem.code = "edge.bad-network";
            problem.place = place;
            return Unexpected(problem);
        }
        if (const std::string input = inputOf(table.networks[r]); input != table.input) {
            return fail("edge.bad-network",
                        fmt::format("“{}” among networks of “{}”: codes do not say what another input costs", input,
                                    table.input),
                        "one input in a table", "give each input a table of its own", place);
        }
    }
    return table;
}

Expected<FeatureRows> edgeFeatures(const EdgeTable& table, std::span<const std::size_t> rows) {
    const auto space = spaceFeatures(table.space);
    if (!space) return Unexpected(space.error());
    FeatureRows features{space->names.size(), {}, space->core, space->half, space->nothing};
    const std::size_t count = rows.empty() ? table.networks.size() : rows.size();
    features.values.reserve(count * features.columns);
    for (std::size_t i = 0; i < count; ++i) {
        if (auto good = appendFeatures(*space, table.networks[rows.empty() ? i : rows[i]], features.values); !good)
            return Unexpected(good.error());
    }
    return features;
}

std::vector<std::size_t> analyticColumns(const EdgeTable& table) {
    const auto space = spaceFeatures(table.space);
    return space ? space->analytic : std::vector<std::size_t>{};
}

}  // namespace orrery
