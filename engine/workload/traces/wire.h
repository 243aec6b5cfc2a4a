#pragma once

// Protocol Buffers' wire format, field by field, for messages of other versions than ours: what a field means is the
// reader's affair. Nothing is read beyond the end of the text.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace orrery {

class WireReader {
public:
    explicit WireReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    struct Field {
        std::uint32_t number = 0;
        std::uint32_t type = 0;  ///< 0 varint, 1 eight bytes, 2 text or message, 5 four bytes
        std::uint64_t value = 0;
        std::string_view text;
    };

    bool atEnd() const { return at_ == end_; }
    bool ok() const { return ok_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    bool varint(std::uint64_t& value) {
        value = 0;
        for (int shift = 0; at_ != end_ && shift < 64; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(*at_++);
            value |= std::uint64_t(byte & 127U) << shift;
            if (byte < 128) return true;
        }
        return ok_ = false;
    }
    bool bytes(std::uint64_t count, std::string_view& out) {
        if (count > left()) return ok_ = false;
        out = {at_, static_cast<std::size_t>(count)};
        at_ += count;
        return true;
    }
    /// The next field; false at the end and where the text is no message (ok() says which).
    bool next(Field& field) {
        if (at_ == end_) return false;
        std::uint64_t key = 0;
        if (!varint(key) || key >> 3 == 0 || key >> 32 != 0) return ok_ = false;
        field.number = static_cast<std::uint32_t>(key >> 3);
        field.type = static_cast<std::uint32_t>(key & 7U);
        switch (field.type) {
            case 0:
                return varint(field.value);
            case 1:
                return bytes(8, field.text) && fixed(field);
            case 2:
                return varint(field.value) && bytes(field.value, field.text);
            case 5:
                return bytes(4, field.text) && fixed(field);
            default:
                return ok_ = false;
        }
    }

private:
    bool fixed(Field& field) {
        field.value = 0;
        for (std::size_t i = field.text.size(); i-- > 0;)
            field.value = field.value << 8 | static_cast<std::uint8_t>(field.text[i]);
        return true;
    }
    const char* at_;
    const char* end_;
    bool ok_ = true;
};

class WireWriter {
public:
    void varint(std::uint64_t value) {
        while (value >= 128) {
            out_ += static_cast<char>((value & 127U) | 128U);
            value >>= 7;
        }
        out_ += static_cast<char>(value);
    }
    void whole(std::uint32_t number, std::uint64_t value) {
        varint(std::uint64_t(number) << 3);
        varint(value);
    }
    void text(std::uint32_t number, std::string_view value) {
        varint(std::uint64_t(number) << 3 | 2U);
        varint(value.size());
        out_ += value;
    }
    std::string& out() { return out_; }

private:
    std::string out_;
};

}  // namespace orrery
