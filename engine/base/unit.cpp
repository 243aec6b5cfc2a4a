#include "base/unit.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace orrery {
namespace {

struct Unit {
    std::string_view symbol;
    double scale;   // to SI
    bool prefixes;  // takes k, M, Gi, …
    bool perCycle = false;
};

struct DimensionInfo {
    Dimension dimension;
    std::string_view name;
    std::string_view base;  // symbol that is printed
    std::vector<Unit> units;
};

const std::vector<DimensionInfo>& dimensions() {
    static const std::vector<DimensionInfo> table = {
        {Dimension::Number, "number", "", {{"", 1, true}}},
        {Dimension::Count, "count", "", {{"", 1, true}}},
        {Dimension::Fraction, "fraction", "%", {{"", 1, false}, {"%", 0.01, false}}},
        {Dimension::Time,
         "time",
         "s",
         {{"s", 1, true},
          {"min", 60, false},
          {"h", 3600, false},
          {"cycles", 1, false, true},
          {"cycle", 1, false, true}}},
        {Dimension::Data,
         "data",
         "B",
         {{"B", 1, true}, {"bytes", 1, false}, {"byte", 1, false}, {"bit", 0.125, true}, {"bits", 0.125, false}}},
        {Dimension::DataRate,
         "data rate",
         "B/s",
         {{"B/s", 1, true}, {"bit/s", 0.125, true}, {"B/cycle", 1, true, true}, {"bit/cycle", 0.125, true, true}}},
        {Dimension::Operations,
         "operations",
         "FLOP",
         {{"FLOP", 1, true}, {"FLOPs", 1, true}, {"OP", 1, true}, {"OPs", 1, true}}},
        {Dimension::OperationRate,
         "operation rate",
         "FLOP/s",
         {{"FLOP/s", 1, true},
          {"FLOPS", 1, true},
          {"OP/s", 1, true},
          {"OPS", 1, true},
          {"FLOP/cycle", 1, true, true},
          {"OP/cycle", 1, true, true},
          {"/cycle", 1, false, true}}},
        {Dimension::Frequency, "frequency", "Hz", {{"Hz", 1, true}}},
        {Dimension::Energy, "energy", "J", {{"J", 1, true}, {"Wh", 3600, true}}},
        {Dimension::Power, "power", "W", {{"W", 1, true}}},
        {Dimension::EnergyPerData, "energy per data", "J/B", {{"J/B", 1, true}, {"J/bit", 8, true}}},
        {Dimension::EnergyPerOperation, "energy per operation", "J/FLOP", {{"J/FLOP", 1, true}, {"J/OP", 1, true}}},
        {Dimension::Intensity, "arithmetic intensity", "FLOP/B", {{"FLOP/B", 1, true}}},
        {Dimension::Area,
         "area",
         "mm²",
         {{"mm²", 1e-6, false}, {"mm2", 1e-6, false}, {"m²", 1, false}, {"m2", 1, false}, {"um2", 1e-12, false}}},
    };
    return table;
}

const DimensionInfo& info(Dimension dimension) {
    return dimensions()[static_cast<std::size_t>(dimension)];
}

struct Prefix {
    std::string_view symbol;
    double scale;
};
constexpr std::array<Prefix, 19> prefixes{{{"Ki", 0x1p10},
                                           {"Mi", 0x1p20},
                                           {"Gi", 0x1p30},
                                           {"Ti", 0x1p40},
                                           {"Pi", 0x1p50},
                                           {"Ei", 0x1p60},
                                           {"k", 1e3},
                                           {"K", 1e3},
                                           {"M", 1e6},
                                           {"G", 1e9},
                                           {"T", 1e12},
                                           {"P", 1e15},
                                           {"E", 1e18},
                                           {"m", 1e-3},
                                           {"u", 1e-6},
                                           {"µ", 1e-6},
                                           {"n", 1e-9},
                                           {"p", 1e-12},
                                           {"f", 1e-15}}};

struct Scale {
    double factor;
    bool perCycle;
};

std::optional<Scale> findUnit(std::string_view symbol, Dimension dimension) {
    for (const Unit& unit : info(dimension).units) {
        if (symbol == unit.symbol) return Scale{unit.scale, unit.perCycle};
        if (!unit.prefixes || !symbol.ends_with(unit.symbol)) continue;
        const std::string_view head = symbol.substr(0, symbol.size() - unit.symbol.size());
        for (const Prefix& prefix : prefixes) {
            if (head == prefix.symbol) return Scale{prefix.scale * unit.scale, unit.perCycle};
        }
    }
    return std::nullopt;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"  // false in GCC 12, on std::string::replace (bug 105651)
// The unit that a slip like `GBps`, `gb/s`, `gbit/sec` most likely meant; empty if none comes near.
std::string likelyUnit(std::string_view symbol, Dimension dimension) {
    std::string wanted = lower(symbol);
    const auto replace = [&wanted](std::string_view from, std::string_view to) {
        if (const auto at = wanted.find(from); at != std::string::npos) wanted.replace(at, from.size(), to);
    };
    if (wanted.ends_with("bps")) wanted.replace(wanted.size() - 2, 2, "/s");
    replace("/sec", "/s");
    replace("flops/s", "flop/s");
    replace("seconds", "s");
    replace("sec", "s");
    for (const Unit& unit : info(dimension).units) {
        if (lower(unit.symbol) == wanted) return std::string(unit.symbol);
        if (!unit.prefixes) continue;
        for (const Prefix& prefix : prefixes) {
            std::string candidate = std::string(prefix.symbol) + std::string(unit.symbol);
            if (prefix.symbol != "m" && prefix.symbol != "p" && lower(candidate) == wanted) return candidate;
        }
    }
    return {};
}
#pragma GCC diagnostic pop

std::string significant(double value, int digits) {
    if (digits <= 0) return fmt::format("{}", value);
    std::string text = fmt::format("{:.{}g}", value, digits);
    if (std::fabs(value) >= 1 && text.find('e') != std::string::npos)
        text = fmt::format("{:.0f}", value);  // 1e+03 of 1000 with 3 digits
    return text;
}

struct Step {
    std::string_view prefix;
    double scale;
};
constexpr std::array<Step, 13> decimalSteps{{{"f", 1e-15},
                                             {"p", 1e-12},
                                             {"n", 1e-9},
                                             {"µ", 1e-6},
                                             {"m", 1e-3},
                                             {"", 1},
                                             {"k", 1e3},
                                             {"M", 1e6},
                                             {"G", 1e9},
                                             {"T", 1e12},
                                             {"P", 1e15},
                                             {"E", 1e18},
                                             {"Z", 1e21}}};
constexpr std::array<Step, 7> binarySteps{
    {{"", 1}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}}};

template <std::size_t N>
std::string withPrefix(double value, std::string_view unit, int digits, const std::array<Step, N>& steps, double base) {
    const double size = std::fabs(value);
    std::size_t at = 0;
    // Half a unit in the last printed digit decides: 999.6 GB with three digits is 1 TB.
    const double nearly = digits > 0 && base == 1000 ? 1 - 0.5 * std::pow(10.0, -digits) : 1;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (size >= steps[i].scale * nearly) at = i;
    }
    const std::string number = significant(value / steps[at].scale, digits);
    const std::string tail = std::string(steps[at].prefix) + std::string(unit);
    return tail.empty() ? number : number + " " + tail;
}

}  // namespace

Expected<Measure> parseMeasure(std::string_view text, Dimension dimension) {
    const std::string_view whole = trimmed(text);
    const auto wanted = [&] {
        return dimension == Dimension::Count || dimension == Dimension::Number
                   ? std::string("a number")
                   : fmt::format("a {} such as `{}`", toText(dimension),
                                 formatMeasure(dimension == Dimension::Fraction ? 0.5 : 2e9, dimension));
    };
    double number = 0;
    const char* begin = whole.data();
    const char* const end = whole.data() + whole.size();
    if (begin != end && *begin == '+') ++begin;
    const auto [rest, error] = std::from_chars(begin, end, number);
    if (error == std::errc::result_out_of_range) {
        return fail("unit.range", fmt::format("`{}` is too large or too small for a number", whole), wanted());
    }
    if (error != std::errc{} || !std::isfinite(number)) {
        return fail("unit.number", fmt::format("`{}` is not a number with a unit", whole), wanted());
    }
    const std::string_view symbol = trimmed({rest, static_cast<std::size_t>(end - rest)});
    Scale scale{1, false};
    if (symbol.empty()) {
        if (dimension == Dimension::Area) scale.factor = 1e-6;
    } else if (const auto found = findUnit(symbol, dimension)) {
        scale = *found;
    } else {
        const std::string likely = likelyUnit(symbol, dimension);
        return fail("unit.unknown", fmt::format("`{}` is not a unit of {}", symbol, toText(dimension)), wanted(),
                    likely.empty()
                        ? std::string()
                        : fmt::format("did you mean `{} {}`?",
                                      whole.substr(0, static_cast<std::size_t>(rest - whole.data())), likely));
    }
    const double si = number * scale.factor;
    if (!std::isfinite(si)) return fail("unit.range", fmt::format("`{}` is too large", whole), wanted());
    if (dimension == Dimension::Count && si != std::floor(si)) {
        return fail("unit.whole", fmt::format("`{}` is not a whole number", whole), "a whole number");
    }
    return Measure{si, scale.perCycle, std::string(whole)};
}

std::string formatMeasure(double si, Dimension dimension, int digits) {
    if (!std::isfinite(si)) return si > 0 ? "∞" : (si < 0 ? "−∞" : "–");
    if (dimension == Dimension::Fraction) return significant(si * 100, digits) + " %";
    if (dimension == Dimension::Area) return significant(si * 1e6, digits) + " mm²";
    if (dimension == Dimension::Count && std::fabs(si) < 1e6) return significant(si, 0);
    if (dimension == Dimension::Time && si >= 120)
        return si < 7200 ? significant(si / 60, digits) + " min" : significant(si / 3600, digits) + " h";
    const std::string_view unit = info(dimension).base;
    if (si == 0) return unit.empty() ? "0" : "0 " + std::string(unit);
    if (dimension == Dimension::Data && std::fabs(si) < 1) return significant(si * 8, digits) + " bit";
    if (unit.empty() && std::fabs(si) < 1000) return significant(si, digits);
    return withPrefix(si, unit, digits, decimalSteps, 1000);
}

std::string formatBinary(double si, Dimension dimension, int digits) {
    if (std::fabs(si) < 1 || !std::isfinite(si)) return formatMeasure(si, dimension, digits);
    return withPrefix(si, info(dimension).base, digits, binarySteps, 1024);
}

std::string_view baseUnit(Dimension dimension) {
    return info(dimension).base;
}
std::string_view toText(Dimension dimension) {
    return info(dimension).name;
}

std::vector<std::string> unitSymbols(Dimension dimension) {
    std::vector<std::string> symbols;
    for (const Unit& unit : info(dimension).units) {
        if (unit.symbol.empty()) continue;
        symbols.emplace_back(unit.symbol);
        if (!unit.prefixes) continue;
        for (const std::string_view prefix : {"k", "M", "G", "T", "m", "u", "n", "p", "Ki", "Mi", "Gi", "Ti"}) {
            symbols.push_back(std::string(prefix) + std::string(unit.symbol));
        }
    }
    return symbols;
}

}  // namespace orrery
