#include "methods/trace/expert_trace.h"

#include "base/text/csv_stream.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace orrery {

namespace {

constexpr std::int32_t mostExperts = 1 << 20;

Unexpected wrong(const CsvStream& file, std::string message, std::string expected) {
    return fail("routing.trace", std::move(message), std::move(expected),
                "a table of `expert` and `count`, such as an engine's log of its router adds up to",
                Place{file.path(), file.line(), 0, {}});
}

Expected<std::vector<double>> read(CsvStream file, std::int32_t experts) {
    const auto unreadable = [&](const Diagnostic& problem) { return wrong(file, problem.message, problem.expected); };
    if (experts < 1 || experts > mostExperts)
        return wrong(file, fmt::format("a model of {} experts", experts), "a mixture of experts");
    auto more = file.next();
    if (!more) return unreadable(more.error());
    std::ptrdiff_t expertColumn = -1, countColumn = -1;
    for (std::size_t i = 0; *more && i < file.cells().size(); ++i) {
        if (file.cells()[i] == "expert") expertColumn = static_cast<std::ptrdiff_t>(i);
        if (file.cells()[i] == "count") countColumn = static_cast<std::ptrdiff_t>(i);
    }
    if (expertColumn < 0 || countColumn < 0) {
        return wrong(file, fmt::format("there is no column `{}`", expertColumn < 0 ? "expert" : "count"),
                     "columns `expert` and `count`");
    }
    std::vector<double> weights(static_cast<std::size_t>(experts), 0);
    double sum = 0;
    while (true) {
        more = file.next();
        if (!more) return unreadable(more.error());
        if (!*more) break;
        const auto cell = [&](std::ptrdiff_t column) {
            return column < std::ssize(file.cells()) ? file.cells()[static_cast<std::size_t>(column)]
                                                     : std::string_view();
        };
        const auto expert = numberIn(cell(expertColumn)), count = numberIn(cell(countColumn));
        if (!expert || *expert != std::floor(*expert) || *expert < 0 || *expert >= experts)
            return wrong(file, "there is no such expert", fmt::format("0 to {}", experts - 1));
        if (!count || *count < 0) return wrong(file, "a count that is no number from 0 on", "how often it was chosen");
        weights[static_cast<std::size_t>(*expert)] += *count;
        sum += *count;
    }
    if (!(sum > 0) || !std::isfinite(sum))
        return wrong(file, "no expert was ever chosen", "at least one count above 0");
    return weights;
}

}  // namespace

Expected<std::vector<double>> readExpertTrace(const std::string& path, std::int32_t experts) {
    auto file = CsvStream::open(path);
    if (!file) {
        return fail("routing.trace", fmt::format("the trace of experts {} cannot be opened", path),
                    "a table of `expert` and `count`", "name a file that is there");
    }
    return read(std::move(*file), experts);
}

Expected<std::vector<double>> readExpertTraceText(std::string_view text, const std::string& path,
                                                  std::int32_t experts) {
    return read(CsvStream::of(text, path), experts);
}

}  // namespace orrery
