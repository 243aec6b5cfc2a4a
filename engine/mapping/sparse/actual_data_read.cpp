#include "base/text/read_file.h"
#include "base/text/words.h"
#include "mapping/sparse/sparse_read.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr std::size_t largestFile = std::size_t{1} << 28;

bool blank(char c) {
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r';
}

/// Numbers and words of one line.
std::vector<std::string_view> tokens(std::string_view line) {
    std::vector<std::string_view> out;
    for (std::size_t i = 0; i < line.size();) {
        while (i < line.size() && blank(line[i])) ++i;
        std::size_t end = i;
        while (end < line.size() && !blank(line[end])) ++end;
        if (end > i) out.push_back(line.substr(i, end - i));
        i = end;
    }
    return out;
}

bool isMask(std::string_view token) {
    return std::all_of(token.begin(), token.end(), [](char c) { return c == '0' || c == '1'; });
}

struct Parser {
    const TileShape& tensor;
    ActualData data;
    int line = 0;

    Place place() const { return {data.source, line, 0, {}}; }
    Unexpected wrong(std::string message, std::string expected, std::string hint) const {
        return fail("sparse.data", std::move(message), std::move(expected), std::move(hint), place());
    }

    /// A coordinate from `base` on.
    Expected<void> coordinate(const std::vector<std::string_view>& parts, std::int64_t base) {
        for (std::size_t r = 0; r < tensor.ranks; ++r) {
            const auto whole = wholeIn(parts[r]);
            if (!whole)
                return wrong(fmt::format("`{}` is no coordinate", parts[r]), "a whole number",
                             "write one coordinate per line");
            const std::int64_t at = *whole;
            if (at < base || at >= tensor.extents[r] + base)
                return wrong(fmt::format("coordinate {} of rank {} lies outside the tensor", at, r + 1),
                             fmt::format("{} to {}", base, tensor.extents[r] + base - 1),
                             "check the tensor's shape and the file's order of ranks");
            data.coordinates.push_back(static_cast<std::int32_t>(at - base));
        }
        return {};
    }

    Expected<void> mask(std::string_view digits, std::int64_t& word) {
        const double size = tensor.size();
        for (const char c : digits) {
            if (static_cast<double>(word) >= size)
                return fail("sparse.data-size", "the mask is longer than the tensor",
                            fmt::format("{:.0f} digits", size), "check the tensor's shape", place());
            if (c == '1') {
                std::int64_t rest = word;
                const std::size_t first = data.coordinates.size();
                data.coordinates.resize(first + tensor.ranks);
                for (std::size_t r = tensor.ranks; r-- > 0; rest /= tensor.extents[r])
                    data.coordinates[first + r] = static_cast<std::int32_t>(rest % tensor.extents[r]);
            }
            ++word;
        }
        return {};
    }
};

/// None twice, in order.
Expected<void> tidy(Parser& parser) {
    ActualData& data = parser.data;
    const std::size_t ranks = parser.tensor.ranks, count = ranks ? data.coordinates.size() / ranks : 0;
    std::vector<std::uint32_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(i);
    const auto at = [&](std::uint32_t i) { return data.coordinates.begin() + static_cast<std::ptrdiff_t>(i * ranks); };
    const auto span = static_cast<std::ptrdiff_t>(ranks);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::lexicographical_compare(at(a), at(a) + span, at(b), at(b) + span);
    });
    std::vector<std::int32_t> sorted;
    sorted.reserve(data.coordinates.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0 && std::equal(at(order[i]), at(order[i]) + span, at(order[i - 1]))) {
            parser.line = 0;
            return parser.wrong("a coordinate stands there twice", "every nonzero once", "drop the second one");
        }
        sorted.insert(sorted.end(), at(order[i]), at(order[i]) + span);
    }
    data.coordinates = std::move(sorted);
    return {};
}

}  // namespace

Expected<ActualData> parseActualData(std::string_view text, const TileShape& tensor, const std::string& source) {
    Parser parser{tensor, {}, 0};
    parser.data.extents.assign(tensor.extents.begin(), tensor.extents.begin() + tensor.ranks);
    parser.data.source = source;
    bool market = false, sized = false, masked = false, first = true;
    std::int64_t word = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        ++parser.line;
        if (parser.line == 1 && line.starts_with("%%MatrixMarket")) {
            if (line.find(" coordinate") == std::string_view::npos || line.find(" general") == std::string_view::npos)
                return parser.wrong("this is no general coordinate matrix",
                                    "%%MatrixMarket matrix coordinate … general", "write all nonzeros as coordinates");
            market = true;
            continue;
        }
        line = line.substr(0, line.find_first_of("#%"));
        const std::vector<std::string_view> parts = tokens(line);
        if (parts.empty()) continue;
        if (first) masked = !market && parts.size() == 1 && parts[0].size() > 1 && isMask(parts[0]);
        first = false;
        if (masked) {
            for (const std::string_view part : parts) {
                if (!isMask(part))
                    return parser.wrong(fmt::format("`{}` is no mask", part.substr(0, 20)), "digits 0 and 1",
                                        "write 1 for every nonzero");
                if (const auto read = parser.mask(part, word); !read) return Unexpected(read.error());
            }
            continue;
        }
        if (market && !sized) {
            sized = true;
            if (parts.size() != 3 || tensor.ranks != 2 || parts[0] != std::to_string(tensor.extents[0]) ||
                parts[1] != std::to_string(tensor.extents[1]))
                return fail("sparse.data-size", "the matrix has another shape than the tensor",
                            tensor.ranks == 2
                                ? fmt::format("{} {} and the number of nonzeros", tensor.extents[0], tensor.extents[1])
                                : "a tensor of two ranks",
                            "check the tensor's shape", parser.place());
            continue;
        }
        const bool valued = market && parts.size() == 3;
        if (parts.size() != tensor.ranks + (valued ? 1u : 0u))
            return parser.wrong(fmt::format("a line has {} numbers", parts.size()),
                                fmt::format("{} coordinates", int{tensor.ranks}), "write one nonzero per line");
        if (valued && parts[2].find_first_not_of("0.-+eE") == std::string_view::npos) continue;
        if (const auto read = parser.coordinate(parts, market ? 1 : 0); !read) return Unexpected(read.error());
    }
    if (masked && static_cast<double>(word) != tensor.size())
        return fail("sparse.data-size", fmt::format("the mask has {} digits", word),
                    fmt::format("{:.0f} digits, one per word", tensor.size()), "check the tensor's shape",
                    parser.place());
    if (const auto unique = tidy(parser); !unique) return Unexpected(unique.error());
    return std::move(parser.data);
}

Expected<ActualData> readActualData(const std::string& path, const TileShape& tensor) {
    auto text = readFile(path, {.most = largestFile,
                                .code = "sparse.data",
                                .expected = "a file of nonzeros",
                                .hint = "use a distribution for a tensor of this size"});
    if (!text) {
        // The place is that of the key which names the file: the caller's.
        Diagnostic& wrong = text.error();
        wrong.message = fmt::format("`{}`: {}", path, wrong.message);
        wrong.place = {};
        return Unexpected(std::move(wrong));
    }
    return parseActualData(*text, tensor, path);
}

}  // namespace orrery
