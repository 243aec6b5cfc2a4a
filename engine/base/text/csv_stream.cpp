#include "base/text/csv_stream.h"

#include "base/text/parquet.h"
#include "base/text/read_file.h"
#include "base/text/words.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace orrery {

namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;
constexpr std::size_t longestLine = std::size_t{1} << 20;

Unexpected unreadable(const std::string& path, int line, std::string why) {
    return fail("reference.unreadable", "cannot read the reference file: " + std::move(why),
                "a CSV file, plain, .gz, .zst or .xz, or Parquet", "copy or export the file again",
                Place{path, line, 0, {}});
}

// A file that was packed, read from its beginning to its end.
class PackedFile {
public:
    PackedFile() = default;
    PackedFile(const PackedFile&) = delete;
    PackedFile& operator=(const PackedFile&) = delete;
    virtual ~PackedFile() = default;
    // Bytes read; below zero if the file cannot be read on.
    virtual int read(char* to, std::size_t room) = 0;
    // Then: why.
    virtual std::string why() const { return "it is damaged or cut short"; }
};

// By zstd, frame after frame.
class ZstdFile final : public PackedFile {
public:
    static bool isOne(std::string_view head) { return head.starts_with("\x28\xB5\x2F\xFD"); }
    explicit ZstdFile(const std::string& path)
        : file_(std::fopen(path.c_str(), "rb"), &std::fclose), unpack_(ZSTD_createDStream(), &ZSTD_freeDStream) {
        packed_.resize(ZSTD_DStreamInSize());
    }
    int read(char* to, std::size_t room) override {
        if (!file_ || !unpack_) return -1;
        ZSTD_outBuffer out{to, room, 0};
        while (out.pos == 0) {
            if (in_.pos == in_.size) {
                in_ = {packed_.data(), std::fread(packed_.data(), 1, packed_.size(), file_.get()), 0};
                if (in_.size == 0) return std::ferror(file_.get()) || inFrame_ ? -1 : 0;
            }
            const std::size_t left = ZSTD_decompressStream(unpack_.get(), &out, &in_);
            if (ZSTD_isError(left)) return -1;
            inFrame_ = left != 0;
        }
        return static_cast<int>(out.pos);
    }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> unpack_;
    std::vector<char> packed_;
    ZSTD_inBuffer in_{nullptr, 0, 0};
    bool inFrame_ = false;
};

// By xz, stream after stream.
class XzFile final : public PackedFile {
public:
    static bool isOne(std::string_view head) {
        return head.starts_with(
            "\xFD"
            "7zX");
    }
    explicit XzFile(const std::string& path) : file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
        // `xz -9` takes 65 MB to unpack.
        ready_ = lzma_stream_decoder(&unpack_, mostMemory, LZMA_CONCATENATED) == LZMA_OK;
        packed_.resize(chunk);
    }
    ~XzFile() override { lzma_end(&unpack_); }
    int read(char* to, std::size_t room) override {
        if (!file_ || !ready_) return -1;
        unpack_.next_out = reinterpret_cast<std::uint8_t*>(to), unpack_.avail_out = room;
        while (unpack_.avail_out == room && !ended_) {
            if (unpack_.avail_in == 0) {
                unpack_.next_in = packed_.data();
                unpack_.avail_in = std::fread(packed_.data(), 1, packed_.size(), file_.get());
                if (std::ferror(file_.get())) return -1;
            }
            const auto state = lzma_code(&unpack_, std::feof(file_.get()) ? LZMA_FINISH : LZMA_RUN);
            ended_ = state == LZMA_STREAM_END;
            needs_ = state == LZMA_MEMLIMIT_ERROR ? lzma_memusage(&unpack_) : 0;
            if (state != LZMA_OK && !ended_) return -1;
        }
        return static_cast<int>(room - unpack_.avail_out);
    }

    std::string why() const override {
        if (needs_ == 0) return PackedFile::why();
        return fmt::format("its dictionary takes {} MiB to unpack, more than {} MiB; pack it with a smaller one",
                           needs_ >> 20, mostMemory >> 20);
    }

private:
    static constexpr std::uint64_t mostMemory = std::uint64_t{1} << 30;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    lzma_stream unpack_ = LZMA_STREAM_INIT;
    std::vector<std::uint8_t> packed_;
    bool ready_ = false, ended_ = false;
    std::uint64_t needs_ = 0;  // bytes, where that is more than it may take
};

}  // namespace

struct CsvStream::Source {
    gzFile file = nullptr;
    std::unique_ptr<PackedFile> packed;
    std::string_view text;
    std::string head;  // of `file`, looked at before
    std::optional<ParquetRows> rows;
    std::string lines;  // of `rows`, not yet read
    std::optional<Diagnostic> broken;
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    ~Source() {
        if (file) gzclose(file);
    }
    std::string why() const { return packed ? packed->why() : "it is damaged or cut short"; }
    // Bytes read; below zero if the file is broken.
    int read(char* to, std::size_t room) {
        if (!head.empty()) {
            const std::size_t part = std::min(room, head.size());
            std::copy_n(head.begin(), part, to);
            head.erase(0, part);
            return static_cast<int>(part);
        }
        if (packed) return packed->read(to, room);
        if (file) {
            const int got = gzread(file, to, static_cast<unsigned>(room));
            if (got > 0) return got;
            int state = Z_OK;
            gzerror(file, &state);
            return got < 0 || (state != Z_OK && state != Z_STREAM_END) ? -1 : 0;
        }
        if (rows && text.empty()) {
            lines.clear();
            while (lines.size() < room / 2) {
                auto more = rows->append(lines);
                if (!more) return broken = std::move(more.error()), -1;
                if (!*more) break;
            }
            text = lines;
        }
        const auto part = text.substr(0, room);
        std::copy(part.begin(), part.end(), to);
        text.remove_prefix(part.size());
        return static_cast<int>(part.size());
    }
};

CsvStream::CsvStream(std::unique_ptr<Source> source) : source_(std::move(source)) {}
CsvStream::CsvStream(CsvStream&&) noexcept = default;
CsvStream& CsvStream::operator=(CsvStream&&) noexcept = default;
CsvStream::~CsvStream() = default;

Expected<CsvStream> CsvStream::open(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return unreadable(path, 0, "it is a folder");
    auto source = std::make_unique<Source>();
    source->file = gzopen(path.c_str(), "rb");
    if (source->file) {
        gzbuffer(source->file, static_cast<unsigned>(chunk));
        source->head.resize(4);
        source->head.resize(static_cast<std::size_t>(std::max(0, gzread(source->file, source->head.data(), 4))));
    }
    const bool isZstd = ZstdFile::isOne(source->head);
    if (isZstd || XzFile::isOne(source->head)) {
        gzclose(std::exchange(source->file, nullptr));
        source->head.clear();
        if (isZstd)
            source->packed = std::make_unique<ZstdFile>(path);
        else
            source->packed = std::make_unique<XzFile>(path);
    }
    if (looksLikeParquet(source->head)) {
        auto bytes = readFile(path, {.most = ParquetRows::largest, .code = "reference.unreadable"});
        if (!bytes) return Unexpected(bytes.error());
        auto rows = ParquetRows::open(std::move(*bytes), path);
        if (!rows) return Unexpected(rows.error());
        gzclose(std::exchange(source->file, nullptr));
        source->head.clear();
        source->rows.emplace(std::move(*rows));
    }
    if (!source->file && !source->rows && !source->packed) return unreadable(path, 0, "it cannot be opened");
    CsvStream stream(std::move(source));
    stream.path_ = path;
    return stream;
}

Expected<std::string> CsvStream::head(const std::string& path, std::size_t most) {
    auto stream = open(path);
    if (!stream) return tl::unexpected(std::move(stream.error()));
    std::string text;
    constexpr std::size_t step = std::size_t{1} << 20;
    while (text.size() < most) {
        const std::size_t had = text.size(), room = std::min(step, most - had);
        text.resize(had + room);
        const int got = stream->source_->read(text.data() + had, room);
        if (got < 0 && stream->source_->broken) return tl::unexpected(*stream->source_->broken);
        if (got < 0) return unreadable(path, 0, stream->source_->why());
        text.resize(had + static_cast<std::size_t>(got));
        if (got == 0) break;
    }
    return text;
}

CsvStream CsvStream::of(std::string_view text, std::string path, int firstLine) {
    auto source = std::make_unique<Source>();
    source->text = text;
    CsvStream stream(std::move(source));
    stream.path_ = std::move(path);
    stream.line_ = firstLine - 1;
    return stream;
}

Expected<bool> CsvStream::readLine(std::string_view& text) {
    std::size_t searched = begin_;
    while (true) {
        const auto* found =
            searched < end_ ? static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched))
                            : nullptr;
        if (found || (ended_ && begin_ < end_)) {
            const auto stop = found ? static_cast<std::size_t>(found - buffer_.data()) : end_;
            text = std::string_view(buffer_.data() + begin_, stop - begin_);
            begin_ = found ? stop + 1 : stop;
            ++line_;
            return true;
        }
        if (ended_) return false;
        if (end_ - begin_ > longestLine) return unreadable(path_, line_ + 1, "a line is over 1 MiB");
        if (begin_ > 0) {
            std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                      buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
            end_ -= begin_;
            begin_ = 0;
        }
        searched = end_;
        if (buffer_.size() < end_ + chunk) buffer_.resize(end_ + chunk);
        const int got = source_->read(buffer_.data() + end_, chunk);
        if (got < 0 && source_->broken) return tl::unexpected(*source_->broken);
        if (got < 0) return unreadable(path_, line_ + 1, source_->why());
        if (got == 0) ended_ = true;
        hash_.add(std::string_view(buffer_.data() + end_, static_cast<std::size_t>(got)));
        end_ += static_cast<std::size_t>(got);
    }
}

void CsvStream::split(std::string_view text) {
    cells_.clear();
    if (text.find('"') == std::string_view::npos) {
        while (true) {
            const auto next = text.find(separator_);
            cells_.push_back(trimmed(text.substr(0, next)));
            if (next == std::string_view::npos) return;
            text.remove_prefix(next + 1);
        }
    }
    unquoted_.clear();
    unquoted_.emplace_back();
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
                unquoted_.back().push_back(text[i++]);
            } else {
                quoted = !quoted;
            }
        } else if (text[i] == separator_ && !quoted) {
            unquoted_.emplace_back();
        } else {
            unquoted_.back().push_back(text[i]);
        }
    }
    for (const auto& cell : unquoted_) cells_.push_back(trimmed(cell));
}

Expected<bool> CsvStream::next(std::string_view& text) {
    while (true) {
        auto got = readLine(text);
        if (!got || !*got) return got;
        if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
        if (text.find('\0') != std::string_view::npos) return unreadable(path_, line_, "it is not text");
        if (!trimmed(text).empty()) return true;
    }
}

Expected<bool> CsvStream::next() {
    std::string_view text;
    auto got = next(text);
    if (!got || !*got) return got;
    if (separator_ == 0) {
        separator_ = ',';
        for (const char other : {';', '\t'}) {
            if (std::count(text.begin(), text.end(), other) > std::count(text.begin(), text.end(), separator_)) {
                separator_ = other;
            }
        }
    }
    split(text);
    return true;
}

}  // namespace orrery
