#include "base/text/parquet_meta.h"

#include <algorithm>

namespace orrery::parquet {

namespace {

enum ThriftType { Stop, True, False, Byte, Short, Int, Long, Double, Binary, List, Set, Map, Struct };

constexpr int deepest = 24;
constexpr std::size_t mostLeaves = 4096, mostGroups = 1 << 16;

/// Reads forward; after the first thing that does not fit everything reads as nothing and good() is false.
class Compact {
public:
    explicit Compact(std::string_view text) : text_(text) {}
    bool good() const { return good_; }
    std::size_t at() const { return at_; }

    std::uint8_t byte() {
        if (at_ >= text_.size()) return spoil(), std::uint8_t{0};
        return static_cast<std::uint8_t>(text_[at_++]);
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t b = byte();
            value |= static_cast<std::uint64_t>(b & 0x7F) << shift;
            if (b < 0x80) return value;
        }
        return spoil(), std::uint64_t{0};
    }
    std::int64_t integer() {
        const std::uint64_t v = varint();
        return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
    }
    std::string_view binary() {
        const std::uint64_t size = varint();
        if (size > text_.size() - at_) return spoil(), std::string_view{};
        at_ += size;
        return text_.substr(at_ - size, size);
    }
    /// Of a list: its length, and the type of its elements.
    std::uint64_t list(int& type) {
        const std::uint8_t head = byte();
        type = head & 0x0F;
        const std::uint64_t size = head >> 4 == 15 ? varint() : head >> 4;
        if (size > text_.size() - at_) return spoil(), std::uint64_t{0};
        return size;
    }
    /// Calls `take(id, type)` for each field; what it leaves (returns false) is passed over.
    template <class Take>
    void fields(Take&& take) {
        if (++depth_ > deepest) spoil();
        int id = 0;
        while (good_) {
            const std::uint8_t head = byte();
            const int type = head & 0x0F;
            if (!good_ || type == Stop) break;
            id = head >> 4 ? id + (head >> 4) : static_cast<int>(integer());
            if (!take(id, type)) pass(type);
        }
        --depth_;
    }
    /// The same for each structure of a list.
    template <class Take>
    void structures(Take&& take) {
        int type = 0;
        const std::uint64_t size = list(type);
        if (size > 0 && type != Struct) spoil();
        for (std::uint64_t i = 0; i < size && good_; ++i) take();
    }
    void spoil() {
        good_ = false;
        at_ = text_.size();
    }

private:
    void pass(int type, bool element = false) {
        int inner = 0, other = 0;
        switch (type) {
            case True:
            case False:
                if (element) byte();
                return;
            case Byte:
                byte();
                return;
            case Short:
            case Int:
            case Long:
                varint();
                return;
            case Double:
                for (int i = 0; i < 8; ++i) byte();
                return;
            case Binary:
                binary();
                return;
            case List:
            case Set:
            case Map: {
                if (++depth_ > deepest) return spoil();
                std::uint64_t size = type == Map ? varint() : list(inner);
                if (type == Map && size > 0) {
                    const std::uint8_t types = byte();
                    inner = types >> 4, other = types & 0x0F;
                }
                for (; size > 0 && good_; --size) {
                    pass(inner, true);
                    if (type == Map) pass(other, true);
                }
                --depth_;
                return;
            }
            case Struct:
                return fields([](int, int) { return false; });
            default:
                return spoil();
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    bool good_ = true;
};

struct SchemaElement {
    Leaf leaf;
    std::int64_t below = 0;
    int repetition = 0;
    bool hasType = false;
};

void readLogical(Compact& in, Leaf& leaf) {
    in.fields([&](int which, int type) {
        if (type != Struct || (which != 5 && which != 10)) return false;
        in.fields([&](int id, int inner) {
            if (which == 5 && id == 1 && inner == Int) return leaf.decimals = static_cast<int>(in.integer()), true;
            if (which == 10 && id == 2) return leaf.unsignedInteger = inner == False, true;
            return false;
        });
        return true;
    });
}

SchemaElement readElement(Compact& in) {
    SchemaElement element;
    int converted = -1, scale = 0;
    in.fields([&](int id, int type) {
        if (type == Int) {
            const auto value = in.integer();
            if (id == 1) {
                element.hasType = true;
                if (value < 0 || value > 7) in.spoil();
                element.leaf.physical = static_cast<Physical>(value);
            }
            if (id == 2) element.leaf.fixedBytes = static_cast<int>(std::clamp<std::int64_t>(value, 0, 1 << 20));
            if (id == 3) element.repetition = static_cast<int>(value);
            if (id == 5) element.below = value;
            if (id == 6) converted = static_cast<int>(value);
            if (id == 7) scale = static_cast<int>(value);
            return true;
        }
        if (id == 4 && type == Binary) return element.leaf.name = in.binary(), true;
        if (id == 10 && type == Struct) return readLogical(in, element.leaf), true;
        return false;
    });
    if (converted == 5) element.leaf.decimals = scale;
    if (converted >= 11 && converted <= 14) element.leaf.unsignedInteger = true;
    element.leaf.optional = element.repetition == 1;
    if (element.leaf.decimals < 0 || element.leaf.decimals > 38) in.spoil();
    return element;
}

// The schema is the tree in order: an element with others below it stands before them.
void readSchema(Compact& in, FileMeta& meta) {
    std::vector<SchemaElement> elements;
    in.structures([&] {
        elements.push_back(readElement(in));
        if (elements.size() > 2 * mostLeaves) in.spoil();
    });
    if (elements.empty() || !in.good()) return in.spoil();
    std::vector<std::int64_t> open{elements.front().below};
    for (std::size_t i = 1; i < elements.size(); ++i) {
        while (!open.empty() && open.back() == 0) open.pop_back();
        if (open.empty()) return in.spoil();
        --open.back();
        auto& element = elements[i];
        if (element.below > 0) {
            open.push_back(element.below);
            if (open.size() > deepest) return in.spoil();
            continue;
        }
        if (!element.hasType) return in.spoil();
        element.leaf.flat = open.size() == 1 && element.repetition != 2;
        meta.leaves.push_back(std::move(element.leaf));
    }
    if (meta.leaves.size() > mostLeaves) in.spoil();
}

Chunk readChunk(Compact& in) {
    Chunk chunk;
    std::int64_t data = -1, dictionary = -1;
    in.fields([&](int id, int type) {
        if (id != 3 || type != Struct) return false;
        in.fields([&](int part, int inner) {
            if (inner == Int && part == 4) return chunk.codec = static_cast<int>(in.integer()), true;
            if (inner != Long) return false;
            const auto value = in.integer();
            if (part == 5) chunk.values = value;
            if (part == 7) chunk.bytes = value;
            if (part == 9) data = value;
            if (part == 11) dictionary = value;
            return true;
        });
        return true;
    });
    chunk.begin = dictionary > 0 && dictionary < data ? dictionary : data;
    return chunk;
}

}  // namespace

std::optional<FileMeta> readFileMeta(std::string_view footer) {
    Compact in(footer);
    FileMeta meta;
    in.fields([&](int id, int type) {
        if (id == 2 && type == List) return readSchema(in, meta), true;
        if (id == 3 && type == Long) return meta.rows = in.integer(), true;
        if (id != 4 || type != List) return false;
        in.structures([&] {
            RowGroup group;
            in.fields([&](int part, int inner) {
                if (part == 3 && inner == Long) return group.rows = in.integer(), true;
                if (part != 1 || inner != List) return false;
                in.structures([&] { group.chunks.push_back(readChunk(in)); });
                return true;
            });
            meta.groups.push_back(std::move(group));
            if (meta.groups.size() > mostGroups) in.spoil();
        });
        return true;
    });
    if (!in.good()) return std::nullopt;
    for (const RowGroup& group : meta.groups) {
        if (group.rows < 0 || group.chunks.size() != meta.leaves.size()) return std::nullopt;
    }
    return meta;
}

std::optional<PageHeader> readPageHeader(std::string_view bytes) {
    Compact in(bytes);
    PageHeader page;
    in.fields([&](int id, int type) {
        if (type == Int) {
            const auto value = in.integer();
            if (id == 1) page.type = static_cast<int>(value);
            if (id == 2) page.unpackedBytes = value;
            if (id == 3) page.packedBytes = value;
            return true;
        }
        if (type != Struct || (id != 5 && id != 7 && id != 8)) return false;
        in.fields([&](int part, int inner) {
            if (id == 8 && part == 7) return page.packed = inner == True, true;
            if (inner != Int) return false;
            const auto value = in.integer();
            if (part == 1) page.values = value;
            if (part == (id == 8 ? 4 : 2)) page.encoding = static_cast<int>(value);
            if (id == 8 && part == 5) page.definitionBytes = value;
            if (id == 8 && part == 6) page.repetitionBytes = value;
            return true;
        });
        return true;
    });
    page.headerBytes = in.at();
    const bool sane = in.good() && page.unpackedBytes >= 0 && page.packedBytes >= 0 && page.values >= 0 &&
                      page.definitionBytes >= 0 && page.repetitionBytes >= 0;
    return sane ? std::optional(page) : std::nullopt;
}

}  // namespace orrery::parquet
