#include "base/text/latex_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace orrery {

namespace {

constexpr std::size_t mostRowsOfAPage = 40;

using Record = std::vector<std::string>;

std::vector<Record> recordsOf(std::string_view csv) {
    if (csv.starts_with("\xEF\xBB\xBF")) csv.remove_prefix(3);
    std::vector<Record> records;
    Record record;
    std::string cell;
    bool quoted = false;
    const auto endRecord = [&] {
        if (record.empty() && cell.empty()) return;
        record.push_back(std::move(cell));
        records.push_back(std::move(record));
        cell.clear();
        record.clear();
    };
    for (std::size_t i = 0; i < csv.size(); ++i) {
        const char c = csv[i];
        if (quoted) {
            if (c != '"')
                cell += c;
            else if (i + 1 < csv.size() && csv[i + 1] == '"')
                cell += csv[++i];
            else
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            record.push_back(std::move(cell));
            cell.clear();
        } else if (c == '\n') {
            endRecord();
        } else if (c != '\r') {
            cell += c;
        }
    }
    endRecord();
    return records;
}

bool isNumber(const std::string& cell) {
    char* end = nullptr;
    std::strtod(cell.c_str(), &end);
    return end == cell.c_str() + cell.size();
}

// `1.5e-05` as a power of ten.
std::string cellOf(const std::string& cell) {
    const auto power = cell.find_first_of("eE");
    if (power == std::string::npos || power == 0 || !isNumber(cell)) return latexText(cell);
    return fmt::format("${}\\cdot10^{{{}}}$", cell.substr(0, power), std::atoi(cell.c_str() + power + 1));
}

std::string lineOf(const Record& record, std::size_t columns) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
        if (i > 0) line += " & ";
        if (i < record.size()) line += cellOf(record[i]);
    }
    return line + " \\\\\n";
}

}  // namespace

std::string latexText(std::string_view text) {
    std::string made;
    for (const char c : text) {
        switch (c) {
            case '\\':
                made += "\\textbackslash{}";
                break;
            case '~':
                made += "\\textasciitilde{}";
                break;
            case '^':
                made += "\\textasciicircum{}";
                break;
            case '\n':
            case '\t':
                made += ' ';
                break;
            default:
                if (std::string_view("_&%#${}").find(c) != std::string_view::npos) made += '\\';
                made += c;
        }
    }
    return made;
}

std::string latexNumber(double value, int digits) {
    if (!std::isfinite(value)) return "--";
    if (value == 0) return "0";
    const int places = digits - 1;
    // As rounded: 9.996 with three digits has two before the point.
    const std::string rounded = fmt::format("{:.{}e}", value, places);
    const auto power = rounded.find('e');
    const int exponent = std::atoi(rounded.c_str() + power + 1);
    if (exponent >= 6 || exponent < -3) return fmt::format("${}\\cdot10^{{{}}}$", rounded.substr(0, power), exponent);
    return fmt::format("{:.{}f}", std::strtod(rounded.c_str(), nullptr), std::max(0, places - exponent));
}

std::string latexTable(std::string_view csv) {
    const std::vector<Record> records = recordsOf(csv);
    if (records.empty()) return {};
    const Record& head = records.front();
    std::string form;
    for (std::size_t column = 0; column < head.size(); ++column) {
        const bool numbers = records.size() > 1 &&
                             std::all_of(records.begin() + 1, records.end(),
                                         [&](const Record& r) { return column >= r.size() || isNumber(r[column]); });
        form += numbers ? 'r' : 'l';
    }
    const bool isLong = records.size() - 1 > mostRowsOfAPage;
    const std::string kind = isLong ? "longtable" : "tabular";
    std::string out = "% needs \\usepackage{booktabs" + std::string(isLong ? ",longtable" : "") + "}\n\\begin{" + kind +
                      "}{" + form + "}\n\\toprule\n" + lineOf(head, head.size()) + "\\midrule\n";
    if (isLong) out += "\\endhead\n";
    for (std::size_t i = 1; i < records.size(); ++i) out += lineOf(records[i], head.size());
    return out + "\\bottomrule\n\\end{" + kind + "}\n";
}

}  // namespace orrery
