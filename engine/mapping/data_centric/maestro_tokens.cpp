#include "mapping/data_centric/maestro_tokens.h"

#include "base/text/read_file.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <limits>

namespace orrery {

namespace {

constexpr std::size_t largestFile = 64u << 20;

class Lexer {
public:
    Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    Expected<std::vector<MaestroToken>> run() {
        std::vector<MaestroToken> tokens;
        while (true) {
            if (auto good = skip(); !good) return tl::unexpected(good.error());
            MaestroToken token;
            token.line = line_;
            token.column = static_cast<int>(at_ - lineStart_) + 1;
            if (at_ == text_.size()) {
                tokens.push_back(std::move(token));
                return tokens;
            }
            if (auto good = next(token); !good) return tl::unexpected(good.error());
            tokens.push_back(std::move(token));
        }
    }

private:
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    Place place() const { return {file_, line_, static_cast<int>(at_ - lineStart_) + 1, ""}; }
    void step() {
        if (text_[at_++] == '\n') ++line_, lineStart_ = at_;
    }
    static bool inWord(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\'' || c == '.';
    }

    Expected<void> skip() {
        while (at_ < text_.size()) {
            if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
                step();
            } else if (peek() == '/' && peek(1) == '/') {
                while (at_ < text_.size() && peek() != '\n') step();
            } else if (peek() == '/' && peek(1) == '*') {
                const Place begin = place();
                const auto end = text_.find("*/", at_ + 2);
                if (end == std::string_view::npos) {
                    return fail("maestro.comment", "a comment is not closed", "`*/`",
                                "`//` comments end with their line", begin);
                }
                while (at_ < end + 2) step();
            } else if (peek() == '-' && peek(1) == '>') {
                at_ += 2;
            } else {
                break;
            }
        }
        return {};
    }

    Expected<void> next(MaestroToken& token) {
        const std::size_t begin = at_;
        if (inWord(peek())) {
            while (inWord(peek())) ++at_;
            token.text = text_.substr(begin, at_ - begin);
            token.kind = MaestroToken::Kind::Word;
            if (token.text.find_first_not_of("0123456789") != std::string::npos) return {};
            token.kind = MaestroToken::Kind::Number;
            for (const char digit : token.text) {
                token.number = token.number * 10 + (digit - '0');
                if (token.number > std::numeric_limits<std::int32_t>::max()) {
                    return fail("maestro.number", fmt::format("`{:.40}` is too large", token.text),
                                "a whole number below 2^31", "sizes are counts of elements",
                                {file_, token.line, token.column, ""});
                }
            }
            return {};
        }
        constexpr std::string_view signs = "{}(),:;+-*/";
        if (signs.find(peek()) == std::string_view::npos) {
            const auto c = static_cast<unsigned char>(peek());
            return fail("maestro.character",
                        std::isprint(c) != 0 ? fmt::format("`{}` has no meaning here", peek())
                                             : fmt::format("a byte {:#04x} that is no text", c),
                        "words, whole numbers and { } ( ) , : ;", "remove it, or put it into a `//` comment", place());
        }
        token.kind = MaestroToken::Kind::Sign;
        token.text = peek();
        ++at_;
        return {};
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0, lineStart_ = 0;
    int line_ = 1;
};

}  // namespace

Expected<std::vector<MaestroToken>> maestroTokens(std::string_view text, const std::string& file) {
    return Lexer(text, file).run();
}

Expected<std::string> readMaestroText(const std::string& path) {
    auto text = readFile(path, {.most = largestFile,
                                .code = "file.unreadable",
                                .tooLarge = "file.too-large",
                                .expected = "a MAESTRO file (.m)",
                                .hint = "is it a mapping file of MAESTRO?"});
    std::error_code ignored;
    if (!text && !std::filesystem::exists(path, ignored)) text.error().code = "file.missing";
    return text;
}

}  // namespace orrery
