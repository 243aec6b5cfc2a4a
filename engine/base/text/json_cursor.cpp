#include "base/text/json_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace orrery {

namespace {

constexpr std::size_t deepest = 64;

void appendUtf8(std::string& text, std::uint32_t code) {
    if (code < 0x80) {
        text += char(code);
    } else if (code < 0x800) {
        text += char(0xC0 | (code >> 6));
        text += char(0x80 | (code & 0x3F));
    } else {
        if (code >= 0x10000) text += char(0xF0 | (code >> 18));
        text += char(code >= 0x10000 ? 0x80 | ((code >> 12) & 0x3F) : 0xE0 | (code >> 12));
        text += char(0x80 | ((code >> 6) & 0x3F));
        text += char(0x80 | (code & 0x3F));
    }
}

// Four hexadecimal digits behind `\u`.
std::optional<std::uint32_t> codeUnit(std::string_view text, std::size_t at) {
    std::uint32_t code = 0;
    if (at + 4 > text.size() || std::from_chars(&text[at], &text[at] + 4, code, 16).ptr != &text[at] + 4)
        return std::nullopt;
    return code;
}

bool digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

JsonCursor::JsonCursor(std::string_view text, std::string_view file, std::string_view area)
    : text_(text), file_(file), area_(area) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

void JsonCursor::fail(std::string_view code, std::string message, std::string expected, std::string hint) {
    if (failed_) return;
    failed_ = true;
    const auto end = text_.begin() + std::ptrdiff_t(std::min(at_, text_.size()));
    const auto line = 1 + std::count(text_.begin(), end, '\n');
    problem_ = {Severity::Error, fmt::format("{}.{}", area_, code),         std::move(message), std::move(expected),
                std::move(hint), {std::string(file_), int(line), 0, path()}};
}

std::string JsonCursor::path() const {
    std::string path;
    for (const Frame& frame : frames_) {
        if (frame.object && !frame.key.empty()) path += fmt::format("{}{}", path.empty() ? "" : ".", frame.key);
        if (!frame.object && frame.index >= 0) path += fmt::format("[{}]", frame.index);
    }
    return path;
}

void JsonCursor::syntax(std::string expected) {
    const bool over = at_ >= text_.size();
    fail("not-json", over ? "the text ends too early" : fmt::format("unexpected character '{:.1}'", text_.substr(at_)),
         std::move(expected), over ? "The file may have been cut off: copy it again." : "");
}

void JsonCursor::blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
        ++at_;
    }
}

JsonCursor::Kind JsonCursor::kind() {
    blanks();
    if (failed_ || at_ >= text_.size()) return Kind::Wrong;
    switch (const char c = text_[at_]) {
        case '{':
            return Kind::Object;
        case '[':
            return Kind::Array;
        case '"':
            return Kind::Text;
        case 't':
            return text_.substr(at_).starts_with("true") ? Kind::Truth : Kind::Wrong;
        case 'f':
            return text_.substr(at_).starts_with("false") ? Kind::Truth : Kind::Wrong;
        case 'n':
            return text_.substr(at_).starts_with("null") ? Kind::Null : Kind::Wrong;
        default:
            return digit(c) || c == '-' ? Kind::Number : Kind::Wrong;
    }
}

bool JsonCursor::enter(char open, bool object) {
    blanks();
    if (failed_) return false;
    if (at_ >= text_.size() || text_[at_] != open) {
        const Kind found = kind();
        if (found == Kind::Wrong)
            syntax(object ? "an object {…}" : "an array […]");
        else
            fail("type", object ? "not an object" : "not an array", object ? "an object {…}" : "an array […]");
        return false;
    }
    if (frames_.size() >= deepest) {
        fail("too-deep", fmt::format("nested more than {} levels", deepest), "a flat file");
        return false;
    }
    ++at_;
    frames_.push_back({object, true, {}, -1});
    return true;
}

void JsonCursor::object() {
    enter('{', true);
}

void JsonCursor::array() {
    enter('[', false);
}

bool JsonCursor::more(char close) {
    blanks();
    if (failed_ || frames_.empty()) return false;
    if (at_ < text_.size() && text_[at_] == close) {
        ++at_;
        frames_.pop_back();
        return false;
    }
    if (!frames_.back().first) {
        if (at_ >= text_.size() || text_[at_] != ',') {
            syntax(fmt::format("',' or '{}'", close));
            return false;
        }
        ++at_;
        blanks();
    }
    frames_.back().first = false;
    return true;
}

bool JsonCursor::key(std::string_view& key) {
    if (!more('}')) return false;
    frames_.back().key = {};
    if (kind() != Kind::Text) {
        syntax("a name in quotes");
        return false;
    }
    key = string();
    blanks();
    if (failed_) return false;
    if (at_ >= text_.size() || text_[at_] != ':') {
        syntax("':'");
        return false;
    }
    ++at_;
    frames_.back().key = key;
    return true;
}

bool JsonCursor::element() {
    if (!more(']')) return false;
    ++frames_.back().index;
    return true;
}

// Most numbers have few digits and a small power of ten: digits as a whole number, times or over an exact power of ten,
// is then rounded once and so is right to the last bit (Clinger, PLDI 1990). False, and nothing read, for all others.
bool JsonCursor::quickNumber(double& value) {
    static constexpr double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* at = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const bool negative = at < end && *at == '-';
    at += negative;
    std::uint64_t whole = 0;
    int digits = 0, power = 0;
    for (; at < end && digit(*at) && digits < 16; ++at, ++digits) whole = whole * 10 + std::uint64_t(*at - '0');
    if (digits == 0) return false;
    if (at < end && *at == '.') {
        const char* const point = ++at;
        for (; at < end && digit(*at) && digits < 16; ++at, ++digits) whole = whole * 10 + std::uint64_t(*at - '0');
        power = int(point - at);
        if (power == 0) return false;
    }
    if (digits > 15) return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (++at == end) return false;
        const bool down = *at == '-';
        if (down || *at == '+') ++at;
        int exponent = 0;
        const char* const first = at;
        for (; at < end && digit(*at) && at - first < 4; ++at) exponent = exponent * 10 + (*at - '0');
        if (at == first || (at < end && digit(*at))) return false;
        power += down ? -exponent : exponent;
    }
    if (power < -22 || power > 22) return false;
    value = power < 0 ? double(whole) / tens[-power] : double(whole) * tens[power];
    if (negative) value = -value;
    at_ = std::size_t(at - text_.data());
    return true;
}

double JsonCursor::number() {
    if (double quick = 0; !failed_ && quickNumber(quick)) return quick;
    const Kind found = kind();
    if (failed_) return 0;
    if (found != Kind::Number) {
        // What Python writes for numbers that JSON does not have.
        const auto rest = text_.substr(std::min(at_, text_.size()));
        if (rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("nan") ||
            rest.starts_with("inf")) {
            fail("not-finite", "a number that is not finite", "a finite number");
        } else if (found == Kind::Wrong) {
            syntax("a number");
        } else {
            fail("type", "not a number", "a number");
        }
        return 0;
    }
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    if (*begin == '-' && (begin + 1 == end || !digit(begin[1]))) {
        const bool infinite = text_.substr(at_ + 1).starts_with("Infinity") || text_.substr(at_ + 1).starts_with("inf");
        if (infinite)
            fail("not-finite", "a number that is not finite", "a finite number");
        else
            syntax("a number");
        return 0;
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range) {
        // Too small is nothing, too large is an error.
        const std::string_view digits(begin, std::size_t(stop - begin));
        if (digits.find("e-") == digits.npos && digits.find("E-") == digits.npos && digits.find("0.0") == digits.npos) {
            fail("not-finite", "a number that is too large", "a finite number");
        }
        value = 0;
    }
    at_ += std::size_t(stop - begin);
    return value;
}

std::int64_t JsonCursor::integer() {
    const double value = number();
    if (ok() && (value != std::floor(value) || std::abs(value) > 9007199254740992.0)) {
        fail("type", fmt::format("{} is not a whole number", value), "a whole number");
    }
    return ok() ? std::int64_t(value) : 0;
}

std::string_view JsonCursor::string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
    if (at_ < text_.size() && text_[at_] == '"') return text_.substr(begin, at_++ - begin);
    std::string& decoded = decoded_.emplace_back(text_.substr(begin, at_ - begin));
    while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] != '\\') {
            decoded += text_[at_++];
            continue;
        }
        const char escape = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        at_ += 2;
        static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
        if (const auto known = from.find(escape); escape != '\0' && known != from.npos) {
            decoded += to[known];
        } else if (auto code = escape == 'u' ? codeUnit(text_, at_) : std::nullopt) {
            at_ += 4;
            if ((*code & 0xF800) == 0xD800) {  // half of a pair (RFC 8259, 7); alone it is no character
                const auto low = text_.substr(at_).starts_with("\\u") ? codeUnit(text_, at_ + 2) : std::nullopt;
                const bool pair = *code < 0xDC00 && low && (*low & 0xFC00) == 0xDC00;
                code = pair ? 0x10000 + ((*code & 0x3FF) << 10) + (*low & 0x3FF) : 0xFFFD;
                if (pair) at_ += 6;
            }
            appendUtf8(decoded, *code);
        } else {
            syntax("an escape such as \\n");
            return {};
        }
    }
    if (at_ >= text_.size()) {
        syntax("the end of a text, '\"'");
        return {};
    }
    ++at_;
    return decoded;
}

std::string_view JsonCursor::text() {
    const Kind found = kind();
    if (failed_) return {};
    if (found == Kind::Wrong)
        syntax("a text in quotes");
    else if (found != Kind::Text)
        fail("type", "not a text", "a text in quotes");
    return failed_ ? std::string_view{} : string();
}

bool JsonCursor::truth() {
    blanks();
    if (failed_) return false;
    for (const std::string_view word : {"true", "false"}) {
        if (!text_.substr(at_).starts_with(word)) continue;
        at_ += word.size();
        return word == "true";
    }
    fail("type", "neither true nor false", "true or false");
    return false;
}

bool JsonCursor::null() {
    if (kind() != Kind::Null || !text_.substr(at_).starts_with("null")) return false;
    at_ += 4;
    return true;
}

// Past an array of numbers in one go: most of what is passed over are columns of zeros.
bool JsonCursor::skipNumbers() {
    static constexpr auto ofNumbers = [] {
        std::array<bool, 256> set{};
        for (const char c : std::string_view("0123456789+-.eE, \n\r\t")) set[static_cast<unsigned char>(c)] = true;
        return set;
    }();
    std::size_t at = at_ + 1;
    while (at < text_.size() && ofNumbers[static_cast<unsigned char>(text_[at])]) ++at;
    if (at >= text_.size() || text_[at] != ']') return false;
    at_ = at + 1;
    return true;
}

void JsonCursor::skip() {
    std::string_view name;
    switch (kind()) {
        case Kind::Object:
            for (object(); key(name);) skip();
            break;
        case Kind::Array:
            if (!skipNumbers()) {
                for (array(); element();) skip();
            }
            break;
        case Kind::Text:
            string();
            break;
        case Kind::Number:
            number();
            break;
        case Kind::Truth:
            truth();
            break;
        case Kind::Null:
            if (!null()) syntax("null");
            break;
        case Kind::Wrong:
            number();
            break;  // says what is wrong
    }
}

std::vector<double> JsonCursor::numbers(std::size_t limit) {
    std::vector<double> all;
    array();
    if (failed_) return all;
    // Plain numbers in one go; from the first that is not, one by one.
    for (double value = 0; all.size() < limit;) {
        const std::size_t before = at_;
        blanks();
        if (!all.empty()) {
            if (at_ >= text_.size() || text_[at_] != ',') break;
            ++at_;
            blanks();
        }
        if (!quickNumber(value)) {
            at_ = before;
            break;
        }
        all.push_back(value);
        frames_.back().first = false;
        ++frames_.back().index;
    }
    while (element()) {
        if (all.size() >= limit) {
            fail("too-large", fmt::format("more than {} numbers", limit));
            break;
        }
        all.push_back(number());
    }
    return all;
}

void JsonCursor::end() {
    blanks();
    if (!failed_ && at_ < text_.size()) syntax("the end of the file");
}

}  // namespace orrery
