#include "simulation/npu/tile_mapping.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace orrery {

namespace {

constexpr std::string_view letters = "NCMPQSR";
using LoopMember = std::int64_t TileLoops::*;
constexpr std::array<LoopMember, 7> members{&TileLoops::n, &TileLoops::c, &TileLoops::m, &TileLoops::p,
                                            &TileLoops::q, &TileLoops::s, &TileLoops::r};
constexpr std::int64_t largest = 1'000'000'000;

struct Scanner {
    std::string_view text;
    Place place;
    std::size_t at = 0;

    Place here() const {
        Place p = place;
        p.column = static_cast<int>(at) + 1;
        return p;
    }
    void skip() {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) ++at;
    }
    bool done() {
        skip();
        return at >= text.size();
    }
};

Unexpected badLoop(const Scanner& scan, std::string message) {
    return fail("mapping.loop", std::move(message), "a loop N, C, M, P, Q, S or R with its count, such as `C64`",
                "write each loop once per section, with a whole number from 1 to 10^9", scan.here());
}

Expected<TileLoops> readLoops(Scanner& scan) {
    TileLoops loops;
    std::array<bool, 7> seen{};
    while (!scan.done() && scan.text[scan.at] != '-' && scan.text[scan.at] != '[') {
        const auto letter = letters.find(scan.text[scan.at]);
        if (letter == std::string_view::npos) {
            return badLoop(scan, fmt::format("`{}` is not a loop", scan.text.substr(scan.at, 1)));
        }
        if (seen[letter]) return badLoop(scan, fmt::format("loop {} stands twice", letters[letter]));
        seen[letter] = true;
        const char* first = scan.text.data() + scan.at + 1;
        const char* last = scan.text.data() + scan.text.size();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(first, last, value);
        if (error != std::errc() || value < 1 || value > largest) {
            return badLoop(scan, fmt::format("loop {} has no count from 1 to 10^9", letters[letter]));
        }
        loops.*members[letter] = value;
        scan.at += static_cast<std::size_t>(end - first) + 1;
    }
    return loops;
}

Expected<void> readHeader(Scanner& scan, char name, bool first) {
    scan.skip();
    if (!first && scan.at < scan.text.size() && scan.text[scan.at] == '-') ++scan.at;
    scan.skip();
    const std::string header{'[', name, ']'};
    if (scan.text.substr(scan.at, 3) != header) {
        return fail("mapping.section", fmt::format("section `{}` is not where it belongs", header),
                    "`[T] … - [O] … - [I] …`: the layer, how many tiles, how large a tile",
                    fmt::format("put `{}` here", header), scan.here());
    }
    scan.at += 3;
    return {};
}

std::string toText(const TileLoops& loops) {
    std::string text;
    for (std::size_t i = 0; i < members.size(); ++i) text += fmt::format(" {}{}", letters[i], loops.*members[i]);
    return text;
}

}  // namespace

Expected<void> check(const TileMapping& mapping, const Place& place) {
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto total = mapping.total.*members[i];
        const auto outer = mapping.outer.*members[i];
        const auto inner = mapping.inner.*members[i];
        const bool whole = total >= 1 && outer >= 1 && inner >= 1;
        if (whole && outer * inner >= total && (outer - 1) * inner < total) continue;
        return fail(
            "mapping.cover",
            fmt::format("loop {}: {} tiles of {} do not cover {} exactly once", letters[i], outer, inner, total),
            whole ? fmt::format("{} tiles of {}", (total + inner - 1) / inner, inner) : "counts of 1 or more",
            "the last tile may be partial, none may be empty", place);
    }
    return {};
}

Expected<TileMapping> readTileMapping(std::string_view text, const Place& place) {
    Scanner scan{text, place};
    TileMapping mapping;
    const std::array<std::pair<char, TileLoops*>, 3> sections{
        {{'T', &mapping.total}, {'O', &mapping.outer}, {'I', &mapping.inner}}};
    for (const auto& [name, loops] : sections) {
        if (auto header = readHeader(scan, name, name == 'T'); !header) return Unexpected(std::move(header.error()));
        auto read = readLoops(scan);
        if (!read) return Unexpected(std::move(read.error()));
        *loops = *read;
    }
    if (!scan.done()) {
        return fail("mapping.section", "there is more after the third section", "the end of the line",
                    "remove what follows", scan.here());
    }
    if (auto covered = check(mapping, place); !covered) return Unexpected(std::move(covered.error()));
    return mapping;
}

std::string toText(const TileMapping& mapping) {
    return "[T]" + toText(mapping.total) + " - [O]" + toText(mapping.outer) + " - [I]" + toText(mapping.inner);
}

}  // namespace orrery
