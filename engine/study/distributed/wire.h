#pragma once

// What ranks say to each other, as bytes. Both ends are one program on machines of one kind: numbers as in memory.

#include "study/distributed/item_pool.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace orrery {

enum class Word : std::uint8_t {
    Hello,    ///< to rank 0: threads, question
    Refuse,   ///< to rank 0: why this rank cannot answer
    Beat,     ///< both ways: still here
    Batch,    ///< from rank 0: round, then places and numbers
    Answers,  ///< to rank 0: round, items a second, then places and answers
    Stop,     ///< from rank 0: nothing more of this round
    Done,     ///< from rank 0: all is answered, or nothing can be; whether every rank is still there
};

class MessageWriter {
public:
    explicit MessageWriter(Word word) { add(word); }
    template <class Number>
    MessageWriter& add(Number number) {
        bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
        return *this;
    }
    MessageWriter& addText(std::string_view text) {
        add(static_cast<std::uint64_t>(text.size()));
        bytes_ += text;
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

/// Past the end: zeros and empty texts, and good() is false.
class MessageReader {
public:
    explicit MessageReader(std::string_view bytes) : left_(bytes) {}
    template <class Number>
    Number number() {
        Number value{};
        good_ = good_ && left_.size() >= sizeof value;
        if (!good_) return value;
        std::memcpy(&value, left_.data(), sizeof value);
        left_.remove_prefix(sizeof value);
        return value;
    }
    std::string_view text() {
        const auto size = number<std::uint64_t>();
        good_ = good_ && left_.size() >= size;
        if (!good_) return {};
        const std::string_view text = left_.substr(0, size);
        left_.remove_prefix(size);
        return text;
    }
    std::string_view rest() const { return good_ ? left_ : std::string_view(); }
    bool atEnd() const { return left_.empty() || !good_; }
    bool good() const { return good_; }

private:
    std::string_view left_;
    bool good_ = true;
};

}  // namespace orrery
