#pragma once

// The state of a machine as bytes, and back: each class names its members once, for both ways. Requests under way are
// told by number; they stand in a table of their own.

#include "simulation/gpu/request.h"

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace orrery::gpusim {

class SnapshotArchive {
public:
    /// Writes.
    SnapshotArchive() = default;
    /// Reads; what it refers to must outlive it.
    SnapshotArchive(std::string_view bytes, std::vector<Request*> requests)
        : reads_(true), left_(bytes), requests_(std::move(requests)) {}

    bool reads() const { return reads_; }
    /// False once something did not fit; then all that is read is zero.
    bool sound() const { return sound_; }
    const std::string& bytes() const { return out_; }
    /// Those met while writing, and what they wait with.
    const std::vector<Request*>& requests() const { return requests_; }

    /// From 1 on, in the order in which they are met; 0: none.
    std::uint32_t numberOf(Request* request) {
        if (!request) return 0;
        const auto [found, isNew] = numbers_.try_emplace(request, static_cast<std::uint32_t>(requests_.size() + 1));
        if (isNew) requests_.push_back(request);
        return found->second;
    }

    template <class... T>
    void operator()(T&... members) {
        (one(members), ...);
    }

private:
    template <class T>
    static constexpr bool describesItself = requires(T& t, SnapshotArchive& a) {
        t.keep(a);
    };

    template <class T>
    void one(T& value) {
        if constexpr (describesItself<T>) {
            value.keep(*this);
        } else {
            static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
            raw(&value, sizeof value);
        }
    }
    template <class T>
    void one(std::vector<T>& all) {
        auto n = static_cast<std::uint64_t>(all.size());
        raw(&n, sizeof n);
        if (reads_) {
            // What the file has no bytes for is none of ours.
            if (n > left_.size()) return fail();
            all.resize(n);
        }
        if constexpr (!describesItself<T> && !std::is_pointer_v<T> && std::is_trivially_copyable_v<T>) {
            raw(all.data(), all.size() * sizeof(T));
        } else {
            for (T& value : all) one(value);
        }
    }
    template <class T>
    void one(Fifo<T>& queue) {
        std::vector<T> items;
        if (!reads_) {
            for (std::size_t n = queue.size(); n > 0; --n) {
                items.push_back(queue.take());
                queue.push(items.back());
            }
        }
        one(items);
        if (!reads_) return;
        queue = {};
        for (T& item : items) queue.push(std::move(item));
    }
    void one(Request*& request) {
        std::uint32_t number = 0;
        if (!reads_) number = numberOf(request);
        raw(&number, sizeof number);
        if (!reads_) return;
        if (number > requests_.size()) return fail();
        request = number == 0 ? nullptr : requests_[number - 1];
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
    std::unordered_map<Request*, std::uint32_t> numbers_;
};

}  // namespace orrery::gpusim
