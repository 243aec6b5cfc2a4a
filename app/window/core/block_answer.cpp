#include "app/window/core/block_answer.h"

#include "app/window/core/block_text.h"

#include <charconv>

namespace orrery::app {

namespace {

// The byte that a refusal of the decoder stands at; -1: none.
qsizetype byteOf(const Diagnostic& why) {
    constexpr std::string_view word = "byte ";
    const std::string& path = why.place.path;
    qsizetype byte = -1;
    if (path.starts_with(word)) std::from_chars(path.data() + word.size(), path.data() + path.size(), byte);
    return byte;
}

BlockDesk::FileState stateOf(const std::string& file) {
    std::error_code none;
    if (file.empty()) return {};
    return {std::filesystem::last_write_time(file, none), std::filesystem::file_size(file, none)};
}

// Its place is one of the file, none of the text that was typed.
Diagnostic ofFile(Diagnostic why) {
    why.message = toText(why.place) + ": " + why.message;
    why.place = {};
    return why;
}

}  // namespace

Expected<void> BlockDesk::prepare(const BlockQuestion& question) {
    if (!analyser_ || id_ != question.core) {
        auto core = block::loadCore(question.core);
        if (!core) return Unexpected(core.error());
        if ((*core)->forms.empty())
            return fail("block.no-table", (*core)->rules.title + " has no table of ports", "a core that has one");
        core_ = std::move(*core);
        analyser_ = std::make_unique<block::Analyser>(core_);
        id_ = question.core;
    }
    // A file may be fitted anew under its name.
    const FileState state = stateOf(question.correction);
    if (question.correction != correctionFile_ || state != correctionState_) {
        correction_.reset();
        correctionFile_.clear();
        if (!question.correction.empty()) {
            auto read = block::readBlockCorrection(question.correction);
            if (!read) return Unexpected(ofFile(read.error()));
            correction_ = std::move(*read);
            correctionFile_ = question.correction;
            correctionState_ = state;
        }
    }
    if (!correction_) return {};
    if (auto fits = checkFits(*correction_, *core_, correctionFile_); !fits) return Unexpected(ofFile(fits.error()));
    return {};
}

Expected<BlockAnswer> BlockDesk::ask(const BlockQuestion& question) {
    if (auto ready = prepare(question); !ready) return Unexpected(std::move(ready.error()));
    BlockAnswer answer;
    std::vector<std::uint8_t> bytes = question.bytes;
    const QString plain = plainHex(question.text);
    if (bytes.empty()) {
        // Every character is one byte for the reader, so that its columns are positions.
        auto read = block::readHex(plain.toLatin1().toStdString());
        if (!read) return Unexpected(read.error());
        bytes = std::move(*read);
    }
    if (const auto read = block::decode(bytes, answer.code); !read) {
        Diagnostic why = read.error();
        if (!plain.isEmpty() && byteOf(why) >= 0)
            why.place.column = static_cast<int>(positionOfByte(plain, byteOf(why))) + 1;
        return Unexpected(std::move(why));
    }
    analyser_->predict(answer.code, answer.prediction);
    if (correction_) {
        answer.verdict = correction_->apply(*analyser_, answer.code, answer.prediction, features_);
        answer.correction = correctionFile_;
    }
    answer.ports = analyser_->portsByInstruction();
    answer.chain = analyser_->chain(answer.code);
    answer.lines = block::disassemble(answer.code);
    answer.core = core_;
    return answer;
}

}  // namespace orrery::app
