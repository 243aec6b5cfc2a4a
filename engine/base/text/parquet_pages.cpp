#include "base/text/parquet_pages.h"

#include <fmt/format.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace orrery::parquet {

namespace {

using Problem = tl::unexpected<std::string>;

constexpr std::int64_t largestPage = std::int64_t{1} << 28;
constexpr int Plain = 0, PlainDictionary = 2, RunLength = 3, RunLengthDictionary = 8;

Problem damaged() {
    return Problem("it is damaged or cut short");
}

std::string nameOfCodec(int codec) {
    static constexpr std::string_view names[] = {"", "Snappy", "gzip", "LZO", "Brotli", "LZ4", "Zstandard", "raw LZ4"};
    return codec > 0 && codec < 8 ? std::string(names[codec]) : fmt::format("codec {}", codec);
}

std::string nameOfEncoding(int encoding) {
    switch (encoding) {
        case 4:
            return "bit-packed";
        case 5:
            return "delta binary packed";
        case 6:
            return "delta length byte array";
        case 7:
            return "delta byte array";
        case 9:
            return "byte stream split";
        default:
            return fmt::format("number {}", encoding);
    }
}

tl::expected<std::string, std::string> unpack(int codec, std::string_view packed, std::int64_t bytes) {
    if (bytes > largestPage) return Problem("one of its pages is over 256 MiB");
    const auto size = static_cast<std::size_t>(bytes);
    std::string out;
    switch (codec) {
        case 0:
            if (packed.size() != size) return damaged();
            return std::string(packed);
        case 1: {
            std::size_t says = 0;
            if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &says) || says != size) return damaged();
            if (!snappy::Uncompress(packed.data(), packed.size(), &out)) return damaged();
            return out;
        }
        case 2: {
            out.resize(size);
            z_stream stream{};
            if (inflateInit2(&stream, 15 + 32) != Z_OK) return damaged();
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
            stream.avail_in = static_cast<uInt>(packed.size());
            stream.next_out = reinterpret_cast<Bytef*>(out.data());
            stream.avail_out = static_cast<uInt>(size);
            const int state = inflate(&stream, Z_FINISH);
            inflateEnd(&stream);
            if (state != Z_STREAM_END || stream.avail_out != 0) return damaged();
            return out;
        }
        case 6: {
            out.resize(size);
            const std::size_t got = ZSTD_decompress(out.data(), size, packed.data(), packed.size());
            if (ZSTD_isError(got) || got != size) return damaged();
            return out;
        }
        default:
            return Problem(fmt::format("it is packed with {}, which is not read (Snappy, gzip and Zstandard are)",
                                       nameOfCodec(codec)));
    }
}

/// Runs of equal values and groups of bit-packed ones, which stand for levels, truth values and dictionary indices.
class Hybrid {
public:
    Hybrid(std::string_view bytes, unsigned width) : bytes_(bytes), width_(width) {}
    bool next(std::uint32_t& value) {
        if (left_ == 0 && !header()) return false;
        --left_;
        if (run_) {
            value = same_;
            return true;
        }
        while (held_ < width_) {
            if (at_ >= bytes_.size()) return false;
            bits_ |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes_[at_++])) << held_;
            held_ += 8;
        }
        value = static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << width_) - 1));
        bits_ >>= width_;
        held_ -= width_;
        return true;
    }

private:
    bool header() {
        std::uint64_t head = 0;
        unsigned shift = 0;
        while (true) {
            if (at_ >= bytes_.size() || shift > 35) return false;
            const auto b = static_cast<std::uint8_t>(bytes_[at_++]);
            head |= static_cast<std::uint64_t>(b & 0x7F) << shift;
            shift += 7;
            if (b < 0x80) break;
        }
        run_ = (head & 1) == 0;
        left_ = run_ ? head >> 1 : (head >> 1) * 8;
        bits_ = 0, held_ = 0;
        if (run_) {
            same_ = 0;
            for (unsigned i = 0; i < (width_ + 7) / 8; ++i) {
                if (at_ >= bytes_.size()) return false;
                same_ |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes_[at_++])) << (8 * i);
            }
        }
        return left_ > 0;
    }

    std::string_view bytes_;
    unsigned width_;
    std::size_t at_ = 0;
    std::uint64_t left_ = 0, bits_ = 0;
    unsigned held_ = 0;
    bool run_ = false;
    std::uint32_t same_ = 0;
};

template <class T>
T load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

class ColumnReading {
public:
    ColumnReading(const Leaf& leaf, std::int64_t rows) : leaf_(leaf), rows_(rows) {}

    tl::expected<Column, std::string> read(std::string_view pages, const Chunk& chunk) {
        if (leaf_.physical == Physical::Int96) return Problem("column `" + leaf_.name + "` holds 96-bit times");
        column_.value.reserve(static_cast<std::size_t>(rows_));
        while (static_cast<std::int64_t>(column_.rows()) < rows_) {
            const auto header = readPageHeader(pages);
            if (!header || header->packedBytes > static_cast<std::int64_t>(pages.size() - header->headerBytes))
                return damaged();
            pages.remove_prefix(header->headerBytes);
            const auto body = pages.substr(0, static_cast<std::size_t>(header->packedBytes));
            pages.remove_prefix(body.size());
            if (auto good = page(*header, body, chunk.codec); !good) return Problem(good.error());
        }
        if (static_cast<std::int64_t>(column_.rows()) != rows_) return damaged();
        return std::move(column_);
    }

private:
    using Done = tl::expected<void, std::string>;

    Done page(const PageHeader& header, std::string_view body, int codec) {
        if (header.type == 2) {
            auto unpacked = unpack(codec, body, header.unpackedBytes);
            if (!unpacked) return Problem(unpacked.error());
            if (header.encoding != Plain && header.encoding != PlainDictionary) return notRead(header.encoding);
            column_.pages.push_back(std::make_unique<std::string>(std::move(*unpacked)));
            dictionaryBegin_ = filled();
            if (auto good = plain(*column_.pages.back(), header.values); !good) return good;
            dictionaryEnd_ = filled();
            return {};
        }
        if (header.type != 0 && header.type != 3) return {};  // an index
        if (header.values > rows_ - static_cast<std::int64_t>(column_.rows())) return damaged();
        const bool second = header.type == 3;
        const auto levels = second ? header.definitionBytes + header.repetitionBytes : 0;
        if (levels > static_cast<std::int64_t>(body.size()) || levels > header.unpackedBytes) return damaged();
        const auto lead = body.substr(0, static_cast<std::size_t>(levels));
        auto unpacked =
            unpack(second && !header.packed ? 0 : codec, body.substr(lead.size()), header.unpackedBytes - levels);
        if (!unpacked) return Problem(unpacked.error());
        column_.pages.push_back(std::make_unique<std::string>(std::move(*unpacked)));
        std::string_view rest = *column_.pages.back();
        std::string_view definitions = lead.substr(static_cast<std::size_t>(second ? header.repetitionBytes : 0));
        if (leaf_.optional && !second) {
            if (rest.size() < 4 || load<std::uint32_t>(rest.data()) > rest.size() - 4) return damaged();
            definitions = rest.substr(4, load<std::uint32_t>(rest.data()));
            rest.remove_prefix(4 + definitions.size());
        }
        return values(header, definitions, rest);
    }

    Done values(const PageHeader& header, std::string_view definitions, std::string_view rest) {
        std::int64_t there = header.values;
        if (leaf_.optional) {
            if (column_.present.empty()) column_.present.assign(column_.rows(), 1);
            Hybrid levels(definitions, 1);
            there = 0;
            for (std::int64_t i = 0; i < header.values; ++i) {
                std::uint32_t level = 0;
                if (!levels.next(level)) return damaged();
                column_.present.push_back(static_cast<char>(level));
                there += level;
            }
        }
        const std::size_t first = column_.rows();
        column_.value.resize(first + static_cast<std::size_t>(header.values), 0);
        const auto each = [&](auto&& take) {
            for (std::size_t row = first; row < column_.rows(); ++row) {
                if (leaf_.optional && !column_.present[row]) continue;
                if (!take(column_.value[row])) return false;
            }
            return true;
        };
        if (header.encoding == PlainDictionary || header.encoding == RunLengthDictionary) {
            if (there == 0) return {};
            const unsigned width = rest.empty() ? 99 : static_cast<std::uint8_t>(rest.front());
            if (width > 32) return damaged();
            Hybrid indices(rest.substr(1), width);
            const bool good = each([&](std::uint32_t& to) {
                std::uint32_t index = 0;
                if (!indices.next(index) || index >= dictionaryEnd_ - dictionaryBegin_) return false;
                to = static_cast<std::uint32_t>(dictionaryBegin_) + index;
                return true;
            });
            return good ? Done{} : damaged();
        }
        std::size_t at = filled();
        if (header.encoding == RunLength && leaf_.physical == Physical::Boolean) {
            if (rest.size() < 4) return damaged();
            Hybrid bits(rest.substr(4), 1);
            for (std::int64_t i = 0; i < there; ++i) {
                std::uint32_t bit = 0;
                if (!bits.next(bit)) return damaged();
                column_.integers.push_back(bit);
            }
        } else if (header.encoding != Plain) {
            return notRead(header.encoding);
        } else if (auto good = plain(rest, there); !good) {
            return good;
        }
        each([&](std::uint32_t& to) {
            to = static_cast<std::uint32_t>(at++);
            return true;
        });
        return {};
    }

    Problem notRead(int encoding) const {
        return Problem(fmt::format("column `{}` is encoded as {}, which is not read (plain and dictionary are)",
                                   leaf_.name, nameOfEncoding(encoding)));
    }

    std::size_t filled() const {
        return std::max({column_.integers.size(), column_.reals.size(), column_.texts.size()});
    }

    Done plain(std::string_view bytes, std::int64_t count) {
        const auto n = static_cast<std::size_t>(count);
        const auto fixed = [&](std::size_t size) { return n <= bytes.size() / std::max<std::size_t>(size, 1); };
        switch (leaf_.physical) {
            case Physical::Boolean:
                if (n > 8 * bytes.size()) return damaged();
                for (std::size_t i = 0; i < n; ++i) column_.integers.push_back(bytes[i / 8] >> (i % 8) & 1);
                return {};
            case Physical::Int32:
                if (!fixed(4)) return damaged();
                for (std::size_t i = 0; i < n; ++i) {
                    const auto v = load<std::int32_t>(bytes.data() + 4 * i);
                    column_.integers.push_back(leaf_.unsignedInteger ? static_cast<std::uint32_t>(v) : std::int64_t{v});
                }
                return {};
            case Physical::Int64:
                if (!fixed(8)) return damaged();
                for (std::size_t i = 0; i < n; ++i)
                    column_.integers.push_back(load<std::int64_t>(bytes.data() + 8 * i));
                return {};
            case Physical::Float:
                if (!fixed(4)) return damaged();
                for (std::size_t i = 0; i < n; ++i) column_.reals.push_back(load<float>(bytes.data() + 4 * i));
                return {};
            case Physical::Double:
                if (!fixed(8)) return damaged();
                for (std::size_t i = 0; i < n; ++i) column_.reals.push_back(load<double>(bytes.data() + 8 * i));
                return {};
            case Physical::FixedBytes: {
                const auto size = static_cast<std::size_t>(leaf_.fixedBytes);
                if (size == 0 || !fixed(size)) return damaged();
                for (std::size_t i = 0; i < n; ++i) column_.texts.push_back(bytes.substr(size * i, size));
                return {};
            }
            case Physical::ByteArray:
                for (std::size_t i = 0; i < n; ++i) {
                    if (bytes.size() < 4) return damaged();
                    const auto size = load<std::uint32_t>(bytes.data());
                    if (size > bytes.size() - 4) return damaged();
                    column_.texts.push_back(bytes.substr(4, size));
                    bytes.remove_prefix(4 + std::size_t{size});
                }
                return {};
            case Physical::Int96:
                break;
        }
        return damaged();
    }

    const Leaf& leaf_;
    std::int64_t rows_;
    Column column_;
    std::size_t dictionaryBegin_ = 0, dictionaryEnd_ = 0;
};

// A big-endian integer of two's complement, as decimals are kept in bytes.
double fromBytes(std::string_view bytes) {
    double value = bytes.empty() ? 0 : static_cast<signed char>(bytes.front());
    for (std::size_t i = 1; i < bytes.size(); ++i) value = value * 256 + static_cast<std::uint8_t>(bytes[i]);
    return value;
}

}  // namespace

void Column::append(std::size_t row, const Leaf& leaf, std::string& out) const {
    if (!present.empty() && !present[row]) return;
    const auto to = std::back_inserter(out);
    const std::size_t i = value[row];
    switch (leaf.physical) {
        case Physical::Boolean:
            out += integers[i] != 0 ? "true" : "false";
            return;
        case Physical::Float:
            fmt::format_to(to, "{}", static_cast<float>(reals[i]));
            return;
        case Physical::Double:
            fmt::format_to(to, "{}", reals[i]);
            return;
        case Physical::ByteArray:
        case Physical::FixedBytes:
            break;
        default:
            if (leaf.decimals > 0) {
                fmt::format_to(to, "{}", static_cast<double>(integers[i]) / std::pow(10.0, leaf.decimals));
            } else if (leaf.unsignedInteger) {
                fmt::format_to(to, "{}", static_cast<std::uint64_t>(integers[i]));
            } else {
                fmt::format_to(to, "{}", integers[i]);
            }
            return;
    }
    if (leaf.decimals > 0) {
        fmt::format_to(to, "{}", fromBytes(texts[i]) / std::pow(10.0, leaf.decimals));
        return;
    }
    const bool quoted = texts[i].find_first_of(",;\t\"") != std::string_view::npos;
    if (quoted) out += '"';
    for (const char c : texts[i]) {
        if (c == '"') out += '"';
        out += c == '\0' || c == '\n' || c == '\r' ? ' ' : c;
    }
    if (quoted) out += '"';
}

tl::expected<Column, std::string> readColumn(std::string_view file, const Leaf& leaf, const Chunk& chunk,
                                             std::int64_t rows) {
    const auto size = static_cast<std::int64_t>(file.size());
    if (chunk.begin < 4 || chunk.begin > size || chunk.bytes < 0 || chunk.bytes > size - chunk.begin ||
        chunk.values != rows)
        return damaged();
    return ColumnReading(leaf, rows)
        .read(file.substr(static_cast<std::size_t>(chunk.begin), static_cast<std::size_t>(chunk.bytes)), chunk);
}

}  // namespace orrery::parquet
