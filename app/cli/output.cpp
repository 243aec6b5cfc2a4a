#include "app/cli/output.h"

#include "base/unit.h"
#include "store/project/project.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

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
    return lines(true);
}

std::string Table::body() const {
    return lines(false);
}

std::string Table::lines(bool withHeads) const {
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
    if (withHeads) line(heads_);
    for (const auto& row : rows_) line(row);
    return out;
}

void say(std::string_view text) {
    // Nobody is left to be told that nobody listens.
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
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
    say(text + "\n");
}

void report(const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics) report(diagnostic);
}

bool print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    // The reader has seen enough (`| head`): end as other programs do, without a word.
    if (!written && errno == EPIPE) {
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    if (!written) report(fail("output.write", "standard output cannot be written").value());
    return written;
}

bool writeTo(const std::string& pathOrDash, std::string_view text) {
    if (pathOrDash == "-") return print(text);
    const auto saved = saveFileAtomically(pathOrDash, text);
    if (!saved) report(saved.error());
    return saved.has_value();
}

std::string intervalText(const Estimate& estimate) {
    const std::string latency = format(estimate.latency);
    constexpr std::array<std::pair<std::string_view, double>, 8> units{
        {{"fs", 1e-15}, {"ps", 1e-12}, {"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
    const auto space = latency.find(' ');
    const std::string_view unit = space == std::string::npos ? "s" : std::string_view(latency).substr(space + 1);
    const auto found = std::find_if(units.begin(), units.end(), [&](const auto& each) { return each.first == unit; });
    if (found == units.end()) {
        return fmt::format("[{} … {}]", format(estimate.interval.low), format(estimate.interval.high));
    }
    // Three digits, but no power of ten for an end that is far away.
    const auto number = [&](Seconds end) {
        const double value = end.value / found->second;
        return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
    };
    return fmt::format("[{} … {}]", number(estimate.interval.low), number(estimate.interval.high));
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    gmtime_r(&now, &day);
    return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

std::string count(double number) {
    std::string digits = fmt::format("{:.0f}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
        digits.insert(static_cast<std::size_t>(at), ",");
    }
    return digits;
}

}  // namespace orrery::cli
