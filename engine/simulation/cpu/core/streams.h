#pragma once

// A prefetcher that follows streams within pages: two accesses in a row in one direction begin one, and it runs ahead
// by two lines an access.

#include <array>
#include <cstdint>

namespace orrery::pipeline {

inline constexpr std::uint64_t linesPerPage = 64;
inline bool onePage(std::uint64_t a, std::uint64_t b) {
    return a / linesPerPage == b / linesPerPage;
}

class StreamTable {
public:
    /// Notes an access to the line and calls `prefetch(line)` for each that it asks for.
    template <class Prefetch>
    void follow(std::uint64_t line, Prefetch&& prefetch) {
        const std::uint64_t page = line / linesPerPage;
        Stream* stream = nullptr;
        Stream* oldest = streams_.data();
        for (Stream& one : streams_) {
            if (one.page == page) stream = &one;
            if (one.used < oldest->used) oldest = &one;
        }
        if (!stream) {
            *oldest = {page, line, line, 0, 0, ++clock_};
            return;
        }
        stream->used = ++clock_;
        const int direction = line > stream->last ? 1 : line < stream->last ? -1 : 0;
        if (direction == 0) return;
        if (direction == stream->direction) {
            ++stream->length;
        } else {
            stream->direction = direction;
            stream->length = 1;
            stream->ahead = line;
        }
        stream->last = line;
        if (stream->length < 2) return;
        auto ahead = static_cast<std::int64_t>(stream->ahead);
        const auto here = static_cast<std::int64_t>(line);
        if ((ahead - here) * direction < 0) ahead = here;
        for (int i = 0; i < degree; ++i) {
            const std::int64_t next = ahead + direction;
            if ((next - here) * direction > distance || !onePage(static_cast<std::uint64_t>(next), line)) break;
            prefetch(static_cast<std::uint64_t>(next));
            ahead = next;
        }
        stream->ahead = static_cast<std::uint64_t>(ahead);
    }

private:
    static constexpr int distance = 20, degree = 2;
    struct Stream {
        std::uint64_t page = ~0ull, last = 0, ahead = 0;
        int direction = 0, length = 0;
        std::uint64_t used = 0;
    };
    std::array<Stream, 16> streams_{};
    std::uint64_t clock_ = 0;
};

}  // namespace orrery::pipeline
