#include "serving/traffic/trace_rows.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery::trace {

namespace {

constexpr Ticks perSecond = 1'000'000'000'000;
constexpr Ticks longest = perSecond * 86400 * 100;
constexpr std::size_t mostRows = 200'000'000;

Ticks ticksOf(Unit unit) {
    switch (unit) {
        case Unit::Milli:
            return perSecond / 1000;
        case Unit::Micro:
            return perSecond / 1000000;
        case Unit::Nano:
            return perSecond / 1000000000;
        default:
            return perSecond;
    }
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

// A run of digits of that length as a number; below zero if they are not digits.
int digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return -1;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!isDigit(text[i])) return -1;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take(std::string_view& text, std::string_view anyOf) {
    if (text.empty() || anyOf.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// What follows a decimal point, as a part of `one`; digits beyond the clock's resolution round down.
Ticks fraction(std::string_view& text, Ticks one) {
    Ticks value = 0;
    for (; !text.empty() && isDigit(text.front()); text.remove_prefix(1)) {
        one /= 10;
        value += one * (text.front() - '0');
    }
    return value;
}

std::optional<Ticks> readDate(std::string_view text) {
    const int year = digits(text, 4);
    if (year < 1900 || !take(text, "-/")) return {};
    const int month = digits(text, 2);
    if (month < 1 || month > 12 || !take(text, "-/")) return {};
    const int day = digits(text, 2);
    if (day < 1 || day > 31 || !take(text, " T")) return {};
    const int hour = digits(text, 2);
    if (hour < 0 || hour > 23 || !take(text, ":")) return {};
    const int minute = digits(text, 2);
    if (minute < 0 || minute > 59) return {};
    int second = 0;
    if (take(text, ":")) second = digits(text, 2);
    if (second < 0 || second > 60) return {};
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return {};
    const auto days = std::chrono::sys_days(date).time_since_epoch().count();
    Ticks ticks = (Ticks{days} * 86400 + hour * 3600 + minute * 60 + second) * perSecond;
    if (take(text, ".,")) ticks += fraction(text, perSecond);
    if (take(text, "Z")) return text.empty() ? std::optional(ticks) : std::nullopt;
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
        const int sign = text.front() == '+' ? 1 : -1;
        text.remove_prefix(1);
        const int zoneHour = digits(text, 2);
        take(text, ":");
        const int zoneMinute = text.empty() ? 0 : digits(text, 2);
        if (zoneHour < 0 || zoneMinute < 0) return {};
        ticks -= Ticks{sign} * (zoneHour * 3600 + zoneMinute * 60) * perSecond;
    }
    return text.empty() ? std::optional(ticks) : std::nullopt;
}

}  // namespace

std::optional<Unit> unitOf(std::string_view word) {
    if (word == "s") return Unit::Seconds;
    if (word == "ms") return Unit::Milli;
    if (word == "us") return Unit::Micro;
    if (word == "ns") return Unit::Nano;
    if (word == "date") return Unit::Date;
    return {};
}

std::optional<Ticks> readTime(std::string_view text, Unit unit) {
    if (unit == Unit::Date) return readDate(text);
    const std::string_view whole = text;
    const bool negative = take(text, "-");
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) return {};
    const auto used = static_cast<std::size_t>(end - text.data());
    text.remove_prefix(used);
    Ticks ticks = static_cast<Ticks>(number) * ticksOf(unit);
    bool any = used > 0;
    if (take(text, ".")) {
        any = any || (!text.empty() && isDigit(text.front()));
        ticks += fraction(text, ticksOf(unit));
    }
    if (any && text.empty()) return negative ? -ticks : ticks;
    const auto value = readNumber(whole);  // with an exponent
    if (!value || std::abs(*value) > 1e19) return {};
    return static_cast<Ticks>(*value * static_cast<double>(ticksOf(unit)));
}

std::optional<double> readNumber(std::string_view text) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    return numberIn(text);
}

std::string quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text.substr(0, 60)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7F) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += c;
        }
    }
    return result + (text.size() > 60 ? "…'" : "'");
}

Unexpected badCell(const TraceSpec& trace, std::string_view column, std::string_view cell, int line) {
    const Place place{trace.file, line, 0, std::string(column)};
    if (!isUtf8(cell)) {
        return fail("trace.text", fmt::format("column {} holds bytes that are not text: {}", column, quoted(cell)),
                    "UTF-8", "save the file as UTF-8", place);
    }
    const bool empty = cell.empty();
    return fail(
        "trace.number",
        empty ? fmt::format("column {} is empty", column) : fmt::format("column {} holds {}", column, quoted(cell)),
        "a finite number, or a date for arrivals", "repair the line, or name another column or unit", place);
}

Unexpected missingColumn(const TraceSpec& trace, std::string_view column, std::string_view header, int line) {
    return fail("trace.column", fmt::format("there is no column {}", quoted(column)),
                fmt::format("one of the columns that the file has: {}", header), std::string(nameColumns),
                Place{trace.file, line, 0, {}});
}

Unexpected unreadable(const Diagnostic& problem) {
    Diagnostic mine = problem;
    mine.code = "trace.unreadable";
    constexpr std::string_view before = "the reference file";
    if (const auto at = mine.message.find(before); at != std::string::npos) {
        mine.message.replace(at, before.size(), "the trace");
    }
    mine.expected = "a CSV file or JSON lines, plain or .gz";
    return Unexpected(std::move(mine));
}

Unexpected Rows::wrong(std::string code, std::string message, std::string expected, std::string hint, int line) const {
    return fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                Place{trace_.file, line, 0, {}});
}

void Rows::withHashes(std::int32_t tokens) {
    hashed_ = true;
    stream_.hashTokens = tokens;
    stream_.hashBegin.assign(1, 0);
}

void Rows::with(bool id, bool tenant, bool priority) {
    id_ = id;
    tenant_ = tenant;
    priority_ = priority;
}

Expected<bool> Rows::add(const Row& row, int line) {
    if (row.arrival && *row.arrival < 0) {
        return wrong("trace.negative", "a request arrives before time 0", "0 or later", "shift the column of arrivals",
                     line);
    }
    for (const auto& [tokens, name] : {std::pair{row.prompt, "prompt"}, std::pair{row.output, "output"}}) {
        if (tokens < 0) {
            return wrong("trace.negative", fmt::format("{} of {} tokens", name, tokens), "1 or more", "repair the line",
                         line);
        }
        if (tokens > 1e9 || tokens != std::floor(tokens)) {
            return wrong("trace.range", fmt::format("{} of {} tokens", name, tokens), "a whole number up to 10^9",
                         "repair the line, or name another column", line);
        }
        if (tokens >= 1) continue;
        if (trace_.lenient) {
            ++left_;
            return false;
        }
        return wrong("trace.range", fmt::format("{} of 0 tokens", name), "1 or more",
                     "set lenient to leave out requests that failed", line);
    }
    if (row.arrival) {
        if (!times_.empty() && *row.arrival < times_.back()) {
            if (!trace_.sort) {
                return wrong("trace.unsorted", "the request arrives before the one in the line above",
                             "lines in order of arrival", "set sort, or sort the file", line);
            }
            disordered_ = true;
        }
        times_.push_back(*row.arrival);
    }
    if (size() >= mostRows) {
        return wrong("trace.range", "the trace has over 200 million requests", "fewer", "take a part of the file",
                     line);
    }
    stream_.prompt.push_back(static_cast<std::int32_t>(row.prompt));
    stream_.output.push_back(static_cast<std::int32_t>(row.output));
    if (id_) stream_.id.push_back(row.id);
    if (tenant_) stream_.tenant.push_back(row.tenant);
    if (priority_) stream_.priority.push_back(row.priority);
    return true;
}

void Rows::cut(std::size_t rows) {
    const auto keep = [rows](auto& column) {
        if (column.size() > rows) column.resize(rows);
    };
    keep(stream_.arrival);
    keep(stream_.prompt);
    keep(stream_.output);
    keep(stream_.id);
    keep(stream_.tenant);
    keep(stream_.priority);
    if (!hashed_) return;
    stream_.hashBegin.resize(rows + 1);
    stream_.hashes.resize(stream_.hashBegin.back());
}

Expected<RequestStream> Rows::finish() {
    if (size() == 0) {
        return wrong("trace.empty", left_ > 0 ? "every request of the trace failed" : "the trace holds no request",
                     "a line per request", "choose another file", 0);
    }
    if (disordered_) {
        std::vector<std::uint32_t> order(size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return times_[a] < times_[b]; });
        const auto reorder = [&](auto& column) {
            if (column.empty()) return;
            auto old = column;
            for (std::size_t i = 0; i < order.size(); ++i) column[i] = old[order[i]];
        };
        if (hashed_) {
            std::vector<std::uint64_t> hashes;
            std::vector<std::uint32_t> begin{0};
            for (const auto from : order) {
                hashes.insert(hashes.end(), stream_.hashes.begin() + stream_.hashBegin[from],
                              stream_.hashes.begin() + stream_.hashBegin[from + 1]);
                begin.push_back(static_cast<std::uint32_t>(hashes.size()));
            }
            stream_.hashes = std::move(hashes);
            stream_.hashBegin = std::move(begin);
        }
        reorder(times_);
        reorder(stream_.prompt);
        reorder(stream_.output);
        reorder(stream_.id);
        reorder(stream_.tenant);
        reorder(stream_.priority);
    }
    // Dates, and seconds of a calendar, are counted from the first request; times from a start are kept.
    const bool calendar =
        !times_.empty() && (trace_.unit == "date" || kind_.unit == "date" || times_.front() > longest);
    const Ticks base = calendar ? times_.front() : 0;
    stream_.arrival.assign(size(), 0);
    for (std::size_t i = 0; i < times_.size(); ++i) {
        if (times_[i] - base > longest && trace_.lenient && i > 0) {
            cut(i);
            break;
        }
        if (times_[i] - base > longest) {
            return wrong(
                "trace.range", fmt::format("request {} arrives more than 100 days after the first", i),
                "a shorter trace",
                "check the unit of the arrivals, take a part of the file, or set lenient to leave out the rest", 0);
        }
        stream_.arrival[i] = static_cast<SimTime>(times_[i] - base);
    }
    stream_.name = kind_.title;
    stream_.source = trace_.file;
    if (auto checked = stream_.check(); !checked) return Unexpected(std::move(checked.error()));
    return std::move(stream_);
}

}  // namespace orrery::trace
