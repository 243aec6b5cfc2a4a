#pragma once

// The state of a machine as bytes, and back: each class names its members once, for both ways. Requests under way are
// told by number; they stand in a table of their own. A file is not trusted: vectors keep the size that the machine
// gave them, and each class checks what it indexes with.

#include "simulation/gpu/request.h"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace orrery::gpusim {

class SnapshotArchive {
public:
    /// Writes.
    SnapshotArchive() = default;
    /// Reads; what it refers to must outlive it.
    SnapshotArchive(std::string_view bytes, std::vector<Request*> requests)
        : reads_(true), left_(bytes), requests_(std::move(requests)), uses_(requests_.size()) {}

    bool reads() const { return reads_; }
    /// False once something did not fit; then all that is read is zero.
    bool sound() const { return sound_; }
    /// Bytes that have not been read.
    std::size_t left() const { return left_.size(); }
    /// Ends the reading where something is not as it must be.
    bool check(bool holds) {
        if (!holds) fail();
        return holds;
    }
    const std::string& bytes() const { return out_; }
    /// Those met while writing.
    const std::vector<Request*>& requests() const { return requests_; }

    template <class... T>
    void operator()(T&... members) {
        (one(members), ...);
    }
    /// A vector that grows and shrinks.
    template <class T>
    void list(std::vector<T>& all) {
        auto n = static_cast<std::uint64_t>(all.size());
        raw(&n, sizeof n);
        if (reads_) {
            // What the file has no bytes for is none of ours.
            constexpr std::size_t least = isRaw<T> ? sizeof(T) : sizeof(std::uint32_t);
            if (n > left_.size() / least) return all.clear(), fail();
            all.resize(n);
        }
        items(all);
    }
    /// A request that need not be, or that also stands elsewhere.
    void maybe(Request*& request) {
        std::uint32_t number = 0;
        if (!reads_) number = numberOf(request);
        raw(&number, sizeof number);
        if (!reads_) return;
        request = nullptr, last_ = 0;
        if (number > requests_.size()) return fail();
        if (number > 0) request = requests_[number - 1];
        last_ = number;
    }
    /// Those that wait for one sector of L1 or L2, each for no other.
    void chain(std::vector<Request*>& requests, bool ofL1) {
        auto n = static_cast<std::uint64_t>(requests.size());
        raw(&n, sizeof n);
        if (reads_) {
            if (n > left_.size() / sizeof(std::uint32_t)) return requests.clear(), fail();
            requests.resize(n);
        }
        for (Request*& request : requests) {
            maybe(request);
            if (reads_ && !isFirstUse(ofL1 ? 1 : 2)) return requests.clear(), fail();
        }
    }

private:
    template <class T>
    static constexpr bool describesItself = requires(T& t, SnapshotArchive& a) {
        t.keep(a);
    };
    template <class T>
    static constexpr bool isRaw = !describesItself<T> && !std::is_pointer_v<T> && std::is_trivially_copyable_v<T>;

    // From 1 on, in the order in which they are met; 0: none.
    std::uint32_t numberOf(Request* request) {
        if (!request) return 0;
        const auto [found, isNew] = numbers_.try_emplace(request, static_cast<std::uint32_t>(requests_.size() + 1));
        if (isNew) requests_.push_back(request);
        return found->second;
    }
    // Of the request that was read last.
    bool isFirstUse(std::size_t by) { return last_ > 0 && !std::exchange(uses_[last_ - 1][by], true); }

    template <class T>
    void one(T& value) {
        if constexpr (describesItself<T>) {
            value.keep(*this);
        } else {
            static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
            raw(&value, sizeof value);
        }
    }
    void one(bool& value) {
        std::uint8_t byte = value;
        raw(&byte, 1);
        value = byte == 1;
        check(byte <= 1);
    }
    template <class T>
    void one(std::vector<T>& all) {
        auto n = static_cast<std::uint64_t>(all.size());
        raw(&n, sizeof n);
        if (n != all.size()) return fail();
        items(all);
    }
    template <class T>
    void items(std::vector<T>& all) {
        if constexpr (isRaw<T>) {
            raw(all.data(), all.size() * sizeof(T));
        } else {
            for (T& value : all) one(value);
        }
    }
    template <class T>
    void one(Fifo<T>& queue) {
        std::vector<T> all;
        for (std::size_t i = 0; i < queue.size() && !reads_; ++i) all.push_back(queue.at(i));
        list(all);
        if (!reads_) return;
        queue = {};
        if (!sound_) return;
        for (T& item : all) queue.push(std::move(item));
    }
    // On its way, and so in one place alone.
    void one(Request*& request) {
        maybe(request);
        if (reads_) check(isFirstUse(0));
    }
    void raw(void* at, std::size_t bytes) {
        if (!reads_) {
            out_.append(static_cast<const char*>(at), bytes);
        } else if (bytes > left_.size()) {
            fail();
            std::memset(at, 0, bytes);
        } else if (bytes > 0) {
            std::memcpy(at, left_.data(), bytes);
            left_.remove_prefix(bytes);
        }
    }
    void fail() {
        sound_ = false;
        left_ = {};
    }

    bool reads_ = false, sound_ = true;
    std::string out_;
    std::string_view left_;
    std::vector<Request*> requests_;
    std::uint32_t last_ = 0;
    std::vector<std::array<bool, 3>> uses_;  ///< by request: under way; waits in L1, in L2
    std::unordered_map<Request*, std::uint32_t> numbers_;
};

}  // namespace orrery::gpusim
