#include "app/cli/output.h"

#include "base/unit.h"
#include "store/project.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace orrery::cli {

namespace {

std::size_t shownWidth(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> heads, std::vector<bool> right)
    : heads_(std::move(heads)), right_(std::move(right)) {
    right_.resize(heads_.size(), false);
}

void Table::add(std::vector<std::string> cells) {
    cells.resize(heads_.size());
    rows_.push_back(std::move(cells));
}

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (const std::string& head : heads_) widths.push_back(shownWidth(head));
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], shownWidth(row[i]));
    }
    std::string out;
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string gap(widths[i] - shownWidth(cells[i]), ' ');
            if (i > 0) text += "  ";
            text += right_[i] ? gap + cells[i] : cells[i] + gap;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    };
    line(heads_);
    for (const auto& row : rows_) line(row);
    return out;
}

void report(const Diagnostic& diagnostic) {
    std::string text = toText(diagnostic);
    if (::isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr) {
        const std::string word(toText(diagnostic.severity));
        const char* colour = diagnostic.severity == Severity::Error     ? "\x1b[1;31m"
                             : diagnostic.severity == Severity::Warning ? "\x1b[33m"
                                                                        : "\x1b[36m";
        if (text.compare(0, word.size(), word) == 0) text = colour + word + "\x1b[0m" + text.substr(word.size());
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    fmt::print(stderr, "{}\n", text);
}

void report(const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics) report(diagnostic);
}

bool print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) report(fail("output.write", "standard output cannot be written").value());
    return written;
}

bool writeTo(const std::string& pathOrDash, std::string_view text) {
    if (pathOrDash == "-") return print(text);
    const auto saved = saveFileAtomically(pathOrDash, text);
    if (!saved) report(saved.error());
    return saved.has_value();
}

std::string withInterval(const Estimate& estimate) {
    return fmt::format("{} [{} … {}]", format(estimate.latency), format(estimate.interval.low),
                       format(estimate.interval.high));
}

std::string count(double number) {
    std::string digits = fmt::format("{:.0f}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
        digits.insert(static_cast<std::size_t>(at), ",");
    }
    return digits;
}

}  // namespace orrery::cli
