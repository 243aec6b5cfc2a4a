#include "evaluation/method_matrix.h"

#include "base/maths.h"
#include "base/text/csv_cell.h"
#include "base/text/latex_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace orrery {

namespace {

const std::string& deviceOf(std::span<const ReferenceTable> tables, RowRef ref) {
    const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
    return table.devices[static_cast<std::size_t>(table.rows[static_cast<std::size_t>(ref.row)].device)].catalogue;
}

/// Why a method prices none of the rows: what it said itself about one of their devices, or of all.
std::string whyNot(const MatrixEntry& entry, std::span<const ReferenceTable> tables, const std::vector<RowRef>& rows,
                   Facet by, const std::string& word) {
    if (entry.evaluation) {
        std::set<std::string> devices;
        for (const RowRef ref : rows) devices.insert(deviceOf(tables, ref));
        for (const Diagnostic& said : entry.evaluation->warnings) {
            for (const std::string& device : devices) {
                const auto end = said.message.find(fmt::format(" rows on {} are left out", device));
                if (end == std::string::npos) continue;
                return said.message.substr(0, said.message.rfind(';', end));
            }
        }
    }
    const auto& platforms = entry.card->platforms;
    if (by == Facet::Platform && std::find(platforms.begin(), platforms.end(), word) == platforms.end())
        return fmt::format("not made for {}", word);
    if (!entry.evaluation && !entry.refusal.empty()) return entry.refusal;
    return fmt::format("predicts none of the {} rows", rows.size());
}

struct OneColumn {
    std::vector<RowRef> asked;
    std::vector<std::vector<std::size_t>> priced;  // by entry: places in its evaluation
};

void fillCells(MethodMatrix& matrix, std::size_t column, const OneColumn& of, std::span<const MatrixEntry> entries,
               std::span<const ReferenceTable> tables, bool common) {
    std::size_t most = 0;
    for (const auto& places : of.priced) most = std::max(most, places.size());
    std::map<std::uint64_t, std::size_t> shared;
    std::size_t counted = 0;
    const auto counts = [&](std::size_t m) { return !of.priced[m].empty() && 2 * of.priced[m].size() >= most; };
    for (std::size_t m = 0; m < entries.size(); ++m) {
        if (!counts(m)) continue;
        ++counted;
        for (const std::size_t i : of.priced[m]) ++shared[rowKey(entries[m].evaluation->rows.ref[i])];
    }
    MatrixColumn& head = matrix.columns[column];
    for (const RowRef ref : of.asked) {
        const auto found = shared.find(rowKey(ref));
        if (counted > 0 && found != shared.end() && found->second == counted) ++head.common;
    }
    for (std::size_t m = 0; m < entries.size(); ++m) {
        MatrixCell& cell = matrix.cells[m][column];
        if (of.asked.empty()) continue;
        if (of.priced[m].empty()) {
            cell.state = MatrixCell::State::NotApplicable;
            cell.reason = whyNot(entries[m], tables, of.asked, matrix.by, head.word);
            continue;
        }
        const EvaluatedRows& rows = entries[m].evaluation->rows;
        std::vector<std::size_t> places = of.priced[m];
        if (common && counts(m) && head.common > 0) {
            std::erase_if(places, [&](std::size_t i) { return shared.at(rowKey(rows.ref[i])) != counted; });
            cell.common = true;
        }
        std::vector<double> errors;
        for (const std::size_t i : places) {
            errors.push_back(rows.error(i));
            cell.which.push_back(rows.ref[i]);
        }
        const EvaluationFigures figures = figuresOf(rows, places);
        const MedianInterval median = aroundMedian(std::move(errors));
        cell.state = MatrixCell::State::Judged;
        cell.rows = places.size();
        cell.median = median.median;
        cell.low = median.low;
        cell.high = median.high;
        cell.mape = figures.errors.mape;
        cell.coverage90 = figures.coverage90;
    }
}

std::string_view toText(MatrixCell::State state) {
    switch (state) {
        case MatrixCell::State::NoTruth:
            return "no-truth";
        case MatrixCell::State::NotApplicable:
            return "not-applicable";
        case MatrixCell::State::Judged:
            return "judged";
    }
    return {};
}

}  // namespace

MedianInterval aroundMedian(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    const double middle = medianOfSorted(values);
    if (n < 8) return {middle, values.front(), values.back()};
    // 1.645 standard deviations of a binomial with p = ½ (David & Nagaraja, Order Statistics, 7.1).
    const double away = 1.645 * std::sqrt(static_cast<double>(n)) / 2;
    const double half = static_cast<double>(n) / 2;
    const auto low = static_cast<std::size_t>(std::max(std::floor(half - away) - 1, 0.0));
    const auto high = std::min(static_cast<std::size_t>(std::ceil(half + away)), n - 1);
    return {middle, values[low], values[high]};
}

MethodMatrix methodMatrix(std::span<const MatrixEntry> entries, std::span<const ReferenceTable> tables,
                          std::span<const RowRef> asked, Facet by, bool common) {
    MethodMatrix matrix;
    matrix.by = by;
    for (const FacetCount& each : facetCounts(by, tables, asked)) matrix.columns.push_back({each.word, each.rows, 0});
    std::vector<OneColumn> columns(matrix.columns.size());
    const auto columnOf = [&](const std::string& word) {
        return static_cast<std::size_t>(std::find_if(matrix.columns.begin(), matrix.columns.end(),
                                                     [&](const MatrixColumn& each) { return each.word == word; }) -
                                        matrix.columns.begin());
    };
    std::map<std::uint64_t, std::size_t> columnOfRow;
    for (const RowRef ref : asked) {
        const std::size_t column = columnOf(facetOf(by, tables, ref));
        columnOfRow.emplace(rowKey(ref), column);
        columns[column].asked.push_back(ref);
    }
    if (by == Facet::Platform) {
        for (const MatrixEntry& entry : entries) {
            for (const std::string_view platform : entry.card->platforms) {
                if (columnOf(std::string(platform)) < matrix.columns.size()) continue;
                matrix.columns.push_back({std::string(platform), 0, 0});
                columns.emplace_back();
            }
        }
    }
    for (OneColumn& column : columns) column.priced.resize(entries.size());
    for (std::size_t m = 0; m < entries.size(); ++m) {
        if (!entries[m].evaluation) continue;
        const EvaluatedRows& rows = entries[m].evaluation->rows;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto found = columnOfRow.find(rowKey(rows.ref[i]));
            if (found != columnOfRow.end()) columns[found->second].priced[m].push_back(i);
        }
    }
    matrix.cells.assign(entries.size(), std::vector<MatrixCell>(matrix.columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) fillCells(matrix, c, columns[c], entries, tables, common);
    matrix.order.resize(entries.size());
    std::iota(matrix.order.begin(), matrix.order.end(), std::size_t{0});
    std::stable_sort(matrix.order.begin(), matrix.order.end(), [&](std::size_t a, std::size_t b) {
        return entries[a].card->methodology < entries[b].card->methodology;
    });
    return matrix;
}

void markLeast(MethodMatrix& matrix, const std::function<std::size_t(std::size_t entry, std::size_t column)>& group) {
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
        std::map<std::size_t, std::vector<MatrixCell*>> groups;
        for (std::size_t m = 0; m < matrix.cells.size(); ++m) {
            MatrixCell& cell = matrix.cells[m][c];
            if (cell.state == MatrixCell::State::Judged && cell.common) groups[group(m, c)].push_back(&cell);
        }
        for (auto& [which, cells] : groups) {
            for (MatrixCell* cell : cells) cell->equals = cells.size();
            if (cells.size() < 2) continue;
            (*std::min_element(cells.begin(), cells.end(), [](const MatrixCell* a, const MatrixCell* b) {
                return a->mape < b->mape;
            }))->least = true;
        }
    }
}

std::string matrixCsv(const MethodMatrix& matrix, std::span<const MatrixEntry> entries) {
    std::string out = fmt::format(
        "method,methodology,level,{},state,rows,common,median_error,low,high,mape,coverage90,equals,least,reason\n",
        toText(matrix.by));
    for (const std::size_t m : matrix.order) {
        for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
            const MatrixCell& cell = matrix.cells[m][c];
            out += fmt::format("{},{},{},{},{},{},{}", csvCell(entries[m].asked), toText(entries[m].card->methodology),
                               toText(entries[m].card->level), csvCell(matrix.columns[c].word), toText(cell.state),
                               cell.rows, cell.common ? 1 : 0);
            if (cell.state == MatrixCell::State::Judged) {
                out += fmt::format(",{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},\n", cell.median, cell.low, cell.high,
                                   cell.mape, cell.coverage90, cell.equals, cell.least ? 1 : 0);
            } else {
                out += fmt::format(",,,,,,,,{}\n", csvCell(cell.reason));
            }
        }
    }
    return out;
}

std::string matrixTex(const MethodMatrix& matrix, std::span<const MatrixEntry> entries) {
    std::string out =
        fmt::format("\\begin{{tabular}}{{l{}}}\n\\toprule\nMethod", std::string(matrix.columns.size(), 'r'));
    for (const MatrixColumn& column : matrix.columns) out += " & " + latexText(column.word);
    out += " \\\\\n";
    std::optional<Methodology> before;
    for (const std::size_t m : matrix.order) {
        if (before != entries[m].card->methodology) {
            before = entries[m].card->methodology;
            out += fmt::format("\\midrule\n\\multicolumn{{{}}}{{l}}{{\\textit{{{}}}}} \\\\\n",
                               matrix.columns.size() + 1, toText(*before));
        }
        out += latexText(entries[m].asked);
        for (const MatrixCell& cell : matrix.cells[m]) {
            out += " & ";
            if (cell.state == MatrixCell::State::NotApplicable) out += "--";
            if (cell.state == MatrixCell::State::Judged)
                out += fmt::format("${}{:+.1f}{}_{{{}}}$", cell.least ? "\\mathbf{" : "", 100 * cell.median,
                                   cell.least ? "}" : "", cell.rows);
        }
        out += " \\\\\n";
    }
    return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace orrery
