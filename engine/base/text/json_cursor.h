#pragma once

// JSON read once from front to back, without a tree of it in memory: calibrations are megabytes of numbers and are read
// at every start. The first thing that is wrong sticks, with line and path; every later call then does nothing.
//
//     for (json.object(); json.key(name);) {
//         if (name == "rows") rows = json.number();
//         else json.skip();
//     }

#include "base/diagnostic.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class JsonCursor {
public:
    enum class Kind : std::uint8_t { Object, Array, Text, Number, Truth, Null, Wrong };

    /// `area` begins the codes of its diagnostics: `calibration` gives `calibration.not-json`. Texts must outlive it.
    JsonCursor(std::string_view text, std::string_view file, std::string_view area);

    bool ok() const { return !failed_; }
    const Diagnostic& problem() const { return problem_; }
    Kind kind();  ///< of the value ahead

    void object();                    ///< enters one
    bool key(std::string_view& key);  ///< the next member's, valid until that member is read; false at the end
    void array();
    bool element();  ///< whether another one follows; false at the end

    double number();          ///< finite
    std::int64_t integer();   ///< whole, within 2^53
    std::string_view text();  ///< valid as long as the cursor
    bool truth();
    bool null();  ///< takes a null if there is one
    void skip();
    /// All numbers of an array, at most `limit`.
    std::vector<double> numbers(std::size_t limit);
    void end();  ///< nothing but blanks may follow

    /// Says that the value just read (or ahead) is wrong; `code` without the area.
    void fail(std::string_view code, std::string message, std::string expected = {}, std::string hint = {});
    std::size_t offset() const { return at_; }

private:
    struct Frame {
        bool object = false, first = true;
        std::string_view key;
        std::int64_t index = -1;
    };
    void blanks();
    bool enter(char open, bool object);
    bool more(char close);
    bool skipNumbers();
    bool quickNumber(double& value);
    std::string_view string();
    void syntax(std::string expected);
    std::string path() const;

    std::string_view text_, file_, area_;
    std::size_t at_ = 0;
    bool failed_ = false;
    std::vector<Frame> frames_;
    std::deque<std::string> decoded_;  ///< strings that held escapes
    Diagnostic problem_;
};

}  // namespace orrery
