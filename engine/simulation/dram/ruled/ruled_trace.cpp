#include "base/text/read_file.h"
#include "base/text/words.h"
#include "simulation/dram/ruled/ruled_run.h"

#include <fmt/format.h>

#include <bit>

namespace orrery {

Expected<RuledAddressMap> RuledAddressMap::make(const DramRules& rules, std::string_view name) {
    RuledAddressMap map;
    if (name == "MOP4CLXOR")
        map.xorred_ = true;
    else if (name != "RoBaRaCoCh")
        return fail("dram.mapping", fmt::format("there is no address mapping '{}'", name), "RoBaRaCoCh or MOP4CLXOR",
                    "MOP4CLXOR spreads a stream over the bank groups");
    const auto bitsOf = [](std::int64_t n) { return std::countr_zero(static_cast<std::uint64_t>(n)); };
    std::vector<int> bankBits;
    for (int l = 1; l <= rules.bankLevel(); ++l) bankBits.push_back(bitsOf(rules.count[static_cast<std::size_t>(l)]));
    map.offsetBits_ = bitsOf(rules.burstBytes());
    map.columnBits_ = bitsOf(rules.count.back()) - bitsOf(rules.prefetch);
    map.rowBits_ = bitsOf(rules.count[rules.count.size() - 2]);
    // An address has the levels from the rank on, a bank is counted from the channel down.
    int all = 0;
    for (const int bits : bankBits) all += bits;
    map.bankBits_ = all;
    for (std::uint32_t fields = 0; fields < std::uint32_t{1} << all; ++fields) {
        std::uint32_t bank = 0, rest = fields;
        for (const int bits : bankBits) bank = bank << bits | (rest & ((1u << bits) - 1)), rest >>= bits;
        map.bankOf_.push_back(static_cast<std::int32_t>(bank));
    }
    if (map.xorred_ && map.columnBits_ < 2)
        return fail("dram.mapping", fmt::format("a row has {} bursts", 1 << map.columnBits_),
                    "at least four for MOP4CLXOR", "use RoBaRaCoCh", {rules.file, 0, 0, "dram.org.count"});
    return map;
}

RuledPlace RuledAddressMap::place(std::uint64_t address) const {
    std::uint64_t rest = address >> offsetBits_;
    const auto take = [&](int bits) {
        const std::uint64_t value = rest & ((std::uint64_t{1} << bits) - 1);
        rest >>= bits;
        return value;
    };
    RuledPlace out;
    std::uint64_t column = take(xorred_ ? 2 : columnBits_);
    std::uint64_t fields = take(bankBits_);
    if (xorred_) column |= take(columnBits_ - 2) << 2;
    std::uint64_t row = take(rowBits_);
    if (xorred_) {
        // Field by field, lowest bits first: the levels' fields stand side by side, then the row.
        fields ^= column & ((std::uint64_t{1} << bankBits_) - 1);
        row ^= column >> bankBits_ & ((std::uint64_t{1} << rowBits_) - 1);
    }
    out.bank = bankOf_[fields];
    out.column = static_cast<std::int32_t>(column);
    out.row = static_cast<std::int64_t>(row);
    return out;
}

Expected<RuledInjection> RuledInjection::parse(std::string_view text) {
    RuledInjection out;
    if (text == "asap") return out;
    if (text == "chain") {
        out.chain = true;
        return out;
    }
    if (text.starts_with("every"))
        if (const auto k = wholeIn(text.substr(5)); k && *k >= 1 && *k <= 1'000'000'000) {
            out.every = *k;
            return out;
        }
    return fail("dram.injection", fmt::format("'{}' is no way to inject requests", text),
                "asap, chain, or every and a number of cycles: every10");
}

Expected<std::vector<DramTraceRequest>> readDramTrace(std::string_view text, const std::string& path) {
    std::vector<DramTraceRequest> out;
    int line = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto row = trimmed(text.substr(0, end));
        const bool cut = end == std::string_view::npos;
        text = cut ? std::string_view{} : text.substr(end + 1);
        ++line;
        if (row.empty() || row.front() == '#') continue;
        const auto refuse = [&](std::string message, std::string hint) {
            return fail("dram.trace", std::move(message), "R or W and an address: R 0x1f40", std::move(hint),
                        {path, line, 0, {}});
        };
        const char kind = row.front();
        if (kind != 'R' && kind != 'W' && kind != 'r' && kind != 'w')
            return refuse(fmt::format("a request begins with '{}'", row.substr(0, 12)), "one request per line");
        auto address = trimmed(row.substr(1));
        const bool hex = address.starts_with("0x") || address.starts_with("0X");
        if (hex) address.remove_prefix(2);
        std::uint64_t value = 0;
        const auto [stop, error] =
            std::from_chars(address.data(), address.data() + address.size(), value, hex ? 16 : 10);
        if (address.empty() || error != std::errc{} || stop != address.data() + address.size())
            return refuse(fmt::format("'{}' is no address", address.substr(0, 24)),
                          cut ? "does the file end in the middle of a line?" : "decimal, or hexadecimal with 0x");
        out.push_back({value, kind == 'W' || kind == 'w'});
        if (out.size() > 100'000'000) return refuse("more than 100 million requests", "take a part of the trace");
    }
    if (out.empty())
        return fail("dram.trace", "the trace has no request", "R or W and an address per line", {},
                    {path, line, 0, {}});
    return out;
}

Expected<std::vector<DramTraceRequest>> readDramTrace(const std::string& path) {
    FileRules rules;
    rules.most = std::size_t{4} << 30;
    rules.pipes = true;
    auto text = readFile(path, rules);
    if (!text) return tl::unexpected(text.error());
    return readDramTrace(std::string_view(*text), path);
}

}  // namespace orrery
