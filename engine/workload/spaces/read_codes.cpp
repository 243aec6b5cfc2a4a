#include "base/text/words.h"
#include "workload/spaces/spaces.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace orrery {
namespace {

Unexpected badCode(std::string_view space, std::string what, std::string expected) {
    return fail("workload.space-code", fmt::format("this is no network of {}: {}", space, what), std::move(expected),
                "the code must stand as the benchmark writes it; put it between quotes in a shell",
                Place{.path = "source"});
}

std::vector<std::string_view> wordsOf(std::string_view text) {
    std::vector<std::string_view> words;
    for (const std::string_view word : splitTrimmed(text, ' ')) {
        if (!word.empty()) words.push_back(word);
    }
    return words;
}

struct Field {
    std::string_view key, value;
};

std::vector<Field> fieldsOf(std::string_view text) {
    std::vector<Field> fields;
    for (const std::string_view part : splitTrimmed(text, '|')) {
        const auto equals = part.find('=');
        if (equals == std::string_view::npos) {
            fields.push_back({part, {}});
        } else {
            fields.push_back({trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1))});
        }
    }
    return fields;
}

template <std::size_t N>
Expected<void> readList(std::string_view space, const Field& field, std::array<std::uint8_t, N>& into,
                        std::initializer_list<int> allowed) {
    const auto words = wordsOf(field.value);
    if (words.size() != N)
        return badCode(space, fmt::format("“{}” has {} numbers", field.key, words.size()), fmt::format("{}", N));
    for (std::size_t i = 0; i < N; ++i) {
        const auto number = wholeIn(words[i]);
        bool good = false;
        for (const int each : allowed) good = good || (number && *number == each);
        if (!good) {
            std::string list;
            for (const int each : allowed) list += fmt::format("{}{}", list.empty() ? "" : ", ", each);
            return badCode(space, fmt::format("“{}” holds “{}”", field.key, words[i].substr(0, 40)), list);
        }
        into[i] = static_cast<std::uint8_t>(*number);
    }
    return {};
}

}  // namespace

Expected<NasBench201Cell> readNasBench201(std::string_view code) {
    using Cell = NasBench201Cell;
    constexpr std::array<std::pair<std::string_view, Cell::Op>, 5> names{{{"none", Cell::None},
                                                                          {"skip_connect", Cell::Skip},
                                                                          {"nor_conv_1x1", Cell::Conv1},
                                                                          {"nor_conv_3x3", Cell::Conv3},
                                                                          {"avg_pool_3x3", Cell::Pool}}};
    constexpr std::string_view form = "|op~0|+|op~0|op~1|+|op~0|op~1|op~2|";
    Cell cell;
    std::size_t edge = 0;
    const auto nodes = split(trimmed(code), '+');
    if (nodes.size() != 3) return badCode("NAS-Bench-201", fmt::format("{} nodes", nodes.size()), std::string(form));
    for (std::size_t n = 0; n < 3; ++n) {
        const auto parts = split(nodes[n], '|');
        if (parts.size() != n + 3 || !parts.front().empty() || !parts.back().empty())
            return badCode("NAS-Bench-201", fmt::format("“{}”", nodes[n].substr(0, 80)), std::string(form));
        for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
            const std::string_view part = parts[i];
            const auto mark = part.find('~');
            const auto source = mark == std::string_view::npos ? std::nullopt : wholeIn(part.substr(mark + 1));
            const std::string_view name = part.substr(0, mark);
            bool known = false;
            for (const auto& [word, op] : names) {
                if (word != name) continue;
                cell.edges[edge] = op;
                known = true;
            }
            if (!known) {
                return badCode("NAS-Bench-201", fmt::format("the operator “{}”", name.substr(0, 40)),
                               "none, skip_connect, nor_conv_1x1, nor_conv_3x3 or avg_pool_3x3");
            }
            if (!source || *source != static_cast<std::int64_t>(i) - 1)
                return badCode("NAS-Bench-201", fmt::format("the edge “{}”", part.substr(0, 40)), std::string(form));
            ++edge;
        }
    }
    return cell;
}

std::array<bool, 6> liveEdges(const NasBench201Cell& cell) {
    std::array<bool, 4> reached{true, false, false, false}, reaching{false, false, false, true};
    for (std::size_t e = 0; e < 6; ++e) {  // edges stand by their ends, so one pass each way is enough
        if (cell.edges[e] != NasBench201Cell::None && reached[static_cast<std::size_t>(cell.from[e])])
            reached[static_cast<std::size_t>(cell.to[e])] = true;
    }
    for (std::size_t e = 6; e-- > 0;) {
        if (cell.edges[e] != NasBench201Cell::None && reaching[static_cast<std::size_t>(cell.to[e])])
            reaching[static_cast<std::size_t>(cell.from[e])] = true;
    }
    std::array<bool, 6> live{};
    for (std::size_t e = 0; e < 6; ++e) {
        live[e] = cell.edges[e] != NasBench201Cell::None && reached[static_cast<std::size_t>(cell.from[e])] &&
                  reaching[static_cast<std::size_t>(cell.to[e])];
    }
    return live;
}

Expected<FbnetBlocks> readFbnet(std::string_view code) {
    FbnetBlocks blocks;
    if (auto read = readList("FBNet", Field{"blocks", code}, blocks.ids, {0, 1, 2, 3, 4, 5, 6, 7, 8}); !read)
        return Unexpected(read.error());
    return blocks;
}

Expected<OfaNetwork> readOfa(std::string_view code) {
    OfaNetwork network;
    constexpr std::string_view form = "r=204|d=2 2 3 3 4|ks=(20 of 3, 5, 7)|e=(20 of 3, 4, 6)";
    int seen = 0;
    for (const Field& field : fieldsOf(code)) {
        Expected<void> read;
        if (field.key == "r") {
            const auto number = wholeIn(field.value);
            if (!number || *number < 32 || *number > 4096)
                return badCode("OFA", fmt::format("the resolution “{}”", field.value.substr(0, 40)), "32 to 4096");
            network.resolution = *number;
            seen |= 1;
        } else if (field.key == "d") {
            read = readList("OFA", field, network.depth, {2, 3, 4});
            seen |= 2;
        } else if (field.key == "ks") {
            read = readList("OFA", field, network.kernel, {3, 5, 7});
            seen |= 4;
        } else if (field.key == "e") {
            read = readList("OFA", field, network.expand, {3, 4, 6});
            seen |= 8;
        } else {
            return badCode("OFA", fmt::format("“{}”", field.key.substr(0, 40)), std::string(form));
        }
        if (!read) return Unexpected(read.error());
    }
    if (seen != 15) return badCode("OFA", "a part is missing", std::string(form));
    return network;
}

Expected<HatNetwork> readHat(std::string_view code) {
    HatNetwork network;
    const auto fields = fieldsOf(code);
    const bool named = !fields.empty() && fields.front().value.empty() &&
                       (fields.front().key == "encoder" || fields.front().key == "decoder");
    if (!named) return badCode("HAT", "it does not begin with its half", "encoder|… or decoder|…");
    network.decoder = fields.front().key == "decoder";
    for (std::size_t i = 1; i < fields.size(); ++i) {
        const std::array<std::pair<std::string_view, double*>, 7> keys{{{"embed", &network.embed},
                                                                        {"layers", &network.layers},
                                                                        {"ffn", &network.ffn},
                                                                        {"heads", &network.heads},
                                                                        {"cross", &network.cross},
                                                                        {"attends", &network.attends},
                                                                        {"memory", &network.memory}}};
        double* target = nullptr;
        for (const auto& [key, value] : keys) {
            if (key == fields[i].key) target = value;
        }
        const auto number = numberIn(fields[i].value);
        if (!target || !number || *number < 1 || *number > 65536) {
            return badCode("HAT", fmt::format("“{}={}”", fields[i].key.substr(0, 40), fields[i].value.substr(0, 40)),
                           "embed, layers, ffn, heads, cross, attends, memory, each 1 to 65,536");
        }
        *target = *number;
    }
    if (network.layers > 256) return badCode("HAT", fmt::format("{} layers", network.layers), "1 to 256");
    return network;
}

}  // namespace orrery
