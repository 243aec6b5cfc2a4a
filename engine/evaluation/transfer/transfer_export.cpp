#include "evaluation/transfer/transfer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery {

namespace {

using TransferJsonValue = nlohmann::ordered_json;

std::string_view stateText(TransferCell::State state) {
    switch (state) {
        case TransferCell::State::Judged:
            return "judged";
        case TransferCell::State::NotFitted:
            return "not-fitted";
        case TransferCell::State::NoTruth:
            return "no-truth";
    }
    return {};
}

TransferJsonValue cellJson(const TransferCell& cell) {
    TransferJsonValue json{{"state", std::string(stateText(cell.state))}};
    if (cell.state != TransferCell::State::Judged) {
        json["reason"] = cell.reason;
        return json;
    }
    json["rows"] = cell.rows;
    json["mape"] = cell.mape;
    json["median_error"] = cell.median;
    json["low"] = cell.low;
    json["high"] = cell.high;
    json["coverage90"] = cell.coverage90;
    return json;
}

std::string transferCsvCell(std::string_view text) {
    if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
    std::string cell = "\"";
    for (const char c : text) cell.append(c == '"' ? "\"\"" : std::string(1, c));
    return cell + "\"";
}

std::string transferCsvLine(std::string_view from, std::size_t fitted, const TransferGroup& to,
                            const TransferCell& cell) {
    std::string line = fmt::format("{},{},{},{},{}", transferCsvCell(from), fitted, transferCsvCell(to.name),
                                   to.platform, stateText(cell.state));
    if (cell.state != TransferCell::State::Judged)
        return line + fmt::format(",0,,,,,,{}\n", transferCsvCell(cell.reason));
    return line + fmt::format(",{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},\n", cell.rows, cell.mape, cell.median, cell.low,
                              cell.high, cell.coverage90);
}

}  // namespace

std::string transferJson(const Transfer& transfer) {
    TransferJsonValue json{{"format", "orrery-transfer"},
                           {"version", 1},
                           {"program", "Orrery " ORRERY_VERSION},
                           {"method", transfer.method},
                           {"by", std::string(toText(transfer.by))},
                           {"fit", std::string(toText(transfer.fit))},
                           {"groups", TransferJsonValue::array()},
                           {"untouched", TransferJsonValue::array()},
                           {"cells", TransferJsonValue::array()}};
    for (const TransferGroup& group : transfer.groups) {
        json["groups"].push_back({{"name", group.name},
                                  {"platform", group.platform},
                                  {"fitted_rows", group.fitted},
                                  {"judged_rows", group.judged}});
    }
    for (std::size_t b = 0; b < transfer.groups.size(); ++b) {
        auto cell = cellJson(transfer.untouched[b]);
        cell["judged_on"] = transfer.groups[b].name;
        json["untouched"].push_back(std::move(cell));
    }
    for (std::size_t a = 0; a < transfer.groups.size(); ++a) {
        for (std::size_t b = 0; b < transfer.groups.size(); ++b) {
            auto cell = cellJson(transfer.cells[a][b]);
            cell["fitted_on"] = transfer.groups[a].name;
            cell["judged_on"] = transfer.groups[b].name;
            json["cells"].push_back(std::move(cell));
        }
    }
    return json.dump(2, ' ', false, TransferJsonValue::error_handler_t::replace) + "\n";
}

std::string transferCsv(const Transfer& transfer) {
    std::string out =
        "fitted_on,fitted_rows,judged_on,platform,state,rows,mape,median_error,low,high,coverage90,reason\n";
    for (std::size_t b = 0; b < transfer.groups.size(); ++b)
        out += transferCsvLine("", 0, transfer.groups[b], transfer.untouched[b]);
    for (std::size_t a = 0; a < transfer.groups.size(); ++a)
        for (std::size_t b = 0; b < transfer.groups.size(); ++b)
            out += transferCsvLine(transfer.groups[a].name, transfer.groups[a].fitted, transfer.groups[b],
                                   transfer.cells[a][b]);
    return out;
}

}  // namespace orrery
