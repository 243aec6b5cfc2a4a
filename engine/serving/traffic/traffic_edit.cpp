#include "serving/traffic/traffic_edit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

std::int32_t scaled(std::int32_t tokens, double factor) {
    if (factor == 1) return tokens;
    return static_cast<std::int32_t>(std::clamp(std::round(tokens * factor), 1.0, 1e9));
}

template <class T>
void keepRows(std::vector<T>& column, const std::vector<std::uint32_t>& rows) {
    if (column.empty()) return;
    for (std::size_t i = 0; i < rows.size(); ++i) column[i] = column[rows[i]];  // rows[i] ≥ i
    column.resize(rows.size());
}

void keepHashes(RequestStream& stream, const std::vector<std::uint32_t>& rows) {
    if (stream.hashBegin.empty()) return;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> begin{0};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        // A prompt that was made shorter has fewer blocks.
        const std::int64_t text = std::int64_t{stream.prompt[i]} + stream.output[i];
        const auto most = static_cast<std::size_t>((text + stream.hashTokens - 1) / stream.hashTokens);
        const std::uint32_t from = stream.hashBegin[rows[i]];
        const std::size_t count = std::min<std::size_t>(stream.hashBegin[rows[i] + 1] - from, most);
        hashes.insert(hashes.end(), stream.hashes.begin() + from,
                      stream.hashes.begin() + from + static_cast<std::ptrdiff_t>(count));
        begin.push_back(static_cast<std::uint32_t>(hashes.size()));
    }
    stream.hashes = std::move(hashes);
    stream.hashBegin = std::move(begin);
}

}  // namespace

RequestStream edited(RequestStream stream, const TrafficEdit& edit, std::int64_t requests, double duration) {
    if (edit == TrafficEdit{} && duration <= 0 &&
        (requests <= 0 || requests >= static_cast<std::int64_t>(stream.size()))) {
        return stream;
    }
    const bool sliced = edit.from > 0 || edit.until > 0 || edit.skip > 0;
    const SimTime zero = stream.arrival.empty() || !sliced ? 0 : stream.arrival.front();
    const SimTime from = zero + toTicks(edit.from);
    const SimTime until = edit.until > 0 ? zero + toTicks(edit.until) : std::numeric_limits<SimTime>::max();
    std::vector<std::uint32_t> rows;
    SimTime base = -1;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (static_cast<std::int64_t>(i) < edit.skip || stream.arrival[i] < from || stream.arrival[i] >= until)
            continue;
        // Time restarts at the beginning of the slice; a stream that is whole keeps its own.
        if (base < 0) base = !sliced ? 0 : edit.skip > 0 && edit.from <= 0 ? stream.arrival[i] : from;
        const std::int64_t prompt = scaled(stream.prompt[i], edit.prompt),
                           output = scaled(stream.output[i], edit.output);
        if ((edit.mostPrompt > 0 && prompt > edit.mostPrompt) || (edit.mostOutput > 0 && output > edit.mostOutput) ||
            (edit.mostText > 0 && prompt + output > edit.mostText)) {
            continue;
        }
        if (duration > 0 && toSeconds(stream.arrival[i] - base) / edit.rate >= duration) continue;
        rows.push_back(static_cast<std::uint32_t>(i));
        if (requests > 0 && static_cast<std::int64_t>(rows.size()) >= requests) break;
    }
    if (!stream.after.empty()) {
        std::vector<RequestIndex> place(stream.size(), no_request);
        for (std::size_t i = 0, next = 0; i < stream.size(); ++i) {
            const bool kept = next < rows.size() && rows[next] == i;
            const RequestIndex before = stream.after[i] == no_request ? no_request : place[stream.after[i]];
            if (kept) stream.after[i] = before;
            place[i] = kept ? static_cast<RequestIndex>(next++) : before;
        }
    }
    keepRows(stream.arrival, rows);
    keepRows(stream.prompt, rows);
    keepRows(stream.output, rows);
    keepRows(stream.priority, rows);
    keepRows(stream.tenant, rows);
    keepRows(stream.adapter, rows);
    keepRows(stream.id, rows);
    keepRows(stream.after, rows);
    keepRows(stream.think, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const SimTime time = stream.arrival[i] - base;
        stream.arrival[i] = edit.rate == 1 ? time : toTicks(toSeconds(time) / edit.rate);
        stream.prompt[i] = scaled(stream.prompt[i], edit.prompt);
        stream.output[i] = scaled(stream.output[i], edit.output);
    }
    keepHashes(stream, rows);
    return stream;
}

}  // namespace orrery
